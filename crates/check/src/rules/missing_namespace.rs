//! ## What it finds
//!
//! A Namespace that a Kustomization or ResourceSet puts objects into and that nothing creates: no manifest that is applied,
//! no release with `createNamespace`, no command of the bootstrap, no Terraform.
//!
//! Something outside of Flux may create it. So this is an info where a script or a text for people says its name, a manifest of
//! it is here that nothing applies, a chart that was not read has its name, or a part of the cluster was not seen; and where no file says
//! from which repository the cluster starts.
//!
//! ## Why it matters at a cold start
//!
//! It was once created by hand. On the new cluster it does not exist, the API server refuses everything that names it, and
//! Flux applies nothing of that stage.
//!
//! ## Example
//!
//! ```yaml
//! # apps/shop/kustomization.yaml
//! namespace: shop
//! resources:
//!   - deployment.yaml   # and no Namespace
//! ```
//!
//! ## Fix
//!
//! Add the Namespace to the Kustomization: Flux creates Namespaces before everything else that it applies with them.

use std::collections::BTreeSet;

use diagnostic::{
    Absence, Advice, Explains, Finding, Fix, Goal, Location, NeverCost, Note, Quiet, Remark, Rule, Severity, Subject,
    Symptom, Together,
};
use model::{BlindSpot, CapabilityKind, Consequence, Need, Phase, Unseen, Verdict, WhyUnseen};

use crate::context::Context;

pub(crate) static RULE: Rule =
    Rule::new("missing-namespace", "a Namespace that nothing creates", include_str!("missing_namespace.rs"))
        .folding(Together::Subject, Quiet::Alone)
        .explains(&[Explains::new(Symptom::NamespaceNotFound, 4)])
        .may_be_brought();

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let mut told = BTreeSet::new();
    let early = installed_into(context);
    let unoffered = context.judged().filter(|judged| judged.verdict == Verdict::Unoffered);
    // One that is switched off would bring it: that is told by itself.
    let unoffered = unoffered.filter(|judged| context.analysis.links.offers_for(judged.need).is_empty());
    let needs = unoffered.map(|judged| context.need(judged)).filter(|need| is_meant(context, need));
    needs
        .filter(|need| !early.contains(need.capability.name.as_str()))
        .filter(|need| told.insert((need.of, &need.capability.name)))
        .filter(|need| !context.is_below_broken(need.of))
        .map(|need| finding(context, need))
        .collect()
}

/// The namespaces that a bootstrap installs something into. Helmfile creates them, and scripts do.
fn installed_into<'a>(context: &Context<'a>) -> BTreeSet<&'a str> {
    let components = context.cluster.components.iter().filter(|component| component.role.is_bootstrap());
    let namespaces = components.flat_map(|it| it.target_namespace.iter().chain([&it.object.namespace]));
    namespaces.map(ecow::EcoString::as_str).collect()
}

/// Where Flux is usually installed: its installation creates it, also where this Flux lives elsewhere.
const FLUX_NAMESPACE: &str = "flux-system";

fn is_meant(context: &Context<'_>, need: &Need) -> bool {
    need.capability.kind == CapabilityKind::Namespace
        && need.phase == Phase::Apply
        && !context.component(need.of).behaviour.is_release()
        && !context.component(need.of).role.is_bootstrap()
        && lives_in_a_namespace(&need.object.kind)
        && !need.capability.name.contains(['$', '{', '*'])
        && need.capability.name != FLUX_NAMESPACE
}

/// Whether a kind is known to be in a namespace. kustomize gives one to every custom resource, and Kubernetes ignores it where
/// the kind has none.
fn lives_in_a_namespace(kind: &str) -> bool {
    const KINDS: [&str; 27] = [
        "Certificate",
        "ConfigMap",
        "CronJob",
        "DaemonSet",
        "Deployment",
        "ExternalSecret",
        "GitRepository",
        "HTTPRoute",
        "HelmRelease",
        "HelmRepository",
        "HorizontalPodAutoscaler",
        "Ingress",
        "Job",
        "Kustomization",
        "NetworkPolicy",
        "OCIRepository",
        "PersistentVolumeClaim",
        "Pod",
        "PodDisruptionBudget",
        "Role",
        "RoleBinding",
        "SealedSecret",
        "Secret",
        "Service",
        "ServiceAccount",
        "ServiceMonitor",
        "StatefulSet",
    ];
    KINDS.binary_search(&kind).is_ok()
}

fn finding(context: &Context<'_>, need: &Need) -> Finding {
    let component = &context.component(need.of).object;
    let needed = need.capability.clone();
    let subject = Subject::from(needed.clone());
    let doubt = doubt(context, need);
    let starts_here = context.cluster.facts.own_address.is_some();
    let severity = if doubt.is_none() && starts_here { Severity::Warning } else { Severity::Info };
    let statement =
        Absence::NotMade { component: component.clone(), needed: needed.clone(), purpose: need.why.clone() };
    let advice = Advice::BringNamespace { component: component.clone(), namespace: needed.name.clone() };
    let goal = Goal::Guaranteed { component: component.clone(), subject: subject.clone() };
    let primary = Location::new(need.at, Remark::NothingMakesIt);
    let mut finding = Finding::new(&RULE, severity, &context.cluster.name, component, statement, primary)
        .with_subject(subject)
        .with_verdict(Verdict::Unoffered)
        .with_consequence(Consequence::Terminal { certain: false })
        .with_cost(NeverCost::AppliedWithoutNamespace)
        .with_fix(Fix::by_hand(advice, goal));
    finding.notes.extend(doubt);
    finding
}

/// What may have it there all the same.
fn doubt(context: &Context<'_>, need: &Need) -> Option<Note> {
    if let Some(maker) = context.comment_beside(need.at) {
        return Some(Note::CommentNames { maker });
    }
    if let Some(file) = context.creation_in_text(&need.capability) {
        return Some(Note::UnlessMadeBy { file });
    }
    if let Some(unapplied) = context.cluster.unapplied.iter().find(|it| it.needed == need.capability) {
        return Some(Note::NotApplied { file: unapplied.file.clone() });
    }
    if let Some(directory) = context.handed_over(need.at) {
        return Some(Note::UnlessHandedOver { directory });
    }
    let name = need.capability.name.as_str();
    let may_bring = |blind: &BlindSpot| {
        let is_of_chart = matches!(blind.why, WhyUnseen::UnknownChart | WhyUnseen::NotRendered(_));
        let is_named = || blind.what.names().any(|said| said.contains(name) || name.contains(said));
        match &blind.what {
            Unseen::Release { .. } if is_of_chart => is_named(),
            _ => blind.may_define_objects() || blind.why.may_hold_components() || is_named(),
        }
    };
    let is_unseen = context.cluster.blind.iter().any(may_bring) || !context.cluster.broken.is_empty();
    (is_unseen || context.is_told(name)).then_some(Note::UnlessMadeOutside { needed: need.capability.clone() })
}

#[cfg(test)]
mod tests {
    use super::lives_in_a_namespace;

    #[test]
    fn kinds_are_found() {
        assert!(lives_in_a_namespace("Certificate") && lives_in_a_namespace("StatefulSet"));
        assert!(!lives_in_a_namespace("ClusterIssuer"));
    }
}
