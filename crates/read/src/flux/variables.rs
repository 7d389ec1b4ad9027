//! `postBuild`: the variables a Kustomization substitutes, and what is known of their values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use yaml::{Budget, Cost, Entry, Node, Spent};

use crate::object::Object;
use crate::repository::Repository;
use crate::substitute::{self, ObjectError, SubstituteError, Undefined, is_variable_name, variable_value};

/// ConfigMaps and Secrets by kind and name: what `substituteFrom` may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    /// Of the whole repository, for all clusters.
    written: Arc<Layer>,
    /// Of what this cluster builds.
    built: Layer,
}

#[derive(Clone, Debug, Default)]
struct Layer {
    objects: BTreeMap<(EcoString, EcoString), Vec<Node>>,
    /// The keys of Secrets that a template of an ExternalSecret makes, by the Secret's name.
    made: BTreeMap<EcoString, BTreeSet<EcoString>>,
}

impl Settings {
    /// Those that are written as files. What builds make is added as it is built.
    pub(crate) fn of(repository: &Repository) -> Self {
        let mut written = Layer::default();
        for (_, _, documents) in repository.yaml_files() {
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                written.add(node);
            }
        }
        Self { written: Arc::new(written), built: Layer::default() }
    }

    pub(crate) fn add(&mut self, node: &Node) {
        self.built.add(node);
    }

    /// The objects of a kind and name, in the order they were found.
    fn objects(&self, kind: &str, name: &str) -> impl DoubleEndedIterator<Item = &Node> {
        self.written.of(kind, name).iter().chain(self.built.of(kind, name))
    }

    /// The keys that an object of that name may have, as far as files tell: it is written, or a template makes it.
    fn names(&self, kind: &str, name: &str) -> Option<BTreeSet<EcoString>> {
        let mut names = BTreeSet::new();
        let is_written = self.keys(kind, name, &mut names);
        let made = [&*self.written, &self.built].into_iter().filter_map(|layer| layer.made.get(name));
        let made: Vec<&BTreeSet<EcoString>> = made.filter(|_| kind == "Secret").collect();
        names.extend(made.iter().copied().flatten().cloned());
        (is_written || !made.is_empty()).then_some(names)
    }

    fn find(&self, kind: &str, namespace: &str, name: &str) -> Option<&Node> {
        let exact = self.objects(kind, name).rev().find(|node| Object::new(node).namespace() == namespace);
        exact.or_else(|| self.objects(kind, name).next_back())
    }

    /// The keys of every object of that name; whether there is one, with nothing in it that only the cluster can tell.
    fn keys(&self, kind: &str, name: &str, into: &mut BTreeSet<EcoString>) -> bool {
        let fields = self.objects(kind, name).flat_map(|node| ["data", "stringData"].map(|field| node.get(field)));
        let mut found = false;
        for entry in fields.flatten().flat_map(Node::entries) {
            found = true;
            into.insert(entry.key.clone());
        }
        found
    }

    /// What it costs to gather the variables of a Kustomization.
    fn cost(&self, post_build: &Node) -> Cost {
        let keys = |node: &Node| ["data", "stringData"].map(|field| node.get(field).map_or(0, |it| it.entries().len()));
        let of = |from: &Node| {
            let text = |key: &str| from.text_at(&[key]).unwrap_or_default();
            self.objects(text("kind"), text("name")).map(|node| 1 + keys(node).iter().sum::<usize>()).sum::<usize>()
        };
        let named: usize = post_build.items_at("substituteFrom").iter().map(of).sum();
        let own = post_build.get("substitute").map_or(0, |own| own.entries().len());
        Cost::seen(own + named).times(GATHERED_TIMES)
    }
}

/// A variable is looked up, and put in order with others, in more time than it is looked at.
const GATHERED_TIMES: usize = 4;

impl Layer {
    fn of(&self, kind: &str, name: &str) -> &[Node] {
        self.objects.get(&(kind.into(), name.into())).map(Vec::as_slice).unwrap_or_default()
    }

