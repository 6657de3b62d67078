//! Each way in which a run could shut suil out of a node: it is taken back, by the node itself where the link is cut.

use crate::fleet::{Ran, Workspace, change, dir, install, on};
use std::time::{Duration, Instant};

const NODE: &str = "debian3";

/// Applies `resources` on the node, which would shut suil out; sees that it fails, and that what `state` prints on the
/// node is the same as before. Returns how long it took.
fn taken_back(resources: &str, state: &str) -> (Ran, Duration) {
    let workspace = Workspace::new(&[NODE]);
    workspace.role("modules: [shut]\n");
    workspace.module("shut", "Config = schema()\n", &format!("def resources(config):\n    return [{resources}]\n"));
    let before = on(NODE, state);
    let begun = Instant::now();
    let ran = workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(1);
    let took = begun.elapsed();
    assert_eq!(workspace.outcome(NODE), "failed", "{}", ran.stderr);
    for words in ["shut suil out", "was taken back"] {
        assert!(ran.stderr.contains(words), "{words} in\n{}", ran.stderr);
    }
    assert_eq!(on(NODE, state), before, "{}", ran.stderr);
    workspace.suil(&["facts", "--node", NODE]).expect(0);
    assert_eq!(on(NODE, "ls -d /run/suil* 2>/dev/null; pgrep -f kept-ne[t]; true"), "", "{}", ran.stderr);
    (ran, took)
}

