//! A script that runs Terraform in a directory that does not exist.

use std::collections::BTreeSet;

use model::{Defect, LayerDefect, ObjectRef, StepFault};

use super::Judge;

pub(super) fn find(judge: &Judge<'_>, found: &mut Vec<StepFault>) {
    let mut seen = BTreeSet::new();
    for run in judge.layers.runs.iter().filter(|run| run.is_missing) {
        if seen.insert((&run.script, &run.directory)) {
            let defect = LayerDefect::MissingDirectory { directory: run.directory.as_str().into() };
            let step = ObjectRef::new("Script", "", run.script.as_str());
            found.push(StepFault { at: run.at, step, defect: Defect::Layer(defect), shown: Vec::new() });
        }
    }
}
