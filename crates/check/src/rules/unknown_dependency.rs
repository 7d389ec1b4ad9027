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
use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{
    Advice, Explains, Finding, Fix, Goal, Location, NeverCost, Note, OrderAdvice, OrderFault, PlainAdvice, Remark,
    Rule, Severity, Symptom,
};
use model::{
    ComponentId, Consequence, HintBudget, MissingCheck, ObjectRef, Stage, Tie, TieTarget, Verdict, edits, is_slip,
    nearest,
};
use source::FileId;

use crate::context::Context;
use crate::other_kind::other_kind;

pub(crate) static RULE: Rule = Rule::new(
    "unknown-dependency",
    "a dependency on something that does not exist",
    include_str!("unknown_dependency.rs"),
)
.explains(&[Explains::new(Symptom::DependencyNotFound, 1), Explains::new(Symptom::NotHealthy, 9)]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut hints = Hints::new(context);
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    let mut findings: Vec<Finding> = ties
        .filter_map(|tie| match &tie.to {
            TieTarget::Unknown(object)
                if !object.name.contains("${")
                    && other_kind(context, object).is_none()
                    && !hints.is_unreadable(object) =>
            {
                let is_helmfile = context.component(tie.from).role.is_bootstrap();
                Some(if is_helmfile {
                    hints.of_helmfile(tie, object)
                } else {
                    finding(context, tie, object, hints.of(object))
                })
            }
            _ => None,
        })
        .collect();
    let checks = context.cluster.facts.missing_checks.iter();
    let checks = checks.filter(|check| !context.is_asleep(check.of) && !hints.is_unreadable(&check.object));
    let checks: Vec<&MissingCheck> = checks.collect();
    findings.extend(checks.into_iter().filter_map(|check| of_check(context, check, hints.of(&check.object))));
    findings
}

/// What may have been meant by names that nothing has.
struct Hints<'c, 'a> {
    context: &'c Context<'a>,
    /// By kind.
    objects: BTreeMap<&'a str, Vec<&'a ObjectRef>>,
    /// Releases of helmfiles by their file.
    releases: BTreeMap<FileId, Vec<ComponentId>>,
    /// Names in files that can't be read.
    unreadable: BTreeSet<&'a str>,
    known: BTreeMap<&'a ObjectRef, Hint>,
    budget: HintBudget,
}

#[derive(Clone, Default)]
struct Hint {
    advice: Option<OrderAdvice>,
    /// The name is so near to one that exists that nothing unseen has it.
    is_slip: bool,
}

impl<'c, 'a> Hints<'c, 'a> {
    fn new(context: &'c Context<'a>) -> Self {
        let mut objects: BTreeMap<&str, Vec<&ObjectRef>> = BTreeMap::new();
        let mut releases: BTreeMap<FileId, Vec<ComponentId>> = BTreeMap::new();
        for id in context.cluster.ids() {
            let component = context.component(id);
            objects.entry(&component.object.kind).or_default().push(&component.object);
            if component.object.kind.starts_with("Helmfile") {
                releases.entry(component.at.file).or_default().push(id);
            }
        }
        // As metadata stands, and not an entry of `dependsOn`.
        let named = |line: &'a str| line.strip_prefix("  name:").and_then(|name| name.split_whitespace().last());
        let broken = context.cluster.broken.iter().filter_map(|broken| context.text(broken.at));
        let unreadable = broken.flat_map(|text| text.lines().filter_map(named)).collect();
        Self { context, objects, releases, unreadable, known: BTreeMap::new(), budget: HintBudget::default() }
    }

    /// Whether a file that can't be read names it: the mistake there is told by itself, and then it exists.
    fn is_unreadable(&self, missing: &ObjectRef) -> bool {
        self.unreadable.contains(missing.name.as_str())
    }

