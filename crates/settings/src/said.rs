//! What the file says, as types.

use ignore::gitignore::Gitignore;
use source::Position;

use crate::up::UpSettings;

/// The kinds of values that can be made. `seal`, which makes them, has a test that these are all.
pub const GENERATED_KINDS: [&str; 10] =
    ["password", "symbols", "hex", "base64", "base64url", "bytes", "ssh-ed25519", "age", "rsa", "template"];

/// A word of the file and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub text: String,
    /// Where.
    pub at: Position,
}

/// Everything that `coldstart.yaml` says, but what it adds to the catalogue.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `check`.
    pub check: CheckSettings,
    /// `entry-points`: the directories that clusters begin with, from the root of the repository. None was said where it is empty.
    pub entry_points: Vec<String>,
    /// `seal`.
    pub seal: SealSettings,
    /// `world` and `up`.
    pub up: UpSettings,
}

/// How strict `check` is to be. What is not there was not said.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    pub min_severity: Option<Word>,
    /// From the root of the repository.
    pub baseline: Option<String>,
    /// Names of rules with `off` or a severity, in the order of the file.
    pub rules: Vec<(Word, Word)>,
    pub(crate) ignored: Option<Gitignore>,
}

/// Sealing keys and what is sealed with them. What is not there was not said.
#[derive(Clone, Debug, Default)]
pub struct SealSettings {
    pub store: Option<Word>,
    pub backup: Option<Word>,
    /// From the root of the repository, as every path here.
    pub certificate: Option<String>,
    pub recipients: Vec<String>,
    pub controller: ControllerSettings,
    pub generate: Vec<GeneratedSecret>,
}

/// Where the controller is.
#[derive(Clone, Debug, Default)]
pub struct ControllerSettings {
    pub namespace: Option<String>,
    pub name: Option<String>,
}

/// A Secret whose values are made.
#[derive(Clone, Debug)]
pub struct GeneratedSecret {
    pub path: Word,
    pub name: String,
    pub namespace: Option<String>,
    pub scope: Option<Word>,
    pub kind: Option<String>,
    pub values: Vec<GeneratedValue>,
}

/// A value that is made.
#[derive(Clone, Debug)]
pub struct GeneratedValue {
    pub key: Word,
    pub kind: Word,
    pub length: Option<usize>,
    pub template: Option<String>,
    pub public_key: Option<Word>,
}

impl GeneratedSecret {
    /// Every key that it declares, public halves too.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Word> {
        self.values.iter().flat_map(|value| [Some(&value.key), value.public_key.as_ref()]).flatten()
    }

    /// Whether both are one Secret of one file. One that says no namespace goes into whichever is there.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_open = self.namespace.is_none() || other.namespace.is_none();
        (&self.path.text, &self.name) == (&other.path.text, &other.name)
            && (is_open || self.namespace == other.namespace)
    }
}

impl CheckSettings {
    /// Whether findings at this path, from the root of the repository, are to be left out.
    pub fn ignores(&self, path: &str) -> bool {
        self.ignored.as_ref().is_some_and(|ignored| ignored.matched_path_or_any_parents(path, false).is_ignore())
    }
}
