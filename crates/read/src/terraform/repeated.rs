//! Files in which an object has a key twice. Terraform takes them, and the last value counts; the parser rejects the whole file.
//!
//! Knows how to read such a file anyway: the repeated key gets another first letter, so that no place in the file moves. The value that is
//! read is then the first one, not the last.

use hcl_edit::structure::Body;

/// Of one file. What has more of them is not read.
const REPEATED_KEYS_MAX: usize = 64;
/// What the parser says of a key that the object has.
const REJECTED: &str = "redefined object key";
const INSTEAD: &[u8] = b"_";

pub(super) fn parse(text: &str) -> Option<Body> {
    let mut text = std::borrow::Cow::Borrowed(text);
    for _ in 0..=REPEATED_KEYS_MAX {
        let fault = match text.parse() {
            Ok(body) => return Some(body),
            Err(fault) => fault,
        };
        let fault: hcl_edit::parser::Error = fault;
        if !fault.message().contains(REJECTED) {
            return None;
        }
        text = renamed(&text, fault.location().offset())?.into();
    }
    None
}

/// The same text with another first letter of the key at a place.
fn renamed(text: &str, at: usize) -> Option<String> {
    let key = text.get(at..)?;
    let letter = at + key.find(|letter: char| letter != '"')?;
    let is_letter = text.as_bytes().get(letter)?.is_ascii_alphanumeric();
    let mut bytes = text.as_bytes().to_vec();
    bytes.splice(letter..=letter, INSTEAD.iter().copied());
    String::from_utf8(bytes).ok().filter(|_| is_letter)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn what_follows_a_repeated_key_is_read() {
        let objects = "    KEY = 1\n    KEY = 2\n    \"OTHER\" = 3\n    \"OTHER\" = 4\n";
        let text = format!("locals {{\n  a = {{\n{objects}  }}\n}}\nresource \"x\" \"y\" {{}}\n");
        assert_eq!(parse(&text).unwrap().into_blocks().count(), 2);
        assert!(parse("locals {\n  a = {\n").is_none());
    }
}
