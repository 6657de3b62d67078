use super::*;
use crate::data::secret::Keys;
use age::secrecy::ExposeSecret;
use std::path::Path;

struct Room {
    keys: Keys,
    recipients: Recipients,
}

impl Room {
    fn new() -> Room {
        let identity = age::x25519::Identity::generate();
        let recipients = Recipients::parse(&identity.to_public().to_string(), "test").expect("recipients");
        Room { keys: Keys::parse(identity.to_string().expose_secret(), "test").expect("keys"), recipients }
    }

    /// The text with each `‹plaintext›` as the base64 of its ciphertext, in lines of `width`, indented by four.
    fn seal(&self, text: &str, width: usize) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('‹') {
            let (plaintext, later) = after.split_once('›').expect("closed");
            let cipher = secret::encrypt(plaintext.as_bytes(), &self.recipients).expect("encrypts");
            let lines: Vec<&str> =
                cipher.base64.as_bytes().chunks(width).map(|l| std::str::from_utf8(l).expect("base64")).collect();
            out.push_str(before);
            out.push_str(&lines.join("\n    "));
            rest = later;
        }
        out + rest
    }

    fn view(&self, text: &str) -> View {
        View::of(Path::new("x.yaml"), text.as_bytes(), Some(&self.keys)).unwrap_or_else(|p| panic!("{text}\n{p:?}"))
    }

    #[track_caller]
    fn save(&self, view: &View, edited: &str) -> (String, Saved) {
        let saved = view.save(edited, &|| Ok(self.recipients.clone())).unwrap_or_else(|p| panic!("{edited}\n{p:?}"));
        (String::from_utf8(saved.bytes.clone()).expect("text"), saved)
    }

    /// What a view of the saved file shows.
    fn again(&self, text: &str) -> String {
        self.view(text).text().to_owned()
    }
}

const LONG: usize = usize::MAX;

#[test]
fn a_view_shows_each_secret_so_that_it_can_be_edited_and_nothing_else_changes() {
    let room = Room::new();
    let file = room.seal(
        "# !ENC[x]\r\na:  !ENC[‹p 1›]  # why\r\nb: [!ENC[‹one\ntwo›], x]\r\nc: !replace '!ENC[‹it's›]'\r\nd:\r\n- !ENC[‹k:\n  v\n›]\r\n- k: &x \"!ENC[‹tab\t\"q\" \\›]\"\r\ne: !ENC[‹two\nlines\n›]",
        LONG,
    );
    let view = room.view(&file);
    let want = "# !ENC[x]\r\na:  !SECRET \"p 1\"  # why\r\nb: [!SECRET \"one\\ntwo\", x]\r\nc: !replace \"!SECRET it's\"\r\nd:\r\n- !SECRET |\r\n    k:\r\n      v\r\n- k: &x !SECRET \"tab\\t\\\"q\\\" \\\\\"\r\ne: !SECRET \"two\\nlines\\n\"";
    assert_eq!(view.text(), want);
    let (saved, did) = room.save(&view, want);
    assert_eq!(saved, file);
    assert!(did.changed.is_empty() && did.added.is_empty() && did.removed.is_empty() && did.bare.is_empty());
}

#[test]
fn what_changed_is_encrypted_in_the_layout_it_had_and_the_rest_stays_byte_for_byte() {
    let room = Room::new();
    let file = room.seal("a: !ENC[‹one1›] # a\n", LONG)
        + &room.seal("b: >- # folded\n    !ENC[‹two22›]\n\nc: '!ENC[‹three›]'\n", 40)
        + &room.seal("d: !ENC[‹four4›]\n", LONG);
    let view = room.view(&file);
    let edited = view.text().replace("two22", "zwei").replace("a: !SECRET", "a:   !SECRET");
    let (saved, did) = room.save(&view, &edited);
    assert_eq!(did.changed, ["b"]);
    let cut = |text: &str| text.split_once("# folded").map(|(a, b)| (a.to_owned(), b.to_owned())).expect("folded");
    assert_eq!(cut(&saved).0, cut(&file).0.replace("a: ", "a:   "));
    let below = |text: &str| cut(text).1.split_once("]\n\nc: ").expect("c").1.to_owned();
    assert_eq!(below(&saved), below(&file));
    let block = cut(&saved).1;
    let lines: Vec<&str> = block.split("]\n\nc").next().expect("b").lines().skip(1).collect();
    assert!(lines[0].starts_with("    !ENC["), "{saved}");
    assert!(lines[1..lines.len() - 1].iter().all(|line| line.starts_with("    ") && line.len() == 44), "{saved}");
    assert_eq!(room.again(&saved), edited);
}

