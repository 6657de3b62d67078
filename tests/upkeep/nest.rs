//! A workspace with secrets in every layout, and the keys to it.

use crate::room::Room;
use age::secrecy::ExposeSecret;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use suil::data::Keys;
use suil::data::secret::{Recipients, encrypt};

/// The key of one person.
#[derive(Clone)]
pub struct Key {
    pub identity: String,
    pub recipient: String,
}

impl Key {
    pub fn new() -> Key {
        let identity = age::x25519::Identity::generate();
        Key { identity: identity.to_string().expose_secret().to_owned(), recipient: identity.to_public().to_string() }
    }

    pub fn keys(&self) -> Keys {
        Keys::parse(&self.identity, "test").expect("keys")
    }
}

/// The base64 of a secret for these people.
pub fn seal(plaintext: &str, whom: &[&Key]) -> String {
    let names: Vec<&str> = whom.iter().map(|key| key.recipient.as_str()).collect();
    let recipients = Recipients::parse(&names.join(","), "test").expect("recipients");
    encrypt(plaintext.as_bytes(), &recipients).expect("encrypts").base64
}

/// `text` with every `‹plaintext›` sealed. Where `width` is given, the base64 is broken into lines of it, indented as the
/// line is that it begins on.
pub fn sealed(text: &str, whom: &[&Key], width: Option<usize>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('‹') {
        let (plaintext, later) = after.split_once('›').expect("closed");
        out.push_str(before);
        let base64 = seal(plaintext, whom);
        let line = out.rsplit('\n').next().unwrap_or_default();
        let indent = " ".repeat(line.len() - line.trim_start().len());
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        // The first line holds the `!ENC[` too.
        let first = width.map_or(base64.len(), |width| width - "!ENC[".len()).min(base64.len());
        out.push_str(&base64[..first]);
        for line in base64.as_bytes()[first..].chunks(width.unwrap_or(usize::MAX)) {
            out.push_str(&format!("{end}{indent}{}", String::from_utf8_lossy(line)));
        }
        rest = later;
    }
    out + rest
}

/// The text with an `X` for the base64 of every marker that is one: those in comments and in plain text hold a word that
/// is no base64 of a ciphertext.
pub fn blank(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("!ENC[") {
        out.push_str(before);
        let (inside, later) = after.split_once(']').expect("a closed marker");
        let whole: String = inside.chars().filter(|c| !c.is_whitespace()).collect();
        out.push_str(&format!("!ENC[{}]", if whole.starts_with("YWdlLWVuY3J5cHRpb24") { "X" } else { inside }));
        rest = later;
    }
    out + rest
}

pub const COMMON: &str = "hierarchy: [\"roles/{role}.yaml\", \"nodes/{node}.yaml\"]\n";

/// Paths and texts of files that are hard to leave alone.
pub fn files(whom: &[&Key]) -> Vec<(&'static str, String)> {
    let odd = "\u{feff}# a: !ENC[comment]\r\nrole: r   \r\napp:\r\n     # why: !ENC[a [bracket]\r\n     inline:    !ENC[‹plain text one›]      # trailing !ENC[no]  \r\n     'quoted' : \"!ENC[‹plain text two›]\"\r\n     list:\r\n     -   !ENC[‹plain text three›]\r\n     -   x\r\n     flow: { a : !ENC[‹four4›] ,b: [ !ENC[‹five5›],'!ENC[‹six66›]' ] }\r\n     tagged: !replace '!ENC[‹seven›]'\r\n     anchored: &here !ENC[‹eight›]\r\n     alias: *here\r\n     text: 'see !ENC[there], ok'\r\n";
    let folded = "role: r\napp:\n    folded: >-   # !ENC[header]\n          !ENC[‹nine99›]\n\n\n    literal: |\n         !ENC[‹ten1010›]   \n    keep: >+\n         !ENC[‹eleven›]\n\n    deep:\n       - - k: >2-\n             !ENC[‹twelve›]\n    quoted: \"!ENC[‹thirteen›]\"\n    last: !!str |-\n     !ENC[‹fourteen›]";
    vec![
        ("data/common.yaml", COMMON.to_owned()),
        ("data/roles/r.yaml", "modules: [app]\n".to_owned()),
        ("data/nodes/odd.yaml", sealed(odd, whom, None)),
        ("data/nodes/folded.yaml", sealed(folded, whom, Some(60))),
        ("data/notes.txt", "no data: !ENC[".to_owned()),
        ("data/unread/broken.yaml", "a: [\n".to_owned()),
        ("modules/app/requires.yaml", String::new()),
        ("modules/app/data/defaults.yaml", sealed("app: {default: !ENC[‹fifteen›]}\n", whom, None)),
    ]
}

/// A room with these files, and the key of one person.
pub fn nest(files: &[(&'static str, String)], key: &Key) -> Room {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Room::with(&files).set("SUIL_AGE_KEY", &key.identity)
}

/// Lists the recipients of the workspace.
pub fn recipients(room: &Room, whom: &[&Key]) {
    let list: String = whom.iter().map(|key| format!("- {}\n", key.recipient)).collect();
    room.write("data/common.yaml", &format!("{COMMON}recipients:\n{list}"));
}

/// Every file of the room, with its bytes, its time and its inode.
pub fn snapshot(room: &Room) -> Vec<(PathBuf, Vec<u8>, SystemTime, u64)> {
    let mut found = Vec::new();
    walk(&room.path(), &mut found);
    found.retain(|(path, ..)| !path.to_string_lossy().contains("/.suil/"));
    found.sort();
    found
}

fn walk(folder: &Path, found: &mut Vec<(PathBuf, Vec<u8>, SystemTime, u64)>) {
    use std::os::unix::fs::MetadataExt;
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let meta = path.symlink_metadata().expect("metadata");
        match meta.is_dir() {
            true => walk(&path, found),
            false => found.push((
                path.clone(),
                fs::read(&path).unwrap_or_default(),
                meta.modified().expect("a time"),
                meta.ino(),
            )),
        }
    }
}

pub fn read(room: &Room, path: &str) -> String {
    fs::read_to_string(room.path().join(path)).expect("a file")
}
