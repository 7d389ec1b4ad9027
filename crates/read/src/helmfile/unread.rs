//! What of the helmfiles of a repository is not read: the blind spots of a bootstrap.

use std::collections::BTreeSet;

use model::{BlindSpot, Unseen, WhyUnseen};
use regex::Regex;
use source::Span;
use yaml::{Limits, Node};

use super::release::BASES_DEPTH_MAX;
use super::{candidates, is_named_helmfile, merged};
use crate::naming::exists;
use crate::repository::Repository;
use crate::templated_yaml;
use ::repository::path;

/// Every blind spot of helmfiles, given those that were read.
pub(super) fn find(repository: &Repository, roots: &[(String, Node)]) -> Vec<BlindSpot> {
    let mut reader = Reader { repository, spots: Vec::new(), seen: BTreeSet::new() };
    for file in candidates(repository) {
        reader.broken(&file);
        let root = roots.iter().find(|(path, _)| *path == file).map(|(_, root)| root);
        if let Some(root) = root {
            reader.releases(&file, root);
            reader.named(&file, root, BASES_DEPTH_MAX);
        } else {
            reader.no_list(&file);
        }
    }
    reader.spots.sort();
    reader.spots.dedup();
    reader.spots
}

struct Reader<'all> {
    repository: &'all Repository,
    spots: Vec<BlindSpot>,
    /// The files whose `bases` and `helmfiles` were looked for.
    seen: BTreeSet<String>,
}

impl Reader<'_> {
    fn note(&mut self, what: Unseen, why: WhyUnseen, at: Span) {
        self.spots.push(BlindSpot { what, why, at, component: None });
    }

    /// A file that lists releases and can't be parsed.
    fn broken(&mut self, file: &str) {
        let Some(id) = self.repository.id(file) else { return };
        let Some(text) = self.repository.source(id).map(source::Source::text) else { return };
        if !text.lines().any(|line| line.starts_with("releases:") || line.starts_with("helmfiles:")) {
            return;
        }
        let documents = yaml::parse(id, &templated_yaml::neutralise(text), Limits::default());
        let problem = documents.iter().filter(|document| document.root.is_none()).find_map(|it| it.problems.first());
        if let Some(problem) = problem {
            self.note(Unseen::Named(file.to_owned()), WhyUnseen::NoYaml, problem.span);
        }
    }

    /// Releases that a loop or another action makes.
    fn releases(&mut self, file: &str, root: &Node) {
        let entries = root.items_at("releases");
        let is_known = |entry: &&Node| entry.text_at(&["name"]).is_some_and(|name| !templated_yaml::is_unknown(name));
        let made = entries.iter().find(|entry| !is_known(entry)).map(|entry| entry.span);
        if let Some(at) = made.or_else(|| self.hidden(root)) {
            self.note(Unseen::ReleasesOf { helmfile: file.to_owned() }, WhyUnseen::MadeByTemplate, at);
        }
    }

    /// Where an action stands among the releases in the place of whole entries.
    fn hidden(&self, root: &Node) -> Option<Span> {
        let list = root.as_map()?.entry("releases")?;
        let text = self.repository.source(list.key_span.file)?.text();
        let start = list.key_span.start;
        let others = root.entries().iter().map(|entry| entry.key_span).filter(|span| span.file == list.key_span.file);
        let end = others.map(|span| span.start).filter(|other| *other > start).min();
        let end = end.map_or(text.len(), |end| end as usize);
        let column = |at: usize| at - text[..at].rfind('\n').map_or(0, |before| before + 1);
        let entry_column = list.value.as_seq()?.first().map_or(usize::MAX, |entry| column(entry.span.start as usize));
        let at = templated_yaml::hidden_lines(text.get(start as usize..end)?)
            .map(|at| start as usize + at)
            .find(|at| column(*at) < entry_column)?;
        let at = u32::try_from(at).ok()?;
        Some(Span::new(list.key_span.file, at, at))
    }

    /// A file named as a helmfile whose whole list of releases a template makes.
    fn no_list(&mut self, file: &str) {
        let Some(text) = self.repository.id(file).and_then(|id| self.repository.source(id)).map(source::Source::text)
        else {
            return;
        };
        if !is_named_helmfile(file) || !text.contains("releases:") || !templated_yaml::is_template(text) {
            return;
        }
        let Some(root) = merged(self.repository, file) else { return };
        let list = root.as_map().and_then(|map| map.entry("releases")).filter(|list| list.value.as_map().is_none());
        if let Some(list) = list.filter(|_| root.get("apiVersion").is_none()) {
            self.note(Unseen::ReleasesOf { helmfile: file.to_owned() }, WhyUnseen::MadeByTemplate, list.key_span);
        }
    }

    /// What `bases` and `helmfiles` name and is not there.
    fn named(&mut self, file: &str, root: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1).filter(|_| self.seen.insert(file.to_owned())) else { return };
        for entry in root.items_at("helmfiles") {
            self.entry(file, entry.get("path").unwrap_or(entry));
        }
        for entry in root.items_at("bases") {
            self.entry(file, entry);
            let base = entry.text().and_then(|base| path::join(path::parent(file), base));
            let base = base.filter(|base| !self.seen.contains(base));
            if let Some((base, root)) = base.and_then(|base| merged(self.repository, &base).map(|root| (base, root))) {
                self.named(&base, &root, depth);
            }
        }
    }

    fn entry(&mut self, file: &str, entry: &Node) {
        let Some(written) = entry.text() else { return };
        if templated_yaml::is_unknown(written) {
            let raw = self.repository.source(entry.span.file).and_then(|source| source.slice(entry.span));
            let raw = raw.unwrap_or_default().trim_matches(['"', '\'']);
            self.note(Unseen::Named(raw.to_owned()), WhyUnseen::ChosenByTemplate, entry.span);
        } else if written.contains("://") || written.starts_with("git::") {
            self.note(Unseen::Named(written.to_owned()), WhyUnseen::Fetched, entry.span);
        } else if !path::join(path::parent(file), written).is_some_and(|path| self.holds(&path)) {
            self.note(Unseen::Named(written.to_owned()), WhyUnseen::NotInRepository, entry.span);
        }
    }

    /// Whether there is such a file or directory, or one that a pattern means.
    fn holds(&self, path: &str) -> bool {
        if !path.contains(['*', '?', '[', '{']) {
            return exists(self.repository, path);
        }
        let pattern = regex::escape(path).replace(r"\*", "[^/]*").replace(r"\?", "[^/]");
        // Brackets are not understood, and then it may be there.
        let pattern = Regex::new(&format!("^{pattern}$")).ok().filter(|_| !path.contains(['[', '{']));
        pattern.is_none_or(|pattern| self.repository.paths().any(|path| pattern.is_match(path)))
    }
}
