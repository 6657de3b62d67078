use crate::nest::{COMMON, Key, nest, seal};
use crate::room::Room;

fn workspace(anna: &Key, ben: &Key) -> [(&'static str, String); 5] {
    [
        (
            "data/common.yaml",
            format!("{COMMON}recipients:\n- {{name: anna, key: {}}}\n- {}\n", anna.recipient, ben.recipient),
        ),
        (
            "data/roles/r.yaml",
            format!("modules: [app, web]\nweb: {{k: !ENC[{}]}}\n", seal("hidden word", &[anna, ben])),
        ),
        ("data/nodes/n1.yaml", format!("role: r\napp:\n  pin: !ENC[{}]\n", seal("hidden word", &[anna]))),
        (
            "data/nodes/n2.yaml",
            format!(
                "role: r\napp:\n  pin:\n  - !ENC[{}]\nweb:\n  k: !replace \"!ENC[{}]\"\n",
                seal("hidden word", &[ben]),
                seal("hidden word", &[anna, ben])
            ),
        ),
        ("modules/app/requires.yaml", String::new()),
    ]
}

fn room(anna: &Key, ben: &Key) -> Room {
    let room = nest(&workspace(anna, ben), anna);
    room.write("modules/web/requires.yaml", "");
    room
}

#[test]
fn the_list_says_where_for_how_many_and_which_key_of_yours_opens_it() {
    let (anna, ben) = (Key::new(), Key::new());
    let room = room(&anna, &ben);
    let want = "SECRET     WHERE                    FOR  OPENED BY
app.pin    data/nodes/n1.yaml:3:8   1 *  anna
app.pin.0  data/nodes/n2.yaml:4:5   1 *  none of your keys
web.k      data/nodes/n2.yaml:6:15  2    anna
web.k      data/roles/r.yaml:2:10   2    anna
4 secrets
* 2 secrets are not for the 2 present recipients: `suil rekey` is due
";
    room.run(&["secrets"]).is(0, want, "");
    room.run(&["secrets", "list"]).is(0, want, "");
    let want = "SECRET   WHERE                   FOR  OPENED BY  NODES
app.pin  data/nodes/n1.yaml:3:8  1 *  anna       n1
web.k    data/roles/r.yaml:2:10  2    anna       n1
2 secrets
* 1 secret is not for the 2 present recipients: `suil rekey` is due
";
    room.run(&["secrets", "--node", "n1", "--nodes"]).is(0, want, "");
    let said = room.run(&["secrets", "--module", "web", "--nodes"]);
    assert!(said.stdout.contains("web.k   data/nodes/n2.yaml:6:15  2    anna       n2\n"), "{}", said.stdout);
    assert!(!said.stdout.contains("app.pin"), "{}", said.stdout);
    let room = room.set("SUIL_AGE_KEY", &ben.identity);
    let said = room.run(&["secrets", "list", "--node", "n2"]);
    assert!(said.stdout.contains(&format!("1 *  age1{}…\n", &ben.recipient[4..12])), "{}", said.stdout);
}

#[test]
fn without_a_key_the_list_works_and_says_so() {
    let (anna, ben) = (Key::new(), Key::new());
    let room = room(&anna, &ben).set("SUIL_AGE_KEY", "");
    let said = room.run(&["secrets", "list"]);
    assert!(said.status == 0 && said.stdout.contains("1 *  no key is set\n"), "{said:?}");
    let said = room.run(&["secrets", "--output", "json"]);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(value["keys"], serde_json::Value::Null);
    assert_eq!(value["secrets"][0]["opened_by"], serde_json::Value::Null);
    let room = nest(&[("data/common.yaml", COMMON.to_owned())], &anna);
    room.run(&["secrets"]).is(0, "0 secrets\n", "");
}

#[test]
fn the_json_of_the_list_has_this_shape() {
    let (anna, ben) = (Key::new(), Key::new());
    let room = room(&anna, &ben);
    let said = room.run(&["secrets", "list", "--node", "n1", "--nodes", "--output", "json"]);
    assert!(!said.stdout.contains("hidden") && !said.stdout.contains("sha256"), "{}", said.stdout);
    let value: serde_json::Value = serde_json::from_str(&said.stdout).expect("JSON");
    let person = |key: &Key, name| serde_json::json!({"key": key.recipient, "name": name});
    let secret = |key, file, line, column, recipients, due| {
        serde_json::json!({
            "key": key, "file": file, "line": line, "column": column, "recipients": recipients,
            "opened_by": [person(&anna, Some("anna"))], "rekey_due": due, "nodes": ["n1"],
        })
    };
    let want = serde_json::json!({
        "version": 1,
        "recipients": [person(&anna, Some("anna")), person(&ben, None)],
        "keys": [person(&anna, Some("anna"))],
        "secrets": [
            secret("app.pin", "data/nodes/n1.yaml", 3, 8, 1, true),
            secret("web.k", "data/roles/r.yaml", 2, 10, 2, false),
        ],
        "problems": [],
    });
    assert_eq!(value, want);
}

#[test]
fn a_recipient_may_have_a_name_and_nothing_else() {
    let anna = Key::new();
    let key = &anna.recipient;
    let said = |list: &str| {
        let room = nest(&[("data/common.yaml", format!("recipients: {list}\n{COMMON}"))], &anna);
        room.run(&["encrypt", "x"])
    };
    assert_eq!(said(&format!("{{name: anna, key: {key}}}")).status, 0);
    for (list, want) in [
        (format!("[{{name: anna, kee: {key}}}]"), "a recipient has an unknown key `kee`"),
        ("[{name: anna}]".to_owned(), "a recipient has no `key`"),
        (format!("[{{name: [a], key: {key}}}]"), "the `name` of a recipient is a list"),
        (format!("[{{key: \"{key},{key}\"}}]"), "the `key` of a recipient holds several"),
        (format!("[{key}, {{name: anna, key: {key}}}]"), "a recipient is listed twice"),
        ("[{key: age1nothing}]".to_owned(), "`data/common.yaml` holds something that is no age recipient"),
    ] {
        let left = said(&list);
        assert_eq!((left.status, left.stdout.as_str()), (1, ""), "{list}");
        assert!(left.stderr.starts_with(&format!("suil: {want}\n --> data/common.yaml:1:")), "{}", left.stderr);
    }
    // What should be a public key and is a secret one is not repeated.
    let left = said(&format!("[{{key: {}}}]", anna.identity));
    assert!(
        left.status == 1
            && left.stderr.contains(" --> data/common.yaml:1:")
            && !left.stderr.contains(&anna.identity[..30]),
        "{}",
        left.stderr
    );
}
