//! The recursion of a build: a kustomization's resources and bases, then its generators, components and transformers.
//!
//! Knows the order of things. What each step does is in the module of that step.

use std::sync::Arc;

use source::Span;
use yaml::{Cost, Map, Node};

use crate::builder::{Builder, DIRECTORIES_DEEP_MAX, DIRECTORIES_MAX};
use crate::config::Config;
use crate::crds;
use crate::id::Id;
use crate::kustomization::{FILE_NAMES, Kustomization};
use crate::path;
use crate::resource::Resource;
use crate::resources::Resources;
use crate::schema;
use crate::{BuildError, LimitError, Overlooked, PathKind};

/// What it takes to enter a directory, beside its kustomization.
const ENTERED_NODES: usize = 20;
/// What it costs to add an object that is there already to those of a kustomization.
const APPENDED: Cost = Cost { nodes: 8, bytes: 0 };

/// What a kustomization has made so far.
#[derive(Debug)]
pub(crate) struct Accumulated {
    pub(crate) resources: Resources,
    pub(crate) config: Arc<Config>,
    /// `vars` of all kustomizations, as written.
    pub(crate) vars: Vec<Node>,
}

impl Accumulated {
    pub(crate) fn new() -> Self {
        Self { resources: Resources::default(), config: Config::none(), vars: Vec::new() }
    }
}

/// Whether a directory is built as a base or as a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Base,
    Component,
}

