//! ## What it finds
//!
//! A `dependsOn` that names nothing: a spelling mistake, the wrong namespace, a name that was changed elsewhere. The name of
//! an object of another kind is a `wrong-kind-dependency`.
//!
//! The same of a release in a helmfile: `needs` that name no release of that file. Nothing is reported where a template
//! may produce the names.
//!
//! And an entry of `healthChecks` that names an object which nothing applies: a Kustomization, a HelmRelease or a source, or a
//! workload whose name differs by a letter from one that the Kustomization applies.
//!
//! ## Why it matters at a cold start
//!
//! Flux waits forever for a dependency that does not exist. On a running cluster this goes unnoticed, because the old
//! object still exists or the dependent was ready before the change.
//!
//! A Kustomization with such a health check waits for it until its timeout, fails, and tries again without end: what it applies is
//! there, but it never becomes ready, and nothing that depends on it starts.
//!
//! Helmfile rejects a file with such `needs`, whatever selectors it is called with: the bootstrap fails before it
//! starts.
//!
//! ## Example
//!
//! ```yaml
//! spec:
//!   dependsOn:
//!     - name: rook-ceph-clutser
//! ```
//!
//! ## Fix
//!
//! Correct the name. The namespace is the dependent's own unless it is written: as `namespace` in `dependsOn`, as
//! `namespace/name` in `needs`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use diagnostic::{
    Advice, Explains, Finding, Fix, Goal, Location, NeverCost, Note, OrderAdvice, OrderFault, PlainAdvice, Remark,
    Rule, Severity, Symptom,
};
use model::{Consequence, MissingCheck, ObjectRef, Stage, Tie, TieTarget, Verdict, edits, nearest};

use crate::context::Context;
use crate::other_kind::other_kind;

pub(crate) static RULE: Rule = Rule::new(
    "unknown-dependency",
    "a dependency on something that does not exist",
    include_str!("unknown_dependency.rs"),
)
.explains(&[Explains::new(Symptom::DependencyNotFound, 1), Explains::new(Symptom::NotHealthy, 9)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    ties.filter_map(|tie| match &tie.to {
        TieTarget::Unknown(object)
            if !object.name.contains("${")
                && other_kind(context, object).is_none()
                && !is_unreadable(context, object) =>
        {
            let is_helmfile = context.component(tie.from).role.is_bootstrap();
            Some(if is_helmfile { of_helmfile(context, tie, object) } else { finding(context, tie, object) })
        }
        _ => None,
    })
    .chain(context.cluster.facts.missing_checks.iter().filter_map(|check| of_check(context, check)))
    .collect()
}

/// A health check that is never met.
fn of_check(context: &Context<'_>, check: &MissingCheck) -> Option<Finding> {
    if context.is_asleep(check.of) || is_unreadable(context, &check.object) {
        return None;
    }
    let component = &context.component(check.of).object;
    let meant = check.near.clone().map(|object| OrderAdvice::DidYouMean { object });
    let meant = meant.or_else(|| did_you_mean(context, &check.object));
    let is_slip = check.near.is_some() || is_slip(context, &check.object);
    let is_unsure = (context.may_hold_more() || context.is_below_broken(check.of)) && !is_slip;
    // What could not be seen may make it, and then there is nothing to say.
    if is_unsure {
        return None;
    }
    let statement = OrderFault::ChecksUnknown { component: component.clone(), missing: check.object.clone() };
    let primary = Location::new(check.at, Remark::NothingHasName);
    let advice = meant.map_or(PlainAdvice::CorrectCheck.into(), Advice::from);
    let finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, component, statement, primary)
        .with_provider(&check.object)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesWithDependents)
        .with_fix(Fix::by_hand(advice, Goal::Exists { object: check.object.clone() }));
    Some(finding)
}

/// Whether a file that can't be read names it: the mistake there is told by itself, and then it exists.
fn is_unreadable(context: &Context<'_>, missing: &ObjectRef) -> bool {
    let is_named = |line: &str| {
        // As metadata stands, and not an entry of `dependsOn`.
        let named = line.strip_prefix("  name:");
        named.is_some_and(|name| name.split_whitespace().last() == Some(&*missing.name))
    };
    context.cluster.broken.iter().filter_map(|broken| context.text(broken.at)).any(|text| text.lines().any(is_named))
}

fn finding(context: &Context<'_>, tie: &Tie, missing: &ObjectRef) -> Finding {
    let component = &context.component(tie.from).object;
    let hint = did_you_mean(context, missing);
    // What could not be seen might hold it, unless it is evidently a slip of the keyboard.
    let is_unseen = context.may_hold_more() || (hint.is_none() && context.is_below_broken(tie.from));
    let is_unsure = is_unseen && !is_slip(context, missing);
    let severity = if is_unsure { Severity::Info } else { Severity::Error };
    let statement = OrderFault::WaitsForUnknown { component: component.clone(), missing: missing.clone() };
    let primary = Location::new(tie.at, Remark::NothingHasName);
    let advice = hint.map_or(PlainAdvice::CorrectName.into(), Advice::from);
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_provider(missing)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesWithDependents)
        .with_fix(Fix::by_hand(advice, Goal::Exists { object: missing.clone() }));
    finding.notes.extend(is_unsure.then_some(Note::UnseenMayHold));
    finding
}

