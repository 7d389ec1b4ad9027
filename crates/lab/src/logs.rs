//! The logs of the Flux controllers, which are JSON: the fullest record of what failed. Events are folded and limited in
//! number, a status keeps only the last word.

use serde_json::Value;

use crate::{Lab, Process};

/// A line of a controller's log with level `error`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedError {
    /// RFC 3339.
    pub at: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub message: String,
    pub error: String,
}

impl Lab {
    /// Every error that a Flux controller has logged about an object, oldest first.
    pub fn logged_errors(&self, process: Process) -> Vec<LoggedError> {
        self.log(process).lines().filter_map(read).collect()
    }
}

fn read(line: &str) -> Option<LoggedError> {
    let line: Value = serde_json::from_str(line).ok()?;
    let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
    (line["level"] == "error").then(|| LoggedError {
        at: text("ts"),
        kind: text("controllerKind"),
        namespace: text("namespace"),
        name: text("name"),
        message: text("msg"),
        error: text("error"),
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn only_errors_are_read() {
        assert_eq!(read(r#"{"level":"info","msg":"all is well"}"#), None);
        assert_eq!(read("not JSON"), None);
        let line = r#"{"level":"error","ts":"T","controllerKind":"Kustomization","namespace":"n","name":"a","msg":"m","error":"e"}"#;
        let read = read(line).unwrap();
        assert_eq!((read.kind.as_str(), read.name.as_str(), read.error.as_str()), ("Kustomization", "a", "e"));
    }
}
