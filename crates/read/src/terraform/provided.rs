//! What Terraform brings to a cluster before Flux starts, or beside it: Namespaces, Secrets and ConfigMaps by name, charts, and files that
//! it writes into a repository.
//!
//! Knows the resources of the providers `kubernetes`, `kubectl`, `helm`, `local`, `github` and `gitlab`. Does not know whether anyone ran it.

use std::collections::BTreeSet;
use std::rc::Rc;

use hcl_edit::expr::{Expression, ObjectKey};
use hcl_edit::structure::Body;
use source::{FileId, Span};
use yaml::{Limits, Node};

use super::instance::{Each, Instance, World};
use super::module::{Module, Resource};
use super::open_text::{GAP, file_pattern, in_repository, open_text, pattern};
use super::value::Value;
use super::{applied_by_flux, roots};
use crate::machines::is_aside;
use crate::repository::Repository;
use crate::scripts::CreatedKind;

/// Of what such resources are called that bring something.
const TELLING: [&str; 9] = [
    "\"flux_bootstrap_git\"",
    "\"flux_sync\"",
    "\"kubernetes_namespace",
    "\"kubernetes_secret",
    "\"kubernetes_config_map",
    "_manifest\"",
    "\"helm_release\"",
    "_repository_file\"",
    "\"local_",
];

/// An object that Terraform makes. A `*` in its name stands for a part that is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProvidedObject {
    pub(crate) kind: CreatedKind,
    /// Empty for a Namespace.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) at: Span,
}

/// A chart that Terraform installs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProvidedChart {
    pub(crate) name: String,
    pub(crate) at: Span,
}

/// All that Terraform brings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provided {
    pub(crate) objects: BTreeSet<ProvidedObject>,
    pub(crate) charts: BTreeSet<ProvidedChart>,
    /// Paths of files that it writes into a repository, with a `*` for what is not known.
    pub(crate) files: BTreeSet<String>,
    /// Directories that it bootstraps Flux with, with a `*` for each part that is not known.
    pub(crate) clusters: BTreeSet<String>,
}

impl Provided {
    /// Whether it writes a file of the repository.
    pub(crate) fn writes(&self, path: &str) -> bool {
        let is_it = |pattern: &String| match pattern.split_once('*') {
            Some((start, end)) => {
                path.len() >= start.len() + end.len() && path.starts_with(start) && path.ends_with(end)
            }
            None => pattern == path,
        };
        self.files.iter().any(is_it)
    }
}

/// What all Terraform of a repository brings but that which Flux applies.
pub(crate) fn provided(repository: &Repository) -> Provided {
    if !is_telling(repository) {
        return Provided::default();
    }
    World::of(repository).map(|world| provided_by(&world)).unwrap_or_default()
}

fn provided_by(world: &World<'_>) -> Provided {
    let mut found = Provided::default();
    // Those that are called ask those that call them.
    let instances = instances(world);
    for instance in &instances {
        for resource in &instance.module.resources {
            for each in instance.expand(&resource.body).unwrap_or_else(|| vec![Each::default()]) {
                let making = Making { instance, resource, each: &each };
                making.add_to(&mut found);
            }
        }
    }
    found
}

/// Whether it is worth parsing anything.
fn is_telling(repository: &Repository) -> bool {
    let is_terraform = |path: &&str| matches!(path.rsplit('.').next(), Some("tf" | "tofu"));
    let files = repository.paths().filter(is_terraform).filter_map(|path| repository.id(path));
    let mut texts = files.filter_map(|id| Some(repository.source(id)?.text()));
    texts.any(|text| TELLING.iter().any(|word| text.contains(word)))
}

/// Every module as often as it is called; one that only Terragrunt or another repository calls once, without its variables.
fn instances<'w>(world: &'w World<'w>) -> Vec<Rc<Instance<'w>>> {
    let by_flux = applied_by_flux(world.repository);
    let tree = |directory: &str| Instance::root(world, directory).map(|root| root.tree()).unwrap_or_default();
    let (flux, own): (Vec<&str>, Vec<&str>) = roots(world).into_iter().partition(|root| by_flux.contains(*root));
    let mut all: Vec<Rc<Instance<'w>>> = own.into_iter().flat_map(tree).collect();
    let of_flux = flux.into_iter().chain(by_flux.iter().map(String::as_str)).flat_map(tree);
    let known: BTreeSet<String> = all.iter().cloned().chain(of_flux).map(|one| one.module.directory.clone()).collect();
    let is_left = |module: &&Module| !known.contains(&module.directory) && !is_for_show(&module.directory);
    let left = world.modules.values().filter(is_left);
    all.extend(left.filter_map(|module| Instance::root(world, &module.directory)));
    all
}

