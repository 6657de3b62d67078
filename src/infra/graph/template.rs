//! The templates of the configuration: texts with `{{ … }}`, of Go's language the part that makes one text of four.
//!
//! `.Path .Name .Instance .Key` are what there is; functions take the text last, as in `trimPrefix "stacks/" .Path`.

/// The longest text that a template may become.
const LONGEST: usize = 4096;

/// How deep parentheses and blocks may stand in each other.
const DEPTH: usize = 32;

/// What a template may name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fields<'a> {
    pub path: &'a str,
    pub name: &'a str,
    pub instance: &'a str,
    pub key: &'a str,
}

/// True where a text has to be rendered.
pub fn is_template(text: &str) -> bool {
    text.contains("{{")
}

/// Renders a text; one without `{{` stays as it is.
///
/// # Errors
/// In words, without a place: what is no template, what it names and there is not, or a text that is too long.
pub fn render(text: &str, fields: &Fields) -> Result<String, String> {
    if !is_template(text) {
        return Ok(text.to_owned());
    }
    let body = parse(text)?;
    let mut out = String::new();
    write(&body, fields, &Value::Root, &mut out)?;
    Ok(out)
}

/// Says what is wrong with a template, whatever its fields are.
///
/// # Errors
/// As [`render`].
pub fn check(text: &str) -> Result<(), String> {
    if !is_template(text) {
        return Ok(());
    }
    parse(text).map(drop)
}

#[derive(Clone, Debug)]
enum Node {
    Text(String),
    Print(Pipe),
    If(Vec<(Pipe, Vec<Node>)>, Vec<Node>),
    With(Pipe, Vec<Node>, Vec<Node>),
}

/// Commands, each of which gets what the one before it gave, as its last argument.
type Pipe = Vec<Vec<Word>>;

#[derive(Clone, Debug)]
enum Word {
    Dot,
    /// `$`
    Root,
    /// `.Name`, of the root where the word is true.
    Field(bool, String),
    Text(String),
    Int(i64),
    Bool(bool),
    Call(String),
    Group(Pipe),
}

#[derive(Clone, PartialEq, Debug)]
enum Value {
    Root,
    Text(String),
    Int(i64),
    Bool(bool),
}

impl Value {
    fn holds(&self) -> bool {
        match self {
            Value::Root => true,
            Value::Text(text) => !text.is_empty(),
            Value::Int(n) => *n != 0,
            Value::Bool(b) => *b,
        }
    }

    fn shown(&self) -> Result<String, String> {
        match self {
            Value::Root => Err("`.` is no text; name one of .Path, .Name, .Instance, .Key".to_owned()),
            Value::Text(text) => Ok(text.clone()),
            Value::Int(n) => Ok(n.to_string()),
            Value::Bool(b) => Ok(b.to_string()),
        }
    }
}

fn parse(text: &str) -> Result<Vec<Node>, String> {
    let mut reader = Reader { parts: parts(text)?.into_iter().peekable(), depth: 0 };
    let (body, end) = reader.body()?;
    match end {
        End::Text => Ok(body),
        End::Else(_) => Err("`{{ else }}` stands outside a block".to_owned()),
        End::Closed => Err("`{{ end }}` stands outside a block".to_owned()),
    }
}

/// A stretch of text, or what stands between `{{` and `}}`.
enum Part {
    Text(String),
    Action(String),
}

/// Cuts a text at its actions; `{{-` and `-}}` take the blanks beside them.
fn parts(text: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut trim = false;
    while let Some((before, after)) = rest.split_once("{{") {
        let mut before = if trim { before.trim_start() } else { before };
        let mut inside = after;
        if let Some(cut) = after.strip_prefix('-').filter(|cut| cut.starts_with(char::is_whitespace)) {
            before = before.trim_end();
            inside = cut;
        }
        parts.push(Part::Text(before.to_owned()));
        let end = end_of(inside).ok_or_else(|| "a `{{` is never closed".to_owned())?;
        let (action, after) = (inside.get(..end).unwrap_or(""), inside.get(end + 2..).unwrap_or(""));
        let cut = action.strip_suffix('-').filter(|cut| cut.ends_with(char::is_whitespace) || cut.is_empty());
        trim = cut.is_some();
        let action = cut.unwrap_or(action).trim();
        if !(action.starts_with("/*") && action.ends_with("*/")) {
            parts.push(Part::Action(action.to_owned()));
        }
        rest = after;
    }
    parts.push(Part::Text(if trim { rest.trim_start() } else { rest }.to_owned()));
    Ok(parts)
}

