use super::*;
use crate::base::Plain;
use crate::data::load;
use proptest::prelude::*;
use std::path::Path;

fn plain(text: &str) -> Plain {
    let layer = load(Path::new("x.yaml"), text.as_bytes()).unwrap_or_else(|p| panic!("{text}: {p:?}"));
    let value = layer.expect("not empty").settle().expect("settles").expect("a value");
    value.to_plain(&mut |cipher, _| Plain::Str(cipher.marker()))
}

/// Each problem as `line:column+width what | expected | help`.
fn refused(text: &str) -> Vec<String> {
    let Err(problems) = load(Path::new("x.yaml"), text.as_bytes()) else { panic!("loads: {text}") };
    let line = |p: &Problem| {
        let at = p.place.expect("a place");
        let (expected, help) = (p.expected.clone().unwrap_or_default(), p.help.clone().unwrap_or_default());
        format!("{}:{}+{} {} | {expected} | {help}", at.line, at.column, at.width, p.what)
    };
    problems.iter().map(line).collect()
}

#[test]
fn every_value_and_key_has_its_place_in_characters() {
    let text = "ä: {ü: wörd, k: [1, 'zwei']}\nsecond:\n  deep: !replace text\n";
    let layer = load(Path::new("x.yaml"), text.as_bytes()).expect("loads").expect("a layer");
    let at = |place: Place| (place.line, place.column, place.width);
    let first = layer.get("ä").expect("ä");
    assert_eq!(at(first.key), (1, 1, 1));
    let word = first.value.get("ü").expect("ü");
    assert_eq!((at(word.key), at(word.value.place)), ((1, 5, 1), (1, 8, 4)));
    let list = first.value.get("k").expect("k").value;
    let items: Vec<_> = list.items().iter().map(|item| at(item.place)).collect();
    assert_eq!(items, [(1, 18, 1), (1, 21, 6)]);
    let deep = layer.get("second").expect("second").value.get("deep").expect("deep");
    assert_eq!(deep.value.tag.map(|tag| at(tag.place)), Some((3, 9, 8)));
    assert_eq!((at(deep.key), at(deep.value.place)), ((3, 3, 4), (3, 18, 4)));
}