/// The node did it, not suil over the channel.
fn by_the_node(ran: &Ran) {
    assert!(ran.stderr.contains("was taken back, by the node itself"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs the fleet"]
fn a_rule_of_sudo_that_refuses_the_login_user() {
    let (ran, _) = taken_back(
        r#"sudoer("zz-shut", rule = "deploy ALL=(ALL:ALL) !ALL")"#,
        "ls /etc/sudoers.d; cat /etc/sudoers.d/* | sha256sum",
    );
    assert!(ran.stderr.contains("operation 1 of 1"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs the fleet"]
fn the_last_key_of_the_login_user() {
    let key = std::fs::read_to_string(dir().join("key.pub")).expect("the fleet's key");
    taken_back(
        &format!(r#"authorized_key("deploy", key = "{}", ensure = "absent")"#, key.trim()),
        "ls -lnd ~deploy ~deploy/.ssh | cut -d' ' -f1,3,4; stat -c '%u %g %a' ~deploy/.ssh/*; sha256sum ~deploy/.ssh/authorized_keys",
    );
}

#[test]
#[ignore = "needs the fleet"]
fn a_home_that_others_may_write_in() {
    taken_back(r#"directory("/home/deploy", mode = "0777")"#, "stat -c '%u %g %a' /home/deploy");
}

#[test]
#[ignore = "needs the fleet"]
fn a_shell_of_the_login_user_that_lets_nobody_in() {
    taken_back(
        r#"user("deploy", shell = "/bin/false")"#,
        "getent passwd deploy; stat -c '%u %g %a' /etc/passwd /etc/shadow",
    );
}

#[test]
#[ignore = "needs the fleet"]
fn a_login_user_who_has_expired() {
    taken_back(
        r#"command("expire", run = "usermod -e 1 deploy", unless = "false", guards_access = True)"#,
        "getent shadow deploy; stat -c '%u %g %a' /etc/shadow",
    );
}

#[test]
#[ignore = "needs the fleet"]
fn an_sshd_that_is_stopped() {
    taken_back(
        r#"service("ssh", running = False, enabled = False)"#,
        "systemctl is-active ssh; systemctl is-enabled ssh",
    );
}

#[test]
#[ignore = "needs the fleet"]
fn a_file_that_closes_the_node_to_everybody_but_root() {
    taken_back(r#"file("/etc/nologin", content = "closed\n")"#, "ls /etc/nologin 2>&1; true");
}

const RULES: &str =
    "nft list ruleset; systemctl is-enabled nftables; systemctl is-active nftables; sha256sum /etc/nftables.conf";

fn firewall(input: &str) -> String {
    format!(
        r##"file("/etc/nftables.conf", content = "#!/usr/sbin/nft -f\nflush ruleset\ntable inet shut {{\n chain input {{\n  type filter hook input priority 0;\n  {input}\n }}\n}}\n", validate = "nft -c -f %s", mode = "0755"),
           service("nftables", enabled = True, running = True, restart_on = ["file /etc/nftables.conf"])"##
    )
}

#[test]
#[ignore = "needs the fleet"]
fn a_firewall_that_drops_the_link_without_a_word_is_taken_back_by_the_node_itself() {
    install(NODE, "nftables");
    let _back = change(NODE, "nft add table inet mine", "nft flush ruleset; systemctl disable -q --now nftables");
    let (ran, took) = taken_back(&firewall("drop"), RULES);
    by_the_node(&ran);
    // Without the guard it would be 100 seconds until the node ends a session that it hears nothing from.
    assert!(took < Duration::from_secs(100), "{took:?}");
    assert!(on(NODE, "nft list ruleset").contains("table inet mine"));
}

#[test]
#[ignore = "needs the fleet"]
fn a_firewall_that_keeps_the_link_and_refuses_the_next_one() {
    install(NODE, "nftables");
    let _back = change(NODE, "nft flush ruleset", "nft flush ruleset; systemctl disable -q --now nftables");
    let (ran, _) = taken_back(&firewall("ct state established accept; tcp dport 22 drop"), RULES);
    assert!(!ran.stderr.contains("by the node itself"), "{}", ran.stderr);
}

#[test]
#[ignore = "needs the fleet"]
fn an_address_that_is_gone_with_its_routes() {
    let (ran, _) = taken_back(
        r#"command("move", run = "ip addr flush dev eth0 scope global; ip addr add 10.99.99.9/24 dev eth0", unless = "false", guards_access = True)"#,
        "ip -o -4 addr show | grep -v 10.99.99.9; ip route | grep -v 10.99.99",
    );
    by_the_node(&ran);
    on(NODE, "ip addr del 10.99.99.9/24 dev eth0 2>/dev/null; true");
}

#[test]
#[ignore = "needs the fleet"]
fn a_route_that_leads_nowhere() {
    let gateway = on(NODE, "ip route | sed -n 's/^default via \\([^ ]*\\).*/\\1/p'");
    let (ran, _) = taken_back(
        &format!(
            r#"command("away", run = "ip route replace blackhole {}/32", unless = "false", guards_access = True)"#,
            gateway.trim()
        ),
        "ip route",
    );
    by_the_node(&ran);
}

#[test]
#[ignore = "needs the fleet"]
fn a_link_that_is_taken_down() {
    let (ran, _) = taken_back(
        r#"command("down", run = "ip link set eth0 down", unless = "false", guards_access = True)"#,
        "ip route; ip -o link show up | cut -d: -f2",
    );
    by_the_node(&ran);
}

/// What suil cannot know is taken back by what the resource says.
#[test]
#[ignore = "needs the fleet"]
fn a_command_says_how_it_is_taken_back() {
    let _back = change(NODE, "touch /run/own-gate", "rm -f /run/own-gate");
    let shut =
        "rm /run/own-gate; mkdir -p /run/systemd/system/ssh.service.d; chmod 0 /usr/sbin/sshd; systemctl restart ssh";
    taken_back(
        &format!(
            r#"command("own", run = "{shut}", unless = "false", guards_access = True, undo = "chmod 0755 /usr/sbin/sshd; systemctl reset-failed ssh; systemctl restart ssh; touch /run/own-gate")"#
        ),
        "ls /run/own-gate; stat -c %a /usr/sbin/sshd; systemctl is-active ssh",
    );
}

/// Where nothing is cut, the guard costs nothing that can be seen, and nothing is left of it.
#[test]
#[ignore = "needs the fleet"]
fn what_does_not_shut_suil_out_stays() {
    let _back = change(
        NODE,
        "rm -f /etc/ssh/sshd_config.d/50-fine.conf",
        "rm -f /etc/ssh/sshd_config.d/50-fine.conf /etc/sudoers.d/fine; systemctl reload ssh",
    );
    let workspace = Workspace::new(&[NODE]);
    workspace.role("modules: [fine]\n");
    workspace.module(
        "fine",
        "Config = schema()\n",
        r#"
def resources(config):
    conf = file("/etc/ssh/sshd_config.d/50-fine.conf", content = "LoginGraceTime 50\n", validate = "sshd -t -f %s")
    return [conf, service("ssh", enabled = True, running = True, reload_on = [conf]), sudoer("fine", rule = "nobody ALL=(root) NOPASSWD: /bin/true")]
"#,
    );
    workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(0);
    assert_eq!(on(NODE, "cat /etc/ssh/sshd_config.d/50-fine.conf"), "LoginGraceTime 50\n");
    assert_eq!(on(NODE, "ls -d /run/suil* 2>/dev/null; true"), "");
    workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(0);
    assert_eq!(workspace.outcome(NODE), "nothing to do");
}

/// The built-in client has no ssh of the system that would notice the cut.
#[test]
#[ignore = "needs the fleet"]
fn a_rule_of_iptables_under_the_built_in_client() {
    install(NODE, "iptables");
    let _back = change(
        NODE,
        "iptables -N OWN; iptables -A OWN -j RETURN",
        "iptables -P INPUT ACCEPT; iptables -F; iptables -X",
    );
    let workspace = Workspace::new(&[NODE]);
    let hosts = dir().join("known_hosts").display().to_string();
    let options = format!("!replace [\"UserKnownHostsFile={hosts}\"]");
    workspace.role(&format!("modules: [shut]\ndeployment:\n  transport: russh\n  ssh_options: {options}\n"));
    let main = r#"
def resources(config):
    return [command("close", run = "iptables -A INPUT -p tcp --dport 22 -j DROP", unless = "false", guards_access = True)]
"#;
    workspace.module("shut", "Config = schema()\n", main);
    let before = on(NODE, "iptables -S");
    let ran = workspace.suil(&["apply", "--node", NODE, "--confirm"]).expect(1);
    by_the_node(&ran);
    assert_eq!(workspace.outcome(NODE), "failed", "{}", ran.stderr);
    assert_eq!(on(NODE, "iptables -S"), before);
}
