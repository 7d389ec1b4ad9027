//! Flux's own objects: what each Kustomization and HelmRelease is told, at every revision.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;
use read::rendered::{Applier, Rendered};
use yaml::{Node, Value};

use super::builder::{Builder, CONTROL_PLANE, HELM, KUSTOMIZE, SOURCE, millis};
use super::charts::duration;
use crate::blueprint::{Action, Content, Dependency, Gate, Id, KustomizationSpec, OnFailure, ReleaseSpec, ThingRole};

const INTERVAL_SECONDS: f64 = 600.0;
/// A Kustomization's timeout is never less.
const TIMEOUT_SECONDS_MIN: f64 = 30.0;
const RELEASE_TIMEOUT_SECONDS: f64 = 300.0;
const RETRY_ON_FAILURE_SECONDS: f64 = 300.0;
/// ResourceSets look for what they depend on more often, and try again by themselves.
const SET_REQUEUE_SECONDS: f64 = 5.0;
const SET_RETRY_SECONDS: f64 = 300.0;

impl Builder<'_> {
    pub(crate) fn resolve_flux(&mut self, revision: usize, rendered: &Rendered) {
        let sets = Sets::of(rendered);
        for applier in &rendered.appliers {
            self.resolve_applier(revision, rendered, applier, &sets);
        }
        let releases: Vec<Id> = self.draft_of.keys().filter(|(_, at)| *at == revision).map(|(id, _)| *id).collect();
        for id in releases {
            let spec = self.release_spec(id, revision, rendered.retries_by_default);
            if let ThingRole::Release(at) = self.out.role(id) {
                self.out.releases[at as usize].specs[revision] = spec;
            }
        }
        let is_circular = self.is_circular(revision);
        self.out.is_circular.push(is_circular);
    }

    fn applier_id(&mut self, applier: &Applier) -> Id {
        let group = if applier.object.kind == "ResourceSet" { CONTROL_PLANE } else { KUSTOMIZE };
        self.thing(&format!("{group}/v1"), &applier.object.kind, &applier.object.namespace, &applier.object.name)
    }

    fn resolve_applier(&mut self, revision: usize, rendered: &Rendered, applier: &Applier, sets: &Sets<'_>) {
        let id = self.applier_id(applier);
        let steps = sets.steps(&applier.object);
        let mut spec = self.kustomization_spec(applier);
        if let Some(set) = &applier.step_of {
            self.step_spec(&mut spec, sets, set, applier);
        } else if !steps.is_empty() {
            spec.gate = Gate::All;
        }
        let is_strict = rendered.is_strict.unwrap_or(self.conditions.is_strict_if_unknown);
        self.out.assumes_lenient |= rendered.is_strict.is_none() && !is_strict;
        // What a policy adds as a Kustomization is made may set anything.
        let is_strict = is_strict && !rendered.adds_variables;
        let mut content = self.content(id, applier, is_strict);
        for step in steps {
            let step = self.applier_id(step);
            content.rest.push(step);
        }
        content.health = self.health(id, &spec, &content, applier);
        let ThingRole::Kustomization(at) = self.out.role(id) else { return };
        let kustomization = &mut self.out.kustomizations[at as usize];
        kustomization.specs[revision] = Some(spec);
        kustomization.contents[revision] = content;
    }

    fn kustomization_spec(&mut self, applier: &Applier) -> KustomizationSpec {
        let node = applier.node.clone();
        let field = |name: &str| node.as_ref().and_then(|node| node.at(&["spec", name]));
        let is_set = applier.object.kind == "ResourceSet";
        let interval = duration(field("interval").and_then(Node::text)).unwrap_or(INTERVAL_SECONDS);
        let retry = duration(field("retryInterval").and_then(Node::text)).unwrap_or(interval);
        let timeout = duration(field("timeout").and_then(Node::text));
        let timeout = match timeout {
            Some(told) => told / self.conditions.timeouts,
            None => (interval - TIMEOUT_SECONDS_MIN) / self.conditions.timeouts,
        };
        let requeue = if is_set { self.paced(SET_REQUEUE_SECONDS) } else { self.conditions.requeue_millis };
        let source = applier.source.as_ref().map(|source| {
            let group = if source.kind == "ExternalArtifact" { "source.extensions.fluxcd.io" } else { SOURCE };
            self.thing(&format!("{group}/v1"), &source.kind, &source.namespace, &source.name)
        });
        KustomizationSpec {
            suspended: field("suspend").and_then(Node::as_bool) == Some(true),
            depends_on: self.dependencies(field("dependsOn"), &applier.object.kind, &applier.object.namespace, source),
            source,
            interval: self.paced(interval),
            retry: self.paced(if is_set { SET_RETRY_SECONDS } else { retry }),
            timeout: millis(timeout.max(TIMEOUT_SECONDS_MIN)),
            gate: self.gate(node.as_ref(), &applier.object.namespace),
            requeue,
            text: node.as_ref().map_or(0, fingerprint),
        }
    }

    /// A step begins when the one before it is healthy; the last is waited for only if its set waits.
    fn step_spec(&mut self, spec: &mut KustomizationSpec, sets: &Sets<'_>, set: &ObjectRef, step: &Applier) {
        let all = sets.steps(set);
        let Some(at) = all.iter().position(|other| other.object == step.object) else { return };
        if let Some(before) = at.checked_sub(1).and_then(|before| all.get(before)) {
            let on = self.applier_id(before);
            spec.depends_on.push(Dependency { on, is_unknown: false, only_exists: false, same_source: false });
        }
        let waits =
            sets.appliers.get(set).and_then(|set| set.node.as_ref()?.at(&["spec", "wait"])?.as_bool()) == Some(true);
        spec.gate = if waits || at + 1 < all.len() { Gate::All } else { Gate::Applied };
    }

    fn gate(&mut self, node: Option<&Node>, namespace: &str) -> Gate {
        let Some(spec) = node.and_then(|node| node.get("spec")) else { return Gate::Applied };
        if spec.get("wait").and_then(Node::as_bool) == Some(true) {
            return Gate::All;
        }
        let checks = spec.items_at("healthChecks");
        if checks.is_empty() {
            return Gate::Applied;
        }
        let listed = checks.iter().map(|check| {
            let text = |key: &str| check.get(key).and_then(Node::text).unwrap_or_default();
            let (api, kind, name) = (text("apiVersion"), text("kind"), text("name"));
            let own = if text("namespace").is_empty() { namespace } else { text("namespace") };
            let group = api.split_once('/').map_or("", |(group, _)| group);
            if kind == "CustomResourceDefinition" {
                return self.definition_named(name);
            }
            let wide = self.find(group, kind, "", name);
            wide.unwrap_or_else(|| self.thing(api, kind, own, name))
        });
        Gate::Listed(listed.collect())
    }

    /// The definition that is called `plural.group`.
    fn definition_named(&mut self, name: &str) -> Id {
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        let is_it = |kind: &str| {
            let kind = kind.to_lowercase();
            let stem = kind.strip_suffix('y').unwrap_or(&kind);
            [kind.clone(), format!("{kind}s"), format!("{kind}es"), format!("{stem}ies")].iter().any(|it| it == plural)
        };
        let found = self.definitions.iter().find(|((of, kind), _)| of == group && is_it(kind)).map(|(_, id)| *id);
        found.unwrap_or_else(|| self.definition(group, plural))
    }

    fn dependencies(
        &mut self,
        list: Option<&Node>,
        kind: &str,
        namespace: &str,
        source: Option<Id>,
    ) -> Vec<Dependency> {
        let is_set = kind == "ResourceSet";
        let mut all = Vec::new();
        for item in list.and_then(Node::as_seq).unwrap_or_default() {
            let text = |key: &str| item.get(key).and_then(Node::text).unwrap_or_default();
            let kind = if text("kind").is_empty() { kind } else { text("kind") };
            let own = if text("namespace").is_empty() { namespace } else { text("namespace") };
            let api = match kind {
                "Kustomization" => format!("{KUSTOMIZE}/v1"),
                "HelmRelease" => format!("{HELM}/v2"),
                "ResourceSet" => format!("{CONTROL_PLANE}/v1"),
                _ => text("apiVersion").to_owned(),
            };
            let on = self.thing(&api, kind, own, text("name"));
            let expression = item.get("readyExpr").and_then(Node::text);
            let asks = item.get("ready").and_then(Node::as_bool);
            // Only the status says how far the other has come.
            let only_exists = match expression {
                Some(expression) => !expression.contains("status"),
                None => asks == Some(false) || (is_set && asks != Some(true)),
            };
            let other = self.nodes.get(&on).and_then(|node| node.at(&["spec", "sourceRef"]));
            let same_source = source.is_some_and(|source| {
                let source = self.out.thing(source);
                let theirs = |key: &str| other.and_then(|other| other.get(key)).and_then(Node::text);
                theirs("kind") == Some(source.kind.as_str())
                    && theirs("name") == Some(source.name.as_str())
                    && theirs("namespace").unwrap_or(own) == source.namespace
            });
            all.push(Dependency { on, is_unknown: !self.provided.contains(&on), only_exists, same_source });
        }
        all
    }

    fn content(&mut self, id: Id, applier: &Applier, is_strict: bool) -> Content {
        let mut content = Content::default();
        for (reference, node) in &applier.objects {
            let object = self.intern(reference, node);
            let thing = self.out.thing(object);
            let list = match thing.kind.as_str() {
                "CustomResourceDefinition" | "Namespace" | "ClusterRole" => &mut content.first,
                kind if kind.ends_with("Class") => &mut content.classes,
                _ => &mut content.rest,
            };
            list.push(object);
        }
        content.rest.retain(|object| *object != id);
        for definition in self.kinds(&applier.fetched) {
            self.provided.insert(definition);
            if !content.first.contains(&definition) {
                content.first.push(definition);
            }
        }
        content.broken = applier.broken.as_ref().map(|fault| self.text(fault.to_string()));
        content.variables = self.variables(applier, is_strict);
        content
    }

    /// What its gate looks at.
    fn health(&self, id: Id, spec: &KustomizationSpec, content: &Content, applier: &Applier) -> Vec<(Id, bool)> {
        let all: Vec<Id> = match &spec.gate {
            Gate::Applied => Vec::new(),
            Gate::All => content.first.iter().chain(&content.classes).chain(&content.rest).copied().collect(),
            Gate::Listed(listed) => listed.clone(),
        };
        let spec = applier.node.as_ref().and_then(|node| node.get("spec"));
        let expressions = spec.map(|spec| spec.items_at("healthCheckExprs")).unwrap_or_default();
        let asked: BTreeSet<(&str, &str)> = expressions
            .iter()
            .map(|one| {
                let text = |key: &str| one.get(key).and_then(Node::text).unwrap_or_default();
                (text("apiVersion").split('/').next().unwrap_or_default(), text("kind"))
            })
            .collect();
        let is_asked = |object: &Id| {
            let thing = self.out.thing(*object);
            asked.contains(&(thing.group(), thing.kind.as_str())) || asked.contains(&(thing.group(), ""))
        };
        all.into_iter().filter(|object| *object != id).map(|object| (object, is_asked(&object))).collect()
    }

    fn release_spec(&mut self, id: Id, revision: usize, retries_by_default: bool) -> Option<ReleaseSpec> {
        let node = self.nodes.get(&id)?.clone();
        let namespace = self.out.thing(id).namespace.clone();
        let field = |name: &str| node.at(&["spec", name]);
        let chart = node.at(&["spec", "chartRef"]).or_else(|| node.at(&["spec", "chart", "spec", "sourceRef"]));
        let source = chart.map(|source| self.source_of(source, &namespace));
        let mut parts = self.chart_of(id, revision);
        if node.at(&["spec", "install", "createNamespace"]).and_then(Node::as_bool) == Some(true) {
            parts.makes_namespace = parts.namespace;
            self.provided.extend(parts.namespace);
        }
        let values_from = field("valuesFrom").and_then(Node::as_seq).unwrap_or_default().iter().map(|from| {
            let text = |key: &str| from.get(key).and_then(Node::text).unwrap_or_default();
            let from_id = self.thing("v1", text("kind"), &namespace, text("name"));
            (from_id, from.get("optional").and_then(Node::as_bool) == Some(true))
        });
        let values_from = values_from.collect();
        Some(ReleaseSpec {
            suspended: field("suspend").and_then(Node::as_bool) == Some(true),
            depends_on: self.dependencies(field("dependsOn"), "HelmRelease", &namespace, None),
            source,
            values_from,
            install: self.action(&node, "install", retries_by_default),
            upgrade: self.action(&node, "upgrade", retries_by_default),
            waits: node.at(&["spec", "install", "disableWait"]).and_then(Node::as_bool) != Some(true),
            chart: parts,
            requeue: self.conditions.requeue_millis,
            text: fingerprint(&node),
        })
    }

    fn source_of(&mut self, reference: &Node, namespace: &str) -> Id {
        let text = |key: &str| reference.get(key).and_then(Node::text).unwrap_or_default();
        let own = if text("namespace").is_empty() { namespace } else { text("namespace") };
        let group = if text("kind") == "ExternalArtifact" { "source.extensions.fluxcd.io" } else { SOURCE };
        self.thing(&format!("{group}/v1"), text("kind"), own, text("name"))
    }

    fn action(&self, node: &Node, action: &str, retries_by_default: bool) -> Action {
        let at = |path: &[&str]| node.at(path);
        let timeout = at(&["spec", action, "timeout"]).or_else(|| at(&["spec", "timeout"])).and_then(Node::text);
        let timeout = duration(timeout).unwrap_or(RELEASE_TIMEOUT_SECONDS) / self.conditions.timeouts;
        let strategy = at(&["spec", action, "strategy", "name"]).and_then(Node::text);
        let retry = at(&["spec", action, "strategy", "retryInterval"]).and_then(Node::text);
        let is_retried = strategy.map_or(retries_by_default, |strategy| strategy == "RetryOnFailure");
        let on_failure = if is_retried {
            OnFailure::RetryAfter(self.paced(duration(retry).unwrap_or(RETRY_ON_FAILURE_SECONDS)))
        } else {
            let retries = at(&["spec", action, "remediation", "retries"]).and_then(Node::as_int).unwrap_or(0);
            OnFailure::Remediate { retries }
        };
        Action { timeout: millis(timeout), on_failure }
    }

    /// Whether `dependsOn` of the Kustomizations of one source goes round in a circle: then no event of that source reaches
    /// any of them.
    fn is_circular(&self, revision: usize) -> bool {
        let edges: BTreeMap<Id, Vec<Id>> = self
            .out
            .kustomizations
            .iter()
            .filter_map(|it| {
                let spec = it.specs.get(revision)?.as_ref()?;
                Some((it.id, spec.depends_on.iter().map(|dependency| dependency.on).collect()))
            })
            .collect();
        goes_round(&edges)
    }

    /// What must be ready for a boot to have converged: all that is reached without passing something suspended.
    pub(crate) fn expect(&mut self, revisions: &[Rendered]) {
        let Some(last) = revisions.len().checked_sub(1) else { return };
        self.start_flux(&revisions[last]);
        let mut seen: BTreeSet<Id> = BTreeSet::new();
        let mut next: Vec<Id> = self.out.flux.clone();
        while let Some(id) = next.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.out.role(id) {
                ThingRole::Kustomization(at) => {
                    let it = &self.out.kustomizations[at as usize];
                    if it.specs[last].as_ref().is_some_and(|spec| !spec.suspended) {
                        let content = &it.contents[last];
                        next.extend(content.first.iter().chain(&content.classes).chain(&content.rest));
                    }
                }
                ThingRole::Release(at) => {
                    if let Some(spec) = self.out.releases[at as usize].specs[last].as_ref().filter(|it| !it.suspended) {
                        next.extend(spec.chart.objects.iter().chain(&spec.chart.definitions));
                    }
                }
                ThingRole::Custom(at) => next.extend(&self.out.customs[at as usize].makes),
                ThingRole::Derived(at) => next.extend(&self.out.derived[at as usize].makes),
                _ => {}
            }
        }
        for id in seen {
            let is_suspended = match self.out.role(id) {
                ThingRole::Kustomization(at) => {
                    self.out.kustomizations[at as usize].specs[last].as_ref().is_none_or(|spec| spec.suspended)
                }
                ThingRole::Release(at) => {
                    self.out.releases[at as usize].specs[last].as_ref().is_none_or(|spec| spec.suspended)
                }
                ThingRole::Plain | ThingRole::Webhook(_) => true,
                _ => false,
            };
            if !is_suspended {
                self.out.things[id.index()].is_expected = true;
                self.out.expected += 1;
            }
        }
    }

    /// What whoever starts Flux applies: the root, its source, and what stands beside it.
    fn start_flux(&mut self, rendered: &Rendered) {
        for applier in rendered.appliers.iter().filter(|applier| applier.is_given) {
            let id = self.applier_id(applier);
            self.out.flux.push(id);
            for source in sources_of_root(rendered, applier) {
                let id = self.thing(&format!("{SOURCE}/v1"), &source.kind, &source.namespace, &source.name);
                self.out.flux.push(id);
            }
        }
    }
}

