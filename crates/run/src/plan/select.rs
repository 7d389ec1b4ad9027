//! A part of a plan: from here, until there, only this, not that.

use std::collections::{BTreeMap, BTreeSet};

use super::{Layer, Plan, StepId};

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
    #[error("no step or layer is called `{name}`{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    Unknown { name: String, near: Option<String> },
    #[error("none of the {steps} steps is left to be done")]
    Nothing { steps: usize },
}

impl Selection {
    /// The steps that are left out, each with its reason.
    pub fn left(&self, plan: &Plan) -> Result<BTreeMap<StepId, String>, SelectionError> {
        let mut left = BTreeMap::new();
        let mut leave = |ids: BTreeSet<StepId>, reason: &str| {
            for id in ids {
                left.entry(id).or_insert_with(|| reason.to_owned());
            }
        };
        for (name, reason) in &self.skip {
            leave(named(plan, name)?, &format!("--skip {name}: {reason}"));
        }
        let all: BTreeSet<StepId> = plan.ids().collect();
        if let Some(name) = &self.from {
            let begin = named(plan, name)?;
            let first = begin.iter().map(|id| plan.step(*id).layer).min();
            let is_earlier = |id: &StepId| first.is_some_and(|first| plan.step(*id).layer < first);
            // What nobody of them needs and belongs to an earlier layer is no less behind us: another machine, say.
            let before = needed_by(plan, &begin).into_iter().chain(plan.ids().filter(is_earlier));
            leave(before.filter(|id| !begin.contains(id)).collect(), &format!("before --from {name}"));
        }
        if let Some(name) = &self.until {
            let end = named(plan, name)?;
            let wanted: BTreeSet<StepId> = needed_by(plan, &end).union(&end).copied().collect();
            leave(all.difference(&wanted).copied().collect(), &format!("after --until {name}"));
        }
        if !self.only.is_empty() {
            let mut wanted = BTreeSet::new();
            for name in &self.only {
                wanted.extend(named(plan, name)?);
            }
            leave(all.difference(&wanted).copied().collect(), "not in --only");
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
        let ends = |key: &&String| key.rsplit('/').next() == name.rsplit('/').next();
        let near = plan.steps.iter().map(|step| &step.key).find(ends).cloned();
        return Err(SelectionError::Unknown { name: name.to_owned(), near });
    }
    Ok(found)
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
