use crate::room::Room;

#[test]
fn an_unknown_command_gets_a_guess() {
    let want = "suil: unknown command `inti`\nhelp: did you mean `init`? `suil --help` lists what there is\n";
    Room::new().run(&["inti"]).is(64, "", want);
}

#[test]
fn an_unknown_option_gets_a_guess() {
    let want = "suil: unknown option `--wrokspace`\nhelp: did you mean `--workspace`? `suil init --help` lists what there is\n";
    Room::new().run(&["init", "--wrokspace", "x"]).is(64, "", want);
}

#[test]
fn a_missing_argument_is_named() {
    Room::new().run(&["init"]).is(64, "", "suil: `DIR` is missing\nhelp: `suil init --help` lists what there is\n");
}

#[test]
fn a_wrong_form_lists_the_forms() {
    let want = "\
suil: `xml` is no value for `--output`
note: expected one of text, json, yaml
help: did you mean `yaml`? `suil init --help` lists what there is
";
    Room::new().run(&["init", "a", "--output", "xml"]).is(64, "", want);
}

#[test]
fn help_is_that_of_the_command_as_far_as_it_was_read() {
    for (args, want) in [
        (&["infra", "drift"][..], "suil: `STACK` is missing\nhelp: `suil infra drift --help` lists what there is\n"),
        (
            &["infra", "drift", "--all", "--parallel", "0"],
            "suil: `0` is no value for `--parallel`\nnote: expected a whole number from 1\nhelp: `suil infra drift --help` lists what there is\n",
        ),
        (
            &["infra", "runs", "--limit", "x"],
            "suil: `x` is no value for `--limit`\nnote: expected a whole number\nhelp: `suil infra runs --help` lists what there is\n",
        ),
        (
            &["infra", "drift", "--all", "--max-age", "5"],
            "suil: `5` is no value for `--max-age`\nnote: expected a number and `s`, `m`, `h` or `d`, such as `24h`\nhelp: `suil infra drift --help` lists what there is\n",
        ),
    ] {
        Room::new().run(args).is(64, "", want);
    }
}

#[test]
fn without_a_terminal_no_list_is_shown() {
    let want = "suil: there is no terminal to ask \"Roles\" on\nhelp: name them: `suil apply --role ROLE`\n";
    Room::new().run(&[]).is(64, "", want);
}

#[test]
fn colour_is_off_in_a_pipe_and_can_be_forced() {
    let forced = Room::new().set("SUIL_LOG_COLOR", "always").set("NO_COLOR", "1").run(&["inti"]);
    assert!(forced.stderr.starts_with("\u{1b}["), "{forced:?}");
}

#[test]
fn both_names_are_the_same_program() {
    for (name, program) in [("suil", env!("CARGO_BIN_EXE_suil")), ("droch-shuil", env!("CARGO_BIN_EXE_droch-shuil"))] {
        let output = std::process::Command::new(program).arg("--version").output().expect("it starts");
        let want = format!("suil {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), want, "{name}");
        let output = std::process::Command::new(program).arg("--help").output().expect("it starts");
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("Usage: {name} ")), "{output:?}");
    }
}
