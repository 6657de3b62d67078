use crate::base::Plain;
use crate::module::tests::{Memory, config};
use crate::module::{Effect, Module, Way};

/// What is told about the first resource whose id ends in `name`: attributes, then each line with its places and values.
fn told(files: &[(&str, &str)], yaml: &str, name: &str) -> String {
    let module = Module::load("app", Memory::of(files.iter().copied()), None);
    let config = std::sync::Arc::new(config(&module, yaml).expect("config"));
    let makings = module.make(&config).expect("resources");
    let at = makings.resources.iter().position(|resource| resource.id().0.ends_with(name)).expect("a resource");
    let origin = module.origin_of(&makings, at).expect("an origin");
    let all = module.influences(&config, &makings, at);
    let mut out = String::new();
    for step in &origin.steps {
        out.push_str(&format!("{} {}\n", step.function, step.place));
    }
    match &origin.way {
        Some(Way::Template(path)) => out.push_str(&format!("template {}\n", path.display())),
        Some(Way::File(path)) => out.push_str(&format!("file {}\n", path.display())),
        Some(Way::Code) => out.push_str("code\n"),
        None => {}
    }
    for found in &all.found {
        let existence = found.existence.then_some("existence");
        let what: Vec<&str> = existence.into_iter().chain(found.attributes.iter().map(String::as_str)).collect();
        if !what.is_empty() {
            out.push_str(&format!("{} decides {}\n", found.path.join("."), what.join(", ")));
        }
    }
    for path in &all.unknown {
        out.push_str(&format!("{} unknown\n", path.join(".")));
    }
    for (at, line) in origin.lines.iter().enumerate() {
        out.push_str(&line.text);
        for place in &line.places {
            let name = place.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
            out.push_str(&format!(" | {name}:{}:{}", place.line, place.column));
        }
        for found in &all.found {
            for (_, effect) in found.lines.iter().filter(|(line, _)| *line == at) {
                let mark = match effect {
                    Effect::Text => "",
                    Effect::Presence => "+",
                    Effect::Perhaps => "?",
                };
                out.push_str(&format!(" | {mark}{}", found.path.join(".")));
            }
        }
        out.push('\n');
    }
    out
}

fn rendered(template: &str, more: &[(&str, &str)], yaml: &str) -> String {
    let main = "def resources(config):\n    return [file(\"/f\", template = \"t.j2\")]\n";
    let files = [&[("code/main.star", main), ("templates/t.j2", template)], more].concat();
    let told = told(&files, yaml, "/f");
    told.split_once("t.j2\n").map(|(_, lines)| lines.to_owned()).expect("a template")
}

#[test]
fn each_line_names_its_template_line_and_its_values() {
    let template = "\
# head
workers {{ workers }};
{% if tls %}
listen 443;
{% else %}
listen 80;
{% endif %}
{% for user in users %}
user {{ user.name }} {{ user.id }};
{% endfor %}
end
";
    let want = "\
# head | t.j2:1:1
workers 4; | t.j2:2:1 | workers
listen 80; | t.j2:6:1 | +tls
user ann 1; | t.j2:9:1 | users.0.name | users.0.id
user bob 2; | t.j2:9:1 | users.1.name | users.1.id
end | t.j2:11:1
";
    let yaml = "workers: 4\ntls: false\nusers: [{name: ann, id: 1}, {name: bob, id: 2}]\n";
    assert_eq!(rendered(template, &[], yaml), want);
}

