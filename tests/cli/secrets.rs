use crate::room::Room;

const KEYS: &str = include_str!("../cases/keys/test-identities.txt");

/// The first identity and its recipient.
fn key() -> (&'static str, String) {
    let identity = KEYS.lines().find(|line| line.starts_with("AGE-SECRET-KEY-1")).expect("an identity");
    let public = KEYS.lines().find_map(|line| line.split_once("age1")).map(|(_, rest)| format!("age1{rest}"));
    (identity, public.expect("a recipient").split_whitespace().next().expect("a word").to_owned())
}

fn room() -> Room {
    let (identity, recipient) = key();
    Room::new().set("SUIL_AGE_KEY", identity).set("SUIL_AGE_RECIPIENT", &recipient)
}

#[test]
fn what_goes_in_comes_out_byte_for_byte() {
    for text in
        ["a", "line\n", "crlf\r\n", " both ends ", "%s '\"$`\\", "ключ", "-----BEGIN X-----\nab\n-----END X-----\n"]
    {
        let sealed = room().input(text).run(&["encrypt", "--from-stdin"]);
        assert!(sealed.stdout.starts_with("!ENC[") && sealed.stdout.ends_with("]\n"), "{sealed:?}");
        room().run(&["decrypt", sealed.stdout.trim()]).is(0, text, "");
        room().input(&sealed.stdout).run(&["decrypt", "--from-stdin"]).is(0, text, "");
    }
}

#[test]
fn an_empty_secret_is_refused() {
    let want = "suil: nothing to encrypt: the secret is empty\n";
    room().input("").run(&["encrypt", "--from-stdin"]).is(1, "", want);
}

#[test]
fn without_a_terminal_the_hidden_prompt_says_what_to_do() {
    let want = "\
suil: there is no terminal to ask \"Value\" on
help: pipe the value in with `--from-stdin`
";
    room().run(&["encrypt"]).is(64, "", want);
}

#[test]
fn without_a_recipient_or_a_key_the_help_names_the_setting() {
    let want = "\
suil: there is nobody to encrypt for
help: list `recipients` in data/common.yaml, or set SUIL_AGE_RECIPIENT to the `age1…` of your key
";
    Room::new().run(&["encrypt", "x"]).is(1, "", want);
    let sealed = room().run(&["encrypt", "x"]).stdout;
    let want = "suil: there is no key to decrypt with\nhelp: set SUIL_AGE_KEY or SUIL_AGE_KEY_FILE\n";
    Room::new().run(&["decrypt", sealed.trim()]).is(1, "", want);
}

#[test]
fn config_needs_no_key_and_shows_the_digest_with_one() {
    let sealed = room().run(&["encrypt", "hunter22"]).stdout;
    let files = |room: Room| {
        room.write("data/common.yaml", "hierarchy:\n  - roles/{role}.yaml\n  - nodes/{node}.yaml\n");
        room.write("data/roles/reef.yaml", &format!("modules: [surf]\nsurf:\n  pin: {sealed}"));
        room.write("data/nodes/kelp.yaml", "role: reef\n");
        room.write("modules/surf/code/config.star", "Config = schema(pin = t.secret())\n");
        room
    };
    let closed = files(Room::new()).run(&["config"]);
    assert!(closed.stdout.contains("pin: secret (no key)\n"), "{closed:?}");
    let open = files(room()).run(&["config"]);
    let digest = "sha256:20d2fe5e369db54ec7090639a9dc30ec4d608604936239d39e2de07fda09eb0b";
    assert!(open.stdout.contains(&format!("pin: {digest}\n")), "{open:?}");
    assert_eq!(files(Room::new()).run(&["validate"]).status, 0);
    let dotenv = files(Room::new());
    dotenv.write(".env", &format!("SUIL_AGE_KEY={}\n", key().0));
    assert_eq!(dotenv.run(&["config"]), open);
}

#[test]
fn recipients_of_the_workspace_go_before_those_of_the_environment() {
    let (identity, recipient) = key();
    let other = KEYS.lines().filter_map(|line| line.split_once("age1")).nth(1).expect("a second recipient").1;
    let common = |recipients: &str| {
        format!("recipients: {recipients}\nhierarchy: [\"roles/{{role}}.yaml\", \"nodes/{{node}}.yaml\"]\n")
    };
    let made = |recipients: &str| {
        let room =
            Room::new().set("SUIL_AGE_RECIPIENT", &format!("age1{}", other.split_whitespace().next().unwrap_or("")));
        room.write("data/common.yaml", &common(recipients));
        room
    };
    for list in [recipient.clone(), format!("[{recipient}]"), format!("[{recipient}, {recipient}]")] {
        let sealed = made(&list).run(&["encrypt", "x"]);
        assert_eq!((sealed.status, sealed.stderr.as_str()), (0, ""));
        Room::new().set("SUIL_AGE_KEY", identity).run(&["decrypt", sealed.stdout.trim()]).is(0, "x", "");
    }
    let left = made(&format!("[{recipient}, 1]")).run(&["encrypt", "x"]);
    assert_eq!((left.status, left.stdout.as_str()), (1, ""));
    let place = format!(" --> data/common.yaml:1:{}\n", "recipients: [, ".len() + recipient.len() + 1);
    assert!(left.stderr.starts_with(&format!("suil: a recipient is a whole number\n{place}")), "{}", left.stderr);
    for wrong in ["[]", "\"\"", "age1nothing", "{a: b}", "!ENC[AAAA]", "[[a]]"] {
        let left = made(wrong).run(&["encrypt", "x"]);
        assert_eq!((left.status, left.stdout.as_str()), (1, ""), "{wrong}");
        assert!(left.stderr.contains(" --> data/common.yaml:1:1"), "{wrong}: {}", left.stderr);
    }
}

#[test]
fn a_key_that_is_none_is_named_and_not_repeated() {
    for (variables, want) in [
        (
            ("SUIL_AGE_KEY_FILE", "/nonexistent"),
            "suil: cannot read `/nonexistent`: no such file or directory\nnote: SUIL_AGE_KEY_FILE names this file\n",
        ),
        (
            ("SUIL_AGE_KEY", "hunter22"),
            "suil: line 1 of `SUIL_AGE_KEY` is no age identity\nnote: expected `AGE-SECRET-KEY-1…` or a `#` comment\n",
        ),
    ] {
        let room = Room::new().set(variables.0, variables.1);
        room.write("data/common.yaml", "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n");
        room.run(&["config"]).is(1, "", want);
    }
}
