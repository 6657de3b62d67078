//! States made by hand: what Terraform writes, and what it never would.

use super::*;
use proptest::prelude::*;

/// Modules, `count`, `for_each`, a data source, an object that waits for its destruction, a provider inside a module,
/// a number that no machine word holds, and keys that suil does not know.
pub const KILN: &str = r#"{
  "version": 4,
  "terraform_version": "1.11.4",
  "serial": 7,
  "lineage": "11111111-2222-3333-4444-555555555555",
  "outputs": {"door": {"value": "s3cr3t", "type": "string", "sensitive": true}},
  "resources": [
    {"mode": "data", "type": "clay", "name": "pit", "provider": "provider[\"example.com/a/clay\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "1"}, "sensitive_attributes": []}]},
    {"mode": "managed", "type": "clay", "name": "pot", "provider": "provider[\"example.com/a/clay\"]", "future": {"x": [1]},
     "instances": [
      {"index_key": 0, "schema_version": 3, "attributes": {"id": "p0", "depth": 123456789012345678901234567890},
       "sensitive_attributes": [[{"type": "get_attr", "value": "glaze"}]], "private": "YWJj",
       "dependencies": ["clay.wheel", "data.clay.pit"]},
      {"index_key": 1, "status": "tainted", "schema_version": 3, "attributes": {"id": "p1"}, "sensitive_attributes": []},
      {"index_key": 1, "deposed": "0badcafe", "schema_version": 3, "attributes": {"id": "old"}, "sensitive_attributes": []}]},
    {"module": "module.shop[\"e.u\"]", "mode": "managed", "type": "clay", "name": "pot",
     "provider": "module.shop.provider[\"example.com/a/clay\"].east",
     "instances": [{"index_key": "y\"q", "schema_version": 3, "attributes": {"id": "s"}, "sensitive_attributes": []}]},
    {"module": "module.shop[\"e.u\"].module.shelf", "mode": "managed", "type": "board", "name": "b",
     "provider": "provider[\"example.com/a/wood\"]",
     "instances": [{"schema_version": 0, "attributes": {"id": "b"}, "sensitive_attributes": []}]}
  ],
  "check_results": null
}"#;

const HARBOR: &str = r#"{"version": 4, "serial": 2, "lineage": "99999999-0000-0000-0000-000000000000", "outputs": {},
  "resources": [{"mode": "managed", "type": "clay", "name": "pot", "provider": "provider[\"example.com/a/clay\"]",
    "future": {"x": [1]}, "instances": [{"index_key": 5, "schema_version": 3, "attributes": {"id": "h5"}, "sensitive_attributes": []}]}]}"#;

pub fn read(text: &str) -> State {
    State::parse(text.as_bytes(), "kiln").unwrap_or_else(|e| panic!("{e:?}")).expect("a state")
}

