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
    assert!(queued[1].change.action.script.contains("chmod -- 0600"), "{}", queued[1].change.action.script);
    assert_eq!(module.check(&config, &facts).expect("check").len(), 1);
    let fine = module.expected(&config).expect("expected");
    assert_eq!(module.check(&config, &fine).expect("check"), []);
}
