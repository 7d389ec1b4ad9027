//! Patches: finding the objects they are for, and merging them in.
//!
//! Knows the three ways a kustomization writes patches. How a patch changes an object is in the modules below.

mod json6902;
mod lists;
mod strategic;

use json6902::Failed;
pub use json6902::JsonPatchError;
pub use strategic::{MergeError, ValueShape};

use source::Span;
use yaml::{Cost, Node, Value};

use crate::builder::Builder;
use crate::error::{BuildError, LimitError};
use crate::load;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::selector::Selector;

/// What a patch may change about an object's identity.
#[derive(Clone, Copy, Debug, Default)]
struct Options {
    name: bool,
    kind: bool,
}

/// What a patch left of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merged {
    Kept,
    Emptied,
}

/// What it takes to begin with an object, and what is kept of its names.
const PATCHED: Cost = Cost { nodes: 32, bytes: 512 };
/// Text is parsed in more time than it is read in.
const PARSED_TIMES: usize = 16;
/// An object takes as long to hold against a selector as so many nodes to look at.
const SELECTED_NODES: usize = 2;
/// An object takes as long to find by its name again as so many nodes to look at.
const RENAMED_NODES: usize = 4;

enum Patch {
    Strategic(Vec<Node>),
    Json(Node),
    Nothing,
}

