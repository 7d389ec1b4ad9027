//! What charts make: what the catalogue says of them under a release's values, and what the values themselves name.

use catalogue::{Component, MadeClass, Phase, Via, WorkloadKind, any_holds};
use ecow::EcoString;
use model::{MadeKind, Subject};
use read::rendered::{ChartOf, Rendered};
use yaml::Node;

use super::builder::{Builder, HELM};
use super::references::References;
use crate::blueprint::{Chart, Id, Prerequisite, ThingRole, Webhook};

/// From applied to available, where the catalogue does not know the chart.
const UNKNOWN_CHART_SECONDS: f64 = 30.0;
/// Switches that nearly every chart has.
const SWITCHES: [(&str, &str, &str); 3] = [
    ("serviceMonitor", "monitoring.coreos.com/v1", "ServiceMonitor"),
    ("podMonitor", "monitoring.coreos.com/v1", "PodMonitor"),
    ("prometheusRule", "monitoring.coreos.com/v1", "PrometheusRule"),
];

/// A release of a chart, before its conditions are resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Draft<'a> {
    pub(crate) chart: EcoString,
    pub(crate) release: EcoString,
    pub(crate) namespace: EcoString,
    pub(crate) values: Option<Node>,
    /// Some of its values were not read.
    pub(crate) hides_values: bool,
    pub(crate) known: Option<&'a Component>,
    pub(crate) workloads: Vec<Id>,
    /// Those that answer its webhooks.
    pub(crate) servers: Vec<Id>,
    /// Custom resources that it is made of, not those that only decorate it.
    pub(crate) main: Vec<Id>,
    pub(crate) references: References,
    pub(crate) parts: Chart,
    /// Comes before Flux.
    pub(crate) is_early: bool,
    pub(crate) skips_definitions: bool,
}

