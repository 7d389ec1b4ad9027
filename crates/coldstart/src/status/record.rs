//! Recordings: what was seen, in a file, to be judged again elsewhere.

use std::path::Path;

use edit::Readers;
use health::{Facts, Time};
use repository::file::{self, Links};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StatusFailure;
use crate::failure::Failure;

/// A cluster of ten thousand pods is some fifty megabytes.
const RECORDING_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// In place of what may be a password.
const HIDDEN: &str = "***";

/// What was seen, and when it was judged.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recording {
    pub(crate) at: Time,
    pub(crate) facts: Facts,
}

/// Writes a recording that only its owner can read.
pub(crate) fn write(path: &Path, at: Time, facts: &Facts) -> Result<(), Failure> {
    let failure = |source| Failure::WriteFile { path: path.to_owned(), source };
    let json = |error: serde_json::Error| Failure::Json(error.to_string());
    let mut value = serde_json::json!({"at": at, "facts": serde_json::to_value(facts).map_err(json)?});
    redact(&mut value);
    let text = serde_json::to_string(&value).map_err(json)?;
    edit::write(path, format!("{text}\n").as_bytes(), Readers::Owner).map_err(failure)
}

pub(crate) fn read(path: &Path) -> Result<Recording, Failure> {
    let failure = |source| Failure::ReadFile { path: path.to_owned(), source };
    let bytes = file::read(path, Links::Followed, RECORDING_BYTES_MAX).map_err(failure)?;
    let not_one =
        |error: serde_json::Error| StatusFailure::NotARecording { path: path.to_owned(), why: error.to_string() };
    // The version first: what another version wrote may not be understood at all.
    let form: Form = serde_json::from_slice(&bytes).map_err(not_one)?;
    let (found, wanted) = (form.facts.version, Facts::VERSION);
    if found != wanted {
        return Err(StatusFailure::OtherVersion { path: path.to_owned(), found, wanted }.into());
    }
    Ok(serde_json::from_slice(&bytes).map_err(not_one)?)
}

#[derive(Deserialize)]
struct Form {
    facts: FormVersion,
}

#[derive(Deserialize)]
struct FormVersion {
    version: u32,
}

/// Facts have no values of Secrets to begin with. What people put into messages and addresses is hidden here: passwords in URLs.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(hidden) = without_passwords(text) {
                *text = hidden;
            }
        }
        Value::Array(all) => all.iter_mut().for_each(redact),
        Value::Object(all) => all.values_mut().for_each(redact),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The same text with user and password of every URL hidden; nothing, where there is none.
fn without_passwords(text: &str) -> Option<String> {
    const MARK: &str = "://";
    let (mut out, mut rest, mut found) = (String::new(), text, false);
    while let Some(at) = rest.find(MARK) {
        let (before, after) = rest.split_at(at + MARK.len());
        out.push_str(before);
        let authority = after.find(|c: char| c == '/' || c.is_whitespace() || c == '"').unwrap_or(after.len());
        rest = after;
        if let Some(end) = after[..authority].rfind('@') {
            out.push_str(HIDDEN);
            rest = &after[end..];
            found = true;
        }
    }
    found.then(|| out + rest)
}

#[cfg(test)]
mod tests {
    use super::without_passwords;

    #[test]
    fn passwords_in_urls_are_hidden_and_nothing_else_is_touched() {
        let hidden = |text| without_passwords(text);
        assert_eq!(
            hidden("clone https://me:hunter2@git.example.com/a.git failed, see http://x/@y").as_deref(),
            Some("clone https://***@git.example.com/a.git failed, see http://x/@y")
        );
        assert_eq!(hidden("ssh://git@git.example.com/a").as_deref(), Some("ssh://***@git.example.com/a"));
        assert_eq!(hidden("mail me@example.com"), None);
        assert_eq!(hidden("https://example.com"), None);
    }
}
