//! Clusters that a FluxInstance declares: the directory it syncs.

use std::collections::BTreeSet;

use kustomize::{Files, PathKind};
use model::ObjectRef;
use yaml::{Budget, Node};

use crate::flux::entry::{Entry, Written, is_templated, made_by_flux};
use crate::flux::instance_patches::{patched, patches_of};
use crate::flux::kustomization::{Kustomization, SourceRef};
use crate::flux::variables::Variables;
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP};
use crate::naming::{is_document, is_for_show};
use crate::object::Object;
use crate::texts;
use ::repository::path;

/// `FluxInstance` objects, and the values of the chart that makes one.
pub(super) fn entries(common: &Common<'_>) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (_, file, documents) in common.repository.yaml_files() {
        for node in documents.iter().filter_map(|document| document.root.as_ref()) {
            if let Some(sync) = sync_of(node) {
                let declared = Declared { common, file, home: home_of(node), patches: patches_of(node) };
                entries.extend(declared.entries(sync));
            }
        }
    }
    entries
}

pub(super) fn sync_of(node: &Node) -> Option<&Node> {
    let object = Object::new(node);
    if object.is(CONTROL_PLANE_GROUP, "FluxInstance") {
        node.at(&["spec", "sync"])
    } else if object.kind() == "HelmRelease" && object.group() == HELM_GROUP {
        node.at(&["spec", "values", "instance", "sync"])
    } else if object.kind().is_empty() {
        node.at(&["instance", "sync"])
    } else {
        None
    }
}

/// The namespace that something which makes a FluxInstance says, if it does.
pub(super) fn home_of(node: &Node) -> Option<&str> {
    let object = Object::new(node);
    let moved = || node.text_at(&["spec", "targetNamespace"]).filter(|_| object.kind() == "HelmRelease");
    let written = moved().or_else(|| node.text_at(&["metadata", "namespace"]));
    written.filter(|namespace| !is_templated(namespace))
}

/// Where a cluster is declared.
struct Declared<'a> {
    common: &'a Common<'a>,
    file: &'a str,
    home: Option<&'a str>,
    /// What the instance patches in the objects that it makes.
    patches: &'a [Node],
}

impl Declared<'_> {
    /// What one sync declares. One file may start several clusters, with a variable of each in its path.
    fn entries(&self, sync: &Node) -> Vec<Entry> {
        let Some(written) = sync.text_at(&["path"]) else { return Vec::new() };
        if let Some(name) = placeholder(written) {
            return self.chosen_by(sync, name);
        }
        if !is_templated(written) {
            return self.entry(sync, written).into_iter().collect();
        }
        // The nearest that applies the file is the most likely to set it.
        for outer in path::ancestors(path::parent(self.file)) {
            let appliers = self.common.written.iter().filter(|it| it.covers.as_deref() == Some(outer));
            let found: Vec<Entry> = appliers.filter_map(|it| self.filled_in(it.node, sync)).collect();
            if !found.is_empty() {
                return found;
            }
        }
        let directory = if open_path(written).is_some() {
            only_one_like(self.common, written)
        } else {
            holding(self.common, self.file)
        };
        directory.and_then(|directory| self.entry(sync, directory)).into_iter().collect()
    }

    /// A script puts the path in place of a name: each directory of this cluster that fits what the script sets that name to, and that begins
    /// with Kustomizations which nothing else applies.
    fn chosen_by(&self, sync: &Node, name: &str) -> Vec<Entry> {
        let common = self.common;
        let home = path::parent(path::parent(self.file));
        let texts = texts::all(common.repository).filter(|(path, _)| !is_document(path));
        let values = texts.flat_map(|(_, text)| text.lines()).filter_map(|line| value_of(line, name));
        let patterns: BTreeSet<String> = values.filter_map(|value| open_path(&value)).collect();
        let covered: BTreeSet<&str> = common.written.iter().filter_map(|it| it.covers.as_deref()).collect();
        let fits = |directory: &str| patterns.iter().any(|pattern| is_like(directory, pattern));
        let is_meant =
            |directory: &str| path::is_below(directory, home) && fits(directory) && !covered.contains(directory);
        let inside = common.written.iter().filter(|it| is_meant(it.directory));
        let begins = inside.filter(|it| common.overlays.outermost(it.file).contains(it.directory));
        let directories: BTreeSet<&str> = begins.map(|it| it.directory).collect();
        let found = directories.into_iter().filter_map(|directory| self.entry(sync, directory));
        let instead_of = |entry: &Entry| Some(home.to_owned()).filter(|home| *home != entry.directory);
        found.map(|entry| Entry { instead_of: instead_of(&entry), ..entry }).collect()
    }

    /// The same with the variables of the Kustomization that applies it.
    fn filled_in(&self, applier: &Node, sync: &Node) -> Option<Entry> {
        let applier = Kustomization::read(applier, "flux-system");
        let mut sync = sync.clone();
        let settings = &self.common.settings;
        let (post_build, namespace) = (applier.post_build.as_ref(), &applier.object.namespace);
        let substitute = |budget: &mut Budget| {
            let variables = Variables::within(post_build, namespace, settings, budget).ok()?;
            variables.apply(&mut sync, budget).ok()
        };
        self.common.search(|ledger| ledger.one(substitute))?;
        let path = sync.text_at(&["path"]).filter(|path| !is_templated(path))?;
        self.entry(&sync, path)
    }

    fn entry(&self, sync: &Node, path: &str) -> Option<Entry> {
        let kind = kind_of(sync);
        let (directory, base) = synced(self.common, self.file, path, kind)?;
        let home = self.home.or_else(|| named_in(self.common, &directory, kind)).unwrap_or("flux-system");
        // The source and the Kustomization are called like the namespace that they are made in.
        let object = ObjectRef::new(kind, home, name_of(sync).unwrap_or(home));
        let url = sync.text_at(&["url"]).map(str::to_owned);
        let (at, name) = (sync.get("path")?.span, object.name.clone());
        let source = SourceRef { object, at: sync.span };
        let root = made_by_flux(ObjectRef::new("Kustomization", home, name), &directory, at, Some(source));
        let root = patched(self.common, root, self.patches);
        Some(Entry { url, base, ..Entry::new(directory, root) })
    }
}

