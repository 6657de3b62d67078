use super::{Space, Templates};
use crate::base::Plain;
use crate::module::tests::{Memory, config, module, told};
use std::path::Path;

fn case(name: &str, file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open").join(name).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn rendered(template: &str, vars: &str) -> Result<String, String> {
    let templates = Templates::new("app", Memory::of([("templates/t.j2", template)]));
    let vars = Plain::from_yaml(vars).expect("yaml");
    templates.render("t.j2", &vars).map_err(|p| told(&vec![p]))
}

#[test]
fn white_space_is_as_jinja2_gives_it() {
    let expect = Plain::from_json(&case("T01-template-whitespace", "expect.json")).expect("json");
    let rows = expect.get("rows").and_then(Plain::as_map).expect("rows");
    assert_eq!(rows.len(), 12);
    for (name, row) in rows {
        let text = row.get("template").and_then(Plain::as_str).expect("template");
        let option = |key: &str| row.at(&["options", key]).and_then(Plain::as_bool).expect("option");
        let space = Space {
            trim_blocks: option("trim_blocks"),
            lstrip_blocks: option("lstrip_blocks"),
            keep_trailing_newline: option("keep_trailing_newline"),
        };
        let templates = Templates::spaced("app", Memory::of([("templates/t.j2", text)]), space);
        let found = templates.render("t.j2", row.get("context").expect("context"));
        let found = found.map_err(|p| told(&vec![p])).expect(name);
        assert_eq!(Some(found.as_str()), row.get("jinja2_3_1_6").and_then(Plain::as_str), "{name}");
    }
}

#[test]
fn an_undefined_name_stops_with_its_line_and_the_names_that_exist() {
    let text = case("T03-undefined-and-stable-output", "input/etc/app.conf.j2");
    let main = "def resources(config):\n    return file(\"/etc/app.conf\", template = \"etc/app.conf.j2\")\n";
    let files = Memory::of([("code/main.star", main), ("templates/etc/app.conf.j2", &text)]);
    let module = module(files);
    let yaml = "app: {host: h, opts: {zeta: 1, alpha: 9, mid: 3}, log: {level: info}}\n";
    let found = told(&module.resources(&config(&module, yaml).expect("config")).expect_err("undefined"));
    let want = "\
module `app`: template `etc/app.conf.j2`: `app.log.levle` is undefined
  at modules/app/templates/etc/app.conf.j2:5:12
  expected `level`
  note: `file` is called at modules/app/code/main.star:2:12
  note: in `resources()` of `app` for node `n1.example.net`
  help: did you mean `level`?
";
    assert_eq!(found, want);
}

#[test]
fn mappings_come_out_in_the_order_of_the_data_every_time() {
    let text = case("T03-undefined-and-stable-output", "input/etc/app.conf.j2");
    let text = text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>();
    let want = Plain::from_json(&case("T03-undefined-and-stable-output", "expect.json")).expect("json");
    let want = want.get("then_value").and_then(Plain::as_str).expect("value").to_owned();
    for _ in 0..50 {
        let found = rendered(&text, "app: {host: h, opts: {zeta: 1, alpha: 9, mid: 3}}").expect("rendered");
        assert_eq!(found, want);
    }
}

/// Each case: a template, its variables, and what Jinja2 3.1.6 makes of it.
#[test]
fn what_differs_between_the_engines_is_as_in_jinja2() {
    for (template, vars, want) in [
        (
            "{{ d | tojson }}",
            "d: {b: 1, a: [true, null, 1.5], c: 'ä<'}",
            r#"{"a": [true, null, 1.5], "b": 1, "c": "\u00e4\u003c"}"#,
        ),
        ("{{ d | tojson(indent=2) }}", "d: {b: [], a: [1]}", "{\n  \"a\": [\n    1\n  ],\n  \"b\": []\n}"),
        ("{{ a }} {{ b }} {{ 10 / 2 }}", "{a: 1.0e20, b: 1.5e-7}", "1e+20 1.5e-07 5.0"),
        (
            "{{ 'a'.ljust(3) }}|{{ 'a'.rjust(3, '.') }}|{{ 'ab'.center(5, '-') }}|{{ '-7'.zfill(4) }}",
            "{}",
            "a  |..a|--ab-|-007",
        ),
        ("{{ '%d %s %05.1f'|format(3.7, 'x', 2.25) }}", "{}", "3 x 002.2"),
        ("{{ '%(a)s'|format(a=1) }}", "{}", "1"),
        ("{{ 'ab'|center(6) }}|", "{}", "  ab  |"),
        ("{{ a }} {{ b }} {{ c }}", "{a: true, b: null, c: [1, x]}", "True None [1, 'x']"),
        ("{{ m | default(8080) }}", "{}", "8080"),
        ("{{ '<&>' }}", "{}", "<&>"),
        ("{{ config.a }}", "a: 1", "1"),
        ("{{ 'a.b.c'.rsplit('.', 1) }}", "{}", "['a.b', 'c']"),
        (
            "{{ 'x' | int }} {{ 'x' | int(7) }} {{ '0x1f' | int(0, 16) }} {{ 3.9 | int }} {{ '42' | int }}",
            "{}",
            "0 7 31 3 42",
        ),
        ("{{ 'x' | float }} {{ '1.5' | float }} {{ 'x' | float(2) }}", "{}", "0.0 1.5 2"),
        ("{{ 'foo bar baz qux' | truncate(9) }}|{{ 'foo bar baz qux' | truncate(9, true) }}", "{}", "foo...|foo ba..."),
        (
            "{{ 'foo bar baz qux' | truncate(11, false, '...', 0) }}|{{ 'foo bar baz' | truncate(9, leeway=2) }}",
            "{}",
            "foo bar...|foo bar baz",
        ),
        ("{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.current }}{{ c.next() }}", "{}", "abaa"),
        ("{{ x | string }}", "x: 1.0e20", "1e+20"),
        ("{{ \"it's\" | quote }}", "{}", r"'it'\''s'"),
    ] {
        assert_eq!(rendered(template, vars).as_deref(), Ok(want), "{template}");
    }
}

