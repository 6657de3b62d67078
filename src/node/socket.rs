//! Where the sockets of master connections lie: a short path in a private folder, a hash for a name.

use super::Target;
use crate::base::{Problem, digest};
use rustix::fs::{Mode, Stat};
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The longest path that a Unix socket may have, less what ssh appends while it makes one.
const LONGEST: usize = 104 - 18;

/// Returns the path of the socket for `target`. Two targets share one only where ssh is called alike for both.
///
/// # Errors
/// No private folder can be made, or its path is too long.
pub(super) fn path(target: &Target) -> Result<PathBuf, Problem> {
    let folder = folder()?;
    let parts = [
        target.host.clone(),
        target.port.map(|port| port.to_string()).unwrap_or_default(),
        target.user.clone().unwrap_or_default(),
        target.key.clone().unwrap_or_default(),
        target.accept_unknown_hosts.to_string(),
        target.options.join("\u{1}"),
    ];
    let name = digest::sha256(parts.join("\0").as_bytes());
    let path = folder.join(name.get(..16).unwrap_or("master"));
    match path.as_os_str().len() {
        n if n <= LONGEST => Ok(path),
        n => Err(Problem::new(format!("the path of a control socket is too long: `{}`", path.display()))
            .expected(format!("expected at most {LONGEST} bytes, found {n}"))),
    }
}

/// `/run/user/<uid>/suil`, else `/tmp/suil-<uid>`; only where it is a folder of our own that nobody else can enter.
fn folder() -> Result<PathBuf, Problem> {
    let own = rustix::process::getuid().as_raw();
    let places = [PathBuf::from(format!("/run/user/{own}/suil")), PathBuf::from(format!("/tmp/suil-{own}"))];
    let mut reason = String::new();
    for place in &places {
        match private(place, own) {
            Ok(()) => {
                static SWEPT: Once = Once::new();
                SWEPT.call_once(|| sweep(place));
                return Ok(place.clone());
            }
            Err(words) => reason = format!("`{}`: {words}", place.display()),
        }
    }
    Err(Problem::new(format!("no private folder for control sockets: {reason}"))
        .help("set `ssh_persist: false` to do without master connections"))
}

/// Removes the sockets of masters that were killed. ssh would do so as well, but only for a host it connects to again.
/// A name with a dot is a socket that ssh is just making.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let dead = || UnixStream::connect(&path).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused);
        if path.extension().is_none() && dead() {
            // Another run may have been faster.
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn private(path: &Path, own: u32) -> Result<(), String> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => {}
        Err(error) => return Err(std::io::Error::from(error).to_string()),
    }
    let stat: Stat = rustix::fs::lstat(path).map_err(|e| std::io::Error::from(e).to_string())?;
    let mode = stat.st_mode & 0o7_777;
    let folder = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
    match (folder, stat.st_uid == own, mode & 0o077 == 0) {
        (true, true, true) => Ok(()),
        (false, ..) => Err("is no folder".to_owned()),
        (_, false, _) => Err("belongs to somebody else".to_owned()),
        _ => Err(format!("can be entered by others (mode {mode:04o})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_gives_a_short_path_and_another_user_another_one() {
        let mut target = Target::new(&"x".repeat(200));
        let first = path(&target).expect("path");
        assert!(first.as_os_str().len() <= LONGEST);
        target.user = Some("u".repeat(32));
        assert_ne!(path(&target).expect("path"), first);
    }

    #[test]
    fn the_socket_of_a_dead_master_is_removed_and_a_living_one_stays() {
        use std::os::unix::net::UnixListener;
        let folder = tempfile::tempdir().expect("folder");
        let (dead, alive, new) = (folder.path().join("dead"), folder.path().join("alive"), folder.path().join("new.x"));
        drop(UnixListener::bind(&dead).expect("a socket"));
        drop(UnixListener::bind(&new).expect("a socket"));
        let _listener = UnixListener::bind(&alive).expect("a socket");
        sweep(folder.path());
        assert_eq!((dead.exists(), alive.exists(), new.exists()), (false, true, true));
    }

    #[test]
    fn a_folder_that_others_can_enter_is_refused() {
        let folder = tempfile::tempdir().expect("folder");
        let open = folder.path().join("open");
        std::fs::create_dir(&open).expect("made");
        std::fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("mode");
        let own = rustix::process::getuid().as_raw();
        assert!(private(&open, own).is_err());
        assert_eq!(private(&folder.path().join("new"), own), Ok(()));
    }
}