/// Whether a directory is there to be read or was given up. A module is not.
fn is_for_show(directory: &str) -> bool {
    directory.split('/').any(|part| !matches!(part, "module" | "modules") && is_aside(part))
}

/// The directory that Flux is bootstrapped with, if something of it is known.
fn cluster(written: &str) -> Option<String> {
    let directory = written.trim_start_matches("./").trim_matches('/');
    let is_known = |part: &str| !part.is_empty() && !part.contains(GAP);
    directory.split('/').any(is_known).then(|| directory.replace(GAP, "*"))
}

/// One of a resource, where it is made.
struct Making<'m, 'w> {
    instance: &'m Instance<'w>,
    resource: &'m Resource,
    each: &'m Each,
}

impl Making<'_, '_> {
    fn add_to(&self, found: &mut Provided) {
        if self.resource.is_data {
            // What `flux bootstrap` would write, for files that Terraform commits.
            let is_sync = self.resource.kind == "flux_sync";
            found.clusters.extend(self.text("target_path").filter(|_| is_sync).and_then(|it| cluster(&it)));
            return;
        }
        let object = |kind: CreatedKind| self.named(kind);
        match self.resource.kind.trim_end_matches("_v1") {
            "kubernetes_namespace" => found.objects.extend(object(CreatedKind::Namespace)),
            "kubernetes_secret" => found.objects.extend(object(CreatedKind::Secret)),
            "kubernetes_config_map" => found.objects.extend(object(CreatedKind::ConfigMap)),
            "kubectl_manifest" => found.objects.extend(self.written("yaml_body")),
            "kubernetes_manifest" => found.objects.extend(self.written("manifest")),
            "helm_release" => {
                found.objects.extend(self.namespace_of_release());
                found.charts.extend(self.chart());
                found.clusters.extend(self.path_of_sync().and_then(|it| cluster(&it)));
            }
            "flux_bootstrap_git" => found.clusters.extend(self.text("path").and_then(|it| cluster(&it))),
            "github_repository_file" => found.files.extend(self.text("file").as_deref().and_then(file_pattern)),
            "gitlab_repository_file" => found.files.extend(self.text("file_path").as_deref().and_then(file_pattern)),
            "local_file" | "local_sensitive_file" => {
                let path = self.text("filename").and_then(|path| in_repository(self.instance.run_in(), &path));
                found.files.extend(path.as_deref().and_then(file_pattern));
            }
            _ => {}
        }
    }

    /// An argument as a text, with gaps for what is not known.
    fn text(&self, argument: &str) -> Option<String> {
        self.text_of(&self.resource.body, argument)
    }

    fn text_of(&self, body: &Body, argument: &str) -> Option<String> {
        let value = &body.get_attribute(argument)?.value;
        Some(open_text(self.instance, value, self.each)).filter(|text| !text.is_empty())
    }

    fn object(&self, kind: CreatedKind, namespace: Option<&str>, name: &str) -> Option<ProvidedObject> {
        let namespace = match kind {
            CreatedKind::Namespace => "",
            CreatedKind::Secret | CreatedKind::ConfigMap => namespace.unwrap_or("default"),
        };
        let name = pattern(name).filter(|_| !namespace.contains(GAP))?;
        Some(ProvidedObject { kind, namespace: namespace.to_owned(), name, at: self.resource.at })
    }

    /// By its `metadata` block.
    fn named(&self, kind: CreatedKind) -> Option<ProvidedObject> {
        let metadata = &self.resource.body.get_blocks("metadata").next()?.body;
        let namespace = self.text_of(metadata, "namespace");
        self.object(kind, namespace.as_deref(), &self.text_of(metadata, "name")?)
    }

    /// The Namespace that a release creates for itself.
    fn namespace_of_release(&self) -> Option<ProvidedObject> {
        let creates = self.resource.body.get_attribute("create_namespace")?;
        let creates = self.instance.value(&creates.value, self.each).to_bool()?;
        let name = self.text("namespace").filter(|_| creates)?;
        self.object(CreatedKind::Namespace, None, &name)
    }

