//! Files that a release names and that are not there: values, commands of hooks, what hooks apply. Helmfile stops at each of them.
//!
//! Says so only where the path is surely one of this repository, and nothing else may make the file on the way.

use kustomize::Files as _;
use model::FileUse;
use yaml::Node;

use super::release::Context;
use super::templates::Named;
use crate::naming::exists;
use crate::scripts::{self, MissingFile};
use crate::templated_yaml;
use ::repository::path;

/// How files end that another program writes a file from.
const TEMPLATES: [&str; 5] = [".j2", ".tpl", ".tmpl", ".gotmpl", ".age"];

/// Names of one directory among which a near one is looked for.
const NAMES_MAX: usize = 500;

impl Context<'_> {
    /// All of them, of a release given with the templates that it inherits from.
    pub(super) fn absent(&self, sources: &[&Node], release: Named<'_>) -> Vec<MissingFile> {
        let mut absent = self.absent_in_hooks(sources, release);
        if self.tolerates_missing(sources) {
            return absent;
        }
        for source in sources {
            for node in source.items_at("values").iter().filter(|node| !self.is_conditional(source.span, node.span)) {
                absent.extend(self.missing(node, release, FileUse::Values));
            }
        }
        absent
    }

    /// Whether helmfile is told to go on without a file.
    fn tolerates_missing(&self, sources: &[&Node]) -> bool {
        let defaults = self.layers.iter().filter_map(|layer| layer.get("helmDefaults"));
        let mut holders = sources.iter().copied().chain(&self.layers).chain(defaults);
        holders.any(|holder| holder.text_at(&["missingFileHandler"]).is_some_and(|handler| handler != "Error"))
    }

    /// Commands of hooks that are files, and what `kubectl apply` hooks apply. Helmfile runs them in its own directory.
    fn absent_in_hooks(&self, sources: &[&Node], release: Named<'_>) -> Vec<MissingFile> {
        let mut absent = Vec::new();
        for (source, hook) in
            sources.iter().flat_map(|source| source.items_at("hooks").iter().map(move |it| (source, it)))
        {
            if self.is_conditional(source.span, hook.span) {
                continue;
            }
            let command = hook.get("command").filter(|it| it.text().is_some_and(|text| text != "kubectl"));
            absent.extend(command.and_then(|command| self.missing(command, release, FileUse::Command)));
            if hook.text_at(&["command"]) == Some("kubectl") {
                absent.extend(self.absent_in_kubectl(hook.items_at("args"), release));
            }
        }
        absent
    }

    fn absent_in_kubectl(&self, arguments: &[Node], release: Named<'_>) -> Vec<MissingFile> {
        let text =
            self.repository.id(self.file).and_then(|id| self.repository.source(id)).map_or("", source::Source::text);
        let filled: Vec<Option<String>> = arguments.iter().map(|node| self.filled(node, release)).collect();
        let Some(words) = filled.into_iter().collect::<Option<Vec<String>>>() else { return Vec::new() };
        let command: Vec<String> = std::iter::once("kubectl".to_owned()).chain(words.iter().cloned()).collect();
        let mut absent = Vec::new();
        for target in scripts::applied_by(&command) {
            let Some(place) = words.iter().position(|word| *word == target).map(|at| &arguments[at]) else { continue };
            // Named twice it may be made before it is applied.
            let is_plain = place.text().is_some_and(|written| text.matches(written).count() <= 1)
                && !target.contains(['$', '{', '*', ':']);
            let path = self.own_path(place, &target).filter(|_| is_plain);
            let found = path.filter(|path| scripts::leads_nowhere(self.repository, path));
            absent.extend(found.map(|path| self.noted(path, place, FileUse::Applied)));
        }
        absent
    }

    /// The file that a text names, if there is none.
    fn missing(&self, node: &Node, release: Named<'_>, used_as: FileUse) -> Option<MissingFile> {
        let filled = self.filled(node, release)?;
        let is_path = match used_as {
            FileUse::Command => filled.contains('/'),
            FileUse::Values | FileUse::Applied => true,
        };
        let is_plain = !filled.contains(['$', '{', '*', '?', '[', ':', '+', '~', ' ', '\n']);
        let path = self.own_path(node, &filled).filter(|_| is_path && is_plain)?;
        let may_be_made = self.is_made(&path) || scripts::is_kept_elsewhere(self.repository, &path);
        (!exists(self.repository, &path) && !may_be_made).then(|| self.noted(path, node, used_as))
    }

    /// The path in this repository; nothing for one that is written from the root of the machine.
    fn own_path(&self, node: &Node, filled: &str) -> Option<String> {
        let written = node.text().filter(|text| !text.starts_with('/'))?;
        let is_elsewhere = filled.starts_with('/') && !templated_yaml::is_unknown(written);
        path::join(path::parent(self.file), filled).filter(|path| !is_elsewhere && !path.is_empty())
    }

    /// Whether a template lies beside it, or a script names it.
    fn is_made(&self, path: &str) -> bool {
        let has_template = TEMPLATES.iter().any(|ending| exists(self.repository, &format!("{path}{ending}")));
        let parts: Vec<&str> = path.rsplit('/').take(2).collect();
        let end = parts.into_iter().rev().collect::<Vec<_>>().join("/");
        has_template || self.scripts.mention(&end)
    }

    fn noted(&self, path: String, node: &Node, used_as: FileUse) -> MissingFile {
        let meant = self.near(&path).filter(|near| used_as != FileUse::Values || !self.holds_objects(near));
        MissingFile { meant, path, at: node.span, used_as }
    }

    /// Whether a file has objects of Kubernetes in it: no values of a chart.
    fn holds_objects(&self, path: &str) -> bool {
        let documents = self.repository.documents(path).map(|(_, documents)| documents).unwrap_or_default();
        let mut roots = documents.iter().filter_map(|document| document.root.as_ref());
        roots.any(|root| root.get("apiVersion").is_some() && root.get("kind").is_some())
    }

    /// A file that may have been meant: of another name in the same directory, or of the same name in a directory beside it.
    fn near(&self, path: &str) -> Option<String> {
        let (directory, name) = path.rsplit_once('/').unwrap_or(("", path));
        let is_file = |path: &String| self.repository.id(path).is_some();
        let beside = |name: &&String| path::join(directory, name).as_ref().is_some_and(is_file);
        let names = self.few_names(directory).iter().filter(beside).map(String::as_str);
        if let Some(near) = model::nearest(name, names) {
            return path::join(directory, near);
        }
        let parts: Vec<&str> = path.split('/').collect();
        let mut others: Vec<String> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            let above = parts[..at].join("/");
            let names = self.few_names(&above).iter().map(String::as_str);
            for name in names.filter(|name| name != part && model::nearest(part, [*name]).is_some()) {
                let below = [&[name], &parts[at + 1..]].concat().join("/");
                others.extend(path::join(&above, &below));
            }
        }
        others.into_iter().filter(is_file).min()
    }

    /// The names in a directory, unless they are so many that a near one says nothing.
    fn few_names(&self, directory: &str) -> &[String] {
        let names = self.repository.names(directory);
        if names.len() > NAMES_MAX { &[] } else { names }
    }
}
