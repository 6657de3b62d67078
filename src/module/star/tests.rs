use crate::base::Plain;
use crate::module::tests::{Memory, config, module, told};

const SCHEMA: &str = r#"
Config = schema(
    workers = t.int(min = 1, max = 9, default = 2),
    site = t.object(name = t.hostname(), port = t.port(default = 80), optional = True),
    users = t.map(t.object(uid = t.int()), default = {}),
    key = t.secret(optional = True),
)
"#;

fn declared(main: &str, yaml: &str) -> Result<Vec<(String, Plain, String)>, String> {
    let files = Memory::of([
        ("code/config.star", SCHEMA),
        ("code/main.star", main),
        ("code/lib.star", "def conf(path): return file(path, mode = \"0600\")\n"),
        ("files/motd", "hello\n"),
        ("templates/a.j2", "workers {{ workers }} on {{ suil.node }}\n"),
    ]);
    let module = module(files);
    let config = config(&module, yaml).map_err(|p| told(&p))?;
    let list = module.resources(&config).map_err(|p| told(&p))?;
    Ok(list.iter().map(|r| (r.id().0, r.wanted(), r.place().map(|p| p.to_string()).unwrap_or_default())).collect())
}

#[test]
fn resources_come_in_order_with_their_places_and_ids_of_one_another() {
    let main = r#"
load("lib.star", "conf")

def resources(config):
    main = file("/etc/app.conf", content = "w=%d" % config.workers, owner = None)
    return [
        package("nginx", "curl"),
        main,
        conf("/etc/extra"),
        [file("/etc/motd", source = "motd") for i in range(1)],
        service("app", reload_on = [main, package(["a", "b"])]) if config["workers"] == 3 else None,
    ]
"#;
    let found = declared(main, "workers: 3\n").expect("resources");
    let ids: Vec<&str> = found.iter().map(|(id, ..)| id.as_str()).collect();
    assert_eq!(
        ids,
        ["package nginx", "package curl", "file /etc/app.conf", "file /etc/extra", "file /etc/motd", "service app"]
    );
    let wanted: Vec<String> = found.iter().map(|(_, wanted, _)| wanted.to_json_line()).collect();
    assert_eq!(
        wanted,
        [
            "{}",
            "{}",
            r#"{"content":"w=3"}"#,
            r#"{"mode":"0600"}"#,
            r#"{"content":"hello\n"}"#,
            r#"{"reload_on":["file /etc/app.conf","package a","package b"]}"#,
        ]
    );
    assert_eq!(found[2].2, "modules/app/code/main.star:5:12");
    assert_eq!(found[3].2, "modules/app/code/lib.star:1:24");
}