impl Builder<'_> {
    /// An item of `patches`, or a PatchTransformer.
    pub(crate) fn apply_patch(&mut self, resources: &mut Resources, directory: &str, item: &Node) {
        if self.exhausted {
            return;
        }
        let Some(values) = self.patch_values(directory, item, "patch") else { return };
        let patch = self.sort_out(values, item.span);
        let target = item.get("target").filter(|target| !target.is_null());
        match (patch, target) {
            (Patch::Nothing, _) => {}
            (Patch::Strategic(patches), Some(target)) => {
                let options = Options::read(item);
                self.patch_selected(resources, &patches, target, options);
            }
            (Patch::Strategic(patches), None) => {
                let options = Options::read(item);
                for patch in &patches {
                    self.patch_by_id(resources, patch, options, item.span);
                }
            }
            (Patch::Json(patch), Some(target)) => self.patch_json(resources, &patch, target, true),
            (Patch::Json(patch), None) => self.fail(BuildError::JsonPatchWithoutTarget, patch.span),
        }
    }

    /// `patchesStrategicMerge`: names of files, or the patches themselves.
    pub(crate) fn apply_strategic<'a>(
        &mut self,
        resources: &mut Resources,
        directory: &str,
        items: impl Iterator<Item = &'a Node>,
    ) {
        let mut empty = None;
        let mut found = false;
        for item in items {
            empty = empty.or(Some(item.span));
            for patch in self.strategic_patches(directory, item) {
                found = true;
                if self.exhausted {
                    return;
                }
                self.patch_by_id(resources, &patch, Options::default(), item.span);
            }
        }
        if let Some(span) = empty.filter(|_| !found) {
            self.fail(BuildError::NoPatch, span);
        }
    }

    fn strategic_patches(&mut self, directory: &str, item: &Node) -> Vec<Node> {
        if !self.affords_text(item) {
            return Vec::new();
        }
        let documents = self.inline(item);
        let inline: Vec<Node> = documents.iter().filter_map(|document| document.root.clone()).collect();
        if !inline.is_empty() && inline.len() == documents.len() && inline.iter().all(load::is_object) {
            return self.expand(inline);
        }
        let Some(path) = self.file(directory, item) else { return Vec::new() };
        let Some((_, documents)) = self.documents(&path, item.span) else { return Vec::new() };
        let values = self.values(documents);
        self.expand(values)
    }

    /// An item of `patchesJson6902`.
    pub(crate) fn apply_json(&mut self, resources: &mut Resources, directory: &str, item: &Node, inline_key: &str) {
        let Some(values) = self.patch_values(directory, item, inline_key) else { return };
        let target = item.get("target").filter(|target| target.text_at(&["name"]).is_some_and(|name| !name.is_empty()));
        let Some(target) = target else {
            self.fail(BuildError::JsonPatchWithoutName, item.span);
            return;
        };
        match values.into_iter().next() {
            Some(patch) if json6902::is_patch(&patch) => self.patch_json(resources, &patch, target, false),
            other => self.fail(BuildError::NoJsonPatch, other.map_or(item.span, |node| node.span)),
        }
    }

    /// The values of a patch's documents, from its text or its file.
    fn patch_values(&mut self, directory: &str, item: &Node, inline_key: &str) -> Option<Vec<Node>> {
        let written = |key: &str| item.get(key).filter(|node| node.text().is_some_and(|text| !text.trim().is_empty()));
        match (written(inline_key), written("path")) {
            (Some(inline), None) => {
                if !self.affords_text(inline) {
                    return None;
                }
                let documents = self.inline(inline);
                Some(self.values(&documents))
            }
            (None, Some(name)) => {
                let path = self.file(directory, name)?;
                let (_, documents) = self.documents(&path, name.span)?;
                Some(self.values(documents))
            }
            (Some(_), Some(path)) => {
                self.fail(BuildError::PatchTwice { key: inline_key.to_owned() }, path.span);
                None
            }
            (None, None) => {
                self.fail(BuildError::PatchWithoutText { key: inline_key.to_owned() }, item.span);
                None
            }
        }
    }

    /// Whether the text of a patch may be parsed.
    fn affords_text(&mut self, text: &Node) -> bool {
        let bytes = text.as_scalar().map_or(0, |scalar| scalar.text.len());
        self.affords(Cost::read(PARSED_TIMES * bytes), text.span)
    }

    fn sort_out(&mut self, values: Vec<Node>, span: Span) -> Patch {
        match values.as_slice() {
            [] => Patch::Nothing,
            [only] if json6902::is_patch(only) && !load::is_empty(only) => Patch::Json(only.clone()),
            _ if values.iter().all(load::is_object) => Patch::Strategic(self.expand(values)),
            [first, ..] => {
                let span = if first.span.is_generated() { span } else { first.span };
                self.fail(BuildError::NeitherPatch, span);
                Patch::Nothing
            }
        }
    }

    fn patch_selected(&mut self, resources: &mut Resources, patches: &[Node], target: &Node, options: Options) {
        let [patch] = patches else {
            if !patches.is_empty() {
                self.fail(BuildError::TargetedPatches, target.span);
            }
            return;
        };
        let Some(selected) = self.select(resources, target) else { return };
        let mut is_emptied = false;
        for at in selected {
            is_emptied |= self.merge_into(resources, at, patch, options) == Merged::Emptied;
        }
        self.drop_emptied(resources, options, is_emptied, target.span);
    }

    fn patch_by_id(&mut self, resources: &mut Resources, patch: &Node, options: Options, span: Span) {
        let id = Resource::new(patch.clone()).id();
        match resources.with_id(&id).as_slice() {
            [at] => {
                let is_emptied = self.merge_into(resources, *at, patch, options) == Merged::Emptied;
                self.drop_emptied(resources, options, is_emptied, span);
            }
            // It may be meant for an object that would be fetched.
            [] if !self.blind.is_empty() => {}
            [] => self.fail(BuildError::PatchOfNone { object: id.to_string() }, patch_span(patch)),
            _ => self.fail(BuildError::PatchOfMany { object: id.to_string() }, patch_span(patch)),
        }
    }

    fn patch_json(&mut self, resources: &mut Resources, patch: &Node, target: &Node, remember: bool) {
        let Some(selected) = self.select(resources, target) else { return };
        let mut is_renamed = false;
        for at in selected {
            if !self.affords(PATCHED, patch.span) {
                return;
            }
            let resource = resources.content_mut(at);
            let before = resource.id();
            if remember {
                resource.remember();
            }
            let mut node = resource.node.clone();
            let is_lent = resource.is_renamed() && lend_annotations(&mut node);
            match json6902::apply(&mut node, patch, &mut self.budget) {
                Ok(()) => {
                    if is_lent {
                        drop_empty_annotations(&mut node);
                    }
                    resource.node = node;
                    resource.refresh();
                    is_renamed |= resource.id() != before;
                }
                Err(Failed { error: JsonPatchError::Spent(spent), span }) => return self.exhaust(spent, span),
                Err(Failed { error: JsonPatchError::TooDeep, span }) => return self.exhaust(LimitError::Depth, span),
                Err(failed) => {
                    let object = resource.id().to_string();
                    self.fail(BuildError::JsonPatch { object, error: failed.error }, failed.span);
                }
            }
        }
        if is_renamed && self.affords(Cost::seen(resources.len()), patch.span) {
            resources.forget();
        }
    }

    fn select(&mut self, resources: &mut Resources, target: &Node) -> Option<Vec<usize>> {
        if !self.affords(Selector::cost(target), target.span) {
            return None;
        }
        match Selector::read(target) {
            Ok(selector) => {
                let (selected, looked_at) = resources.selected(&selector);
                self.affords(Cost::seen(SELECTED_NODES * (1 + looked_at)), target.span).then_some(selected)
            }
            Err(error) => {
                self.fail(error, target.span);
                None
            }
        }
    }

    fn merge_into(&mut self, resources: &mut Resources, at: usize, patch: &Node, options: Options) -> Merged {
        if self.exhausted {
            return Merged::Kept;
        }
        let resource = resources.content_mut(at);
        let object = std::mem::replace(&mut resource.node, Node::null(patch.span));
        let kept = Identity::of(&object);
        // A target's patch may name any version; it never changes that of the object.
        let patch = with_api_version(patch, object.get("apiVersion"));
        match strategic::merge(object.clone(), &patch, &mut self.budget) {
            Ok(Some(mut merged)) => {
                kept.restore(&mut merged, options);
                if options.name || options.kind {
                    resource.remember();
                    resource.node = merged;
                    resource.refresh();
                    resources.forget();
                } else {
                    resource.node = merged;
                }
                Merged::Kept
            }
            // Left as null, and dropped when the patch is through.
            Ok(None) => Merged::Emptied,
            Err(MergeError::Spent(spent)) => {
                resource.node = object;
                self.exhaust(spent, patch_span(&patch));
                Merged::Kept
            }
            Err(error) => {
                let id = resource.id().to_string();
                resource.node = object;
                let span = error.span();
                self.fail(BuildError::Merge { object: id, error }, span);
                Merged::Kept
            }
        }
    }

    fn drop_emptied(&mut self, resources: &mut Resources, options: Options, is_emptied: bool, span: Span) {
        let is_renamed = options.name || options.kind;
        if (!is_emptied && !is_renamed) || !self.affords(Cost::seen(RENAMED_NODES * resources.len()), span) {
            return;
        }
        if is_emptied {
            resources.all_mut().retain(|resource| !load::is_empty(&resource.node));
        }
        if is_renamed {
            for doubled in resources.take_duplicates() {
                self.fail_doubled(&doubled.id(), span);
            }
        }
    }
}

