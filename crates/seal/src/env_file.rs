//! Files of `KEY=VALUE` lines, as `docker --env-file` and `kubectl create secret --from-env-file` read them: no quotes, no escapes.

use std::collections::BTreeMap;

use diagnostic::Next;
use diagnostic::next::Value;

use crate::SecretBytes;
use crate::manifest::SecretManifest;

/// What is wrong with a line. Never holds any part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvFault {
    #[error("it is not KEY=VALUE")]
    NoAssignment,
    #[error("it is not KEY=VALUE: the key has other characters than letters, digits, `-`, `_` and `.`")]
    BadKey,
    // A line of base64 text looks the same, and its text would become the name of a key, for everybody to read.
    #[error("there is no value after the key, as at the end of base64 text")]
    NoValue,
    // Seen by nobody, and part of the value; where they end the lines, all lines would be one.
    #[error("there is a carriage return in it")]
    CarriageReturn,
    #[error("its key was there before, in line {first}")]
    Twice { first: usize },
}

impl EnvFault {
    /// What to type next.
    pub fn next(self) -> Next {
        Next::Value(match self {
            Self::NoAssignment | Self::BadKey => Value::RepairLineOrFileAsItIs,
            Self::NoValue => Value::EmptyOfAnyKey,
            Self::CarriageReturn => Value::LineEnds,
            Self::Twice { .. } => Value::RemoveOne,
        })
    }
}

/// What is wrong, and in which line; the first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct EnvError {
    pub line: usize,
    pub fault: EnvFault,
}

/// The values of a file, in its order. Empty lines and those that begin with `#` are none.
pub fn env_values(text: &str) -> Result<Vec<(String, SecretBytes)>, EnvError> {
    let mut values = Vec::new();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, line) in text.trim_start_matches('\u{feff}').split('\n').enumerate() {
        let line_number = index + 1;
        let wrong = |fault| EnvError { line: line_number, fault };
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.contains('\r') {
            return Err(wrong(EnvFault::CarriageReturn));
        }
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (key, value) = line.split_once('=').ok_or_else(|| wrong(EnvFault::NoAssignment))?;
        SecretManifest::check_key(key).map_err(|_| wrong(EnvFault::BadKey))?;
        if value.trim_end().chars().all(|c| c == '=') {
            return Err(wrong(EnvFault::NoValue));
        }
        if let Some(first) = lines.insert(key, line_number) {
            return Err(wrong(EnvFault::Twice { first }));
        }
        values.push((key.to_owned(), SecretBytes::from(value)));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::{EnvError, EnvFault, env_values};

    fn fault(text: &str) -> EnvError {
        env_values(text).unwrap_err()
    }

    #[test]
    fn lines_are_taken_as_they_are() {
        let values = env_values("\u{feff}# a\n\n  A=1=2 \r\nb.c-d='quoted'\n").unwrap();
        let read: Vec<_> = values.iter().map(|(key, value)| (key.as_str(), value.expose_text().unwrap())).collect();
        assert_eq!(read, [("A", "1=2 "), ("b.c-d", "'quoted'")]);
    }

    #[test]
    fn what_is_no_line_is_told_by_its_number() {
        assert_eq!(fault("A=1\nplanted"), EnvError { line: 2, fault: EnvFault::NoAssignment });
        assert_eq!(fault("export A=planted"), EnvError { line: 1, fault: EnvFault::BadKey });
        assert_eq!(fault("cGxhbnRlZA=="), EnvError { line: 1, fault: EnvFault::NoValue });
        assert_eq!(fault("A=1\n\nA=planted"), EnvError { line: 3, fault: EnvFault::Twice { first: 1 } });
    }

    /// Found by fuzzing: the end of a file that was cut off between the two bytes of its line end became part of the value, unseen.
    #[test]
    fn carriage_returns_belong_to_no_value() {
        let values = env_values("A=1\r\nB=2\r").unwrap();
        let read: Vec<_> = values.iter().map(|(_, value)| value.expose_text().unwrap()).collect();
        assert_eq!(read, ["1", "2"]);
        for text in ["A=1\rB=2\r", "# all of it\rA=1\r", "A=1\r\r\n"] {
            assert_eq!(fault(text), EnvError { line: 1, fault: EnvFault::CarriageReturn }, "{text:?}");
        }
    }

    #[test]
    fn many_lines_take_no_longer_each_than_few() {
        use std::fmt::Write as _;
        let mut text = String::new();
        for index in 0..200_000 {
            let _ = writeln!(text, "KEY_{index}=value");
        }
        let started = std::time::Instant::now();
        assert_eq!(env_values(&text).unwrap().len(), 200_000);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}
