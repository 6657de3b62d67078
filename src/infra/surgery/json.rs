//! JSON whose numbers stay as they were written: a state holds whole numbers of any size and fractions of any length.

use indexmap::IndexMap;

/// Deeper than this nothing is read.
const DEEPEST: usize = 250;

/// A JSON value. The order of an object is that of its text.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    /// The digits as they were written.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Map(IndexMap<String, Json>),
}

impl Json {
    /// Reads one document.
    ///
    /// # Errors
    /// What was expected, with line and column; never the text itself.
    pub fn parse(text: &str) -> Result<Json, String> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value(0)?;
        reader.blank();
        if reader.at == text.len() { Ok(value) } else { Err(reader.wrong("nothing behind the value")) }
    }

    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_map()?.get(key)
    }

    pub fn as_map(&self) -> Option<&IndexMap<String, Json>> {
        if let Json::Map(map) = self { Some(map) } else { None }
    }

    pub fn as_map_mut(&mut self) -> Option<&mut IndexMap<String, Json>> {
        if let Json::Map(map) = self { Some(map) } else { None }
    }

    pub fn as_list(&self) -> Option<&[Json]> {
        if let Json::List(items) = self { Some(items) } else { None }
    }

    pub fn as_str(&self) -> Option<&str> {
        if let Json::Text(text) = self { Some(text) } else { None }
    }

    /// A whole number that fits.
    pub fn as_u64(&self) -> Option<u64> {
        if let Json::Number(digits) = self { digits.parse().ok() } else { None }
    }

    pub fn text(text: impl Into<String>) -> Json {
        Json::Text(text.into())
    }

    pub fn number(number: u64) -> Json {
        Json::Number(number.to_string())
    }

    /// Writes it as Terraform does: two blanks of indent, empty collections on one line, a final newline.
    pub fn pretty(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(0));
        out.push('\n');
        out
    }

    /// Writes it on one line, without a blank.
    pub fn line(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// `depth` is that of the value; without one everything stands on one line.
    fn write(&self, out: &mut String, depth: Option<usize>) {
        match self {
            Json::Null => out.push_str("null"),
            Json::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
            Json::Number(digits) => out.push_str(digits),
            Json::Text(text) => string(out, text),
            Json::List(items) => frame(out, ['[', ']'], items.iter(), depth, |out, item, depth| item.write(out, depth)),
            Json::Map(map) => frame(out, ['{', '}'], map.iter(), depth, |out, (key, item), depth| {
                string(out, key);
                out.push_str(if depth.is_some() { ": " } else { ":" });
                item.write(out, depth);
            }),
        }
    }
}

