//! Text from a repository, made harmless: control characters, escape sequences and marks that turn the direction of
//! text become visible signs. One character in, one character out, so columns stay what they were.

use std::borrow::Cow;

const REPLACEMENT: char = '\u{fffd}';

/// A line that can be printed: no control characters at all, not even line ends and tabs.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| sign_for(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| sign_for(c).unwrap_or(c)).collect())
}

/// As [`clean`], for lines of source: tabs stay, the renderer knows their width.
pub(crate) fn clean_source(line: &str) -> Cow<'_, str> {
    let sign = |c: char| if c == '\t' { None } else { sign_for(c) };
    if line.chars().all(|c| sign(c).is_none()) {
        return Cow::Borrowed(line);
    }
    Cow::Owned(line.chars().map(|c| sign(c).unwrap_or(c)).collect())
}

/// What to print in place of a character that must not reach a terminal.
fn sign_for(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}' => Some(REPLACEMENT),
        _ if is_deceptive(c) => Some(REPLACEMENT),
        _ => None,
    }
}

/// Characters that turn the direction of text, have no width, or break lines in some programs only.
fn is_deceptive(c: char) -> bool {
    let direction =
        matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}');
    let invisible = matches!(c, '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
    direction || invisible || breaks
}

#[cfg(test)]
mod tests {
    use super::{clean, clean_source};

    #[test]
    fn hostile_names_lose_their_power() {
        assert_eq!(clean("\u{1b}[2J\u{1b}]0;owned\u{7}"), "␛[2J␛]0;owned␇");
        assert_eq!(clean("a\u{202e}gpj.exe"), "a\u{fffd}gpj.exe");
        assert_eq!(clean("csi \u{9b}31m"), "csi \u{fffd}31m");
        assert_eq!(clean("line\nbreak\r"), "line␊break␍");
    }

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for text in ["cert-manager/letsencrypt", "größe → 1 h", "日本語", ""] {
            assert_eq!(clean(text), text);
        }
        assert_eq!(clean_source("\tkey: value"), "\tkey: value");
    }
}
