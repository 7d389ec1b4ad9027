//! One sealed value, as kubeseal and the controller write it:
//!
//! ```text
//! u16 big endian: length of the RSA part
//! RSA-OAEP (SHA-256, MGF1 with SHA-256, label) of a random session key of 32 bytes
//! AES-256-GCM of the value with that key, a nonce of zeroes, no additional data; tag of 16 bytes
//! ```
//!
//! The session key is used once, which is what makes the nonce of zeroes sound.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::rand;
use aws_lc_rs::rsa::{OAEP_SHA256_MGF1SHA256, OaepPrivateDecryptingKey, OaepPublicEncryptingKey};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, PAD, STANDARD};
use diagnostic::Next;
use diagnostic::next::{Edit, Seal};
use zeroize::Zeroizing;

use crate::SecretBytes;

const LENGTH_BYTES: usize = 2;
const SESSION_KEY_BYTES: usize = 32;
const TAG_BYTES: usize = 16;
/// etcd takes objects up to 1.5 MiB, so no value of a Secret is larger.
pub const VALUE_BYTES_MAX: usize = 2 * 1024 * 1024;

/// As Go reads base64, and so the controller: bits after the last byte may be anything.
const AS_GO: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_allow_trailing_bits(true));

/// Why a value can't be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    #[error("the value is larger than {} MiB, more than a Secret can hold", VALUE_BYTES_MAX / (1024 * 1024))]
    TooLarge,
    #[error("the operating system provides no random numbers")]
    NoRandomness,
    #[error("the certificate's key can't encrypt")]
    Encrypt,
}

/// Why a sealed value can't be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    #[error("it is not base64")]
    NotBase64,
    #[error("it is cut off: {0} bytes are too few")]
    Truncated(usize),
    #[error("it is larger than any Secret")]
    TooLarge,
    #[error("no key opens it for this name, namespace and scope")]
    NoKey,
    #[error("it is cut off or was changed: a key opens its first part, and the rest does not fit")]
    Damaged,
}

impl OpenError {
    /// What to type next.
    pub fn next(self) -> Next {
        match self {
            Self::NoKey => Next::Seal(Seal::VerifySealedFor),
            Self::NotBase64 | Self::Truncated(_) | Self::TooLarge | Self::Damaged => Next::Edit(Edit::FromGitOrAgain),
        }
    }
}

/// A sealed value, taken apart.
#[derive(Clone, Debug)]
pub struct Envelope {
    bytes: Vec<u8>,
    rsa_end: usize,
}

impl Envelope {
    /// Reads the text that stands in `spec.encryptedData`.
    pub fn from_base64(text: &str) -> Result<Self, OpenError> {
        if text.len() > 2 * VALUE_BYTES_MAX {
            return Err(OpenError::TooLarge);
        }
        // A folded block leaves line ends in the text; Go's reader takes them too.
        let text: String = text.chars().filter(|c| !matches!(c, '\n' | '\r')).collect();
        Self::from_bytes(AS_GO.decode(text).map_err(|_| OpenError::NotBase64)?)
    }

    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, OpenError> {
        let truncated = OpenError::Truncated(bytes.len());
        let length = bytes.first_chunk::<LENGTH_BYTES>().ok_or(truncated)?;
        let rsa_end = LENGTH_BYTES + usize::from(u16::from_be_bytes(*length));
        if bytes.len() < rsa_end + TAG_BYTES {
            return Err(truncated);
        }
        Ok(Self { bytes, rsa_end })
    }

    /// Seals a value under a fresh session key.
    pub fn seal(key: &OaepPublicEncryptingKey, label: &[u8], value: &[u8]) -> Result<Self, SealError> {
        if value.len() > VALUE_BYTES_MAX {
            return Err(SealError::TooLarge);
        }
        let mut session = Zeroizing::new([0_u8; SESSION_KEY_BYTES]);
        rand::fill(session.as_mut_slice()).map_err(|_| SealError::NoRandomness)?;
        let rsa_bytes = key.ciphertext_size();
        let rsa_end = LENGTH_BYTES + rsa_bytes;
        let mut bytes = Zeroizing::new(Vec::with_capacity(rsa_end + value.len() + TAG_BYTES));
        bytes.extend_from_slice(&u16::try_from(rsa_bytes).map_err(|_| SealError::Encrypt)?.to_be_bytes());
        bytes.resize(rsa_end, 0);
        let part = &mut bytes[LENGTH_BYTES..];
        let written = key.encrypt(&OAEP_SHA256_MGF1SHA256, session.as_slice(), part, Some(label));
        if written.map_err(|_| SealError::Encrypt)?.len() != rsa_bytes {
            return Err(SealError::Encrypt);
        }
        // Encrypted in place, in the buffer that is returned, or wiped: the plain value is nowhere else.
        bytes.extend_from_slice(value);
        let cipher = cipher(session.as_slice()).ok_or(SealError::Encrypt)?;
        let tag = cipher.seal_in_place_separate_tag(zero_nonce(), Aad::empty(), &mut bytes[rsa_end..]);
        bytes.extend_from_slice(tag.map_err(|_| SealError::Encrypt)?.as_ref());
        Ok(Self { bytes: std::mem::take(&mut *bytes), rsa_end })
    }

    /// The value, if this key and label open it.
    pub fn open(&self, key: &OaepPrivateDecryptingKey, label: &[u8]) -> Result<SecretBytes, OpenError> {
        let rsa = &self.bytes[LENGTH_BYTES..self.rsa_end];
        if rsa.len() != key.key_size_bytes() {
            return Err(OpenError::NoKey);
        }
        let mut session = Zeroizing::new(vec![0_u8; key.min_output_size()]);
        let session = key.decrypt(&OAEP_SHA256_MGF1SHA256, rsa, &mut session, Some(label));
        let session = session.map_err(|_| OpenError::NoKey)?;
        let cipher = cipher(session).ok_or(OpenError::Damaged)?;
        let mut value = Zeroizing::new(self.bytes[self.rsa_end..].to_vec());
        let opened = cipher.open_in_place(zero_nonce(), Aad::empty(), &mut value);
        let length = opened.map_err(|_| OpenError::Damaged)?.len();
        value.truncate(length);
        Ok(SecretBytes::new(std::mem::take(&mut *value)))
    }

    /// As it stands in `spec.encryptedData`.
    pub fn to_base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// Bytes of the value in it: the cipher adds none but its tag.
    pub fn value_bytes(&self) -> usize {
        self.bytes.len() - self.rsa_end - TAG_BYTES
    }

    /// Bits of the key it was sealed for.
    pub fn key_bits(&self) -> usize {
        (self.rsa_end - LENGTH_BYTES) * 8
    }
}

fn cipher(session: &[u8]) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM, session).ok().map(LessSafeKey::new)
}

fn zero_nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}
