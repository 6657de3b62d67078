//! Owner, group and mode as they are wanted.

use super::attributes::Attributes;
use super::path::{self, Found, mode_text};
use super::{Attribute, Fields};
use crate::base::{Plain, Problem, shell};
use std::borrow::Cow;

/// The wanted owner, group and mode.
///
/// What suil owns whole has all three whatever was there before. Of other things (a folder that a package made, a file
/// of somebody else's content) only what was given is touched, and the defaults are for what suil makes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    /// Default: the user that the session runs as, which is root but on a transport without sudo.
    pub owner: Option<String>,
    pub group: Option<String>,
    pub mode: Option<u32>,
    pub default_mode: u32,
    pub whole: bool,
}

/// One of the three, as it shall be.
struct Part<'a> {
    name: &'static str,
    number: &'static str,
    wanted: Cow<'a, str>,
    /// False where it is left as it is.
    managed: bool,
}

impl Access {
    /// Reads `owner`, `group` and `mode`.
    ///
    /// # Errors
    /// One of them has no meaning.
    pub fn read(from: &Attributes<'_>, default_mode: u32, whole: bool) -> Result<Access, Problem> {
        Ok(Access {
            owner: from.account("owner")?,
            group: from.account("group")?,
            mode: from.mode("mode")?,
            default_mode,
            whole,
        })
    }

    /// The access of a file in a place where the system allows no other.
    pub fn root(mode: u32) -> Access {
        let root = || Some("root".to_owned());
        Access { owner: root(), group: root(), mode: Some(mode), default_mode: mode, whole: true }
    }

    fn parts<'a>(&'a self, me: (&'a str, &'a str)) -> [Part<'a>; 3] {
        let part = |name, number, given: &'a Option<String>, me: &'a str| Part {
            name,
            number,
            wanted: Cow::Borrowed(given.as_deref().unwrap_or_else(|| named(me))),
            managed: self.whole || given.is_some(),
        };
        let mode = mode_text(self.mode.unwrap_or(self.default_mode));
        let managed = self.whole || self.mode.is_some();
        [
            part("owner", "uid", &self.owner, me.0),
            part("group", "gid", &self.group, me.1),
            Part { name: "mode", number: "mode", wanted: Cow::Owned(mode), managed },
        ]
    }

    fn parts_for<'a>(&'a self, found: &'a Found) -> [Part<'a>; 3] {
        self.parts((&found.me.0, &found.me.1))
    }

    /// What differs from `there`, the access of something that exists.
    pub fn differs(&self, found: &Found, there: &path::Access) -> Vec<Attribute> {
        let differs = |part: Part<'_>| {
            let (name, number) = there.part(part.name);
            let same = name.as_deref() == Some(&part.wanted) || number.as_deref() == Some(numbered(&part.wanted));
            (part.managed && !same).then(|| Attribute {
                name: part.name.to_owned(),
                before: name.or(number),
                after: Some(part.wanted.into_owned()),
            })
        };
        self.parts_for(found).into_iter().filter_map(differs).collect()
    }

    /// All three as attributes of something new.
    pub fn fresh(&self, found: &Found) -> Vec<Attribute> {
        let attribute = |part: Part<'_>| Attribute {
            name: part.name.to_owned(),
            before: None,
            after: Some(part.wanted.into_owned()),
        };
        self.parts_for(found).map(attribute).to_vec()
    }

    /// `OWNER GROUP MODE`, as the functions of `lib.sh` take them. `there`: the access of something that exists.
    pub fn words(&self, found: &Found, there: Option<&path::Access>) -> String {
        let word = |part: Part<'_>| match there.map(|there| there.part(part.name)) {
            Some((_, Some(number))) if !part.managed => number,
            _ => part.wanted.into_owned(),
        };
        let words = self.parts_for(found).map(word);
        shell::join(words.iter().map(String::as_str))
    }

    /// Writes what a run leaves into the fields of a path; `made` where it was not there before.
    pub fn settle(&self, fields: &mut Fields, prefix: &str, made: bool) {
        let me = |name| fields.text(name).unwrap_or_else(|| "0".to_owned());
        let me = (me("me_uid"), me("me_gid"));
        for part in self.parts((&me.0, &me.1)).into_iter().filter(|part| part.managed || made) {
            fields.set(&format!("{prefix}{}", part.number), numbered(&part.wanted));
            fields.set(&format!("{prefix}{}", part.name), part.wanted.as_bytes());
        }
    }

    /// What is managed, as plain data.
    pub fn wanted(&self, into: &mut Plain) {
        for part in self.parts(("0", "0")).into_iter().filter(|part| part.managed) {
            into.set(part.name, part.wanted.into_owned());
        }
    }
}

/// `root` for 0, whatever the system: no other number has a fixed name.
fn named(number: &str) -> &str {
    if number == "0" { "root" } else { number }
}

fn numbered(name: &str) -> &str {
    if name == "root" { "0" } else { name }
}

