use crate::lists::reef;

#[test]
fn every_layer_that_touched_a_key_is_named() {
    let want = "\
surf.port on kelp-02: 8080
  data/roles/reef.yaml:2:8     set: 80
  data/nodes/kelp-02.yaml:2:8  !replace: 8080
";
    reef().run(&["explain", "kelp-02", "surf.port"]).is(0, want, "");
}

#[test]
fn a_program_gets_places_as_numbers() {
    let left = reef().run(&["explain", "kelp-01", "surf.hosts", "--output", "json"]);
    assert_eq!(left.status, 0);
    let compact: String = left.stdout.split_whitespace().collect();
    assert!(
        compact.contains(r#""value":["a","b"],"layers":[{"file":"data/roles/reef.yaml","line":2,"column":"#),
        "{left:?}"
    );
}

#[test]
fn an_unknown_node_gets_a_guess() {
    let left = reef().run(&["explain", "kelp-1", "surf"]);
    assert_ne!(left.status, 0);
    assert!(left.stderr.starts_with("suil: ") && left.stderr.contains("did you mean `kelp-01`?"), "{left:?}");
}
