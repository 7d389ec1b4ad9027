//! Ed25519 keys as OpenSSH writes them: `PROTOCOL.key` of its sources. Reads the public half only, and encrypts nothing.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use crate::SecretText;
use crate::key::pem_encode;

pub(crate) const SEED_BYTES: usize = 32;
const PUBLIC_BYTES: usize = 32;
const ALGORITHM: &[u8] = b"ssh-ed25519";
const MAGIC: &[u8] = b"openssh-key-v1\0";
const LABEL: &str = "OPENSSH PRIVATE KEY";
/// What the private part is padded to where nothing encrypts it.
const BLOCK_BYTES: usize = 8;
/// More than any key of this kind, so that the buffer never grows and leaves a copy behind.
const KEY_BYTES_MAX: usize = 512;

/// A private key without a passphrase. `check` is random: it stands there twice, to tell a wrong passphrase by.
pub(crate) fn private_key(seed: &[u8], public: &[u8], check: [u8; 4]) -> SecretText {
    let mut private = Zeroizing::new(Vec::with_capacity(KEY_BYTES_MAX));
    private.extend_from_slice(&check);
    private.extend_from_slice(&check);
    put(&mut private, ALGORITHM);
    put(&mut private, public);
    // The seed and the public half together are what OpenSSH calls the private one.
    put(&mut private, &Zeroizing::new([seed, public].concat()));
    put(&mut private, b"");
    for pad in 1..=u8::MAX {
        if private.len().is_multiple_of(BLOCK_BYTES) {
            break;
        }
        private.push(pad);
    }
    let mut key = Zeroizing::new(Vec::with_capacity(KEY_BYTES_MAX));
    key.extend_from_slice(MAGIC);
    for part in [b"none".as_slice(), b"none", b""] {
        put(&mut key, part);
    }
    key.extend_from_slice(&1_u32.to_be_bytes());
    put(&mut key, &public_blob(public));
    put(&mut key, &private);
    let mut text = SecretText::default();
    pem_encode(LABEL, &key, &mut text);
    text
}

/// A line of `authorized_keys`.
pub(crate) fn public_key(public: &[u8]) -> String {
    format!("ssh-ed25519 {}\n", STANDARD.encode(public_blob(public)))
}

/// The public half, which stands in the clear before the private one.
pub(crate) fn public_of(text: &str) -> Option<[u8; PUBLIC_BYTES]> {
    let (_, body) = text.split_once(&format!("-----BEGIN {LABEL}-----"))?;
    let (body, _) = body.split_once(&format!("-----END {LABEL}-----"))?;
    let base64: Zeroizing<String> = Zeroizing::new(body.split_ascii_whitespace().collect());
    let key = Zeroizing::new(STANDARD.decode(base64.as_bytes()).ok()?);
    let mut rest = key.strip_prefix(MAGIC)?;
    for _cipher_function_and_options in 0..3 {
        take(&mut rest)?;
    }
    rest = rest.strip_prefix(&1_u32.to_be_bytes())?;
    let mut blob = take(&mut rest)?;
    let algorithm = take(&mut blob)?;
    let public = take(&mut blob)?;
    (algorithm == ALGORITHM).then(|| public.try_into().ok()).flatten()
}

fn public_blob(public: &[u8]) -> Vec<u8> {
    let mut blob = Vec::new();
    put(&mut blob, ALGORITHM);
    put(&mut blob, public);
    blob
}

/// A string of SSH: its length, then its bytes.
fn put(out: &mut Vec<u8>, part: &[u8]) {
    out.extend_from_slice(&source::to_u32(part.len()).to_be_bytes());
    out.extend_from_slice(part);
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, after) = rest.split_first_chunk::<4>()?;
    let (part, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
    *rest = after;
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::{private_key, public_of};

    #[test]
    fn the_public_half_is_read_back_and_nothing_else_taken_for_it() {
        let text = private_key(&[7; 32], &[9; 32], [1, 2, 3, 4]);
        assert_eq!(public_of(text.expose()), Some([9; 32]));
        let cut = text.expose().replace("-----END", "-----");
        for wrong in ["", "x", &cut, "-----BEGIN OPENSSH PRIVATE KEY-----AAAA-----END OPENSSH PRIVATE KEY-----"] {
            assert_eq!(public_of(wrong), None, "{wrong}");
        }
    }
}
