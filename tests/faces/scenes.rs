//! Every command, run in JSON and in YAML, and the files that a run leaves.

use crate::room::Room;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::OnceLock;
use suil::base::Plain;

/// One command, and what it told.
pub struct Scene {
    /// The title of the section of `docs/output.md` that has its shape.
    pub section: String,
    args: Vec<String>,
    /// The result in JSON and in YAML, or what a file holds.
    pub values: Vec<Plain>,
    /// Both forms must be the same value: running the command once changed nothing that it tells.
    pub same: bool,
    /// True for the result of a command.
    pub result: bool,
}

impl Scene {
    pub fn title(&self) -> String {
        format!("`suil {}`", self.args.join(" "))
    }

    /// The longest of `all` that the arguments begin with.
    pub fn command(&self, all: &[String]) -> String {
        let line = format!("{} ", self.args.join(" "));
        let known = all.iter().filter(|name| line.starts_with(&format!("{name} ")));
        known.max_by_key(|name| name.len()).cloned().unwrap_or_default()
    }
}

/// All scenes, played once.
pub fn scenes() -> &'static [Scene] {
    static SCENES: OnceLock<Vec<Scene>> = OnceLock::new();
    SCENES.get_or_init(|| {
        let mut stage = Stage { scenes: Vec::new() };
        stage.example();
        stage.runs();
        stage.impact();
        stage.layers();
        stage.compared();
        stage.outside();
        stage.planned();
        stage.scenes
    })
}

pub struct Stage {
    scenes: Vec<Scene>,
}

/// The exit codes of commands that are to succeed.
pub const WELL: &[i32] = &[0];
pub const ILL: &[i32] = &[1];

impl Stage {
    /// Runs a command in both forms, and expects it to end with one of the exit codes.
    #[track_caller]
    pub fn play(&mut self, room: &Room, section: &str, args: &[&str], exits: &[i32], same: bool) {
        let values = ["json", "yaml"].map(|form| {
            let left = room.run(&[&["--output", form], args].concat());
            assert!(exits.contains(&left.status), "{args:?} as {form}: {left:?}");
            let text = left.stdout.replace("[ROOM]", "/room");
            let read = if form == "json" { Plain::from_json(&text) } else { Plain::from_yaml(&text) };
            read.unwrap_or_else(|e| panic!("{args:?} as {form}: {e}\n{left:?}"))
        });
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self.scenes.push(Scene { section: section.to_owned(), args, values: values.into(), same, result: true });
    }

    #[track_caller]
    pub fn same(&mut self, room: &Room, section: &str, args: &[&str], exits: &[i32]) {
        self.play(room, section, args, exits, true);
    }

