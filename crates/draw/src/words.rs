//! Small matters of language: plurals, lists, wrapped lines.

/// `1 error`, `2 errors`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// The first few of a list, and how many more there are.
pub(crate) fn first_few(items: &[String], few: usize) -> String {
    let shown = items.iter().take(few).map(String::as_str).collect::<Vec<_>>().join(", ");
    match items.len().saturating_sub(few) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The beginning of a text that is too long, with a sign that it is only that.
pub(crate) fn shorten(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Columns that a text takes, near enough: one for each character.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}

/// Breaks a text at spaces into lines of at most `columns`. A word that is longer has a line of its own, and `code` is
/// one word.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut used = 0;
    for word in words(text) {
        let wide = width(word);
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