#[test]
fn a_secret_is_read_in_every_spelling() {
    let want = Plain::from_json(r#"{"k": "!ENC[YWJj]"}"#).expect("json");
    for text in [
        "k: !ENC[YWJj]",
        "k: !ENC[YWJj]   # why",
        "k: !ENC[ YW Jj ]",
        "{k: !ENC[YWJj]}",
        "{ k: !ENC[YWJj] }",
        "k: '!ENC[YWJj]'",
        "k: \" !ENC[YWJj] \"",
        "k: >-\n  !ENC[YW\n  Jj]\n",
        "k: |\n  !ENC[YW\n    Jj]\n",
        "k: !ENC[YWJj]\r\n",
        "k: &a !ENC[YWJj]",
        "k: !!str '!ENC[YWJj]'",
        "k: !replace '!ENC[YWJj]'",
    ] {
        assert_eq!(plain(text), want, "{text}");
    }
    let list = plain("l: [!ENC[YWJj],!ENC[YWJj], x]\nm: {a: !ENC[YWJj], b: 1}\nn:\n  - !ENC[YWJj]\n");
    assert_eq!(
        list.to_json_line(),
        r#"{"l":["!ENC[YWJj]","!ENC[YWJj]","x"],"m":{"a":"!ENC[YWJj]","b":1},"n":["!ENC[YWJj]"]}"#
    );
}

#[test]
fn text_that_only_mentions_a_secret_stays_text() {
    let text = "a: 'see !ENC[YWJj], ok'\nb: see !ENC[YWJj], ok\nc: |\n  see\n   !ENC[YWJj], ok\n# !ENC[YWJj]\nd: \"\\x21ENC x !ENC[a b]\"\n";
    let want =
        r#"{"a":"see !ENC[YWJj], ok","b":"see !ENC[YWJj], ok","c":"see\n !ENC[YWJj], ok\n","d":"!ENC x !ENC[a b]"}"#;
    assert_eq!(plain(text).to_json_line(), want);
}

#[test]
fn a_long_ciphertext_fits_anywhere() {
    let marker = format!("!ENC[{}]", "YWJj".repeat(2000));
    let text = format!("a: [{marker}, {marker}]\nb: {{k: {marker}}}\nc:\n  - \"{marker}\"\n  - k: {marker}\n");
    let got = plain(&text);
    assert_eq!(got.at(&["a", "1"]), Some(&Plain::from(&marker)));
    assert_eq!(got.at(&["c", "0"]), Some(&Plain::from(&marker)));
}

#[test]
fn each_fault_has_its_words_and_its_place() {
    for (text, wanted) in [
        ("a: !ENC[YWJj", "1:4+5 a secret is not closed on its line"),
        ("a: !enc[YWJj]", "1:4+5 a secret starts with `!ENC[`, in capitals"),
        ("a: !ENC[YWJj] x", "1:4+10 the secret `a` is followed by more text"),
        ("a: !ENC[YWJj] [x]", "1:4+10 the secret `a` is followed by a list"),
        ("a: !ENC[YWJj]x", "1:4+11 the secret `a` cannot be read | expected `!ENC[<base64>]`, found text behind"),
        ("a: !ENC[YWJ]", "1:4+9 the secret `a` cannot be read | expected `!ENC[<base64>]`, found damaged ciphertext"),
        ("a: !replcae [x]", "1:4+8 unknown tag `!replcae` | expected one of `!replace`, `!append`"),
        ("a: !REPLACE [x]", "did you mean `!replace`?"),
        ("a: !lookup {field: x}", "did you mean `!LOOKUP`?"),
        ("a: !ENC x", "did you mean `!ENC[…]`?"),
        ("a: !!binary YWJj", "1:4+8 unknown tag `!!binary`"),
        ("a: !!int x", "1:4+5 the tag before `a` is not the kind of its value"),
        ("!replace k: v", "1:1+8 a tag stands before the key `k`"),
        ("a: !replace !append [x]", "1:13+0 two tags stand before one value"),
        ("a: &x {k: 1}\nb: !replace *x", "2:13+0 a tag stands before an alias"),
        ("!replace\na: 1", "1:1+8 `x.yaml` is not a mapping"),
        ("a: 1\n---\nb: 1", "2:1+3 a second document starts here"),
        ("---\n---\na: 1", "2:1+3 a second document starts here"),
        ("a: *nope", "1:4+5 unknown alias `nope`"),
        ("a: &a [*a]", "1:8+2 the anchor `a` contains itself"),
        ("<<: 1", "1:1+2 `<<` takes a mapping"),
        ("b: &b {x: 1}\na: {<<: *b, <<: *b}", "2:13+2 the key `a.<<` is written twice"),
        ("a: {b, c: 1}", "1:5+1 the key `a.b` has no value | expected a value: `{}` for"),
        ("a: ~", "1:1+1 the key `a` has no value"),
        ("a: [x, ~]", "1:8+1 the item `a.1` has no value"),
        ("a: !replace", "1:1+1 the key `a` has no value"),
        ("yes: 1", "1:1+3 the key `yes` is not text | expected a word; YAML reads this as a boolean"),
        ("a: {1.10: x}", "1:5+4 the key `1.10` of `a` is not text"),
        ("[a]: b", "1:1+1 a key is no text"),
        ("a: 'x", "1:4+0 a quote is not closed"),
        ("a: \"\\q\"", "a backslash starts no known escape"),
        ("a: @x", "1:4+0 text cannot start with `@`"),
        ("a: b: c", "1:5+0 a colon stands where no key can be"),
        ("a: 1\nb", "2:1+0 this line is neither a key with a value nor a list item"),
        ("a: [1, 2", "1:4+0 a list is not closed"),
        ("a: {b: 1", "1:4+0 a mapping is not closed"),
        ("a: [1}", "1:4+0 brackets do not match"),
        ("a:\n\tb: 1", "2:2+0 a tab stands in the indentation"),
        ("a: b\u{7}c", "1:5+1 the character U+0007 may not stand in YAML"),
    ] {
        let said = refused(text);
        assert!(said.iter().any(|said| said.contains(wanted)), "{text}\nwanted {wanted}\nsaid {said:#?}");
        assert_eq!(said.len(), 1, "{text}: {said:#?}");
    }
}

#[test]
fn all_problems_of_a_file_are_told_together() {
    let said = refused("a: {b: , c: *no}\nd: !nope x\na: 2\ne: [1, 2\n");
    let starts: Vec<&str> = said.iter().filter_map(|said| said.split('+').next()).collect();
    assert_eq!(starts, ["1:5", "1:13", "2:4", "3:1", "4:4"]);
}

#[test]
fn merge_keys_come_first_and_own_keys_win() {
    let text = "one: &one {a: 1, b: 1}\ntwo: &two {b: 2, c: 2}\nm: {z: 0, <<: [*one, *two], b: own}\nq: {'<<': x}\n";
    let got = plain(text);
    assert_eq!(got.get("m").map(Plain::to_json_line).as_deref(), Some(r#"{"a":1,"b":"own","c":2,"z":0}"#));
    assert_eq!(got.get("q").map(Plain::to_json_line).as_deref(), Some(r#"{"<<":"x"}"#));
}

#[test]
fn empty_files_are_no_layer() {
    for text in ["", "# nothing\n", "---\n", "~", "--- ~\n", "\u{feff}", "---\n# x\n...\n"] {
        assert!(load(Path::new("x.yaml"), text.as_bytes()).expect(text).is_none(), "{text}");
    }
    assert!(load(Path::new("x.yaml"), b"{}").expect("loads").is_some());
}

#[test]
fn an_alias_bomb_ends_in_an_error() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..12 {
        let alias = format!("*a{}, ", n - 1).repeat(10);
        text.push_str(&format!("a{n}: &a{n} [{alias}]\n"));
    }
    let said = refused(&text);
    assert!(said[0].contains("makes the file too large"), "{said:?}");
}

#[test]
fn nesting_has_a_limit_also_through_aliases() {
    let nested = |levels: usize| format!("a: {}1{}\n", "[".repeat(levels), "]".repeat(levels));
    plain(&nested(MAX_DEPTH - 1));
    assert!(refused(&nested(MAX_DEPTH))[0].contains("too deep"));
    assert!(refused(&nested(5000))[0].contains("too deep"));
    let block: String = (0..3000).map(|n| format!("{}k:\n", " ".repeat(n))).collect();
    assert!(refused(&block)[0].contains("too deep"));
    let half = MAX_DEPTH / 2 + 1;
    let aliased =
        format!("a: &a {}1{}\nb: {}*a{}\n", "[".repeat(half), "]".repeat(half), "[".repeat(half), "]".repeat(half));
    assert!(refused(&aliased)[0].contains("too deep"), "{aliased}");
}

#[test]
fn a_file_that_is_too_large_or_no_text_is_refused() {
    let large = vec![b'#'; super::super::MAX_BYTES + 1];
    assert!(load(Path::new("x.yaml"), &large).expect_err("too large")[0].what.contains("too large"));
    let problem = load(Path::new("x.yaml"), b"a: 1\nb: \xff").expect_err("no text").remove(0);
    assert_eq!(problem.place.map(|at| (at.line, at.column)), Some((2, 4)));
    assert!(problem.expected.expect("expected").contains("0xff"));
}

proptest! {
    #[test]
    fn no_bytes_make_the_loader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = load(Path::new("x.yaml"), &bytes);
    }

    #[test]
    fn no_text_makes_the_loader_panic(text in "\\PC{0,120}") {
        let _ = load(Path::new("x.yaml"), text.as_bytes());
    }

    /// Pieces of YAML in any order, which reach deeper than random text.
    #[test]
    fn no_pieces_of_yaml_make_the_loader_or_the_merge_panic(pieces in proptest::collection::vec(
        prop::sample::select(vec![
            "a", "b", "name", ": ", "\n", "\n  ", "\n    ", "- ", "[", "]", "{", "}", ", ", "'", "\"", "!delete ",
            "!replace ", "!merge ", "!append ", "!LOOKUP ", "!ENC[", "YWJj", "!ENC[YWJj]", "&a ", "*a", "<<", "~",
            "0644", "1.5", "é", "\t", "\r\n", "|", ">-", "# ", "---", "field", "? ", "!!str ", "%", "x",
        ]), 0..40)) {
        let text = pieces.concat();
        if let Ok(Some(layer)) = load(Path::new("x.yaml"), text.as_bytes()) {
            let once = crate::data::merge(None, &layer);
            if let Ok(once) = once {
                let _ = crate::data::merge(once, &layer);
            }
        }
    }

    /// What the loader reads from plain data is what was written.
    #[test]
    fn quoted_text_comes_back_as_it_is(text in "\\PC{0,60}") {
        prop_assume!(!super::super::secret::is_marker(&text));
        let file = format!("k: {}\n", serde_json::to_string(&text).expect("json"));
        let layer = load(Path::new("x.yaml"), file.as_bytes()).expect("loads").expect("a layer");
        let got = layer.get("k").expect("k").value.plain().and_then(|v| v.as_str().map(str::to_owned));
        prop_assert_eq!(got, Some(text));
    }

    /// What suil writes (facts, records) reads back the same, whatever the text looks like.
    #[test]
    fn what_plain_values_write_is_read_back(value in tree()) {
        let yaml = Plain::from_iter([("k", value.clone())]).to_yaml();
        let layer = load(Path::new("x.yaml"), yaml.as_bytes()).unwrap_or_else(|p| panic!("{yaml}\n{p:?}")).expect("a layer");
        let got = layer.settle().expect("settles").expect("a value").to_plain(&mut |c, _| Plain::Str(c.marker()));
        prop_assert_eq!(got.get("k"), Some(&value), "{}", yaml);
    }
}

fn tree() -> impl Strategy<Value = Plain> {
    let words = prop::sample::select(vec![
        "yes",
        "no",
        "0644",
        "1e3",
        "~",
        "",
        "1:30",
        "<<",
        "a: b",
        "# x",
        "- x",
        "2031-01-02",
        "1.10",
    ]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Plain::Bool),
        any::<i64>().prop_map(Plain::Int),
        words.prop_map(Plain::from),
        "[ -~é\n]{0,12}".prop_filter("a secret", |t| !super::super::secret::is_marker(t)).prop_map(|t| Plain::from(&t)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Plain::List),
            prop::collection::vec(("[a-z]{1,6}|yes|0644", inner), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}