fn of_helmfile(context: &Context<'_>, tie: &Tie, missing: &ObjectRef) -> Finding {
    let component = &context.component(tie.from).object;
    let statement = OrderFault::NeedsUnknownRelease { component: component.clone(), missing: missing.clone() };
    let primary = Location::new(tie.at, Remark::NoSuchRelease);
    let hint = release_meant(context, tie, missing).cloned();
    let hint = hint.map(|release| OrderAdvice::DidYouMeanRelease { release });
    let advice = hint.map_or(PlainAdvice::CorrectNeeds.into(), Advice::from);
    let mut finding = Finding::new(&RULE, Severity::Error, &context.cluster.name, component, statement, primary)
        .with_provider(missing)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::Starts)
        .with_fix(Fix::by_hand(advice, Goal::Exists { object: missing.clone() }));
    finding.provider_stage = Stage::Bootstrap;
    finding
}

/// The release of the same helmfile that may have been meant.
fn release_meant<'a>(context: &'a Context<'_>, tie: &Tie, missing: &ObjectRef) -> Option<&'a ObjectRef> {
    let file = context.component(tie.from).at.file;
    let others = context.cluster.ids().filter(|id| *id != tie.from).map(|id| context.component(id));
    let beside = others.filter(|other| other.at.file == file && other.object.kind.starts_with("Helmfile"));
    let objects: Vec<&ObjectRef> = beside.map(|other| &other.object).collect();
    let name = nearest(&missing.name, objects.iter().map(|object| object.name.as_str()))?;
    objects.into_iter().find(|object| object.name == name)
}

/// The same name elsewhere, else the nearest spelling, else whatever is called by the same words.
fn did_you_mean(context: &Context<'_>, missing: &ObjectRef) -> Option<OrderAdvice> {
    let components = context.cluster.components.iter().map(|component| &component.object);
    let objects: Vec<&ObjectRef> = components.filter(|object| object.kind == missing.kind).collect();
    if let Some(other) = objects.iter().find(|object| object.name == missing.name) {
        return Some(OrderAdvice::OtherNamespace { namespace: other.namespace.clone() });
    }
    let meant =
        near(missing, &objects).or_else(|| same_words(missing, &objects)).or_else(|| ending(missing, &objects))?;
    Some(OrderAdvice::DidYouMean { object: meant.clone() })
}

/// Whether a name is so near to one that exists that nothing unseen has it. Names that are counted through differ by a digit.
fn is_slip(context: &Context<'_>, missing: &ObjectRef) -> bool {
    const LETTERS_PER_SLIP: usize = 6;
    let components = context.cluster.components.iter().map(|component| &component.object);
    let beside = components.filter(|other| other.kind == missing.kind && other.namespace == missing.namespace);
    let letters = |name: &str| name.replace(|c: char| c.is_ascii_digit(), "");
    beside.filter(|other| letters(&other.name) != letters(&missing.name)).any(|other| {
        let slips = edits(&missing.name, &other.name);
        slips * LETTERS_PER_SLIP <= missing.name.len()
    })
}

/// A slip of the keyboard.
fn near<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let slips_max = (missing.name.len() / 4).clamp(1, 4);
    let spelled = objects.iter().map(|object| (edits(&missing.name, &object.name), *object));
    spelled.min().filter(|(slips, _)| *slips <= slips_max).map(|(_, object)| object)
}

/// What has most words of the name, in any order: `cluster-apps-rook-ceph-cluster` for `storage-rook-ceph-cluster`. Where several
/// have as many, it can't be told.
fn same_words<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let words = |name: &str| name.split('-').map(str::to_owned).collect::<BTreeSet<String>>();
    let wanted = words(&missing.name);
    let ranked = objects.iter().map(|object| {
        let has = words(&object.name);
        let shared = has.intersection(&wanted).count();
        ((shared, Reverse(has.len() - shared)), *object)
    });
    let mut ranked: Vec<_> = ranked.filter(|((shared, _), _)| shared * 2 > wanted.len()).collect();
    ranked.sort_by_key(|(rank, _)| Reverse(*rank));
    match ranked.as_slice() {
        [first, second, ..] if first.0 == second.0 => None,
        [first, ..] => Some(first.1),
        [] => None,
    }
}

/// What is left of the name without the prefix that it seemed to have.
fn ending<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let ends = |object: &&&'a ObjectRef| missing.name.ends_with(&format!("-{}", object.name));
    objects.iter().filter(ends).max_by_key(|object| object.name.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(missing: &str, names: &[&str]) -> Option<String> {
        let object = |name: &str| ObjectRef::new("Kustomization", "flux-system", name);
        let objects: Vec<ObjectRef> = names.iter().map(|name| object(name)).collect();
        let (missing, objects) = (object(missing), objects.iter().collect::<Vec<_>>());
        let found = near(&missing, &objects).or_else(|| same_words(&missing, &objects));
        found.or_else(|| ending(&missing, &objects)).map(|it| it.name.to_string())
    }

    #[test]
    fn names_are_meant_by_their_spelling_or_by_their_words() {
        for (missing, names, expected) in [
            ("mostquitto", ["mosquitto", "mosaic"].as_slice(), Some("mosquitto")),
            (
                "external-secrets-stores",
                &["external-secrets", "cluster-apps-external-secrets-stores"],
                Some("cluster-apps-external-secrets-stores"),
            ),
            (
                "storage-rook-ceph-cluster",
                &["cluster", "cluster-apps-rook-ceph-cluster"],
                Some("cluster-apps-rook-ceph-cluster"),
            ),
            ("ceph-cephfs", &["ceph-csi-cephfs", "ceph-csi-rbd"], Some("ceph-csi-cephfs")),
            (
                "infrastructure-storage-rook-ceph-cluster",
                &["rook-ceph-cluster", "rook-ceph"],
                Some("rook-ceph-cluster"),
            ),
            ("apps-redis", &["redis", "minio"], Some("redis")),
            ("cluster", &["cluster-apps", "cluster-core"], None),
            ("certificates", &["monitoring", "storage"], None),
        ] {
            assert_eq!(meant(missing, names).as_deref(), expected, "{missing}");
        }
    }
}
