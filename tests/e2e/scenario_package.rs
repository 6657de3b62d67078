//! N07, N08: package tools that wait, ask or refuse.

use crate::fleet::{Undo, Workspace, address, change, on};
use std::time::{Duration, Instant};

fn workspace(nodes: &[&str], resources: &str) -> Workspace {
    let workspace = Workspace::new(nodes);
    workspace.role("modules: [tool]\n");
    workspace.module("tool", "Config = schema()\n", &format!("def resources(config):\n    return [{resources}]\n"));
    workspace
}

/// Holds a lock as dpkg and dnf do, for so many seconds. The file is made anew: one of the lower layer of an overlay has
/// another inode than `/proc/locks` shows.
fn hold(node: &str, path: &str, seconds: u32) -> Undo {
    change(
        node,
        &format!(
            "rm -f {path}; systemd-run -q --collect --unit holder perl -e 'open F, \"+>>\", \"{path}\" or die; \
             $$lock = pack(\"s s x4 q q i x4\", 1, 0, 0, 0, 0); fcntl(F, 6, $$lock) or die; sleep {seconds}'; \
             for n in 1 2 3 4 5 6 7 8 9; do sleep 0.2; grep -q POSIX /proc/locks && exit 0; done; exit 1"
        ),
        "systemctl stop holder 2>/dev/null; systemctl reset-failed holder 2>/dev/null; true",
    )
}

const REMOVE: &str = "if command -v dpkg >/dev/null; then dpkg --purge fleet-app fleet-tool fleet-lib >/dev/null 2>&1; else for p in fleet-app fleet-tool fleet-lib; do rpm -e $p >/dev/null 2>&1; done; fi; true";

/// N07, nodes 1, 3 and 4. The holder stays for seconds here, not for 40.
#[test]
#[ignore = "needs the fleet"]
fn a_held_lock_is_waited_for_by_name_and_a_left_over_lock_file_is_none() {
    let workspace = workspace(&["debian1", "debian2", "redhat1"], "package(\"fleet-lib\")");
    for node in ["debian1", "debian2", "redhat1"] {
        on(node, REMOVE);
    }
    let _apt = hold("debian1", "/var/lib/dpkg/lock-frontend", 8);
    on("debian2", "touch /var/lib/dpkg/lock-frontend /var/lib/dpkg/lock");
    let _dnf = hold("redhat1", "/var/lib/rpm/.rpm.lock", 8);
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    let events = workspace.read(".runs/latest/events.jsonl");
    for whose in ["dpkg", "dnf"] {
        assert!(events.contains(&format!("waiting for {whose} lock held by perl (pid ")), "{events}");
    }
    for node in ["debian1", "debian2", "redhat1"] {
        assert_eq!(workspace.outcome(node), "done");
    }
    on("debian1", "dpkg -s fleet-lib >/dev/null");
    on("redhat1", "rpm -q fleet-lib");
}

/// N07, node 5.
#[test]
#[ignore = "needs the fleet"]
fn an_interrupted_dpkg_is_repaired_or_said_in_its_own_words() {
    let workspace = workspace(&["debian1"], "package(\"fleet-lib\")");
    on("debian1", REMOVE);
    let _half = change(
        "debian1",
        "touch /var/lib/dpkg/updates/0000",
        "rm -f /var/lib/dpkg/updates/*; dpkg --configure -a; true",
    );
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]);
    match ran.status {
        0 => drop(on("debian1", "dpkg -s fleet-lib >/dev/null")),
        _ => {
            assert!(ran.stderr.contains("dpkg --configure -a"), "{}", ran.stderr);
            assert_eq!(on("debian1", "dpkg -s fleet-lib 2>/dev/null | grep -c 'install ok installed' || true"), "0\n");
        }
    }
}