/// Where the `}}` of an action stands, one in a string left out.
fn end_of(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match quote {
            _ if std::mem::take(&mut escaped) => {}
            Some('"') if c == '\\' => escaped = true,
            Some(open) if open == c => quote = None,
            Some(_) => {}
            None if matches!(c, '"' | '`') => quote = Some(c),
            None if c == '}' && text.get(at..).is_some_and(|rest| rest.starts_with("}}")) => return Some(at),
            None => {}
        }
    }
    None
}

/// What a body ended with.
enum End {
    Text,
    /// The words behind `else`.
    Else(String),
    Closed,
}

struct Reader {
    parts: std::iter::Peekable<std::vec::IntoIter<Part>>,
    depth: usize,
}

impl Reader {
    fn body(&mut self) -> Result<(Vec<Node>, End), String> {
        let mut body = Vec::new();
        while let Some(part) = self.parts.next() {
            let action = match part {
                Part::Text(text) => {
                    body.push(Node::Text(text));
                    continue;
                }
                Part::Action(action) => action,
            };
            let (word, rest) = action.split_once(char::is_whitespace).unwrap_or((&action, ""));
            match word {
                "end" => return Ok((body, End::Closed)),
                "else" => return Ok((body, End::Else(rest.trim().to_owned()))),
                "if" => body.push(self.block(|reader| reader.choice(rest))?),
                "with" => body.push(self.block(|reader| {
                    let pipe = pipe(rest)?;
                    let (yes, end) = reader.body()?;
                    let no = match end {
                        End::Else(words) if words.is_empty() => reader.closed()?,
                        End::Else(_) => return Err("`{{ else }}` of `with` takes no condition".to_owned()),
                        End::Closed => Vec::new(),
                        End::Text => return Err("`{{ with }}` has no `{{ end }}`".to_owned()),
                    };
                    Ok(Node::With(pipe, yes, no))
                })?),
                "range" | "define" | "template" | "block" | "break" | "continue" => {
                    return Err(format!("`{word}` is no part of these templates; there are `if` and `with`"));
                }
                _ => body.push(Node::Print(pipe(&action)?)),
            }
        }
        Ok((body, End::Text))
    }