impl Options {
    fn read(item: &Node) -> Self {
        let flag = |key: &str| item.at(&["options", key]).and_then(crate::style::as_bool).unwrap_or_default();
        Self { name: flag("allowNameChange"), kind: flag("allowKindChange") }
    }
}

/// What a strategic merge does not change unless it is told that it may.
struct Identity {
    api_version: Option<Node>,
    kind: Option<Node>,
    name: Option<Node>,
    namespace: Option<Node>,
}

impl Identity {
    fn of(object: &Node) -> Self {
        Self {
            api_version: object.get("apiVersion").cloned(),
            kind: object.get("kind").cloned(),
            name: object.at(&["metadata", "name"]).cloned(),
            namespace: object.at(&["metadata", "namespace"]).cloned(),
        }
    }

    /// Puts the object's own values back, also where the patch has equal ones: they were written first.
    fn restore(self, merged: &mut Node, options: Options) {
        let span = merged.span;
        let Value::Map(map) = &mut merged.value else { return };
        if let Some(api_version) = self.api_version {
            map.insert("apiVersion", span, api_version);
        }
        if let Some(kind) = self.kind.filter(|_| !options.kind) {
            map.insert("kind", span, kind);
        }
        let metadata = map.map_mut("metadata", span);
        if let Some(name) = self.name.filter(|_| !options.name) {
            metadata.insert("name", span, name);
        }
        match self.namespace {
            Some(namespace) => metadata.insert("namespace", span, namespace),
            None => {
                metadata.remove("namespace");
            }
        }
    }
}

fn with_api_version(patch: &Node, wanted: Option<&Node>) -> Node {
    let mut patch = patch.clone();
    if patch.get("apiVersion") != wanted
        && let (Value::Map(map), Some(wanted)) = (&mut patch.value, wanted)
    {
        map.insert("apiVersion", wanted.span, wanted.clone());
    }
    patch
}

/// The line of a patch that says which object it is for.
fn patch_span(patch: &Node) -> Span {
    patch.at(&["metadata", "name"]).map_or(patch.span, |name| name.span)
}

/// kustomize keeps former names of an object in annotations while it works, so that a JSON patch can add to annotations where
/// the file has none. Says whether there were none.
fn lend_annotations(object: &mut Node) -> bool {
    let has_them = object.at(&["metadata", "annotations"]).is_some_and(|annotations| annotations.as_map().is_some());
    let span = object.span;
    if let Some(map) = object.as_map_mut().filter(|_| !has_them) {
        map.map_mut("metadata", span).map_mut("annotations", span);
    }
    !has_them
}

fn drop_empty_annotations(object: &mut Node) {
    let is_empty = |node: &Node| node.as_map().is_some_and(|map| map.iter().next().is_none());
    if object.at(&["metadata", "annotations"]).is_some_and(is_empty)
        && let Some(map) = object.as_map_mut()
    {
        let span = Span::GENERATED;
        map.map_mut("metadata", span).remove("annotations");
    }
}
