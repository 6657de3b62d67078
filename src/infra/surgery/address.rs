//! Addresses as Terraform writes them: `module.shop["eu"].aws_instance.web[0]`.

use std::cmp::Ordering;
use std::fmt;

/// The key of an instance: none, a number of `count`, or a key of `for_each`. They sort in this order, as Terraform
/// sorts them.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum Key {
    #[default]
    None,
    Number(u64),
    Text(String),
}

/// One call of a module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    pub name: String,
    pub key: Key,
}

/// `managed` and `data` as states call them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Mode {
    Data,
    Managed,
    Ephemeral,
}

/// A resource, or an instance of one, inside its module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Resource {
    pub mode: Mode,
    pub kind: String,
    pub name: String,
    pub key: Key,
}

/// The address of a module, a resource, or an instance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Address {
    pub module: Vec<Step>,
    /// `None`: the whole module is meant.
    pub resource: Option<Resource>,
}

impl Mode {
    pub fn word(self) -> &'static str {
        match self {
            Mode::Data => "data",
            Mode::Managed => "managed",
            Mode::Ephemeral => "ephemeral",
        }
    }

    pub fn read(word: &str) -> Option<Mode> {
        [Mode::Data, Mode::Managed, Mode::Ephemeral].into_iter().find(|mode| mode.word() == word)
    }
}

impl Address {
    /// Reads an address.
    ///
    /// # Errors
    /// What was expected.
    pub fn parse(text: &str) -> Result<Address, String> {
        let mut reader = Reader { rest: text };
        let mut module = Vec::new();
        let mut word = reader.name()?;
        while word == "module" {
            reader.dot("a module's name behind `module`")?;
            let name = reader.name()?;
            module.push(Step { name, key: reader.key()? });
            if reader.rest.is_empty() {
                return Ok(Address { module, resource: None });
            }
            reader.dot("`.` and a resource, or the end")?;
            word = reader.name()?;
        }
        let mode = match word.as_str() {
            "data" => Mode::Data,
            "ephemeral" => Mode::Ephemeral,
            _ => Mode::Managed,
        };
        if mode != Mode::Managed {
            reader.dot("a type behind it")?;
            word = reader.name()?;
        }
        reader.dot("`.` and a name behind the type")?;
        let name = reader.name()?;
        let resource = Resource { mode, kind: word, name, key: reader.key()? };
        if !reader.rest.is_empty() {
            return Err(format!("expected nothing behind `{}`", text.trim_end_matches(reader.rest)));
        }
        Ok(Address { module, resource: Some(resource) })
    }

    /// Reads the address of a module as a state has it; an empty text is the root.
    ///
    /// # Errors
    /// What was expected.
    pub fn module(text: &str) -> Result<Vec<Step>, String> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        match Address::parse(text)? {
            Address { module, resource: None } => Ok(module),
            _ => Err("expected a module".to_owned()),
        }
    }

    /// True where the instance `at` is this, or one of it, or lies in it. A module or a resource that is named without a
    /// key stands for all its instances.
    pub fn covers(&self, at: &Address) -> bool {
        let Some(of) = &at.resource else { return false };
        let steps = |exact: usize| {
            let pairs = self.module.iter().zip(&at.module).enumerate();
            pairs.fold(true, |all, (n, (mine, other))| {
                let open = n >= exact && mine.key == Key::None;
                all && mine.name == other.name && (open || mine.key == other.key)
            })
        };
        match &self.resource {
            Some(mine) => {
                let same = (mine.mode, &mine.kind, &mine.name) == (of.mode, &of.kind, &of.name);
                let key = mine.key == Key::None || mine.key == of.key;
                same && key && self.module == at.module
            }
            None => self.module.len() <= at.module.len() && steps(self.module.len().saturating_sub(1)),
        }
    }
}

/// Terraform's order: modules near the root first, data sources before resources.
impl Ord for Address {
    fn cmp(&self, other: &Address) -> Ordering {
        let module = self.module.len().cmp(&other.module.len()).then_with(|| self.module.cmp(&other.module));
        module.then_with(|| self.resource.cmp(&other.resource))
    }
}

impl PartialOrd for Address {
    fn partial_cmp(&self, other: &Address) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::None => Ok(()),
            Key::Number(n) => write!(f, "[{n}]"),
            Key::Text(text) => {
                let mut quoted = String::new();
                let mut chars = text.chars().peekable();
                while let Some(c) = chars.next() {
                    match c {
                        '"' => quoted.push_str("\\\""),
                        '\\' => quoted.push_str("\\\\"),
                        '\n' => quoted.push_str("\\n"),
                        '\r' => quoted.push_str("\\r"),
                        '\t' => quoted.push_str("\\t"),
                        '$' | '%' if chars.peek() == Some(&'{') => quoted.extend([c, c]),
                        c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
                        c => quoted.push(c),
                    }
                }
                write!(f, "[\"{quoted}\"]")
            }
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mode {
            Mode::Managed => {}
            mode => write!(f, "{}.", mode.word())?,
        }
        write!(f, "{}.{}{}", self.kind, self.name, self.key)
    }
}

