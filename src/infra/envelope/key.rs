//! Private and public RSA keys: read from PEM, made, written.

use super::pem;
use crate::base::{Problem, digest};
use aws_lc_rs::encoding::AsDer;
use aws_lc_rs::error::KeyRejected;
use aws_lc_rs::rsa::{
    KeySize, OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey, PrivateDecryptingKey,
    PublicEncryptingKey,
};
use pkcs8::der::Decode;
use pkcs8::pkcs5::pbes2;
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef};
use zeroize::Zeroizing;

/// How often a passphrase is hashed. OWASP's figure for PBKDF2 with SHA-256; OpenSSL opens such a key as it is.
const ROUNDS: u32 = if cfg!(test) { 1_000 } else { 600_000 };

/// The sizes that a key may be made in, in bits.
pub const SIZES: [u32; 4] = [2048, 3072, 4096, 8192];

/// A private key.
pub struct Private(OaepPrivateDecryptingKey);

impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Private")
    }
}

/// A public key, to make envelopes for.
pub struct Public {
    key: OaepPublicEncryptingKey,
    /// Its SubjectPublicKeyInfo.
    der: Vec<u8>,
}

impl Private {
    /// Reads the first private key of a PEM file: PKCS#8, PKCS#1, or PKCS#8 under a passphrase, which is asked for then
    /// alone. `shown` is the path for messages.
    ///
    /// # Errors
    /// There is none, it is no RSA key of 2048 to 8192 bits, or its passphrase is not to be had or wrong.
    pub fn read(
        text: &str,
        shown: &str,
        passphrase: impl FnOnce() -> Result<Zeroizing<String>, Problem>,
    ) -> Result<Private, Problem> {
        let blocks = pem::blocks(text);
        let Some(block) = blocks.iter().find(|block| block.label.ends_with("PRIVATE KEY")) else {
            return Err(no_key(text, shown, "private"));
        };
        match block.label {
            "PRIVATE KEY" => Private::from_pkcs8(&block.der, shown),
            "RSA PRIVATE KEY" if block.encrypted => {
                Err(Problem::new(format!("the key `{shown}` is encrypted in an outdated form"))
                    .expected("expected PKCS#8, `BEGIN ENCRYPTED PRIVATE KEY`, where there is a passphrase")
                    .help(convert(shown)))
            }
            "RSA PRIVATE KEY" => Private::from_pkcs8(&wrapped(&block.der), shown),
            "ENCRYPTED PRIVATE KEY" => Private::from_pkcs8(&decrypted(&block.der, shown, &passphrase()?)?, shown),
            label => Err(Problem::new(format!("the key `{shown}` is of another kind: `{label}`"))
                .expected("expected an RSA key, `BEGIN PRIVATE KEY` or `BEGIN RSA PRIVATE KEY`")),
        }
    }

    fn from_pkcs8(der: &[u8], shown: &str) -> Result<Private, Problem> {
        let key = PrivateDecryptingKey::from_pkcs8(der).map_err(|e| rejected(&e, shown))?;
        let key = OaepPrivateDecryptingKey::new(key);
        key.map(Private).map_err(|_| Problem::new(format!("the key `{shown}` is no RSA key")))
    }

    /// Unwraps the key of an envelope; `None` where it is for another key.
    pub(super) fn unwrap(&self, wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let mut room = Zeroizing::new(vec![0; self.0.min_output_size()]);
        let length = self.0.decrypt(&OAEP_SHA256_MGF1SHA256, wrapped, &mut room, None).ok()?.len();
        let mut key = Zeroizing::new(Vec::with_capacity(length));
        key.extend_from_slice(room.get(..length)?);
        Some(key)
    }

    /// How long a key that it wraps is, in bytes.
    pub(super) fn size(&self) -> usize {
        self.0.key_size_bytes()
    }
}

impl Public {
    /// Reads the first public key of a PEM file. `shown` is the path for messages.
    ///
    /// # Errors
    /// There is none, or it is no RSA key of 2048 to 8192 bits.
    pub fn read(text: &str, shown: &str) -> Result<Public, Problem> {
        let blocks = pem::blocks(text);
        let Some(block) = blocks.iter().find(|block| block.label.ends_with("PUBLIC KEY")) else {
            return Err(no_key(text, shown, "public"));
        };
        let der = match block.label {
            "RSA PUBLIC KEY" => sequence(&[RSA, &tagged(0x03, &[&[0], &block.der])]).to_vec(),
            _ => block.der.to_vec(),
        };
        let key = PublicEncryptingKey::from_der(&der).map_err(|e| rejected(&e, shown))?;
        Public::new(key).map_err(|()| Problem::new(format!("the key `{shown}` is no RSA key")))
    }

