//! Files of variables are read as Terraform 1.11 reads them: its answers to 162 snippets are on record.

use std::path::Path;
use suil::base::{FileId, Problems};
use suil::infra::{Number, Value, hcl};

fn variables(text: &str) -> Result<Vec<hcl::Attribute>, Problems> {
    hcl::variables(FileId::new("a.tfvars", text))
}

/// The value of `a`, or the first problem.
fn a(text: &str) -> Result<Option<Value>, String> {
    match variables(text) {
        Ok(found) => Ok(found.into_iter().find(|attribute| attribute.name == "a").map(|attribute| attribute.value)),
        Err(problems) => Err(problems.first().map(|problem| problem.what.clone()).unwrap_or_default()),
    }
}

/// A value as JSON whose keys are sorted, as the record has them. One number is the other's equal, whether it was written
/// with a point or without.
fn sorted(value: &Value) -> Value {
    match value {
        Value::List(items) => Value::List(items.iter().map(sorted).collect()),
        Value::Map(map) => {
            let mut map: indexmap::IndexMap<_, _> = map.iter().map(|(key, item)| (key.clone(), sorted(item))).collect();
            map.sort_keys();
            Value::Map(map)
        }
        Value::Number(Number::Float(x)) if x.fract() == 0.0 && x.abs() < 9e15 => Value::from(*x as i64),
        other => other.clone(),
    }
}