    /// Reads a file of the workspace: YAML, JSON, or JSON a line.
    #[track_caller]
    fn file(&mut self, room: &Room, section: &str, path: &str) {
        let text = fs::read_to_string(room.path().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
        let read = |text: &str| {
            let read = if path.ends_with(".yaml") { Plain::from_yaml(text) } else { Plain::from_json(text) };
            read.unwrap_or_else(|e| panic!("{path}: {e}\n{text}"))
        };
        let values = if path.ends_with(".jsonl") { text.lines().map(read).collect() } else { vec![read(&text)] };
        let args = vec![path.to_owned()];
        self.scenes.push(Scene { section: section.to_owned(), args, values, same: false, result: false });
    }

    /// What needs no node.
    fn example(&mut self) {
        let room = Room::copy("data-example");
        self.same(&room, "`suil nodes`", &["nodes"], WELL);
        self.same(&room, "`suil roles`", &["roles"], WELL);
        self.same(&room, "`suil modules`", &["modules"], WELL);
        self.same(&room, "`suil config`", &["config"], WELL);
        self.same(&room, "`suil config`", &["config", "--role", "nobody"], ILL);
        self.same(&room, "`suil config --merged`", &["config", "--merged"], WELL);
        self.same(&room, "`suil explain`", &["explain", "web-02.example.com", "ssh.allow_users"], WELL);
        let of = |resource| ["explain", "web-01.example.com", "--resource", resource];
        self.same(&room, "`suil explain --resource`", &of("/etc/nginx/nginx.conf"), WELL);
        self.same(&room, "`suil explain --resource`", &of("user alice"), WELL);
        self.same(&room, "`suil explain --resource`", &of("/etc/nginx/nginx.conf:3"), WELL);
        self.same(&room, "`suil explain NODE --resource`", &of("/etc/motd")[..3], WELL);
        self.same(&room, "`suil validate`", &["validate"], WELL);
        self.same(&room, "`suil test`", &["test"], WELL);
        self.play(&room, "`suil encrypt`", &["encrypt", "x"], WELL, false);
        let sealed = room.run(&["encrypt", "x"]).stdout;
        self.same(&room, "`suil decrypt`", &["decrypt", sealed.trim()], WELL);
        let secrets = "`suil secrets`, `suil secrets list`";
        self.same(&room, secrets, &["secrets"], WELL);
        self.same(&room, secrets, &["secrets", "list", "--nodes"], WELL);
        self.same(&room, "`suil rekey`", &["rekey", "--dry-run"], WELL);
        self.same(&room, "`suil schema --write`", &["schema", "--write"], WELL);
        self.edit();
        self.same(&room, "`suil man`", &["man", "pages"], WELL);
        self.differences();
        self.envelopes();
        self.surgery();
        self.stacks();
        self.graphs();
        let made = Room::new();
        self.play(&made, "`suil init`", &["init", "."], &[0, 1], false);
        // A fault with a rule of its own: both have a place.
        room.write("data/nodes/web-01.example.com.yaml", "role: web\nhosts: {lines: [1.5, {}]}\nngnix: {}\n");
        room.write("modules/hosts/tests/bad.yaml", "config: {lines: [a]}\nresources: []\n");
        self.same(&room, "`suil validate`", &["validate"], ILL);
        self.same(&room, "`suil test`", &["test"], ILL);
        self.same(&room, "`suil nodes`", &["nodes", "--no-such-option"], &[64]);
    }

    /// An editor that changes one secret, adds one and removes one.
    fn edit(&mut self) {
        let room = Room::copy("data-example");
        let sealed = |value| room.run(&["encrypt", value]).stdout;
        room.write("data/scratch.yaml", &format!("a: {}b: {}", sealed("1"), sealed("2")));
        let script = r#"sh -c 'sed -i "s/\"1/&1/; /^b/d" "$1"; echo "c$$: !SECRET \"3\"" >> "$1"' edit"#;
        let room = room.set("EDITOR", script);
        self.play(&room, "`suil edit`", &["edit", "data/scratch.yaml"], WELL, false);
    }

    /// Secrets of layers.
    fn envelopes(&mut self) {
        let room = Room::new();
        room.run(&["infra", "genkey", "--bits", "2048"]);
        let encrypt = ["infra", "encrypt", "--public-key-path", "public.pem", "x"];
        self.play(&room, "`suil infra encrypt`", &encrypt, WELL, false);
        let sealed = room.run(&encrypt).stdout;
        let decrypt = ["infra", "decrypt", "--private-key-path", "private.pem", sealed.trim()];
        self.same(&room, "`suil infra decrypt`", &decrypt, WELL);
        room.write("env.tfvars", &format!("a = \"{}\"\n", sealed.trim()));
        let room = room.set("STACKS_PRIVATE_KEY_PATH", "private.pem").set("STACKS_PUBLIC_KEY_PATH", "public.pem");
        self.same(&room, "`suil infra rekey`", &["infra", "rekey"], WELL);
        room.write("environments/harbor/env.tfvars", "town = [\n");
        room.write("stacks/kiln/base/main.tf", "");
        room.write("stacks/kiln/layers/harbor/l.tfvars", "");
        let render = ["infra", "render", "--all", "--init", "never"];
        self.same(&room, "`suil infra render`", &render, ILL);
        room.write("environments/harbor/env.tfvars", "");
        self.same(&room, "`suil infra render`", &render, WELL);
        let once =
            ["infra", "genkey", "--bits", "2048", "--private-key-path", "new.pem", "--public-key-path", "new.pub"];
        self.play(&room, "`suil infra genkey`", &once, &[0, 3], false);
    }

    /// States of two layers. Each command is run twice, and what it did is undone in between.
    fn surgery(&mut self) {
        let room = Room::with(&[
            ("environments/harbor/env.tfvars", ""),
            (
                "stacks/kiln/base/main.tf",
                "terraform {\n  backend \"local\" {\n    path = \"{{ var.stacks_root }}/{{ var.stacks_layer }}.tfstate\"\n  }\n}\n\
                 resource \"terraform_data\" \"pot\" {}\n",
            ),
            ("stacks/kiln/layers/harbor/l.tfvars", ""),
            ("stacks/kiln/layers/harbor_blue/l.tfvars", ""),
            (
                "harbor.tfstate",
                r#"{"version": 4, "serial": 1, "lineage": "l", "outputs": {}, "resources": [{"mode": "managed",
                "type": "terraform_data", "name": "pot", "provider": "provider[\"terraform.io/builtin/terraform\"]",
                "instances": [{"schema_version": 0, "attributes": {"id": "1", "input": null, "output": null,
                "triggers_replace": null}, "sensitive_attributes": []}]}]}"#,
            ),
        ]);
        let path = std::env::var("PATH").unwrap_or_default();
        let room = room.set("PATH", &path).set("EDITOR", r#"sed -i 's/"id": "/&1/'"#);
        let layer = ["--layer", "stacks/kiln/layers/harbor"];
        let words = |words: &[&'static str]| [&["infra", "surgery"], words, &layer].concat();
        let section = "`suil infra surgery import`, `suil infra surgery remove`, `suil infra surgery rename`, \
             `suil infra surgery move`, `suil infra surgery edit`, `suil infra surgery undo`";
        self.same(&room, "`suil infra surgery list`", &words(&["list"]), WELL);
        for args in [
            vec!["rename", "terraform_data.pot", "terraform_data.jug"],
            vec!["move", "terraform_data.pot", "stacks/kiln/layers/harbor_blue"],
            vec!["remove", "terraform_data.pot"],
        ] {
            let dry = words(&[&args[..], &["--dry-run"]].concat());
            self.same(&room, section, &dry, WELL);
        }
        self.play(&room, section, &words(&["edit", "--yes"]), WELL, false);
        self.play(&room, section, &words(&["undo"]), WELL, false);
        room.run(&words(&["remove", "terraform_data.pot"]));
        let ids = ["terraform_data.pot", "5"];
        self.same(&room, section, &words(&[&["import"], &ids[..], &["--dry-run"]].concat()), WELL);
        room.run(&words(&["undo"]));
        // The code of both has it: the plan of the first would create it again.
        room.run(&words(&["move", "terraform_data.pot", "stacks/kiln/layers/harbor_blue", "--no-plan"]));
        room.run(&words(&["undo"]));
        self.play(
            &room,
            section,
            &words(&["move", "terraform_data.pot", "stacks/kiln/layers/harbor_blue"]),
            ILL,
            false,
        );
        self.same(&room, "`suil infra surgery undo --list`", &words(&["undo", "--list"]), WELL);
    }

    /// Runs over stacks and their locks.
    fn stacks(&mut self) {
        let room = Room::new();
        crate::filled::fill(&*suil::infra::store::open(None, &room.path()).expect("a store"));
        self.same(&room, "`suil infra runs`", &["infra", "runs"], WELL);
        self.same(&room, "`suil infra runs show`", &["infra", "runs", "show", "-2"], WELL);
        self.same(&room, "`suil infra runs show`", &["infra", "runs", "show", "-2", "--stack", "stacks/prod/db"], WELL);
        self.same(&room, "`suil infra runs prune`", &["infra", "runs", "prune", "--dry-run"], WELL);
        self.same(&room, "`suil infra locks`", &["infra", "locks"], WELL);
        self.same(&room, "`suil infra audit`", &["infra", "audit"], WELL);
        let unlock = ["infra", "unlock", "stacks/prod/vpc", "--reason", "it hangs", "--force-state"];
        self.play(&room, "`suil infra unlock`", &unlock, &[0, 1], false);
    }

    /// A tree of stacks with everything that a graph can have, and what a change of it touches.
    fn graphs(&mut self) {
        let state = |key: &str| {
            format!("terraform {{\n  backend \"s3\" {{\n    bucket = \"b\"\n    key = \"{key}\"\n  }}\n}}\n")
        };
        let reads = "data \"terraform_remote_state\" \"a\" {\n  backend = \"s3\"\n  config = { bucket = \"b\", key = \"a\" }\n}\n";
        let module = "module \"m\" {\n  source = \"../../modules/m\"\n}\nmodule \"g\" {\n  source = \"git::https://github.com/x/y?ref=v1\"\n}\n";
        let room = Room::with(&[
            (
                "stackorder.yaml",
                "version: 1\nvar_files: [../../shared/all.tfvars]\nbackend_config: [region=eu]\nenv: {TF_LOG: 'off'}\n\
                 apply: {allowed_teams: [ops]}\nmodules: {paths: ['modules/**']}\n",
            ),
            ("shared/all.tfvars", ""),
            ("stacks/a/main.tf", &state("a")),
            ("stacks/a/.stackorder.yaml", "depends_on: [x/y//stacks/far, stacks/none]\n"),
            ("stacks/b/main.tf", &[state("b").as_str(), reads, module].concat()),
            ("stacks/c/main.tf", &state("c")),
            ("stacks/c/.stackorder.yaml", "depends_on: [stacks/b]\n"),
            ("stacks/gone/main.tf", &state("gone")),
            ("stacks/gone/.stackorder.yaml", "depends_on: [stacks/a]\n"),
            ("stacks/dev/vpc/main.tf", &state("dev")),
            ("modules/m/main.tf", ""),
        ]);
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
            let done = git.args(who).args(args).current_dir(room.path()).output().expect("git");
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "before"]);
        std::fs::remove_dir_all(room.path().join("stacks/gone")).expect("gone");
        room.write("stacks/a/new.tf", "");
        room.write("stacks/dev/vpc/new.tf", "");
        crate::filled::fill(&*suil::infra::store::open(None, &room.path()).expect("a store"));
        let named = ["--repo", "acme/infra"];
        let words = |words: &[&'static str]| [words, &named].concat();
        room.run(&words(&["infra", "graph"]));
        self.same(&room, "`suil infra graph`", &words(&["infra", "graph"]), WELL);
        let hosts = Room::with(&[
            ("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n"),
            ("data/roles/web.yaml", "modules: []\n"),
            ("data/nodes/web-1.yaml", "role: web\n"),
            ("environments/prod/env.tfvars", ""),
            ("stacks/a/base/main.tf", "# {{ lookup('role') | join }}\n"),
            ("stacks/a/layers/prod/.keep", ""),
        ]);
        self.same(&hosts, "`suil infra graph`", &words(&["infra", "graph", "--nodes"]), WELL);
        self.play(&room, "`suil infra affected`", &words(&["infra", "affected"]), &[2], false);
        self.same(
            &room,
            "`suil infra affected`",
            &words(&["infra", "affected", "--stacks", "stacks/b,stacks/a"]),
            &[2],
        );
        self.same(&room, "`suil infra why`", &words(&["infra", "why", "stacks/b"]), WELL);
        self.same(&room, "`suil infra validate`", &words(&["infra", "validate"]), WELL);
        room.write("paths", "stacks/a/x\nstacks/c/x\n");
        room.write("stackorder.yaml", "version: 1\npropagate: {dependents: false}\n");
        let two = words(&["infra", "affected", "--changed-from", "paths"]);
        self.play(&room, "`suil infra affected`", &two, &[2], false);
        room.write("stackorder.yaml", "version: 1\n");
        room.write("stacks/a/.stackorder.yaml", "depends_on: [stacks/c]\n");
        self.play(&room, "`suil infra affected`", &words(&["infra", "affected"]), ILL, false);
        self.same(&room, "`suil infra validate`", &words(&["infra", "validate"]), ILL);
    }

    /// What a change does, by git.
    fn differences(&mut self) {
        let room = Room::copy("data-example");
        let git = |args: &[&str]| {
            let mut git = std::process::Command::new("git");
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
            let done = git.args(who).args(args).current_dir(room.path()).output().expect("git");
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "before"]);
        room.write(
            "data/nodes/web-01.example.com.yaml",
            "role: web\nmodules: !delete [nginx]\nssh: {allow_users: [bob]}\n",
        );
        room.write("data/nodes/web-02.example.com.yaml", "role: web\nmotd: {contact: nobody}\naccounts: {users: 3}\n");
        room.write(
            "modules/status/code/main.star",
            "def resources(config):\n    return [directory(config.folder, mode = \"0700\")]\n",
        );
        room.write("modules/hosts/code/config.star", "Config = schema(\n");
        self.same(&room, "`suil diff`", &["diff", "HEAD"], &[0, 1]);
        git(&["checkout", "-q", "."]);
        room.write("data/roles/demo.yaml", "modules: [status]\nstatus: {folder: /srv, title: x, token: !ENC[YWdl]}\n");
        room.write(
            "modules/status/code/main.star",
            "def resources(config):\n    return [directory(config.folder, mode = \"0700\")]\n",
        );
        self.same(&room, "`suil diff`", &["diff", "HEAD", "--role", "demo"], &[0, 1]);
        room.write("data/modules/motd.yaml", "motd: {contact: somebody}\n");
        room.write("data/os/redhat/9.yaml", "packages: {install: [tmux]}\n");
        self.same(&room, "`suil diff`", &["diff", "HEAD", "--role", "db"], &[0, 1]);
        room.write(
            "data/nodes/web-01.example.com.yaml",
            "role: web\nmodules: !delete [nginx]\nssh: {allow_users: [bob]}\n",
        );
        self.same(&room, "`suil diff`", &["diff", "HEAD", "--role", "web"], &[0, 1]);
    }

    /// What works on nodes. One is a folder of this machine, the other cannot be reached.
    fn runs(&mut self) {
        let room = Room::new();
        let aside = |name: &str| {
            let path = room.path().join("..").join(name);
            fs::create_dir_all(&path).expect("a folder");
            fs::canonicalize(&path).expect("a folder").to_string_lossy().into_owned()
        };
        let (run, node) = (aside("run"), aside("node"));
        let room = room.set("XDG_RUNTIME_DIR", &run);
        for (path, text) in WORKSPACE {
            room.write(path, &text.replace('@', &node));
        }
        let here = ["--node", "here"];
        let both = ["--node", "*"];
        let plan = "`suil plan`, `suil apply --dry-run`";
        self.play(&room, "`suil facts`", &[&["facts"], &both[..]].concat(), ILL, true);
        let of = |name: &str| format!("{node}/{name}");
        for name in ["shared", "one"] {
            let told = ["explain", "here", "--resource", &of(name)];
            self.same(&room, "`suil explain --resource`", &told, WELL);
        }
        self.same(&room, "`suil roles`", &["roles"], WELL);
        self.same(&room, plan, &[&["plan"], &both[..]].concat(), ILL);
        self.same(&room, plan, &[&["apply", "--dry-run"], &both[..]].concat(), ILL);
        self.play(&room, plan, &[&["plan", "--out", "plan.saved"], &here[..]].concat(), WELL, false);
        // It fails on the way: something is still owed, and the next run says so.
        self.play(&room, "`suil apply`", &["apply", "--confirm", "--role", "demo", "--module", "demo"], ILL, false);
        self.file(&room, "`facts/NODE/MODULE.yaml`", "facts/here/demo.yaml");
        for file in ["plan.json", "events.jsonl", "summary.yaml", "run.yaml"] {
            self.file(&room, &format!("`.runs/latest/{file}`"), &format!(".runs/latest/{file}"));
        }
        self.same(&room, "`suil runs`", &["runs"], WELL);
        self.same(&room, "`suil runs show`", &["runs", "show"], WELL);
        self.same(&room, plan, &[&["plan"], &here[..]].concat(), WELL);
        fs::write(format!("{node}/open"), "").expect("a file");
        self.play(&room, "`suil apply`", &[&["apply", "--confirm"], &here[..]].concat(), WELL, false);
        room.write("data/nodes/here.yaml", "role: demo\ntwin: {address: 192.0.2.1}\ndemo: {text: b, mode: '0600'}\n");
        self.same(&room, plan, &[&["plan", "--out", "plan.saved", "--force"], &here[..]].concat(), WELL);
        self.file(&room, "`.runs/latest/plan.json`", ".runs/latest/plan.json");
        self.play(&room, "`suil apply`", &["apply", "--confirm", "--plan", "plan.saved"], &[0, 3], false);
        for (section, file) in [
            ("`.runs/latest/plan.json`", "plan.json"),
            ("`.runs/latest/events.jsonl`", "events.jsonl"),
            ("`.runs/latest/summary.yaml`", "summary.yaml"),
            ("`.runs/latest/run.yaml`", "run.yaml"),
            ("`.runs/latest/lookups.yaml`", "lookups.yaml"),
            ("`.runs/latest/NODE/node.yaml`", "here/node.yaml"),
            ("`.runs/latest/NODE/MODULE.yaml`", "here/demo.yaml"),
        ] {
            self.file(&room, section, &format!(".runs/latest/{file}"));
        }
        self.file(&room, "`facts/NODE/suil.yaml`", "facts/here/suil.yaml");
        self.file(&room, "`facts/NODE/MODULE.yaml`", "facts/here/demo.yaml");
        self.same(&room, "`suil runs`", &["runs"], WELL);
        self.same(&room, "`suil runs show`", &["runs", "show"], WELL);
        let listed = |modules: &str| {
            let text = format!("role: demo\nmodules: !replace [{modules}]\ntwin: {{address: 192.0.2.1}}\n");
            room.write("data/nodes/here.yaml", &text);
        };
        for (modules, nodes) in [("demo", "here"), ("demo, twin", "here"), ("twin, demo", "*"), ("twin", "*")] {
            listed(modules);
            let exits = if nodes == "*" { ILL } else { WELL };
            self.same(&room, plan, &["plan", "--node", nodes], exits);
            self.same(&room, "`suil runs diff`", &["runs", "diff", "-2", "latest"], WELL);
            self.same(&room, "`suil runs diff`", &["runs", "diff", "latest", "-2"], WELL);
        }
        listed("demo, twin");
        self.same(&room, "`suil runs prune`", &["runs", "prune", "--keep", "1", "--dry-run"], WELL);
        self.play(&room, "`suil run`", &["run", "--node", "*", "--", "echo", "hello"], ILL, false);
        self.play(&room, "`suil unlock`", &["unlock", "*", "--dry-run"], ILL, true);
    }

    /// A node that waits for what a layer of another one is to bring. A script stands for Terraform.
    fn layers(&mut self) {
        let room = Room::new();
        room.write(
            "data/common.yaml",
            "deployment: {transport: local, sudo: false}\nhierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n",
        );
        room.write("data/roles/cloud.yaml", "modules: [infra]\ninfra: {layers: [net/prod], tool: ./tool}\n");
        let reads = "!LOOKUP {from: facts, field: infra.net/prod.text}";
        room.write("data/roles/demo.yaml", &format!("modules: [motd]\nmotd: {{own_lines: {reads}}}\n"));
        room.write("data/nodes/cloud.yaml", "role: cloud\n");
        room.write("data/nodes/here.yaml", "role: demo\n");
        room.write("infra/environments/prod/env.tfvars", "");
        room.write("infra/stacks/net/base/main.tf", "");
        room.write("infra/stacks/net/layers/prod/layer.tfvars", "");
        let would = r#"{"format_version": "1.2", "applyable": true, "resource_changes": [{"address": "a.b", "change": {"actions": ["create"]}}],
            "output_changes": {"key": {"actions": ["create"], "before": null, "after_sensitive": true}}}"#;
        room.write("tool", &format!("#!/bin/sh\ncase $2 in show) cat <<'END'\n{would}\nEND\nesac\n"));
        fs::set_permissions(room.path().join("tool"), fs::Permissions::from_mode(0o755)).expect("its mode");
        self.same(&room, "`suil plan`, `suil apply --dry-run`", &["plan", "--node", "*"], WELL);
        self.file(&room, "`.runs/latest/plan.json`", ".runs/latest/plan.json");
        self.file(&room, "`facts/NODE/MODULE.yaml`", "facts/cloud/infra.yaml");
        commit(&room);
        room.write("infra/environments/prod/env.tfvars", "town = \"harbor\"\n");
        room.write("facts/cloud/infra.yaml", "facts: {net/prod: {text: a}}\n");
        self.same(&room, "`suil diff`", &["diff", "HEAD"], WELL);
        let tree = ["infra", "affected", "--repo-root", "infra", "--base", "HEAD"];
        self.play(&room, "`suil infra affected`", &tree, &[2], false);
        room.write("infra/stacks/net/base/main.tf", "{{ nothing }}");
        self.same(&room, "`suil diff`", &["diff", "HEAD"], WELL);
    }

    /// A change of everything, against the revision before it.
    fn impact(&mut self) {
        let room = Room::copy("data-example");
        commit(&room);
        room.write("data/roles/db.yaml", "modules: [base, hosts]\nsysctl: {parameters: {vm.swappiness: 5}}\n");
        room.write("data/nodes/web-01.example.com.yaml", "role: web\nhosts: {address: 192.0.2.99}\n");
        room.write("data/nodes/web-03.example.com.yaml", "role: web\nhosts: {address: 192.0.2.13}\n");
        fs::remove_file(room.path().join("data/nodes/web-02.example.com.yaml")).expect("a file");
        room.write("data/os/debian/13.yaml", "time: {client: chrony}\n");
        room.write("modules/hosts/templates/more.j2", "");
        room.write("modules/status/code/main.star", "def resources(config):\n    return [none]\n");
        self.same(&room, "`suil diff`", &["diff", "HEAD"], WELL);
        self.same(&room, "`suil diff`", &["diff", "HEAD", "HEAD", "--detailed-exitcode"], WELL);
        self.same(&room, "`suil diff`", &["diff", "HEAD", "--role", "db", "--detailed-exitcode"], &[2]);
    }
}

