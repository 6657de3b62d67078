//! Random documents: the finder sees what the loader sees, and what is written anew differs in ciphertext alone.

use super::super::secret::{Keys, Recipients, encrypt};
use super::super::tagged::Node;
use super::super::yaml::spot::Secret;
use super::super::yaml::spots;
use super::super::{Kind, Tagged, Value, load};
use super::{Opened, View};
use age::secrecy::ExposeSecret;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

fn path() -> &'static Path {
    Path::new("x.yaml")
}

/// Every ciphertext of a loaded tree.
fn loaded(tree: &Tagged, found: &mut BTreeSet<String>) {
    match &tree.node {
        Node::Plain(value) => in_value(value, found),
        Node::List(items) => items.iter().for_each(|item| loaded(item, found)),
        Node::Map(members) => members.values().for_each(|member| loaded(&member.value, found)),
        Node::Nothing => {}
    }
}

fn in_value(value: &Value, found: &mut BTreeSet<String>) {
    match &value.kind {
        Kind::Secret(cipher) => drop(found.insert(cipher.base64.clone())),
        Kind::List(items) => items.iter().for_each(|item| in_value(item, found)),
        Kind::Map(map) => map.values().for_each(|slot| in_value(&slot.value, found)),
        Kind::Scalar(_) | Kind::Lookup(_) => {}
    }
}

/// Lines of YAML, most of them sound; each `@` becomes base64 that no other marker has.
fn lines() -> impl Strategy<Value = String> {
    let keys = [
        "K:   ",
        "\"K\": ",
        "'K' : ",
        "? K\n: ",
        "- ",
        "- K: ",
        "  K: ",
        "K:\n  - ",
        "K:\n    K: ",
        "<<: ",
        "",
        "# K: ",
    ];
    let before = ["&A ", "&A ", "!replace ", "!append ", "!!str ", "! ", "!delete ", "\t", "[", "{x: ", "[x, "];
    let values = [
        "'!ENC[@]'",
        "\"!ENC[@]\"",
        "!ENC[ @ ]",
        ">-\n      !ENC[@]",
        "|\n      !ENC[@]\n",
        "\"!ENC[\n      @]\"",
        ">2-  # !ENC[@]\n\n      !ENC[@]",
        "|+\n      text\n      !ENC[@]",
        "\"\\x21ENC[@]\"",
        "'see !ENC[@]'",
        "see !ENC[@]",
        "x # !ENC[@]",
        "*A",
        "1",
        "{}",
        "[!ENC[@],'!ENC[@]',{y: !ENC[@]}]",
        "{<<: {k: !ENC[@]}, k: 1}",
    ];
    let after = [" # !ENC[@]\n", "  \n\n", "\r\n", "]\n", "}\n", " &A\n", ": x\n"];
    let line =
        (mostly("K: ", 8, &keys), mostly("", 9, &before), mostly("!ENC[@]", 3, &values), mostly("\n", 8, &after));
    prop::collection::vec(line, 1..4).prop_map(|lines| {
        let line = |(n, (key, before, value, after)): (usize, &(&str, &str, &str, &str))| {
            format!("{key}{before}{value}{after}").replace('K', &format!("k{n}")).replace('A', &format!("a{}", n / 2))
        };
        numbered(&lines.iter().enumerate().map(line).collect::<String>())
    })
}

/// One of the words, or `usual`, which has so many lots.
fn mostly(usual: &'static str, lots: usize, words: &[&'static str]) -> impl Strategy<Value = &'static str> + use<> {
    prop::sample::select([vec![usual; lots], words.to_vec()].concat())
}

fn numbered(text: &str) -> String {
    let mut out = String::new();
    for (n, part) in text.split('@').enumerate() {
        if n > 0 {
            out.push_str(&format!("{n:04}"));
        }
        out.push_str(part);
    }
    out
}

/// A document that loads: entries under keys of their own, in a layout of their own.
fn document() -> impl Strategy<Value = String> {
    let entries = vec![
        "# !ENC[comment]  \n",
        "\n",
        "   \n",
        "K: !ENC[@]   # why\n",
        "K:   '!ENC[@]'\n",
        "K: &A \"!ENC[@]\"\n",
        "K: [ !ENC[@],x , {y: !ENC[@]} ]\n",
        "K:\n   L: plain\n   M: !ENC[@]\n",
        "K:\n- - N: !ENC[@]\n  - !ENC[@]\n",
        "K: >-  # !ENC[header]\n      !ENC[@]\n\n",
        "K: |2+\n      !ENC[@]  \n\n",
        "K: !replace \"!ENC[@]\"\n",
        "K: !!str |-\n !ENC[@]\n",
        "K: 'see !ENC[text]'\n",
        "K:\n    !ENC[@]\n",
        "\"K\" : !ENC[@] \n",
    ];
    let entries = prop::collection::vec((prop::sample::select(entries), 0..3_usize), 1..6);
    (entries, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(entries, crlf, bom, end)| {
        let mut text = String::new();
        for (n, (entry, width)) in entries.iter().enumerate() {
            let entry = entry.replace('K', &format!("k{n}")).replace("&A", &format!("&a{n}"));
            text.push_str(&sealed(&entry, [None, Some(64), Some(20)][*width]));
        }
        let text = if end { text } else { text.trim_end_matches('\n').to_owned() };
        let text = if bom { format!("\u{feff}{text}") } else { text };
        if crlf { text.replace('\n', "\r\n") } else { text }
    })
}

