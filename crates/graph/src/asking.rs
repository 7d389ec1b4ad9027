//! Which gates ask for the status of what a store fills. An object without a status counts as healthy, so that a gate may open before the
//! operator has written one.

use std::collections::{BTreeMap, BTreeSet};

use model::{CapabilityKind, Cluster, ComponentId, Gate, Need, Phase, Retry, Stage};

use crate::cycles::leads;
use crate::events::{Events, Moment};
use crate::linking::Links;

/// An apply that failed for want of a kind is tried again only when the operator behind the kind has long been running.
const LONG_AFTER_SECONDS: u64 = 300;

pub(crate) struct Asking<'a> {
    /// Those that also wait for a release: it holds the gate until the operator has said a word.
    held: BTreeSet<ComponentId>,
    /// The needs of kinds, by the names of these.
    kinds: BTreeMap<(ComponentId, &'a str), usize>,
}

impl<'a> Asking<'a> {
    pub(crate) fn new(cluster: &'a Cluster) -> Self {
        let releases = cluster.ids().map(|id| cluster.component(id));
        let releases =
            releases.filter(|it| it.behaviour.is_release() && it.gate == Gate::Healthy && it.suspended.is_none());
        let kinds = cluster
            .needs
            .iter()
            .enumerate()
            .filter(|(_, need)| need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply);
        Self {
            held: releases.filter_map(|it| it.parent).collect(),
            kinds: kinds.map(|(index, need)| ((need.of, need.object.kind.as_str()), index)).collect(),
        }
    }

    /// Whether a component is not done before the operator has reported what becomes of an object of it.
    pub(crate) fn waits(&self, cluster: &Cluster, links: &Links, events: &Events, need: &Need) -> bool {
        let component = cluster.component(need.of);
        if component.expressions.contains(&need.object.kind) {
            return true;
        }
        let Some(kind) = self.kinds.get(&(need.of, need.object.kind.as_str())).filter(|_| self.held.contains(&need.of))
        else {
            return false;
        };
        let Retry::Every(seconds) = component.patience.retry else { return false };
        let start = Events::of(need.of, Moment::Start);
        let runs = |by: ComponentId| match cluster.component(by).stage {
            Stage::Bootstrap => cluster.component(by).gate == Gate::Healthy,
            Stage::GitOps => {
                let is_first = leads(events, start, Events::of(by, Moment::Done), |because| events.binds(because));
                is_first || seconds >= LONG_AFTER_SECONDS
            }
        };
        let mut offers = links.offers_for(*kind).iter().map(|offer| &cluster.offers[*offer]);
        offers.len() > 0 && offers.all(|offer| !offer.is_guess && runs(offer.by))
    }
}