impl Builder<'_> {
    /// Builds a kustomization on top of `accumulated`: nothing for a base, the parent's objects for a component.
    pub(crate) fn accumulate(
        &mut self,
        directory: &str,
        kustomization: &Kustomization,
        mut accumulated: Accumulated,
    ) -> Accumulated {
        self.add_resources(&mut accumulated, directory, &kustomization.resources);
        self.configure(&mut accumulated, directory, kustomization);
        self.generate(&mut accumulated, directory, kustomization);
        for component in &kustomization.components {
            if self.exhausted {
                return accumulated;
            }
            accumulated = self.add_component(accumulated, directory, component);
        }
        self.transform(&mut accumulated, directory, kustomization);
        self.add_vars(&mut accumulated, &kustomization.vars);
        accumulated
    }

    pub(crate) fn add_resources(&mut self, accumulated: &mut Accumulated, directory: &str, items: &[Node]) {
        for item in items {
            if self.exhausted {
                return;
            }
            let Some(text) = item.text().filter(|text| !text.is_empty()) else { continue };
            if path::is_url(text) {
                self.overlook(Overlooked::Fetched { address: text.to_owned() }, item.span);
                continue;
            }
            let joined = path::join(directory, text);
            if let Some(path) = joined.filter(|path| self.files.kind(path) == PathKind::File) {
                let objects = self.objects(&path, item);
                if !self.affords(Resource::COST.times(objects.len()), item.span) {
                    return;
                }
                self.append(accumulated, objects.into_iter().map(Resource::new), item.span);
            } else {
                self.add_base(accumulated, directory, item);
            }
        }
    }

    fn add_base(&mut self, accumulated: &mut Accumulated, directory: &str, item: &Node) {
        let Some((base, kustomization)) = self.enter(directory, item, Role::Base) else { return };
        self.stack.push(base.clone());
        let built = self.accumulate(&base, &kustomization, Accumulated::new());
        self.stack.pop();
        if !self.affords(APPENDED.times(built.resources.len()), item.span) {
            return;
        }
        self.append(accumulated, built.resources.into_list().into_iter(), item.span);
        self.merge_config(&mut accumulated.config, &built.config, item.span);
        for var in built.vars {
            self.add_var(accumulated, var);
        }
    }

    fn add_component(&mut self, accumulated: Accumulated, directory: &str, item: &Node) -> Accumulated {
        let Some((component, kustomization)) = self.enter(directory, item, Role::Component) else { return accumulated };
        self.stack.push(component.clone());
        let mut accumulated = self.accumulate(&component, &kustomization, accumulated);
        self.stack.pop();
        accumulated.resources.forget();
        if self.affords(Cost::seen(accumulated.resources.len()), item.span) {
            for doubled in accumulated.resources.take_duplicates() {
                self.fail_doubled(&doubled.id(), item.span);
            }
        }
        accumulated
    }

    /// The directory that an item names, with its kustomization, once it is clear that building it will end.
    fn enter(&mut self, directory: &str, item: &Node, role: Role) -> Option<(String, Kustomization)> {
        let text = item.text().unwrap_or_default();
        if path::is_repository(text) {
            self.overlook(Overlooked::Cloned { address: text.to_owned() }, item.span);
            return None;
        }
        let Some(base) = path::join(directory, text) else {
            self.fail(BuildError::Outside { path: text.to_owned() }, item.span);
            return None;
        };
        match self.files.kind(&base) {
            PathKind::Directory => {}
            PathKind::File => {
                self.fail(BuildError::FileForDirectory { path: text.to_owned() }, item.span);
                return None;
            }
            PathKind::Missing => {
                self.fail(BuildError::Missing { path: text.to_owned() }, item.span);
                return None;
            }
        }
        if self.stack.iter().any(|visited| path::contains(&base, visited)) {
            self.fail(BuildError::Cycle { path: text.to_owned() }, item.span);
            return None;
        }
        self.count_directory(text, item.span)?;
        let kustomization = self.kustomization(&base, item.span)?;
        self.check_role(&kustomization, text, role, item.span);
        Some((base, kustomization))
    }

    fn count_directory(&mut self, text: &str, span: Span) -> Option<()> {
        self.directories += 1;
        if self.stack.len() >= DIRECTORIES_DEEP_MAX {
            self.fail(BuildError::BasesTooDeep { path: text.to_owned() }, span);
            return None;
        }
        if self.directories > DIRECTORIES_MAX {
            self.exhaust(LimitError::Bases, span);
            return None;
        }
        Some(())
    }

    fn check_role(&mut self, kustomization: &Kustomization, text: &str, role: Role, span: Span) {
        match (role, kustomization.is_component) {
            (Role::Component, false) => self.fail(BuildError::NoComponent { path: text.to_owned() }, span),
            (Role::Base, true) => self.fail(BuildError::ComponentAsBase { path: text.to_owned() }, span),
            _ => {}
        }
    }

    /// The kustomization of a directory; `None`, and a failure, when it has none that can be read.
    pub(crate) fn kustomization(&mut self, directory: &str, from: Span) -> Option<Kustomization> {
        let found = self.kustomization_files(directory);
        let Some(path) = found.first() else {
            self.fail(BuildError::NoKustomization { directory: directory.to_owned() }, from);
            return None;
        };
        if found.len() > 1 {
            self.fail(BuildError::ManyKustomizations { directory: directory.to_owned() }, from);
        }
        let (file, documents) = self.documents(path, from)?;
        // Only the first document counts, and keys that stand twice are fine here: the last one holds.
        let first = documents.first();
        let Some(root) = first.and_then(|document| document.root.as_ref()) else {
            match first.and_then(|document| document.problems.first()) {
                Some(problem) => self.misread(problem),
                None => self.fail(BuildError::EmptyKustomization, Span::new(file, 0, 0)),
            }
            return None;
        };
        // One may be built again and again.
        let cost = Cost::of(root, self.budget.nodes_left()).and(Cost::seen(ENTERED_NODES));
        if !self.affords(cost, from) {
            return None;
        }
        if root.as_map().is_none() {
            self.fail(BuildError::KustomizationNoMapping, root.span);
            return Some(Kustomization::read(&Node::map(Map::new(), root.span), &mut Vec::new()));
        }
        Some(Kustomization::read(root, &mut self.failures))
    }

    pub(crate) fn kustomization_files(&self, directory: &str) -> Vec<String> {
        let paths = FILE_NAMES.iter().filter_map(|name| path::join(directory, name));
        paths.filter(|path| self.files.kind(path) == PathKind::File).collect()
    }

    pub(crate) fn append(
        &mut self,
        accumulated: &mut Accumulated,
        resources: impl Iterator<Item = Resource>,
        span: Span,
    ) {
        for resource in resources {
            if let Err(id) = accumulated.resources.append(resource) {
                self.fail_doubled(&id, span);
            }
        }
    }

    pub(crate) fn fail_doubled(&mut self, id: &Id, span: Span) {
        self.fail(BuildError::Doubled { object: id.to_string() }, span);
    }

    fn configure(&mut self, accumulated: &mut Accumulated, directory: &str, kustomization: &Kustomization) {
        let mut own = Config::built_in();
        for item in &kustomization.configurations {
            for value in self.config_values(directory, item) {
                schema::check_configuration(&value, &mut self.failures);
                self.merge_config(&mut own, &Arc::new(Config::read(&value)), item.span);
            }
        }
        self.merge_config(&mut accumulated.config, &own, kustomization.span);
        if let Some(openapi) = &kustomization.openapi {
            self.check_openapi(directory, openapi);
        }
        for item in &kustomization.crds {
            for value in self.config_values(directory, item) {
                self.merge_config(&mut accumulated.config, &Arc::new(crds::read(&value)), item.span);
            }
        }
    }

    /// A schema of the kustomization's own would say which lists of custom resources are merged.
    fn check_openapi(&mut self, directory: &str, openapi: &Node) {
        if let Some(path) = openapi.get("path")
            && let Some(file) = self.file(directory, path)
        {
            self.read.insert(file);
            let written = path.text().unwrap_or_default();
            self.overlook(Overlooked::OpenApi { path: written.to_owned() }, path.span);
        }
        match openapi.get("version").filter(|version| version.text().is_some_and(|text| !text.is_empty())) {
            Some(version) if version.text() != Some("v1.21.2") => {
                self.fail(BuildError::OpenApiVersion, version.span);
            }
            _ => {}
        }
    }

    fn config_values(&mut self, directory: &str, item: &Node) -> Vec<Node> {
        let Some(path) = self.file(directory, item) else { return Vec::new() };
        let Some((_, documents)) = self.documents(&path, item.span) else { return Vec::new() };
        self.strict_values(documents.get(..1).unwrap_or_default())
    }

    fn merge_config(&mut self, config: &mut Arc<Config>, other: &Arc<Config>, span: Span) {
        if Arc::ptr_eq(config, other) {
            return;
        }
        if other.is_too_deep() {
            self.exhaust(LimitError::Depth, span);
            return;
        }
        if Arc::ptr_eq(config, &Config::none()) && Arc::ptr_eq(other, &Config::built_in()) {
            *config = Arc::clone(other);
            return;
        }
        if !self.affords(config.cost_of_merge(other), span) {
            return;
        }
        if let Err(error) = Arc::make_mut(config).merge(other) {
            self.fail(error, span);
        }
    }
}