fn at(text: &str) -> Address {
    Address::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn names(state: &State) -> Vec<String> {
    state.addresses().iter().map(Address::to_string).collect()
}

/// Moves within hand-made states.
fn moved(picks: &[&str], to: Option<&str>) -> Result<Moved> {
    let picks: Vec<Address> = picks.iter().map(|pick| at(pick)).collect();
    transfer(&read(KILN), &read(HARBOR), &picks, to.map(at).as_ref())
}

#[track_caller]
fn refused(picks: &[&str], to: Option<&str>, what: &str) {
    let problems = moved(picks, to).expect_err("a problem");
    assert!(problems.iter().any(|problem| problem.what == what), "{problems:?}");
}

#[test]
fn a_state_is_listed_as_terraform_lists_it() {
    let state = read(KILN);
    let want = [
        "data.clay.pit",
        "clay.pot[0]",
        "clay.pot[1]",
        r#"module.shop["e.u"].clay.pot["y\"q"]"#,
        r#"module.shop["e.u"].module.shelf.board.b"#,
    ];
    assert_eq!(names(&state), want);
    let pots: Vec<(Option<String>, bool)> =
        state.items()[2..4].iter().map(|i| (i.deposed.clone(), i.tainted)).collect();
    assert_eq!(pots, [(None, true), (Some("0badcafe".to_owned()), false)]);
    assert_eq!((state.serial(), state.lineage().len(), state.terraform()), (7, 36, "1.11.4"));
}

#[test]
fn what_suil_does_not_know_comes_back_as_it_was() {
    let state = read(KILN);
    assert_eq!(state.to_json(), Json::parse(KILN).expect("JSON"));
    assert_eq!(read(&state.text()), state);
    let order = |json: &Json| json.as_map().map(|map| map.keys().cloned().collect::<Vec<_>>());
    assert_eq!(order(&state.to_json()), order(&Json::parse(KILN).expect("JSON")));
}

#[test]
fn a_resource_moves_with_all_it_has_and_joins_what_is_there() {
    let Moved { source, target, pairs } = moved(&["clay.pot"], None).expect("moved");
    assert_eq!(pairs.len(), 2);
    assert_eq!(names(&source)[..1], ["data.clay.pit"]);
    assert!(!names(&source).contains(&"clay.pot[0]".to_owned()));
    assert_eq!(names(&target), ["clay.pot[0]", "clay.pot[1]", "clay.pot[5]"]);
    let pot = target.objects().filter(|(address, _)| *address == at("clay.pot[0]")).map(|(_, object)| object.line());
    let want = r#"{"index_key":0,"schema_version":3,"attributes":{"id":"p0","depth":123456789012345678901234567890},"sensitive_attributes":[[{"type":"get_attr","value":"glaze"}]],"private":"YWJj","dependencies":["clay.wheel","data.clay.pit"]}"#;
    assert_eq!(pot.collect::<Vec<_>>(), [want]);
    assert_eq!(target.items().iter().filter(|item| item.deposed.is_some()).count(), 1, "what waits goes along");
    assert_eq!((target.lineage(), target.serial()), (read(HARBOR).lineage(), 2));
    assert_eq!(source.to_json().get("outputs"), read(KILN).to_json().get("outputs"));
}

#[test]
fn an_instance_moves_alone_and_may_get_another_key() {
    let Moved { source, target, pairs } = moved(&["clay.pot[1]"], Some(r#"module.m.clay.jug["a"]"#)).expect("moved");
    assert_eq!(pairs, [(at("clay.pot[1]"), at(r#"module.m.clay.jug["a"]"#))]);
    assert!(names(&source).contains(&"clay.pot[0]".to_owned()));
    let json = target.to_json();
    let groups = json.get("resources").and_then(Json::as_list).expect("resources");
    let group = groups.last().expect("one").line();
    let head = r#"{"module":"module.m","mode":"managed","type":"clay","name":"jug","provider":"provider[\"example.com/a/clay\"]","future":{"x":[1]},"instances":[{"index_key":"a","status":"tainted","#;
    assert!(group.starts_with(head), "{group}");
    let single = moved(&["clay.pot[0]"], Some("clay.jug")).expect("moved").target;
    assert!(names(&single).contains(&"clay.jug".to_owned()), "{:?}", names(&single));
}

#[test]
fn a_module_moves_whole_with_its_keys_and_its_providers() {
    let Moved { source, target, .. } = moved(&["module.shop"], None).expect("moved");
    assert_eq!(names(&source), ["data.clay.pit", "clay.pot[0]", "clay.pot[1]"]);
    let all = ["clay.pot[5]", r#"module.shop["e.u"].clay.pot["y\"q"]"#, r#"module.shop["e.u"].module.shelf.board.b"#];
    assert_eq!(names(&target), all);
    let provider = |state: &State| state.items().into_iter().map(|item| item.provider).collect::<Vec<_>>();
    assert!(provider(&target).contains(&r#"module.shop.provider["example.com/a/clay"].east"#.to_owned()));
    let target = moved(&["module.shop"], Some("module.a.module.z")).expect("moved").target;
    assert!(names(&target).contains(&r#"module.a.module.z["e.u"].module.shelf.board.b"#.to_owned()));
    let target = moved(&[r#"module.shop["e.u"]"#], Some("module.z")).expect("moved").target;
    assert!(names(&target).contains(&"module.z.module.shelf.board.b".to_owned()));
    let target = moved(&["module.shop"], Some("module.z[0]")).expect("moved").target;
    assert!(names(&target).contains(&"module.z[0].module.shelf.board.b".to_owned()));
}

#[test]
fn what_cannot_be_moved_is_refused_and_all_of_it_is_told() {
    refused(&["clay.pots"], None, "`clay.pots` is not in the state");
    refused(&["clay.pot[0]"], Some("clay.pot[5]"), "`clay.pot[5]` is in the state of the target already");
    refused(&["clay.pot"], Some("clay.jug[0]"), "`clay.pot` cannot become `clay.jug[0]`: it has several instances");
    refused(&["clay.pot"], Some("jar.pot"), "`clay.pot` cannot become `jar.pot`: that is a resource of another type");
    refused(
        &["module.shop"],
        Some("clay.x"),
        "`module.shop` cannot become `clay.x`: the first is a module, the second a resource",
    );
    refused(
        &["clay.pot"],
        Some("module.x"),
        "`clay.pot` cannot become `module.x`: the first is a resource, the second a module",
    );
    let shelf = r#"module.shop["e.u"].clay.pot["y\"q"]"#;
    refused(
        &[shelf],
        Some("clay.pot[9]"),
        "`clay.pot[9]` belongs to another provider than the instances that the target has of it",
    );
    assert_eq!(moved(&["clay.a", "clay.b"], None).expect_err("problems").len(), 2);
    let help = moved(&["clay.pot[2]"], None).expect_err("a problem")[0].help.clone();
    assert!(help.is_some_and(|help| help.starts_with("did you mean `clay.pot[")));
}

#[test]
fn a_digest_tells_what_is_held_and_not_who_wrote_it() {
    let state = read(KILN);
    let mut other = state.clone();
    other.follow(100);
    other.groups.reverse();
    for group in &mut other.groups {
        group.instances.reverse();
        for instance in &mut group.instances {
            instance.object.sort_keys();
            if let Some(Json::List(items)) = instance.object.get_mut("dependencies") {
                items.reverse();
            }
        }
    }
    assert_eq!(state.digest(), other.digest());
    assert!(!state.is_same(&other));
    let text = KILN.replace("p0", "p9");
    assert_ne!(read(&text).digest(), state.digest());
    assert_ne!(read(&KILN.replace("s3cr3t", "other")).digest(), state.digest());
    assert_ne!(read(&KILN.replace("11111111", "21111111")).digest(), state.digest());
    assert_ne!(read(&KILN.replace("567890}", "567891}")).digest(), state.digest());
}

#[test]
fn what_is_no_state_is_refused_without_a_word_of_it() {
    for (text, why) in [
        ("[]", "it is no object"),
        ("{\"version\": 3}", "its format is 3"),
        ("{}", "it has no `version`"),
        (r#"{"version": 4, "serial": -1}"#, "its `serial` is no whole number"),
        (r#"{"version": 4, "serial": 1, "lineage": ""}"#, "it has no `lineage`"),
        (r#"{"version": 4, "serial": 1, "lineage": "l", "resources": {}}"#, "its `resources` are no list"),
        (
            r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [{"mode": "magic"}]}"#,
            "resource 1: its `mode` is not known",
        ),
        (
            r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [{"mode": "data", "type": "x"}]}"#,
            "resource 1: it has no `name`",
        ),
        (
            r#"{"version": 4, "serial": 1, "lineage": "l", "resources": [{"mode": "data", "type": "x", "name": "y", "instances": [{"index_key": 1.5}]}]}"#,
            "resource 1: an `index_key` is neither text nor a whole number",
        ),
        ("{\"s3cr3t\": s3cr3t}", "line 1 column 12: expected a value"),
    ] {
        let problem = State::parse(text.as_bytes(), "kiln").expect_err("a problem");
        assert_eq!(problem.what, format!("the state of `kiln` cannot be read: {why}"));
    }
    assert!(State::parse(b"\xff", "kiln").is_err());
    assert_eq!(State::parse(b" \n", "kiln"), Ok(None));
}

#[test]
fn an_object_that_stands_twice_is_found() {
    assert_eq!(read(KILN).twice(), None, "an object that waits for its destruction is another one");
    let twice = read(&KILN.replace("\"index_key\": 0", "\"index_key\": 1"));
    assert_eq!(twice.twice(), Some(at("clay.pot[1]")));
}

#[test]
fn an_empty_state_holds_nothing_and_takes_what_comes() {
    let empty = State::empty("l", "1.11.4");
    assert!(empty.is_empty() && !read(KILN).is_empty());
    assert_eq!(read(&empty.text()), empty);
    let moved = transfer(&read(KILN), &empty, &[at("clay.pot")], None).expect("moved");
    assert_eq!(names(&moved.target), ["clay.pot[0]", "clay.pot[1]"]);
}

proptest! {
    /// Whatever is moved: nothing is lost, nothing is made, and the way back leads home.
    #[test]
    fn a_move_and_its_way_back_change_nothing(picks in proptest::sample::subsequence(
        vec!["data.clay.pit", "clay.pot", "clay.pot[0]", "clay.pot[1]", "module.shop", "module.shop[\"e.u\"].module.shelf"], 1..6)
    ) {
        let source = read(KILN);
        let target = read(HARBOR);
        let picks: Vec<Address> = picks.into_iter().map(at).collect();
        let there = transfer(&source, &target, &picks, None).expect("moved");
        let count = |a: &State, b: &State| a.items().len() + b.items().len();
        prop_assert_eq!(count(&there.source, &there.target), count(&source, &target));
        for (from, to) in &there.pairs {
            prop_assert!(!there.source.addresses().contains(from) && there.target.addresses().contains(to));
        }
        let picks: Vec<Address> = there.pairs.iter().map(|(_, to)| to.clone()).collect();
        let back = transfer(&there.target, &there.source, &picks, None).expect("moved back");
        prop_assert_eq!(back.target.digest(), source.digest());
        prop_assert_eq!(back.source.digest(), target.digest());
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), at in 0_usize..2000, c in any::<char>()) {
        let _ = State::parse(&bytes, "kiln");
        let mut text: Vec<char> = KILN.chars().collect();
        if let Some(spot) = text.get_mut(at) {
            *spot = c;
        }
        let text: String = text.into_iter().collect();
        if let Ok(Some(state)) = State::parse(text.as_bytes(), "kiln") {
            let all = state.addresses();
            let _ = transfer(&state, &read(HARBOR), &all, None);
            let _ = (state.digest(), state.twice());
        }
    }
}
