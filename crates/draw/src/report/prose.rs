//! Words of others in Markdown that is kept in a file: readable as it is, and nothing in it means anything.

use crate::clean::clean;

/// A name as code.
pub(crate) fn code(text: &str) -> String {
    format!("`{}`", clean(text).replace('`', "'"))
}

/// Words that may hold `code`.
pub(crate) fn prose(text: &str) -> String {
    // An odd tick quotes nothing.
    if !text.matches('`').count().is_multiple_of(2) {
        return harmless(&text.replace('`', "'"));
    }
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { code(part) } else { harmless(part) }).collect()
}

/// What stands between two bars of a table.
pub(crate) fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in clean(text).chars() {
        if matches!(c, '\\' | '*' | '_' | '[' | ']' | '<' | '>') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{cell, code, prose};

    #[test]
    fn names_are_text_whatever_they_say() {
        assert_eq!(prose("`a|b` needs <img> [x](y)"), "`a|b` needs \\<img\\> \\[x\\](y)");
        assert_eq!(prose("odd ` tick"), "odd ' tick");
        assert_eq!(code("a`b\n"), "`a'b␊`");
        assert_eq!(cell("a|b"), "a\\|b");
    }
}
