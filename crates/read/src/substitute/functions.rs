//! What the functions of `${…}` do to a value. Lengths and offsets are in bytes, as in the original; where that cuts a
//! character in two, a replacement character stands for the rest of it.

use super::expand::{OUTPUT_BYTES_MAX, SubstituteError};
use super::glob::{Pattern, Unmatched};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Plain,
    Default,
    Length,
    Part,
    LowerFirst,
    Lower,
    UpperFirst,
    Upper,
    ReplaceFirst,
    ReplaceAll,
    ReplacePrefix,
    ReplaceSuffix,
    TrimShortestPrefix,
    TrimLongestPrefix,
    TrimShortestSuffix,
    TrimLongestSuffix,
}

/// Trimming takes from `comparisons` what it needs.
pub(super) fn apply(
    operator: Operator,
    value: &str,
    arguments: &[String],
    comparisons: &mut usize,
) -> Result<String, SubstituteError> {
    let first = arguments.first().map(String::as_str).unwrap_or_default();
    let second = arguments.get(1).map(String::as_str);
    Ok(match operator {
        Operator::Plain => value.to_owned(),
        Operator::Default => if value.is_empty() { first } else { value }.to_owned(),
        Operator::Length => value.len().to_string(),
        Operator::Part => part(value, first, second),
        Operator::LowerFirst => first_changed(value, lower),
        Operator::Lower => value.chars().map(lower).collect(),
        Operator::UpperFirst => first_changed(value, upper),
        Operator::Upper => value.chars().map(upper).collect(),
        Operator::ReplaceFirst => value.replacen(first, second.unwrap_or_default(), 1),
        Operator::ReplaceAll => replace_all(value, first, second.unwrap_or_default())?,
        Operator::ReplacePrefix | Operator::ReplaceSuffix => replace_end(operator, value, first, second),
        Operator::TrimShortestPrefix | Operator::TrimLongestPrefix => {
            trim(value, first, operator == Operator::TrimLongestPrefix, comparisons)?
        }
        Operator::TrimShortestSuffix | Operator::TrimLongestSuffix => {
            let longest = operator == Operator::TrimLongestSuffix;
            reversed(&trim(&reversed(value), &reversed(first), longest, comparisons)?)
        }
    })
}

/// The part from `offset`, of `length` bytes; both may count from the end. What is no number leaves the value whole.
fn part(value: &str, offset: &str, length: Option<&str>) -> String {
    let bytes = i64::try_from(value.len()).unwrap_or(i64::MAX);
    let Ok(offset) = offset.parse::<i64>() else { return value.to_owned() };
    let start = if offset < 0 { bytes.saturating_add(offset).max(0) } else { offset };
    let end = match length.map(str::parse::<i64>) {
        None => bytes,
        Some(Err(_)) => return value.to_owned(),
        Some(Ok(length)) if length < 0 => bytes.saturating_add(length),
        Some(Ok(length)) => start.saturating_add(length).min(bytes),
    };
    let range = usize::try_from(start).ok().zip(usize::try_from(end).ok()).map(|(start, end)| start..end);
    let part = range.and_then(|range| value.as_bytes().get(range)).unwrap_or_default();
    String::from_utf8_lossy(part).into_owned()
}

fn first_changed(value: &str, change: fn(char) -> char) -> String {
    let mut characters = value.chars();
    characters.next().map(change).into_iter().chain(characters).collect()
}

/// One character for one character: `ß` stays what it is.
fn upper(character: char) -> char {
    let mut changed = character.to_uppercase();
    changed.next().filter(|_| changed.next().is_none()).unwrap_or(character)
}

fn lower(character: char) -> char {
    character.to_lowercase().next().unwrap_or(character)
}

fn replace_all(value: &str, from: &str, to: &str) -> Result<String, SubstituteError> {
    let places = if from.is_empty() { value.len() + 1 } else { value.len() / from.len() };
    if places.saturating_mul(to.len()) > OUTPUT_BYTES_MAX {
        return Err(SubstituteError::TooLarge);
    }
    Ok(value.replace(from, to))
}

/// Without a replacement nothing is replaced at all, unlike in the other replacing functions.
fn replace_end(operator: Operator, value: &str, from: &str, to: Option<&str>) -> String {
    let replaced = to.and_then(|to| match operator {
        Operator::ReplacePrefix => value.strip_prefix(from).map(|rest| format!("{to}{rest}")),
        _ => value.strip_suffix(from).map(|rest| format!("{rest}{to}")),
    });
    replaced.unwrap_or_else(|| value.to_owned())
}

/// Without the prefix that `pattern` matches. A bad pattern matches nothing.
fn trim(value: &str, pattern: &str, longest: bool, comparisons: &mut usize) -> Result<String, SubstituteError> {
    let matched = match Pattern::new(pattern).prefix(value, longest, comparisons) {
        Ok(matched) => matched.unwrap_or_default(),
        Err(Unmatched::BadPattern) => 0,
        Err(Unmatched::TooMuch) => return Err(SubstituteError::TooSlow),
    };
    Ok(String::from_utf8_lossy(&value.as_bytes()[matched..]).into_owned())
}

fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}
