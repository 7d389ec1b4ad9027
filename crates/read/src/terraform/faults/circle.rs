//! Runs that each take a state or a file from the next one.

use model::{LayerDefect, ObjectRef, StepFault};

use super::{Judge, KIND};

pub(super) fn find(judge: &Judge<'_>, found: &mut Vec<StepFault>) {
    for way in judge.layers.circles() {
        let root = |at: usize| judge.layers.chains[at].root.as_str();
        let Some(first) = way.first() else { continue };
        let directories = way.iter().map(|one| root(one.later).into()).collect();
        let step = ObjectRef::new(KIND, "", root(first.later));
        let defect = model::Defect::Layer(LayerDefect::Cycle { directories });
        found.push(StepFault { at: first.at, step, defect, shown: way.iter().skip(1).map(|one| one.at).collect() });
    }
}