    fn block(&mut self, read: impl FnOnce(&mut Reader) -> Result<Node, String>) -> Result<Node, String> {
        if self.depth >= DEPTH {
            return Err(format!("blocks stand in each other more than {DEPTH} times"));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    /// The branches of an `if`, whose first condition is `words`.
    fn choice(&mut self, words: &str) -> Result<Node, String> {
        let mut branches = Vec::new();
        let mut condition = pipe(words)?;
        loop {
            let (body, end) = self.body()?;
            branches.push((condition, body));
            match end {
                End::Closed => return Ok(Node::If(branches, Vec::new())),
                End::Else(words) if words.is_empty() => return Ok(Node::If(branches, self.closed()?)),
                End::Else(words) => match words.strip_prefix("if").filter(|rest| rest.starts_with(char::is_whitespace))
                {
                    Some(rest) => condition = pipe(rest)?,
                    None => return Err("`{{ else }}` is followed by `if` or by nothing".to_owned()),
                },
                End::Text => return Err("`{{ if }}` has no `{{ end }}`".to_owned()),
            }
        }
    }

    fn closed(&mut self) -> Result<Vec<Node>, String> {
        match self.body()? {
            (body, End::Closed) => Ok(body),
            _ => Err("`{{ else }}` has no `{{ end }}`".to_owned()),
        }
    }
}

/// Reads a pipeline.
fn pipe(text: &str) -> Result<Pipe, String> {
    let mut words = Words { chars: text.chars().peekable(), depth: 0 };
    let pipe = words.pipe(None)?;
    if pipe.iter().any(Vec::is_empty) {
        return Err("an action names nothing".to_owned());
    }
    Ok(pipe)
}

struct Words<'a> {
    chars: std::iter::Peekable<std::str::Chars<'a>>,
    depth: usize,
}

impl Words<'_> {
    fn pipe(&mut self, close: Option<char>) -> Result<Pipe, String> {
        let mut pipe = vec![Vec::new()];
        loop {
            while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
            let Some(c) = self.chars.next() else {
                return if close.is_none() { Ok(pipe) } else { Err("a `(` is never closed".to_owned()) };
            };
            let word = match c {
                c if Some(c) == close => return Ok(pipe),
                '|' => {
                    pipe.push(Vec::new());
                    continue;
                }
                '(' => {
                    if self.depth >= DEPTH {
                        return Err(format!("parentheses stand in each other more than {DEPTH} times"));
                    }
                    self.depth += 1;
                    let inner = self.pipe(Some(')'))?;
                    self.depth -= 1;
                    if inner.iter().any(Vec::is_empty) {
                        return Err("parentheses hold nothing".to_owned());
                    }
                    Word::Group(inner)
                }
                '"' => Word::Text(self.quoted()?),
                '`' => {
                    let mut text = String::new();
                    loop {
                        match self.chars.next() {
                            Some('`') => break,
                            Some(c) => text.push(c),
                            None => return Err("a string is never closed".to_owned()),
                        }
                    }
                    Word::Text(text)
                }
                '.' => match self.name() {
                    name if name.is_empty() => Word::Dot,
                    name => Word::Field(false, name),
                },
                '$' => match self.chars.next_if_eq(&'.') {
                    Some(_) => Word::Field(true, self.name()),
                    None if self.chars.peek().is_none_or(|c| c.is_whitespace() || matches!(c, ')' | '|')) => Word::Root,
                    None => return Err("there are no variables in these templates".to_owned()),
                },
                c if c.is_ascii_digit() || c == '-' => {
                    let text: String = std::iter::once(c).chain(self.name().chars()).collect();
                    Word::Int(text.parse().map_err(|_| format!("`{text}` is no whole number"))?)
                }
                c if c.is_alphabetic() || c == '_' => {
                    let text: String = std::iter::once(c).chain(self.name().chars()).collect();
                    match text.as_str() {
                        "true" => Word::Bool(true),
                        "false" => Word::Bool(false),
                        _ => {
                            known(&text)?;
                            Word::Call(text)
                        }
                    }
                }
                c => return Err(format!("`{c}` has no meaning in a template")),
            };
            if let Word::Field(_, name) = &word {
                field(name, &Fields::default())?;
            }
            if let Some(command) = pipe.last_mut() {
                command.push(word);
            }
        }
    }

    fn name(&mut self) -> String {
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
        }
        name
    }

    fn quoted(&mut self) -> Result<String, String> {
        let mut text = String::new();
        loop {
            match self.chars.next() {
                Some('"') => return Ok(text),
                Some('\\') => text.push(match self.chars.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some(c @ ('"' | '\\' | '\'')) => c,
                    _ => return Err("a string has an escape that is not known".to_owned()),
                }),
                Some(c) => text.push(c),
                None => return Err("a string is never closed".to_owned()),
            }
        }
    }
}

const FUNCTIONS: [&str; 18] = [
    "trimPrefix",
    "trimSuffix",
    "base",
    "dir",
    "replace",
    "lower",
    "upper",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "and",
    "or",
    "not",
    "print",
    "len",
];

fn known(name: &str) -> Result<(), String> {
    if FUNCTIONS.contains(&name) {
        return Ok(());
    }
    Err(match crate::base::nearest::nearest(name, FUNCTIONS) {
        Some(near) => format!("there is no function `{name}`; did you mean `{near}`?"),
        None => format!("there is no function `{name}`; there are {}", FUNCTIONS.join(", ")),
    })
}

fn field<'a>(name: &str, fields: &Fields<'a>) -> Result<&'a str, String> {
    match name {
        "Path" => Ok(fields.path),
        "Name" => Ok(fields.name),
        "Instance" => Ok(fields.instance),
        "Key" => Ok(fields.key),
        name => Err(format!("there is no field `.{name}`; there are .Path, .Name, .Instance, .Key")),
    }
}