/// Makes a repository of the room, with all of it in one commit.
pub fn commit(room: &Room) {
    git(&room.path(), &["init", "--quiet"]);
    git(&room.path(), &["add", "--all"]);
    git(&room.path(), &["commit", "--quiet", "--message", "one"]);
}

/// Runs git in a folder.
pub fn git(folder: &std::path::Path, args: &[&str]) {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let mut command = std::process::Command::new("git");
    let ended = command.current_dir(folder).args(who).args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").status();
    assert!(ended.expect("git").success(), "git {args:?}");
}

/// `@` stands for the folder that is the node's disk.
const WORKSPACE: [(&str, &str); 9] = [
    (
        "data/common.yaml",
        "deployment: {transport: local, sudo: false}\nhierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n\
         before_batch: echo $SUIL_BATCH\n",
    ),
    (
        "data/roles/demo.yaml",
        "modules: [demo, twin]\ntwin: {nodes: !LOOKUP {field: twin.address}}\n\
         before_batch: [echo, hello]\nafter_batch: \"test -e '@/open'\"\n",
    ),
    ("data/roles/late.yaml", "modules: [twin]\nafter: [demo]\n"),
    ("data/nodes/here.yaml", "role: demo\ntwin: {address: 192.0.2.1}\n"),
    ("data/nodes/there.yaml", "role: demo\ndeployment: {transport: exec, exec: [\"false\"]}\n"),
    (
        "modules/demo/code/config.star",
        "Config = schema(text = t.string(default = \"a\"), mode = t.mode(default = \"0644\"), only = t.string(default = \"a\"))\n",
    ),
    (
        "modules/demo/code/main.star",
        r#"
def resources(config):
    if config.only != "a":
        fail("it is a and nothing else")
    one = file("@/one", content = config.text, mode = config.mode, validate = "test -s %s")
    two = file("@/two", content = config.text)
    return [
        directory("@/shared"),
        one,
        command("react", run = "cat @/one @/two >@/log", triggered_by = [one, two]),
        two,
        command("hurdle", run = "test -e @/open", unless = "test -e @/open"),
        command("last", run = "echo last >>@/log", triggered_by = [two]),
    ]
"#,
    ),
    (
        "modules/twin/code/config.star",
        "Config = schema(address = t.string(optional = True), nodes = t.list(t.string()))\n",
    ),
    ("modules/twin/code/main.star", "def resources(config):\n    return [directory(\"@/shared\")]\n"),
];