    fn new(key: PublicEncryptingKey) -> Result<Public, ()> {
        let der = key.as_der().map_err(|_| ())?.as_ref().to_vec();
        Ok(Public { key: OaepPublicEncryptingKey::new(key).map_err(|_| ())?, der })
    }

    /// What the key is known by: `sha256:<hex of its SubjectPublicKeyInfo>`.
    pub fn fingerprint(&self) -> String {
        format!("sha256:{}", digest::sha256(&self.der))
    }

    /// The size in bits.
    pub fn bits(&self) -> usize {
        self.key.key_size_bits()
    }

    /// Wraps the key of an envelope.
    pub(super) fn wrap(&self, key: &[u8]) -> Option<Vec<u8>> {
        let mut room = vec![0; self.key.ciphertext_size()];
        let length = self.key.encrypt(&OAEP_SHA256_MGF1SHA256, key, &mut room, None).ok()?.len();
        room.truncate(length);
        Some(room)
    }
}

impl std::fmt::Debug for Public {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Public({})", self.fingerprint())
    }
}

/// A new pair of keys.
pub struct Pair {
    /// PKCS#8 in PEM, under the passphrase where there is one.
    pub private: Zeroizing<String>,
    /// SubjectPublicKeyInfo in PEM.
    pub public: String,
    pub fingerprint: String,
}

/// Makes a pair of keys of `bits`, one of [`SIZES`].
///
/// # Errors
/// The size is another, or the system has no random numbers.
pub fn generate(bits: u32, passphrase: Option<&str>) -> Result<Pair, Problem> {
    let size = match bits {
        2048 => KeySize::Rsa2048,
        3072 => KeySize::Rsa3072,
        4096 => KeySize::Rsa4096,
        8192 => KeySize::Rsa8192,
        _ => {
            let sizes = SIZES.map(|size| size.to_string()).join(", ");
            return Err(
                Problem::usage(format!("no key is made in {bits} bits")).expected(format!("expected one of {sizes}"))
            );
        }
    };
    let failed = || Problem::new("cannot make a key: the system's random numbers failed");
    let key = PrivateDecryptingKey::generate(size).map_err(|_| failed())?;
    let public = Public::new(key.public_key()).map_err(|()| failed())?;
    let der = key.as_der().map_err(|_| failed())?;
    let private = match passphrase {
        None => pem::write("PRIVATE KEY", der.as_ref()),
        Some(passphrase) => {
            pem::write("ENCRYPTED PRIVATE KEY", &encrypted(der.as_ref(), passphrase).ok_or_else(failed)?)
        }
    };
    let fingerprint = public.fingerprint();
    Ok(Pair { private, public: pem::write("PUBLIC KEY", &public.der).to_string(), fingerprint })
}

/// A PKCS#8 key under a passphrase: PBES2 with PBKDF2-HMAC-SHA256 and AES-256-CBC.
fn encrypted(der: &[u8], passphrase: &str) -> Option<Vec<u8>> {
    let (mut salt, mut iv) = ([0; 16], [0; 16]);
    aws_lc_rs::rand::fill(&mut salt).ok()?;
    aws_lc_rs::rand::fill(&mut iv).ok()?;
    let parameters = pbes2::Parameters::generate_pbkdf2_sha256_aes256cbc(ROUNDS, &salt, iv).ok()?;
    let key = PrivateKeyInfoRef::from_der(der).ok()?;
    Some(key.encrypt_with_params(parameters, passphrase).ok()?.as_bytes().to_vec())
}

fn decrypted(der: &[u8], shown: &str, passphrase: &str) -> Result<Zeroizing<Vec<u8>>, Problem> {
    let other = || {
        Problem::new(format!("the key `{shown}` is encrypted in a way that suil does not know"))
            .expected("expected PBES2 with scrypt or PBKDF2 (SHA-2), and AES")
            .help(convert(shown))
    };
    let key = EncryptedPrivateKeyInfoRef::from_der(der).map_err(|_| other())?;
    match key.decrypt(passphrase) {
        Ok(key) => Ok(key.to_bytes()),
        Err(pkcs8::Error::EncryptedPrivateKey(
            pkcs8::pkcs5::Error::UnsupportedAlgorithm { .. } | pkcs8::pkcs5::Error::NoPbes1CryptSupport,
        )) => Err(other()),
        Err(_) => Err(Problem::new(format!("the passphrase of the encrypted key `{shown}` is wrong"))
            .note("or the file was changed: the two look alike")),
    }
}

