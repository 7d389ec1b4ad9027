//! When what is ready: as estimated, and as simulated boots have it.

use model::{ComponentId, ObjectRef};
use run::{Layer, Plan, Proof, StepId};
use serde::Serialize;

use crate::facts::Facts;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Milestone {
    pub name: String,
    pub object: Option<ObjectRef>,
    pub layer: Layer,
    /// After the beginning of the plan; without a plan, after the Kubernetes API answers.
    pub at_seconds: u64,
    /// The median of the boots in which it became ready; counted from the moment at which the Kubernetes API answers.
    pub median_seconds: Option<u64>,
}

pub(crate) fn timeline(facts: &Facts<'_>) -> Vec<Milestone> {
    let mut found = facts.plan.map_or_else(|| of_schedule(facts), |plan| of_plan(facts, plan));
    found.sort_by(|a, b| (a.at_seconds, &a.name).cmp(&(b.at_seconds, &b.name)));
    found
}

fn median(facts: &Facts<'_>, object: &ObjectRef) -> Option<u64> {
    facts.boots.as_ref()?.now_times.medians.get(object).copied()
}

fn of_plan(facts: &Facts<'_>, plan: &Plan) -> Vec<Milestone> {
    let at = plan.expected(|_| false);
    let milestone = |id: StepId| {
        let step = plan.step(id);
        let object = match &step.proof {
            Proof::Ready { kind, namespace, name } => {
                Some(ObjectRef::new(kind.as_str(), namespace.as_str(), name.as_str()))
            }
            _ => None,
        };
        Milestone {
            name: step.key.clone(),
            layer: step.layer,
            at_seconds: at[id.index()].as_secs(),
            median_seconds: object.as_ref().and_then(|object| median(facts, object)),
            object,
        }
    };
    plan.ids().map(milestone).collect()
}

/// Where there is no plan: what comes up at all.
fn of_schedule(facts: &Facts<'_>) -> Vec<Milestone> {
    let layers = facts.layers();
    let one = |id: ComponentId| {
        let object = facts.cluster.component(id).object.clone();
        let (name, median_seconds) = (object.path(), median(facts, &object));
        let at_seconds = facts.analysis.schedule.done(id)?;
        Some(Milestone { name, layer: layers[&id], at_seconds, median_seconds, object: Some(object) })
    };
    facts.cluster.ids().filter_map(one).collect()
}
