use crate::base::{Plain, Problem};
use crate::data::Cipher;
use crate::module::Revealed;
use crate::module::tests::{Memory, config, header, module, slice, told};
use std::path::Path;

const SCHEMA: &str = "
Config = schema(
    workers = t.int(min = 1, max = 8, default = 2, doc = \"worker processes\"),
    version = t.string(optional = True, pattern = \"[a-z0-9.]+\"),
    sites   = t.list(t.object(name = t.hostname(), root = t.path(), tls = t.bool(default = False)), default = []),
    users   = t.map(t.object(uid = t.int(min = 1000, max = 59999)), keys = t.string(pattern = \"[a-z]+\"), default = {}),
    mode    = t.enum(\"prod\", \"debug\", default = \"prod\"),
    ports   = t.list(t.port(), unique = True, min = 1, default = [80]),
    net     = t.cidr(optional = True),
    ratio   = t.float(optional = True, max = 1),
    log     = t.object(level = t.enum(\"info\", \"warn\", default = \"info\"), doc = \"what is logged\"),
    key     = t.secret(optional = True),
    extra   = t.any(optional = True),
)
";

fn checked(schema: &str, yaml: &str) -> Result<Plain, String> {
    let module = module(Memory::of([("code/config.star", schema)]));
    config(&module, yaml).map(|config| Plain::clone(&config.plain)).map_err(|problems| told(&problems))
}

#[test]
fn defaults_fill_what_is_not_there_in_the_order_of_the_schema() {
    let found = checked(SCHEMA, "").expect("config");
    let want = "{\"suil\":{\"node\":\"n1.example.net\",\"role\":\"solo\",\"family\":\"debian\",\"release\":12,\
                \"ssh_user\":\"deploy\"},\"workers\":2,\"version\":null,\"sites\":[],\"users\":{},\"mode\":\"prod\",\
                \"ports\":[80],\"net\":null,\"ratio\":null,\"log\":{\"level\":\"info\"},\"key\":null,\"extra\":null}";
    assert_eq!(found.to_json_line(), want);
}

/// Each case: the data, a field, and its value. A string field has the last word on the source text.
#[test]
fn the_schema_has_the_last_word_on_plain_scalars() {
    for (yaml, path, want) in [
        ("version: no", "version", "\"no\""),
        ("version: 1.10", "version", "\"1.10\""),
        ("version: 0644", "version", "\"0644\""),
        ("sites: [{name: a.b, root: /srv, tls: on}]", "sites.0.tls", "true"),
        ("ratio: 1", "ratio", "1.0"),
        ("extra: {a: no, b: 0644}", "extra", "{\"a\":false,\"b\":420}"),
        ("workers: 0x8", "workers", "8"),
        ("net: 10.0.0.0/8", "net", "\"10.0.0.0/8\""),
    ] {
        let found = checked(SCHEMA, yaml).unwrap_or_else(|e| panic!("{yaml}\n{e}"));
        let path: Vec<&str> = path.split('.').collect();
        assert_eq!(found.at(&path).map(Plain::to_json_line).as_deref(), Some(want), "{yaml}");
    }
}

/// Each case: the data, and the whole report.
#[test]
fn every_breach_is_told_with_its_place_and_its_rule() {
    for (yaml, want) in [
        (
            "wrokers: 3\n",
            "module `app`: unknown key `wrokers`\n  at data/n1.yaml:1:1\n  expected one of `workers`, `version`, `sites`, \
             `users`, `mode`, `ports`, `net`, `ratio`, `log`, `key`, `extra`\n  help: did you mean `workers`?\n",
        ),
        (
            "users:\n  deploy: {uid: 90000}\n",
            "module `app`: `uid` of `deploy` is out of range\n  at data/n1.yaml:2:17\n  expected a whole number from 1000 to \
             59999, found 90000\n  note: rule: modules/app/code/config.star:6:36\n  help: take another value, or raise `max` \
             in the rule\n",
        ),
        (
            "sites:\n  - name: a.b\n    tls: 1\n",
            "module `app`: `root` of `a.b` is missing\n  at data/n1.yaml:2:5\n  expected an absolute path\n  note: rule: \
             modules/app/code/config.star:5:59\nmodule `app`: `tls` of `a.b` is a whole number\n  at data/n1.yaml:3:10\n  \
             expected `true` or `false`\n  note: rule: modules/app/code/config.star:5:75\n",
        ),
        (
            "log: {level: wran}\n",
            "module `app`: `level` of `log` is `wran`\n  at data/n1.yaml:1:14\n  expected one of `info`, `warn`\n  note: rule: \
             modules/app/code/config.star:11:32\n  help: did you mean `warn`?\n",
        ),
        (
            "ports: [80, 443, 80]\n",
            "module `app`: `ports` names an item twice\n  at data/n1.yaml:1:18\n  expected each item once\n  note: first \
             data/n1.yaml:1:9\n  note: rule: modules/app/code/config.star:8:15\n",
        ),
        (
            "ports: []\n",
            "module `app`: `ports` is too short or too long\n  at data/n1.yaml:1:8\n  expected a list of at least 1 item, \
             found 0\n  note: rule: modules/app/code/config.star:8:15\n",
        ),
        (
            "ports: [x]\n",
            "module `app`: `ports[0]` is a string\n  at data/n1.yaml:1:9\n  expected a port from 1 to 65535\n  note: rule: \
             modules/app/code/config.star:8:22\n",
        ),
        (
            "version: 'a b'\n",
            "module `app`: `version` does not match its pattern\n  at data/n1.yaml:1:10\n  expected a text that matches \
             `[a-z0-9.]+`, found `a b`\n  note: rule: modules/app/code/config.star:4:15\n",
        ),
        (
            "users: {Root: {uid: 1000}}\n",
            "module `app`: `Root` of `users` does not match its pattern\n  at data/n1.yaml:1:9\n  expected a text that \
             matches `[a-z]+`, found `Root`\n  note: rule: modules/app/code/config.star:6:76\n",
        ),
        (
            "version: !ENC[YWJj]\n",
            "module `app`: `version` is a secret, but its type is not\n  at data/n1.yaml:1:10\n  expected a string\n  note: \
             rule: modules/app/code/config.star:4:15\n  help: declare it as `t.secret()` in the rule, or write the value in \
             the open\n",
        ),
        (
            "key: hunter2\n",
            "module `app`: `key` is in the open, but it is a secret\n  at data/n1.yaml:1:6\n  expected a secret: \
             `!ENC[…]`\n  note: rule: modules/app/code/config.star:12:15\n  help: `suil encrypt` makes one\n",
        ),
        (
            "extra: {a: [!ENC[YWJj]]}\n",
            "module `app`: `a[0]` is a secret inside a value of any type\n  at data/n1.yaml:1:13\n  expected a value in the \
             open\n  help: declare it as `t.secret()` in the schema\n",
        ),
        (
            "suil: {node: x}\n",
            "module `app`: `suil` is set by the run itself\n  at data/n1.yaml:1:1\n  expected another key\n",
        ),
    ] {
        assert_eq!(checked(SCHEMA, yaml).expect_err(yaml), want);
    }
}

#[test]
fn a_required_key_of_a_node_without_data_names_the_node() {
    let found = checked("Config = schema(a = t.string())", "").expect_err("missing");
    let want = "module `app`: `a` is missing\n  expected a string\n  note: rule: modules/app/code/config.star:1:21\n  note: \
                node `n1.example.net` has no data under `app:`\n";
    assert_eq!(found, want);
}

/// Each case: a schema, and what its report starts with.
#[test]
fn a_wrong_schema_is_told_at_its_rule() {
    for (schema, want) in [
        (
            "Config = schema(a = t.int(default = \"x\"))",
            "`t.int`: `default` x does not fit\n  at modules/app/code/config.star:1:21\n  expected a whole number\n",
        ),
        ("Config = schema(a = t.int(defualt = 1))", "`t.int`: unknown argument `defualt`\n"),
        ("Config = schema(a = t.int(min = 3, max = 1))", "`t.int`: `min` 3 is above `max` 1\n"),
        (
            "Config = schema(a = t.int)",
            "`schema`: `a` is <function t.int>\n  at modules/app/code/config.star:1:10\n  expected a type such as `t.string()`\n  help: did you mean `t.int()`?\n",
        ),
        ("Config = schema(a = t.mode(default = 0o644))", "`t.mode`: `default` 420 does not fit\n"),
        ("Config = schema(a = t.secret(default = \"x\"))", "`t.secret`: a secret can have no default\n"),
        ("Config = schema(a = t.string(pattern = \"(\"))", "`t.string`: `pattern`: "),
        ("Config = schema(a = t.strng())", "module `app`: there is no `strng` here\n"),
        ("Config = 1", "module `app`: `code/config.star` sets `Config` to something else than a schema\n"),
        ("x = 1", "module `app`: `code/config.star` has no `Config`\n"),
        ("Config = schema(a = t.int()", "module `app`: parse error"),
    ] {
        let found = checked(schema, "a: 1").expect_err(schema);
        assert!(found.starts_with(want), "{schema}\n{found}");
    }
}

#[test]
fn a_secret_is_plain_for_the_code_and_a_digest_for_everybody_else() {
    let module = module(Memory::of([("code/config.star", "Config = schema(key = t.secret(), n = t.int())")]));
    let found = config(&module, "n: 1\nkey: !ENC[YWJjZGVm]\n").map_err(|p| told(&p)).expect("config");
    assert_eq!(found.plain.get("key").and_then(Plain::as_str), Some("plain-YWJjZGVm"));
    let digest = format!("sha256:{}", crate::base::digest::sha256(b"plain-YWJjZGVm"));
    assert_eq!(found.public.get("key").and_then(Plain::as_str), Some(digest.as_str()));
    assert_eq!(found.public.get("n"), Some(&Plain::Int(1)));
}

#[test]
fn without_a_key_the_public_config_has_a_marker_and_the_code_does_not_run() {
    let files = [
        ("code/config.star", "Config = schema(key = t.secret())"),
        ("code/main.star", "def resources(config): return []"),
    ];
    let module = module(Memory::of(files));
    let slice = slice("key: !ENC[YWJjZGVm]\n").expect("slice");
    let mut asked = Vec::new();
    let mut reveal = |_: &Cipher, place: crate::base::Place, path: &str| -> Result<Revealed, Problem> {
        asked.push(format!("{path} {place}"));
        Ok(Revealed::Marker("secret (no key)".to_owned()))
    };
    let config = module.config(slice.as_ref(), &header(), &mut reveal).expect("config");
    assert_eq!(config.public.get("key").and_then(Plain::as_str), Some("secret (no key)"));
    assert_eq!(asked, ["app.key data/n1.yaml:1:6"]);
    assert!(module.resources(&config.into()).is_err());
}

#[test]
fn a_module_without_a_schema_takes_its_data_as_it_is() {
    let module = module(Memory::of([("data/main.yaml", "app: {}")]));
    let found = config(&module, "a: [1, {b: no}, !ENC[YWJj]]\n").map_err(|p| told(&p)).expect("config");
    let digest = crate::base::digest::sha256(b"plain-YWJj");
    let want = format!("[1,{{\"b\":false}},\"sha256:{digest}\"]");
    assert_eq!(found.public.get("a").map(Plain::to_json_line), Some(want));
    assert_eq!(found.public.as_map().and_then(|map| map.keys().next()).map(String::as_str), Some("suil"));
}

#[test]
fn a_mode_means_octal_however_it_is_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/open/D03-file-modes");
    let read = |path: &str| std::fs::read(folder.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    let expect = Plain::from_json(&String::from_utf8_lossy(&read("expect.json"))).expect("json");
    let file = "input/data/nodes/n1.example.net.yaml";
    let data = crate::data::load(Path::new(file), &read(file)).expect("loads").expect("some");
    let data = data.settle().expect("settles").expect("some");
    let schema = "Config = schema(list = t.list(t.object(path = t.path(), mode = t.mode())))";
    let module = module(Memory::of([("code/config.star", schema)]));
    let items = expect.get("items").and_then(Plain::as_map).expect("items");
    let list = data.get("files").and_then(|files| files.get("list")).expect("list");
    assert_eq!(list.list().expect("a list").len(), items.len());
    for item in list.list().expect("a list") {
        let path = item.get("path").and_then(|path| path.as_str()).expect("path");
        let found = one_mode(&module, item);
        let fine = match items.get(path).expect("an expectation") {
            Plain::List(several) => several.contains(&Plain::from(&found)),
            one => *one == Plain::from(&found),
        };
        assert!(fine, "{path}: {found}");
        let never = expect.at(&["never", path]).and_then(Plain::as_str);
        assert_ne!(never, Some(found.as_str()), "{path}");
    }
}

/// The mode that one item of the case comes to, or `error`.
fn one_mode(module: &crate::module::Module, item: &crate::data::Value) -> String {
    use crate::data::{Kind, Value, value::Entry};
    let list = Value { kind: Kind::List(vec![item.clone()].into()), place: item.place };
    let map = [("list".into(), Entry { key: item.place, value: list })].into_iter().collect();
    let slice = Value { kind: Kind::Map(std::sync::Arc::new(map)), place: item.place };
    let mut reveal = |_: &Cipher, _: crate::base::Place, _: &str| -> Result<Revealed, Problem> {
        Err(Problem::new("no secret here"))
    };
    match module.config(Some(&slice), &header(), &mut reveal) {
        Ok(config) => {
            config.plain.at(&["list", "0", "mode"]).and_then(Plain::as_str).map(str::to_owned).unwrap_or_default()
        }
        Err(problems) => {
            assert!(told(&problems).contains("octal"), "{}", told(&problems));
            "error".to_owned()
        }
    }
}

#[test]
fn the_schema_is_exported_for_editors() {
    let module = module(Memory::of([("code/config.star", SCHEMA)]));
    let found = module.json_schema().map_err(|p| told(&p)).expect("schema").expect("some");
    let workers = r#"{"type":"integer","minimum":1,"maximum":8,"description":"worker processes","default":2}"#;
    assert_eq!(found.at(&["properties", "workers"]).map(Plain::to_json_line).as_deref(), Some(workers));
    assert_eq!(found.get("required"), None);
    let sites = found.at(&["properties", "sites", "items", "required"]).map(Plain::to_json_line);
    assert_eq!(sites.as_deref(), Some(r#"["name","root"]"#));
    assert_eq!(found.get("additionalProperties"), Some(&Plain::Bool(false)));
}