fn string(out: &mut String, text: &str) {
    // A string is always JSON.
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

fn frame<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl ExactSizeIterator<Item = T>,
    depth: Option<usize>,
    write: impl Fn(&mut String, T, Option<usize>),
) {
    let line = |out: &mut String, depth: Option<usize>| {
        if let Some(depth) = depth {
            out.push('\n');
            out.extend(std::iter::repeat_n("  ", depth));
        }
    };
    let (empty, inside) = (items.len() == 0, depth.map(|depth| depth + 1));
    out.push(open);
    for (at, item) in items.enumerate() {
        if at > 0 {
            out.push(',');
        }
        line(out, inside);
        write(out, item, inside);
    }
    if !empty {
        line(out, depth);
    }
    out.push(close);
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blank(&mut self) {
        while matches!(self.byte(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn wrong(&self, expected: &str) -> String {
        let before = self.text.get(..self.at).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("line {line} column {column}: expected {expected}")
    }

    fn take(&mut self, byte: u8) -> bool {
        let is = self.byte() == Some(byte);
        self.at += usize::from(is);
        is
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > DEEPEST {
            return Err(self.wrong(&format!("at most {DEEPEST} levels")));
        }
        self.blank();
        match self.byte() {
            Some(b'"') => self.string().map(Json::Text),
            Some(b'[') => self.list(depth),
            Some(b'{') => self.map(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                for (word, value) in [("true", Json::Bool(true)), ("false", Json::Bool(false)), ("null", Json::Null)] {
                    if rest.starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                Err(self.wrong("a value"))
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json, String> {
        let mut items = Vec::new();
        self.at += 1;
        self.blank();
        if self.take(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blank();
            if self.take(b']') {
                return Ok(Json::List(items));
            }
            if !self.take(b',') {
                return Err(self.wrong("`,` or `]`"));
            }
        }
    }

    fn map(&mut self, depth: usize) -> Result<Json, String> {
        let mut map = IndexMap::new();
        self.at += 1;
        self.blank();
        if self.take(b'}') {
            return Ok(Json::Map(map));
        }
        loop {
            self.blank();
            if self.byte() != Some(b'"') {
                return Err(self.wrong("a key in double quotes"));
            }
            let before = self.at;
            let key = self.string()?;
            if map.contains_key(&key) {
                self.at = before;
                return Err(self.wrong("each key once"));
            }
            self.blank();
            if !self.take(b':') {
                return Err(self.wrong("`:`"));
            }
            map.insert(key, self.value(depth + 1)?);
            self.blank();
            if self.take(b'}') {
                return Ok(Json::Map(map));
            }
            if !self.take(b',') {
                return Err(self.wrong("`,` or `}`"));
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        let digits = |reader: &mut Reader| {
            let from = reader.at;
            while reader.byte().is_some_and(|byte| byte.is_ascii_digit()) {
                reader.at += 1;
            }
            reader.at - from
        };
        self.take(b'-');
        let zero = self.byte() == Some(b'0');
        let whole = digits(self);
        let mut good = whole > 0 && !(zero && whole > 1);
        if self.take(b'.') {
            good &= digits(self) > 0;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.byte(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            good &= digits(self) > 0;
        }
        match self.text.get(start..self.at) {
            Some(digits) if good => Ok(Json::Number(digits.to_owned())),
            _ => {
                self.at = start;
                Err(self.wrong("a number such as `1.5` or `1e3`"))
            }
        }
    }

    /// Reads a string; serde_json knows the escapes.
    fn string(&mut self) -> Result<String, String> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut end = start + 1;
        loop {
            match bytes.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(b'\n') | None => return Err(self.wrong("a `\"` that closes this string")),
                Some(_) => end += 1,
            }
        }
        let text = self.text.get(start..=end).unwrap_or_default();
        let read = serde_json::from_str(text).map_err(|_| self.wrong("a string with the escapes of JSON"));
        self.at = end + 1;
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_stay_as_they_were_written() {
        let text =
            r#"{"a":[123456789012345678901234567890,0.1234567890123456789012345,-1E+400,0],"b":{},"c":"é\u0000\""}"#;
        let read = Json::parse(text).expect("JSON");
        assert_eq!(read.line(), text);
        assert_eq!(Json::parse(&read.pretty()), Ok(read));
    }

    #[test]
    fn what_is_no_json_is_told_with_its_place_and_not_with_its_text() {
        for (text, wrong) in [
            ("{\"secret\": tru}", "line 1 column 12: expected a value"),
            ("{\n \"a\": 1,\n \"a\": 2}", "line 3 column 2: expected each key once"),
            ("[01]", "line 1 column 2: expected a number such as `1.5` or `1e3`"),
            ("[1", "line 1 column 3: expected `,` or `]`"),
            ("\"a\\", "line 1 column 1: expected a `\"` that closes this string"),
            ("{} x", "line 1 column 4: expected nothing behind the value"),
        ] {
            assert_eq!(Json::parse(text), Err(wrong.to_owned()), "{text}");
        }
        assert!(Json::parse(&"[".repeat(100_000)).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[\\[\\]{}:,\"\\\\a0-9.eE+\\-tru\u{e9} \n]{0,60}") {
            if let Ok(read) = Json::parse(&text) {
                prop_assert_eq!(Json::parse(&read.pretty()), Ok(read));
            }
        }
    }
}
