//! Making an envelope, and opening its contents once the key is known.

use super::{Public, Refusal, lenient};
use crate::base::Problem;
use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use zeroize::{Zeroize, Zeroizing};

/// AES works on so many bytes at a time: what the padding fills up.
const BLOCK: usize = 16;

/// Encrypts `text` for a public key.
///
/// # Errors
/// The system has no random numbers.
pub fn seal(public: &Public, text: &str) -> Result<String, Problem> {
    let failed = || Problem::new("cannot encrypt: the system's random numbers failed");
    let mut key = Zeroizing::new([0; 32]);
    let mut iv = [0; 12];
    aws_lc_rs::rand::fill(key.as_mut_slice()).map_err(|_| failed())?;
    aws_lc_rs::rand::fill(&mut iv).map_err(|_| failed())?;
    let cipher = UnboundKey::new(&AES_256_GCM, key.as_slice()).map(LessSafeKey::new).map_err(|_| failed())?;
    let pad = BLOCK - text.len() % BLOCK;
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len() + pad));
    bytes.extend_from_slice(text.as_bytes());
    bytes.extend(std::iter::repeat_n(pad as u8, pad));
    let nonce = Nonce::assume_unique_for_key(iv);
    let tag = cipher.seal_in_place_separate_tag(nonce, Aad::empty(), &mut bytes).map_err(|_| failed())?;
    let wrapped = public.wrap(key.as_slice()).ok_or_else(failed)?;
    let fields = [&wrapped, tag.as_ref(), &iv, &bytes].map(|field| STANDARD.encode(field));
    Ok(format!("ENC[{}]", fields.join(";")))
}

/// Opens what an unwrapped key opens: the last three fields of an envelope.
///
/// # Errors
/// [`Refusal::Malformed`] alone.
pub fn open(key: &[u8], [tag, iv, ciphertext]: [&str; 3]) -> Result<Zeroizing<String>, Refusal> {
    let malformed = |why: String| Refusal::Malformed(why);
    let field = |name: &str, text: &str| lenient::decode(text).map_err(|why| malformed(format!("the {name}: {why}")));
    let iv = field("iv", iv)?;
    let ciphertext = field("ciphertext", ciphertext)?;
    let tag = field("tag", tag)?;
    let sized = |name: &str, found: usize, wanted: usize| match found == wanted {
        true => Ok(()),
        false => Err(malformed(format!("the {name} has {found} bytes, expected {wanted}"))),
    };
    sized("wrapped key", key.len(), 32)?;
    sized("tag", tag.len(), 16)?;
    sized("iv", iv.len(), 12)?;
    // From here on nothing tells more than that it failed: what exactly is of use to an attacker alone.
    let changed = || malformed("it was changed or cut short".to_owned());
    let cipher = UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| changed())?;
    let nonce = Nonce::try_assume_unique_for_key(&iv).map_err(|_| changed())?;
    let mut plain = Zeroizing::new(vec![0; ciphertext.len()]);
    cipher.open_separate_gather(nonce, Aad::empty(), &ciphertext, &tag, &mut plain).map_err(|_| changed())?;
    let length = unpadded(&plain).ok_or_else(changed)?;
    plain.truncate(length);
    match String::from_utf8(std::mem::take(&mut *plain)) {
        Ok(text) => Ok(Zeroizing::new(text)),
        Err(error) => {
            error.into_bytes().zeroize();
            Err(malformed("what it holds is no UTF-8".to_owned()))
        }
    }
}

/// How long the text before the padding is, where there is a padding.
fn unpadded(plain: &[u8]) -> Option<usize> {
    let pad = usize::from(*plain.last()?);
    let fits = plain.len().is_multiple_of(BLOCK) && (1..=BLOCK).contains(&pad);
    let same = plain.iter().rev().take(pad).all(|byte| usize::from(*byte) == pad);
    (fits && same).then(|| plain.len() - pad)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last three fields of an envelope over `padded`, which is sealed as it is.
    fn fields(key: &[u8], padded: &[u8]) -> [String; 3] {
        let cipher = LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("a key"));
        let mut bytes = padded.to_vec();
        let nonce = Nonce::assume_unique_for_key([5; 12]);
        let tag = cipher.seal_in_place_separate_tag(nonce, Aad::empty(), &mut bytes).expect("sealed");
        [tag.as_ref(), &[5; 12], &bytes].map(|field| STANDARD.encode(field))
    }

    fn opened(key: &[u8], padded: &[u8]) -> Result<Zeroizing<String>, Refusal> {
        let fields = fields(key, padded);
        open(key, [&fields[0], &fields[1], &fields[2]])
    }

    #[test]
    fn a_padding_is_checked_to_its_last_byte_and_its_fault_looks_like_any_change() {
        let key = [9; 32];
        assert_eq!(opened(&key, &[&b"ab"[..], &[14; 14]].concat()).expect("opens").as_str(), "ab");
        assert_eq!(opened(&key, &[16; 16]).expect("opens").as_str(), "");
        let changed = Refusal::Malformed("it was changed or cut short".to_owned());
        let mut odd = [14; 16];
        odd[3] = 13;
        for padded in [&[0; 16][..], &[17; 32], &[1; 15], &odd, &[]] {
            assert_eq!(opened(&key, padded).expect_err("refused"), changed, "{padded:?}");
        }
        let latin = [&b"\xe9"[..], &[15; 15]].concat();
        let refusal = opened(&key, &latin).expect_err("no UTF-8");
        assert!(matches!(&refusal, Refusal::Malformed(why) if why.contains("UTF-8")), "{refusal:?}");
    }

    #[test]
    fn a_key_that_is_too_short_is_no_key_of_an_envelope() {
        let fields = fields(&[9; 32], &[16; 16]);
        let refusal = open(&[9; 16], [&fields[0], &fields[1], &fields[2]]).expect_err("16 bytes");
        assert_eq!(refusal, Refusal::Malformed("the wrapped key has 16 bytes, expected 32".to_owned()));
    }
}
