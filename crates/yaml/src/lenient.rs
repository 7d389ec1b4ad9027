//! What the library that kustomize and Flux read with takes, and YAML 1.2 does not. Spaces are put where they are missing, and
//! the text is read again; places are still those of the text as it is written.

use std::collections::{BTreeMap, BTreeSet};

use granit_parser::ErrorKind;
use source::to_u32;

use crate::parse::{Moved, Problem, to_i64};

/// How many spaces are missing, by where.
pub(crate) type Missing = BTreeMap<usize, usize>;

/// Before the colon of `*name:`, wherever an alias is a key and its colon stands right behind it. By YAML 1.2 that colon
/// belongs to the name; that library ends the name before it.
pub(crate) fn before_colons(text: &str) -> Missing {
    let anchors: BTreeSet<&str> = text.match_indices('&').map(|(at, _)| name_at(&text[at + 1..])).collect();
    let mut missing = Missing::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        missing.extend(alias_key(line, &anchors).map(|colon| (begin + colon, 1)));
        begin += line.len();
    }
    missing
}

/// Where the colon stands in a line that begins with `*name:`, after spaces and dashes, if something has that name.
fn alias_key(line: &str, anchors: &BTreeSet<&str>) -> Option<usize> {
    let alias = line.trim_start_matches([' ', '-']).strip_prefix('*')?;
    let name = name_at(alias);
    let behind = alias[name.len()..].strip_prefix(':').filter(|_| !name.is_empty() && anchors.contains(name))?;
    let is_key = behind.is_empty() || behind.starts_with([' ', '\n', '\r']);
    is_key.then_some(line.len() - alias.len() + name.len())
}

/// The name of an anchor that a text begins with, as that library reads it.
fn name_at(text: &str) -> &str {
    let is_other = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
    &text[..text.find(is_other).unwrap_or(text.len())]
}

/// What is missing where a problem is: before a further line of a quoted text that is not indented more than its key, and before
/// the `|` of a block that stands in a line of its own below its key.
pub(crate) fn at_problem(text: &str, problem: &Problem) -> Option<(usize, usize)> {
    /// Leading spaces of such a line mean nothing: so many are enough for any key.
    const WIDE: usize = 100;
    let at = problem.span.start as usize;
    let is = |kind: ErrorKind| problem.message == kind.to_string();
    if is(ErrorKind::InvalidQuotedScalarIndent) {
        return Some((at, WIDE));
    }
    let line = text.get(at..)?.lines().next()?;
    let is_header =
        line.starts_with(['|', '>']) && line[1..].trim_end().bytes().all(|byte| b"+-0123456789".contains(&byte));
    let begins_line = text[..at].bytes().rev().find(|byte| *byte != b' ').is_none_or(|byte| byte == b'\n');
    (is(ErrorKind::SimpleKeyExpected) && is_header && begins_line).then_some((at, 1))
}

/// The text with the spaces in it.
pub(crate) fn filled(text: &str, missing: &Missing) -> (String, Moved) {
    let mut filled = String::with_capacity(text.len() + missing.values().sum::<usize>());
    let mut moved = Moved::default();
    let (mut behind, mut added) = (0, 0);
    for (at, count) in missing {
        filled.push_str(text.get(behind..*at).unwrap_or_default());
        filled.extend(std::iter::repeat_n(' ', *count));
        (behind, added) = (*at, added + count);
        moved.cuts.push((to_u32(filled.len()), -to_i64(added)));
    }
    filled.push_str(text.get(behind..).unwrap_or_default());
    (filled, moved)
}
