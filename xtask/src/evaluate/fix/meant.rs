//! Two builds of the real kustomize beside each other: what is different, and whether an edit names it.
//!
//! Knows objects and what each edit may change of them. Knows neither files nor how anything is built.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use source::FileId;
use yaml::{Limits, Node, Value};

/// Where a field is in its object.
type Path = &'static [&'static str];

const DEPENDENCIES: Path = &["spec", "dependsOn"];
const CHECKS: Path = &["spec", "healthChecks"];
const EXPRESSIONS: Path = &["spec", "healthCheckExprs"];

/// The fields that an edit may change of the object that it is about.
fn fields(action: &str) -> &'static [Path] {
    match action {
        "depend" | "undepend" | "depend-instead" | "await-ready" => &[DEPENDENCIES],
        "rename" => &[DEPENDENCIES, CHECKS],
        "wait" | "unwait" => &[&["spec", "wait"]],
        "resume" => &[&["spec", "suspend"]],
        "health-check" => &[CHECKS],
        "health-expression" => &[EXPRESSIONS],
        // Their health checks move along.
        "split" => &[CHECKS, EXPRESSIONS],
        "retry-on-failure" => &[&["spec", "install", "strategy"], &["spec", "upgrade", "strategy"]],
        "retry-interval" => &[&["spec", "retryInterval"]],
        "helm-waits" => &[&["spec", "install", "disableWait"], &["spec", "upgrade", "disableWait"]],
        _ => &[],
    }
}

/// What an object is called.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    group: String,
    kind: String,
    namespace: Option<String>,
    own: String,
}

impl Name {
    fn of(object: &Node) -> Option<Self> {
        let version = object.text_at(&["apiVersion"])?;
        Some(Self {
            group: version.split_once('/').map_or("", |(group, _)| group).to_owned(),
            kind: object.text_at(&["kind"])?.to_owned(),
            namespace: object.text_at(&["metadata", "namespace"]).map(str::to_owned),
            own: object.text_at(&["metadata", "name"])?.to_owned(),
        })
    }

    /// As `Kind namespace/name`, which is how edits name it. A build may lack the namespace, and Flux fills variables in.
    fn is(&self, object: &str) -> bool {
        let Some((kind, path)) = object.split_once(' ') else { return false };
        let (namespace, name) = path.rsplit_once('/').unwrap_or(("", path));
        self.kind == kind && fits(&self.own, name) && self.namespace.as_ref().is_none_or(|own| fits(own, namespace))
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}/{}", self.kind, self.namespace.as_deref().unwrap_or_default(), self.own)
    }
}

/// Whether a text is another one once its variables are filled in.
fn fits(written: &str, filled: &str) -> bool {
    let Some((before, rest)) = written.split_once("${") else { return written == filled };
    let after = rest.rsplit_once('}').map_or("", |(_, after)| after);
    filled.len() >= before.len() + after.len() && filled.starts_with(before) && filled.ends_with(after)
}

/// The objects of a build.
pub(super) type Objects = BTreeMap<Name, Node>;

/// Reads what `kustomize build` prints.
pub(super) fn objects(build: &str) -> Objects {
    let documents = yaml::parse(FileId::GENERATED, build, Limits::default());
    let roots = documents.into_iter().filter_map(|document| document.root);
    roots.filter_map(|root| Some((Name::of(&root)?, root))).collect()
}

/// A value that is not as it was.
struct Difference {
    /// The innermost object that has it.
    of: Name,
    path: Vec<String>,
    /// It is in a patch, which names objects in ways of its own.
    is_in_patch: bool,
}

/// All edits of a repository.
pub(super) struct Meant {
    /// What is done to which object, and what it is about beside that.
    actions: Vec<(String, String, String)>,
    /// What is in the files that kustomizations list now.
    listed: Vec<Name>,
}

impl Meant {
    /// `repairs` as `fix --format json` has them; `read` gives the text of a file.
    pub(super) fn new(repairs: &[Json], read: impl Fn(&str) -> Option<String>) -> Self {
        let text = |action: &Json, key: &str| action[key].as_str().unwrap_or_default().to_owned();
        let all = repairs.iter().flat_map(|repair| repair["actions"].as_array().into_iter().flatten());
        let actions: Vec<_> =
            all.map(|action| (text(action, "action"), text(action, "component"), text(action, "target"))).collect();
        let files = actions.iter().filter(|(word, _, _)| word == "list").filter_map(|(_, _, file)| read(file));
        let listed = files.flat_map(|text| objects(&text).into_keys()).collect();
        Self { actions, listed }
    }

