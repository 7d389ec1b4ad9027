//! Why the real kustomize fails: one variant per step that can, with the names it fails at.

use std::fmt;

use thiserror::Error;

use yaml::{DEPTH_MAX, Spent};

use crate::builder::{DIRECTORIES_DEEP_MAX, DIRECTORIES_MAX, OBJECTS_MAX};
use crate::expression::COMPILED_BYTES_MAX;
use crate::fieldpath::PathError;
use crate::fieldspec::FieldError;
use crate::flux::SCANNED_MAX;
use crate::patch::{JsonPatchError, MergeError};
use crate::selector::SelectorError;

/// Why a build fails. Paths and names are as they are written; `object` is an object by its kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BuildError {
    #[error("`{path}` is outside the repository")]
    Outside { path: String },
    #[error("`{path}` does not exist")]
    Missing { path: String },
    #[error("`{path}` is not a directory")]
    NoDirectory { path: String },
    #[error("`{path}` is a directory, not a file")]
    DirectoryForFile { path: String },
    #[error("`{path}` is a file, not a directory")]
    FileForDirectory { path: String },
    /// `why` is what the keeper of the files says, where it does.
    #[error("`{path}` {}", .why.as_deref().unwrap_or("can't be read, or is too large"))]
    Unreadable { path: String, why: Option<String> },
    #[error("`{path}` {}", .why.as_deref().unwrap_or("can't be read as text, or is too large"))]
    NoText { path: String, why: Option<String> },
    #[error("`{path}` is not UTF-8")]
    NotUtf8 { path: String },
    /// What the reader of YAML says.
    #[error("{0}")]
    Yaml(String),
    #[error("`{path}` leads back to a directory that is being built: a cycle")]
    Cycle { path: String },
    #[error("`{path}` is nested deeper than {DIRECTORIES_DEEP_MAX} bases")]
    BasesTooDeep { path: String },
    #[error("`{path}` is nested deeper than {DIRECTORIES_DEEP_MAX} directories")]
    DirectoriesTooDeep { path: String },

    #[error("no kustomization file in `{directory}`")]
    NoKustomization { directory: String },
    #[error("more than one kustomization file in `{directory}`")]
    ManyKustomizations { directory: String },
    #[error("the kustomization is empty")]
    EmptyKustomization,
    #[error("the kustomization is not a mapping")]
    KustomizationNoMapping,
    #[error("kind is `{kind}`, and should be Kustomization or Component")]
    WrongKind { kind: String },
    #[error("apiVersion is `{version}`, and should be {wanted}")]
    WrongVersion { version: String, wanted: String },
    #[error("`{of}` has no field `{field}`")]
    UnknownField { field: String, of: String },
    #[error("`{field}` should be {wanted}")]
    WrongType { field: String, wanted: WantedType },
    #[error("`{path}` is not a Component")]
    NoComponent { path: String },
    #[error("`{path}` is a Component: it belongs under `components`")]
    ComponentAsBase { path: String },
    #[error("the component `{path}` must be a path inside the repository")]
    ComponentOutside { path: String },
    #[error("this OpenAPI version is not built in")]
    OpenApiVersion,
    #[error("`legacySortOptions` needs the order `legacy`")]
    LegacySortOptions,
    #[error("`{order}` is not an order: it must be fifo or legacy")]
    SortOrder { order: String },

    #[error("this is not a Kubernetes object: it is not a mapping")]
    ObjectNoMapping,
    #[error("this is not a Kubernetes object: it has no `kind`")]
    ObjectWithoutKind,
    #[error("this {kind} has no `metadata.name`")]
    ObjectWithoutName { kind: String },
    #[error("`items` of this {kind} is not a list")]
    ItemsNoList { kind: String },
    #[error("{object} is in this build already")]
    Doubled { object: String },
    #[error("the namespace makes two objects one: {object}")]
    DoubledByNamespace { object: String },
    #[error("patches left this object without a kind or a name")]
    IdentityLost,

    #[error("a generator needs a name")]
    GeneratorWithoutName,
    #[error("`{text}` should be key=value")]
    NoPair { text: String },
    #[error("`{text}` should be a path or key=path")]
    NoPathPair { text: String },
    #[error("the key `{key}` is generated twice")]
    DoubledKey { key: String },
    #[error("{object} does not exist, so there is nothing to merge with or replace")]
    NothingToMerge { object: String },
    #[error("{object} exists; the generator's behavior must be merge or replace")]
    GeneratedExists { object: String },
    #[error("{object} could be merged into more than one object")]
    ManyToMerge { object: String },

    #[error("a patch needs `{key}` or `path`")]
    PatchWithoutText { key: String },
    #[error("`{key}` and `path` exclude each other")]
    PatchTwice { key: String },
    #[error("there is no patch in here")]
    NoPatch,
    #[error("this is neither an object with kind and name to merge nor a JSON patch")]
    NeitherPatch,
    #[error("this is not a JSON patch")]
    NoJsonPatch,
    #[error("a JSON patch needs a `target`")]
    JsonPatchWithoutTarget,
    #[error("a JSON patch needs the name of its target")]
    JsonPatchWithoutName,
    #[error("a patch with a `target` must be one object")]
    TargetedPatches,
    #[error("no object for this patch: {object} is not in the build")]
    PatchOfNone { object: String },
    #[error("more than one object for this patch: {object}")]
    PatchOfMany { object: String },
    #[error("the patch does not fit {object}: {error}")]
    JsonPatch { object: String, error: JsonPatchError },
    #[error("the patch does not fit {object}: {error}")]
    Merge { object: String, error: MergeError },
    #[error(transparent)]
    Selector(#[from] SelectorError),

    #[error(transparent)]
    Field(#[from] FieldError),
    #[error("{object}: {error}")]
    FieldOf { object: String, error: FieldError },
    #[error("{object}: a subject with a blank namespace")]
    BlankSubject { object: String },
    #[error("`{value}` is not a value of setRoleBindingSubjects")]
    RoleBindingSubjects { value: String },
    #[error("no object named `{name}` has replicas")]
    NoReplicas { name: String },
    #[error("a replacement needs a source and at least one target")]
    IncompleteReplacement,
    #[error(transparent)]
    Replacement(#[from] PathError),
    #[error("the var `{name}` is defined twice")]
    DoubledVar { name: String },
    #[error("the var `{name}` could mean more than one object")]
    AmbiguousVar { name: String },
    #[error("the var `{name}` refers to no field of an object")]
    EmptyVar { name: String },
}

impl BuildError {
    /// The limit behind it, where it is none of the build's own faults.
    pub(crate) fn limit(&self) -> Option<LimitError> {
        let is_too_large = matches!(
            self,
            Self::Selector(SelectorError::TooLarge(_))
                | Self::Replacement(PathError::TooLarge(_) | PathError::Selector(SelectorError::TooLarge(_)))
        );
        is_too_large.then_some(LimitError::Expression)
    }
}

/// A limit of this reader that a build meets, and of the real tool does not: nothing of the build is known then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Error)]
pub enum LimitError {
    #[error("more than {DIRECTORIES_MAX} bases in one build")]
    Bases,
    #[error("more than {SCANNED_MAX} files below `{directory}`")]
    Files { directory: String },
    #[error("more than {OBJECTS_MAX} objects in one build")]
    Objects,
    #[error("has a regular expression that takes more than {} MiB when it is compiled", COMPILED_BYTES_MAX / (1024 * 1024))]
    Expression,
    /// What the reader of YAML says.
    #[error("{0}")]
    Document(String),
    #[error("would make an object that nests deeper than {DEPTH_MAX} levels")]
    Depth,
    #[error(transparent)]
    Spent(#[from] Spent),
}

/// What a field of a kustomization should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedType {
    Text,
    Bool,
    Int,
    Texts,
    Any,
    List,
    Mapping,
}

impl fmt::Display for WantedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a text",
            Self::Bool => "true or false",
            Self::Int => "a whole number",
            Self::Texts => "a mapping of texts",
            Self::Any => "anything",
            Self::List => "a list",
            Self::Mapping => "a mapping",
        })
    }
}
