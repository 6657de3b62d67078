//! What is looked for.

/// A rule, by the name that programs and the manual have for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Rule {
    ReadOtherwise,
    EnvelopeInCode,
    ReservedName,
    DeclaredInJson,
    SetInJson,
    UnreadFile,
    LayerName,
    StacksPath,
    EnvironmentOrder,
    NestedOverride,
    OverrideSuffix,
    MethodName,
    SharedSecret,
    ListAddsUp,
    LostMode,
}

impl Rule {
    pub const ALL: [Rule; 15] = [
        Rule::ReadOtherwise,
        Rule::EnvelopeInCode,
        Rule::ReservedName,
        Rule::DeclaredInJson,
        Rule::SetInJson,
        Rule::UnreadFile,
        Rule::LayerName,
        Rule::StacksPath,
        Rule::EnvironmentOrder,
        Rule::NestedOverride,
        Rule::OverrideSuffix,
        Rule::MethodName,
        Rule::SharedSecret,
        Rule::ListAddsUp,
        Rule::LostMode,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Rule::ReadOtherwise => "read-otherwise",
            Rule::EnvelopeInCode => "envelope-in-code",
            Rule::ReservedName => "reserved-name",
            Rule::DeclaredInJson => "declared-in-json",
            Rule::SetInJson => "set-in-json",
            Rule::UnreadFile => "unread-file",
            Rule::LayerName => "layer-name",
            Rule::StacksPath => "stacks-path",
            Rule::EnvironmentOrder => "environment-order",
            Rule::NestedOverride => "nested-override",
            Rule::OverrideSuffix => "override-suffix",
            Rule::MethodName => "method-name",
            Rule::SharedSecret => "shared-secret",
            Rule::ListAddsUp => "list-adds-up",
            Rule::LostMode => "lost-mode",
        }
    }
}
