use super::{Answer, Host, Jinja, Lookup, Target, Var, json};
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

    fn lookup(&self, asked: &Lookup) -> Result<Answer, String> {
        match asked.keys.get("role").and_then(Value::as_str) {
            Some(role) => Ok(Answer::Value(Value::List(vec![format!("{} of {role}", asked.field).into()]))),
            None => Err("`role` is missing".to_owned()),
        }
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
        ("{{ lookup('nginx.port', role='web') }}", "['nginx.port of web']"),
        ("{{ lookup(field='a', role='b')[0] }}", "a of b"),
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

/// Each case: a template, and the whole report.
#[test]
fn errors_say_what_is_wrong_at_the_line_that_the_author_wrote() {
    let at = |place: &str| format!("\n  at stacks/kiln/base/main.tf:{place}");
    for (template, want) in [
        (
            "a\n  {{ var.twon }}",
            format!(
                "`var.twon` is undefined{}\n  expected one of `town`, `n`, `key`\n  help: did you mean `town`?",
                at("2:6")
            ),
        ),
        ("{{ town }}", format!("`town` is undefined{}\n  expected `var`\n  help: did you mean `var.town`?", at("1:4"))),
        ("{{ [row.x for] }}", format!("unexpected identifier, expected `,`{}", at("1:11"))),
        ("{% for row in [{}] %}{{ row.x }}{% endfor %}", format!("`row.x` is undefined{}", at("1:25"))),
        ("{{ md5(var.n) }}", format!("`md5`: `string` is a number, expected a string{}", at("1:4"))),
        (
            "{{ 'x' | md5 }}",
            format!("there is no filter `md5`{}\n  help: `md5` is a function: write `md5(…)`", at("1:10")),
        ),
        ("{{ 1 is odder }}", format!("there is no test `odder`{}", at("1:9"))),
        ("{{ 'a'.nope() }}", format!("string has no method named nope{}", at("1:7"))),
        ("a\n {{ throw('no such guild: ' ~ var.town) }}", format!("no such guild: harbor{}", at("2:5"))),
        (
            "x\n{% for x in [1] %}\n{% if x %}{% endif %}\n",
            format!("`{{% for %}}` of line 2 is never closed{}", at("2:1")),
        ),
        (
            "{% include 'x' ignore missing %}",
            format!(
                "`include`, `import` and `extends` are not there in a layer: every template stands alone{}",
                at("1:4")
            ),
        ),
        (
            "{{ variable('no', stack='ferry') | upper }}",
            format!(
                "`variable('no', stack='ferry')` is undefined{}\n  note: layer `ferry` has no variable `no`",
                at("1:36")
            ),
        ),
        (
            "{% set x = variable('no', stack='ferry') %}\n{{ x }}",
            format!("`x` is undefined{}\n  note: layer `ferry` has no variable `no`", at("2:4")),
        ),
        (
            "{{ variable('a', stack='ferry') | default('') }}{{ 1 + 'a' }}",
            format!("tried to use + operator on unsupported types number and string{}", at("1:52")),
        ),
        (
            "{{ variable('town') }}",
            format!(
                "`variable` needs one of `stack=`, `environment=`, `subenvironment=`, `instance=`: the layer to ask{}",
                at("1:4")
            ),
        ),
        ("{{ output('w', stack='kiln') }}", format!("`output`: the layer has no backend{}", at("1:4"))),
        ("{{ file('absent.txt') }}", format!("`file`: there is no file `absent.txt`{}", at("1:4"))),
        ("{{ jsondecode(data='{oops}') }}", {
            let words = "`jsondecode`: the JSON is wrong at line 1 column 2: expected a key in double quotes";
            format!("{words}{}", at("1:4"))
        }),
        ("{{ lookup('a') }}", format!("`lookup`: `role` is missing{}", at("1:4"))),
        (
            "{{ lookup('a', role=var.kye) }}",
            format!(
                "`var.kye` is undefined{}\n  expected one of `town`, `n`, `key`\n  help: did you mean `key`?",
                at("1:21")
            ),
        ),
        ("{{ jsonencode(1, 2) }}", format!("`jsonencode` takes 1 argument, 2 are given{}", at("1:4"))),
        ("{{ var.items }}", format!("`items` is a method of the mapping; the key is `[\"items\"]`{}", at("1:4"))),
        // `%` is read as a filter, which takes more columns.
        (
            "{{ 'ab %s' % var.town }} {{ var.kye }}",
            format!(
                "`var.kye` is undefined{}\n  expected one of `town`, `n`, `key`\n  help: did you mean `key`?",
                at("1:29")
            ),
        ),
        (
            "{{ '%s' % 'a' }}\r\n{{ var.kye }}",
            format!(
                "`var.kye` is undefined{}\n  expected one of `town`, `n`, `key`\n  help: did you mean `key`?",
                at("2:4")
            ),
        ),
    ] {
        assert_eq!(rendered(template, r#"{"town": "harbor", "n": 5, "key": "k"}"#), Err(want), "{template}");
    }
}

#[test]
fn an_error_never_shows_the_values_that_the_template_was_given() {
    let variables = r#"{"key": "hunter22", "n": 31337, "l": [1, "hunter22"], "m": {"a": "hunter22"}}"#;
    for template in [
        "{{ 1 + var.key }}",
        "{{ var.key + 1 }}",
        "{{ var.m[var.key] }}",
        "{{ var.m.a.x.y }}",
        "{{ var.key.nope() }}",
        "{{ var.l | join(',', var.key) }}",
        "{{ var.l | sum }}",
        "{{ var.l | sum(attribute=var.key) }}",
        "{{ jsondecode(var.key) }}",
        "{{ deepformat('{' ~ 'x}', {'y': var.key}) }}",
        "{{ deepformat('{key:d}', var) }}",
        "{{ '%d' % var.key }}",
        "{{ '%s %s' % var.key }}",
        "{{ var.key % var.n }}",
        "{{ var.n ** 99 }}",
        "{{ var.key | batch(var.key) }}",
        "{{ var.l[var.key].x }}",
        "{{ var.key() }}",
        "{{ dict(var.key) }}",
        "{{ debug() }}",
        "{{ debug(var) }}",
        "{{ var.m.items }}",
        "{{ var.l.append(var.key) }}",
        "{{ range(var.key) }}",
        "{{ range(99999999999) | list }}{{ var.key }}",
    ] {
        let found = rendered(template, variables).expect_err(template);
        assert!(!found.contains("hunter22") && !found.contains("31337"), "{template}\n{found}");
    }
}

#[test]
fn a_template_that_never_ends_is_stopped() {
    for template in [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m() %}{{ m(*varargs) }}{% endmacro %}{{ m(1) }}",
        "{{ 'a' * 999999999 }}",
        "{{ deepformat('{x:999999999}', {'x': 1}) }}",
        "{{ '%999999999d' % 1 }}",
    ] {
        rendered(template, "{}").expect_err(template);
    }
    let deep = format!("{{{{ jsondecode('{}') }}}}", "[".repeat(100_000));
    rendered(&deep, "{}").expect_err("deep JSON");
    let deep = format!("{{{{ {} }}}}", "[".repeat(10_000));
    rendered(&deep, "{}").expect_err("deep list");
}

#[test]
fn threads_share_an_engine() {
    fn shared<T: Send + Sync>() {}
    shared::<Jinja>();
    shared::<Var>();
}
