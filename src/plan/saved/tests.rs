use super::*;
use proptest::prelude::*;

fn step(title: &str) -> Step {
    let fields = Plain::from_iter([
        ("module", Plain::from("app")),
        ("resource", Plain::from(format!("file {title}"))),
        ("title", Plain::from(title)),
        ("uploads", Plain::List(Vec::new())),
        ("owed", Plain::Null),
    ]);
    Step { module: "app".into(), resource: format!("file {title}"), title: title.into(), sha256: seal(&fields), fields }
}

fn whole() -> Saved {
    let texts = |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let value = |digest: &str| Value { digest: digest.to_owned(), path: Vec::new() };
    let part = Part {
        name: "app".into(),
        config: [("a.0".to_owned(), value("1")), ("b".to_owned(), value("2"))].into(),
        collected: texts(&[("size", "3")]),
        past: String::new(),
    };
    let node = Node {
        name: "n".into(),
        role: "r".into(),
        system: "debian 12".into(),
        connection: texts(&[("transport", "local")]),
        modules: vec![part],
        facts: texts(&[("file /a", "4"), ("file /b", "5")]),
        operations: vec![step("/a"), step("/b")],
    };
    Saved {
        suil: OWN.to_owned(),
        made: Made { at: "then".into(), by: "anna@desk: suil plan".into() },
        chosen: Chosen { roles: vec!["r".into()], ..Chosen::default() },
        modules: [("app".to_owned(), Code { signature: "s".into(), files: texts(&[("code/main.star", "6")]) })].into(),
        nodes: vec![node],
        left_out: texts(&[("m", "it is away")]),
    }
}

fn words(problems: &[crate::base::Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.what.as_str()).collect()
}

#[test]
fn what_is_written_is_read_again() {
    let mask = Mask::new();
    let text = whole().to_plain(&mask).to_json();
    let (read, sha256) = Saved::read("p", &text).expect("a plan");
    assert_eq!(read.to_plain(&mask).to_json(), text);
    assert_eq!(read.to_plain(&mask).get("sha256").and_then(Plain::as_str), Some(sha256.as_str()));
    assert_eq!(read.operations(), 2);
}

#[test]
fn one_of_two_equal_operations_that_is_gone_is_seen() {
    let mut saved = whole();
    let mut now = saved.nodes.clone();
    for node in [&mut saved.nodes[0], &mut now[0]] {
        node.operations.push(step("/a"));
    }
    assert!(moved::after(&saved, &now, &|_, _, _| None).is_ok());
    now[0].operations.pop();
    let problems = moved::after(&saved, &now, &|_, _, _| None).expect_err("it moved");
    assert_eq!(words(&problems), ["operation 1 of node `n`, `/a`, is not called for any more"]);
}

#[test]
fn only_so_many_inputs_are_named() {
    let saved = whole();
    let mut now = saved.nodes.clone();
    let more = (0..50).map(|n| (format!("c.{n}"), Value::default()));
    now[0].modules[0].config.extend(more);
    now[0].operations.pop();
    let problems = moved::after(&saved, &now, &|_, _, _| None).expect_err("it moved");
    assert_eq!(problems.len(), 31);
    assert_eq!(words(&problems).last(), Some(&"20 more inputs moved since the plan was made"));
}

/// A value of any shape.
fn any_plain() -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        Just(Plain::Null),
        any::<bool>().prop_map(Plain::Bool),
        any::<i64>().prop_map(Plain::Int),
        any::<f64>().prop_map(Plain::Float),
        ".{0,8}".prop_map(Plain::Str),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Plain::List),
            prop::collection::vec(("(node|module|sha256|config|[a-z]{1,3})", inner), 0..4)
                .prop_map(|pairs| pairs.into_iter().collect()),
        ]
    })
}

/// Puts `new` at the `at`th place of the tree, or takes away what stands there.
fn mutate(value: &mut Plain, at: &mut usize, new: Option<&Plain>) {
    if *at == 0 {
        *at = usize::MAX;
        *value = new.cloned().unwrap_or_default();
        return;
    }
    *at = at.saturating_sub(1);
    match value {
        Plain::List(items) => {
            if *at == 0 && new.is_none() {
                items.pop();
            }
            items.iter_mut().for_each(|item| mutate(item, at, new));
        }
        Plain::Map(map) => {
            if *at == 0 && new.is_none() {
                map.pop();
            }
            map.values_mut().for_each(|item| mutate(item, at, new));
        }
        _ => {}
    }
}

proptest! {
    /// Whoever changes a plan by hand is told so, whatever was changed.
    #[test]
    fn no_change_by_hand_is_taken(at in 0usize..90, new in prop::option::of(any_plain())) {
        let before = whole().to_plain(&Mask::new());
        let mut after = before.clone();
        mutate(&mut after, &mut at.clone(), new.as_ref());
        let taken = Saved::read("p", &after.to_json()).is_ok();
        prop_assert_eq!(taken, sorted(&after) == sorted(&before));
    }

    /// A forger who seals what was changed gets no further than the comparison.
    #[test]
    fn no_forged_plan_ends_in_a_panic(at in 0usize..90, new in prop::option::of(any_plain())) {
        let mut forged = whole().to_plain(&Mask::new());
        mutate(&mut forged, &mut at.clone(), new.as_ref());
        if let Plain::Map(map) = &mut forged {
            map.shift_remove("sha256");
        }
        let digest = seal(&forged);
        if matches!(forged, Plain::Map(_)) {
            forged.set("sha256", digest);
        }
        if let Ok((read, _)) = Saved::read("p", &forged.to_json()) {
            let now = whole();
            let places = |_: &str, _: &str, _: &[String]| None;
            let _ = moved::before(&read, &now.nodes, &now.modules, &places);
            let same = moved::after(&read, &now.nodes, &places).is_ok();
            let digests = |saved: &Saved| -> Vec<Vec<String>> {
                let of = |node: &Node| node.operations.iter().map(|step| step.sha256.clone()).collect();
                saved.nodes.iter().filter(|node| node.name == "n").map(of).collect()
            };
            if same && !digests(&read).is_empty() {
                prop_assert_eq!(digests(&read), digests(&now));
            }
        }
    }

    #[test]
    fn no_text_ends_in_a_panic(cut in 0usize..3000, flips in prop::collection::vec((0usize..3000, any::<u8>()), 0..4)) {
        let mut bytes = whole().to_plain(&Mask::new()).to_json().into_bytes();
        for (at, byte) in flips {
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        bytes.truncate(cut);
        let _ = Saved::read("p", &String::from_utf8_lossy(&bytes));
    }
}