#[test]
fn every_snippet_on_record_is_read_as_terraform_reads_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/hcl_oracle.json");
    let record =
        hcl::variables_json(FileId::new("x", format!("{{\"all\": {}}}", std::fs::read_to_string(path).unwrap())));
    let Value::List(snippets) = record.unwrap().remove(0).value else { panic!("the record is a list") };
    assert_eq!(snippets.len(), 162);
    let mut wrong = vec![];
    for snippet in &snippets {
        let name = snippet.get("name").and_then(Value::as_str).unwrap();
        let text = snippet.get("tfvars").and_then(Value::as_str).unwrap();
        let terraform = snippet.get("terraform").unwrap();
        let got = a(text);
        let fits = match (terraform.get("value"), &got) {
            (Some(Value::Str(none)), Ok(None)) => none == "(not set)",
            (Some(want), Ok(Some(got))) => sorted(got).to_json_line() == sorted(want).to_json_line(),
            (None, Err(_)) => terraform.get("error").is_some(),
            _ => false,
        };
        if !fits {
            wrong.push(format!("{name}: {}\n    found {got:?}", terraform.to_json_line()));
        }
    }
    assert!(wrong.is_empty(), "{} of 162 differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Terraform computes with 512 bits, and writes as many digits as that takes.
const THIRD: &str = concat!(
    "\"x0.333333333333333333333333333333333333333333333333333333333333333333333333333333",
    "33333333333333333333333333333333333333333333333333333333333333333333333333335\""
);

#[test]
fn what_terraform_computes_beyond_the_record_is_computed() {
    let cases = [
        ("1 % 0", "1"),
        ("-7 % 3", "-1"),
        ("0.1 + 0.2", "0.3"),
        ("7.5 % 2", "1.5"),
        (r#""x${1/3}""#, THIRD),
        (r#""${2.50} ${1e3} ${10/4} ${1.5e-10}""#, r#""2.5 1000 2.5 0.00000000015""#),
        ("1/7*7", "1"),
        ("9007199254740993.0", "9007199254740993"),
        ("2 + 3 * 4 == 14 && true", "true"),
        ("10 - 2 - 3", "5"),
        (r#""5" + 1"#, "6"),
        (r#""1" == 1"#, "false"),
        (r#"true ? 1 : "a""#, r#""1""#),
        (r#"true ? [1] : ["a", "b"]"#, r#"["1"]"#),
        (r#"true ? {a=1} : {b="x"}"#, r#"{"a": "1"}"#),
        ("false ? b : 1", "1"),
        ("[for i, x in [\"a\", \"b\"] : \"${i}${x}\"]", r#"["0a", "1b"]"#),
        ("[for x in {b=1,a=2} : x]", "[2, 1]"),
        ("{for x in [1,1,2] : x => x...}", r#"{"1": [1, 1], "2": [2]}"#),
        ("[{a=[1,2]}][*].a[0]", "[1]"),
        ("null[*]", "[]"),
        ("[1,2,3].1", "2"),
        (r#""a ${~ " b " ~} c""#, r#""a b c""#),
        (r#""$$${x}""#, r#""$${x}""#),
        (r#""%{ for i, x in ["a"] }${i}${x}%{ endfor }""#, r#""0a""#),
        ("<<-EOT\n${1}\n    b\nEOT", r#""1\n    b\n""#),
        ("<<-EOT\n    ${\"  x\"}\n  b\nEOT", r#""    x\nb\n""#),
        ("<<EOT\n%{ for x in [\"a\",\"b\"] ~}\n- ${x}\n%{ endfor ~}\nEOT", r#""- a\n- b\n""#),
    ];
    for (text, want) in cases {
        let got = a(&format!("a = {text}\n")).map(|value| value.map(|value| value.to_json_line()));
        assert_eq!(got, Ok(Some(want.to_owned())), "{text}");
    }
}

#[test]
fn names_stand_where_they_were_written() {
    let text = "\u{feff}# c\n  zeta = 1\n\té = <<EOT\nx\nEOT\nalpha = {\n  b = 1, a = 2, b = 3 }\n";
    let found = variables(text).unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|one| (one.name.as_str(), one.place.line, one.place.column, one.place.width, one.value.to_json_line()))
        .collect();
    let want = [
        ("zeta", 2, 3, 4, "1".to_owned()),
        ("é", 3, 2, 1, r#""x\n""#.to_owned()),
        ("alpha", 6, 1, 5, r#"{"b": 3, "a": 2}"#.to_owned()),
    ];
    assert_eq!(seen, want);
}

#[test]
fn a_problem_says_where_and_what_was_expected() {
    let cases = [
        (
            "a = b\n",
            "1:5:1 variables are not allowed here: `b` | expected a value: a file of variables names no others",
        ),
        (
            "a = upper(\"x\")\n",
            "1:5:5 function calls are not allowed here: `upper` | expected a value: a file of variables calls no functions",
        ),
        ("a = [1 2]\n", "1:8:1 a comma is missing between the items | expected `,` or `]`"),
        ("a = [1\n", "1:5:1 the list is never closed | expected a `]` for this"),
        (
            "a = \"é\\qb\"\n",
            r#"1:7:2 unknown escape `\q` | expected one of `\n`, `\r`, `\t`, `\"`, `\\`, `\u` or `\U`"#,
        ),
        (
            "a = <<EOT\nx\n",
            "1:5:5 the here document never ends | expected a line `EOT` after it, and a line break after that",
        ),
        ("a = \"x\n", "1:5:2 a string in quotes cannot go on over a line break | expected its `\"`"),
        ("a = 'x'\n", "1:5:1 `'` has no meaning here | expected a value"),
        ("a =\n1\n", "1:4:0 a value is missing here | expected a value, found the end of the line"),
        ("a = 1 b = 2\n", "1:7:1 the value of `a` ends here, but the line goes on | expected the end of the line"),
        ("a {\n}\n", "1:1:1 a block `a` in a file of variables | expected `name = value`"),
        ("a = {x = 1}.y\n", "1:13:1 the map has no key `y` | expected a key of the map"),
    ];
    for (text, want) in cases {
        let problem = variables(text).unwrap_err().remove(0);
        let place = problem.place.unwrap();
        let expected = problem.expected.clone().unwrap_or_default();
        let got = format!("{}:{}:{} {} | {expected}", place.line, place.column, place.width, problem.what);
        assert_eq!(got, want, "{text:?}");
    }
}

#[test]
fn every_problem_of_a_file_is_reported_in_order() {
    let problems = variables("a = x\nb = [1 2]\nc = 1\nc = 2\nd {\n}\ne = [y, f()]\n").unwrap_err();
    let lines: Vec<_> = problems.iter().map(|problem| problem.place.map_or(0, |place| place.line)).collect();
    assert_eq!(lines, [1, 2, 4, 5, 7, 7]);
    assert_eq!(problems[2].notes[0].text, "first set at");
    assert_eq!(problems[2].notes[0].place.unwrap().line, 3);
}

#[test]
fn variables_in_json_are_taken_as_they_stand() {
    let text = r#"{"//": "no variable", "z": 12345678901234567890123, "a": "${x}",
        "m": {"b": [1.50, -0, 1e3, null], "a": "\u00e9"}}"#;
    let found = hcl::variables_json(FileId::new("a.tfvars.json", text)).unwrap();
    let seen: Vec<_> = found.iter().map(|one| format!("{} {}", one.name, one.value.to_json_line())).collect();
    let want = ["z 12345678901234567890123", r#"a "${x}""#, r#"m {"b": [1.5, 0, 1000, null], "a": "\u00e9"}"#];
    assert_eq!(seen, want);
    for (text, want) in [
        (r#"{"a": 1, "a": 2}"#, "1:10 `a` is set twice"),
        ("[]", "1:1 a file of variables holds one object"),
        (r#"{"a": 01}"#, "1:7 `01` is no number"),
        (r#"{"a": 1,}"#, "1:9 `}` has no meaning here"),
        ("{\"a\": \"x\n\"}", "1:7 the string is never closed"),
        ("{\n\"a\":", "2:5 this JSON ends too soon"),
    ] {
        let problem = hcl::variables_json(FileId::new("a.tfvars.json", text)).unwrap_err().remove(0);
        let place = problem.place.unwrap();
        assert_eq!(format!("{}:{} {}", place.line, place.column, problem.what), want, "{text:?}");
    }
}

const CODE: &str = r#"
terraform {
  required_version = ">= 1.0"
  backend "s3" {
    bucket = "b-${var.x}"
  }
}
variable "one" {
  type = map(object({ a = optional(string, "x") }))
  validation {
    condition     = alltrue([for k, v in var.one : v.a != "" && length(v[*].a) > 0])
    error_message = <<-EOT
      not "so" %{ if true ~} x %{ endif }
    EOT
  }
}
variable two {}
variable "three" { default = provider::x::f(local.list.*.name[0]...) }
resource "x" "y" {
  for_each = toset(["variable \"four\" {}"])
  dynamic "z" {
    for_each = var.zs
    content { name = z.value["n"] }
  }
}
"#;

#[test]
fn declared_variables_are_found_with_their_places() {
    let found = hcl::declared(FileId::new("a.tf", CODE));
    assert_eq!(found.problems, []);
    let seen: Vec<_> = found.items.iter().map(|(name, place)| (name.as_str(), place.line, place.column)).collect();
    assert_eq!(seen, [("one", 8, 10), ("two", 17, 10), ("three", 18, 10)]);
}

#[test]
fn declarations_around_a_broken_one_are_still_found() {
    let code =
        "variable \"a\" {}\nvariable \"b\" {\n  default = [1 2]\n  type = any\n}\n0 = x {\n}\nvariable \"c\" {}\n";
    let found = hcl::declared(FileId::new("a.tf", code));
    let names: Vec<_> = found.items.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"], "{:?}", found.problems);
    let lines: Vec<_> = found.problems.iter().map(|problem| problem.place.map_or(0, |place| place.line)).collect();
    assert_eq!(lines, [3, 6]);
}

#[test]
fn backends_are_found_in_every_terraform_block() {
    let code =
        "terraform {}\nterraform {\n  backend \"s3\" {\n    bucket = \"b\"\n  }\n}\nterraform {\n  cloud {\n  }\n}\n";
    let found = hcl::backends(FileId::new("a.tf", code));
    let seen: Vec<_> = found
        .items
        .iter()
        .map(|one| (one.keyword.as_str(), one.label.as_deref(), one.place.line, one.text.as_str()))
        .collect();
    let want =
        [("backend", Some("s3"), 3, "backend \"s3\" {\n    bucket = \"b\"\n  }"), ("cloud", None, 8, "cloud {\n  }")];
    assert_eq!(seen, want);
}

#[test]
fn code_in_json_is_read_too() {
    let code =
        r#"{"variable": [{"a": {}}, {"b": {"type": "string"}}], "terraform": {"backend": {"s3": {"bucket": "b"}}}}"#;
    let file = FileId::new("a.tf.json", code);
    let names: Vec<_> = hcl::declared_json(file).items.into_iter().map(|(name, place)| (name, place.column)).collect();
    assert_eq!(names, [("a".to_owned(), 16), ("b".to_owned(), 27)]);
    let backends = hcl::backends_json(file).items;
    assert_eq!(backends[0].label.as_deref(), Some("s3"));
    assert_eq!(backends[0].text, r#"{"bucket": "b"}"#);
}

#[test]
fn nesting_ends_before_the_stack_does() {
    let nests = [
        ("[", "]"),
        ("(", ")"),
        ("{ a = ", "}"),
        ("-", ""),
        ("\"${", "}\""),
        ("!", ""),
        ("true ? 1 : ", ""),
        ("f(", ")"),
        ("[1][", "]"),
    ];
    for (at, (open, close)) in nests.into_iter().enumerate() {
        let deep = |depth: usize| format!("a = {}1{}\n", open.repeat(depth), close.repeat(depth));
        let problems = variables(&deep(100_000)).unwrap_err();
        assert_eq!(problems[0].what, "this is nested too deep", "{open}");
        if at < 5 {
            assert!(variables(&deep(60)).is_ok(), "{open}");
        }
    }
    assert!(variables(&format!("a = 1{}\n", " + 1".repeat(100_000))).is_ok());
    assert!(variables(&format!("a = [1]{}\n", "[*]".repeat(100_000))).is_err());
    assert!(!hcl::declared(FileId::new("a.tf", "a {\n".repeat(100_000))).problems.is_empty());
    assert!(hcl::variables_json(FileId::new("a", "[".repeat(100_000))).is_err());
    let (open, close) = ("%{ if true }".repeat(1000), "%{ endif }".repeat(1000));
    assert!(variables(&format!("a = \"{open}{close}\"\n")).is_err());
}

#[test]
fn what_would_take_all_memory_is_refused() {
    let list = format!("[{}]", "1,".repeat(300));
    let loops = format!("a = [for a in {list} : [for b in {list} : [for c in {list} : 1]]]\n");
    for (text, want) in [
        (loops.as_str(), "this file computes too much"),
        ("a = 1e999999999\n", "this number is too long"),
        ("a = 1e99999999999999999999\n", "this number is too long"),
        ("a = 1e20000 * 1e20000\n", "the result is too long"),
    ] {
        assert_eq!(variables(text).unwrap_err()[0].what, want);
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    const PIECES: &[&str] = &[
        "a = ",
        "b",
        "\n",
        "\r\n",
        "\r",
        "\"",
        "${",
        "%{",
        "$${",
        "}",
        "~}",
        "{",
        "[",
        "]",
        "(",
        ")",
        "<<EOT\n",
        "EOT\n",
        "<<-E\n",
        "E\n",
        "if ",
        "for x in ",
        "endif",
        "endfor",
        "else",
        "1",
        "1.5",
        "1e9",
        "-",
        "!",
        "?",
        ":",
        "=>",
        "...",
        ".",
        ".*",
        "[*]",
        "#",
        "//",
        "/*",
        "*/",
        "\\",
        "\\u00e9",
        "é",
        "\u{feff}",
        "🏺",
        "null",
        "true",
        ",",
        "=",
        "==",
        "&&",
        "variable ",
        "\0",
        " ",
        "\t",
    ];

    fn read_all(text: &str) {
        let file = FileId::new("any.tf", text);
        for problem in variables(text).err().into_iter().flatten() {
            let place = problem.place.expect("every problem has a place");
            let lines = text.matches('\n').count() as u32 + 1;
            assert!(place.line >= 1 && place.line <= lines, "{place:?} in {text:?}");
        }
        hcl::declared(file);
        hcl::backends(file);
        hcl::declared_json(file);
        hcl::original(file);
        let _ = hcl::variables_json(file);
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>()) {
            read_all(&text);
        }

        #[test]
        fn of_pieces_of_the_language_never_panics(at in proptest::collection::vec(0..PIECES.len(), 0..60)) {
            read_all(&at.into_iter().map(|at| PIECES[at]).collect::<String>());
        }

        #[test]
        fn that_is_escaped_and_quoted_is_read_back(text in any::<String>()) {
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n").replace('\r', r"\r");
            let escaped = escaped.replace("${", "$${").replace("%{", "%%{");
            prop_assert_eq!(a(&format!("a = \"{escaped}\"\n")), Ok(Some(Value::Str(text))));
        }
    }
}

#[test]
fn every_difference_to_the_original_on_record_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/hcl_oracle.json");
    let snippets: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = vec![];
    let mut named = 0;
    for snippet in snippets.as_array().unwrap() {
        let (name, text) = (snippet["name"].as_str().unwrap(), snippet["tfvars"].as_str().unwrap());
        let file = FileId::new("a.tfvars", text);
        if hcl::variables(file).is_err() {
            continue;
        }
        let found = hcl::original(file);
        named += usize::from(!found.is_empty());
        if found.is_empty() != snippet["agree"].as_bool().unwrap() {
            wrong.push(format!("{name}: {found:?}"));
        }
        // What is claimed of a whole value must be what the original was seen to make of it.
        let whole = found.first().filter(|one| found.len() == 1 && !text.contains(['[', '{']) && one.place.column == 5);
        if let Some(Value::Str(claim)) = whole.and_then(|one| one.original.as_ref())
            && snippet["python_hcl2"]["value"].as_str() != Some(claim)
        {
            wrong.push(format!("{name}: {claim:?} is claimed, {} was seen", snippet["python_hcl2"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named > 40, "{named}");
}

#[test]
fn the_cause_of_a_difference_is_told() {
    let cases = [
        (r#""c:\\temp\\new""#, hcl::Cause::Backslash, Some("c:\\\temp\\\new")),
        (r#""caf\u00e9""#, hcl::Cause::UnicodeEscape, Some("caf\\u00e9")),
        (r#""$${x}""#, hcl::Cause::DoubledSign, Some("$${x}")),
        (r#"["n-${1}"]"#, hcl::Cause::Template, None),
        ("1 + 2", hcl::Cause::Expression, None),
        ("- 5", hcl::Cause::Expression, None),
        ("-1e3", hcl::Cause::Exponent, Some("${-1e3}")),
        ("<<EOT\nx\nEOT", hcl::Cause::HereDocument, Some("x")),
        ("<<-EOT\n x\n EOT", hcl::Cause::HereDocument, None),
        ("/* c */ 1", hcl::Cause::Comment, None),
        ("{ é = 1 }", hcl::Cause::Name, None),
        ("{ k = \"\\u0041\" }", hcl::Cause::UnicodeEscape, Some("\\u0041")),
    ];
    for (text, cause, original) in cases {
        let file = FileId::new("a.tfvars", format!("ok = 1\na = {text}\n"));
        let found = hcl::original(file);
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!((found[0].cause, found[0].variable.as_deref()), (cause, Some("a")), "{text}");
        assert_eq!(found[0].original.as_ref().and_then(Value::as_str), original, "{text}");
        let variables = hcl::variables(file).unwrap();
        let differing: Vec<_> = variables.iter().filter(|one| one.differs(&found).is_some()).collect();
        assert_eq!(differing.len(), 1, "{text}");
        assert_eq!(differing[0].name, "a");
    }
}

#[test]
fn the_original_reading_is_what_the_original_read_or_a_problem() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/stacks/hcl_oracle.json");
    let snippets: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (mut wrong, mut same, mut other, mut refused) = (vec![], 0, 0, 0);
    for snippet in snippets.as_array().unwrap() {
        let file = FileId::new("a.tfvars", snippet["tfvars"].as_str().unwrap());
        let (Ok(terraform), seen) = (hcl::variables(file), &snippet["python_hcl2"]["value"]) else { continue };
        let Ok(read) = hcl::variables_as(file, hcl::Reading::Original) else {
            refused += 1;
            assert!(!snippet["agree"].as_bool().unwrap(), "{snippet}: both read it alike");
            continue;
        };
        let value = |found: &[hcl::Attribute]| found.iter().find(|one| one.name == "a").map(|one| one.value.to_json());
        if seen.is_null() {
            continue;
        }
        let Some(json) = value(&read) else { continue };
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        same += usize::from(&json == seen);
        other += usize::from(&json == seen && value(&read) != value(&terraform));
        if &json != seen && json.as_f64().is_none_or(|number| Some(number) != seen.as_f64()) {
            wrong.push(format!("{}: {json} instead of {seen}", snippet["name"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(same > 60 && other > 8 && refused > 30, "{same} alike, {other} of them not Terraform's, {refused} refused");
}