impl Builder<'_> {
    /// A draft for every HelmRelease of every revision.
    pub(crate) fn expand_charts(&mut self, revisions: &[Rendered]) {
        for (revision, rendered) in revisions.iter().enumerate() {
            for release in &rendered.releases {
                let api = format!("{HELM}/v2");
                let id = self.thing(&api, "HelmRelease", &release.object.namespace, &release.object.name);
                let skips =
                    self.nodes.get(&id).and_then(|node| node.text_at(&["spec", "install", "crds"])) == Some("Skip");
                let at = self.expand(release, false, skips);
                self.webhooks_of(at);
                self.draft_of.insert((id, revision), at);
            }
        }
    }

    /// What a chart makes, but for its definitions and webhooks.
    pub(crate) fn expand(&mut self, of: &ChartOf, is_early: bool, skips_definitions: bool) -> usize {
        let catalogue = self.catalogue;
        let known = catalogue.by_chart(&of.chart);
        let mut draft = Draft {
            chart: of.chart.clone(),
            release: of.release_name.clone(),
            namespace: of.target_namespace.clone(),
            values: of.values.clone(),
            hides_values: of.hides_values,
            known,
            references: of.values.as_ref().map(References::of_values).unwrap_or_default(),
            is_early,
            skips_definitions,
            ..Draft::default()
        };
        self.workloads_of(&mut draft);
        self.services_of(&mut draft);
        self.classes_of(&mut draft);
        self.customs_of(&mut draft, of);
        self.claims_of(&mut draft);
        draft.parts.waits_for.extend(draft.workloads.iter().copied());
        draft.parts.namespace = Some(self.namespace(&draft.namespace.clone()));
        self.provided.extend(draft.parts.objects.iter().copied());
        self.provided.extend(draft.parts.if_known.iter().copied());
        self.drafts.push(draft);
        self.drafts.len() - 1
    }

    fn workloads_of(&mut self, draft: &mut Draft<'_>) {
        let values = draft.values.as_ref();
        let (all, seconds) = if let Some(known) = draft.known {
            (known.workloads(&draft.release, &draft.chart, values), f64::from(known.startup_seconds))
        } else {
            let one = catalogue::Workload {
                name: draft.release.to_string(),
                kind: WorkloadKind::Deployment,
                answers_webhooks: true,
                when: Vec::new(),
            };
            (vec![one], UNKNOWN_CHART_SECONDS)
        };
        let nobody_says = !all.iter().any(|workload| workload.answers_webhooks);
        for workload in all {
            let kind = match workload.kind {
                WorkloadKind::Deployment => "Deployment",
                WorkloadKind::StatefulSet => "StatefulSet",
                WorkloadKind::DaemonSet => "DaemonSet",
            };
            let id = self.thing("apps/v1", kind, &draft.namespace, &workload.name);
            let startup = self.told_delay(id).unwrap_or_else(|| self.paced(seconds));
            if let Some(made) = self.workload_mut(id) {
                made.startup = startup;
            }
            draft.workloads.push(id);
            draft.parts.objects.push(id);
            if workload.answers_webhooks || nobody_says {
                draft.servers.push(id);
            }
        }
    }

    fn services_of(&mut self, draft: &mut Draft<'_>) {
        let mut names = vec![draft.release.to_string()];
        if let Some(known) = draft.known {
            names.extend(known.service_names(&draft.release, &draft.chart, draft.values.as_ref()));
        }
        for name in names {
            let id = self.thing("v1", "Service", &draft.namespace, &name);
            draft.parts.objects.push(id);
        }
    }

    fn classes_of(&mut self, draft: &mut Draft<'_>) {
        let Some(known) = draft.known else { return };
        for class in &known.classes {
            for MadeClass { name, .. } in class.made(draft.values.as_ref()) {
                let api = match class.kind.as_str() {
                    "StorageClass" => "storage.k8s.io/v1",
                    "VolumeSnapshotClass" => "snapshot.storage.k8s.io/v1",
                    "IngressClass" => "networking.k8s.io/v1",
                    "PriorityClass" => "scheduling.k8s.io/v1",
                    "RuntimeClass" => "node.k8s.io/v1",
                    // Their controllers make the others once they run.
                    _ => continue,
                };
                let id = self.thing(api, &class.kind, "", &name);
                draft.parts.objects.push(id);
            }
        }
    }

    /// Custom resources that its templates hold: those that the catalogue says it can't be applied without, and what switches
    /// of its values ask for.
    fn customs_of(&mut self, draft: &mut Draft<'_>, of: &ChartOf) {
        let values = draft.values.clone();
        let mut kinds: Vec<(EcoString, EcoString, bool)> = Vec::new();
        if let Some(known) = draft.known {
            let needs = known.needs.iter().filter(|need| need.capability == "crd" && need.phase == Phase::Apply);
            for need in needs.filter(|need| any_holds(&need.when, values.as_ref())) {
                if let Some((group, kind)) = need.name.as_deref().and_then(|name| name.rsplit_once('/')) {
                    kinds.push((ecow::eco_format!("{group}/v1"), kind.into(), need.soft));
                }
            }
        }
        let is_generic = catalogue::is_generic_chart(&draft.chart);
        if let Some(values) = values.as_ref().filter(|_| draft.known.is_none() || is_generic) {
            for (switch, api, kind) in SWITCHES {
                if is_on(values, switch, is_generic) {
                    kinds.push((api.into(), kind.into(), false));
                }
            }
            if is_generic && is_on(values, "route", true) {
                kinds.push(("gateway.networking.k8s.io/v1".into(), "HTTPRoute".into(), false));
            }
        }
        for api in &of.asks_for {
            let mut parts = api.split('/');
            if let (Some(group), Some(version)) = (parts.next(), parts.next()) {
                let kind = parts.next().unwrap_or("Certificate");
                kinds.push((ecow::eco_format!("{group}/{version}"), kind.into(), true));
            }
        }
        for (api, kind, if_known) in kinds {
            let group = api.split('/').next().unwrap_or_default();
            let name = draft.known.map_or_else(
                || draft.release.to_string(),
                |known| {
                    let kind = format!("{group}/{kind}");
                    known.rendered_name(&kind, &draft.release, &draft.namespace, &draft.chart, values.as_ref())
                },
            );
            let id = self.thing(&api, &kind, &draft.namespace, &name);
            self.chart_custom_takes(draft, id);
            let is_main = draft
                .known
                .is_some_and(|known| known.renders.iter().any(|rendered| rendered.kind == format!("{group}/{kind}")));
            if is_main {
                draft.main.push(id);
            }
            if if_known { draft.parts.if_known.push(id) } else { draft.parts.objects.push(id) }
        }
    }

    /// A chart of custom resources alone comes up as long as the catalogue says of the chart.
    fn chart_custom_takes(&mut self, draft: &Draft<'_>, id: Id) {
        let release = format!("{}/{}", draft.namespace, draft.release);
        let told = self.told_delay(id).or_else(|| {
            let seconds = self.conditions.delays.get(&release).filter(|_| draft.workloads.is_empty())?;
            Some(self.paced(*seconds))
        });
        let known = draft.known.filter(|_| draft.workloads.is_empty());
        let takes = told.or_else(|| known.map(|known| self.paced(f64::from(known.startup_seconds))));
        if let (Some(takes), Some(custom)) = (takes, self.custom_mut(id)) {
            custom.takes = takes;
        }
    }

    /// Volumes that its values ask for by class.
    fn claims_of(&mut self, draft: &mut Draft<'_>) {
        let classes = draft.references.classes.clone();
        for (index, class) in classes.iter().enumerate() {
            let name = if index == 0 { draft.release.to_string() } else { format!("{}-{index}", draft.release) };
            let claim = self.claim(&draft.namespace.clone(), &name, class);
            draft.parts.objects.push(claim);
            draft.parts.waits_for.push(claim);
            draft.references.claims.push(name.into());
        }
    }

    /// A claim of a class: bound when the class is served.
    pub(crate) fn claim(&mut self, namespace: &str, name: &str, class: &str) -> Id {
        let id = self.thing("v1", "PersistentVolumeClaim", namespace, name);
        let class = self.thing("storage.k8s.io/v1", "StorageClass", "", class);
        if let Some(claim) = self.derived_mut(id) {
            claim.any = vec![vec![Prerequisite::ready(class)]];
        }
        id
    }

    /// The webhooks of a draft.
    pub(crate) fn webhooks_of(&mut self, at: usize) {
        let mut draft = self.drafts[at].clone();
        let before = draft.parts.objects.len();
        self.add_webhooks(&mut draft);
        self.provided.extend(draft.parts.objects[before..].iter().copied());
        self.drafts[at].parts = draft.parts;
    }

    fn add_webhooks(&mut self, draft: &mut Draft<'_>) {
        let Some(known) = draft.known else { return };
        let asked = known.webhooks.iter().filter(|webhook| webhook.fails_closed);
        for (index, webhook) in asked.filter(|it| any_holds(&it.when, draft.values.as_ref())).enumerate() {
            let of_everything = webhook.covers.iter().any(|covers| covers == "*");
            let name = if of_everything {
                format!("{}-resource-validating-webhook-cfg", known.name)
            } else {
                format!("{}-webhook-{index}", known.name)
            };
            let id = self.thing("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "", &name);
            let exempt = if of_everything { vec![draft.namespace.clone(), "kube-system".into()] } else { Vec::new() };
            let owner = self.text(format!("{}/{}", draft.namespace, draft.release));
            let brought = Webhook { owner, servers: draft.servers.clone(), exempt };
            let at = super::builder::push(&mut self.out.webhooks, brought);
            self.out.things[id.index()].role = ThingRole::Webhook(at);
            self.covers.push((id, webhook.covers.clone()));
            if of_everything {
                // Its program registers it when it starts, long before it answers.
                let needs: Vec<Prerequisite> =
                    draft.servers.iter().map(|server| Prerequisite::exists(*server)).collect();
                self.maker(MadeKind::Webhook, &known.name, &needs, vec![id], 1.0);
            } else {
                draft.parts.objects.push(id);
            }
        }
    }

    /// Definitions: `group/*` means every kind of the group that anything here is of.
    pub(crate) fn resolve_definitions(&mut self) {
        for index in 0..self.drafts.len() {
            let (Some(known), namespace, release) =
                (self.drafts[index].known, self.drafts[index].namespace.clone(), self.drafts[index].release.clone())
            else {
                continue;
            };
            let values = self.drafts[index].values.clone();
            for crds in &known.crds {
                let ids = self.kinds(&crds.kinds);
                let is_on = any_holds(&crds.when, values.as_ref()) || self.drafts[index].is_early;
                // Values that were not read may switch them on.
                if !is_on && self.drafts[index].hides_values {
                    continue;
                }
                // Somebody could bring them: they are not to be taken as given.
                self.provided.extend(ids.iter().copied());
                if !is_on || crds.via == Via::CrdsDirectory && self.drafts[index].skips_definitions {
                    continue;
                }
                match crds.via {
                    Via::CrdsDirectory => self.drafts[index].parts.definitions.extend(ids),
                    Via::Templates => self.drafts[index].parts.objects.extend(ids),
                    Via::Program => {
                        let needs: Vec<Prerequisite> =
                            self.drafts[index].workloads.iter().map(|id| Prerequisite::ready(*id)).collect();
                        self.maker(MadeKind::Kinds, &format!("{namespace}/{release}"), &needs, ids, 1.0);
                    }
                }
            }
        }
        self.resolve_webhooks();
        self.resolve_classes();
    }

    /// The definitions that `group/Kind` and `group/*` mean.
    pub(crate) fn kinds(&mut self, kinds: &[String]) -> Vec<Id> {
        let mut ids = Vec::new();
        for kind in kinds {
            let Some((group, name)) = kind.rsplit_once('/') else { continue };
            if name == "*" {
                let of_group = self.definitions.iter().filter(|((of, _), _)| of == group);
                ids.extend(of_group.map(|(_, id)| *id));
            } else if let Some(id) = self.definitions.get(&(group.into(), name.into())) {
                ids.push(*id);
            }
        }
        ids
    }

    fn resolve_webhooks(&mut self) {
        for (webhook, covers) in std::mem::take(&mut self.covers) {
            for thing in &mut self.out.things {
                if covers.iter().any(|pattern| is_covered(pattern, thing.group(), &thing.kind)) {
                    thing.webhooks.push(webhook);
                }
            }
        }
        for thing in &mut self.out.things {
            thing.webhooks.sort_unstable();
            thing.webhooks.dedup();
        }
    }

    /// A class serves when whoever made it, or whoever gives its driver, runs.
    fn resolve_classes(&mut self) {
        let drivers: Vec<(String, Vec<Prerequisite>)> = self
            .drafts
            .iter()
            .flat_map(|draft| {
                let gifts = draft.known.into_iter().flat_map(|known| &known.gives);
                let drivers = gifts.filter(|gift| gift.capability == "csi-driver");
                drivers.filter_map(|gift| Some((gift.name.clone()?, running(draft)))).collect::<Vec<_>>()
            })
            .collect();
        let mut served: Vec<(Id, Vec<Prerequisite>)> = Vec::new();
        for draft in &self.drafts {
            let classes = draft.parts.objects.iter().filter(|id| self.out.thing(**id).kind == "StorageClass");
            served.extend(classes.map(|id| (*id, running(draft))));
        }
        for (id, node) in &self.nodes {
            let provisioner = node.get("provisioner").and_then(Node::text);
            let Some(provisioner) = provisioner.filter(|_| self.out.thing(*id).kind == "StorageClass") else {
                continue;
            };
            let by = drivers.iter().filter(|(driver, _)| driver == provisioner);
            served.extend(by.map(|(_, needs)| (*id, needs.clone())));
        }
        for (id, needs) in served {
            if let Some(class) = self.derived_mut(id).filter(|class| !class.any.contains(&needs)) {
                class.any.push(needs);
            }
        }
    }

    /// What a release's pods need: gifts of others, claims, Secrets, the databases that its values name.
    pub(crate) fn resolve_workloads(&mut self) {
        for index in 0..self.drafts.len() {
            let draft = self.drafts[index].clone();
            let mut needs = self.gift_needs(&draft);
            let (more, crashes) = self.reference_needs(&draft.references, &draft.namespace);
            needs.extend(more);
            let has_volume = !draft.references.claims.is_empty();
            for id in &draft.workloads {
                if let Some(workload) = self.workload_mut(*id) {
                    workload.needs.extend(
                        needs.iter().filter(|need| !workload.needs.contains(need)).copied().collect::<Vec<_>>(),
                    );
                    workload.crashes_without.extend(crashes.iter().copied());
                    workload.has_volume |= has_volume;
                }
            }
        }
        self.resolve_plain_workloads();
        self.resolve_plain_claims();
        self.resolve_told_crashes();
    }

    fn resolve_plain_workloads(&mut self) {
        let plain: Vec<(Id, Node)> = self
            .nodes
            .iter()
            .filter(|(id, _)| matches!(self.out.role(**id), ThingRole::Workload(_)))
            .map(|(id, node)| (*id, node.clone()))
            .collect();
        for (id, node) in plain {
            let namespace = self.out.thing(id).namespace.clone();
            let mut references = References::of(&node);
            let name = self.out.thing(id).name.clone();
            for class in std::mem::take(&mut references.classes) {
                let claim = self.claim(&namespace, &format!("{name}-data"), &class);
                // Its own controller makes the claims of a StatefulSet.
                self.maker(
                    MadeKind::Claims,
                    &format!("{namespace}/{name}"),
                    &[Prerequisite::exists(id)],
                    vec![claim],
                    1.0,
                );
                references.claims.push(self.out.thing(claim).name.clone());
            }
            let (needs, crashes) = self.reference_needs(&references, &namespace);
            let known = node.at(&["spec", "template", "spec", "containers"]).and_then(Node::as_seq).unwrap_or_default();
            let known = known.iter().find_map(|one| self.catalogue.by_image(one.get("image")?.text()?));
            let told = self.told_delay(id);
            let startup = told.or_else(|| known.map(|known| self.paced(f64::from(known.startup_seconds))));
            let has_volume = !references.claims.is_empty();
            if let Some(workload) = self.workload_mut(id) {
                workload.needs.extend(needs);
                workload.crashes_without.extend(crashes);
                workload.startup = startup.unwrap_or(workload.startup);
                workload.has_volume |= has_volume;
            }
        }
    }

    fn resolve_plain_claims(&mut self) {
        let claims: Vec<(Id, Node)> = self
            .nodes
            .iter()
            .filter(|(id, _)| self.out.thing(**id).kind == "PersistentVolumeClaim")
            .map(|(id, node)| (*id, node.clone()))
            .collect();
        for (id, node) in claims {
            let mut needs = Vec::new();
            if let Some(class) = node.text_at(&["spec", "storageClassName"]).filter(|class| !class.is_empty()) {
                needs.push(Prerequisite::ready(self.thing("storage.k8s.io/v1", "StorageClass", "", class)));
            }
            if let Some(source) = node.at(&["spec", "dataSourceRef"]).or_else(|| node.at(&["spec", "dataSource"])) {
                let text = |key: &str| source.get(key).and_then(Node::text).unwrap_or_default();
                let namespace = self.out.thing(id).namespace.clone();
                needs.extend(
                    self.find(text("apiGroup"), text("kind"), &namespace, text("name")).map(Prerequisite::ready),
                );
            }
            if let Some(claim) = self.derived_mut(id) {
                claim.any = vec![needs];
            }
        }
    }

    fn resolve_told_crashes(&mut self) {
        for (workload, until) in &self.conditions.crashes {
            let Some((namespace, name)) = workload.split_once('/') else { continue };
            let (kind, path) = until.split_once(' ').unwrap_or(("", until));
            let (of, other) = path.split_once('/').unwrap_or(("", path));
            let Some(other) = self.out.find(kind, of, other) else { continue };
            let need = if kind == "Deployment" { Prerequisite::ready(other) } else { Prerequisite::exists(other) };
            if let Some(id) = self.out.find("Deployment", namespace, name)
                && let Some(workload) = self.workload_mut(id)
            {
                workload.crashes_without.push(need);
            }
        }
    }

    /// What the catalogue says that its pods do not become ready without, if somebody here gives it.
    fn gift_needs(&mut self, draft: &Draft<'_>) -> Vec<Prerequisite> {
        let Some(known) = draft.known else { return Vec::new() };
        let mut needs = Vec::new();
        for need in known.needs.iter().filter(|need| need.phase == Phase::Ready && !need.soft) {
            if !any_holds(&need.when, draft.values.as_ref()) {
                continue;
            }
            if need.capability == "crd" {
                let kinds = need.name.iter().cloned().collect::<Vec<String>>();
                needs.extend(self.kinds(&kinds).into_iter().map(Prerequisite::ready));
            } else if let Some(gift) = self.gift(&need.capability, need.name.as_deref()) {
                needs.push(Prerequisite::ready(gift));
            }
        }
        needs
    }

    /// Something cluster-wide that releases give once they run; nothing if nobody here does.
    pub(crate) fn gift(&mut self, capability: &str, name: Option<&str>) -> Option<Id> {
        let asked = (EcoString::from(capability), name.map(EcoString::from));
        if let Some(known) = self.gifts.get(&asked) {
            return *known;
        }
        let gift = self.new_gift(capability, name);
        self.gifts.insert(asked, gift);
        gift
    }

    fn new_gift(&mut self, capability: &str, name: Option<&str>) -> Option<Id> {
        let gives = |draft: &&Draft<'_>| {
            draft.known.is_some_and(|known| {
                let mut gifts = known.gives.iter().filter(|gift| any_holds(&gift.when, draft.values.as_ref()));
                gifts.any(|gift| gift.capability == capability && gift.name.as_deref() == name)
            })
        };
        let is_early = self.drafts.iter().filter(gives).any(|draft| draft.is_early);
        // Flux itself runs in pods and fetches by name: these two were there before it, whoever brought them.
        if !is_early && matches!(capability, "pod-network" | "cluster-dns") {
            return None;
        }
        let any: Vec<Vec<Prerequisite>> = self.drafts.iter().filter(gives).map(running).collect();
        if any.is_empty() {
            return None;
        }
        let name = name.unwrap_or_default();
        let subject = Subject::Given { capability: capability.into(), name: name.into() };
        let id = self.own_thing("Gift", &format!("{capability} {name}"), subject);
        if let Some(derived) = self.derived_mut(id) {
            derived.any = any;
        }
        self.out.given.push(id);
        Some(id)
    }

    /// Needs of pods: what must be there to start them, and what they crash without.
    pub(crate) fn reference_needs(
        &self,
        references: &References,
        namespace: &str,
    ) -> (Vec<Prerequisite>, Vec<Prerequisite>) {
        let mut needs = Vec::new();
        for claim in &references.claims {
            needs.extend(self.find("", "PersistentVolumeClaim", namespace, claim).map(Prerequisite::ready));
        }
        let secrets = references.secrets.iter().filter_map(|(name, of)| {
            let of = of.as_deref().unwrap_or(namespace);
            self.find("", "Secret", of, name)
        });
        let maps = references.config_maps.iter().filter_map(|name| self.find("", "ConfigMap", namespace, name));
        needs.extend(secrets.chain(maps).filter(|id| self.provided.contains(id)).map(Prerequisite::exists));
        // Without a database that an operator makes they crash; other programs they can wait for.
        let services = references.hosts.iter().filter_map(|(name, of)| self.find("", "Service", of, name));
        let crashes =
            services.filter_map(|service| self.made_by.get(&service)).map(|by| Prerequisite::ready(*by)).collect();
        (needs, crashes)
    }

    /// What a draft is at a revision, for the release that has it.
    pub(crate) fn chart_of(&self, release: Id, revision: usize) -> Chart {
        self.draft_of.get(&(release, revision)).map(|at| self.drafts[*at].parts.clone()).unwrap_or_default()
    }
}