#[test]
fn config_is_read_by_attribute_and_by_key_and_works_as_a_dict() {
    let main = r#"
def resources(config):
    names = ["%s=%d" % (name, user.uid) for name, user in config.users.items()]
    text = "%s %s %s %s %s %s %s" % (
        config.suil.node, config["suil"]["release"], config.site.name, config.site["port"],
        ",".join(names), config.get("nothing", "-"), "key" in config)
    return [file("/x", content = text + (" none" if config.key == None else " some"))]
"#;
    let found = declared(main, "site: {name: a.b}\nusers: {root: {uid: 0}, it: {uid: 7}}\n").expect("resources");
    assert_eq!(found[0].1.to_json_line(), r#"{"content":"n1.example.net 12 a.b 80 root=0,it=7 - True none"}"#);
}

/// Each case: the code of `resources`, and the whole report.
#[test]
fn errors_stand_at_what_the_author_wrote() {
    for (body, want) in [
        (
            "return [file(\"/x\", content = confg.workers)]",
            "module `app`: variable `confg` not found\n  at modules/app/code/main.star:2:34\n",
        ),
        ("return [file(\"/x\", content = config.wrokers)]", "module `app`: "),
        ("fail(\"needs a site\")", "module `app`: needs a site\n  at modules/app/code/main.star:2:5\n"),
        (
            "return file(\"/x\", source = \"mtd\")",
            "module `app`: there is no file `modules/app/files/mtd`\n  at modules/app/code/main.star:2:12\n",
        ),
        ("return file(\"/x\", source = \"../x\")", "module `app`: source `../x` leaves the module\n"),
        ("return file(\"/x\", content = \"a\", source = \"b\")", "`file`: `content` and `source` are given together\n"),
        (
            "return 3",
            "module `app`: `resources()` returns a number\n  at modules/app/code/main.star:1:5\n  expected a list of resources\n",
        ),
        ("file(\"/x\")", "module `app`: `resources()` returns nothing\n"),
        ("for i in range(1000000000): pass", "module `app`: its code runs without end\n"),
        ("return [file(\"/x\"), {}]", "module `app`: `resources()` returns a mapping\n"),
        (
            "return file(\"/x\", mode = len)",
            "`file`: `mode` cannot be a function\n  at modules/app/code/main.star:2:12\n",
        ),
        ("return file(3)", "`file`: its name is a number\n"),
        ("return file()", "`file`: its name is missing\n"),
        ("def f(n): return f(n + 1)\n    return f(1)", "module `app`: "),
        ("x = [1]\n    for i in range(60): x = x + x", "module `app`: its code"),
    ] {
        let main = format!("def resources(config):\n    {body}\n");
        let found = declared(&main, "").expect_err(body);
        assert!(found.starts_with(want), "{body}\n{found}");
        assert!(found.contains("  at modules/app/code/main.star:"), "{found}");
    }
}

#[test]
fn a_secret_of_the_config_is_covered_in_every_message() {
    let main = "def resources(config):\n    fail(\"cannot use \" + config.key)\n";
    let found = declared(main, "key: !ENC[YWJjZGVm]\n").expect_err("fails");
    assert!(found.contains("cannot use ‹secret") && !found.contains("plain-"), "{found}");
}

#[test]
fn deploy_queues_operations_in_order() {
    let main = r#"
def expected(config):
    return {"units": {"app": "active", "other": "active"}}

def deploy(config, facts, force):
    d = diff(expected(config), facts)
    for name in names(d, "units"):
        run("systemctl start " + name, title = "start " + name)
    if touches(d, "units", "app") and not force:
        put("/etc/app", content = "x", mode = 0o600)
    run(["echo", "it's"])

def check(config, facts):
    return ["bad"] if diff(expected(config), facts) else []
"#;
    let module = module(Memory::of([("code/config.star", SCHEMA), ("code/main.star", main)]));
    let config = config(&module, "").expect("config");
    let facts = Plain::from_yaml("{units: {app: failed, other: active}}").expect("yaml");
    let queued = module.deploy(&config, &facts, false).expect("deploy");
    let titles: Vec<&str> = queued.iter().map(|q| q.change.title.as_str()).collect();
    assert_eq!(titles, ["start app", "write /etc/app", "run echo 'it'\\''s'"]);
    assert!(
        queued[1]
            .change
            .action
            .script
            .contains("put_file \"$1\" \"$(readlink -f -- /etc/app || printf %s /etc/app)\" root root 0600"),
        "{}",
        queued[1].change.action.script
    );
    assert_eq!(module.check(&config, &facts).expect("check").len(), 1);
    let fine = module.expected(&config).expect("expected");
    assert_eq!(module.check(&config, &fine).expect("check"), []);
}

#[test]
fn files_load_one_another_inside_the_module_and_from_stock_only() {
    let stock: crate::module::Stock = std::sync::Arc::new(|name: &str| {
        let files = Memory::of([
            ("code/lib.star", "load(\"deeper.star\", \"a\")\ndef title(): return \"stock \" + a"),
            ("code/deeper.star", "a = \"a\""),
        ]);
        (name == "base").then_some(files as std::sync::Arc<dyn crate::module::Files>)
    });
    for (load, more, want) in [
        ("load(\"@stock//base/code/lib.star\", \"title\")", "", Ok("stock a")),
        ("load(\"sub/lib.star\", \"title\")", "", Err("there is no file `modules/app/sub/lib.star`")),
        ("load(\"code/more.star\", \"title\")", "def title(): return \"more\"", Ok("more")),
        ("load(\"more.star\", \"title\")", "load(\"main.star\", \"resources\")", Err("its files load each other")),
        ("load(\"more.star\", \"title\")", "x = 1 +", Err("parse error")),
        ("load(\"../x.star\", \"title\")", "", Err("`../x.star` is outside the module")),
        ("load(\"/etc/x.star\", \"title\")", "", Err("`/etc/x.star` is outside the module")),
        ("load(\"@stock//none/code/x.star\", \"title\")", "", Err("there is no stock module `none`")),
        ("load(\"@stock//base/../x.star\", \"title\")", "", Err("leaves its module")),
    ] {
        let main = format!("{load}\ndef resources(config): return file(\"/x\", content = title())\n");
        let files = Memory::of([("code/main.star", main.as_str()), ("code/more.star", more)]);
        let module = crate::module::Module::built("app", files, Some(stock.clone()), crate::resource::build);
        let found = module.resources(&config(&module, "").expect("config")).map_err(|p| told(&p));
        match (want, found) {
            (Ok(content), Ok(list)) => {
                let sha256 = crate::base::digest::sha256(content.as_bytes());
                assert_eq!(list[0].wanted().get("sha256").and_then(Plain::as_str), Some(sha256.as_str()), "{load}");
            }
            (Err(words), Err(found)) => {
                assert!(found.contains(words), "{load}\n{found}");
                assert!(found.contains("  at modules/app/code/"), "{load}\n{found}");
            }
            (want, found) => panic!("{load}: wanted {want:?}, found {found:?}"),
        }
    }
}

#[test]
fn one_compiled_module_serves_many_threads() {
    let main = "def resources(config): return file(\"/x\", content = config.text)";
    let module = module(Memory::of([("code/main.star", main), ("data/x.yaml", "")]));
    std::thread::scope(|scope| {
        for n in 0..4 {
            let module = &module;
            scope.spawn(move || {
                let config = config(module, &format!("text: n{n}")).expect("config");
                for _ in 0..50 {
                    let list = module.resources(&config).expect("resources");
                    assert_eq!(list[0].wanted().get("content"), Some(&Plain::Str(format!("n{n}"))));
                }
            });
        }
    });
}

#[test]
fn code_has_no_clock_no_files_and_no_resources_outside_its_functions() {
    for (main, want) in [
        ("x = open(\"/etc/passwd\")", "variable `open` not found"),
        ("import os", "parse error"),
        ("x = file(\"/x\")", "a resource cannot be declared while the file loads"),
        ("x = render(\"a.j2\", {})", "a template cannot be rendered while the file loads"),
        ("def resources(config):\n    run(\"x\")", "only `deploy()` can queue operations"),
        ("def resources(config):\n    while True: pass", "parse error"),
    ] {
        let found = declared(main, "").expect_err(main);
        assert!(found.contains(want) && found.contains("  at modules/app/code/main.star:"), "{main}\n{found}");
    }
}
/// Both once ended the process: the stack ran out.
#[test]
fn code_and_values_nested_too_deep_are_refused() {
    let brackets = format!("x = {}{}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(declared(&brackets, "").expect_err("code").contains("its code is nested too deep"));
    let main = "def resources(config):\n    x = []\n    for i in range(100000): x = [x]\n    return file(\"/x\", content = json.encode(x))";
    assert!(declared(main, "").expect_err("value").contains("nested deeper than 64 levels"));
}

#[test]
fn json_goes_both_ways() {
    let main = "def resources(config):\n    a = json.decode('{\"b\": [1, null]}')\n    return file(\"/x\", content = json.encode({\"x\": a.b, \"s\": struct(t = True)}))";
    let found = declared(main, "").expect("resources");
    assert_eq!(found[0].1.get("content").and_then(Plain::as_str), Some("{\"x\":[1,null],\"s\":{\"t\":true}}"));
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..Default::default() })]

    /// Whatever a module's files hold, the answer is a value or a problem.
    #[test]
    fn no_text_makes_the_room_panic(text in "[a-z0-9 \\n\\[\\](){}%\"'=:,.+#|é-]{0,60}") {
        let _ = declared(&text, "");
        let _ = declared(&format!("def resources(config):\n    return file(\"/x\", content = {text})"), "");
        let files = Memory::of([("code/config.star", format!("Config = schema(a = {text})").as_str()), ("templates/t.j2", &text)]);
        let module = module(files);
        let _ = config(&module, "a: 1");
        let _ = module.compile();
        let files = Memory::of([("templates/t.j2", format!("{{{{ {text} }}}}{{% {text} %}}").as_str())]);
        let _ = crate::module::template::Templates::new("app", files).render("t.j2", &Plain::map());
    }
}

