//! The tag table, one line a rule: the layers from below, and what they make.

use super::*;
use crate::base::Plain;
use crate::data::load;
use std::path::Path as File;

fn run(layers: &[&str]) -> Result<Option<Value>> {
    let mut value = None;
    for (number, layer) in layers.iter().enumerate() {
        let layer = load(File::new(&format!("layer-{number}.yaml")), layer.as_bytes())?;
        if let Some(layer) = layer {
            value = merge(value, &layer)?;
        }
    }
    Ok(value)
}

fn plain(value: Option<Value>) -> Plain {
    value.map_or(Plain::map(), |value| value.to_plain(&mut |cipher, _| Plain::Str(cipher.marker())))
}

fn check(cases: &[(&[&str], &str)]) {
    for (layers, want) in cases {
        let want = plain(run(&[want]).expect("want"));
        let got = plain(run(layers).unwrap_or_else(|problems| panic!("{layers:?}: {problems:?}")));
        assert_eq!(got.to_json_line(), want.to_json_line(), "{layers:?}");
    }
}

fn refused(layers: &[&str]) -> String {
    let problems = run(layers).expect_err(&format!("{layers:?}"));
    let problem = problems.first().expect("a problem").clone();
    format!("{} {} | {}", problem.place.expect("place"), problem.what, problem.expected.unwrap_or_default())
}

#[test]
fn mappings_merge_lists_concatenate_and_the_rest_is_replaced() {
    check(&[
        (&["{a: {x: 1, y: 2}}", "{a: {y: 3, z: 4}}"], "{a: {x: 1, y: 3, z: 4}}"),
        (&["{l: [a, b]}", "{l: [b, c]}"], "{l: [a, b, b, c]}"),
        (&["{a: 1, b: [1], c: {k: 1}}", "{a: [1], b: {k: 1}, c: no}"], "{a: [1], b: {k: 1}, c: no}"),
        (&["{a: 1}", "{a: ''}"], "{a: ''}"),
        (&["{a: {x: 1}}", "{a: {}}"], "{a: {x: 1}}"),
        (&["{l: []}", "{l: [1]}", "{l: []}"], "{l: [1]}"),
    ]);
}

#[test]
fn replace_overwrites_whatever_is_below() {
    check(&[
        (&["{a: [1]}", "{a: !replace [2]}", "{a: [3]}"], "{a: [2, 3]}"),
        (&["{a: {x: 1}}", "{a: !replace {y: 2}}"], "{a: {y: 2}}"),
        (&["{a: 1}", "{a: !replace 5}"], "{a: 5}"),
        (&["{}", "{a: !replace no}"], "{a: no}"),
        (
            &["{a: {l: [1]}}", "{a: !replace {l: !append [2], gone: !delete , n: {gone: !delete [x]}}}"],
            "{a: {l: [2], n: {}}}",
        ),
        (&["{b: [1]}", "{b: !replace [!delete x, !delete , y]}"], "{b: [y]}"),
    ]);
}

#[test]
fn append_joins_and_takes_a_single_value_as_a_list_of_one() {
    check(&[
        (&["{a: [1]}", "{a: !append [2]}"], "{a: [1, 2]}"),
        (&["{a: {x: 1}}", "{a: !append {y: 2}}"], "{a: {x: 1, y: 2}}"),
        (&["{a: [1]}", "{a: !append c}"], "{a: [1, c]}"),
        (&["{a: 1.5}", "{a: !append 2.5}"], "{a: 2.5}"),
        (&["{}", "{a: !append [2]}", "{a: [3]}"], "{a: [2, 3]}"),
        (&["{a: {l: [1], keep: 1}}", "{a: !append {l: !replace [2]}}"], "{a: {l: [2], keep: 1}}"),
        (&["{d: [1]}", "{d: !append [!replace 2, !append [3]]}"], "{d: [1, '2', [3]]}"),
    ]);
}

#[test]
fn merge_pairs_items_by_name_in_the_lower_order() {
    check(&[
        (
            &["{u: [{name: a, v: 1, g: [x]}, {name: b}]}", "{u: !merge [{name: c}, {name: a, w: 2, g: [y]}]}"],
            "{u: [{name: a, v: 1, g: [x, y], w: 2}, {name: b}, {name: c}]}",
        ),
        (&["{u: [{name: 1}]}", "{u: !merge [{name: '1', v: 2}]}"], "{u: [{name: 1}, {name: '1', v: 2}]}"),
        (&["{}", "{u: !merge [{name: a, v: 1}, {name: a, w: 2}]}"], "{u: [{name: a, v: 1}, {name: a, w: 2}]}"),
        (&["{u: {a: 1, b: 2}}", "{u: !merge {b: 3}}"], "{u: {a: 1, b: 3}}"),
        (&["{u: [{name: a, v: 1}]}", "{u: !merge {name: a, w: 2}}"], "{u: [{name: a, v: 1, w: 2}]}"),
        (&["{u: [{name: a, l: [1]}]}", "{u: !merge [{name: a, l: !replace [2]}]}"], "{u: [{name: a, l: [2]}]}"),
        (&["{u: [{name: a, v: 1}, {name: b}]}", "{u: !merge [!delete {name: a}]}"], "{u: [{name: b}]}"),
        (&["{u: [x]}", "{u: !merge [x, y]}"], "{u: [x, x, y]}"),
        (&["{u: old}", "{u: !merge [{name: a}]}"], "{u: [{name: a}]}"),
    ]);
    let text = refused(&["{surf: {l: [{name: [x]}]}}", "{surf: {l: !merge [{name: [x], w: 2}]}}"]);
    assert!(text.contains("layer-1.yaml:1:27") && text.contains("`surf.l`"), "{text}");
}

