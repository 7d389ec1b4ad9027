//! ## What it finds
//!
//! A `dependsOn` on a Kustomization or HelmRelease with `suspend: true`.
//!
//! ## Why it matters at a cold start
//!
//! On a running cluster the suspended object keeps the Ready condition it had. Created suspended, it never gets one, and
//! its dependents wait for ever.
//!
//! ## Example
//!
//! ```yaml
//! metadata: {name: spegel}
//! spec:
//!   suspend: true
//! ```
//!
//! ## Fix
//!
//! Remove `suspend`, or the dependency on it.

use graph::{Consequence, Verdict};
use model::TieTarget;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for tie in context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from)) {
        let TieTarget::Component(to) = tie.to else { continue };
        let target = context.component(to);
        let Some(suspended) = context.above(to).find_map(|at| context.component(at).suspended) else { continue };
        let component = context.component(tie.from);
        findings.push(Finding {
            rule: "suspended-dependency",
            severity: Severity::Error,
            message: format!("{} waits for {}, which is suspended", quoted(component), quoted(target)),
            cluster: context.cluster.name.clone(),
            component: component.object.clone(),
            provider: Some(target.object.clone()),
            capability: None,
            verdict: Some(Verdict::Deadlocked),
            consequence: Some(Consequence::Deadlock),
            cost: "never converges: created suspended, it never becomes ready".to_owned(),
            locations: vec![
                Location { span: tie.at, role: LocationRole::Primary, label: "waits for ever".to_owned() },
                Location { span: suspended, role: LocationRole::Order, label: "switched off here".to_owned() },
            ],
            fix: Some(format!("remove `suspend` from {}, or this dependency", target.object)),
            notes: Vec::new(),
            also: Vec::new(),
            each: Vec::new(),
        });
    }
    findings
}
