//! The same for layers: a secret behind an envelope, one behind an age marker, and every command that meets them.

use crate::room::{Ran, Room};
use crate::{ALL, IDENTITY, PEM, QUOTED, RECIPIENT, SHORT, files, forms, sealed};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

const LAYER: &str = "stacks/kiln/layers/harbor";

/// Runs a command with `input` on stdin.
#[track_caller]
fn fed(room: &Room, args: &[&str], input: &str) -> Ran {
    let mut child = room.command(args).stdin(Stdio::piped()).spawn().expect("suil starts");
    child.stdin.take().expect("stdin").write_all(input.as_bytes()).expect("a value");
    Ran::of(child.wait_with_output().expect("an end"))
}

/// What a command said, and every file of the tree that others may read.
#[track_caller]
fn look(room: &Room, args: &[&str], ran: Ran) -> Ran {
    sealed(&format!("stdout of {args:?}"), ran.stdout.as_bytes());
    sealed(&format!("stderr of {args:?}"), ran.stderr.as_bytes());
    for path in files(&room.path()) {
        let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        let inside = path.strip_prefix(room.path()).expect("a file of the room");
        if mode != 0o600 || !inside.components().any(|part| part.as_os_str() == "stacks.out") {
            sealed(
                &format!("{} of mode {mode:o} after {args:?}", path.display()),
                &fs::read(&path).unwrap_or_default(),
            );
        }
    }
    let left = files(&room.path().join("../tmp"));
    assert!(left.is_empty(), "temporary files are left after {args:?}: {left:?}");
    ran
}

#[track_caller]
fn run(room: &Room, args: &[&str]) -> Ran {
    look(room, args, room.suil(args))
}

fn git(room: &Room, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(room.path()).args([
        "-c",
        "safe.directory=*",
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.com",
    ]);
    let ended = command.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").status();
    assert!(ended.expect("git").success(), "git {args:?}");
}

/// A tree with the canaries in it, in one commit under other envelopes than in the working tree.
fn tree() -> Room {
    let mut room = Room::new(&[]);
    room.set("SUIL_AGE_KEY", IDENTITY);
    room.set("SUIL_AGE_RECIPIENT", RECIPIENT);
    room.set("STACKS_PRIVATE_KEY_PATH", "private.pem");
    room.set("STACKS_PUBLIC_KEY_PATH", "public.pem");
    fs::create_dir(room.path().join("../tmp")).expect("a folder");
    room.set("TMPDIR", &room.path().join("../tmp").display().to_string());
    room.suil(&["infra", "genkey", "--bits", "2048"]).expect(0);
    let rsa = |plain: &str| fed(&room, &["infra", "encrypt"], plain).expect(0).stdout.trim().to_owned();
    let age = |plain: &str| fed(&room, &["encrypt", "--from-stdin"], plain).expect(0).stdout.trim().to_owned();
    let secrets = |salt: &str| {
        format!(
            "rsa = \"{}\"\nage = \"{}\"\ndeep = [{{ pem = \"{}\", short = \"{}\" }}]\nsalt = \"{salt}\"\n",
            rsa(QUOTED),
            age(QUOTED),
            rsa(PEM),
            rsa(SHORT)
        )
    };
    for environment in ["harbor", "meadow"] {
        room.write(&format!("environments/{environment}/env.tfvars"), &format!("own = \"{}\"\n", rsa(PEM)));
    }
    room.write(&format!("{LAYER}/s.tfvars"), &secrets("old"));
    room.write("stacks/kiln/base/plain.tf", "# {{ var.salt }}\n");
    room.write("stacks/kiln/base/show.tf", "# {{ var.rsa }} {{ var.deep }} {{ var.deep | tojson }}\n");
    room.write("stacks/kiln/t.tfvars.jinja", "from = {{ jsonencode(var.deep) }}\nage2 = {{ jsonencode(var.age) }}\n");
    git(&room, &["init", "--quiet"]);
    git(&room, &["add", "environments", "stacks"]);
    git(&room, &["commit", "--quiet", "--message", "one"]);
    room.write(&format!("{LAYER}/s.tfvars"), &secrets("new"));
    room
}

#[test]
fn no_plaintext_of_a_layer_leaves() {
    let room = tree();
    for form in ["text", "json", "yaml"] {
        for (args, status) in [
            (&["infra", "render", "--all", "--init", "never"][..], 0),
            (&["infra", "diff", "--all"], 1),
            (&["infra", "lint", "--all"], 1),
            (&["infra", "rekey", "--dry-run"], 0),
            (&["infra", "rekey"], 0),
            (&["infra", "diff", LAYER], 1),
        ] {
            run(&room, &[args, &["--output", form]].concat()).expect(status);
        }
        for (_, secret) in ALL {
            let args = ["infra", "encrypt", "--output", form];
            look(&room, &args, fed(&room, &args, secret)).expect(0);
            // stdout is what was asked for.
            let envelope = fed(&room, &["infra", "encrypt"], secret).expect(0).stdout;
            let ran = fed(&room, &["infra", "decrypt", "--output", form], &envelope).expect(0);
            sealed("stderr of decrypt", ran.stderr.as_bytes());
        }
    }
    let out = room.path().join(LAYER).join("stacks.out");
    let holds = |name: &str| {
        let text = fs::read_to_string(out.join(name)).expect("a file");
        forms().iter().any(|form| text.contains(form))
    };
    assert!(holds("base_show.tf") && holds("zzz.auto.tfvars.json"), "the canaries are where Terraform needs them");
}

