//! Text from a repository, made harmless by the one list of characters that [`source::clean`] has.

use std::borrow::Cow;
use std::fmt::Write as _;

pub use source::clean;
use source::sign_for;

/// As [`clean`], for lines of source: tabs stay, the renderer knows their width.
pub(crate) fn clean_source(line: &str) -> Cow<'_, str> {
    let sign = |c: char| if c == '\t' { None } else { sign_for(c) };
    if line.chars().all(|c| sign(c).is_none()) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(line.chars().map(|c| sign(c).unwrap_or(c)).collect())
}

/// JSON in which no text holds such a character as it is, nor what a log takes for a command (`##[group]`): it is spelt in
/// hexadecimal, which means the same.
pub fn clean_json(json: String) -> String {
    let is_raw = |c: char| c != '\n' && sign_for(c).is_some();
    if !json.chars().any(is_raw) && !json.contains("##") {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    let mut rest = json.chars();
    while let Some(c) = rest.next() {
        if is_raw(c) || (c == '#' && rest.as_str().starts_with('#')) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A name as YAML takes it for a text: in quotes where it could be taken for anything else.
pub fn yaml_text(text: &str) -> String {
    let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { clean_json(serde_json::Value::from(text).to_string()) }
}

#[cfg(test)]
mod tests {
    use super::{clean_json, clean_source};

    #[test]
    fn tabs_of_source_stay() {
        assert_eq!(clean_source("\tkey: value\u{1b}"), "\tkey: value␛");
    }

    #[test]
    fn json_holds_no_command_to_a_log_and_means_the_same() {
        let text = "a: b ###[group] ##vso[x] # one\n";
        let cleaned = clean_json(serde_json::to_string(text).unwrap());
        assert!(!cleaned.contains("##"), "{cleaned}");
        assert_eq!(serde_json::from_str::<String>(&cleaned).unwrap(), text);
    }

    #[test]
    fn json_means_the_same_without_a_raw_control_character() {
        let text = "\u{7f}\u{9b}31m\u{2028}\u{202e}\u{e0041}\n";
        let json = serde_json::to_string(text).unwrap();
        let cleaned = clean_json(json);
        assert!(cleaned.is_ascii(), "{cleaned}");
        assert_eq!(serde_json::from_str::<String>(&cleaned).unwrap(), text);
    }
}