    fn add(&mut self, node: &Node) {
        let object = Object::new(node);
        if object.api_version() == "v1" && matches!(object.kind(), "ConfigMap" | "Secret") {
            self.objects.entry((object.kind().into(), object.name().into())).or_default().push(node.clone());
        }
        if object.is("external-secrets.io", "ExternalSecret") {
            self.add_made(node.get("spec"), object.name());
        } else if object.is("external-secrets.io", "ClusterExternalSecret") {
            let name = node.text_at(&["spec", "externalSecretName"]).unwrap_or(object.name());
            self.add_made(node.at(&["spec", "externalSecretSpec"]), name);
        }
    }

    /// A template with data of its own replaces what was fetched, unless it says otherwise.
    fn add_made(&mut self, spec: Option<&Node>, own_name: &str) {
        let target = |path: &[&str]| spec?.at(&[&["target"], path].concat());
        let is_all = target(&["template", "templateFrom"]).is_none()
            && target(&["template", "mergePolicy"]).and_then(Node::text) != Some("Merge");
        let Some(data) = target(&["template", "data"]).filter(|data| is_all && !data.entries().is_empty()) else {
            return;
        };
        let name = target(&["name"]).and_then(Node::text).unwrap_or(own_name);
        self.made.entry(name.into()).or_default().extend(data.entries().iter().map(|entry| entry.key.clone()));
    }
}

/// The variables of one Kustomization.
#[derive(Debug, Default)]
pub(crate) struct Variables {
    known: BTreeMap<EcoString, EcoString>,
    /// Whether Flux substitutes at all.
    active: bool,
    /// Names that nothing sets, as far as can be told: unknown where a source of variables was not seen.
    complete: bool,
    /// Names that any object of a name that is asked for sets: which of them a cluster has is not known here.
    somewhere: BTreeSet<EcoString>,
    /// All that could give it a variable is optional, and written nowhere.
    is_left_empty: bool,
    /// Names that the Kustomization itself sets, whatever else is there or not.
    own: BTreeSet<EcoString>,
    /// Names that may come from where there may be nothing; `None` for any name.
    optional: Option<BTreeSet<EcoString>>,
    /// The first name that is none: Flux substitutes in nothing then, and fails.
    refused: Option<ObjectError>,
}

impl Variables {
    /// As [`Variables::new`], if the budget suffices for it.
    pub(crate) fn within(
        post_build: Option<&Node>,
        namespace: &str,
        settings: &Settings,
        budget: &mut Budget,
    ) -> Result<Self, Spent> {
        if let Some(post_build) = post_build {
            budget.spend(settings.cost(post_build))?;
        }
        Ok(Self::new(post_build, namespace, settings))
    }

    pub(crate) fn new(post_build: Option<&Node>, namespace: &str, settings: &Settings) -> Self {
        let mut variables = Self { optional: Some(BTreeSet::new()), ..Self::default() };
        let Some(post_build) = post_build else { return variables };
        variables.complete = true;
        variables.active = post_build.text_at(&["substituteStrategy"]) == Some("Always");
        variables.is_left_empty = !variables.active;
        for from in post_build.items_at("substituteFrom") {
            variables.active = true;
            let kind = from.get("kind").and_then(Node::text).unwrap_or_default();
            let name = from.get("name").and_then(Node::text).unwrap_or_default();
            let is_optional = from.get("optional").and_then(Node::as_bool) == Some(true);
            if is_optional {
                let names = settings.names(kind, name);
                variables.optional = variables.optional.zip(names).map(|(known, names)| &known | &names);
            }
            variables.is_left_empty &= is_optional;
            if let Some(node) = settings.find(kind, namespace, name) {
                variables.is_left_empty = false;
                variables.add_object(node);
            }
            variables.complete &= settings.keys(kind, name, &mut variables.somewhere);
        }
        for entry in post_build.get("substitute").map(Node::entries).unwrap_or_default() {
            variables.active = true;
            variables.is_left_empty = false;
            variables.own.insert(entry.key.clone());
            variables.set(entry, variable_value(entry.value.text().unwrap_or_default()));
        }
        variables
    }

