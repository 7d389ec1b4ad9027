//! What is done before Flux starts: seeded objects, CRDs, releases of helmfiles in their order.

use std::collections::BTreeSet;

use catalogue::{Phase, any_holds};
use model::{ObjectRef, Subject};
use read::bootstrap::HELM_TIMEOUT_SECONDS;
use read::helmfile::ReleaseIndex;
use read::kinds::is_cluster_scoped;
use read::rendered::{ChartOf, Rendered, RenderedBootstrap, RenderedRelease, RenderedSeed};
use yaml::Node;

use super::builder::Builder;
use super::charts::Draft;
use crate::blueprint::{EarlyRelease, Id, NODES, Prerequisite, Spread};

/// Charts that Flux comes with.
const FLUX_CHARTS: [&str; 3] = ["flux-operator", "flux-instance", "flux2"];

/// A release that stands in two helmfiles is one, called by the place of the first.
fn first_of(early: &RenderedBootstrap, release: ReleaseIndex) -> ReleaseIndex {
    let object = |at: usize| early.releases.get(at).map(|one| one.release.object());
    (0..release.0).find(|at| object(*at) == object(release.0)).map_or(release, ReleaseIndex)
}

impl Builder<'_> {
    /// Numbers for all of it, and the steps.
    pub(crate) fn intern_bootstrap(&mut self, revisions: &[Rendered]) {
        let Some(early) = revisions.last().map(|rendered| &rendered.bootstrap) else { return };
        let mut seeded: Vec<Id> = Vec::new();
        for RenderedSeed { node, after } in &early.objects {
            let Some(reference) = reference(node) else { continue };
            let id = self.intern(&reference, node);
            seeded.push(id);
            let late = after.filter(|index| early.releases.get(index.0).is_some_and(|it| !it.release.only_crds));
            if let Some(release) = late.and_then(|release| u32::try_from(first_of(early, release).0).ok()) {
                self.out.seeded_after.insert(id, release);
            }
            if read::is_sealing_key(node) {
                self.out.has_sealing_key = true;
                self.out.sealing_keys.push(id);
            }
        }
        for named in &early.named {
            let id = self.thing("v1", named.kind.as_str(), &named.namespace, &named.name);
            self.provided.insert(id);
            seeded.push(id);
        }
        self.out.has_sealing_key |= early.restores_sealing_key;
        self.early_kinds.extend(early.crds.iter().cloned());
        // A script that seeds a Secret makes its namespace first.
        let homes: Vec<Id> = seeded.iter().filter_map(|id| self.out.thing(*id).home).collect();
        self.seed(homes.into_iter().chain(seeded));
        for RenderedRelease { release, values } in &early.releases {
            let of = ChartOf {
                object: release.object(),
                chart: release.chart_name.clone(),
                values: values.clone(),
                hides_values: values.is_none(),
                release_name: release.name.clone(),
                target_namespace: release.namespace.clone(),
                asks_for: Vec::new(),
            };
            self.early.push((of, release.only_crds));
        }
        self.early_releases(revisions);
    }

    /// Definitions that it fetches by their address, once all that there may be are known.
    pub(crate) fn resolve_early_kinds(&mut self) {
        let kinds = std::mem::take(&mut self.early_kinds);
        let ids = self.kinds(&kinds);
        self.provided.extend(ids.iter().copied());
        self.seed(ids.into_iter());
    }

    /// What the bootstrap applies, each once.
    fn seed(&mut self, ids: impl Iterator<Item = Id>) {
        let mut known: BTreeSet<Id> = self.out.seeded.iter().copied().collect();
        self.out.seeded.extend(ids.filter(|id| known.insert(*id)));
    }

    fn early_releases(&mut self, revisions: &[Rendered]) {
        let Some(early) = revisions.last().map(|rendered| &rendered.bootstrap) else { return };
        for (index, RenderedRelease { release, .. }) in early.releases.iter().enumerate() {
            let (of, only_definitions) = self.early[index].clone();
            let draft = self.expand_early(&of, only_definitions);
            let all = early.releases.iter().map(|one| &one.release);
            let needs = release.needs.iter().filter_map(|(name, _)| read::helmfile::needed(all.clone(), release, name));
            let mut needs: Vec<usize> = needs.map(|need| need.0).collect();
            // One helmfile begins when the one before it has ended.
            let earlier = early.releases[..index].iter().enumerate();
            let of_others = earlier.filter(|(_, other)| other.release.span.file != release.span.file);
            needs.extend(of_others.map(|(at, _)| at));
            let name = self.text(release.step_name());
            self.early_steps.push((self.out.early.len(), draft));
            self.out.early.push(EarlyRelease {
                name,
                chart: crate::blueprint::Chart::default(),
                needs,
                waits: release.wait == Some(true),
                is_flux: FLUX_CHARTS.contains(&release.chart_name.as_str())
                    && !only_definitions
                    && first_of(early, ReleaseIndex(index)) == ReleaseIndex(index),
                timeout: self
                    .conditions
                    .bootstrap_timeout_millis
                    .unwrap_or_else(|| release.timeout_seconds.unwrap_or(HELM_TIMEOUT_SECONDS) * 1000),
            });
        }
    }

    fn expand_early(&mut self, of: &ChartOf, only_definitions: bool) -> usize {
        let draft = self.expand(of, true, false);
        if only_definitions {
            let draft = &mut self.drafts[draft];
            // Only the definitions of the chart are applied: nothing of it runs.
            draft.workloads.clear();
            draft.servers.clear();
            draft.main.clear();
            draft.parts = crate::blueprint::Chart::default();
            draft.known = draft.known.filter(|known| !known.crds.is_empty());
        } else {
            self.webhooks_of(draft);
        }
        draft
    }

    /// Pods need a node to run on, and all but those of the network itself, or on the host's network, need the pod network.
    pub(crate) fn resolve_nodes(&mut self) {
        self.mark_agents();
        let Some(machines) = self.conditions.machines else { return };
        let nodes = self.own_thing(NODES, "joined", Subject::JoinedNode);
        self.out.machines = Some((machines, nodes));
        let network = self.gift("pod-network", None);
        self.out.network = network;
        let mut on_host: BTreeSet<Id> = BTreeSet::new();
        for draft in &self.drafts {
            let values = draft.values.as_ref();
            let is_on_host = draft.known.is_some_and(|known| {
                known.gives.iter().any(|gift| gift.capability == "pod-network")
                    || known.needs.iter().any(|need| {
                        need.capability == "pod-network" && need.phase == Phase::Run && any_holds(&need.when, values)
                    })
            });
            if is_on_host {
                on_host.extend(&draft.workloads);
            }
        }
        for workload in &mut self.out.workloads {
            workload.needs.push(Prerequisite::ready(nodes));
            if let Some(network) = network.filter(|_| !on_host.contains(&workload.id)) {
                workload.needs.push(Prerequisite::ready(network));
            }
        }
    }

    /// DaemonSets of whatever gives the pod network.
    fn mark_agents(&mut self) {
        let gives_network = |draft: &&Draft<'_>| {
            draft.known.is_some_and(|known| known.gives.iter().any(|gift| gift.capability == "pod-network"))
        };
        let agents: BTreeSet<Id> =
            self.drafts.iter().filter(gives_network).flat_map(|draft| draft.workloads.iter().copied()).collect();
        for workload in &mut self.out.workloads {
            if workload.is_daemon() && agents.contains(&workload.id) {
                workload.spread = Spread::Agent;
            }
        }
    }

    /// The charts of the steps, once their definitions are resolved.
    pub(crate) fn resolve_steps(&mut self) {
        for (step, draft) in std::mem::take(&mut self.early_steps) {
            let parts = self.drafts[draft].parts.clone();
            if let Some(release) = self.out.early.get_mut(step) {
                release.chart = parts;
                // `helmfile sync` makes the namespace of a release.
                release.chart.makes_namespace = release.chart.namespace;
            }
        }
    }
}

fn reference(node: &Node) -> Option<ObjectRef> {
    let kind = node.text_at(&["kind"])?;
    let name = node.text_at(&["metadata", "name"])?;
    let namespace = node.text_at(&["metadata", "namespace"]).unwrap_or_default();
    let api_version = node.text_at(&["apiVersion"]).unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    let is_wide = is_cluster_scoped(group, kind);
    Some(ObjectRef::new(kind, if is_wide { "" } else { namespace }, name))
}