    /// The new Kustomizations that objects move to.
    fn is_new(&self, name: &Name) -> bool {
        self.actions.iter().any(|(word, _, target)| word == "split" && name.is(target))
    }

    fn is_meant(&self, one: &Difference) -> bool {
        let is_below = |field: &Path| one.path.iter().map(String::as_str).take(field.len()).eq(field.iter().copied());
        self.actions.iter().any(|(word, component, _)| {
            let is_of = one.is_in_patch || one.of.is(component);
            // What a patch no longer replaces is what each object says itself.
            (word == "unlist" && is_below(&DEPENDENCIES)) || (is_of && fields(word).iter().any(is_below))
        })
    }

    /// Whether an object may come that was in no build before.
    fn may_come(&self, name: &Name) -> bool {
        let is_brought = |(word, _, target): &(String, String, String)| {
            word == "namespace" && name.kind == "Namespace" && fits(&name.own, target)
        };
        // A kustomization may put something before or behind the names of what it lists.
        let is_listed = |listed: &Name| listed.kind == name.kind && name.own.contains(&listed.own);
        self.is_new(name) || self.actions.iter().any(is_brought) || self.listed.iter().any(is_listed)
    }
}

/// All builds before and after, beside each other.
pub(super) struct Beside<'m> {
    meant: &'m Meant,
    otherwise: Vec<String>,
    /// Places that are there no more.
    removed: BTreeSet<String>,
    gone: Vec<(String, Name, Node)>,
    come: Vec<(String, Name, Node)>,
}

impl<'m> Beside<'m> {
    pub(super) fn new(meant: &'m Meant) -> Self {
        Self { meant, otherwise: Vec::new(), removed: BTreeSet::new(), gone: Vec::new(), come: Vec::new() }
    }

    /// One build, before and after; nothing after it where the place is gone.
    pub(super) fn add(&mut self, place: &str, before: Objects, after: Option<Objects>) {
        if after.is_none() {
            self.removed.insert(place.to_owned());
        }
        let mut after = after.unwrap_or_default();
        for (name, old) in before {
            let Some(new) = after.remove(&name) else {
                self.gone.push((place.to_owned(), name, old));
                continue;
            };
            let mut found = Vec::new();
            differences(&Place { of: &name, path: &[], is_in_patch: false }, Some(&old), Some(&new), &mut found);
            let found = found.into_iter().filter(|one| !self.meant.is_meant(one));
            self.otherwise.extend(found.map(|one| format!("{place}: {} {}", one.of, one.path.join("."))));
        }
        self.come.extend(after.into_iter().map(|(name, new)| (place.to_owned(), name, new)));
    }

    /// The directories that new Kustomizations apply.
    pub(super) fn new_paths(&self) -> Vec<String> {
        let new = self.come.iter().filter(|(_, name, _)| self.meant.is_new(name));
        new.filter_map(|(_, _, node)| node.text_at(&["spec", "path"])).map(repository::path::within).collect()
    }

    /// What is different though no edit names it. `applied` is what new Kustomizations apply, and `moved` what is in files that move.
    pub(super) fn otherwise(mut self, applied: &Objects, moved: &Objects) -> Vec<String> {
        let come: Vec<(&Name, &Node)> =
            self.come.iter().map(|(_, name, node)| (name, node)).chain(applied.iter()).collect();
        let gone: Vec<(&Name, &Node)> = self.gone.iter().map(|(_, name, node)| (name, node)).collect();
        let mut lost: Vec<String> = Vec::new();
        for (place, name, node) in &self.gone {
            // What a directory that goes gets from those above it is not in its own build.
            let is_bare = self.removed.contains(place);
            if !come.iter().any(|other| is_moved((name, node), *other, is_bare)) {
                lost.push(format!("{place}: {name} is gone"));
            }
        }
        for (place, name, node) in &self.come {
            let is_moved = |bare| move |other: &(&Name, &Node)| is_moved((name, node), *other, bare);
            let is_known = gone.iter().any(is_moved(false)) || moved.iter().any(|other| is_moved(true)(&other));
            if !self.meant.may_come(name) && !is_known {
                lost.push(format!("{place}: {name} is new"));
            }
        }
        self.otherwise.append(&mut lost);
        self.otherwise
    }
}

