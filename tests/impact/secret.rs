//! Secrets: nothing of them is shown, with a key or without one.

use crate::room::Room;
use serde_json::json;

const KEY: &str = include_str!("../../data-example/demo-key.txt");
/// Identities that open none of them.
const STRANGER: &str = include_str!("../cases/keys/test-identities.txt");
const RECIPIENT: &str = "age1t2k99x76e30vpcas8he2mc7ezaplyc400ap32l83zjthzwp469fsfyqpv2";

/// A workspace whose role `web` has a secret, and what it may be: `open-sesame` twice, and `simsalabim`.
fn room() -> (Room, impl Fn(&str) -> String) {
    let mut room = Room::new();
    room.variables.push(("SUIL_AGE_RECIPIENT".to_owned(), RECIPIENT.to_owned()));
    let role = |room: &Room, plaintext: &str| {
        let cipher = room.suil(&["encrypt", plaintext]).expect(0).stdout;
        format!("modules: [page]\npage:\n  title: Web\n  token: {cipher}")
    };
    room.write("data/roles/web.yaml", &role(&room, "open-sesame"));
    room.commit("two");
    let again = role(&room, "open-sesame");
    let other = role(&room, "simsalabim");
    (room, move |which| if which == "again" { again.clone() } else { other.clone() })
}

fn with_key(room: &mut Room) {
    room.variables.push(("SUIL_AGE_KEY".to_owned(), KEY.to_owned()));
}

#[track_caller]
fn closed(room: &Room, args: &[&str]) -> String {
    let mut told = String::new();
    for output in ["text", "json", "yaml"] {
        let ran = room.suil(&[&["diff", "HEAD", "--output", output], args].concat()).expect(0);
        for secret in ["open-sesame", "simsalabim"] {
            assert!(!ran.stdout.contains(secret) && !ran.stderr.contains(secret), "{}{}", ran.stdout, ran.stderr);
        }
        told += &ran.stdout;
    }
    told
}

#[test]
fn without_a_key_a_secret_may_have_changed_and_its_resources_are_not_known() {
    let (room, role) = room();
    for which in ["again", "other"] {
        room.write("data/roles/web.yaml", &role(which));
        let told = closed(&room, &[]);
        assert!(told.contains("~ page.token: secret encrypted again, or changed"), "{told}");
        assert!(told.contains("? resources of page are not known: they may hold a secret that no key opens"), "{told}");
        assert_eq!(room.diff(&["HEAD"]).json()["nodes"][0]["values"][0]["change"], "sealed");
    }
}

#[test]
fn with_a_key_only_another_plaintext_is_a_change() {
    let (mut room, role) = room();
    with_key(&mut room);
    room.write("data/roles/web.yaml", &role("again"));
    assert_eq!(room.diff(&["HEAD"]).json()["nodes"], json!([]));
    room.write("data/roles/web.yaml", &role("other"));
    let told = closed(&room, &[]);
    assert_eq!(room.diff(&["HEAD"]).nodes(), ["web-1", "web-2"]);
    assert!(told.contains("-token ‹secret"), "{told}");
    assert!(told.contains("+token ‹secret"), "{told}");
    assert_eq!(told.matches("sha256:").count() % 2, 0, "both digests are shown: {told}");
}

#[test]
fn a_key_that_opens_neither_is_as_good_as_none() {
    let (mut room, role) = room();
    room.variables.push(("SUIL_AGE_KEY".to_owned(), STRANGER.to_owned()));
    room.write("data/roles/web.yaml", &role("other"));
    let told = closed(&room, &[]);
    assert!(told.contains("~ page.token: secret encrypted again, or changed"), "{told}");
    assert!(told.contains("resources of page are not known"), "{told}");
}
