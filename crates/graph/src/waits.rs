//! What components wait for beside what they declare: for each need that holds one up, the offer that it waits for.

use std::collections::BTreeSet;

use model::{Arrival, Cluster, Component, ComponentId, Gate, Need, Phase, Purpose, Stage};

use crate::events::{Event, Events, Moment, comes_first};
use crate::linking::{Links, is_given};

/// A component that waits for what another brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// By its place in [`Cluster::needs`].
    pub need: usize,
    pub of: ComponentId,
    pub by: ComponentId,
    /// Of the offer that it waits for.
    pub arrival: Arrival,
    /// It is among the definitions that the other applies before the rest.
    pub comes_first: bool,
    pub strength: Strength,
}

/// How much a wait counts where it would close a circle with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// It is not done without it.
    Hard,
    /// It is done without it, and does its work only after. Orders nothing by itself; a soft wait does not run against it.
    Later,
    /// A host that it talks to: programs start, and try again until it answers.
    Soft,
}

/// All of them, the strongest first.
pub(crate) fn all(cluster: &Cluster, links: &Links, events: &Events, never: impl Fn(ComponentId) -> bool) -> Vec<Wait> {
    let asleep = asleep(cluster);
    let one = |(index, need): (usize, &Need)| {
        // What nothing is applied without counts however soft its kind is.
        let holds_up = events.met(index).is_some() || holds_up(need);
        if !holds_up || is_given(cluster, &need.capability) || asleep.contains(&need.of) {
            return None;
        }
        let offers = links.offers_for(index).iter().map(|offer| &cluster.offers[*offer]);
        let stage = |id: ComponentId| cluster.component(id).stage;
        // Two that bring it: the bootstrap's comes first, and who comes up before who never does.
        let first = offers
            .filter(|offer| !asleep.contains(&offer.by))
            .filter(|offer| stage(offer.by) <= stage(need.of))
            .min_by_key(|offer| (never(offer.by), offer.by != need.of, stage(offer.by), offer.by))?;
        let is_own = first.by == need.of || is_ancestor(cluster, first.by, need.of);
        let strength = match need.phase {
            _ if need.why == Purpose::TalkTo => Strength::Soft,
            Phase::Run => Strength::Later,
            Phase::Build | Phase::Apply | Phase::Ready => Strength::Hard,
        };
        let comes_first = comes_first(cluster, first);
        (!is_own).then_some(Wait {
            need: index,
            of: need.of,
            by: first.by,
            arrival: first.arrival,
            comes_first,
            strength,
        })
    };
    let mut waits: Vec<Wait> = cluster.needs.iter().enumerate().filter_map(one).collect();
    waits.sort_by_key(|wait| (wait.strength, cluster.needs[wait.need].phase, wait.need));
    waits
}

impl Wait {
    /// Whether it is over while the other is under way: what it waits for comes when that is applied, and the other is done only when it
    /// is healthy; or it comes before the rest of what the other applies.
    pub fn ends_under_way(&self, cluster: &Cluster) -> bool {
        let is_applied = matches!(self.arrival, Arrival::Applied | Arrival::Installed);
        self.comes_first || is_applied && cluster.component(self.by).gate == Gate::Healthy
    }

    /// What comes after what: the moment of the one that waits, and the moment of the other that it waits for. Healthy is told by its
    /// component.
    pub(crate) fn ends(&self, cluster: &Cluster) -> (Instant, Instant) {
        let is_release = |component: &Component| component.behaviour.is_release();
        let of = match cluster.needs[self.need].phase {
            Phase::Apply if is_release(cluster.component(self.of)) => Instant::Healthy(self.of),
            Phase::Build if cluster.component(self.of).behaviour.is_staged() => {
                Instant::Event(Events::of(self.of, Moment::Defined))
            }
            Phase::Build | Phase::Apply => Instant::Event(Events::of(self.of, Moment::Applied)),
            Phase::Ready | Phase::Run => Instant::Healthy(self.of),
        };
        let by = cluster.component(self.by);
        let there = match self.arrival {
            _ if self.comes_first => Instant::Event(Events::of(self.by, Moment::Defined)),
            Arrival::Applied | Arrival::Installed => Instant::Event(Events::of(self.by, Moment::Applied)),
            _ if is_release(by) && by.resource.is_none() => Instant::Event(Events::of(self.by, Moment::Done)),
            _ => Instant::Healthy(self.by),
        };
        (of, there)
    }
}

/// An event, or what happens to a component between being applied and being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instant {
    Event(Event),
    Healthy(ComponentId),
}

/// Whether a component without it is not done, or does not do its work.
fn holds_up(need: &Need) -> bool {
    !need.soft && !need.optional && (need.phase != Phase::Run || need.why != Purpose::TalkTo)
}

/// Created suspended, and what those would apply.
fn asleep(cluster: &Cluster) -> BTreeSet<ComponentId> {
    let is_asleep = |id: &ComponentId| {
        let mut around = std::iter::successors(Some(*id), |at| cluster.component(*at).parent);
        around.any(|at| cluster.component(at).suspended.is_some() && cluster.component(at).stage == Stage::GitOps)
    };
    cluster.ids().filter(is_asleep).collect()
}

fn is_ancestor(cluster: &Cluster, above: ComponentId, of: ComponentId) -> bool {
    std::iter::successors(cluster.component(of).parent, |at| cluster.component(*at).parent).any(|at| at == above)
}
