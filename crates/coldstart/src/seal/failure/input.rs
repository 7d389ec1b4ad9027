//! Values and Secrets that were asked for and can't be sealed as they are. Values are never repeated, nor what may be one.

use std::io;
use std::path::PathBuf;

use ::seal::generated::UnknownKind;
use ::seal::manifest::Inexact;
use ::seal::{EnvError, NoScope};
use diagnostic::Next;
use diagnostic::next::{Again, Edit, Value};
use source::{clean, shown};

#[derive(Debug, thiserror::Error)]
pub(crate) enum InputFailure {
    #[error("there is no file to commit or push")]
    NothingToCommit,
    #[error("there is no value to seal")]
    NothingToSeal,
    #[error("--raw seals one value")]
    RawTakesOne,
    #[error("no Secrets are declared")]
    NothingDeclared,
    #[error("coldstart.yaml:{line}: {why}")]
    BadDeclaration { line: u32, why: DeclarationFault },
    #[error("{place} holds several Secrets: --name can't name them all", place = clean(.place))]
    SeveralToName { place: String },
    #[error("{place} holds several Secrets: further values belong to none of them", place = clean(.place))]
    SeveralForValues { place: String },
    #[error("there are two values for `{key}`", key = clean(.key))]
    TwoValues { key: String },
    #[error("standard input can be read once, and is asked for more than once")]
    StandardInputTwice,
    #[error("{place}:{first} and {place}:{second} are both Secret {name}; nothing was sealed", place = clean(.place), name = clean(.name))]
    SecretTwice { place: String, first: usize, second: usize, name: String },
    #[error("{place} is not text", place = clean(.place))]
    NotText { place: String },
    #[error("{place} is not valid YAML: line {line}", place = clean(.place))]
    NotYaml { place: String, line: usize },
    #[error("{place} holds no Secret", place = clean(.place))]
    NoSecret { place: String },
    #[error("the environment variable that is named for `{key}` is not set", key = clean(.key))]
    NoVariable { key: String },
    #[error("no value for `{key}`: {why}", key = clean(.key))]
    Empty { key: String, why: EmptyValue },
    #[error("no value for {key}: {why}", key = clean(.key))]
    Unanswered { key: String, why: Unanswered },
    #[error("the file that is named for `{key}` can't be read: {source}", key = clean(.key))]
    UnreadableValue { key: String, source: io::Error },
    #[error("the file that is named for {option} can't be read: {source}")]
    UnreadableFile { option: &'static str, source: io::Error },
    #[error("one of the values is not given as {form}")]
    Form { form: &'static str },
    #[error("one of the values is not given as KEY=FILE, nor is it a file")]
    NeitherKeyNorFile,
    #[error("{}:{}: {}", shown(.path), .source.line, .source.fault)]
    EnvFile { path: PathBuf, source: EnvError },
    #[error("{}{}: {why}", shown(.path), .line.map(|line| format!(":{line}")).unwrap_or_default())]
    Structure { path: PathBuf, line: Option<usize>, why: StructureFault },
}

/// What of a declaration is not understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DeclarationFault {
    #[error(transparent)]
    Kind(#[from] UnknownKind),
    #[error(transparent)]
    Scope(#[from] NoScope),
}

/// Where nothing came from.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EmptyValue {
    #[error("the environment variable that is named for it is empty")]
    Variable,
    #[error("standard input is empty; did the program before it fail?")]
    StandardInput,
    #[error("the answer is empty")]
    Answer,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unanswered {
    #[error("there is no terminal to ask on")]
    NobodyToAsk,
    #[error("no answer: {0}")]
    NoAnswer(io::Error),
}

/// Why a file is no structure that JSON can carry exactly.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StructureFault {
    #[error("it is not text")]
    NotText,
    #[error("there is nothing in it")]
    Empty,
    #[error("it is not YAML or JSON")]
    NotYaml,
    #[error("it is more than one YAML or JSON document")]
    Several,
    #[error(transparent)]
    Inexact(#[from] Inexact),
}

impl InputFailure {
    pub(super) fn next(&self) -> Next {
        Next::Value(match self {
            Self::NothingToCommit => return Next::Again(Again::WithOutOrUncommitted),
            Self::NothingToSeal => Value::Options,
            Self::RawTakesOne => Value::WithOneOption,
            Self::NothingDeclared => return Next::Edit(Edit::DeclareSecrets),
            Self::BadDeclaration { .. } => return Next::Edit(Edit::SettingsThere),
            Self::SeveralToName { .. } => return Next::Again(Again::WithoutName),
            Self::SeveralForValues { .. } => Value::OwnCommand,
            Self::TwoValues { .. } => Value::OneOfThem,
            Self::StandardInputTwice => Value::FileForOthers,
            Self::SecretTwice { .. } => return Next::Edit(Edit::OneSecret),
            Self::NotText { .. } => Value::TextFile,
            Self::NotYaml { .. } => return Next::Edit(Edit::Line),
            Self::NoSecret { .. } => Value::ManifestOrHelp,
            Self::NoVariable { .. } => Value::Export,
            Self::Empty { key, .. } => Value::Empty { key: key.clone() },
            Self::Unanswered { key, .. } => Value::StdinOrFile { key: key.clone() },
            Self::UnreadableValue { key, .. } => Value::FileOrStdin { key: key.clone() },
            Self::UnreadableFile { .. } => Value::FileOrDash,
            Self::Form { .. } | Self::NeitherKeyNorFile => Value::Help,
            Self::EnvFile { source, .. } => return source.fault.next(),
            Self::Structure { why, .. } => why.next(),
        })
    }
}

impl StructureFault {
    fn next(&self) -> Value {
        match self {
            Self::NotText => Value::FileAsItIs,
            Self::Empty => Value::StructuredFile,
            Self::NotYaml => Value::RepairOrFileAsItIs,
            Self::Several => Value::SingleDocument,
            Self::Inexact(_) => Value::Quote,
        }
    }
}
