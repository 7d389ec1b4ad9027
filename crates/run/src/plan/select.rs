//! A part of a plan: from here, until there, only this, not that.

use std::collections::{BTreeMap, BTreeSet};

use super::{Layer, Plan, StepId};
use crate::reason::LeftOut;
use source::clean;

/// What somebody asked for. Each name is a layer or the key of a step.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    pub from: Option<String>,
    pub until: Option<String>,
    pub only: Vec<String>,
    /// With the reason.
    pub skip: Vec<(String, String)>,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    #[error("no step or layer is called `{name}`{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default(), name = clean(.name))]
    Unknown { name: String, near: Option<String> },
    #[error("none of the {steps} steps is selected")]
    Nothing { steps: usize },
}

impl Selection {
    /// The steps that are left out, each with its reason.
    pub fn left(&self, plan: &Plan) -> Result<BTreeMap<StepId, LeftOut>, SelectionError> {
        let mut left = BTreeMap::new();
        let mut leave = |ids: BTreeSet<StepId>, why: &LeftOut| {
            for id in ids {
                left.entry(id).or_insert_with(|| why.clone());
            }
        };
        for (name, reason) in &self.skip {
            leave(named(plan, name)?, &LeftOut::Skipped { name: name.clone(), reason: reason.clone() });
        }
        let all: BTreeSet<StepId> = plan.ids().collect();
        if let Some(name) = &self.from {
            let begin = named(plan, name)?;
            let first = begin.iter().map(|id| plan.step(*id).layer).min();
            let is_earlier = |id: &StepId| first.is_some_and(|first| plan.step(*id).layer < first);
            // What nobody of them needs and belongs to an earlier layer is no less behind us: another machine, say.
            let before = needed_by(plan, &begin).into_iter().chain(plan.ids().filter(is_earlier));
            leave(before.filter(|id| !begin.contains(id)).collect(), &LeftOut::Before { name: name.clone() });
        }
        if let Some(name) = &self.until {
            let end = named(plan, name)?;
            let wanted: BTreeSet<StepId> = needed_by(plan, &end).union(&end).copied().collect();
            leave(all.difference(&wanted).copied().collect(), &LeftOut::After { name: name.clone() });
        }
        if !self.only.is_empty() {
            let mut wanted = BTreeSet::new();
            for name in &self.only {
                wanted.extend(named(plan, name)?);
            }
            leave(all.difference(&wanted).copied().collect(), &LeftOut::NotNamed);
        }
        if left.len() == plan.steps.len() && !left.is_empty() {
            return Err(SelectionError::Nothing { steps: left.len() });
        }
        Ok(left)
    }
}

fn named(plan: &Plan, name: &str) -> Result<BTreeSet<StepId>, SelectionError> {
    let is_meant = |id: &StepId| {
        let step = plan.step(*id);
        step.key == name || step.layer.name() == name
    };
    let found: BTreeSet<StepId> = plan.ids().filter(is_meant).collect();
    if found.is_empty() && !Layer::ALL.iter().any(|layer| layer.name() == name) {
        return Err(SelectionError::Unknown { name: name.to_owned(), near: near(plan, name) });
    }
    Ok(found)
}

/// What was meant: the step whose name ends so, or the layer, the step or its last part that is nearest.
fn near(plan: &Plan, name: &str) -> Option<String> {
    let last = |key: &'_ str| key.rsplit('/').next().unwrap_or_default().to_owned();
    let keys = || plan.steps.iter().map(|step| step.key.as_str());
    if let Some(key) = keys().find(|key| last(key) == last(name)) {
        return Some(key.to_owned());
    }
    let is_used = |layer: &&Layer| plan.steps.iter().any(|step| step.layer == **layer);
    let layers = Layer::ALL.iter().filter(is_used).map(|layer| layer.name());
    if let Some(meant) = model::nearest(name, layers.chain(keys())) {
        return Some(meant.to_owned());
    }
    let ends: Vec<(String, &str)> = keys().map(|key| (last(key), key)).collect();
    let meant = model::nearest(name, ends.iter().map(|(end, _)| end.as_str()))?;
    ends.iter().find(|(end, _)| end == meant).map(|(_, key)| (*key).to_owned())
}

/// Everything that these need, however indirectly.
fn needed_by(plan: &Plan, steps: &BTreeSet<StepId>) -> BTreeSet<StepId> {
    let mut needed = BTreeSet::new();
    let mut next: Vec<StepId> = steps.iter().copied().collect();
    while let Some(id) = next.pop() {
        for need in &plan.step(id).needs {
            if needed.insert(need.step) {
                next.push(need.step);
            }
        }
    }
    needed
}
