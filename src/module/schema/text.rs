//! Types whose values are texts of a certain form.

use std::net::IpAddr;

use super::Version;

/// Reads a file mode. It means octal however it is written: `0644`, `644`, `0o644`.
///
/// Returns at least four octal digits, a leading zero always: `0644`, `02775`.
pub fn mode(text: &str) -> Option<String> {
    let digits = text.strip_prefix("0o").or_else(|| text.strip_prefix("0O")).unwrap_or(text);
    if digits.is_empty() || digits.len() > 6 || !digits.bytes().all(|b| (b'0'..=b'7').contains(&b)) {
        return None;
    }
    let bits = u32::from_str_radix(digits, 8).ok()?;
    match bits {
        0..=0o777 => Some(format!("{bits:04o}")),
        0o1000..=0o7777 => Some(format!("0{bits:o}")),
        _ => None,
    }
}

/// True for labels of letters, digits and inner hyphens, 63 at most each, 253 in all (RFC 1123).
pub fn is_hostname(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// True for a path from the root, without a NUL and without a step up.
pub fn is_path(text: &str) -> bool {
    text.starts_with('/') && !text.contains('\0') && text.split('/').all(|part| part != "..")
}

pub fn is_ip(text: &str, version: Version) -> bool {
    text.parse::<IpAddr>().is_ok_and(|ip| of(ip, version))
}

/// True for `address/prefix`, whatever the host bits.
pub fn is_cidr(text: &str, version: Version) -> bool {
    let Some((address, prefix)) = text.split_once('/') else { return false };
    let Ok(ip) = address.parse::<IpAddr>() else { return false };
    let plain = !prefix.is_empty() && prefix.len() <= 3 && prefix.bytes().all(|b| b.is_ascii_digit());
    let limit = if ip.is_ipv4() { 32 } else { 128 };
    of(ip, version) && plain && prefix.parse::<u8>().is_ok_and(|bits| bits <= limit)
}

fn of(ip: IpAddr, version: Version) -> bool {
    match version {
        Version::Any => true,
        Version::V4 => ip.is_ipv4(),
        Version::V6 => ip.is_ipv6(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_octal_however_it_is_written() {
        for (text, want) in [
            ("0644", Some("0644")),
            ("644", Some("0644")),
            ("0o644", Some("0644")),
            ("2775", Some("02775")),
            ("0", Some("0000")),
            ("0999", None),
            ("u=rw,g=r", None),
            ("10000", None),
            ("", None),
            ("-644", None),
        ] {
            assert_eq!(mode(text).as_deref(), want, "{text}");
        }
    }

    #[test]
    fn names_paths_and_addresses_are_told_from_others() {
        assert!(is_hostname("web-01.example.com") && !is_hostname("web_01") && !is_hostname("a..b"));
        assert!(!is_hostname("-a.b") && !is_hostname("") && !is_hostname(&"a".repeat(64)));
        assert!(is_path("/etc/motd") && !is_path("etc") && !is_path("/etc/../x"));
        assert!(is_ip("192.0.2.1", Version::Any) && !is_ip("192.0.2.1", Version::V6) && !is_ip("192.0.2", Version::V4));
        assert!(is_cidr("192.0.2.0/24", Version::V4) && !is_cidr("192.0.2.0/33", Version::Any));
        assert!(!is_cidr("192.0.2.0/+4", Version::Any) && !is_cidr("192.0.2.0", Version::Any));
    }
}
