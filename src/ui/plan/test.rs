use super::*;
use crate::base::Problem;
use crate::resource::{Action, Diff, TextDiff};

fn operation(verb: Verb, title: &str, resource: &str, diff: Diff) -> Operation {
    Operation {
        id: 1,
        module: "web".to_owned(),
        resources: vec![resource.to_owned()],
        verb,
        title: title.to_owned(),
        diff,
        action: Action::default(),
        triggered_by: Vec::new(),
        judged_then: None,
        owed: None,
        guards_access: false,
        undo: None,
        place: None,
    }
}

fn node(name: &str, operations: Vec<Operation>) -> NodePlan {
    NodePlan { node: name.to_owned(), operations, ..NodePlan::default() }
}

fn content(before: &str, after: &str) -> Diff {
    Diff {
        text: Some(TextDiff { before: before.to_owned(), after: after.to_owned(), shared: false }),
        ..Diff::default()
    }
}

fn plain(nodes: Vec<NodePlan>) -> String {
    render_in(content::LINES, &Plan { nodes, ..Plan::default() }, &Mask::new(), Paint::OFF)
}

#[test]
fn a_plan_reads_from_top_to_bottom() {
    let some = |s: &str| Some(s.to_owned());
    let created = content("", "a\nb\n").attribute("mode", None, some("0644")).attribute("owner", None, some("root"));
    let mut changed =
        operation(Verb::Change, "write /etc/nginx.conf", "file /etc/nginx.conf", content("a\nb\nc\n", "a\nB\nc"));
    changed.diff = changed.diff.attribute("mode", some("0600"), some("0644"));
    changed.judged_then = some("nginx -t -c /etc/nginx.conf");
    let mut reload = operation(Verb::Run, "reload nginx", "service nginx", Diff::default());
    reload.triggered_by = vec!["file /etc/nginx.conf".to_owned()];
    reload.owed = some("the process is older than /etc/nginx.conf");
    let removed = operation(
        Verb::Remove,
        "uninstall 2 packages",
        "package telnet",
        Diff::default().attribute("version", some("1.0"), None),
    );
    let both = || {
        vec![
            operation(Verb::Create, "write /etc/motd", "file /etc/motd", created.clone()),
            changed.clone(),
            removed.clone(),
            reload.clone(),
        ]
    };
    let want = "\
web-01, web-02 (2 nodes)
  + write /etc/motd  · web · file
      mode   0644
      owner  root
      +a
      +b
  ~ write /etc/nginx.conf  · web · file
      mode  0600 → 0644
      @@ -1,3 +1,3 @@
       a
      -b
      -c
      +B
      +c
      \\ no line end here
      judged then: nginx -t -c /etc/nginx.conf
  - uninstall 2 packages  · web · package telnet
      version  1.0 → nothing
  ▸ reload nginx  · web · service
      triggered by: file /etc/nginx.conf
      owed: the process is older than /etc/nginx.conf

nothing to do: db-01

plan: 8 operations on 2 nodes (2 create, 2 change, 2 remove, 2 run), nothing to do on 1 node
";
    assert_eq!(plain(vec![node("web-01", both()), node("db-01", vec![]), node("web-02", both())]), want);
}

#[test]
fn fifty_equal_nodes_are_one_group() {
    let nodes = (0..70)
        .map(|n| {
            let diff = content("", "x\n");
            node(&format!("web-{n:02}.example.com"), vec![operation(Verb::Create, "write /x", "file /x", diff)])
        })
        .collect();
    let shown = plain(nodes);
    assert_eq!(shown.matches("write /x").count(), 1);
    assert!(shown.contains("… and 10 more (70 nodes)"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_long_content_is_cut_and_says_how_much_is_hidden() {
    let text: String = (0..300).map(|n| format!("{n}\n")).collect();
    let shown = plain(vec![node("a", vec![operation(Verb::Create, "write /x", "file /x", content("", &text))])]);
    assert!(shown.contains("      +99\n      … 200 more lines; a pipe shows all\n"), "{shown}");
}

#[test]
fn a_secret_shows_as_its_digest_and_a_changed_one_as_two() {
    let mask = Mask::new();
    mask.add("old-secret");
    mask.add("new-secret");
    let mut op = operation(Verb::Change, "write new-secret", "file /x", content("k=old-secret\n", "k=new-secret\n"));
    op.diff = op.diff.attribute("comment", Some("old-secret".to_owned()), None);
    op.judged_then = Some("check new-secret".to_owned());
    let shown = render(&Plan { nodes: vec![node("a", vec![op])], ..Plan::default() }, &mask, Paint::OFF);
    assert!(!shown.contains("old-secret") && !shown.contains("new-secret"), "{shown}");
    assert!(shown.contains("-k=‹secret ") && shown.contains("+k=‹secret "), "{shown}");
}

#[test]
fn a_node_that_could_not_be_planned_is_no_node_with_nothing_to_do() {
    let mut stuck = node("web-03", vec![]);
    stuck.problems.push(Problem::new("node `web-03` is unreachable"));
    assert_eq!(plain(vec![stuck]), "could not be planned: web-03\n\nplan: 1 node could not be planned\n");
}