fn convert(shown: &str) -> String {
    format!("`openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256 -in {shown} -out NEW` makes such a key of it")
}

fn no_key(text: &str, shown: &str, wanted: &str) -> Problem {
    let problem = Problem::new(format!("`{shown}` holds no {wanted} key"));
    let label = if wanted == "private" { "PRIVATE KEY" } else { "PUBLIC KEY" };
    let problem = problem.expected(format!("expected PEM, `-----BEGIN {label}-----`"));
    match wanted {
        "private" if text.contains("PUBLIC KEY-----") => problem.help("this is the public half of a pair"),
        "public" if text.contains("PRIVATE KEY-----") => {
            problem.help("this is the private half of a pair: `openssl pkey -pubout` makes the public one of it")
        }
        _ => problem,
    }
}

fn rejected(error: &KeyRejected, shown: &str) -> Problem {
    let problem = Problem::new(format!(
        "the key `{shown}` cannot be used: {}",
        match error.to_string().as_str() {
            "TooSmall" => "it has fewer than 2048 bits",
            "TooLarge" => "it has more than 8192 bits",
            "InvalidEncoding" => "it is cut short or damaged",
            _ => "it is no whole RSA key",
        }
    ));
    problem.expected("expected an RSA key of 2048 to 8192 bits")
}

/// AlgorithmIdentifier of RSA: rsaEncryption, NULL.
const RSA: &[u8] = &[0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];

/// PKCS#8 around a PKCS#1 key.
fn wrapped(pkcs1: &[u8]) -> Zeroizing<Vec<u8>> {
    sequence(&[&[2, 1, 0], RSA, &tagged(0x04, &[pkcs1])])
}

fn sequence(parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    tagged(0x30, parts)
}

/// One DER element.
fn tagged(tag: u8, parts: &[&[u8]]) -> Zeroizing<Vec<u8>> {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let mut out = Zeroizing::new(Vec::with_capacity(length + 12));
    out.push(tag);
    let bytes = length.to_be_bytes();
    let significant: Vec<u8> = bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
    match u8::try_from(length) {
        Ok(short @ ..0x80) => out.push(short),
        _ => {
            out.push(0x80 | significant.len() as u8);
            out.extend_from_slice(&significant);
        }
    }
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_fits_under_a_passphrase_and_without() {
        for passphrase in [None, Some("zebra")] {
            let pair = generate(2048, passphrase).expect("a pair");
            let asked = || passphrase.map(|word| Zeroizing::new(word.to_owned())).ok_or_else(Problem::default);
            let private = Private::read(&pair.private, "k", asked).expect("reads");
            let public = Public::read(&pair.public, "k.pub").expect("reads");
            assert_eq!(public.fingerprint(), pair.fingerprint);
            let wrapped = public.wrap(&[7; 32]).expect("wraps");
            assert_eq!(private.unwrap(&wrapped).expect("unwraps").as_slice(), [7; 32]);
            assert!(pair.private.lines().all(|line| line.len() <= 64));
        }
    }

    #[test]
    fn a_changed_key_file_is_a_wrong_passphrase_or_a_broken_key_and_never_a_key() {
        let pair = generate(2048, Some("zebra")).expect("a pair");
        let blocks = pem::blocks(&pair.private);
        let der = &blocks.first().expect("a block").der;
        for at in (0..der.len()).step_by(97) {
            let mut changed = der.to_vec();
            changed[at] ^= 1;
            let text = pem::write("ENCRYPTED PRIVATE KEY", &changed);
            let read = Private::read(&text, "k", || Ok(Zeroizing::new("zebra".to_owned())));
            // What stands in one block alone may turn an unused number of the key.
            if let Ok(key) = read {
                let wrapped = Public::read(&pair.public, "k").expect("reads").wrap(&[7; 32]).expect("wraps");
                assert!(key.unwrap(&wrapped).is_none_or(|key| key.as_slice() == [7; 32]), "at {at}");
            }
        }
    }
}