    fn add_object(&mut self, node: &Node) {
        let is_secret = Object::new(node).kind() == "Secret";
        for field in ["data", "stringData"] {
            for entry in node.get(field).map(Node::entries).unwrap_or_default() {
                let text = entry.value.text().unwrap_or_default();
                if text.starts_with("ENC[") || (is_secret && field == "data") {
                    // Set, but to a value that only the cluster knows: it stays as it is written.
                    self.set(entry, ecow::eco_format!("${{{}}}", entry.key));
                } else {
                    self.set(entry, variable_value(text));
                }
            }
        }
    }

    fn set(&mut self, entry: &Entry, value: EcoString) {
        if !is_variable_name(&entry.key) && self.refused.is_none() {
            let source = SubstituteError::NameOfNone(entry.key.clone());
            self.refused = Some(ObjectError { source, span: entry.key_span });
        }
        self.known.insert(entry.key.clone(), value);
    }

    /// Substitutes in an object. A variable that nothing sets stays readable: `${NAME}` says more than an empty text, and
    /// whether it fails the build depends on the controller's version.
    ///
    /// Says which variables are certain to be set by nothing.
    pub(crate) fn apply(&self, node: &mut Node, budget: &mut Budget) -> Result<Vec<Undefined>, ObjectError> {
        if !self.active || substitute::is_disabled(node) {
            return Ok(Vec::new());
        }
        let unset = self.put_in(node, budget)?;
        // Nothing is applied then; and yet what else is wrong is told of the names and paths that are meant.
        self.refused.clone().map_or(Ok(unset), Err)
    }

    fn put_in(&self, node: &mut Node, budget: &mut Budget) -> Result<Vec<Undefined>, ObjectError> {
        let before = node.clone();
        let unset = substitute::substitute_node(node, &|name| self.known.get(name).cloned(), budget)?;
        if unset.is_empty() {
            return Ok(unset);
        }
        *node = before;
        let names: BTreeSet<&str> = unset.iter().map(|unset| unset.name.as_str()).collect();
        let keep = |name: &str| {
            let is_unset = || names.contains(name).then(|| ecow::eco_format!("${{{name}}}"));
            self.known.get(name).cloned().or_else(is_unset)
        };
        substitute::substitute_node(node, &keep, budget)?;
        Ok(unset.into_iter().filter(|unset| self.is_unset(&unset.name)).collect())
    }

    /// The variables of an object that stay as they are written unless somebody makes an optional source.
    pub(crate) fn left_alone(&self, node: &Node) -> Vec<Undefined> {
        if self.is_left_empty() && !substitute::is_disabled(node) { substitute::mentioned(node) } else { Vec::new() }
    }

    /// Whether an object mentions a variable that may come from an optional source.
    pub(crate) fn wants_optional(&self, node: &Node) -> bool {
        let is_optional = |name: &EcoString| self.optional.as_ref().is_none_or(|names| names.contains(name));
        // Nearly nobody has one: then there is nothing to look for.
        let has_none = self.optional.as_ref().is_some_and(BTreeSet::is_empty);
        !has_none
            && !substitute::is_disabled(node)
            && substitute::mentioned(node).iter().any(|it| !self.own.contains(&it.name) && is_optional(&it.name))
    }

    /// Whether there is no variable at all, as far as files tell: then Flux substitutes nothing.
    pub(crate) fn is_left_empty(&self) -> bool {
        self.active && self.is_left_empty
    }

    /// Whether it is certain that nothing sets a variable of this name.
    pub(crate) fn is_unset(&self, name: &str) -> bool {
        self.complete && !self.known.contains_key(name) && !self.somewhere.contains(name)
    }
}