/// Appliers by their object, and the steps of each ResourceSet in their order.
struct Sets<'r> {
    appliers: BTreeMap<&'r ObjectRef, &'r Applier>,
    steps: BTreeMap<&'r ObjectRef, Vec<&'r Applier>>,
}

impl<'r> Sets<'r> {
    fn of(rendered: &'r Rendered) -> Self {
        let mut sets = Self { appliers: BTreeMap::new(), steps: BTreeMap::new() };
        for applier in &rendered.appliers {
            sets.appliers.entry(&applier.object).or_insert(applier);
            if let Some(set) = &applier.step_of {
                sets.steps.entry(set).or_default().push(applier);
            }
        }
        sets
    }

    fn steps(&self, set: &ObjectRef) -> &[&'r Applier] {
        self.steps.get(set).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The source of a root. Where no file has the root itself, whoever starts Flux makes those of the Kustomizations that it applies.
fn sources_of_root<'r>(rendered: &'r Rendered, root: &'r Applier) -> Vec<&'r ObjectRef> {
    if root.source.is_some() || root.node.is_some() {
        return root.source.iter().collect();
    }
    let applied: BTreeSet<&ObjectRef> = root.objects.iter().map(|(object, _)| object).collect();
    let is_applied = |applier: &&Applier| applied.contains(&applier.object);
    let sources = rendered.appliers.iter().filter(is_applied).filter_map(|applier| applier.source.as_ref());
    sources.filter(|source| source.kind != "ExternalArtifact").collect()
}

/// Takes away whoever waits for nobody that is left, as long as there is one: a circle stays.
fn goes_round(edges: &BTreeMap<Id, Vec<Id>>) -> bool {
    let mut waits_for: BTreeMap<Id, usize> = BTreeMap::new();
    let mut dependents: BTreeMap<Id, Vec<Id>> = BTreeMap::new();
    for (from, to) in edges {
        let to: Vec<Id> = to.iter().copied().filter(|to| edges.contains_key(to)).collect();
        waits_for.insert(*from, to.len());
        for to in to {
            dependents.entry(to).or_default().push(*from);
        }
    }
    let mut free: Vec<Id> = waits_for.iter().filter(|(_, count)| **count == 0).map(|(id, _)| *id).collect();
    let mut taken = 0;
    while let Some(id) = free.pop() {
        taken += 1;
        for dependent in dependents.get(&id).into_iter().flatten() {
            let count = waits_for.entry(*dependent).or_default();
            *count -= 1;
            if *count == 0 {
                free.push(*dependent);
            }
        }
    }
    taken < edges.len()
}

/// The same for the same values, wherever they stand.
fn fingerprint(node: &Node) -> u64 {
    fn mix(hash: u64, text: &str) -> u64 {
        text.bytes().chain([0]).fold(hash, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
    fn walk(hash: u64, node: &Node) -> u64 {
        match &node.value {
            Value::Map(map) => map.iter().fold(mix(hash, "{"), |hash, entry| walk(mix(hash, &entry.key), &entry.value)),
            Value::Seq(items) => items.iter().fold(mix(hash, "["), walk),
            Value::Scalar(scalar) => mix(hash, &scalar.text),
        }
    }
    walk(0xcbf2_9ce4_8422_2325, node)
}