#[test]
fn new_moved_copied_and_removed_secrets_are_told_apart() {
    let room = Room::new();
    let file = room.seal("a: !ENC[‹first›]\nb: !ENC[‹second›]\nc:\n  d: !ENC[‹third›]\n  e: plain\n", LONG);
    let old = |key: &str, file: &str| {
        let found = spots(Path::new("x"), file.as_bytes()).expect("loads");
        let spot = found.iter().find(|spot| spot.key == key).unwrap_or_else(|| panic!("{key}"));
        file[spot.value.clone()].to_owned()
    };
    let view = room.view(&file);
    let edited = "z: !SECRET \"first\"\nb: !SECRET 'second'\nc:\n  e: !SECRET \"second\"\n  n: [!SECRET \"new one\"]\n  p: !replace \"!SECRET |x|\"\nq: !SECRET |-\n  l1\n  l2\n\n# end\n";
    let (saved, did) = room.save(&view, edited);
    assert_eq!(did.added, ["c.e", "c.n.0", "c.p", "q"]);
    assert_eq!((did.changed.len(), did.removed), (0, vec!["c.d".to_owned()]));
    assert_eq!(old("z", &saved), old("a", &file));
    assert_eq!(old("b", &saved), old("b", &file));
    assert_ne!(old("c.e", &saved), old("b", &file));
    assert!(saved.ends_with("]\n\n# end\n") && saved.contains("  p: !replace \"!ENC["), "{saved}");
    assert_eq!(room.again(&saved), edited.replace("'second'", "\"second\""));
}

#[test]
fn a_block_that_moves_takes_its_layout_along_or_becomes_inline() {
    let room = Room::new();
    let file = room.seal("a: |\n    !ENC[‹moving target›]\nb: {}\n", 30);
    let view = room.view(&file);
    for (edited, block) in [
        ("b:\n  c:\n    d: !SECRET \"moving target\"\n", true),
        ("b: [!SECRET \"moving target\"]\n", false),
        ("b: !replace \"!SECRET moving target\"\n", true),
        ("b: &x !SECRET \"moving target\"\n", true),
        ("b: !SECRET &x \"moving target\"\n", true),
    ] {
        let (saved, did) = room.save(&view, edited);
        assert!(did.added.is_empty() && did.changed.is_empty(), "{did:?}");
        assert_eq!(saved.contains("|\n"), block, "{saved}");
        let want = edited.replace("!SECRET &x", "&x !SECRET");
        assert_eq!(room.again(&saved), want);
    }
}

#[test]
fn a_secret_that_would_stay_in_plain_text_is_refused_or_told() {
    let room = Room::new();
    let file = room.seal("a: !ENC[‹hunter22›]\nb: x\n", LONG);
    let view = room.view(&file);
    let whom = || Ok(room.recipients.clone());
    for (edited, place) in
        [("# a: !SECRET \"hunter22\"\nb: x\n", "x.yaml:1:6"), ("a: see !SECRET \"hunter22\"\n", "x.yaml:1:8")]
    {
        let problems = view.save(edited, &whom).expect_err("refused");
        assert_eq!(problems[0].place.map(|at| at.to_string()).as_deref(), Some(place), "{problems:?}");
        assert!(problems[0].place.and_then(|at| at.source_line()).is_none());
    }
    let (_, did) = room.save(&view, "a: hunter22\nb: x\n");
    assert_eq!((did.removed, did.bare), (vec!["a".to_owned()], vec!["a".to_owned()]));
}

#[test]
fn no_problem_of_a_view_shows_a_line_of_it() {
    let room = Room::new();
    let view = room.view(&room.seal("a: !ENC[‹hunter22›]\n", LONG));
    for edited in
        ["a: !SECRTE \"swordfish\"\n", "a: !SECRET swordfish\n", "a: !SECRET \"swordfish\n", "a: !SECRET \"\"\n"]
    {
        let problems = view.save(edited, &|| Ok(room.recipients.clone())).expect_err("refused");
        for problem in &problems {
            assert!(problem.place.is_some_and(|at| at.source_line().is_none()), "{problem:?}");
            assert!(!format!("{problem:?}").contains("swordfish"), "{problem:?}");
        }
    }
}

#[test]
fn what_no_key_opens_stays_sealed_in_the_view_and_nothing_open_is_an_error() {
    let (room, other) = (Room::new(), Room::new());
    let file = room.seal("a: !ENC[‹mine›]\n", LONG) + &other.seal("b: !ENC[‹theirs›]\n", LONG);
    let view = room.view(&file);
    assert!(view.text().starts_with("a: !SECRET \"mine\"\nb: !ENC["), "{}", view.text());
    assert_eq!(view.closed().len(), 1);
    let (saved, _) = room.save(&view, &view.text().replace("mine", "mine too"));
    assert_eq!(saved.lines().nth(1), file.lines().nth(1));
    for keys in [None, Some(&Room::new().keys)] {
        let problems = View::of(Path::new("x.yaml"), file.as_bytes(), keys).expect_err("closed");
        assert_eq!(problems.len(), 2);
    }
    assert!(View::of(Path::new("x.yaml"), b"a: 1\n", None).is_ok());
}