#[test]
fn no_error_of_a_template_tells_a_plaintext() {
    let room = tree();
    let expressions = [
        "var.rsa.nope",
        "var[var.rsa]",
        "var.deep[0].pem.nope",
        "throw(var.rsa)",
        "throw(var.deep)",
        "file(var.rsa)",
        "jsondecode(var.rsa)",
        "jsondecode(var.deep[0].pem)",
        "variable(var.rsa, instance='x')",
        "variable('rsa', instance=var.rsa)",
        "output(var.rsa, stack=var.rsa)",
        "lookup(var.rsa)",
        "deepformat('{x}', {'y': var.rsa})",
        "deepformat(var.rsa ~ '{', var)",
        "var.rsa + 1",
        "var.rsa | join(var.rsa, var.rsa, var.rsa)",
        "var.rsa | round",
        "var.rsa % 1",
        "var.rsa % (1, 2)",
        "sha256(var.deep)",
        "var.rsa ~ nope",
        "{var.rsa: 1}[var.rsa][var.rsa]",
    ];
    for (at, expression) in expressions.iter().enumerate() {
        room.write(&format!("stacks/kiln/base/bad{at:02}.tf"), &format!("x = \"{{{{ {expression} }}}}\"\n"));
    }
    let commands = [
        &["infra", "render", LAYER, "--init", "never"][..],
        &["infra", "render", LAYER, "--init", "never", "--output", "yaml"],
        &["infra", "diff", LAYER],
        &["infra", "lint", LAYER],
    ];
    for args in commands {
        let ran = run(&room, args);
        let asks = |expression: &str| args[1] == "lint" && expression.starts_with("output");
        for (at, expression) in expressions.iter().enumerate().filter(|(_, expression)| !asks(expression)) {
            assert!(ran.stderr.contains(&format!("bad{at:02}.tf:1:")), "{expression}: {args:?}\n{}", ran.stderr);
        }
    }
    (0..expressions.len()).for_each(|at| room.write(&format!("stacks/kiln/base/bad{at:02}.tf"), ""));
    // What a template renders to is no HCL, and the error is in the line of a secret.
    let texts = [
        "x = {{ var.rsa }}",
        "x = \"{{ var.deep[0].pem }}\"",
        "{{ var.rsa }} = 1",
        "x = [\"{{ var.rsa }}\" \"{{ var.age }}\"]",
    ];
    for (at, text) in texts.iter().enumerate() {
        room.write(&format!("stacks/kiln/u{at}.tfvars.jinja"), &format!("{text}\n"));
    }
    for args in commands {
        let ran = run(&room, args);
        for at in 0..texts.len() {
            assert!(ran.stderr.contains(&format!("u{at}.tfvars.jinja:1:")), "{args:?}\n{}", ran.stderr);
        }
    }
    // The same in code, which Terraform itself refuses: its words are not there, only suil's.
    (0..texts.len()).for_each(|at| room.write(&format!("stacks/kiln/u{at}.tfvars.jinja"), ""));
    room.write("stacks/kiln/base/bad.tf", "x = {{ var.rsa }}\nvariable \"{{ var.deep[0].pem }}\" {\n");
    run(&room, &["infra", "render", LAYER, "--init", "never"]).expect(0);
}

#[test]
fn no_program_is_told_a_plaintext() {
    let mut room = tree();
    let script = "#!/bin/sh\ntr '\\0' '\\n' </proc/$PPID/cmdline >>@\nprintf '%s\\n' \"$@\" >>@\nenv >>@\n\
                  [ \"$2\" != output ] || echo '{}'\n";
    let log = room.path().join("../node/log");
    room.spoil("terraform", &script.replace('@', &log.display().to_string()));
    let program = room.node().join("terraform");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    room.set("STACKS_TERRAFORM_PATH", &program.display().to_string());
    run(&room, &["infra", "render", "--all", "--init", "always"]).expect(0);
    room.write(
        "stacks/ferry/base/main.tf",
        "terraform {\n  backend \"local\" {\n    path = \"{{ var.own | length }}\"\n  }\n}\n",
    );
    room.write("stacks/ferry/layers/harbor/l.tfvars", "");
    room.write("stacks/kiln/base/ask.tf", "# {{ output('x', stack='ferry') | default(var.rsa) }}\n");
    run(&room, &["infra", "diff", LAYER]).expect(1);
    let told = fs::read(&log).expect("a log");
    assert!(String::from_utf8_lossy(&told).contains("init"), "the program was run");
    // What suil was given in its environment is its own; the programs it starts get nothing of it.
    sealed("what a program was told", &told);
    assert!(!String::from_utf8_lossy(&told).contains(IDENTITY), "the key of the secrets");
}
