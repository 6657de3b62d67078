//! What the guard of the access keeps and brings back, under every shell.

use crate::shells::{Shell, shells};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Runs `text` with the guard in reach; `$R` is the folder of the test.
fn guarded(shell: &Shell, root: &Path, text: &str) -> String {
    let program = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("collector/guard.sh")).expect("code");
    let folder = root.join("private");
    fs::create_dir_all(&folder).expect("a folder");
    let head =
        format!("R='{}' suil_folder='{}' suil_armed=\nsuil_guard() {{ :; }}\n", root.display(), folder.display());
    let output = shell.run(&format!("{head}{program}\n{text}\n"), &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said, "", "{}", shell.name);
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn files_links_and_folders_come_back_as_they_were_before_the_first_change() {
    for shell in shells() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        fs::write(at("it's"), "one\n").expect("a file");
        fs::set_permissions(at("it's"), fs::Permissions::from_mode(0o640)).expect("its mode");
        fs::create_dir(at("folder")).expect("a folder");
        fs::set_permissions(at("folder"), fs::Permissions::from_mode(0o750)).expect("its mode");
        std::os::unix::fs::symlink("it's", at("link")).expect("a link");
        let text = r#"
keep() { suil_keep_path "$R/$1" "\"\$R/$1\""; }
keep "it's" && keep link && keep folder && keep new || exit 1
echo two >"$R/it's"; keep "it's"; echo three >"$R/it's"; chmod 600 "$R/it's"
rm "$R/link"; chmod 777 "$R/folder"; mkdir "$R/new"; touch "$R/new/x"
suil_undo; echo "$?"
suil_settled; ls "$suil_folder""#;
        assert_eq!(guarded(&shell, root.path(), text), "0\n", "{}", shell.name);
        let mode = |name: &str| fs::metadata(at(name)).expect("it").permissions().mode() & 0o777;
        assert_eq!(fs::read_to_string(at("it's")).expect("a file"), "one\n", "{}", shell.name);
        assert_eq!((mode("it's"), mode("folder"), at("new").exists()), (0o640, 0o750, false), "{}", shell.name);
        assert_eq!(fs::read_link(at("link")).expect("a link"), Path::new("it's"), "{}", shell.name);
    }
}

#[test]
fn a_step_that_fails_is_said_and_keeps_none_from_being_done() {
    for shell in shells() {
        let root = tempfile::tempdir().expect("a folder");
        let text = "suil_keep_script 'echo first'\nsuil_keep_script 'exit 3'\nsuil_keep_script 'echo last'\nsuil_undo\necho $?";
        assert_eq!(guarded(&shell, root.path(), text), "last\nfirst\n1\n", "{}", shell.name);
    }
}

#[test]
fn links_addresses_and_routes_come_back_and_new_routes_go() {
    let before = [
        ("links", "1: lo: <UP> mtu 1\n2: eth0@if7: <UP> mtu 2\n"),
        (
            "addresses",
            "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever\n\
             2: eth0    inet 10.0.0.5/16 brd 10.0.255.255 scope global eth0\\       valid_lft forever\n\
             2: eth0    inet6 fe80::1/64 scope link \\       valid_lft forever\n",
        ),
        (
            "routes-4",
            "default via 10.0.0.1 dev eth0 \n10.0.0.0/16 dev eth0 proto kernel scope link src 10.0.0.5 linkdown \n",
        ),
        ("routes-6", "fd00::/64 dev eth0 proto ra expires 9sec\n"),
    ];
    let text = r#"
need() { [ "$1" = ip ]; }
ip() {
    case $* in
        '-o link show up') cat "$R/links" ;;
        '-o addr show') cat "$R/addresses" ;;
        '-o -4 route show') cat "$R/routes-4" ;;
        '-o -6 route show') cat "$R/routes-6" ;;
        *) echo "ip $*" ;;
    esac
}
suil_keep_net
sed -i '/10.0.0.5/d' "$R/addresses"
printf '%s\n' 'blackhole 10.0.0.1 ' >"$R/routes-4"
suil_undo
echo "$?""#;
    let want = "ip link set dev lo up\nip link set dev eth0 up\nip addr replace 10.0.0.5/16 brd 10.0.255.255 dev eth0\n\
                ip -4 route del blackhole 10.0.0.1\nip -4 route replace default via 10.0.0.1 dev eth0\n\
                ip -4 route replace 10.0.0.0/16 dev eth0 proto kernel scope link src 10.0.0.5\n0\n";
    for shell in shells() {
        let root = tempfile::tempdir().expect("a folder");
        for (name, content) in before {
            fs::write(root.path().join(name), content).expect("a file");
        }
        assert_eq!(guarded(&shell, root.path(), text), want, "{}", shell.name);
    }
}

#[test]
fn the_rules_of_the_firewall_are_those_of_before_the_first_operation() {
    let text = r#"
need() { [ "$1" = nft ]; }
rules=one
nft() {
    case $* in
        'list ruleset') echo "table $rules" ;;
        '-f -') sed 's/^/nft: /' ;;
    esac
}
suil_keep_net
rules=two
suil_keep_net
suil_undo
echo "$?""#;
    for shell in shells() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(guarded(&shell, root.path(), text), "nft: flush ruleset\nnft: table one\n0\n", "{}", shell.name);
    }
}
