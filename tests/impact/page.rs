//! The whole output for people.

use crate::room::Room;

#[test]
fn the_page_fits_eighty_columns_and_says_everything_once() {
    let room = Room::new();
    room.write("data/roles/web.yaml", "modules: [page]\npage:\n  title: Site\n  lines: [one, three]\n");
    room.write("data/nodes/db-1.yaml", "role: web\n");
    room.write("data/nodes/db-2.yaml", "role: db\npage:\n  title: Standby\n  lines:\n    - a line that is much too long to stand beside its key on a screen of eighty columns\n");
    room.write("data/nodes/web-3.yaml", "role: web\n");
    for number in 10..40 {
        room.write(&format!("data/nodes/web-{number}.example.com.yaml"), "role: db\n");
    }
    room.commit("two");
    room.remove("data/nodes/web-3.yaml");
    room.write("data/roles/db.yaml", "modules: [page]\npage:\n  title: Store\n");
    room.write("data/nodes/db-1.yaml", "role: db\n");
    let ran = room.suil(&["diff", "HEAD"]).expect(0);
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/impact/page.txt");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(golden, &ran.stdout).expect("the golden page");
    }
    assert_eq!(ran.stdout, std::fs::read_to_string(golden).expect("the golden page"));
    for line in ran.stdout.lines().filter(|line| !line.starts_with("      ")) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}
