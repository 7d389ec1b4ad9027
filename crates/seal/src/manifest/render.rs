//! Scalars as text.

use yaml::ScalarKind;

/// A line `key: value`.
pub(super) fn put(out: &mut String, indent: &str, key: &str, value: &str) {
    out.push_str(indent);
    out.push_str(&quoted(key));
    out.push_str(": ");
    out.push_str(&quoted(value));
    out.push('\n');
}

/// The text as it stands where no reader of YAML, old or new, could take it for anything else; else in quotes.
pub fn quoted(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// Whether every reader of YAML takes the bare text for this string.
pub fn is_plain(text: &str) -> bool {
    const OLD_WORDS: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "true", "false"];
    let starts_well = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '+' | '=');
    starts_well
        && text.chars().all(is_word)
        && ScalarKind::of_plain(text) == ScalarKind::Str
        && !OLD_WORDS.contains(&text.to_ascii_lowercase().as_str())
}
