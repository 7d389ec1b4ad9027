//! Flux: controllers, sources, Kustomizations, HelmReleases, ResourceSets, and what their messages name.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::detect::Found;
use crate::facts::{Condition, HelmRelease, Kustomization, Meta, ObjectKey, Source, Truth, Waits, condition};
use crate::known;
use crate::message;
use crate::status::{Because, LayerName, Problem, State, What};
use crate::symptom::Symptom;
use crate::view::{View, key};

const LAYER: LayerName = LayerName::GitOps;
/// A controller looks at a new object within seconds.
const STARTING: Duration = Duration::from_mins(2);
/// A new revision is applied within this time, health checks not counted.
const APPLYING: Duration = Duration::from_mins(30);

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let facts = view.facts;
    controllers(view, found);
    sources(view, found);
    kustomizations(view, found);
    releases(view, found);
    sets(view, found);
    cycles(view, found);
    for instance in &facts.flux_instances {
        let ready = condition(&instance.conditions, "Ready");
        if ready.is_some_and(|it| it.status == Truth::True) {
            continue;
        }
        let edges =
            ready.map(|it| edges_of_message(view, found, &it.message, &instance.meta.namespace)).unwrap_or_default();
        let symptom =
            told(view, instance.key(), &instance.meta, instance.observed_generation, &instance.conditions, false);
        found.symptoms.extend(symptom.map(|it| it.edges(edges)));
    }
}

/// What a message of Flux, Helm or Kubernetes names.
pub(super) fn edges_of_message(
    view: &View<'_>,
    found: &mut Found,
    text: &str,
    namespace: &str,
) -> Vec<(ObjectKey, Because)> {
    let mut edges = Vec::new();
    if let Some((group, kind)) = message::missing_kind(text) {
        match view.crd_of(group, kind) {
            Some(crd) => edges.push((crd.meta.key("apiextensions.k8s.io", "CustomResourceDefinition"), Because::Kind)),
            None if view.facts.crds.is_whole() && group.contains('.') => {
                let crd = super::api::crd_key(group, kind);
                found.missing.entry(crd.clone()).or_insert(LayerName::Platform);
                edges.push((crd, Because::Kind));
            }
            None => {}
        }
    }
    if let Some(configuration) = message::webhook(text).and_then(|name| super::admission::of(view, name)) {
        edges.push((configuration, Because::Admission));
    }
    for named in message::not_found(text, namespace) {
        let layer = known::layer_of_kind(&named).unwrap_or(LAYER);
        found.named(view, &named, layer);
        edges.push((named, Because::Names));
    }
    if message::is_lookup(text) {
        edges.extend(super::dns::resolvers(view).into_iter().map(|it| (it, Because::Lookup)));
    }
    edges.extend(message::waited_for(text).into_iter().map(|it| (it, Because::HealthCheck)));
    if let Some(driver) = message::unregistered_driver(text) {
        edges.push((super::storage::driver_key(driver), Because::Driver));
    }
    edges
}

fn controllers(view: &View<'_>, found: &mut Found) {
    let own: Vec<_> = view.workloads().iter().filter(|it| known::is_flux(&it.meta)).collect();
    let good = own.iter().filter(|it| crate::kstatus::workload(it).status == crate::kstatus::Status::Current).count();
    found.count(LAYER, What::Controllers, good, own.len());
}

/// The Deployment of one of Flux's controllers.
fn controller(view: &View<'_>, name: &str) -> Vec<(ObjectKey, Because)> {
    let own = view.workloads().iter().filter(|it| it.meta.name == name && known::is_flux(&it.meta));
    own.map(|it| (key(it), Because::Controller)).collect()
}

