use super::*;

fn sequence(pairs: &[(&str, &[&str])]) -> Sequence {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    pairs.iter().map(|(role, before)| ((*role).to_owned(), set(before))).collect()
}

/// `web: a b | web: c` for two waves of a role.
fn dealt(nodes: &[(&str, &str)], sequence: &Sequence, batch: Option<&str>) -> String {
    let batch = batch.map(|text| Share::parse(text).expect("a share"));
    let roll = Roll::new(nodes.iter().copied(), sequence, &BTreeMap::new(), batch, None);
    let part = |part: &Part| format!("{}: {}", part.role, part.nodes.join(" "));
    let wave = |wave: &Wave| wave.parts.iter().map(part).collect::<Vec<_>>().join(", ");
    roll.waves.iter().map(wave).collect::<Vec<_>>().join(" | ")
}

#[test]
fn a_share_is_a_number_or_a_percentage_and_nothing_else() {
    for (text, want) in [("1", Share::Nodes(1)), ("0", Share::Nodes(0)), ("100%", Share::Percent(100))] {
        assert_eq!(Share::parse(text), Some(want), "{text}");
    }
    for text in ["", "%", "-1", "+1", "101%", "-5%", "1.5", "3 ", "a", "99999999999999999999999"] {
        assert_eq!(Share::parse(text), None, "{text}");
    }
}

#[test]
fn a_batch_is_rounded_up_and_failures_are_rounded_down() {
    let table = [("25%", 10, 3, 2), ("1%", 10, 1, 0), ("100%", 10, 10, 10), ("3", 10, 3, 3), ("30%", 0, 1, 0)];
    for (text, total, batch, failures) in table {
        let share = Share::parse(text).expect("a share");
        assert_eq!((share.of_batch(total), share.of_failures(total)), (batch, failures), "{text} of {total}");
    }
}

#[test]
fn waves_have_so_many_nodes_by_role_and_name() {
    let nodes = [("a", "web"), ("b", "db"), ("c", "web"), ("d", "web"), ("e", "db")];
    let free = Sequence::default();
    assert_eq!(dealt(&nodes, &free, None), "db: b e, web: a c d");
    assert_eq!(dealt(&nodes, &free, Some("3")), "db: b e, web: a | web: c d");
    assert_eq!(dealt(&nodes, &free, Some("1")), "db: b | db: e | web: a | web: c | web: d");
    assert_eq!(dealt(&nodes, &free, Some("9")), "db: b e, web: a c d");
    assert_eq!(dealt(&[], &free, Some("3")), "");
}

#[test]
fn no_role_misses_a_larger_share_than_the_percentage() {
    let nodes = [("a", "web"), ("b", "db"), ("c", "web"), ("d", "web"), ("e", "db"), ("f", "web")];
    let free = Sequence::default();
    assert_eq!(dealt(&nodes, &free, Some("50%")), "db: b, web: a c | db: e, web: d f");
    assert_eq!(dealt(&nodes, &free, Some("34%")), "db: b, web: a c | db: e, web: d f");
    assert_eq!(dealt(&nodes, &free, Some("25%")), "db: b, web: a | db: e, web: c | web: d | web: f");
}

#[test]
fn no_wave_holds_two_roles_of_which_one_comes_after_the_other() {
    let nodes = [("a", "app"), ("b", "web"), ("c", "db"), ("d", "log"), ("e", "db")];
    let order = sequence(&[("app", &["db"]), ("web", &["app", "db"]), ("db", &[]), ("log", &[])]);
    assert_eq!(dealt(&nodes, &order, None), "db: c e, log: d | app: a | web: b");
    assert_eq!(dealt(&nodes, &order, Some("2")), "db: c e | log: d | app: a | web: b");
    // A role that nobody selected is no reason to mix those around it.
    assert_eq!(dealt(&[("b", "web"), ("c", "db")], &order, Some("9")), "db: c | web: b");
}

#[test]
fn one_failure_stops_batches_and_none_stops_a_run_without_them() {
    let most = |batch: Option<&str>, most: Option<&str>| {
        let share = |text: Option<&str>| text.map(|text| Share::parse(text).expect("a share"));
        let nodes = ["a", "b", "c", "d", "e"].map(|node| (node, "web"));
        Roll::new(nodes, &Sequence::default(), &BTreeMap::new(), share(batch), share(most)).most_failures
    };
    assert_eq!(most(None, None), None);
    assert_eq!(most(Some("2"), None), Some(0));
    assert_eq!(most(Some("2"), Some("50%")), Some(2));
    assert_eq!(most(None, Some("1")), Some(1));
}