/// A repository of one package, `asks`, that asks by debconf and has a conffile; at its version.
fn repository(version: &str) -> String {
    format!(
        "set -e; rm -rf /tmp/asks; mkdir -p /tmp/asks/DEBIAN /tmp/asks/etc /srv/asks; cd /tmp/asks; \
         printf 'Package: asks\\nVersion: {version}\\nArchitecture: all\\nMaintainer: e2e <e2e@example.com>\\nDepends: debconf\\nDescription: asks\\n' >DEBIAN/control; \
         echo /etc/asks.conf >DEBIAN/conffiles; echo 'version {version}' >etc/asks.conf; \
         printf 'Template: asks/why\\nType: string\\nDescription: Why {version}\\n because\\n' >DEBIAN/templates; \
         printf '#!/bin/sh\\nset -e\\n. /usr/share/debconf/confmodule\\ndb_input critical asks/why || true\\ndb_go\\n' >DEBIAN/config; \
         printf '#!/bin/sh\\nset -e\\n. /usr/share/debconf/confmodule\\necho \"$DEBIAN_FRONTEND $NEEDRESTART_MODE $(readlink /proc/$PPID/fd/0)\" >/root/asked\\nexit 0\\n' >DEBIAN/postinst; \
         chmod 755 DEBIAN/config DEBIAN/postinst; dpkg-deb --root-owner-group -b /tmp/asks /srv/asks/asks_{version}.deb >/dev/null; cd /srv/asks; rm -f Packages; \
         for f in *.deb; do dpkg-deb -f $f; echo \"Filename: ./$f\"; echo \"Size: $(stat -c %s $f)\"; echo \"SHA256: $(sha256sum <$f | cut -d' ' -f1)\"; echo; done >Packages; \
         echo 'deb [trusted=yes] file:/srv/asks ./' >/etc/apt/sources.list.d/asks.list; rm -rf /tmp/asks; \
         apt-get -qq update -o Dir::Etc::sourcelist=sources.list.d/asks.list -o Dir::Etc::sourceparts=- -o APT::Get::List-Cleanup=0"
    )
}

/// N08. needrestart is Ubuntu's and is not on these nodes: that `NEEDRESTART_MODE=l` reaches apt is seen instead.
#[test]
#[ignore = "needs the fleet"]
fn packages_that_ask_get_their_defaults_and_a_conffile_of_ones_own_is_kept() {
    let _clean = change(
        "debian2",
        &repository("1.0"),
        "dpkg --purge asks >/dev/null 2>&1; rm -rf /srv/asks /etc/apt/sources.list.d/asks.list /root/asked /etc/asks.conf*; true",
    );
    let workspace = workspace(&["debian2"], "package(\"asks\", version = \"1.0\")");
    let begun = Instant::now();
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    assert!(begun.elapsed() < Duration::from_secs(60), "nothing waits for an answer");
    assert_eq!(
        on("debian2", "cat /root/asked"),
        "noninteractive l /dev/null\n",
        "the variables are root's, and nothing can be read"
    );
    on("debian2", "echo 'made by hand' >/etc/asks.conf");
    on("debian2", &repository("2.0"));
    workspace.module(
        "tool",
        "Config = schema()\n",
        "def resources(config):\n    return [package(\"asks\", version = \"2.0\")]\n",
    );
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    assert_eq!(on("debian2", "cat /etc/asks.conf; dpkg-query -W -f '${Version}' asks"), "made by hand\n2.0");
    assert_eq!(on("debian2", "cat /etc/asks.conf.dpkg-*"), "version 2.0\n", "the new one stands beside it");
    let told = ran.stdout + &ran.stderr + &workspace.read(".runs/latest/events.jsonl");
    assert!(told.contains("asks.conf"), "the run says so: {told}");
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    assert_eq!(workspace.outcome("debian2"), "nothing to do");
}

/// N08: what is held stays held.
#[test]
#[ignore = "needs the fleet"]
fn a_held_package_stays_as_it_is() {
    let workspace = workspace(&["debian3"], "package(\"fleet-tool\", version = \"1.0\")");
    workspace.node("debian3", &address("debian3"), "");
    on("debian3", REMOVE);
    workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(0);
    let _held = change(
        "debian3",
        "apt-mark -q hold fleet-tool",
        "apt-mark -q unhold fleet-tool; dpkg --purge fleet-tool; true",
    );
    workspace.module(
        "tool",
        "Config = schema()\n",
        "def resources(config):\n    return [package(\"fleet-tool\", version = \"1.1\")]\n",
    );
    let ran = workspace.suil(&["apply", "--role", "web", "--confirm"]).expect(1);
    assert!(ran.stderr.to_lowercase().contains("held"), "{}", ran.stderr);
    assert_eq!(on("debian3", "dpkg-query -W -f '${Version}' fleet-tool"), "1.0");
}
