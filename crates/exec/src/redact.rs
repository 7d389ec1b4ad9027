//! Takes secrets out of what a program said.

use crate::program::{Input, Program};

/// What stands in the place of a secret.
const REDACTED: &str = "[redacted]";
/// Shorter lines of a secret input are words, braces and dashes.
const SECRET_LINE_CHARACTERS_MIN: usize = 6;

/// What a program said, without its secrets: those that are named, and every line of a secret input.
pub(crate) fn redacted(program: &Program<'_>, said: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(said).into_owned();
    let mut secrets: Vec<&str> = program.secrets.0.iter().filter_map(|one| std::str::from_utf8(one).ok()).collect();
    if let Input::Secret(bytes) = program.input {
        let lines = std::str::from_utf8(bytes).unwrap_or_default().lines().map(str::trim);
        secrets.extend(lines.filter(|line| line.chars().count() >= SECRET_LINE_CHARACTERS_MIN));
    }
    // Longer ones first: one may be a part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets.into_iter().filter(|secret| !secret.is_empty()) {
        if text.contains(secret) {
            text = text.replace(secret, REDACTED);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::redacted;
    use crate::program::{Input, Program};

    #[test]
    fn no_line_of_a_secret_input_is_repeated() {
        let program = Program::new("x").input(Input::Secret(b"# made today\nAGE-SECRET-KEY-1\n---\n"));
        assert_eq!(
            redacted(&program, b"bad line: AGE-SECRET-KEY-1 --- here"),
            "bad line: [redacted] --- here",
            "what is too short to be a secret stays"
        );
    }

    #[test]
    fn what_is_named_is_not_repeated() {
        let program = Program::new("x").secret(b"hunter2").secret(b"hunter2hunter2");
        assert_eq!(redacted(&program, b"hunter2hunter2, hunter2"), "[redacted], [redacted]");
        assert!(!format!("{program:?}").contains("hunter2"));
    }

    #[test]
    fn a_plain_input_may_be_repeated() {
        let program = Program::new("x").input(Input::Bytes(b"values: here"));
        assert_eq!(redacted(&program, b"values: here"), "values: here");
    }
}
