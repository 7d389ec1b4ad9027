use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// What the controller calls a key in its log: the SSH fingerprint of the public key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Of a public key: both numbers big-endian, with or without zeroes before them.
    pub(super) fn of_rsa(exponent: &[u8], modulus: &[u8]) -> Self {
        let mut wire = Vec::with_capacity(modulus.len() + 32);
        let mut put = |bytes: &[u8], sign: bool| {
            let length = bytes.len() + usize::from(sign);
            wire.extend_from_slice(&source::to_u32(length).to_be_bytes());
            wire.extend(sign.then_some(0));
            wire.extend_from_slice(bytes);
        };
        put(b"ssh-rsa", false);
        for number in [exponent, modulus] {
            let start = number.iter().position(|byte| *byte != 0).unwrap_or(number.len());
            let number = &number[start..];
            put(number, number.first().is_some_and(|first| *first >= 0x80));
        }
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest(&SHA256, &wire).as_ref());
        Self(bytes)
    }

    /// Short, and fit for the name of an object or a file.
    pub fn id(&self) -> String {
        crate::hex(&self.0[..5])
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHA256:{}", STANDARD_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