fn write(body: &[Node], fields: &Fields, dot: &Value, out: &mut String) -> Result<(), String> {
    for node in body {
        match node {
            Node::Text(text) => out.push_str(text),
            Node::Print(pipe) => out.push_str(&value(pipe, fields, dot)?.shown()?),
            Node::If(branches, otherwise) => {
                let mut taken = otherwise;
                for (condition, body) in branches {
                    if value(condition, fields, dot)?.holds() {
                        taken = body;
                        break;
                    }
                }
                write(taken, fields, dot, out)?;
            }
            Node::With(pipe, yes, no) => {
                let found = value(pipe, fields, dot)?;
                match found.holds() {
                    true => write(yes, fields, &found, out)?,
                    false => write(no, fields, dot, out)?,
                }
            }
        }
        if out.len() > LONGEST {
            return Err(format!("it becomes longer than {LONGEST} bytes"));
        }
    }
    Ok(())
}

fn value(pipe: &Pipe, fields: &Fields, dot: &Value) -> Result<Value, String> {
    let mut last = None;
    for command in pipe {
        last = Some(run(command, last, fields, dot)?);
    }
    last.ok_or_else(|| "an action names nothing".to_owned())
}

fn run(command: &[Word], piped: Option<Value>, fields: &Fields, dot: &Value) -> Result<Value, String> {
    let one = |word: &Word| match word {
        Word::Dot => Ok(dot.clone()),
        Word::Root => Ok(Value::Root),
        Word::Field(root, name) => match dot {
            Value::Root => field(name, fields).map(|text| Value::Text(text.to_owned())),
            _ if *root => field(name, fields).map(|text| Value::Text(text.to_owned())),
            _ => Err(format!("a text has no field `.{name}`; write `$.{name}`")),
        },
        Word::Text(text) => Ok(Value::Text(text.clone())),
        Word::Int(n) => Ok(Value::Int(*n)),
        Word::Bool(b) => Ok(Value::Bool(*b)),
        Word::Call(name) => call(name, &[]),
        Word::Group(pipe) => value(pipe, fields, dot),
    };
    match command {
        [Word::Call(name), rest @ ..] => {
            let given: Result<Vec<Value>, String> = rest.iter().map(one).collect();
            let given: Vec<Value> = given?.into_iter().chain(piped).collect();
            call(name, &given)
        }
        [word] if piped.is_none() => one(word),
        _ => Err("only a function takes what stands behind it".to_owned()),
    }
}