/// True for paths whose change may cut suil's own access: sshd, sudo, accounts, PAM, the firewall, the network.
pub fn guards(path: &str) -> bool {
    in_home(path)
        || FILES.contains(&path)
        || ROOTS.iter().any(|root| path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        || BEGINNINGS.iter().any(|beginning| path.starts_with(beginning))
}

/// Folders whose whole content counts, and they themselves.
const ROOTS: &[&str] = &[
    "/etc/ssh",
    "/etc/dropbear",
    "/etc/sudoers.d",
    "/etc/doas.d",
    "/etc/pam.d",
    "/etc/security",
    "/etc/sssd",
    "/etc/polkit-1",
    "/etc/nftables.d",
    "/etc/nftables",
    "/etc/iptables",
    "/etc/ufw",
    "/etc/firewalld",
    "/etc/ferm",
    "/etc/shorewall",
    "/etc/fail2ban",
    "/etc/network",
    "/etc/netplan",
    "/etc/systemd/network",
    "/etc/NetworkManager",
    "/etc/sysconfig/network",
    "/etc/sysconfig/network-scripts",
    "/etc/wireguard",
    "/etc/wicked",
];

const FILES: &[&str] = &[
    "/etc/sudoers",
    "/etc/sudo.conf",
    "/etc/doas.conf",
    "/etc/passwd",
    "/etc/shadow",
    "/etc/group",
    "/etc/gshadow",
    "/etc/shells",
    "/etc/login.defs",
    "/etc/nologin",
    "/run/nologin",
    "/etc/nsswitch.conf",
    "/etc/pam.conf",
    "/etc/krb5.conf",
    "/etc/nftables.conf",
    "/etc/sysconfig/nftables.conf",
    "/etc/sysconfig/iptables",
    "/etc/sysconfig/ip6tables",
    "/etc/default/ufw",
    "/etc/hosts.allow",
    "/etc/hosts.deny",
    "/etc/dhcpcd.conf",
    "/etc/ld.so.preload",
    "/etc/default/ssh",
    "/etc/sysconfig/sshd",
];

/// Unit files, and folders of theirs.
const BEGINNINGS: &[&str] = &[
    "/etc/systemd/system/ssh",
    "/etc/systemd/system/dropbear",
    "/etc/systemd/system/systemd-networkd",
    "/etc/systemd/system/networking",
    "/etc/systemd/system/NetworkManager",
    "/etc/systemd/system/nftables",
    "/etc/systemd/system/iptables",
    "/etc/systemd/system/firewalld",
    "/etc/systemd/system/ufw",
];

/// A home folder, which sshd refuses where others may write in it, and the keys in it.
fn in_home(path: &str) -> bool {
    let home =
        path == "/root" || path == "/home" || path.strip_prefix("/home/").is_some_and(|rest| !rest.contains('/'));
    home || path.ends_with("/.ssh") || path.ends_with("/authorized_keys") || path.ends_with("/authorized_keys2")
}

/// Units whose start, stop or restart may cut suil's own access, without their suffix.
pub const UNITS: &[&str] = &[
    "ssh",
    "sshd",
    "dropbear",
    "sssd",
    "nslcd",
    "systemd-networkd",
    "systemd-resolved",
    "systemd-logind",
    "systemd-user-sessions",
    "NetworkManager",
    "networking",
    "network",
    "wicked",
    "dhcpcd",
    "wpa_supplicant",
    "firewalld",
    "nftables",
    "iptables",
    "ip6tables",
    "netfilter-persistent",
    "ufw",
    "ferm",
    "shorewall",
    "fail2ban",
    "dbus",
];

/// Packages whose change may cut suil's own access.
pub const PACKAGES: &[&str] = &[
    "openssh",
    "openssh-server",
    "dropbear",
    "sudo",
    "doas",
    "opendoas",
    "sssd",
    "libpam-sss",
    "iptables",
    "iptables-persistent",
    "netfilter-persistent",
    "nftables",
    "ufw",
    "firewalld",
    "fail2ban",
    "ifupdown",
    "netplan.io",
    "network-manager",
    "NetworkManager",
    "systemd",
];

/// Groups that give root, by sudo, doas or PAM.
pub const GROUPS: &[&str] = &["sudo", "wheel", "admin", "root"];

/// True for keys of sysctl that decide what a link takes and where it goes.
pub fn guards_key(key: &str) -> bool {
    ["net.ipv4.conf.", "net.ipv6.conf.", "net.ipv4.route.", "net.netfilter.", "net.ipv4.tcp_syncookies"]
        .iter()
        .any(|beginning| key.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_shut_suil_out_is_known_by_its_path() {
        for path in [
            "/etc/ssh/sshd_config.d/50-x.conf",
            "/etc/sudoers.d/deploy",
            "/etc/sudoers",
            "/etc/pam.d/sshd",
            "/etc/nsswitch.conf",
            "/etc/nftables.conf",
            "/etc/firewalld/zones/public.xml",
            "/etc/network/interfaces.d/eth0",
            "/etc/netplan/50-x.yaml",
            "/etc/systemd/network/10-x.network",
            "/etc/systemd/system/ssh.service.d/x.conf",
            "/etc/hosts.deny",
            "/home/deploy",
            "/home/deploy/.ssh/authorized_keys",
            "/root",
        ] {
            assert!(guards(path), "{path}");
        }
        for path in ["/etc/motd", "/etc/sshx", "/home/deploy/app/conf", "/etc/networks", "/srv/home/x"] {
            assert!(!guards(path), "{path}");
        }
        assert!(guards_key("net.ipv4.conf.all.rp_filter") && !guards_key("net.ipv4.ip_forward"));
    }
}
