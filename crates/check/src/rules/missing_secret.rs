//! ## What it finds
//!
//! A Secret or ConfigMap that a HelmRelease takes values from, or that a plain workload's pods need to start, and that
//! nothing in the repository makes: no manifest, no generator, no ExternalSecret, SealedSecret or Certificate, no operator
//! by its naming convention. Where a release waits for another of its namespace whose chart was not read, or part of the cluster
//! comes from another repository, that may make it, and the finding is an info. And the sealing key of SealedSecrets, where nothing restores it.
//!
//! ## Why it matters at a cold start
//!
//! Somebody made it by hand once. On the new cluster it is not there.
//!
//! ## Example
//!
//! ```yaml
//! valuesFrom:
//!   - kind: Secret
//!     name: echo-values
//! ```
//!
//! ## Fix
//!
//! Put what makes it into the repository (an ExternalSecret, a SealedSecret, a SOPS file), or seed it in the bootstrap.

use graph::{Consequence, Verdict};
use model::{CapabilityKind, ComponentId, Need, Phase, Role};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::words::{agree, and_more, quoted};

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let unoffered =
        || context.judged().filter(|judged| judged.verdict == Verdict::Unoffered).map(|judged| context.need(judged));
    let keys: Vec<&Need> = unoffered().filter(|need| need.capability.kind == CapabilityKind::SealingKey).collect();
    let wanted = unoffered().filter(|need| {
        matches!(need.capability.kind, CapabilityKind::Secret | CapabilityKind::ConfigMap) && !need.optional
    });
    wanted.filter_map(|need| secret(context, need)).chain(sealing_key(context, &keys)).collect()
}

fn secret(context: &Context<'_>, need: &Need) -> Option<Finding> {
    let component = context.component(need.of);
    let (severity, cost) = match (component.role, need.phase) {
        (Role::HelmRelease, Phase::Build) => (Severity::Warning, "never installed unless something outside makes it"),
        (_, Phase::Ready) => (Severity::Info, "its pods never start unless something outside makes it"),
        _ => return None,
    };
    let message = format!("{} needs {} {}, and nothing here makes it", quoted(component), need.capability, need.why);
    let fix = format!("add what makes {} to the repository, or seed it in the bootstrap", need.capability);
    let Some(doubt) = doubt(context, need.of) else {
        return Some(finding(context, need, (severity, message, cost), fix));
    };
    let mut finding = finding(context, need, (Severity::Info, message, cost), fix);
    finding.notes.push(doubt);
    Some(finding)
}

/// What was not read and may make it, as a sentence.
fn doubt(context: &Context<'_>, of: ComponentId) -> Option<String> {
    if let Some(unseen) = unseen_before(context, of) {
        let unseen = quoted(context.component(unseen));
        return Some(format!("{unseen}, which it waits for, comes from a chart that was not read, and may make it"));
    }
    let elsewhere = context.elsewhere()?;
    Some(format!("{} applies files of another repository, which may make it", quoted(elsewhere)))
}

/// A release of its own namespace that a release waits for and whose chart was not read: it may make the Secret, itself or by a
/// resource that an operator turns into one.
fn unseen_before(context: &Context<'_>, of: ComponentId) -> Option<ComponentId> {
    let is_unseen = |id: &ComponentId| {
        let (own, other) = (context.component(of), context.component(*id));
        let are_releases = own.role == Role::HelmRelease && other.role == Role::HelmRelease;
        are_releases && other.known_as.is_none() && other.object.namespace == own.object.namespace
    };
    context.tied_to(of).iter().copied().find(is_unseen)
}

/// One key opens all of them: one finding, however many SealedSecrets.
fn sealing_key(context: &Context<'_>, needs: &[&Need]) -> Option<Finding> {
    let first = needs.first()?;
    let more = and_more(1, needs.len());
    let message = format!(
        "{}{more} {} SealedSecrets, and nothing here brings the sealing key back",
        quoted(context.component(first.of)),
        agree(needs.len(), "has", "have")
    );
    let cost = "no SealedSecret is ever unsealed on a new cluster: its controller makes a new key";
    let fix =
        "keep the key outside of the cluster and seed it in the bootstrap, before the controller starts".to_owned();
    Some(finding(context, first, (Severity::Warning, message, cost), fix))
}

fn finding(
    context: &Context<'_>,
    need: &Need,
    (severity, message, cost): (Severity, String, &str),
    fix: String,
) -> Finding {
    Finding {
        rule: "missing-secret",
        severity,
        message,
        cluster: context.cluster.name.clone(),
        component: context.component(need.of).object.clone(),
        provider: None,
        capability: Some(need.capability.to_string()),
        verdict: Some(Verdict::Unoffered),
        consequence: Some(Consequence::Terminal { certain: false }),
        cost: cost.to_owned(),
        locations: vec![Location {
            span: need.at,
            role: LocationRole::Primary,
            label: "nothing that was read makes it".to_owned(),
        }],
        fix: Some(fix),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}
