use super::*;
use crate::data::yaml::{spots, view_spots};
use std::path::Path;

/// Each secret as `key line:column value / inside`.
fn found(text: &str, reading: Reading) -> Vec<String> {
    let spots = match reading {
        Reading::Data => spots(Path::new("x.yaml"), text.as_bytes()),
        Reading::View => view_spots(Path::new("x.yaml"), text),
    };
    let spots = spots.unwrap_or_else(|p| panic!("{text}: {p:?}"));
    let line = |spot: &Spot| {
        let inside = spot.inside.clone().map_or("-", |inside| &text[inside]);
        let tagged = if spot.tagged { " tagged" } else { "" };
        format!(
            "{} {}:{}{tagged} {} / {inside}",
            spot.key,
            spot.place.line,
            spot.place.column,
            &text[spot.value.clone()]
        )
    };
    spots.iter().map(line).collect()
}

#[test]
fn a_secret_is_found_byte_by_byte_in_every_spelling() {
    for (text, want) in [
        ("a: !ENC[YWJj] # why", "a 1:4 !ENC[YWJj] / YWJj"),
        ("\u{feff}a: !ENC[YWJj]\r\n", "a 1:4 !ENC[YWJj] / YWJj"),
        ("ä: &ü '!ENC[YWJj]'", "ä 1:7 '!ENC[YWJj]' / YWJj"),
        ("a: ! \" !ENC[ YW\n Jj ] \"", "a 1:6 tagged \" !ENC[ YW\n Jj ] \" /  YW\n Jj "),
        ("a: !replace \"!ENC[YWJj]\"", "a 1:13 tagged \"!ENC[YWJj]\" / YWJj"),
        ("a: !ENC[YWJj] &k", "a 1:4 !ENC[YWJj] / YWJj"),
        ("a:\n  [x,{k: !ENC[YWJj]}]", "a.1.k 2:10 !ENC[YWJj] / YWJj"),
        ("a: >- # !ENC[no]\n   !ENC[YW\n   Jj]\n\n\n# end", "a 2:4 >- # !ENC[no]\n   !ENC[YW\n   Jj] / YW\n   Jj"),
        ("a: !!str |+\r\n  !ENC[YWJj]\r\n\r\n", "a 2:3 tagged |+\r\n  !ENC[YWJj] / YWJj"),
        ("\"a | # b\": >2-\n\n\n      !ENC[YWJj]  \n", "a | # b 4:3 >2-\n\n\n      !ENC[YWJj] / YWJj"),
        ("a:\n# c |\n- |\n !ENC[YWJj]", "a.0 4:2 |\n !ENC[YWJj] / YWJj"),
        ("a:\n- - # | x\n   k: &p >-\n     !ENC[YWJj]", "a.0.0.k 4:6 >-\n     !ENC[YWJj] / YWJj"),
        ("a: \"\\x21ENC[YWJj]\"", "a 1:4 \"\\x21ENC[YWJj]\" / -"),
    ] {
        assert_eq!(found(text, Reading::Data), [want], "{text}");
    }
}

#[test]
fn what_only_looks_like_a_secret_is_none() {
    for text in [
        "# !ENC[YWJj]\na: 1 # !ENC[YWJj]\n",
        "a: 'see !ENC[YWJj]'\nb: see !ENC[YWJj], ok\nc: |\n  see\n  !ENC[YWJj]\n",
        "\"!ENC[YWJj]\": 1\n",
        "a: >- # !ENC[YWJj]\n  text\n",
    ] {
        assert!(found(text, Reading::Data).is_empty(), "{text}");
    }
}

#[test]
fn a_view_shows_secrets_as_tags_or_under_a_tag_as_text() {
    for (text, want) in [
        ("a: !SECRET \"x\\ny\" # why", "a 1:12 !SECRET \"x\\ny\" / -"),
        ("a: &b !SECRET 'x'", "a 1:15 !SECRET 'x' / -"),
        ("a: !SECRET |\n  one\n\n  two\n\n\n# rest\n", "a 2:3 !SECRET |\n  one\n\n  two / -"),
        ("a: [!SECRET \"x\", y]", "a.0 1:13 !SECRET \"x\" / -"),
        ("a: !replace \"!SECRET x\"", "a 1:13 tagged \"!SECRET x\" / -"),
        ("a: !ENC[YWJj]", "a 1:4 !ENC[YWJj] / YWJj"),
    ] {
        assert_eq!(found(text, Reading::View), [want], "{text}");
    }
    assert!(found("a: '!SECRET x'", Reading::Data).is_empty());
    for (text, want) in [
        ("a: !SECRET x", "is not in quotes"),
        ("a: !SECRET", "is not in quotes"),
        ("a: !SECRET [x]", "is followed by a list"),
        ("!SECRET 'k': x", "a tag stands before the key"),
    ] {
        let problems = view_spots(Path::new("x.yaml"), text).expect_err(text);
        assert!(problems[0].what.contains(want), "{problems:?}");
    }
    assert!(spots(Path::new("x.yaml"), b"a: !SECRET 'x'").is_err());
}

#[test]
fn a_broken_file_has_no_secrets_but_problems() {
    for text in ["a: !ENC[YWJj]\n---\nb: 1\n", "a: !ENC[YWJ]\n", "a: [!ENC[YWJj]\n", "a: !ENC[YWJj] x\n"] {
        let problems = spots(Path::new("x.yaml"), text.as_bytes()).expect_err(text);
        assert!(problems.iter().all(|problem| problem.place.is_some()), "{problems:?}");
    }
}