/// Whether an object is another one that moved: only its namespace may come from elsewhere, the kustomization above or Flux. One that
/// is bare got nothing from kustomizations above: its metadata may be another.
fn is_moved((name, node): (&Name, &Node), (other, new): (&Name, &Node), is_bare: bool) -> bool {
    let is_same = (&name.group, &name.kind, &name.own) == (&other.group, &other.kind, &other.own);
    let are_named = name.namespace.is_some() && other.namespace.is_some();
    let without = |node: &Node| {
        let mut node = node.clone();
        if is_bare {
            node.as_map_mut().map(|map| map.remove("metadata"));
        }
        let metadata = node.get_mut("metadata").and_then(Node::as_map_mut);
        metadata.map(|metadata| metadata.remove("namespace"));
        node
    };
    let is_in_place = !are_named || name.namespace == other.namespace;
    is_same && is_in_place && without(node) == without(new)
}

/// Where two values are compared.
struct Place<'p> {
    of: &'p Name,
    path: &'p [String],
    is_in_patch: bool,
}

/// Everything below two values that is different, as far down as both are mappings, or lists of the same length.
fn differences(place: &Place<'_>, old: Option<&Node>, new: Option<&Node>, found: &mut Vec<Difference>) {
    if old == new {
        return;
    }
    let own = [old, new].map(|node| node.filter(|node| !node.is_null()).map(|node| &node.value));
    match own {
        [Some(Value::Map(_)), Some(Value::Map(_)) | None] | [None, Some(Value::Map(_))] => {
            of_maps(place, old, new, found);
        }
        [Some(Value::Seq(before)), Some(Value::Seq(after))] if before.len() == after.len() => {
            for (at, (old, new)) in before.iter().zip(after).enumerate() {
                let path = [place.path, &[at.to_string()]].concat();
                differences(&Place { path: &path, ..*place }, Some(old), Some(new), found);
            }
        }
        _ => match patches(place, old, new) {
            Some((before, after)) if before.len() == after.len() => {
                let inside = Place { path: &[], is_in_patch: true, ..*place };
                before.iter().zip(&after).for_each(|(old, new)| differences(&inside, Some(old), Some(new), found));
            }
            _ => found.push(Difference {
                of: place.of.clone(),
                path: place.path.to_vec(),
                is_in_patch: place.is_in_patch,
            }),
        },
    }
}

fn of_maps(place: &Place<'_>, old: Option<&Node>, new: Option<&Node>, found: &mut Vec<Difference>) {
    // An object in another one is an object by itself.
    let inner = old.and_then(Name::of).filter(|_| !place.path.is_empty());
    let inner = inner.filter(|inner| new.and_then(Name::of).as_ref() == Some(inner));
    let place = match &inner {
        Some(inner) => &Place { of: inner, path: &[], is_in_patch: place.is_in_patch },
        None => place,
    };
    let keys = |node: Option<&Node>| -> Vec<String> {
        node.map(Node::entries).unwrap_or_default().iter().map(|entry| entry.key.to_string()).collect()
    };
    let mut all = keys(old);
    all.extend(keys(new));
    all.sort_unstable();
    all.dedup();
    for key in all {
        let value = |node: Option<&'_ Node>| node.and_then(|node| node.get(&key)).cloned();
        let path = [place.path, std::slice::from_ref(&key)].concat();
        differences(&Place { path: &path, ..*place }, value(old).as_ref(), value(new).as_ref(), found);
    }
}

