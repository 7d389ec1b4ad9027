//! Regular expressions as Go reads them: kustomize's patterns are Go's.

use regex::{Regex, RegexBuilder};
use yaml::Cost;

/// What an expression may grow to when it is compiled.
pub(crate) const COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// What it takes to compile one.
const COMPILED: Cost = Cost { nodes: 2_000, bytes: 0 };
/// As above, for one that may repeat something thousands of times.
const COMPILED_WITH_REPETITION: Cost = Cost { nodes: 50_000, bytes: 0 };

/// What it costs to compile an expression.
pub(crate) fn cost(text: &str) -> Cost {
    if text.contains('{') { COMPILED_WITH_REPETITION } else { COMPILED }.and(Cost::seen(text.len()))
}

/// Why there is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpressionError {
    /// It is none.
    Invalid,
    /// It is one, and more than is compiled here: Go may well take it.
    TooLarge,
}

/// In Go, a brace that begins no repetition stands for itself: `app-${APP}` is an expression there.
pub(crate) fn compile(text: &str) -> Result<Regex, ExpressionError> {
    match new(text) {
        Err(ExpressionError::Invalid) if text.contains('{') => new(&with_plain_braces(text)),
        compiled => compiled,
    }
}

fn new(text: &str) -> Result<Regex, ExpressionError> {
    RegexBuilder::new(text).size_limit(COMPILED_BYTES_MAX).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => ExpressionError::TooLarge,
        _ => ExpressionError::Invalid,
    })
}

fn with_plain_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '{']) {
        out.push_str(&rest[..at]);
        let taken = if rest[at..].starts_with('\\') {
            // What is escaped stays so.
            1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8)
        } else {
            let repetition = repetition_len(&rest[at..]);
            if repetition.is_none() {
                out.push('\\');
            }
            repetition.unwrap_or(1)
        };
        out.push_str(&rest[at..at + taken]);
        rest = &rest[at + taken..];
    }
    out + rest
}

/// How long `{2}`, `{2,}` or `{2,3}` is at the beginning of a text.
fn repetition_len(text: &str) -> Option<usize> {
    let (inside, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    (is_number(least) && (most.is_empty() || is_number(most))).then_some(inside.len() + 2)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::{ExpressionError, compile};

    #[test]
    fn one_that_is_too_large_is_still_one() {
        assert_eq!(compile(r"\w{900}").unwrap_err(), ExpressionError::TooLarge);
        assert_eq!(compile(r"(\w{900}").unwrap_err(), ExpressionError::Invalid);
    }

    /// Also in the smaller program, where no other crate asks for these tables.
    #[test]
    fn classes_and_cases_are_understood() {
        for (pattern, matches) in [(r"\b(web|)\b", "web"), (r"^v\d+$", "v2"), ("(?i)^web$", "Web"), (r"^\pL+$", "web")]
        {
            assert!(compile(pattern).unwrap().is_match(matches), "{pattern}");
        }
    }

    #[test]
    fn braces_that_repeat_nothing_stand_for_themselves() {
        for (pattern, matches) in [
            (r"^postgres-\${APP}$", "postgres-${APP}"),
            ("^{{x}}$", "{{x}}"),
            ("^a{2}{b$", "aa{b"),
            ("^a{1,2}{,3}$", "aa{,3}"),
            (r"^\{{$", "{{"),
        ] {
            assert!(compile(pattern).unwrap().is_match(matches), "{pattern}");
        }
        assert!(!compile(r"^x\${APP}$").unwrap().is_match("xAPP"));
        assert!(compile("(").is_err());
    }
}