    fn of(&mut self, missing: &'a ObjectRef) -> Hint {
        if let Some(hint) = self.known.get(missing) {
            return hint.clone();
        }
        let named = self.context.index().named(&missing.name).iter().map(|id| &self.context.component(*id).object);
        let elsewhere = named.into_iter().find(|object| object.kind == missing.kind);
        let elsewhere = elsewhere.map(|other| OrderAdvice::OtherNamespace { namespace: other.namespace.clone() });
        let objects = self.objects.get(missing.kind.as_str()).map(Vec::as_slice).unwrap_or_default();
        let hint = if self.budget.allows(objects.len()) {
            let mut beside = objects.iter().filter(|other| other.namespace == missing.namespace);
            let is_slip = beside.any(|other| is_slip(&missing.name, &other.name));
            let meant = || meant(missing, objects).map(|object| OrderAdvice::DidYouMean { object: object.clone() });
            Hint { advice: elsewhere.or_else(meant), is_slip }
        } else {
            Hint { advice: elsewhere, is_slip: false }
        };
        self.known.insert(missing, hint.clone());
        hint
    }

    fn of_helmfile(&mut self, tie: &Tie, missing: &ObjectRef) -> Finding {
        let release = self.release_meant(tie, missing).cloned();
        of_helmfile(self.context, tie, missing, release.map(|release| OrderAdvice::DidYouMeanRelease { release }))
    }

    /// The release of the same helmfile that may have been meant.
    fn release_meant(&mut self, tie: &Tie, missing: &ObjectRef) -> Option<&'a ObjectRef> {
        let beside = self.releases.get(&self.context.component(tie.from).at.file)?;
        if !self.budget.allows(beside.len()) {
            return None;
        }
        let others = beside.iter().filter(|id| **id != tie.from).map(|id| &self.context.component(*id).object);
        let objects: Vec<&'a ObjectRef> = others.collect();
        let name = nearest(&missing.name, objects.iter().map(|object| object.name.as_str()))?;
        objects.into_iter().find(|object| object.name == name)
    }
}

/// A health check that is never met.
fn of_check(context: &Context<'_>, check: &MissingCheck, hint: Hint) -> Option<Finding> {
    let component = &context.component(check.of).object;
    let meant = check.near.clone().map(|object| OrderAdvice::DidYouMean { object });
    let meant = meant.or(hint.advice);
    let is_slip = check.near.is_some() || hint.is_slip;
    let is_unseen = context.may_hold_more() || context.is_below_broken(check.of) || context.is_unseen(check.of);
    let is_unsure = is_unseen && !is_slip;
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

fn finding(context: &Context<'_>, tie: &Tie, missing: &ObjectRef, hint: Hint) -> Finding {
    let component = &context.component(tie.from).object;
    // What could not be seen might hold it, unless it is evidently a slip of the keyboard.
    let is_unseen = context.may_hold_more() || (hint.advice.is_none() && context.is_below_broken(tie.from));
    let is_unsure = is_unseen && !hint.is_slip;
    let severity = if is_unsure { Severity::Info } else { Severity::Error };
    let statement = OrderFault::WaitsForUnknown { component: component.clone(), missing: missing.clone() };
    let primary = Location::new(tie.at, Remark::NothingHasName);
    let advice = hint.advice.map_or(PlainAdvice::CorrectName.into(), Advice::from);
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_provider(missing)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::ConvergesWithDependents)
        .with_fix(Fix::by_hand(advice, Goal::Exists { object: missing.clone() }));
    finding.notes.extend(is_unsure.then_some(Note::UnseenMayHold));
    finding
}

fn of_helmfile(context: &Context<'_>, tie: &Tie, missing: &ObjectRef, hint: Option<OrderAdvice>) -> Finding {
    let component = &context.component(tie.from).object;
    let statement = OrderFault::NeedsUnknownRelease { component: component.clone(), missing: missing.clone() };
    let primary = Location::new(tie.at, Remark::NoSuchRelease);
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

/// The nearest spelling, else whatever is called by the same words.
fn meant<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    near(missing, objects).or_else(|| same_words(missing, objects)).or_else(|| ending(missing, objects))
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

    fn named(missing: &str, names: &[&str]) -> Option<String> {
        let object = |name: &str| ObjectRef::new("Kustomization", "flux-system", name);
        let objects: Vec<ObjectRef> = names.iter().map(|name| object(name)).collect();
        let (missing, objects) = (object(missing), objects.iter().collect::<Vec<_>>());
        meant(&missing, &objects).map(|it| it.name.to_string())
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
            assert_eq!(named(missing, names).as_deref(), expected, "{missing}");
        }
    }
}
