//! Edits of the bytes of one text: comments, order and style of everything else stay.

use std::borrow::Cow;
use std::ops::Range;

/// A range of bytes, and what is to stand there instead. An empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Bytes of the old text.
    pub range: Range<usize>,
    /// What comes in their place, its lines ended by `\n`.
    pub text: String,
}

impl Edit {
    /// What comes in the place of a range.
    pub fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { range, text: text.into() }
    }

    /// What comes before a byte.
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// Why a text can't be edited so. `E` is why it can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError<E> {
    /// Two edits change the same bytes: an alias and its anchor have one place.
    #[error("two edits change byte {at}")]
    Overlap {
        /// The first byte of both.
        at: usize,
    },
    /// An edit is about bytes that the text does not have, or begins within a character.
    #[error("byte {at} is not in the text")]
    NoPlace {
        /// Where.
        at: usize,
    },
    /// The text can't be read, before or after.
    #[error("{0}")]
    Unread(E),
    /// The new text says something else than was wanted.
    #[error("the edited text would not have the intended value")]
    Other,
}

/// The text with the edits made. Edits at the same place keep their order.
pub fn apply<E>(text: &str, mut edits: Vec<Edit>) -> Result<String, EditError<E>> {
    edits.sort_by_key(|edit| edit.range.start);
    let mut out = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut behind = 0;
    for Edit { range, text: new } in edits {
        if range.start < behind {
            return Err(EditError::Overlap { at: range.start });
        }
        out.push_str(text.get(behind..range.start).ok_or(EditError::NoPlace { at: range.start })?);
        out.push_str(&with_line_ends_of(text, &new));
        if text.get(range.clone()).is_none() {
            return Err(EditError::NoPlace { at: range.end });
        }
        behind = range.end;
    }
    out.push_str(&text[behind..]);
    Ok(out)
}

/// The text with the edits made, if what is read of it is what was wanted. `is_wanted` gets what the text said before and
/// what it would say.
pub fn checked<T, E>(
    text: &str,
    edits: Vec<Edit>,
    read: impl Fn(&str) -> Result<T, E>,
    is_wanted: impl FnOnce(&T, &T) -> bool,
) -> Result<String, EditError<E>> {
    let before = read(text).map_err(EditError::Unread)?;
    let new = apply(text, edits)?;
    let after = read(&new).map_err(EditError::Unread)?;
    if is_wanted(&before, &after) { Ok(new) } else { Err(EditError::Other) }
}

/// New text with the line ends of the text that it comes into.
pub fn with_line_ends_of<'a>(text: &str, new: &'a str) -> Cow<'a, str> {
    let is_crlf = text.split_once('\n').is_some_and(|(first, _)| first.ends_with('\r'));
    if is_crlf { Cow::Owned(new.replace('\n', "\r\n")) } else { Cow::Borrowed(new) }
}

#[cfg(test)]
mod tests {
    use super::{Edit, EditError, apply, checked};

    type Made = Result<String, EditError<()>>;

    fn edited(text: &str, edits: &[(usize, usize, &str)]) -> Made {
        apply(text, edits.iter().map(|(start, end, new)| Edit::replace(*start..*end, *new)).collect())
    }

    #[test]
    fn edits_are_made_in_the_order_of_their_places() {
        assert_eq!(edited("abcdef", &[(4, 5, "E"), (0, 1, ""), (2, 2, "-"), (6, 6, "!")]).unwrap(), "b-cdEf!");
        assert_eq!(edited("ab", &[(1, 1, "1"), (1, 1, "2"), (1, 2, "B")]).unwrap(), "a12B");
        assert_eq!(edited("same", &[]).unwrap(), "same");
    }

    #[test]
    fn what_two_edits_change_is_left_alone() {
        assert_eq!(edited("abcdef", &[(0, 3, "x"), (2, 4, "y")]), Err(EditError::Overlap { at: 2 }));
        assert_eq!(edited("abcdef", &[(1, 3, "x"), (1, 3, "y")]), Err(EditError::Overlap { at: 1 }));
    }

    #[test]
    fn a_place_must_be_there() {
        assert_eq!(edited("ab", &[(5, 5, "x")]), Err(EditError::NoPlace { at: 5 }));
        assert_eq!(edited("ab", &[(1, 5, "x")]), Err(EditError::NoPlace { at: 5 }));
        assert_eq!(edited("ä", &[(1, 1, "x")]), Err(EditError::NoPlace { at: 1 }), "within a character");
    }

    #[test]
    fn line_ends_stay_what_they_are() {
        assert_eq!(edited("a\r\nb\r\n", &[(3, 3, "x\n")]).unwrap(), "a\r\nx\r\nb\r\n");
        assert_eq!(edited("a\nb\n", &[(2, 2, "x\n")]).unwrap(), "a\nx\nb\n");
    }

    #[test]
    fn a_text_that_would_say_something_else_is_not_made() {
        let number = |text: &str| text.parse::<u32>().map_err(|_| "no number");
        let edit = |new: &str| vec![Edit::replace(0..1, new)];
        assert_eq!(checked("12", edit("3"), number, |was, is| is - was == 20), Ok("32".to_owned()));
        assert_eq!(checked("12", edit("4"), number, |was, is| is - was == 20), Err(EditError::Other));
        assert_eq!(checked("12", edit("x"), number, |_, _| true), Err(EditError::Unread("no number")));
        assert_eq!(checked("x2", edit("1"), number, |_, _| true), Err(EditError::Unread("no number")));
    }
}