#[test]
fn macros_filters_and_includes_are_followed() {
    let template = "\
{% macro row(x) %}row {{ x }}{% endmacro %}
{{ row(motto | upper) }}
{% include \"part.j2\" %}
{{ (names + [extra]) | join(\" \") }}
";
    let part = [("templates/part.j2", "from {{ motto }}\nplain\n")];
    let want = "\
row HELLO | t.j2:2:4 | motto
from hello | part.j2:1:1 | motto
plain | part.j2:2:1
a b c | t.j2:4:4 | names.0 | names.1 | extra
";
    assert_eq!(rendered(template, &part, "motto: hello\nnames: [a, b]\nextra: c\n"), want);
}

#[test]
fn a_value_of_several_lines_and_one_line_of_several_template_lines_are_told() {
    let template = "{{ text }}\n[{% for x in xs %}{{ x }},\n{%- endfor %}]\n";
    let want = "\
one | t.j2:1:4 | text
two | t.j2:1:4 | text
[1,2,] | t.j2:2:1 | t.j2:3:14 | xs.0 | xs.1
";
    assert_eq!(rendered(template, &[], "text: \"one\\ntwo\"\nxs: [1, 2]\n"), want);
}

/// Which of two equal lines went away cannot be seen, so neither is said to be the one.
#[test]
fn equal_lines_are_not_told_apart() {
    let template = "{% for s in sites %}\n{% if s.up %}\nlisten\n{% endif %}\n{% endfor %}\n";
    let found = rendered(template, &[], "sites: [{up: true}, {up: true}]\n");
    assert_eq!(found, "listen | t.j2:3:1 | ?sites.0.up | ?sites.1.up\nlisten | t.j2:3:1 | ?sites.0.up | ?sites.1.up\n");
}

#[test]
fn the_calls_that_lead_to_a_resource_are_named_across_files() {
    let files = [
        (
            "code/main.star",
            "load(\"lib.star\", \"page\")\n\ndef resources(config):\n    return [package(\"p\")] + [\n        page(site) for site in config.sites\n    ]\n",
        ),
        (
            "code/lib.star",
            "def page(site):\n    return file(\"/srv/\" + site.name, content = \"# page\\n%s\\n\" % site.title, mode = site.mode)\n",
        ),
    ];
    let yaml = "sites: [{name: a, title: A, mode: \"0644\"}, {name: b, title: B, mode: \"0600\"}]\n";
    let want = "\
file modules/app/code/lib.star:2:12
page modules/app/code/main.star:5:9
code
sites.1.name decides name
sites.1.mode decides mode
# page
B | sites.1.title
";
    let found = told(&files, yaml, "/srv/b");
    assert_eq!(found, want);
}

#[test]
fn a_file_of_the_module_and_a_content_that_two_templates_could_have_made_are_what_they_are() {
    let main = "\
def resources(config):
    one, two = render(\"a.j2\"), render(\"b.j2\")
    return [file(\"/file\", source = \"x.txt\"), file(\"/one\", content = one), file(\"/longer\", content = \"# \" + two)]
";
    let files = [
        ("code/main.star", main),
        ("files/x.txt", "1\n2\n"),
        ("templates/a.j2", "same\n"),
        ("templates/b.j2", "same\n"),
    ];
    let told = |name| told(&files, "{}", name).split_once('\n').map(|(_, rest)| rest.to_owned()).expect("lines");
    assert_eq!(told("/file"), "file modules/app/files/x.txt\n1\n2\n");
    assert_eq!(told("/one"), "code\nsame\n");
    assert_eq!(told("/longer"), "code\n# same\n");
}

#[test]
fn values_that_the_module_insists_on_are_not_guessed_about() {
    let main = "\
def resources(config):
    if config.kind != \"one\":
        fail(\"no\")
    return [file(\"/f\", content = config.kind + config.other)]
";
    let found = told(&[("code/main.star", main)], "kind: one\nother: x\n", "/f");
    assert!(found.ends_with("kind unknown\nonex | other\n"), "{found}");
}

#[test]
fn a_long_list_is_searched_and_the_one_item_found() {
    let main = "def resources(config):\n    return [file(\"/f/\" + u.name, content = u.text) for u in config.users]\n";
    let users: Vec<String> = (0..100).map(|n| format!("{{name: u{n}, text: t{n}}}")).collect();
    let found = told(&[("code/main.star", main)], &format!("users: [{}]\n", users.join(", ")), "/f/u77");
    assert!(found.contains("users.77.name decides name\n"), "{found}");
    assert!(found.ends_with("t77 | users.77.text\n"), "{found}");
    assert_eq!(found.matches("users.").count(), 2, "{found}");
}

/// What is shown of a secret depends on it: any part of one is found, in a long list too.
#[test]
fn every_part_of_a_secret_is_known_to_be_of_it() {
    let main = "\
def resources(config):
    dashes = [user.word[5:6] for user in config.users]
    return [file(\"/f\", content = \"\\n\".join(dashes) + \"\\nend\\n\")]
";
    let schema = "Config = schema(users = t.list(t.object(word = t.secret())))\n";
    let users: Vec<String> = (0..20).map(|n| format!("  - word: !ENC[AA{n:02}]\n")).collect();
    let files = [("code/main.star", main), ("code/config.star", schema)];
    let found = told(&files, &format!("users:\n{}", users.concat()), "/f");
    let lines: Vec<&str> = found.lines().filter(|line| line.starts_with('-')).collect();
    let want: Vec<String> = (0..20).map(|n| format!("- | users.{n}.word")).collect();
    assert_eq!(lines, want, "{found}");
}

#[test]
fn a_content_that_is_no_text_is_decided_too() {
    let main = "def resources(config):\n    return [file(\"/f\", source = config.name)]\n";
    let files = [("code/main.star", main), ("files/a", ""), ("files/b", "\u{1}\n")];
    assert!(told(&files, "name: a\n", "/f").contains("name decides content\n"));
}

/// Planted: a formatter that writes something else the second time would give places that are not the content's.
#[test]
fn what_a_rendering_does_not_repeat_has_no_places() {
    let templates = super::super::template::Templates::new("app", Memory::of([("templates/t.j2", "a {{ x }}\n")]));
    let vars = Plain::from_yaml("x: 1\n").expect("yaml");
    assert_eq!(templates.origin("t.j2", &vars, "a 1\n").len(), 3);
    assert!(templates.origin("t.j2", &vars, "a 2\n").is_empty());
}
