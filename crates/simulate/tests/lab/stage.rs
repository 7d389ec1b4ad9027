//! A case on the simulated stage: its repository at every revision, compiled, and the acts of its `lab.yaml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use coldstart_simulate::{Blueprint, Conditions, Id, Millis, World, compile};
use fixtures::{Fixture, Shelf};
use read::rendered::Rendered;
use yaml::Node;

use super::told::{Key, Told};

/// `--requeue-dependency` as Flux has it, and what a lab makes of it.
const REQUEUE_SECONDS: f64 = 30.0;
const REQUEUE_SECONDS_IN_A_LAB: (f64, f64) = (0.5, 3.0);

pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) fixture: Fixture,
    pub(crate) told: Told,
}

impl Case {
    pub(crate) fn all() -> Vec<Self> {
        let cases = fixtures::all(Shelf::Cases).unwrap().into_iter();
        cases
            .filter(|fixture| fixture.directory.join("lab.yaml").is_file())
            .map(|fixture| Self {
                name: fixture.name.clone(),
                told: serde_saphyr::from_str(&fs::read_to_string(fixture.directory.join("lab.yaml")).unwrap()).unwrap(),
                fixture,
            })
            .collect()
    }

    /// The repository as it is pushed first, and after each act that pushes.
    pub(crate) fn revisions(&self) -> Vec<Rendered> {
        let tree = self.fixture.repository().unwrap();
        let mut all = Vec::new();
        if let Some(late) = &self.told.late {
            let kept: Vec<(PathBuf, String)> = late
                .files
                .iter()
                .map(|file| (tree.path().join(file), fs::read_to_string(tree.path().join(file)).unwrap()))
                .collect();
            for (path, _) in &kept {
                fs::remove_file(path).unwrap();
            }
            all.push(render(tree.path()));
            for (path, text) in &kept {
                fs::write(path, text).unwrap();
            }
        }
        all.push(render(tree.path()));
        for then in self.told.then.iter().filter(|then| !then.edit.is_empty()) {
            for edit in &then.edit {
                let path = tree.path().join(&edit.file);
                let text = fs::read_to_string(&path).unwrap();
                // The lab edits its own copy, which is JSON.
                let (replace, by) = (as_yaml(&edit.replace), as_yaml(&edit.by));
                assert!(text.contains(&replace), "{} has no {replace:?}:\n{text}", edit.file);
                fs::write(&path, text.replace(&replace, &by)).unwrap();
            }
            all.push(render(tree.path()));
        }
        all
    }

    pub(crate) fn conditions(&self, revisions: &[Rendered]) -> Conditions {
        let told = &self.told;
        let (least, most) = REQUEUE_SECONDS_IN_A_LAB;
        let mut delays = told.delays.clone();
        // What the lab calls unsealing is the controller's first look at anything that is sealed.
        if let Some(seconds) = delays.remove("kube-system/unsealing") {
            let objects = revisions.iter().flat_map(|rendered| &rendered.appliers).flat_map(|it| &it.objects);
            let sealed = objects.filter(|(reference, _)| reference.kind == "SealedSecret");
            delays.extend(sealed.map(|(reference, _)| (reference.path(), seconds)));
        }
        let helmfile = told.bootstrap.helmfile.as_ref();
        Conditions {
            is_strict_if_unknown: true,
            pace: told.pace,
            timeouts: told.timeouts,
            requeue_millis: millis((REQUEUE_SECONDS / told.pace).clamp(least, most)),
            delays,
            crashes: told.crashes.clone(),
            sealing_key_is_lost: told.sealed.as_ref().is_some_and(|sealed| sealed.key == Key::Lost),
            bootstrap_timeout_millis: helmfile.map(|helmfile| u64::from(helmfile.timeout) * 1000),
            is_steady: true,
            runs_bootstrap: helmfile.is_some(),
            machines: None,
        }
    }
}

pub(crate) fn millis(seconds: f64) -> Millis {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds of a case")]
    let millis = (seconds * 1000.0) as Millis;
    millis
}

pub(crate) fn blueprint(case: &Case, revisions: &[Rendered]) -> Blueprint {
    compile(revisions, catalogue::Catalogue::embedded(), &case.conditions(revisions))
}

/// `Kind namespace/name`, or `Kind name`.
pub(crate) fn find(blueprint: &Blueprint, said: &str) -> Option<Id> {
    let (kind, path) = said.split_once(' ')?;
    let (namespace, name) = path.split_once('/').unwrap_or(("", path));
    blueprint.find(kind, namespace, name)
}