/// A file on disk stands for itself where it is large: its bytes are never held.
#[test]
fn a_large_source_is_streamed_from_where_it_lies() {
    use crate::base::Problem;
    use crate::module::Files;
    use std::path::PathBuf;
    use std::sync::Arc;

    struct OnDisk(Arc<Memory>, PathBuf);
    impl Files for OnDisk {
        fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Problem> {
            assert_ne!(path, "files/big", "it must not be read whole");
            self.0.read(path)
        }
        fn walk(&self, folder: &str) -> Result<Vec<String>, Problem> {
            self.0.walk(folder)
        }
        fn shown(&self, path: &str) -> PathBuf {
            self.0.shown(path)
        }
        fn real_path(&self, path: &str) -> Option<PathBuf> {
            (path == "files/big").then(|| self.1.clone())
        }
    }

    let folder = tempfile::tempdir().expect("folder");
    let big = folder.path().join("big");
    let bytes = vec![7; (1 << 20) + 1];
    std::fs::write(&big, &bytes).expect("written");
    let memory = Memory::of([("code/main.star", "def resources(config): return file(\"/x\", source = \"big\")")]);
    let files = Arc::new(OnDisk(memory, big));
    let module = crate::module::Module::load("app", files, None);
    let found = module.resources(&config(&module, "").expect("config")).map_err(|p| told(&p)).expect("resources");
    let sha256 = crate::base::digest::sha256(&bytes);
    assert_eq!(found[0].wanted().get("sha256").and_then(Plain::as_str), Some(sha256.as_str()));
    assert!(module.signature().expect("signature").starts_with("sha256:"));
}

/// Nobody who writes a module knows what an `i32` is, and a parameter of a builtin has no name of its own.
#[test]
fn the_words_of_the_interpreter_about_its_insides_are_put_plainly() {
    for (code, want) in [
        ("\"a\" * 100000000000", "module `app`: the number 100000000000 is too big here"),
        ("range(10000000000)", "module `app`: an argument does not fit: expected `int`"),
        ("t.str()", "module `app`: there is no `str` here"),
    ] {
        let text = format!("x = {code}\nConfig = schema()\n");
        let module = module(Memory::of([("code/config.star", text.as_str())]));
        let found = told(&config(&module, "{}\n").map(drop).expect_err(code));
        assert_eq!(found.lines().next(), Some(want), "{code}");
        assert!(found.contains("at modules/app/code/config.star:1:"), "{found}");
    }
}