/// What an object of Flux says of itself; none where it is fine.
fn told(
    view: &View<'_>,
    object: ObjectKey,
    meta: &Meta,
    observed: Option<i64>,
    conditions: &[Condition],
    suspended: bool,
) -> Option<Symptom> {
    let is = |kind: &str| condition(conditions, kind).filter(|it| it.status == Truth::True);
    if meta.deleted.is_some() {
        let problem = Problem::DeletionStuck { finalizers: meta.finalizers.join(", ").into() };
        let is_young = !view.is_older(meta.deleted, super::api::DELETION);
        let symptom = Symptom::new(LAYER, object, problem).shows("metadata.deletionTimestamp", "set", meta.deleted);
        return Some(symptom.progressing_if(is_young));
    }
    if suspended {
        let symptom = Symptom::new(LAYER, object, Problem::Suspended).state(State::Degraded);
        return Some(symptom.shows("spec.suspend", "true", None));
    }
    if let Some(stalled) = is("Stalled") {
        let problem = Problem::Stalled { reason: stalled.reason.clone(), message: stalled.message.clone() };
        return Some(Symptom::new(LAYER, object, problem).shows_condition(stalled));
    }
    let generation = meta.generation.unwrap_or_default();
    let unobserved = observed.is_none_or(|observed| observed < generation && observed >= 0);
    let ready = condition(conditions, "Ready");
    let goes_on = is("Reconciling").is_some() || ready.is_some_and(|it| it.reason == "Progressing");
    match ready {
        Some(it) if it.status == Truth::True && !unobserved => None,
        Some(it) if it.status == Truth::True => {
            let problem = Problem::NotReconciled { generation, observed: observed.unwrap_or_default() };
            Some(Symptom::new(LAYER, object, problem).shows_condition(it).state(State::Progressing))
        }
        Some(it) => {
            let problem = Problem::NotReady { reason: it.reason.clone(), message: it.message.clone() };
            let waits = it.status == Truth::Unknown && goes_on;
            Some(Symptom::new(LAYER, object, problem).shows_condition(it).progressing_if(waits))
        }
        None => {
            let problem = Problem::NotReconciled { generation, observed: observed.unwrap_or_default() };
            let symptom = Symptom::new(LAYER, object, problem).shows("status.conditions", "", meta.created);
            Some(symptom.progressing_if(!view.is_older(meta.created, STARTING)))
        }
    }
}

fn ready_message(conditions: &[Condition]) -> &str {
    condition(conditions, "Ready").map_or("", |it| &it.message)
}

fn reason(conditions: &[Condition]) -> &str {
    condition(conditions, "Ready").map_or("", |it| &it.reason)
}

fn all_sources<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Source> {
    let facts = view.facts;
    [&facts.git_repositories, &facts.oci_repositories, &facts.helm_repositories, &facts.helm_charts, &facts.buckets]
        .into_iter()
        .flatten()
}

fn sources(view: &View<'_>, found: &mut Found) {
    let (mut good, mut of) = (0, 0);
    for source in all_sources(view).filter(|it| !it.is_oci_helm) {
        of += 1;
        let said =
            told(view, source.key(), &source.meta, source.observed_generation, &source.conditions, source.suspend);
        let said = said.or_else(|| at_revision(view, source));
        let Some(symptom) = said else {
            good += 1;
            continue;
        };
        let mut edges = edges_of_message(view, found, ready_message(&source.conditions), &source.meta.namespace);
        if let Some(from) = &source.from {
            found.named(view, from, LAYER);
            edges.push((from.clone(), Because::Source));
        }
        edges.extend(controller(view, "source-controller"));
        edges.extend(inside(view, &source.url));
        found.add(symptom.edges(edges));
    }
    found.count(LAYER, What::Sources, good, of);
}

/// Whether it is where the repository expects it.
fn at_revision(view: &View<'_>, source: &Source) -> Option<Symptom> {
    let key = source.key();
    let (_, wanted) = view.expected?.revisions.iter().find(|(of, _)| *of == key)?;
    let is_there = source.revision.digest().ends_with(&**wanted) || source.revision.0.contains(&**wanted);
    if is_there || !view.is_older(source.fetched, STARTING) {
        return None;
    }
    let problem = Problem::Behind { applied: source.revision.0.clone(), source: wanted.clone() };
    let symptom = Symptom::new(LAYER, key, problem).state(State::Progressing);
    Some(symptom.shows("status.artifact.revision", source.revision.0.clone(), source.fetched))
}

/// A source whose server runs in this very cluster.
fn inside(view: &View<'_>, url: &str) -> Vec<(ObjectKey, Because)> {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let mut parts = host.split('.');
    let (Some(name), Some(namespace), Some("svc")) = (parts.next(), parts.next(), parts.next()) else {
        return Vec::new();
    };
    let service = crate::facts::ServiceRef { namespace: namespace.into(), name: name.into() };
    view.backends(&service).into_iter().map(|it| (it, Because::Backend)).collect()
}

/// Whether a dependency has become ready since: Flux looks again within seconds.
fn is_ready(view: &View<'_>, key: &ObjectKey) -> bool {
    let says = |conditions: &[Condition]| condition(conditions, "Ready").is_some_and(|it| it.status == Truth::True);
    let kustomization = view.facts.kustomizations.iter().find(|it| it.key() == *key);
    let release = || view.facts.helm_releases.iter().find(|it| it.key() == *key);
    kustomization.map_or_else(|| release().is_some_and(|it| says(&it.conditions)), |it| says(&it.conditions))
}