/// What a release is there for runs: its workloads, or where it has none the custom resources that it is made of.
fn running(draft: &Draft<'_>) -> Vec<Prerequisite> {
    let all = if draft.workloads.is_empty() { &draft.main } else { &draft.workloads };
    all.iter().map(|id| Prerequisite::ready(*id)).collect()
}

fn is_covered(pattern: &str, group: &str, kind: &str) -> bool {
    const OF_EVERYTHING: [&str; 8] =
        ["Namespace", "Pod", "Service", "ConfigMap", "Deployment", "StatefulSet", "DaemonSet", "Job"];
    if pattern == "*" {
        return matches!(group, "" | "apps" | "batch") && OF_EVERYTHING.contains(&kind);
    }
    pattern.rsplit_once('/').is_some_and(|(of, name)| of == group && (name == "*" || name == kind))
}

/// `key: {enabled: true}` anywhere; in a generic chart any entry at the top that is not switched off.
fn is_on(values: &Node, key: &str, is_generic: bool) -> bool {
    if is_generic {
        let entries = values.get(key).map(Node::entries).unwrap_or_default();
        return entries.iter().any(|entry| {
            entry.value.as_map().is_some() && entry.value.get("enabled").and_then(Node::as_bool) != Some(false)
        });
    }
    if values.get("enabled").and_then(Node::as_bool) == Some(false) {
        return false;
    }
    values.entries().iter().any(|entry| {
        let here = entry.key == key && entry.value.get("enabled").and_then(Node::as_bool) == Some(true);
        here || entry.value.as_map().is_some() && is_on(&entry.value, key, false)
    })
}

/// A Go duration, in seconds.
pub(crate) fn duration(text: Option<&str>) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of an interval")]
    let milliseconds = model::parse_duration_millis(text?)? as f64;
    Some(milliseconds / 1000.0)
}
