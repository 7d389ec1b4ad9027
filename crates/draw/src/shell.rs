//! Words as a shell reads them.

/// A word that a shell takes as it is. What no terminal should see is made plain.
pub fn word(text: &str) -> String {
    let text = crate::clean(text);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@%+=:,./_-".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        assert_eq!(word("examples/homelab"), "examples/homelab");
        assert_eq!(word("my lab"), "'my lab'");
        assert_eq!(word("it's; rm -rf *"), r"'it'\''s; rm -rf *'");
        assert_eq!(word(""), "''");
    }
}