/// What an object that says that a dependency is not ready waits for.
fn dependencies(view: &View<'_>, waits: &[Waits], found: &mut Found) -> (Vec<(ObjectKey, Because)>, Option<ObjectKey>) {
    let mut absent = None;
    for wait in waits {
        let is_made = view.expected.is_some_and(|it| it.made.iter().any(|(made, _)| *made == wait.on));
        if view.exists(&wait.on) == Some(false) {
            if is_made {
                found.named(view, &wait.on, LAYER);
            } else {
                absent = absent.or(Some(wait.on.clone()));
            }
        }
    }
    (waits.iter().map(|wait| (wait.on.clone(), Because::DependsOn)).collect(), absent)
}

fn kustomizations(view: &View<'_>, found: &mut Found) {
    let all = &view.facts.kustomizations;
    if !all.is_empty() {
        found.needs(LAYER, all);
    }
    let by_key: BTreeMap<ObjectKey, &Source> = all_sources(view).map(|it| (it.key(), it)).collect();
    let mut good = 0;
    for it in all {
        let said = told(view, it.key(), &it.meta, it.observed_generation, &it.conditions, it.suspend);
        let Some(mut symptom) = said.or_else(|| behind(view, it, by_key.get(&it.source).copied())) else {
            good += 1;
            continue;
        };
        let text = ready_message(&it.conditions);
        let mut edges = edges_of_message(view, found, text, &it.meta.namespace);
        match reason(&it.conditions) {
            "DependencyNotReady" => {
                let (waits, absent) = dependencies(view, &it.depends_on, found);
                edges.extend(waits);
                if it.depends_on.iter().all(|wait| is_ready(view, &wait.on)) {
                    symptom = symptom.state(State::Progressing);
                }
                if let Some(on) = absent {
                    symptom = symptom.shows("spec.dependsOn", ecow::eco_format!("{on}"), None);
                    symptom.problem = Problem::DependencyMissing { on };
                }
            }
            "ArtifactFailed" | "SourceNotReady" | "SourceNotFound" => {
                found.named(view, &it.source, LAYER);
                edges.push((it.source.clone(), Because::Source));
            }
            "HealthCheckFailed" => edges.extend(inventory(it)),
            "Progressing" if message::is_health_check(text) => edges.extend(inventory(it)),
            _ => {}
        }
        for named in &it.substitute_from {
            found.named(view, named, known::layer_of_kind(named).unwrap_or(LAYER));
            edges.push((named.clone(), Because::Names));
        }
        if !it.decryption_secret.is_empty() {
            let secret = ObjectKey::new("", "Secret", &it.meta.namespace, &it.decryption_secret);
            found.named(view, &secret, LayerName::Secrets);
            edges.push((secret, Because::Names));
        }
        if matches!(symptom.problem, Problem::NotReconciled { .. } | Problem::Behind { .. }) {
            edges.extend(controller(view, "kustomize-controller"));
        }
        found.add(symptom.edges(edges));
    }
    found.count(LAYER, What::Kustomizations, good, all.len());
}

fn inventory(it: &Kustomization) -> impl Iterator<Item = (ObjectKey, Because)> + '_ {
    it.inventory.iter().map(|it| (it.clone(), Because::Inventory))
}

/// Applied at another revision than its source has had for a while.
fn behind(view: &View<'_>, it: &Kustomization, source: Option<&Source>) -> Option<Symptom> {
    let source = source?;
    if source.revision.is_empty() || it.last_applied.is_empty() || source.revision.digest() == it.last_applied.digest()
    {
        return None;
    }
    let problem = Problem::Behind { applied: it.last_applied.0.clone(), source: source.revision.0.clone() };
    let symptom = Symptom::new(LAYER, it.key(), problem)
        .state(State::Degraded)
        .shows("status.lastAppliedRevision", it.last_applied.0.clone(), None)
        .shows_of(source.key(), "status.artifact.revision", source.revision.0.clone(), source.fetched)
        .progressing_if(!view.is_older(source.fetched, APPLYING));
    Some(symptom)
}

/// Workloads by the HelmRelease that installed them.
fn installed<'a>(view: &'a View<'_>, release: &'a HelmRelease) -> impl Iterator<Item = ObjectKey> + 'a {
    let name = "helm.toolkit.fluxcd.io/name";
    let namespace = "helm.toolkit.fluxcd.io/namespace";
    view.workloads()
        .iter()
        .filter(move |it| {
            let (labels, marks) = (&it.meta.labels, &it.meta.annotations);
            let by_label = labels.is(name, &release.meta.name) && labels.is(namespace, &release.meta.namespace);
            let by_mark = marks.is("meta.helm.sh/release-name", &release.release)
                && marks.is("meta.helm.sh/release-namespace", &release.namespace);
            by_label || by_mark
        })
        .map(|it| key(it))
}

