//! ## What it finds
//!
//! A Secret or ConfigMap that a HelmRelease reads values from, or that a workload's pods need to start, and that
//! nothing in the repository creates: no manifest, no generator, no ExternalSecret, SealedSecret or Certificate, no
//! operator by its naming convention. Where a release waits for another one in its namespace whose chart was not read,
//! or part of the cluster comes from another repository, or is encrypted with its names, that may create it, and the finding is an info. So it is where
//! a comment beside it names Terraform or a person as its maker, where nothing here but Terraform creates its namespace, or where a
//! manifest of it is here that neither Flux nor the bootstrap applies: a person or a script may. And the keys
//! that no repository can hold: the one that Kustomizations decrypt with, where nothing seeds it (an info: you may keep
//! it elsewhere), and the sealing key of SealedSecrets, where nothing restores it.
//!
//! ## Why it matters at a cold start
//!
//! It was once created by hand. On the new cluster it does not exist.
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
//! Add what creates it to the repository (an ExternalSecret, a SealedSecret, a SOPS file), or create it in the
//! bootstrap.

use diagnostic::{
    Absence, Advice, Explains, Finding, Fix, Goal, Location, NeverCost, Note, PlainAdvice, Quiet, Remark, Rule,
    Severity, Subject, Symptom, Together,
};
use graph::is_given;
use model::{Capability, CapabilityKind, ComponentId, Consequence, Need, Offer, Phase, Purpose, Role, Verdict};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("missing-secret", "a Secret or ConfigMap that nothing creates", include_str!("missing_secret.rs"))
        .folding(Together::Subject, Quiet::Alone)
        .explains(&[
            Explains::new(Symptom::NotHealthy, 4),
            Explains::new(Symptom::ValuesNotFound, 1),
            Explains::new(Symptom::InstallFailed, 5),
            Explains::new(Symptom::Unsealable, 1),
        ])
        .may_be_brought();

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
        (Role::HelmRelease, Phase::Build) => (Severity::Warning, NeverCost::InstalledFromHere),
        (Role::Kustomization, Phase::Build) if need.why == Purpose::Decrypt => {
            (Severity::Info, NeverCost::BuiltFromHereFirst)
        }
        (_, Phase::Ready) => (Severity::Info, NeverCost::PodsStartFromHere),
        _ => return None,
    };
    let (needed, purpose) = (need.capability.clone(), need.why.clone());
    let statement = Absence::NotMade { component: component.object.clone(), needed: needed.clone(), purpose };
    let doubt = doubt(context, need.of).or_else(|| made_outside(context, need));
    let severity = if doubt.is_some() { Severity::Info } else { severity };
    let mut finding = finding(context, need, severity, statement, cost, Advice::MakeIt { needed });
    finding.notes.extend(doubt);
    Some(finding)
}

/// What was not read and may make it.
fn doubt(context: &Context<'_>, of: ComponentId) -> Option<Note> {
    if let Some(unseen) = unseen_before(context, of) {
        return Some(Note::UnreadChartMayMake { release: context.component(unseen).object.clone() });
    }
    if let Some(elsewhere) = context.elsewhere() {
        return Some(Note::OtherRepositoryMayMake { component: elsewhere.object.clone() });
    }
    if let Some(set) = context.other_inputs() {
        return Some(Note::OtherInputsMayMake { component: set.object.clone() });
    }
    (context.may_hold_more() || context.holds_encrypted_names()).then_some(Note::UnseenMayHold)
}

/// What works outside of this repository, and by all signs makes it.
fn made_outside(context: &Context<'_>, need: &Need) -> Option<Note> {
    if let Some(maker) = context.comment_about(need.at, Some(&need.capability.namespace)) {
        return Some(Note::CommentNames { maker });
    }
    if let Some(unapplied) = context.cluster.unapplied.iter().find(|it| it.needed == need.capability) {
        return Some(Note::NotApplied { file: unapplied.file.clone() });
    }
    let namespace = Capability::cluster(CapabilityKind::Namespace, need.capability.namespace.clone());
    if need.capability.namespace.is_empty() || is_given(context.cluster, &namespace) {
        return None;
    }
    let is_it = |offer: &&Offer| offer.capability.kind == namespace.kind && offer.capability.means(&namespace.name);
    let mut makers = context.cluster.offers.iter().filter(is_it).peekable();
    let name = need.capability.namespace.clone();
    if makers.peek().is_none() {
        return Some(Note::NamespaceMadeElsewhere { namespace: name });
    }
    let is_terraform = |offer: &Offer| context.path(offer.at).is_some_and(is_terraform);
    makers.all(is_terraform).then_some(Note::TerraformMakesNamespace { namespace: name })
}

fn is_terraform(path: &str) -> bool {
    matches!(path.rsplit('.').next(), Some("tf" | "tofu"))
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
    let component = context.component(first.of).object.clone();
    let statement = Absence::NoSealingKey { component, count: needs.len() };
    let advice = PlainAdvice::KeepSealingKey.into();
    Some(finding(context, first, Severity::Warning, statement, NeverCost::Unsealed, advice))
}

fn finding(
    context: &Context<'_>,
    need: &Need,
    severity: Severity,
    statement: Absence,
    cost: NeverCost,
    advice: Advice,
) -> Finding {
    let component = &context.component(need.of).object;
    let subject = Subject::from(need.capability.clone());
    let goal = Goal::Guaranteed { component: component.clone(), subject: subject.clone() };
    let primary = Location::new(need.at, Remark::NothingMakesIt);
    Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_subject(subject)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Terminal { certain: false })
        .with_cost(cost)
        .with_fix(Fix::by_hand(advice, goal))
}
