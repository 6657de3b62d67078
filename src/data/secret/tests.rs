use super::*;
use crate::base::{FileId, Mask, Place};
use age::secrecy::ExposeSecret;
use age::x25519::Identity;

fn identity() -> (String, Recipients) {
    let identity = Identity::generate();
    let recipients = Recipients::parse(&identity.to_public().to_string(), "test").expect("a recipient");
    (identity.to_string().expose_secret().to_owned(), recipients)
}

fn place() -> Place {
    Place { line: 3, column: 8, ..Place::start(FileId::new("data/nodes/n1.yaml", "")) }
}

#[test]
fn any_of_several_identities_opens_what_is_for_any_of_several_recipients() {
    let ((a, to_a), (b, to_b), (c, _)) = (identity(), identity(), identity());
    let both = Recipients::parse(&[to_a.names(), to_b.names()].concat().join(", "), "test").expect("recipients");
    let cipher = encrypt(b"secret", &both).expect("encrypts");
    for key in [&a, &b] {
        let keys = Keys::parse(&format!("# a comment\n{c}\r\n\n{key}\n"), "keys").expect("keys");
        assert_eq!(decrypt(&cipher, &keys).expect("opens").as_bytes(), b"secret");
    }
    let stranger = Keys::parse(&c, "keys").expect("keys");
    assert_eq!(decrypt(&cipher, &stranger).expect_err("closed"), Failure::NoMatchingKey);
}

#[test]
fn a_changed_or_shortened_ciphertext_is_damaged_and_never_another_key() {
    let (key, recipients) = identity();
    let keys = Keys::parse(&key, "keys").expect("keys");
    let cipher = encrypt(&[7; 200], &recipients).expect("encrypts");
    let sealed = STANDARD.decode(&cipher.base64).expect("base64");
    for length in (0..sealed.len()).step_by(7) {
        let cut = Cipher { base64: STANDARD.encode(&sealed[..length]) };
        assert_eq!(decrypt(&cut, &keys).expect_err("damaged"), Failure::Damaged, "{length} bytes");
    }
    let mut changed = sealed;
    *changed.last_mut().expect("bytes") ^= 1;
    let changed = Cipher { base64: STANDARD.encode(changed) };
    assert_eq!(decrypt(&changed, &keys).expect_err("damaged"), Failure::Damaged);
}

#[test]
fn the_vault_masks_what_it_opened_and_names_field_place_and_keys_otherwise() {
    let (key, recipients) = identity();
    let mask = Mask::new();
    let vault = Vault::new(Some(Keys::parse(&key, "SUIL_AGE_KEY").expect("keys")), mask.clone());
    let cipher = encrypt(b"oyster-4711", &recipients).expect("encrypts");
    let first = vault.reveal(&cipher, "surf.pin", place()).expect("opens");
    let again = vault.reveal(&cipher, "surf.pin", place()).expect("opens");
    assert!(std::sync::Arc::ptr_eq(&first, &again));
    assert!(!mask.apply("got oyster-4711 back").contains("oyster"));
    let other = encrypt(b"x", &identity().1).expect("encrypts");
    let problem = vault.reveal(&other, "surf.pin", place()).expect_err("closed");
    assert!(problem.what.contains("`surf.pin`"), "{problem:?}");
    assert_eq!(problem.place.map(|at| at.to_string()).as_deref(), Some("data/nodes/n1.yaml:3:8"));
    assert!(problem.expected.expect("expected").contains("SUIL_AGE_KEY"));
    assert!(problem.notes[0].text.contains(&recipients.names()[0]));
}

#[test]
fn without_a_key_the_public_view_works_and_a_reveal_says_which_setting_is_missing() {
    let cipher = encrypt(b"x", &identity().1).expect("encrypts");
    let vault = Vault::default();
    assert_eq!(vault.public(&cipher, "surf.pin", place()).expect("public"), NO_KEY);
    let problem = vault.reveal(&cipher, "surf.pin", place()).expect_err("closed");
    assert!(problem.help.expect("help").contains("SUIL_AGE_KEY_FILE"));
}

#[test]
fn no_message_repeats_what_may_be_an_identity() {
    let (key, recipients) = identity();
    let broken = key.replace('A', "B");
    let problem = Keys::parse(&format!("# comment\n{broken}"), "key.txt").expect_err("refused");
    assert!(problem.what.contains("line 2 of `key.txt`") && !format!("{problem:?}").contains(&broken[20..]));
    let problem = Recipients::parse(&key, "SUIL_AGE_RECIPIENT").expect_err("refused");
    assert!(!format!("{problem:?}").contains(&key), "{problem:?}");
    let public = recipients.names().join("");
    assert!(Keys::parse(&public, "key.txt").expect_err("refused").help.expect("help").contains("public half"));
    assert!(Keys::parse("# only\n", "key.txt").expect_err("refused").what.contains("no age identity"));
    let vault = Vault::new(Some(Keys::parse(&key, "keys").expect("keys")), Mask::new());
    assert!(
        !format!("{vault:?} {:?} {:?}", Plaintext::new(b"x1y2".to_vec()), Keys::parse(&key, "keys")).contains("x1y2")
    );
}

#[test]
fn there_is_nothing_to_encrypt_in_nothing() {
    assert!(encrypt(b"", &identity().1).expect_err("refused").what.starts_with("nothing to encrypt"));
    assert_eq!(
        Plaintext::new(Vec::new()).digest(),
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );
}

#[test]
fn a_ciphertext_tells_how_many_can_read_it_and_each_key_whether_it_is_one_of_them() {
    let all: Vec<(String, Recipients)> = (0..4).map(|_| identity()).collect();
    for count in 1..=4 {
        let names: Vec<String> = all[..count].iter().flat_map(|(_, to)| to.names()).collect();
        let cipher =
            encrypt(b"x", &Recipients::parse(&names.join(","), "test").expect("recipients")).expect("encrypts");
        assert_eq!(audience(&cipher), Some(count));
        let keys = Keys::parse(&format!("{}\n{}", all[0].0, all[2].0), "keys").expect("keys");
        let wanted: Vec<String> =
            [0, 2].into_iter().filter(|at| *at < count).flat_map(|at| all[at].1.names()).collect();
        assert_eq!(readers(&cipher, &keys), Ok(wanted));
    }
    let damaged = Cipher { base64: STANDARD.encode("age-encryption.org/v1\n-> X25519 abc") };
    assert_eq!(
        (audience(&damaged), readers(&damaged, &Keys::parse(&all[0].0, "keys").expect("keys"))),
        (None, Err(Failure::Damaged))
    );
}
