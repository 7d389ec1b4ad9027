//! ## What it finds
//!
//! A HelmRelease whose `dependsOn` has the name of a Kustomization, or a Kustomization whose `dependsOn` has the name of a
//! HelmRelease.
//!
//! ## Why it matters at a cold start
//!
//! Flux looks for the name among objects of the dependent's own kind, finds none, and waits for ever. On a running cluster
//! nobody notices, because the dependent was ready before the line was added.
//!
//! ## Example
//!
//! ```yaml
//! kind: HelmRelease
//! spec:
//!   dependsOn:
//!     - name: cluster-secrets   # a Kustomization
//! ```
//!
//! ## Fix
//!
//! Move the order to objects of one kind: the Kustomization that applies this HelmRelease can depend on the other
//! Kustomization; a HelmRelease can depend on the HelmRelease inside of it. Where that order is declared already, remove the
//! entry.

use graph::{Consequence, Verdict};
use model::{ComponentId, ObjectRef, Role, Tie, TieTarget};

use crate::context::Context;
use crate::finding::{Finding, LocationRole, Severity};
use crate::words::quoted;

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    ties.filter_map(|tie| match &tie.to {
        TieTarget::Unknown(missing) => other_kind(context, missing).map(|meant| finding(context, tie, missing, meant)),
        TieTarget::Component(_) => None,
    })
    .collect()
}

/// The component of that name that is of the other kind, where none is of the wanted one.
pub(crate) fn other_kind(context: &Context<'_>, missing: &ObjectRef) -> Option<ComponentId> {
    let other = match missing.kind.as_str() {
        "HelmRelease" => Role::Kustomization,
        "Kustomization" => Role::HelmRelease,
        _ => return None,
    };
    let named = |id: &ComponentId| context.component(*id).object.name == missing.name;
    if context.cluster.ids().filter(named).any(|id| context.component(id).object.kind == missing.kind) {
        return None;
    }
    let mut others: Vec<ComponentId> =
        context.cluster.ids().filter(named).filter(|id| context.component(*id).role == other).collect();
    others.sort_by_key(|id| context.component(*id).object.namespace != missing.namespace);
    others.first().copied()
}

fn finding(context: &Context<'_>, tie: &Tie, missing: &ObjectRef, meant: ComponentId) -> Finding {
    let component = context.component(tie.from);
    let target = context.component(meant);
    let message = format!(
        "{} {} waits for {missing}, but `{}` is a {}",
        component.object.kind,
        quoted(component),
        target.object.path(),
        target.object.kind
    );
    let cost = "never converges: blocked for ever, and everything that depends on it";
    let mut finding =
        Finding::new("wrong-kind-dependency", Severity::Error, &context.cluster.name, &component.object, message, cost)
            .with(LocationRole::Primary, tie.at, format!("looked for among objects of kind {} only", missing.kind))
            .with(LocationRole::Related, target.at, format!("the {} of this name", target.object.kind));
    finding.provider = Some(target.object.clone());
    finding.verdict = Some(Verdict::Unoffered);
    finding.consequence = Some(Consequence::Deadlock);
    finding.fix = Some(fix(context, tie.from, meant));
    finding
}

fn fix(context: &Context<'_>, from: ComponentId, meant: ComponentId) -> String {
    let (consumer, target) = (context.applier(from), context.applier(meant));
    let (consumer_object, target_object) = (&context.component(consumer).object, &context.component(target).object);
    if consumer == target || context.is_nested(consumer, target) {
        return "name an object of the same kind, or remove the dependency".to_owned();
    }
    if context.is_tied(consumer, target) {
        let whose = if consumer == from { "it" } else { &format!("{consumer_object}, which applies it,") };
        return format!("remove this entry: {whose} waits for {target_object} already");
    }
    let namespace = if consumer_object.namespace == target_object.namespace {
        String::new()
    } else {
        format!(", namespace: {}", target_object.namespace)
    };
    format!("move it: `dependsOn: [{{name: {}{namespace}}}]` on {consumer_object}", target_object.name)
}
