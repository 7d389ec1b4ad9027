//! Custom resources that are applied together with what installs their CRDs: they move to a Kustomization of their own, which
//! waits for the one that they come from.
//!
//! [`plan`] finds the files, [`write()`] moves them, and what all clusters build is compared before and after.

mod built;
mod document;
mod held;
mod kustomization;
mod name;
mod plan;
mod write;

use std::collections::BTreeSet;

use diagnostic::{Awaited, Finding, Moved, Unsplit, WhyLeft};
use model::{Capability, Cluster, ComponentId, Gate, Role, TieTarget};
use read::Reading;

use crate::change::Change;

pub(crate) use built::drop_built_otherwise;
pub(crate) use plan::Plan;
pub(crate) use write::write;

/// What is to be changed so that objects of some kinds come after what installs these.
pub(crate) fn changes(
    reading: &Reading,
    cluster: &Cluster,
    finding: &Finding,
    moved: &Moved,
) -> Result<Vec<Change>, WhyLeft> {
    let find = |object| cluster.find(object).ok_or(WhyLeft::NoEdit);
    let of = find(&finding.component)?;
    let (on, needs_wait) = match &moved.awaited {
        Awaited::This { needs_wait } => (of, *needs_wait),
        Awaited::Other { holder, needs_wait } => (find(holder)?, *needs_wait),
        Awaited::Provider | Awaited::NewOne { .. } => {
            let how = Unsplit::WithProvider;
            return Err(WhyLeft::Unsplit { component: finding.component.clone(), how });
        }
    };
    if cluster.component(of).role != Role::Kustomization {
        return Err(WhyLeft::NoEdit);
    }
    let plan = Plan::new(reading, cluster, of, on, &moved.kinds)?;
    let waiting = waiting(cluster, of, &plan);
    let mut changes = vec![Change::Split { of, plan }];
    changes.extend(gate(reading, cluster, finding, on, needs_wait));
    changes.extend(waiting);
    Ok(changes)
}

/// What makes the awaited one wait for what installs the CRDs.
fn gate(reading: &Reading, cluster: &Cluster, finding: &Finding, on: ComponentId, needs_wait: bool) -> Option<Change> {
    let provider = finding.provider.as_ref()?;
    match &cluster.component(on).gate {
        // Its list may have held nothing but what moves.
        Gate::Listed(objects) if !objects.contains(provider) => {
            let api_version = crate::intent::api_version(reading, provider)?;
            Some(Change::Check { of: on, object: provider.clone(), api_version })
        }
        _ => needs_wait.then_some(Change::Wait { of: on }),
    }
}

/// Who waits for a component because of what moves waits for the new one, which comes later.
fn waiting(cluster: &Cluster, of: ComponentId, plan: &Plan) -> Vec<Change> {
    let is_moved = |offer: &&model::Offer| offer.by == of && plan.kinds.contains(&offer.object.kind);
    let offered: Vec<&Capability> = cluster.offers.iter().filter(is_moved).map(|offer| &offer.capability).collect();
    let needing = cluster.needs.iter().filter(|need| need.of != of && offered.contains(&&need.capability));
    let from: BTreeSet<ComponentId> = needing.flat_map(|need| above(cluster, need.of)).collect();
    let ties = cluster.ties.iter().filter(|tie| tie.to == TieTarget::Component(of) && from.contains(&tie.from));
    let own = &cluster.component(of).object;
    let instead =
        |tie: &model::Tie| Change::DependInstead { of: tie.from, at: tie.at, from: own.clone(), to: plan.new.clone() };
    ties.map(instead).collect()
}

/// A component, and all that it is applied by.
fn above(cluster: &Cluster, id: ComponentId) -> BTreeSet<ComponentId> {
    let mut above = BTreeSet::new();
    let mut next = Some(id);
    while let Some(one) = next.filter(|one| above.insert(*one)) {
        next = cluster.component(one).parent;
    }
    above
}
