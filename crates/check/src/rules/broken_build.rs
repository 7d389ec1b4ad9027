//! ## What it finds
//!
//! A Kustomization that can't be built: a file that is not there, YAML that does not parse, a patch that fits nothing, a
//! path that does not exist, two objects of one name; or one that is built, and in which Flux then can't put the variables in.
//! A step of the bootstrap that applies a file of this repository, where neither the file nor its directory is there.
//!
//! ## Why it matters at a cold start
//!
//! Nothing of it is applied, and nothing that depends on it starts. On a running cluster the last good state stays, and
//! only a condition that nobody reads tells. A bootstrap stops at such a step, and nobody runs it before the day it is needed.
//!
//! ## Example
//!
//! ```yaml
//! resources:
//!   - ./helmrelease.yml   # the file is called helmrelease.yaml
//! ```
//!
//! ## Fix
//!
//! Make `kustomize build` of the directory succeed. Where it does, and a `${` is no variable of Flux's, write `$${`, or give the
//! object the annotation `kustomize.toolkit.fluxcd.io/substitute: disabled`.

use std::collections::BTreeMap;

use graph::Consequence;
use model::{BrokenBuild, BuildFault, ComponentId};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{and_more, quoted};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut by_component: BTreeMap<ComponentId, Vec<&BrokenBuild>> = BTreeMap::new();
    for broken in context.cluster.broken.iter().filter(|broken| !context.is_asleep(broken.component)) {
        by_component.entry(broken.component).or_default().push(broken);
    }
    by_component.iter().map(|(id, broken)| finding(context, *id, broken)).collect()
}

/// Takes an object out of substitution.
const SWITCH: &str = "kustomize.toolkit.fluxcd.io/substitute";

fn finding(context: &Context<'_>, id: ComponentId, broken: &[&BrokenBuild]) -> Finding {
    let component = context.component(id);
    let first = broken[0];
    let is_early = first.fault == BuildFault::Bootstrap;
    let what = match component.object.kind.as_str() {
        "Bootstrap" if is_early => "a command stops the bootstrap".to_owned(),
        _ if is_early => format!("{} stops the bootstrap", quoted(component)),
        _ => format!("{} can't be built", quoted(component)),
    };
    Finding {
        rule: "broken-build",
        // A bootstrap may be run by hand, past what fails.
        severity: if is_early { Severity::Warning } else { Severity::Error },
        message: format!("{what}: {}{}", first.message, and_more(1, broken.len())),
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: None,
        capability: None,
        verdict: None,
        consequence: Some(if is_early { Consequence::Terminal { certain: false } } else { Consequence::Deadlock }),
        cost: if is_early {
            "the bootstrap ends there, and what comes after it is not installed".to_owned()
        } else {
            "nothing of it is applied until this is mended".to_owned()
        },
        locations: broken
            .iter()
            .take(3)
            .enumerate()
            .map(|(index, broken)| Location {
                span: broken.at,
                role: if index == 0 { LocationRole::Primary } else { LocationRole::Related },
                label: if is_early { format!("applied here, and {}", broken.message) } else { broken.message.clone() },
            })
            .collect(),
        fix: Some(match (first.fault, &component.path) {
            (BuildFault::Text, _) => format!(
                "write `$${{` where no variable is meant, or give the object the annotation `{SWITCH}: disabled`"
            ),
            (BuildFault::VariableName, _) => {
                "give it another name, there and where it is used, or keep it out of what `postBuild` takes".to_owned()
            }
            (BuildFault::Build, Some(path)) => format!("make `kustomize build {path}` succeed"),
            (BuildFault::Bootstrap, _) => "correct the path, or take the command out".to_owned(),
            (BuildFault::Build, None) => "correct the path".to_owned(),
        }),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}