/// A CRD of a file of the case.
pub(crate) fn definitions(case: &Case, file: &str, blueprint: &Blueprint) -> Vec<Id> {
    let text = fs::read_to_string(case.fixture.directory.join(file)).unwrap();
    let documents = yaml::parse(source::FileId(0), &text, yaml::Limits::default());
    let found = documents.iter().filter_map(|document| {
        let root = document.root.as_ref()?;
        let name = format!("{}/{}", root.text_at(&["spec", "group"])?, root.text_at(&["spec", "names", "kind"])?);
        blueprint.find("CustomResourceDefinition", "", &name)
    });
    found.collect()
}

/// The text of a field of an object that a Kustomization applies, with the variables it was built with last.
pub(crate) fn content(
    case: &Case,
    world: &World<'_>,
    blueprint: &Blueprint,
    revisions: &[Rendered],
    of: Id,
    path: &str,
) -> String {
    let thing = blueprint.thing(of);
    let revision = &revisions[world.newest_revision() as usize];
    let applier = revision
        .appliers
        .iter()
        .find(|applier| applier.objects.iter().any(|(reference, _)| *reference == thing.object()));
    let applier = applier.unwrap_or_else(|| panic!("nobody applies {}", thing.object()));
    let own = blueprint.find("Kustomization", &applier.object.namespace, &applier.object.name).unwrap();
    let keys: Vec<&str> = path.split('.').collect();
    let is_it = |node: &&Node| {
        node.text_at(&["metadata", "name"]) == Some(thing.name.as_str())
            && node.text_at(&["kind"]) == Some(thing.kind.as_str())
    };
    let Some(mut node) = applier.unsubstituted.iter().find(is_it).cloned() else {
        let (_, node) = applier.objects.iter().find(|(reference, _)| *reference == thing.object()).unwrap();
        return node.text_at(&keys).unwrap_or("~").to_owned();
    };
    let values = variables(case, revision, applier, world.built_with(own));
    if !values.is_empty() {
        let lookup = |name: &str| values.get(name).map(|value| value.as_str().into());
        read::substitute::substitute_node(&mut node, &lookup, &mut yaml::Budget::of_build()).unwrap();
    }
    node.text_at(&keys).unwrap_or("~").to_owned()
}

fn variables(
    case: &Case,
    revision: &Rendered,
    applier: &read::rendered::Applier,
    with: u64,
) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let post = applier.node.as_ref().unwrap().at(&["spec", "postBuild"]).unwrap().clone();
    for (at, from) in post.items_at("substituteFrom").iter().enumerate() {
        if with & (1 << at) != 0 {
            values.extend(data(case, revision, from.text_at(&["name"]).unwrap()));
        }
    }
    for entry in post.get("substitute").map(Node::entries).unwrap_or_default() {
        values.insert(entry.key.to_string(), entry.value.text().unwrap_or_default().to_owned());
    }
    values
}

/// What a ConfigMap or Secret of this name holds, whoever makes it.
fn data(case: &Case, revision: &Rendered, name: &str) -> BTreeMap<String, String> {
    let applied = revision.appliers.iter().flat_map(|applier| applier.objects.iter().map(|(_, node)| node));
    let all: Vec<&Node> = applied.chain(revision.bootstrap.objects.iter().map(|seed| &seed.node)).collect();
    let stored: BTreeMap<&str, &str> = all
        .iter()
        .flat_map(|node| node.at(&["spec", "provider", "fake"]).map(|fake| fake.items_at("data")).unwrap_or_default())
        .filter_map(|item| Some((item.text_at(&["key"])?, item.text_at(&["value"])?)))
        .collect();
    let mut values = BTreeMap::new();
    for node in all.iter().filter(|node| node.text_at(&["metadata", "name"]) == Some(name)) {
        for field in ["data", "stringData"] {
            for entry in node.get(field).map(Node::entries).unwrap_or_default() {
                values.insert(entry.key.to_string(), entry.value.text().unwrap_or_default().to_owned());
            }
        }
        for item in node.get("spec").map(|spec| spec.items_at("data")).unwrap_or_default() {
            let key = item.text_at(&["secretKey"]).unwrap_or_default();
            let value = item.text_at(&["remoteRef", "key"]).and_then(|key| stored.get(key)).copied();
            values.insert(key.to_owned(), value.unwrap_or_default().to_owned());
        }
        if node.text_at(&["kind"]) == Some("SealedSecret") {
            values.extend(case.told.sealed.iter().flat_map(|sealed| sealed.data.clone()));
        }
    }
    values
}

fn render(path: &Path) -> Rendered {
    let repository = read::Repository::open(path).unwrap();
    let (mut clusters, _) = read::rendered::render(&repository).unwrap();
    assert_eq!(clusters.len(), 1, "one cluster per case");
    clusters.remove(0)
}

fn as_yaml(text: &str) -> String {
    match text.strip_prefix('"').and_then(|rest| rest.split_once("\":")) {
        Some((key, value)) => format!("{key}: {value}"),
        None => text.to_owned(),
    }
}