static PAIR: LazyLock<(Keys, Recipients)> = LazyLock::new(|| {
    let identity = age::x25519::Identity::generate();
    let keys = Keys::parse(identity.to_string().expose_secret(), "test").expect("keys");
    (keys, Recipients::parse(&identity.to_public().to_string(), "test").expect("recipients"))
});

/// Each `@` as the base64 of a ciphertext; in a block it is broken into lines.
fn sealed(entry: &str, width: Option<usize>) -> String {
    let mut out = String::new();
    for (n, part) in entry.split('@').enumerate() {
        if n > 0 {
            let base64 = encrypt(format!("plain {n}").as_bytes(), &PAIR.1).expect("encrypts").base64;
            let line = out.rsplit('\n').next().unwrap_or_default();
            let block = line.trim_start().starts_with("!ENC[") && (out.contains(['|', '>']));
            let indent = " ".repeat(line.len() - line.trim_start().len());
            let width = width.filter(|_| block).unwrap_or(base64.len());
            let lines: Vec<&str> =
                base64.as_bytes().chunks(width).map(|line| std::str::from_utf8(line).expect("text")).collect();
            out.push_str(&lines.join(&format!("\n{indent}")));
        }
        out.push_str(part);
    }
    out
}

/// The text with an `X` for every ciphertext, found by its first letters alone.
fn blank(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("!ENC[") {
        let (inside, later) = after.split_once(']').expect("closed");
        let whole: String = inside.chars().filter(|c| !c.is_whitespace()).collect();
        let inside = if whole.starts_with("YWdlLWVuY3J5cHRpb24") { "X" } else { inside };
        out.push_str(&format!("{before}!ENC[{inside}]"));
        rest = later;
    }
    out + rest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_finder_sees_the_secrets_that_the_loader_sees(text in lines()) {
        let tree = load(path(), text.as_bytes());
        let found = spots(path(), text.as_bytes());
        if let Ok(tree) = tree {
            let mut want = BTreeSet::new();
            tree.iter().for_each(|tree| loaded(tree, &mut want));
            let spots = found.unwrap_or_else(|problems| panic!("{text:?}: {problems:?}"));
            let mut have = BTreeSet::new();
            for spot in &spots {
                let Secret::Sealed(cipher) = &spot.secret else { panic!("a view") };
                have.insert(cipher.base64.clone());
                // A spot is what it says: the marker stands in its bytes, and nowhere else.
                let value = &text[spot.value.clone()];
                prop_assert!(value.contains(&cipher.base64), "{:?} in {:?}", value, text);
                if let Some(inside) = &spot.inside {
                    prop_assert_eq!(text[inside.clone()].trim(), &cipher.base64);
                    prop_assert!(text[..inside.start].ends_with("!ENC[") && text[inside.end..].starts_with(']'));
                }
            }
            // A key that hides one of a merged mapping drops its value from the tree, not from the file.
            prop_assert!(want.is_subset(&have), "{:?}: {:?} {:?}", text, want, have);
            prop_assert!(text.contains("<<") || want == have, "{:?}: {:?} {:?}", text, want, have);
        } else if let Ok(spots) = found {
            // The file is broken only as a whole: it is no mapping, say.
            prop_assert!(crate::data::yaml::load_any(path(), text.as_bytes()).is_ok(), "{:?} {:?}", text, spots);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn a_rekey_changes_ciphertext_alone_and_so_does_the_next(text in document()) {
        let (keys, recipients) = &*PAIR;
        let mut now = text.clone();
        for _ in 0..2 {
            let opened = Opened::read(path(), now.as_bytes(), keys).unwrap_or_else(|p| panic!("{now}: {p:?}"));
            let new = String::from_utf8(opened.seal(path(), recipients).expect("sealed")).expect("text");
            prop_assert_eq!(blank(&new), blank(&text));
            prop_assert_eq!(new == now, opened.count() == 0);
            now = new;
        }
    }

    #[test]
    fn a_view_that_is_saved_as_it_is_gives_the_same_file(text in document()) {
        let (keys, recipients) = &*PAIR;
        let view = View::of(path(), text.as_bytes(), Some(keys)).unwrap_or_else(|p| panic!("{text}: {p:?}"));
        let saved = view.save(view.text(), &|| Ok(recipients.clone())).unwrap_or_else(|p| panic!("{text}: {p:?}"));
        prop_assert_eq!(String::from_utf8(saved.bytes).expect("text"), text);
    }

    /// Whatever a secret is: what the view shows of it is read back as the same.
    #[test]
    fn every_plaintext_survives_its_view(plaintext in "[ -~\\t\\n\\r\\PCé\u{85}\u{feff}]{1,40}", flow in any::<bool>()) {
        let (keys, recipients) = &*PAIR;
        let marker = encrypt(plaintext.as_bytes(), recipients).expect("encrypts").marker();
        let text = if flow { format!("before: [{marker}]\n") } else { format!("before:\n  - k: {marker}\n") };
        let view = View::of(path(), text.as_bytes(), Some(keys)).unwrap_or_else(|p| panic!("{plaintext:?}: {p:?}"));
        prop_assert!(view.text().contains("!SECRET"));
        let changed = view.text().replace("before:", "behind:");
        let saved = view.save(&changed, &|| Ok(recipients.clone())).unwrap_or_else(|p| panic!("{changed}: {p:?}"));
        prop_assert_eq!(String::from_utf8(saved.bytes).expect("text"), text.replace("before:", "behind:"));
    }
}
