//! Bytes that nobody else may see.

use std::fmt;
use std::io::{self, Read};

use aws_lc_rs::constant_time::verify_slices_are_equal;
use zeroize::{Zeroize as _, Zeroizing};

/// How much is read at once.
const CHUNK_BYTES: usize = 8 * 1024;

/// Wiped when dropped, compared in constant time, never printed.
#[derive(Clone)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A copy. The caller's own bytes are the caller's to wipe.
    pub fn copy_of(bytes: &[u8]) -> Self {
        Self::new(bytes.to_vec())
    }

    /// Reads to the end, and not more than `limit` bytes. Buffers that become too small are wiped.
    pub fn read(mut from: impl Read, limit: usize) -> io::Result<Self> {
        let mut held = Zeroizing::new(Vec::with_capacity(CHUNK_BYTES));
        let mut chunk = Zeroizing::new([0_u8; CHUNK_BYTES]);
        loop {
            let number = match from.read(chunk.as_mut_slice()) {
                Ok(0) => return Ok(Self(held)),
                Ok(number) => number,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if held.len() + number > limit {
                return Err(io::Error::other(format!("more than {limit} bytes")));
            }
            if held.capacity() < held.len() + number {
                let mut larger = Zeroizing::new(Vec::with_capacity(2 * (held.len() + number)));
                larger.extend_from_slice(&held);
                held = larger;
            }
            held.extend_from_slice(&chunk[..number]);
        }
    }

    /// The bytes, for as short as possible.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    /// The bytes as text, if they are.
    pub fn expose_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes one line end off the end: what editors and `echo` put there, and what no password has.
    pub fn without_line_end(mut self) -> Self {
        let bytes = &mut self.0;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        self
    }
}

impl From<String> for SecretBytes {
    fn from(text: String) -> Self {
        Self::new(text.into_bytes())
    }
}

impl From<&str> for SecretBytes {
    fn from(text: &str) -> Self {
        Self::copy_of(text.as_bytes())
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &Self) -> bool {
        verify_slices_are_equal(&self.0, &other.0).is_ok()
    }
}

impl Eq for SecretBytes {}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(not shown)")
    }
}

/// Text with secrets in it that is being put together: what it grows out of is wiped.
#[derive(Default)]
pub struct SecretText(Zeroizing<String>);

impl SecretText {
    pub fn push(&mut self, text: &str) {
        let needed = self.0.len() + text.len();
        if self.0.capacity() < needed {
            let mut larger = String::with_capacity(2 * needed);
            larger.push_str(&self.0);
            self.0.zeroize();
            self.0 = Zeroizing::new(larger);
        }
        self.0.push_str(text);
    }

    pub fn expose(&self) -> &str {
        &self.0
    }

    pub fn into_bytes(mut self) -> SecretBytes {
        SecretBytes::new(std::mem::take(&mut *self.0).into_bytes())
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(not shown)")
    }
}

#[cfg(test)]
mod tests {
    use super::{SecretBytes, SecretText};

    #[test]
    fn nothing_shows_in_debug() {
        let secret = SecretBytes::from("hunter2");
        let mut text = SecretText::default();
        text.push("hunter2");
        assert!(!format!("{secret:?} {text:?}").contains("hunter2"));
    }

    #[test]
    fn reading_has_a_limit_and_keeps_every_byte() {
        let long: Vec<u8> = (0..100_000_u32).map(|number| u8::try_from(number % 251).unwrap()).collect();
        assert_eq!(SecretBytes::read(long.as_slice(), 100_000).unwrap().expose(), long);
        assert!(SecretBytes::read(long.as_slice(), 99_999).is_err());
    }

    #[test]
    fn one_line_end_goes() {
        let without = |text: &str| SecretBytes::from(text).without_line_end();
        assert_eq!(without("a\n").expose(), b"a");
        assert_eq!(without("a\r\n").expose(), b"a");
        assert_eq!(without("a\n\n").expose(), b"a\n");
        assert_eq!(without("").expose(), b"");
    }

    #[test]
    fn text_grows() {
        let mut text = SecretText::default();
        for _ in 0..1_000 {
            text.push("abc");
        }
        assert_eq!(text.expose().len(), 3_000);
        assert_eq!(text.into_bytes().expose().len(), 3_000);
    }
}
