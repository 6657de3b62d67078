//! The right values where the Python suil is wrong: what `better:` of each case asks for.

use suil::base::Plain;

/// What a case must give.
pub enum Want {
    /// An error that names all of these.
    Error(&'static [&'static str]),
    /// The data of the first node, as JSON.
    Data(&'static str),
    /// Any answer, and a warning that names all of these.
    Warning(&'static [&'static str]),
    /// The names of the nodes and the data of the first one, as JSON.
    Nodes(&'static str, &'static str),
    /// The deployment of the first node, as JSON.
    Deployment(&'static str),
    /// The modules of the first node, as JSON.
    Modules(&'static str),
}

impl Want {
    pub fn judge(&self, found: Result<(&Plain, String), &Vec<suil::base::Problem>>, shown: &str) -> Result<(), String> {
        let named = |words: &[&str], text: &str| match words.iter().find(|word| !text.contains(**word)) {
            Some(word) => Err(format!("nothing names {word:?}")),
            None => Ok(()),
        };
        let (plain, warnings) = match (self, found) {
            (Want::Error(words), Err(_)) => return named(words, shown),
            (Want::Error(_), Ok(_)) => return Err("no error".to_owned()),
            (_, Err(_)) => return Err("an error".to_owned()),
            (_, Ok(found)) => found,
        };
        let nodes = plain.get("nodes").and_then(Plain::as_list).unwrap_or_default();
        let of_first = |key: &str| nodes.first().and_then(|node| node.get(key)).map(Plain::to_json_line);
        let same = |what: &str, found: Option<String>, want: &str| match found.as_deref() == Some(want) {
            true => Ok(()),
            false => Err(format!("{what}: want\n{want}\nfound\n{}", found.unwrap_or_default())),
        };
        match self {
            Want::Error(_) => Ok(()),
            Want::Data(want) => same("data", of_first("data"), want),
            Want::Deployment(want) => same("deployment", of_first("deployment"), want),
            Want::Modules(want) => same("modules", of_first("modules"), want),
            Want::Warning(words) => named(words, &warnings),
            Want::Nodes(names, data) => {
                let found: Vec<&str> = nodes.iter().filter_map(|node| node.get("name")?.as_str()).collect();
                same("nodes", Some(found.join(" ")), names)?;
                same("data", of_first("data"), data)
            }
        }
    }
}

const NODE: &str = "data/nodes/kelp-01.reef.test.yaml";
const ROLE: &str = "data/roles/reef.yaml";

pub const TABLE: &[(&str, &[Want])] = &[
    ("013-hierarchy-unknown-variable", &[Want::Error(&["data/common.yaml:", "{harbour}", "`{role}`"])]),
    (
        "021-node-order",
        &[Want::Nodes(
            "Kelp kelp kelp-2 kelp.a kelp10 kelp9",
            r#"{"surf":{"peers":["Kelp","kelp","kelp-2","kelp.a","kelp10","kelp9"]}}"#,
        )],
    ),
    ("022-unknown-top-level-key", &[Want::Error(&["data/roles/reef.yaml:2:1", "`sruf`", "did you mean `surf`?"])]),
    (
        "023-reserved-top-level-keys",
        &[Want::Error(&[
            "`modules` is set by the run itself\ndata/os/debian/12.yaml:1:1",
            "`role` is set by the run itself\ndata/os/debian/12.yaml:2:1",
            "`family` is set by the run itself\ndata/roles/reef.yaml:2:1",
            "`release` is set by the run itself\ndata/roles/reef.yaml:3:1",
            "`facts` is set by the run itself\ndata/roles/reef.yaml:4:1",
            "`hierarchy`\ndata/roles/reef.yaml:5:1",
        ])],
    ),
    ("025-top-level-number-key", &[Want::Error(&["`8080`", "data/roles/reef.yaml:2:1"])]),
    ("027-facts-cache-broken", &[Want::Error(&["facts/kelp-01.reef.test/suil.yaml", "expected a mapping"])]),
    (
        "029-node-file-names",
        &[Want::Nodes("kelp-01.reef.test", "{}"), Want::Warning(&["data/nodes/other.reef.test.yml"])],
    ),
    ("031-layer-listed-twice", &[Want::Error(&["data/common.yaml:", "twice"])]),
    ("033-node-name-with-a-path", &[Want::Error(&["`../roles/reef`", "slash"])]),
    (
        "107-nested-modules-key",
        &[Want::Data(
            r#"{"surf":{"modules":["a","a","b","b","c"],"kernel":{"modules":["e","e","f"]},"other":["a","a"]}}"#,
        )],
    ),
    (
        "205-merge-not-over-a-list",
        &[Want::Data(
            r#"{"surf":{"dict":{"a":1,"b":3},"scalar":[{"name":"a"}],"list":[{"name":"a","v":1},{"name":"b"}],"absent":[{"name":"a","v":1},{"name":"a","w":2}]}}"#,
        )],
    ),
    ("209-delete-value-over-a-dict", &[Want::Error(&["surf.scalar", "data/nodes/kelp-01.reef.test.yaml:4:"])]),
    (
        "210-delete-typed-items",
        &[Want::Data(r#"{"surf":{"ports":[443,8080],"ports2":[443],"flags":[true,"1",1.0],"zero":[0,"0",""]}}"#)],
    ),
    ("211-tagged-scalars-are-strings", &[Want::Error(&["surf.f", "data/nodes/kelp-01.reef.test.yaml:8:"])]),
    ("215-tags-under-replace", &[Want::Data(r#"{"surf":{"a":{"l":[2],"n":{}},"b":["y"]}}"#)]),
    (
        "218-nested-tag-stops-the-next-layer",
        &[Want::Data(
            r#"{"surf":{"l":[1,2,3],"d":{"a":1,"b":2,"c":3},"m":[{"name":"x","v":1,"w":2}],"x":[2],"plain":[1,2]}}"#,
        )],
    ),
    // Its keys name no module, so the right value has a test of its own: `a_tag_means_the_same_at_every_depth`.
    ("219-tags-in-module-data", &[Want::Error(&["`shared`", "`other`", "`third`", "modules/surf/data/main.yaml:2:1"])]),
    ("221-tags-in-common", &[Want::Deployment(r#"{"ssh_user":"diver","jump":["one","two"],"ports":{"b":2}}"#)]),
    ("222-tag-on-node-modules", &[Want::Modules(r#"["surf"]"#)]),
    ("223-tag-on-role-name", &[Want::Error(&[NODE, "plain string", "!replace reef"])]),
    ("226-merge-name-not-scalar", &[Want::Error(&["surf.l", "name"])]),
    ("230-scalar-tag-on-list", &[Want::Data(r#"{"surf":{"l":["a","b","c"],"m":[{"name":"a","v":1}]}}"#)]),
    ("231-tight-delete-in-flow-map", &[Want::Data(r#"{"surf":{"m":{"b":2}}}"#)]),
    ("319-role-modules-not-a-list", &[Want::Error(&["data/roles/reef.yaml:1:", "`modules`"])]),
    ("405-lookup-format", &[Want::Error(&["data/roles/reef.yaml:7:", "{value:>4}"])]),
    (
        "407-lookup-value-kinds",
        &[Want::Error(&["surf.v", "node `d.reef.test`", "node `k.reef.test`", "node `l.reef.test`", ROLE])],
    ),
    ("413-lookup-self-no", &[Want::Error(&[ROLE, "self", "`exclude`"])]),
    ("417-lookup-format-unknown-name", &[Want::Error(&[ROLE, "{host}", "format"])]),
    ("418-lookup-option-types", &[Want::Error(&[ROLE, "format"])]),
    ("427-lookup-path-number-key", &[Want::Data(r#"{"surf":{"got":["http"],"ports":{"80":"http"}}}"#)]),
    ("431-lookup-of-a-secret", &[Want::Error(&[ROLE, "surf.key", "crab-01.reef.test", "a secret"])]),
    ("505-secret-for-another-key", &[Want::Error(&["surf.pin", "`kelp-01.reef.test`", "another key"])]),
    ("506-secret-truncated", &[Want::Error(&["surf.pin", "`kelp-01.reef.test`"])]),
    (
        "507-secret-bad-block-is-plain-text",
        &[Want::Error(&[
            "data/nodes/kelp-01.reef.test.yaml:3:",
            "data/nodes/kelp-01.reef.test.yaml:4:",
            "data/nodes/kelp-01.reef.test.yaml:6:",
        ])],
    ),
    (
        "509-secret-in-tight-flow-map",
        &[Want::Data(
            r#"{"surf":{"map":{"pin":"sha256:b9acbc3063474cb39807cc604c0faf51584003a02372648248252d7db98a8c1b"}}}"#,
        )],
    ),
    (
        "510-secret-with-spaces-inside",
        &[Want::Data(r#"{"surf":{"pin":"sha256:b9acbc3063474cb39807cc604c0faf51584003a02372648248252d7db98a8c1b"}}"#)],
    ),
    ("511-secret-with-trailing-text", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:3:"])]),
    (
        "513-secret-in-deployment",
        &[Want::Deployment(
            r#"{"ssh_user":"diver","ssh_password":"sha256:b9acbc3063474cb39807cc604c0faf51584003a02372648248252d7db98a8c1b"}"#,
        )],
    ),
    ("609-yaml11-integers", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:11:", "surf.big.0", "surf.big.1"])]),
    (
        "610-yaml11-floats",
        &[Want::Data(
            r#"{"surf":{"plain":[1.5,-0.25,0.5,1.0,1000.5,1.0,10.1],"exponent":[1500.0,0.0015,1500.0,5.0],"text":[1000.0,1500.0,1000.0,"1.2.3","1.5","."],"special":[null,null,null,null],"sixty":["1:2.5","20:30.15"]}}"#,
        )],
    ),
    (
        "611-yaml11-timestamps",
        &[Want::Data(
            r#"{"surf":{"date":"2031-01-02","stamp":"2031-01-02T03:04:05Z","offset":"2031-01-02T03:04:05.25+02:00","spaced":"2031-01-02 03:04:05","text":["2031-1-2","2031-01-02","2031-01",20310102]}}"#,
        )],
    ),
    (
        "617-duplicate-keys",
        &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:4:3", "port`", "data/nodes/kelp-01.reef.test.yaml:6:3"])],
    ),
    ("618-duplicate-modules-key", &[Want::Error(&["data/roles/reef.yaml:3:1", "`modules`"])]),
    ("621-not-utf8", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:2:", "0xe9"])]),
    ("626-tab-separator", &[Want::Data(r#"{"surf":{"a":1}}"#)]),
    ("629-number-keys", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:3:", "2.5", "2031-01-02", "yes", "~"])]),
    ("630-keys-that-collide", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:3:", "`yes`", "surf.map"])]),
    ("633-recursive-alias", &[Want::Error(&[NODE, "loop"])]),
    ("635-very-deep-nesting", &[Want::Error(&[NODE, "128"])]),
    ("641-nan", &[Want::Error(&["data/nodes/kelp-01.reef.test.yaml:3:", "data/nodes/kelp-01.reef.test.yaml:4:"])]),
    (
        "642-alias-fan-out",
        &[Want::Data(
            r#"{"surf":{"a":["x","x"],"b":[["x","x"],["x","x"]],"c":[[["x","x"],["x","x"]],[["x","x"],["x","x"]]],"d":[[[["x","x"],["x","x"]],[["x","x"],["x","x"]]],[[["x","x"],["x","x"]],[["x","x"],["x","x"]]]]}}"#,
        )],
    ),
    ("643-anchor-set-again", &[Want::Data(r#"{"surf":{"a":{"v":1},"b":{"v":2},"c":{"v":2}}}"#)]),
];