/// The name in a path that is nothing but one, for a script to put the path there: `__SYNC_PATH__`, `@SYNC_PATH@`.
fn placeholder(written: &str) -> Option<&str> {
    let name = written.trim_matches(|it: char| !it.is_ascii_alphanumeric());
    let is_of_name = |it: char| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_';
    let is_marked = name.len() < written.len() && !written.contains(['/', '$', '.']);
    (is_marked && name.len() > 1 && name.chars().all(is_of_name)).then_some(name)
}

/// What a line of a script or Makefile sets a variable to, with variables as a path has them.
fn value_of(line: &str, name: &str) -> Option<String> {
    let (before, value) = line.split_once('=')?;
    let set = before.trim_end_matches([' ', ':', '?', '+']).rsplit([' ', '\t']).next()?;
    let value = value.trim().trim_matches(['"', '\'']);
    (set == name && !value.is_empty()).then(|| value.replace("$(", "${").replace(')', "}"))
}

pub(super) fn name_of(sync: &Node) -> Option<&str> {
    sync.text_at(&["name"]).filter(|name| !name.is_empty() && !is_templated(name))
}

pub(super) fn kind_of(sync: &Node) -> &str {
    sync.text_at(&["kind"]).unwrap_or("GitRepository")
}

/// The namespace of the cluster's own source as the Kustomizations in its directory name it: it has that name, too.
fn named_in<'a>(common: &'a Common<'_>, directory: &str, kind: &str) -> Option<&'a str> {
    let inside = common.written.iter().filter(|it| path::is_below(it.directory, directory));
    let mut sources = inside.filter_map(|it| Some((it, it.source()?)));
    let (it, _) = sources.find(|(_, source)| source.kind == kind && source.name == source.namespace)?;
    it.node.text_at(&["spec", "sourceRef", "name"])
}

/// The directory with Kustomizations in or below it that a path means whose variables nobody knows, if there is just one.
fn only_one_like<'a>(common: &Common<'a>, written: &str) -> Option<&'a str> {
    // A path of nothing but variables means any directory.
    let pattern = open_path(written)?;
    let directories = common.written.iter().flat_map(|it| path::ancestors(it.directory));
    let found: BTreeSet<&str> = directories.filter(|directory| is_like(directory, &pattern)).collect();
    found.first().copied().filter(|_| found.len() == 1)
}

