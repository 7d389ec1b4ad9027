//! Small matters of language: plurals, lists, wrapped lines.

use unicode_width::UnicodeWidthStr;

/// `1 error`, `2 errors`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `the key`, `all 2 keys`.
pub fn all(number: usize, noun: &str) -> String {
    if number == 1 { format!("the {noun}") } else { format!("all {number} {noun}s") }
}

/// The first few of a list, and how many more there are.
pub fn first_few(items: &[String], few: usize) -> String {
    let shown = items.iter().take(few).map(String::as_str).collect::<Vec<_>>().join(", ");
    format!("{shown}{}", and_more(few, items.len()))
}

/// `and 3 more` for what does not fit.
pub fn and_more(shown: usize, all: usize) -> String {
    if all > shown { format!(" and {} more", all - shown) } else { String::new() }
}

/// The verb as it stands after that many: `depends`, `depend`.
pub fn agree<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// The beginning of a text that is too long, with a sign that it is only that.
pub(crate) fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Columns that a text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Breaks a text at spaces into lines of at most `columns`. A word that is longer has a line of its own, and `code` is
/// one word.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in words(text) {
        let wide = visible(word);
        if used > 0 && used + 1 + wide > columns {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if used > 0 {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += wide;
    }
    lines.push(line);
    lines
}

/// Columns of a text without the styles in it.
fn visible(text: &str) -> usize {
    let mut pieces = text.split("\u{1b}[");
    let first = width(pieces.next().unwrap_or_default());
    first + pieces.map(|piece| piece.split_once('m').map_or(0, |(_, rest)| width(rest))).sum::<usize>()
}

/// What stands between spaces that are not inside of backticks.
fn words(text: &str) -> impl Iterator<Item = &str> {
    // An odd tick quotes nothing.
    let balanced = text.matches('`').count().is_multiple_of(2);
    let mut quoted = false;
    text.split(move |c: char| {
        quoted ^= balanced && c == '`';
        c == ' ' && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::{count, first_few, shorten, wrap};

    #[test]
    fn styles_take_no_columns() {
        assert_eq!(wrap("\u{1b}[1mone\u{1b}[0m two", 7), ["\u{1b}[1mone\u{1b}[0m two"]);
        assert_eq!(wrap("\u{1b}[1mone\u{1b}[0m two", 6), ["\u{1b}[1mone\u{1b}[0m", "two"]);
    }

    #[test]
    fn one_is_not_many() {
        assert_eq!(count(1, "error"), "1 error");
        assert_eq!(count(0, "error"), "0 errors");
    }

    #[test]
    fn long_lists_end_early() {
        let items: Vec<String> = ["a", "b", "c"].map(str::to_owned).into();
        assert_eq!(first_few(&items, 2), "a, b and 1 more");
        assert_eq!(first_few(&items, 3), "a, b, c");
    }

    #[test]
    fn a_long_text_shows_that_it_goes_on() {
        assert_eq!(shorten("größer als", 3), "grö…");
        assert_eq!(shorten("is here", 3), "is…");
        assert_eq!(shorten("is", 3), "is");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("move it to a place", 9), ["move it", "to a", "place"]);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("set `wait: true` here", 9), ["set", "`wait: true`", "here"]);
        assert_eq!(wrap("one ` tick only", 6), ["one `", "tick", "only"]);
    }
}
