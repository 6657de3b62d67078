use super::{Answer, Host, Jinja, Target, Var, json};
use crate::base::FileId;
use crate::infra::Value;
use std::sync::Arc;

/// A host that knows a few names.
pub struct Few;

impl Host for Few {
    fn file(&self, path: &str) -> Result<String, String> {
        match path {
            "note.txt" => Ok("a note\n".to_owned()),
            _ => Err(format!("there is no file `{path}`")),
        }
    }

    fn variable(&self, name: &str, target: &Target) -> Result<Answer, String> {
        let layer = target.stack.clone().unwrap_or_default();
        Ok(match name {
            "town" => Answer::Value("harbor".into()),
            _ => Answer::Absent(format!("layer `{layer}` has no variable `{name}`")),
        })
    }

    fn output(&self, _name: &str, _target: &Target) -> Result<Answer, String> {
        Err("the layer has no backend".to_owned())
    }

    fn resource(&self, address: &str, _target: &Target) -> Result<Answer, String> {
        Ok(Answer::Value([("id".to_owned(), address.into())].into_iter().collect()))
    }

    fn lookup(&self, subject: &str, path: &str) -> Result<Answer, String> {
        Ok(Answer::Value(format!("{subject}:{path}").into()))
    }
}

/// The report: what, place and what follows.
pub fn rendered(template: &str, variables: &str) -> Result<String, String> {
    let jinja = Jinja::new(Arc::new(Few));
    let var = Var::new(&json::decode(variables).expect("variables"));
    jinja.render(FileId::new("stacks/kiln/base/main.tf", template), &var).map_err(|problem| {
        let place = problem.place.map(|place| format!("\n  at {place}")).unwrap_or_default();
        let notes: String = problem.notes.iter().map(|note| format!("\n  note: {}", note.text)).collect();
        let expected = problem.expected.map(|text| format!("\n  {text}")).unwrap_or_default();
        let help = problem.help.map(|text| format!("\n  help: {text}")).unwrap_or_default();
        format!("{}{place}{expected}{notes}{help}", problem.what)
    })
}

#[test]
fn the_functions_answer() {
    for (template, want) in [
        ("{{ md5('a') }}", "0cc175b9c0f1b6a831c399e269772661"),
        ("{{ sha1('a') }}", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"),
        ("{{ sha256('a')[:8] }} {{ sha512('a')[:8] }}", "ca978112 1f40fc92"),
        ("{{ file('note.txt') }}|\n", "a note\n|"),
        ("{{ variable('town', stack='kiln') }}", "harbor"),
        ("{{ variable('no', stack='kiln') | default('d') }}", "d"),
        ("{{ resource('a.b', environment='x').id }}", "a.b"),
        ("{{ lookup('n', 'a.b') }}", "n:a.b"),
        ("{{ jsonencode({'b': 1, 'a': '<é'}) }}", "{\"b\": 1, \"a\": \"<\\u00e9\"}"),
        (
            "{{ jsondecode('[1, 340282366920938463463374607431768211456]')[1] }}",
            "340282366920938463463374607431768211456",
        ),
    ] {
        assert_eq!(rendered(template, "{}").as_deref(), Ok(want), "{template}");
    }
}

/// `tests/templates/layers.json` holds what Jinja2 itself made of each template: `want`, or nothing where it failed.
/// `suil` is there where suil does otherwise on purpose: its text, or null where it refuses.
#[test]
fn templates_come_out_as_jinja2_renders_them() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates/layers.json");
    let corpus = json::decode(&std::fs::read_to_string(path).expect("corpus")).expect("json");
    let variables = corpus.get("variables").expect("variables").to_json_line();
    let Some(Value::List(cases)) = corpus.get("cases") else { panic!("no cases") };
    assert!(cases.len() > 250);
    let mut differ = Vec::new();
    for case in cases {
        let template = case.get("template").and_then(Value::as_str).expect("template");
        let want = case.get("suil").or(case.get("want")).and_then(Value::as_str);
        match (want, rendered(template, &variables)) {
            (Some(want), Ok(found)) if want == found => {}
            (None, Err(_)) => {}
            (want, found) => differ.push(format!("{template}\n  wanted {want:?}\n  found  {found:?}")),
        }
    }
    assert!(differ.is_empty(), "{} differ\n{}", differ.len(), differ.join("\n"));
}