    /// The path that a release of the chart `flux2-sync` has Flux apply.
    fn path_of_sync(&self) -> Option<String> {
        const PATH: [&str; 3] = ["kustomization", "spec", "path"];
        self.chart().filter(|chart| chart.name == "flux2-sync")?;
        let blocks = self.resource.body.get_blocks("set");
        let is_path = |body: &&Body| self.text_of(body, "name").is_some_and(|name| name == PATH.join("."));
        let set = blocks.map(|block| &block.body).find(is_path);
        let values = || {
            let attribute = self.resource.body.get_attribute("values")?;
            let Value::List(values) = self.instance.value(&attribute.value, self.each) else { return None };
            values.items.iter().find_map(|value| match value {
                Value::Encoded(documents) => {
                    documents.items.iter().find_map(|it| it.at(&PATH)?.as_text().map(str::to_owned))
                }
                _ => None,
            })
        };
        set.and_then(|body| self.text_of(body, "value")).or_else(values)
    }

    /// By the last part of its name: `oci://host/charts/name`.
    fn chart(&self) -> Option<ProvidedChart> {
        let chart = self.text("chart")?;
        let name = chart.rsplit('/').next().filter(|name| !name.contains(GAP))?;
        Some(ProvidedChart { name: name.to_owned(), at: self.resource.at })
    }

    /// The objects in an argument that is a manifest, or the text of one.
    fn written(&self, argument: &str) -> Vec<ProvidedObject> {
        let Some(attribute) = self.resource.body.get_attribute(argument) else { return Vec::new() };
        match self.instance.value(&attribute.value, self.each) {
            Value::Encoded(documents) => {
                documents.items.iter().filter_map(|it| self.of_value(it, &attribute.value)).collect()
            }
            manifest @ Value::Map(_) => self.of_value(&manifest, &attribute.value).into_iter().collect(),
            _ => self.of_text(&open_text(self.instance, &attribute.value, self.each)),
        }
    }

    fn of_value(&self, manifest: &Value, written: &Expression) -> Option<ProvidedObject> {
        let text = |path: &[&str]| manifest.at(path).and_then(Value::as_text);
        let kind = kind_of(text(&["apiVersion"])?, text(&["kind"])?)?;
        // One that is there and not known is not the default.
        let named = |key: &str| {
            let known = manifest.at(&["metadata", key])?.as_text().map(str::to_owned);
            let open = || member(written, &["metadata", key]).map(|it| open_text(self.instance, it, self.each));
            known.or_else(open).or_else(|| Some(GAP.to_string()))
        };
        self.object(kind, named("namespace").as_deref(), &named("name")?)
    }

    fn of_text(&self, text: &str) -> Vec<ProvidedObject> {
        let documents = yaml::parse(self.file(), text, Limits::default());
        let roots = documents.iter().filter_map(|document| document.root.as_ref());
        roots.filter_map(|root| self.of_node(root)).collect()
    }

    fn of_node(&self, root: &Node) -> Option<ProvidedObject> {
        let kind = kind_of(root.text_at(&["apiVersion"])?, root.text_at(&["kind"])?)?;
        self.object(kind, root.text_at(&["metadata", "namespace"]), root.text_at(&["metadata", "name"])?)
    }

    fn file(&self) -> FileId {
        self.resource.at.file
    }
}

/// What an object, or one that is encoded, has at a path as it is written.
fn member<'e>(written: &'e Expression, path: &[&str]) -> Option<&'e Expression> {
    let Some((first, rest)) = path.split_first() else { return Some(written) };
    match written {
        Expression::FuncCall(call) => member(call.args.get(0)?, path),
        Expression::Object(object) => {
            let is_it = |key: &ObjectKey| match key {
                ObjectKey::Ident(ident) => ident.as_str() == *first,
                ObjectKey::Expression(Expression::Variable(name)) => name.as_str() == *first,
                ObjectKey::Expression(key) => key.as_str() == Some(first),
            };
            member(object.iter().find(|(key, _)| is_it(key))?.1.expr(), rest)
        }
        _ => None,
    }
}

fn kind_of(version: &str, kind: &str) -> Option<CreatedKind> {
    match (version, kind) {
        ("v1", "Namespace") => Some(CreatedKind::Namespace),
        ("v1", "Secret") => Some(CreatedKind::Secret),
        ("v1", "ConfigMap") => Some(CreatedKind::ConfigMap),
        _ => None,
    }
}