/// The address of a module; nothing for the root.
pub fn module(steps: &[Step]) -> String {
    steps.iter().map(|step| format!("module.{}{}", step.name, step.key)).collect::<Vec<_>>().join(".")
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&module(&self.module))?;
        match &self.resource {
            Some(resource) if self.module.is_empty() => write!(f, "{resource}"),
            Some(resource) => write!(f, ".{resource}"),
            None => Ok(()),
        }
    }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn dot(&mut self, expected: &str) -> Result<(), String> {
        match self.rest.strip_prefix('.') {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => Err(format!("expected {expected}")),
        }
    }

    fn name(&mut self) -> Result<String, String> {
        let length =
            self.rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length);
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Err("expected a name, such as `aws_instance.web` or `module.shop`".to_owned());
        }
        self.rest = rest;
        Ok(name.to_owned())
    }

    fn key(&mut self) -> Result<Key, String> {
        let Some(inside) = self.rest.strip_prefix('[') else { return Ok(Key::None) };
        let wrong = || "expected a number, or a key in double quotes, and `]`".to_owned();
        if let Some(quoted) = inside.strip_prefix('"') {
            let (text, rest) = unquoted(quoted).ok_or_else(wrong)?;
            self.rest = rest.strip_prefix(']').ok_or_else(wrong)?;
            return Ok(Key::Text(text));
        }
        let (digits, rest) = inside.split_once(']').ok_or_else(wrong)?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(format!("{}; a shell takes quotes away: write 'x[\"key\"]'", wrong()));
        }
        self.rest = rest;
        digits.parse().map(Key::Number).map_err(|_| wrong())
    }
}

/// The text before the closing quote, and what stands behind it.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let mut text = String::new();
    let mut chars = quoted.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((text, quoted.get(at + 1..)?)),
            '\\' => match chars.next()?.1 {
                'n' => text.push('\n'),
                'r' => text.push('\r'),
                't' => text.push('\t'),
                c @ ('"' | '\\') => text.push(c),
                c @ ('u' | 'U') => {
                    let digits = if c == 'u' { 4 } else { 8 };
                    let mut code = 0_u32;
                    for _ in 0..digits {
                        code = code * 16 + chars.next()?.1.to_digit(16)?;
                    }
                    text.push(char::from_u32(code)?);
                }
                _ => return None,
            },
            '$' | '%' => {
                let twice = chars.peek().is_some_and(|(_, next)| *next == c)
                    && quoted.get(at + 2..).is_some_and(|rest| rest.starts_with('{'));
                if twice {
                    chars.next();
                }
                text.push(c);
            }
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Address {
        Address::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    #[test]
    fn addresses_are_written_as_they_are_read() {
        for text in [
            "terraform_data.a",
            "data.aws_ami.x[3]",
            r#"terraform_data.m["y\"q\\.[0]"]"#,
            r#"module.k["e.f"].module.n[0].data.x.y["$${z}"]"#,
            "module.k",
            "module.data.data.data.data",
            "terraform_data.größe-1",
        ] {
            assert_eq!(read(text).to_string(), text);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in [
            "",
            "a",
            "a.",
            ".a",
            "a.b.c",
            "a.b[",
            "a.b[x]",
            "a.b[-1]",
            "a.b[\"x]",
            "a.b[\"x\"",
            "module",
            "module.",
            "module.k.",
            "module.k[0",
            "data.a",
            "a.b[99999999999999999999]",
            "a.1b",
            "a b.c",
            "a.b[\"\\q\"]",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_name_without_a_key_covers_all_instances() {
        let covers = |a: &str, b: &str| read(a).covers(&read(b));
        assert!(covers("x.a", "x.a") && covers("x.a", "x.a[1]") && covers("x.a[1]", "x.a[1]"));
        assert!(!covers("x.a[1]", "x.a") && !covers("x.a", "data.x.a") && !covers("x.a", "module.k.x.a"));
        assert!(covers("module.k", r#"module.k["e"].x.a"#) && covers("module.k", "module.k.module.n[0].x.a"));
        assert!(covers("module.k[0]", "module.k[0].module.n.x.a") && !covers("module.k[0]", "module.k[1].x.a"));
        assert!(!covers("module.k.module.n", "module.k[0].module.n.x.a") && !covers("module.k", "module.kk.x.a"));
        assert!(covers("module.k[0].module.n", "module.k[0].module.n[5].x.a") && !covers("module.k", "x.a"));
    }

    #[test]
    fn addresses_sort_as_terraform_sorts_them() {
        let sorted = ["data.z.z", "x.a", "x.a[2]", "x.a[10]", r#"x.a["1"]"#, "y.a", "module.a.x.a", "module.b.a.a"];
        let mut all: Vec<Address> = sorted.iter().rev().map(|text| read(text)).collect();
        all.sort();
        assert_eq!(all.iter().map(Address::to_string).collect::<Vec<_>>(), sorted);
    }

    proptest! {
        #[test]
        fn every_key_comes_back(key in ".*") {
            let address = Address {
                module: vec![Step { name: "m".to_owned(), key: Key::Text(key.clone()) }],
                resource: Some(Resource {
                    mode: Mode::Managed, kind: "x".to_owned(), name: "a".to_owned(), key: Key::Text(key),
                }),
            };
            prop_assert_eq!(Address::parse(&address.to_string()), Ok(address));
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-b.\\[\\]\"\\\\0-9u$%{é]{0,20}") {
            let _ = Address::parse(&text);
        }
    }
}
