//! A native kustomize build that keeps the origin of every field: a value that a patch brought still carries the span of
//! the patch. Reads only through [`Files`]; runs nothing, fetches nothing. What would need either is a [`Blind`] spot.
//!
//! This crate knows kustomize, and the few things that Flux's kustomize-controller does to a kustomization before it
//! builds it. It does not know what the objects mean.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod accumulate;
mod builder;
mod config;
mod crds;
mod error;
mod expression;
mod fieldpath;
mod fieldspec;
mod files;
mod finish;
mod flux;
mod generators;
mod hash;
mod id;
mod images;
mod inline;
mod kinds;
mod kustomization;
mod load;
mod namespace;
mod patch;
mod path;
mod plugins;
mod references;
mod replacements;
mod resource;
mod resources;
mod schema;
mod selector;
mod sort;
mod structured;
mod style;
mod transform;
mod vars;

pub use error::{BuildError, LimitError, WantedType};
pub use fieldpath::PathError;
pub use fieldspec::FieldError;
pub use files::{Files, PathKind};
pub use kustomization::FILE_NAMES;
pub use patch::{JsonPatchError, MergeError, ValueShape};
pub use selector::SelectorError;

use source::Span;
use yaml::{Budget, Cost, Node};

use crate::accumulate::Accumulated;
use crate::builder::Builder;

/// What a build made, and what it could not.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// The objects in kustomize's own order.
    pub objects: Vec<Node>,
    /// What the real tool would have had to fetch or run, and was left out.
    pub blind: Vec<Blind>,
    /// What makes the real tool fail. The objects are then what could be built without it.
    pub failures: Vec<Failure>,
    /// Every file that was read, for telling dead files from live ones. Repository-relative, sorted, no doubles.
    pub files: Vec<String>,
    /// What it costs to look at all objects once.
    pub cost: Cost,
}

/// Something that was not looked at, and where it is named.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blind {
    pub what: Overlooked,
    pub span: Span,
}

/// What a build does not look at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlooked {
    /// A file at an address, which would be fetched.
    Fetched { address: String },
    /// A directory of another repository, which would be cloned.
    Cloned { address: String },
    /// A chart that Helm would fetch and render.
    Chart { name: String },
    /// A plugin, which would be run as a program or a container.
    Plugin { kind: String, name: String },
    /// An OpenAPI schema, as it is named.
    OpenApi { path: String },
    /// A replacement inside of a text, which would have to be written anew.
    TextReplacement,
    /// The whole build, which takes more than this reader gives it. There are no objects then.
    Beyond(LimitError),
}

/// Something that makes the real build fail, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub error: BuildError,
    pub span: Span,
}

/// What a Flux Kustomization adds to the kustomization at its path before it is built.
#[derive(Clone, Debug, Default)]
pub struct Overlay {
    /// `spec.targetNamespace`.
    pub namespace: Option<Node>,
    /// `spec.namePrefix` and `spec.nameSuffix`.
    pub name_prefix: Option<Node>,
    pub name_suffix: Option<Node>,
    /// `spec.components`: paths relative to the kustomization.
    pub components: Vec<Node>,
    /// `spec.ignoreMissingComponents`.
    pub ignore_missing_components: bool,
    /// `spec.patches`, items as written.
    pub patches: Vec<Node>,
    /// `spec.images`, items as written.
    pub images: Vec<Node>,
    /// `spec.sourceRef`, where what it leaves out of its artifact counts: the files know which one is meant.
    pub source: Option<usize>,
}

impl Overlay {
    /// Whether both add the same, written in the same places: a directory is then built to the same objects.
    pub fn is_same(&self, other: &Self) -> bool {
        self.ignore_missing_components == other.ignore_missing_components
            && self.source == other.source
            && self.parts().zip(other.parts()).all(|(one, other)| {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is_same(other))
            })
    }

    /// Where the first thing that it adds is written.
    pub fn at(&self) -> Option<Span> {
        self.parts().flatten().map(|node| node.span).next()
    }

    fn parts(&self) -> impl Iterator<Item = &[Node]> {
        let single = [&self.namespace, &self.name_prefix, &self.name_suffix].map(Option::as_slice);
        single.into_iter().chain([&self.components, &self.patches, &self.images].map(Vec::as_slice))
    }
}

/// Whose rules hold where a directory has no kustomization file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `kustomize build`: it fails.
    Kustomize,
    /// kustomize-controller: one is generated from all manifests below the directory.
    Flux,
}

/// Builds the kustomization in `directory`, if the budget suffices.
pub fn build(files: &dyn Files, directory: &str, overlay: &Overlay, mode: Mode, budget: &mut Budget) -> Build {
    let mut builder = Builder::new(files, std::mem::take(budget));
    let mut objects = run(&mut builder, directory, overlay, mode);
    let cost = objects.iter().fold(Cost::NONE, |cost, node| cost.and(Cost::of(node, builder.budget.nodes_left())));
    builder.affords(cost, Span::GENERATED);
    if builder.exhausted {
        // Half of a build says what is not so.
        objects.clear();
    }
    let Builder { blind, failures, read, .. } = builder;
    *budget = builder.budget;
    Build { objects, blind, failures, files: read.into_iter().collect(), cost }
}

fn run(builder: &mut Builder<'_>, directory: &str, overlay: &Overlay, mode: Mode) -> Vec<Node> {
    let Some(directory) = path::join("", directory) else {
        builder.fail(BuildError::Outside { path: directory.to_owned() }, Span::GENERATED);
        return Vec::new();
    };
    if builder.files.kind(&directory) != PathKind::Directory {
        builder.fail(BuildError::NoDirectory { path: directory }, Span::GENERATED);
        return Vec::new();
    }
    let generates = mode == Mode::Flux && builder.kustomization_files(&directory).is_empty();
    let kustomization = if generates {
        Some(builder.generated_kustomization(&directory))
    } else if mode == Mode::Flux && builder.is_empty_kustomization(&directory) {
        // The controller writes into the file before it builds: at the root of a build, none stays empty.
        Some(kustomization::Kustomization::empty())
    } else {
        builder.kustomization(&directory, Span::GENERATED)
    };
    if mode == Mode::Flux {
        builder.forgive_unknown_fields();
    }
    let Some(mut kustomization) = kustomization else { return Vec::new() };
    builder.overlay(&mut kustomization, &directory, overlay);
    builder.stack.push(directory.clone());
    let accumulated = builder.accumulate(&directory, &kustomization, Accumulated::new());
    builder.finish(accumulated, &kustomization)
}