fn releases(view: &View<'_>, found: &mut Found) {
    let all = &view.facts.helm_releases;
    let mut good = 0;
    for it in all {
        let Some(mut symptom) = told(view, it.key(), &it.meta, it.observed_generation, &it.conditions, it.suspend)
        else {
            good += 1;
            continue;
        };
        let mut edges = edges_of_message(view, found, ready_message(&it.conditions), &it.meta.namespace);
        match reason(&it.conditions) {
            "DependencyNotReady" => {
                let (waits, absent) = dependencies(view, &it.depends_on, found);
                edges.extend(waits);
                if it.depends_on.iter().all(|wait| is_ready(view, &wait.on)) {
                    symptom = symptom.state(State::Progressing);
                }
                if let Some(on) = absent {
                    symptom = symptom.shows("spec.dependsOn", ecow::eco_format!("{on}"), None);
                    symptom.problem = Problem::DependencyMissing { on };
                }
            }
            "SourceNotReady" | "ArtifactFailed" | "SourceNotFound" | "GetSourceFailed" => {
                let chart = it.helm_chart.clone();
                for source in it.source.iter().chain(&chart) {
                    found.named(view, source, LAYER);
                    edges.push((source.clone(), Because::Source));
                }
            }
            _ => {
                edges.extend(it.inventory.iter().map(|it| (it.clone(), Because::Inventory)));
                edges.extend(installed(view, it).map(|it| (it, Because::Inventory)));
            }
        }
        for named in &it.values_from {
            found.named(view, named, known::layer_of_kind(named).unwrap_or(LAYER));
            edges.push((named.clone(), Because::Names));
        }
        if matches!(symptom.problem, Problem::NotReconciled { .. }) {
            edges.extend(controller(view, "helm-controller"));
        }
        if let Some(newest) = it.newest.as_ref().filter(|it| it.status != "deployed") {
            symptom = symptom.shows("status.history[0].status", newest.status.clone(), None);
        }
        found.add(symptom.edges(edges));
    }
    found.count(LAYER, What::HelmReleases, good, all.len());
}

fn sets(view: &View<'_>, found: &mut Found) {
    let all = &view.facts.resource_sets;
    let mut good = 0;
    for it in all {
        let Some(symptom) = told(view, it.key(), &it.meta, it.observed_generation, &it.conditions, it.disabled) else {
            good += 1;
            continue;
        };
        let mut edges = edges_of_message(view, found, ready_message(&it.conditions), &it.meta.namespace);
        edges.extend(it.depends_on.iter().map(|wait| (wait.on.clone(), Because::DependsOn)));
        edges.extend(it.inventory.iter().map(|it| (it.clone(), Because::Inventory)));
        found.add(symptom.edges(edges));
    }
    found.count(LAYER, What::ResourceSets, good, all.len());
}

/// Everything that waits for itself by `dependsOn`. No condition of Flux says it.
fn cycles(view: &View<'_>, found: &mut Found) {
    let facts = view.facts;
    let kustomizations = facts.kustomizations.iter().map(|it| (it.key(), &it.depends_on));
    let releases = facts.helm_releases.iter().map(|it| (it.key(), &it.depends_on));
    let waits: BTreeMap<ObjectKey, &Vec<Waits>> = kustomizations.chain(releases).collect();
    for (key, own) in &waits {
        if own.is_empty() || !reaches(&waits, key) {
            continue;
        }
        let known = found.symptoms.iter_mut().find(|it| it.object == *key);
        let edges = own.iter().map(|wait| (wait.on.clone(), Because::DependsOn));
        let names: Vec<String> = own.iter().map(|wait| wait.on.to_string()).collect();
        let fresh = || Symptom::new(LAYER, key.clone(), Problem::DependencyCycle).state(State::Degraded);
        match known {
            Some(symptom) => {
                symptom.problem = Problem::DependencyCycle;
                symptom.state = State::Failed;
                for (to, because) in edges {
                    symptom.add(to, because);
                }
                let with = symptom.clone().shows("spec.dependsOn", names.join(", "), None);
                *symptom = with;
            }
            None => found.symptoms.push(fresh().shows("spec.dependsOn", names.join(", "), None).edges(edges)),
        }
    }
}

fn reaches(waits: &BTreeMap<ObjectKey, &Vec<Waits>>, from: &ObjectKey) -> bool {
    let mut seen: BTreeSet<&ObjectKey> = BTreeSet::new();
    let mut open: Vec<&ObjectKey> = vec![from];
    while let Some(key) = open.pop() {
        for wait in waits.get(key).into_iter().flat_map(|it| it.iter()) {
            if wait.on == *from {
                return true;
            }
            if seen.insert(&wait.on) {
                open.push(&wait.on);
            }
        }
    }
    false
}
