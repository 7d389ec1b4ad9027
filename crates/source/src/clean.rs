//! Text of others, made harmless before it is shown: control characters, escape sequences and marks that turn the direction of
//! text become visible signs. One character in, one character out, so columns stay what they were.
//!
//! This is the one list of such characters. Whatever is printed, logged or written in another format goes by it.

use std::borrow::Cow;
use std::path::Path;

const REPLACEMENT: char = '\u{fffd}';

/// A line that can be printed: no control characters at all, not even line ends and tabs.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| sign_for(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| sign_for(c).unwrap_or(c)).collect())
}

/// A path that can be printed.
pub fn shown(path: &Path) -> String {
    clean(&path.to_string_lossy()).into_owned()
}

/// What to print in place of a character that must not reach a terminal, a log or another format as it is.
pub fn sign_for(c: char) -> Option<char> {
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
    let invisible = matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2065}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{e0000}'..='\u{e007f}'
    );
    let breaks = matches!(c, '\u{2028}' | '\u{2029}' | '\u{fff9}'..='\u{fffb}');
    direction || invisible || breaks
}

/// Text of several lines that no log takes for a command to the program that keeps it: `::error::` at the start of a line for
/// GitHub, `##[group]` and `##vso[…]` anywhere for others.
pub fn without_commands(text: &str) -> Cow<'_, str> {
    if !text.contains("##") && !text.lines().any(|line| line.trim_start().starts_with("::")) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let start = line.len() - line.trim_start().len();
        let (blank, said) = line.split_at(start);
        out.push_str(blank);
        match said.strip_prefix("::") {
            Some(rest) => out.extend([REPLACEMENT, ':'].into_iter().chain(without_marks(rest).chars())),
            None => out.push_str(&without_marks(said)),
        }
    }
    Cow::Owned(out)
}

/// A line without `##word[`, which some logs obey wherever it stands.
pub fn without_marks(line: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    for (at, _) in line.match_indices("##") {
        let word = line[at + 2..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        if at >= done && word.starts_with('[') {
            out.push_str(&line[done..=at]);
            out.push(REPLACEMENT);
            done = at + 2;
        }
    }
    if done == 0 {
        return Cow::Borrowed(line);
    }
    out.push_str(&line[done..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{clean, without_commands};

    #[test]
    fn hostile_names_lose_their_power() {
        assert_eq!(clean("\u{1b}[2J\u{1b}]0;owned\u{7}"), "␛[2J␛]0;owned␇");
        assert_eq!(clean("a\u{202e}gpj.exe"), "a\u{fffd}gpj.exe");
        assert_eq!(clean("csi \u{9b}31m"), "csi \u{fffd}31m");
        assert_eq!(clean("line\nbreak\r"), "line␊break␍");
        assert_eq!(clean("line\u{2028}break\u{85}"), "line\u{fffd}break\u{fffd}");
        assert_eq!(clean("pay\u{200b}pal\u{ad}"), "pay\u{fffd}pal\u{fffd}");
    }

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for text in ["cert-manager/letsencrypt", "größe → 1 h", "日本語", ""] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn no_line_is_a_command_to_the_program_that_keeps_the_log() {
        assert_eq!(
            without_commands("a\n  ::error::x\n::set-output y"),
            "a\n  \u{fffd}:error::x\n\u{fffd}:set-output y"
        );
        assert_eq!(without_commands("a ##[group]b ##vso[x]"), "a #\u{fffd}[group]b #\u{fffd}vso[x]");
        for text in ["a::b\n# ::c\n## heading [link]\n### [link]\n", "std::fs", ""] {
            assert_eq!(without_commands(text), text);
        }
    }
}
