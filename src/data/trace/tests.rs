use super::*;
use crate::base::Plain;
use crate::data::load;
use std::path::Path;

/// Each step as `layer line:column strategy value`.
fn steps(layers: &[&str], path: &str) -> Vec<String> {
    let layers: Vec<Tagged> = layers
        .iter()
        .enumerate()
        .map(|(n, text)| load(Path::new(&format!("{n}.yaml")), text.as_bytes()).expect(text).expect("a layer"))
        .collect();
    let path: Vec<&str> = path.split('.').collect();
    let show = |step: &Step| {
        let after = step.after.as_ref().map(|v| v.to_plain(&mut |c, _| Plain::Str(c.marker())).to_json_line());
        let after = after.unwrap_or_else(|| "gone".to_owned());
        format!("{} {}:{} {} {after}", step.layer, step.place.line, step.place.column, step.strategy)
    };
    trace(&layers, &path).expect("merges").iter().map(show).collect()
}

#[test]
fn each_layer_that_touched_a_key_is_named_with_its_strategy() {
    let layers = ["{s: {l: [1], k: 1}}", "{other: 1}", "{s: {l: [2]}}", "{s: {k: 2, l: !replace [3]}}"];
    assert_eq!(steps(&layers, "s.l"), ["0 1:6 set [1]", "2 1:6 concatenate [1,2]", "3 1:12 !replace [3]"]);
    assert_eq!(steps(&layers, "s.k"), ["0 1:14 set 1", "3 1:6 replace 2"]);
}

#[test]
fn a_layer_that_speaks_of_what_lies_above_is_named_too() {
    let layers = ["{s: {a: {k: 1}}}", "{s: {a: !delete}}", "{s: {a: {k: 2}}}", "{s: !replace {b: 1}}", "{s: 5}"];
    assert_eq!(steps(&layers, "s.a.k"), ["0 1:10 set 1", "1 1:6 !delete gone", "2 1:10 set 2", "3 1:2 !replace gone"]);
    assert_eq!(
        steps(&["{s: {a: 1, b: 2}}", "{s: !delete [b]}", "{s: no}"], "s.a"),
        ["0 1:6 set 1", "2 1:2 replace gone"]
    );
    assert_eq!(steps(&["{s: {a: 1, b: 2}}", "{s: !delete [b]}"], "s.b"), ["0 1:12 set 2", "1 1:2 !delete gone"]);
}

#[test]
fn a_mapping_is_deep_merged_and_a_number_reaches_into_a_list() {
    let layers = ["{s: {l: [{k: 1}]}}", "{s: {l: [{k: 2}]}}"];
    assert_eq!(
        steps(&layers, "s"),
        ["0 1:2 set {\"l\":[{\"k\":1}]}", "1 1:2 deep merge {\"l\":[{\"k\":1},{\"k\":2}]}"]
    );
    assert_eq!(steps(&layers, "s.l.1.k"), ["1 1:6 set 2"]);
    assert_eq!(steps(&layers, "s.nothing"), Vec::<String>::new());
}

#[test]
fn merge_by_name_shows_in_the_item_that_it_changed() {
    let layers = ["{u: [{name: a, v: 1}]}", "{u: !merge [{name: a, v: 2}]}"];
    assert_eq!(steps(&layers, "u.0.v"), ["0 1:2 set 1", "1 1:2 !merge 2"]);
}