fn call(name: &str, given: &[Value]) -> Result<Value, String> {
    let text = |at: usize| match given.get(at) {
        Some(Value::Text(text)) => Ok(text.as_str()),
        Some(_) => Err(format!("`{name}` takes texts")),
        None => Err(format!("`{name}` needs more arguments")),
    };
    let count = |n: usize| match given.len() == n {
        true => Ok(()),
        false => {
            Err(format!("`{name}` takes {n} argument{}, {} are given", if n == 1 { "" } else { "s" }, given.len()))
        }
    };
    Ok(match name {
        "trimPrefix" => {
            count(2)?;
            Value::Text(text(1)?.strip_prefix(text(0)?).unwrap_or(text(1)?).to_owned())
        }
        "trimSuffix" => {
            count(2)?;
            Value::Text(text(1)?.strip_suffix(text(0)?).unwrap_or(text(1)?).to_owned())
        }
        "replace" => {
            count(3)?;
            let (old, new, whole) = (text(0)?, text(1)?, text(2)?);
            if old.is_empty() {
                return Err("`replace` needs something to replace".to_owned());
            }
            let grown = whole.matches(old).count().saturating_mul(new.len()).saturating_add(whole.len());
            if grown > 4 * LONGEST {
                return Err(format!("it becomes longer than {LONGEST} bytes"));
            }
            Value::Text(whole.replace(old, new))
        }
        "base" => {
            count(1)?;
            Value::Text(super::key::name(text(0)?.trim_end_matches('/')).to_owned())
        }
        "dir" => {
            count(1)?;
            let folder = super::key::folder(text(0)?);
            Value::Text(if folder.is_empty() { "." } else { folder }.to_owned())
        }
        "lower" => {
            count(1)?;
            Value::Text(text(0)?.to_lowercase())
        }
        "upper" => {
            count(1)?;
            Value::Text(text(0)?.to_uppercase())
        }
        "len" => {
            count(1)?;
            Value::Int(text(0)?.len() as i64)
        }
        "print" => Value::Text(given.iter().map(Value::shown).collect::<Result<String, String>>()?),
        "not" => {
            count(1)?;
            Value::Bool(!given.iter().any(Value::holds))
        }
        "and" | "or" => {
            let stops = |value: &&Value| value.holds() == (name == "or");
            given.iter().find(stops).or(given.last()).cloned().ok_or_else(|| format!("`{name}` needs arguments"))?
        }
        "eq" => {
            let (first, rest) = given.split_first().ok_or("`eq` needs two arguments")?;
            if rest.is_empty() {
                return Err("`eq` needs two arguments".to_owned());
            }
            Value::Bool(rest.iter().any(|one| one == first))
        }
        "ne" => {
            count(2)?;
            Value::Bool(given.first() != given.get(1))
        }
        "lt" | "le" | "gt" | "ge" => {
            count(2)?;
            let order = match (given.first(), given.get(1)) {
                (Some(Value::Text(a)), Some(Value::Text(b))) => a.cmp(b),
                (Some(Value::Int(a)), Some(Value::Int(b))) => a.cmp(b),
                _ => return Err(format!("`{name}` compares two texts or two numbers")),
            };
            Value::Bool(match name {
                "lt" => order.is_lt(),
                "le" => order.is_le(),
                "gt" => order.is_gt(),
                _ => order.is_ge(),
            })
        }
        name => return Err(format!("there is no function `{name}`")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: Fields = Fields { path: "stacks/prod/db", name: "db", instance: "eu", key: "stacks/prod/db:eu" };

    #[test]
    fn a_template_makes_a_text_of_what_a_stack_is_called() {
        for (text, want) in [
            ("plain", "plain"),
            (
                "key={{ .Path }}/{{ .Name }}{{ if .Instance }}-{{ .Instance }}{{ end }}.tfstate",
                "key=stacks/prod/db/db-eu.tfstate",
            ),
            ("{{ trimPrefix \"stacks/\" .Path }}", "prod/db"),
            ("{{ .Path | trimSuffix \"/db\" | upper }}", "STACKS/PROD"),
            ("{{ base (dir .Path) }}", "prod"),
            ("{{ replace \"/\" \"-\" .Key }}", "stacks-prod-db:eu"),
            ("{{ with .Instance }}<{{ . }}@{{ $.Name }}>{{ else }}none{{ end }}", "<eu@db>"),
            ("{{ if eq .Instance \"us\" \"eu\" }}a{{ else if .Name }}b{{ else }}c{{ end }}", "a"),
            ("{{ if and (not (eq .Name \"x\")) (gt .Name \"a\") }}y{{ end }}", "y"),
            ("a {{- /* note */ -}} b {{- .Name -}} c", "abdbc"),
            ("{{ or \"\" .Name }}{{ `}}` }}", "db}}"),
        ] {
            assert_eq!(render(text, &FIELDS).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_no_template_of_these_is_refused_before_it_is_rendered() {
        for text in [
            "{{ range .Path }}x{{ end }}",
            "{{ define \"x\" }}{{ end }}",
            "{{ .Owner }}",
            "{{ $x := .Path }}",
            "{{ if .Path }}",
            "{{ end }}",
            "{{ else }}",
            "{{",
            "{{ }}",
            "{{ printf \"%s\" .Path }}",
            "{{ (.Path }}",
            "{{ \"x }}",
            "{{ .Path | }}",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        let deep = format!("{{{{ {}.Path{} }}}}", "(".repeat(5000), ")".repeat(5000));
        assert!(check(&deep).is_err());
        assert!(check(&"{{ if .Path }}".repeat(5000)).is_err());
    }

    #[test]
    fn a_text_does_not_grow_without_end() {
        let text = "{{ .Key }}".repeat(1000);
        assert!(render(&text, &FIELDS).is_err());
    }
}
