//! Lines of a text, by the bytes in them.

/// Where the line that a byte is in begins.
pub(crate) fn start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |end| end + 1)
}

/// Where the next line begins, or the text ends.
pub(crate) fn next(text: &str, at: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |end| at + end + 1)
}

/// The line that a byte is in, without its end.
pub(crate) fn around(text: &str, at: usize) -> &str {
    text[start(text, at)..next(text, at)].trim_end_matches(['\n', '\r'])
}

/// How far to the right of its line a byte is.
pub(crate) fn column(text: &str, at: usize) -> usize {
    at - start(text, at)
}

/// How lines end here.
pub(crate) fn ending(text: &str) -> &'static str {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether a line holds nothing but blanks or a comment.
pub(crate) fn is_blank(line: &str) -> bool {
    let line = line.trim_start();
    line.is_empty() || line.starts_with('#')
}

/// The end of the last line before `at` that holds something: where the line after it begins.
pub(crate) fn after_content_before(text: &str, at: usize) -> usize {
    let mut end = start(text, at);
    while end > 0 && is_blank(around(text, end - 1)) {
        end = start(text, end - 1);
    }
    end
}