/// The directory that an instance lies in or below, where its path is nothing but variables: the nearest with Kustomizations, none of
/// which applies the instance.
fn holding<'a>(common: &Common<'a>, file: &'a str) -> Option<&'a str> {
    let home = path::parent(file);
    let nearest = path::ancestors(home).find(|near| common.written.iter().any(|it| it.directory == *near))?;
    let mut inside = common.written.iter().filter(|it| it.directory == nearest);
    let covers = |it: &Written<'_>| it.covers.as_deref().is_some_and(|covers| path::is_below(home, covers));
    (!nearest.is_empty() && !is_for_show(nearest) && !inside.any(covers)).then_some(nearest)
}

/// Whether a path with variables may mean a directory.
pub(super) fn fits_path(directory: &str, written: &str) -> bool {
    is_like(directory, &path::within(&with_gaps(written)))
}

/// A path with variables as a pattern, if it says anything but variables.
pub(super) fn open_path(written: &str) -> Option<String> {
    let pattern = path::within(&with_gaps(written));
    pattern.split('/').any(|part| !part.contains(GAP)).then_some(pattern)
}

/// The part of a pattern before the first variable, as a directory.
pub(super) fn before_gap(pattern: &str) -> &str {
    let at = pattern.find(GAP).unwrap_or(pattern.len());
    pattern[..at].rfind('/').map_or("", |end| &pattern[..end])
}

/// Stands for a variable in a path.
const GAP: char = '*';

fn with_gaps(text: &str) -> String {
    let mut text = text.to_owned();
    for (open, close) in [("${", "}"), ("{{", "}}"), ("<<", ">>")] {
        while let Some(start) = text.find(open) {
            let end = text[start..].find(close).map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "*");
        }
    }
    text
}

pub(super) fn is_like(directory: &str, pattern: &str) -> bool {
    let is_same_depth = directory.split('/').count() == pattern.split('/').count();
    is_same_depth && directory.split('/').zip(pattern.split('/')).all(|(name, part)| fits(name, part).is_some())
}

fn fits(name: &str, pattern: &str) -> Option<()> {
    let mut parts = pattern.split(GAP);
    let rest = name.strip_prefix(parts.next()?)?;
    let Some(last) = parts.next_back() else { return rest.is_empty().then_some(()) };
    let mut rest = rest.strip_suffix(last)?;
    for part in parts {
        rest = rest.split_once(part)?.1;
    }
    Some(())
}

/// The directory of this repository that a path of a source means, and the one that is the source's root. Git has the
/// repository's own; what is pushed as an artifact is often one directory of it.
fn synced(common: &Common<'_>, file: &str, written: &str, kind: &str) -> Option<(String, String)> {
    let repository = common.repository;
    let directory = repository.place(written);
    let is_artifact = kind != "GitRepository";
    if is_artifact && directory.is_empty() {
        let base = around(common, file).to_owned();
        return Some((base.clone(), base));
    }
    if repository.kind(&directory) == PathKind::Directory {
        return Some((directory, String::new()));
    }
    let base = repository.base_of(&path::within(written)).filter(|_| is_artifact)?;
    Some((path::join(&base, &path::within(written))?, base))
}

/// The directory that an artifact was made of whose root is synced: the nearest around the file that says so with
/// Kustomizations in it, for that file is mostly part of the cluster. The repository's own root, if it has any itself.
fn around<'a>(common: &Common<'_>, file: &'a str) -> &'a str {
    let holds = |directory: &str| common.written.iter().any(|it| it.directory == directory);
    let is_whole = holds("") || kustomize::FILE_NAMES.iter().any(|name| common.repository.id(name).is_some());
    let nearest = || path::ancestors(path::parent(file)).find(|directory| holds(directory));
    if is_whole { "" } else { nearest().unwrap_or("") }
}

#[cfg(test)]
mod tests {
    use super::{placeholder, value_of};

    #[test]
    fn a_name_between_marks_stands_for_a_path() {
        assert_eq!(placeholder("__SYNC_PATH__"), Some("SYNC_PATH"));
        assert_eq!(placeholder("@PATH@"), Some("PATH"));
        for path in ["clusters/prod", "./", "prod", "PROD", "${PATH}", "_base"] {
            assert_eq!(placeholder(path), None, "{path}");
        }
    }

    #[test]
    fn a_line_sets_a_variable() {
        let value = |line| value_of(line, "SYNC_PATH");
        assert_eq!(value("SYNC_PATH ?= ./clusters/$(A)/$(B)").as_deref(), Some("./clusters/${A}/${B}"));
        assert_eq!(value("export SYNC_PATH=\"clusters/${A}\"").as_deref(), Some("clusters/${A}"));
        assert_eq!(value("OTHER_SYNC_PATH=clusters/a"), None);
    }
}