/// Each case: a template, and words of the report.
#[test]
fn errors_say_what_would_do() {
    for (template, want) in [
        ("{{ '%s' % a.b }}", "help: write `'…' | format(…)`"),
        ("{{ c.append(1) }}", "help: a template changes no list or mapping: build it in `resources()`"),
        ("{{ a['c'] }}", "`a['c']` is undefined\n  at modules/app/templates/t.j2:1:4\n  expected `b`\n"),
        ("{{ c[5] }}", "`c[5]` is undefined\n  at modules/app/templates/t.j2:1:4\n  expected an index below 2\n"),
        ("{{ c[0].x }}", "`c[0].x` is undefined"),
        ("{{ c | nofilter }}", "there is no filter `nofilter`\n"),
        ("{{ nothing() }}", "there is no function `nothing`\n"),
        (
            "{{ config.d }}",
            "`config.d` is undefined\n  at modules/app/templates/t.j2:1:4\n  expected one of `a`, `c`\n",
        ),
    ] {
        let found = rendered(template, "{a: {b: 1}, c: [1, 2]}").expect_err(template);
        assert!(found.contains(want), "{template}\n{found}");
    }
}

/// Each case: a template and the start of the report.
#[test]
fn errors_name_the_line_of_the_template() {
    for (template, want) in [
        ("a\n{{ x.y }}\n", "module `app`: template `t.j2`: `x` is undefined\n  at modules/app/templates/t.j2:2:4\n"),
        ("a\n{% for %}\n", "module `app`: template `t.j2`: unexpected"),
        ("{% include '../x' %}", "module `app`: template `t.j2`: tried to include non-existing template '../x'\n"),
        ("{{ x | nofilter }}", "module `app`: template `t.j2`: "),
        (
            "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
            "module `app`: template `t.j2`: it runs without end\n",
        ),
    ] {
        let found = rendered(template, "a: {b: 1}").expect_err(template);
        assert!(found.starts_with(want), "{template}\n{found}");
        assert!(found.contains("at modules/app/templates/t.j2:"), "{found}");
    }
}

#[test]
fn a_missing_template_is_named_with_the_nearest() {
    let templates = Templates::new("app", Memory::of([("templates/nginx.conf.j2", "")]));
    let found = told(&vec![templates.render("nignx.conf.j2", &Plain::map()).expect_err("absent")]);
    assert!(found.contains("did you mean `nginx.conf.j2`?"), "{found}");
    let found = told(&vec![templates.render("../code/main.star", &Plain::map()).expect_err("outside")]);
    assert!(found.contains("there is no template"), "{found}");
}

#[test]
fn an_error_never_shows_the_values_that_the_template_was_given() {
    let found = rendered("{{ key | int }} {{ nothing }}", "{key: hunter22, other: s3cret99}").expect_err("fails");
    assert!(!found.contains("hunter22") && !found.contains("s3cret99"), "{found}");
}

/// `tests/templates/jinja2.json` holds what Jinja2 itself made of each template.
#[test]
fn templates_come_out_as_jinja2_renders_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/templates/jinja2.json");
    let corpus = Plain::from_json(&std::fs::read_to_string(path).expect("corpus")).expect("json");
    let variables = corpus.get("variables").expect("variables");
    let cases = corpus.get("cases").and_then(Plain::as_list).expect("cases");
    assert!(cases.len() > 80);
    let mut differ = Vec::new();
    for case in cases {
        let template = case.get("template").and_then(Plain::as_str).expect("template");
        let templates = Templates::new("app", Memory::of([("templates/t.j2", template)]));
        let found = templates.render("t.j2", variables).map_err(|p| told(&vec![p]));
        match (case.get("want").and_then(Plain::as_str), found) {
            (Some(want), Ok(found)) if want == found => {}
            (None, Err(_)) => {}
            (want, found) => differ.push(format!("{template}\n  wanted {want:?}\n  found {found:?}")),
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
