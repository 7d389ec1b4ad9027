//! What is wrong with `coldstart.yaml`.

use repository::Unread;
use source::{Position, clean};

use crate::SETTINGS_FILE;

/// What is wrong with `coldstart.yaml`.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// In a place of it.
    #[error("{SETTINGS_FILE}:{line}:{column}: {problem}")]
    Wrong {
        /// From 1.
        line: u32,
        /// From 1.
        column: u32,
        /// What.
        problem: Problem,
    },
    /// It is there, and no text.
    #[error("{SETTINGS_FILE} {0}")]
    Unread(Unread),
}

impl SettingsError {
    /// A problem at a place.
    pub fn new(at: Position, problem: Problem) -> Self {
        Self::Wrong { line: at.line, column: at.column, problem }
    }
}

/// What is wrong in a place.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It is no YAML.
    #[error("{it}", it = clean(.0))]
    NotYaml(String),
    /// Something that must be a mapping is none.
    #[error("{0} must be a mapping")]
    NotAMapping(&'static str),
    /// Something that must be a list is none.
    #[error("{0} must be a list")]
    NotAList(&'static str),
    /// Something that must be text is none, or is empty.
    #[error("{0} must be text")]
    NotText(&'static str),
    /// A key that there is not.
    #[error("unknown field `{field}`, expected {}", quoted(.known), field = clean(.field))]
    UnknownField {
        /// As it is written.
        field: String,
        /// Those that there are.
        known: &'static [&'static str],
    },
    /// A word that there is not.
    #[error("`{word}` is not one of {}", quoted(.known), word = clean(.word))]
    UnknownWord {
        /// As it is written.
        word: String,
        /// Those that there are.
        known: &'static [&'static str],
    },
    /// A mapping without a key that it needs.
    #[error("{whole} needs `{field}`")]
    Missing {
        /// The mapping.
        whole: &'static str,
        /// The key.
        field: &'static str,
    },
    /// An addition to the catalogue that the catalogue does not understand.
    #[error("{0}")]
    Catalogue(catalogue::DecodeError),
    /// A pattern of paths that is none.
    #[error("{0}")]
    Pattern(ignore::Error),
    /// `pedantic` is something else than true or false.
    #[error("`pedantic` is true or false")]
    Pedantic,
    /// Both `pedantic` and `min-severity`.
    #[error("`pedantic: true` and `min-severity` set the same thing: use one")]
    TwoSeverities,
    /// No severity is called so.
    #[error("`{word}` is not a severity: use {}", .known.join(", "), word = clean(.word))]
    UnknownSeverity {
        /// As it is written.
        word: String,
        /// Those that there are.
        known: Vec<&'static str>,
    },
    /// No rule is called so.
    #[error("no rule is called `{name}`{}", .nearest.map(|nearest| format!(": did you mean `{nearest}`?")).unwrap_or_default(), name = clean(.name))]
    UnknownRule {
        /// As it is written.
        name: String,
        /// The one that may have been meant.
        nearest: Option<&'static str>,
    },
    /// A length of a value that can't be made.
    #[error("`length` must be a number from {min} to {max}")]
    Length {
        /// The shortest.
        min: usize,
        /// The longest.
        max: usize,
    },
    /// A key of a Secret holds one value: of two declarations of it, one would be lost.
    #[error("`{key}` of Secret `{secret}` is declared already, in line {line}: rename one", key = clean(.key), secret = clean(.secret))]
    KeyTwice {
        /// The key.
        key: String,
        /// The name of the Secret.
        secret: String,
        /// Where the first one is.
        line: u32,
    },
    /// There is no such world.
    #[error("`world` is real or simulated, not `{it}`", it = clean(.0))]
    World(String),
    /// A URL of `outside`.
    #[error("`outside` names `{it}` twice", it = clean(.0))]
    OutsideTwice(String),
    /// A machine called as a step of every plan.
    #[error("no machine can be called `{it}`: a step of the plan is `talos/{it}`", it = clean(.0))]
    MachineTaken(String),
    /// Two machines of one name.
    #[error("two machines are called `{it}`", it = clean(.0))]
    MachineTwice(String),
    /// etcd starts on a control plane.
    #[error("`workers` need `control-planes`: etcd starts on the first")]
    WorkersAlone,
    /// A directory that is applied twice would be one step twice.
    #[error("the directory `{it}` is named twice", it = clean(.0))]
    DirectoryTwice(String),
    /// A part of `configuration` that says not which.
    #[error("a part of `configuration` needs a `directory`")]
    NoDirectory,
}

fn quoted(known: &[&str]) -> String {
    known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