#[test]
fn delete_removes_items_keys_or_what_it_stands_on() {
    check(&[
        (&["{a: 1, b: 2}", "{a: !delete}"], "{b: 2}"),
        (&["{a: 1}", "{a: !delete }", "{a: 2}"], "{a: 2}"),
        (&["{p: [80, 443]}", "{p: !delete 80}"], "{p: [443]}"),
        (&["{f: [yes, 1, '1', 1.0]}", "{f: !delete [1]}"], "{f: [yes, '1', 1.0]}"),
        (&["{o: [{name: x, v: 1}, {name: y}, y]}", "{o: !delete [y]}"], "{o: [{name: x, v: 1}]}"),
        (&["{o: [{name: x, v: 1}, {name: y}]}", "{o: !delete [{name: x}]}"], "{o: [{name: y}]}"),
        (&["{o: [{name: x, v: 1}]}", "{o: !delete [{name: x, v: 2}]}"], "{o: [{name: x, v: 1}]}"),
        (&["{o: [{a: 1, b: [2]}, 3]}", "{o: !delete [{b: [2], a: 1}]}"], "{o: [3]}"),
        (&["{m: {a: 1, b: 2, c: 3}}", "{m: !delete [a, b]}"], "{m: {c: 3}}"),
        (&["{m: {a: 1}}", "{m: !delete {}}"], "{m: {a: 1}}"),
        (&["{m: {80: a, b: 2}}", "{m: !delete 80}"], "{m: {b: 2}}"),
        (&["{k: 1}", "{x: !delete [ghost]}"], "{k: 1}"),
        (&["{a: [one]}", "{a: !delete [one]}"], "{a: []}"),
        (&["{a: {b: 1, c: 2, d: 3}}", "{a: {b: !delete }}"], "{a: {c: 2, d: 3}}"),
    ]);
    let text = refused(&["{surf: {a: old}}", "surf:\n  a: !delete [old]\n"]);
    assert!(
        text.contains("layer-1.yaml:2:6") && text.contains("`surf.a`") && text.contains("found a string"),
        "{text}"
    );
}

#[test]
fn tags_of_a_new_subtree_act_at_once_so_the_next_layer_sees_plain_values() {
    check(&[
        (&["{l: !append [1]}", "{l: [2]}"], "{l: [1, 2]}"),
        (&["{m: !merge [{name: x, v: 1}]}", "{m: !merge [{name: x, w: 2}]}"], "{m: [{name: x, v: 1, w: 2}]}"),
        (&["{x: !append [1, 2]}", "{x: !delete [1]}"], "{x: [2]}"),
        (&["{d: {deep: {gone: !delete , k: !replace 1}}}", "{d: {deep: {z: 2}}}"], "{d: {deep: {k: 1, z: 2}}}"),
    ]);
}

#[test]
fn a_lookup_passes_through_untouched() {
    check(&[
        (&["{b: !LOOKUP {field: s.ip}}", "{b: [literal]}"], "{b: [literal]}"),
        (&["{b: !LOOKUP {field: s.ip}}", "{b: !append [more]}"], "{b: [more]}"),
        (&["{c: [!LOOKUP {field: s.ip}, x]}", "{c: !delete [!LOOKUP {field: s.ip}]}"], "{c: [x]}"),
        (&["{f: {k: 1}}", "{f: !LOOKUP {field: s.ip}}"], "{f: !LOOKUP {field: s.ip}}"),
    ]);
}

#[test]
fn what_is_unchanged_is_shared_and_the_lower_layer_stays_as_it_was() {
    let lower = run(&["{big: {a: [1, 2]}, other: 1}"]).expect("load");
    let upper = load(File::new("upper.yaml"), b"{other: 2}").expect("load").expect("a layer");
    let merged = merge(lower.clone(), &upper).expect("merge");
    let big = |value: &Option<Value>| match value.as_ref().and_then(|v| v.get("big")).map(|v| v.kind.clone()) {
        Some(Kind::Map(map)) => map,
        other => panic!("{other:?}"),
    };
    assert!(Arc::ptr_eq(&big(&lower), &big(&merged)));
    assert_eq!(plain(lower).to_json_line(), r#"{"big":{"a":[1,2]},"other":1}"#);
}

#[test]
fn all_problems_of_a_layer_are_told_together() {
    let problems = run(&["{a: x, b: {c: 1}}", "{a: !delete [x], b: {c: !delete [1]}}"]).expect_err("refused");
    assert_eq!(problems.len(), 2);
}