/// The YAML in the text of an inline patch, before and after.
fn patches(place: &Place<'_>, old: Option<&Node>, new: Option<&Node>) -> Option<(Vec<Node>, Vec<Node>)> {
    if place.path.last().map(String::as_str) != Some("patch") {
        return None;
    }
    let inside = |text: &str| {
        let documents = yaml::parse(FileId::GENERATED, text, Limits::default());
        documents.into_iter().filter_map(|document| document.root).collect()
    };
    Some((inside(old?.text()?), inside(new?.text()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Beside, Meant, objects};

    const APP: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: app\nspec:\n  prune: true\n  path: ./app\n";
    const STORE: &str =
        "apiVersion: example.org/v1\nkind: Store\nmetadata:\n  name: main\n  namespace: apps\nspec: {size: 1}\n";

    fn meant(actions: &[(&str, &str, &str)]) -> Meant {
        let action = |(word, component, target): &(&str, &str, &str)| json!({"action": word, "component": component, "target": target});
        let repair = json!({"actions": actions.iter().map(action).collect::<Vec<_>>()});
        Meant::new(&[repair], |_| None)
    }

    /// What is different otherwise between builds of one place.
    fn otherwise(meant: &Meant, before: &str, after: &str, applied: &str) -> Vec<String> {
        let mut beside = Beside::new(meant);
        beside.add("here", objects(before), Some(objects(after)));
        beside.otherwise(&objects(applied), &objects(""))
    }

    #[test]
    fn a_field_that_an_edit_names_may_change_and_no_other() {
        let depends = meant(&[("depend", "Kustomization flux-system/app", "Kustomization flux-system/base")]);
        let edited = format!("{APP}  dependsOn:\n    - name: base\n");
        assert_eq!(otherwise(&depends, APP, &edited, ""), Vec::<String>::new());
        let more = edited.replace("prune: true", "prune: false");
        assert_eq!(otherwise(&depends, APP, &more, ""), ["here: Kustomization /app spec.prune"]);
        let other = meant(&[("depend", "Kustomization flux-system/other", "Kustomization flux-system/base")]);
        assert_eq!(otherwise(&other, APP, &edited, ""), ["here: Kustomization /app spec.dependsOn"]);
        let waits = meant(&[("wait", "Kustomization flux-system/app", "")]);
        assert_eq!(otherwise(&waits, APP, &edited, ""), ["here: Kustomization /app spec.dependsOn"]);
    }

    #[test]
    fn strategies_may_come_with_the_mapping_that_they_are_in() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: app, namespace: apps}\nspec:\n  chart: {}\n";
        let retries = meant(&[("retry-on-failure", "HelmRelease apps/app", "")]);
        let with = |more: &str| format!("{release}  install:\n    strategy: {{name: RetryOnFailure}}\n{more}");
        assert_eq!(otherwise(&retries, release, &with(""), ""), Vec::<String>::new());
        assert_eq!(
            otherwise(&retries, release, &with("    replace: true\n"), ""),
            ["here: HelmRelease apps/app spec.install.replace"]
        );
    }

    #[test]
    fn a_patch_in_an_object_may_change_in_the_fields_that_edits_name() {
        let patch = |more: &str| {
            format!(
                "{APP}  patches:\n    - patch: |-\n        kind: Kustomization\n        spec:\n          dependsOn:\n            - name: base\n{more}"
            )
        };
        let depends = meant(&[("depend", "Kustomization apps/one", "Kustomization apps/two")]);
        assert_eq!(otherwise(&depends, &patch(""), &patch("            - name: two\n"), ""), Vec::<String>::new());
        assert_eq!(
            otherwise(&depends, &patch(""), &patch("          prune: false\n"), ""),
            ["here: Kustomization /app spec.prune"]
        );
    }

    #[test]
    fn what_goes_comes_elsewhere_as_it_was() {
        let split = meant(&[("split", "Kustomization flux-system/app", "Kustomization flux-system/app-config")]);
        let both = format!("{APP}---\n{STORE}");
        let new = format!("{APP}---\n{}", APP.replace("app", "app-config"));
        let bare = STORE.replace("  namespace: apps\n", "");
        assert_eq!(otherwise(&split, &both, &new, &bare), Vec::<String>::new());
        assert_eq!(otherwise(&split, &both, &new, ""), ["here: Store apps/main is gone"]);
        assert_eq!(otherwise(&split, &both, &new, &bare.replace('1', "2")), ["here: Store apps/main is gone"]);
        assert_eq!(otherwise(&meant(&[]), APP, &new, ""), ["here: Kustomization /app-config is new"]);
    }

    #[test]
    fn what_comes_from_a_place_that_goes_may_have_got_labels_before() {
        let split = meant(&[]);
        let labelled = STORE.replace("  name: main\n", "  name: main\n  labels: {team: data}\n");
        let otherwise = |moved: &str, new: &str| {
            let mut beside = Beside::new(&split);
            beside.add("old", objects(STORE), None);
            beside.add("new", objects(""), Some(objects(new)));
            beside.otherwise(&objects(""), &objects(moved))
        };
        assert_eq!(otherwise(STORE, &labelled), Vec::<String>::new());
        assert_eq!(otherwise("", &labelled), ["new: Store apps/main is new"]);
        assert_eq!(otherwise(STORE, &labelled.replace('1', "2")).len(), 2);
        assert_eq!(otherwise(STORE, &labelled.replace("apps", "other")).len(), 2);
    }

    #[test]
    fn variables_in_names_are_filled_in() {
        let depends = meant(&[("depend", "Kustomization flux-system/home-app", "Kustomization flux-system/base")]);
        let before = APP.replace("name: app", "name: ${CLUSTER}-app");
        let after = format!("{before}  dependsOn:\n    - name: base\n");
        assert_eq!(otherwise(&depends, &before, &after, ""), Vec::<String>::new());
    }
}
