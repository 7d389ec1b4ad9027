//! ## What it finds
//!
//! A gate that looks as if it checks health, but does not: `healthCheckExprs` with neither `wait` nor `healthChecks`
//! (they are never evaluated); `wait: true` over objects whose status says nothing about health (a SealedSecret, a
//! Gateway); `healthChecks` beside `wait: true` that name objects of other Kustomizations (Flux ignores the list),
//! unless what it depends on waits for them; a HelmRelease of a chart that is one custom resource
//! (`rook-ceph-cluster`), which Helm does not wait for.
//!
//! And a gate over nothing but custom resources, such as an ExternalSecret or a Certificate: they have no status when
//! they have just been created, and that counts as healthy. The gate opens at the first check, milliseconds later,
//! before their controller has done anything. Most controllers are done before Flux checks a dependent again (every 30
//! s), so this is reported as info where a lost race costs ten minutes or stalls the release, and with `--pedantic`
//! elsewhere. A workload or a HelmRelease in the same Kustomization closes the gap: the next check is five seconds
//! later.
//!
//! ## Why it matters at a cold start
//!
//! The dependents rely on this check. At a cold start they start just as early as without it.
//!
//! ## Example
//!
//! ```yaml
//! spec:
//!   healthCheckExprs:          # a no-op: nothing is waited for
//!     - apiVersion: external-secrets.io/v1
//!       kind: ClusterSecretStore
//!       current: status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')
//! ```
//!
//! ## Fix
//!
//! Add `wait: true` beside the expressions. For objects without a status, or without one yet, add a `healthCheckExprs`
//! entry for the kind: the gate stays closed until a status satisfies it. For kinds that the
//! catalogue knows, the finding gives the expression. For the custom resource of a chart:
//!
//! ```yaml
//! spec:
//!   healthChecks:            # instead of `wait: true`, which ignores them
//!     - apiVersion: ceph.rook.io/v1
//!       kind: CephCluster
//!       name: rook-ceph
//!       namespace: rook-ceph
//!   healthCheckExprs:
//!     - apiVersion: ceph.rook.io/v1
//!       kind: CephCluster
//!       current: status.ceph.health in ['HEALTH_OK', 'HEALTH_WARN']
//! ```

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{
    Advice, Cost, Explains, Finding, Fix, GateAdvice, GateFault, Goal, Judging, Label, Location, OrderAdvice,
    PlainAdvice, Quiet, Remark, Rule, Severity, Symptom, Together,
};
use model::{Component, ComponentId, Gate, ObjectRef, Role, TieTarget, Verdict, WaitsFor};
use source::Span;

use crate::advice::{expression, order};
use crate::context::Context;
use crate::dependents::speak_for_all;
use crate::gates::{by_gate, tie_to, wait_or_less};
use crate::needs::is_asked;
use crate::pairs::{self, Pair};
use crate::remedy::{Opening, find_gates, find_ways};

pub(crate) static RULE: Rule = Rule::new(
    "falsely-ready-gate",
    "a gate that looks as if it checks health, but does not",
    include_str!("falsely_ready_gate.rs"),
)
.folding(Together::Nothing, Quiet::ClusterUnlessExplained)
.explains(&[
    Explains::new(Symptom::VariablesNotFound, 2),
    Explains::new(Symptom::UnknownKind, 3),
    Explains::new(Symptom::WebhookDown, 1),
    Explains::new(Symptom::ValuesNotFound, 4),
    Explains::new(Symptom::InstallFailed, 4),
]);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let gates = by_gate(
        context,
        pairs::gather(context, |judged| judged.verdict == Verdict::FalselyReady && !is_asked(context, judged)),
    );
    let advised = Advised::new(context, &gates);
    let mut findings: Vec<Finding> =
        gates.iter().map(|(gate, pairs)| relied_on(context, *gate, pairs, &advised)).collect();
    for id in context.cluster.ids().filter(|id| !context.is_asleep(*id) && !gates.contains_key(id)) {
        findings.extend(no_op(context, id));
        findings.extend(ignored(context, id));
    }
    findings
}

/// What to advise for the gates of which that must be tried on the graph, found for all of them at once.
struct Advised<'a> {
    /// Pairs whose own components may be tied instead, with the way to do it.
    ways: BTreeMap<ComponentId, Pair<'a>>,
    openings: BTreeMap<ComponentId, Opening>,
}

impl<'a> Advised<'a> {
    fn new(context: &Context<'a>, gates: &BTreeMap<ComponentId, Vec<Pair<'a>>>) -> Self {
        let (mut tied, mut opened) = (Vec::new(), Vec::new());
        for (gate, pairs) in gates {
            match Flaw::of(context, &pairs[0], context.component(*gate)) {
                // The object's own component may be waited for, unless the list is of what is applied right here.
                Flaw::Ignored(_) if *gate != pairs[0].provider => tied.push((*gate, pairs[0].clone())),
                Flaw::NeverEvaluated => opened.push((*gate, pairs.first())),
                _ => {}
            }
        }
        let openings = opened.iter().map(|(gate, _)| *gate).zip(find_gates(context, &opened)).collect();
        let (gates, mut pairs): (Vec<ComponentId>, Vec<Pair<'a>>) = tied.into_iter().unzip();
        find_ways(context, &mut pairs);
        Self { ways: gates.into_iter().zip(pairs).collect(), openings }
    }
}

fn relied_on(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>], advised: &Advised<'_>) -> Finding {
    let worst = &pairs[0];
    let gated = context.component(gate);
    let flaw = Flaw::of(context, worst, gated);
    let statement = GateFault::ReliesOnHealth {
        component: context.component(worst.consumer).object.clone(),
        count: pairs.len(),
        gate: gated.object.clone(),
        is_early: worst.judged[0].early,
        needed: worst.needed(context),
    };
    let primary = flaw.place(gated, tie_to(context, worst.consumer, gate));
    let mut finding = worst
        .finding(context, &RULE, statement, primary)
        .with_provider(&gated.object)
        .with_fix(flaw.fix(context, worst, gate, advised));
    if matches!(gated.gate, Gate::LooksHealthy(_)) {
        // Worth a line even where its dependents only make noise: without any, it gets one as well.
        finding.severity = finding.severity.max(Severity::Info);
    }
    speak_for_all(context, &mut finding, pairs);
    finding
}

/// What is wrong with a gate.
enum Flaw<'a> {
    /// `healthChecks` that `wait: true` switches off name the very object.
    Ignored(Span),
    /// Expressions alone are never evaluated.
    NeverEvaluated,
    /// The resource of a chart, which its release's being ready says nothing of.
    Beyond(&'a ObjectRef),
    /// An object of this kind has no status at first, and counts as healthy.
    Early(&'a str),
    /// An object whose status tells nothing.
    Blind,
}

impl<'a> Flaw<'a> {
    fn of(context: &Context<'a>, pair: &Pair<'_>, gated: &Component) -> Self {
        let Some(offer) = pair.judged[0].offer.map(|offer| &context.cluster.offers[offer]) else { return Self::Blind };
        let ignored = gated.ignored_checks.iter().find(|(object, _)| *object == offer.object);
        if let Some((_, at)) = ignored {
            return Self::Ignored(*at);
        }
        let is_beyond = context.component(offer.by).resource.as_ref() == Some(&offer.object);
        match gated.gate {
            Gate::LooksHealthy(_) => Self::NeverEvaluated,
            _ if is_beyond => Self::Beyond(&offer.object),
            _ if pair.judged[0].early => Self::Early(&offer.object.kind),
            _ => Self::Blind,
        }
    }

    fn place(&self, gated: &Component, tie: Option<Span>) -> Location {
        match self {
            Self::Ignored(at) => Location::new(*at, Remark::IgnoredByWait),
            Self::NeverEvaluated => Location::new(gated.gate_at, Remark::NeverEvaluated),
            Self::Beyond(resource) => {
                // A tie to the release passes by whatever its Kustomization waits for.
                let at = tie.filter(|_| gated.role == Role::HelmRelease).unwrap_or(gated.gate_at);
                Location::new(at, Label::IsReadyWhenStored { kind: resource.kind.clone() })
            }
            Self::Early(kind) => Location::new(gated.gate_at, Label::OpensAtFirstLook { kind: (*kind).into() }),
            Self::Blind => Location::new(gated.gate_at, Remark::StatusTellsNothing),
        }
    }

    fn fix(&self, context: &Context<'_>, pair: &Pair<'_>, gate: ComponentId, advised: &Advised<'_>) -> Fix {
        if let Some(pair) = advised.ways.get(&gate) {
            return order(context, pair, OrderAdvice::Add);
        }
        let gated = context.component(gate);
        let advice = advised.openings.get(&gate).map(|opening| wait_or_less(context, gated, opening).into());
        pair.fix(context, advice.unwrap_or_else(|| self.advice(context, pair, gated)))
    }

    fn advice(&self, context: &Context<'_>, pair: &Pair<'_>, gated: &Component) -> Advice {
        let gate = gated.object.clone();
        let offer = pair.judged[0].offer.map(|offer| &context.cluster.offers[offer].object);
        let known = || offer.and_then(|object| expression(context, object));
        match self {
            Self::Ignored(_) => GateAdvice::TakeWaitOff { gate }.into(),
            Self::NeverEvaluated => GateAdvice::SetWait { gate, patch: None }.into(),
            Self::Beyond(resource) => {
                let applier = context.component(context.applier(pair.provider));
                let waits = waits_for(applier, resource);
                let (applier, resource, by) = (applier.object.clone(), (*resource).clone(), known());
                match gated.role {
                    Role::HelmRelease => OrderAdvice::DependInstead { applier, resource, waits, by }.into(),
                    _ => GateAdvice::HaveWait { applier, resource, by }.into(),
                }
            }
            Self::Early(kind) => {
                GateAdvice::AddExpressions { judging: Judging { kind: (*kind).into(), by: known() }, gate }.into()
            }
            Self::Blind => match (known(), offer) {
                (Some(by), Some(object)) if gated.role == Role::Kustomization => {
                    let judging = Judging { kind: object.kind.clone(), by: Some(by) };
                    GateAdvice::AddExpressions { judging, gate }.into()
                }
                _ => PlainAdvice::WaitForWhatUsesIt.into(),
            },
        }
    }
}

/// Whether a gate names an object, and judges it by its status.
fn waits_for(gated: &Component, object: &ObjectRef) -> bool {
    matches!(&gated.gate, Gate::Listed(objects) if objects.contains(object)) && gated.expressions.contains(&object.kind)
}

/// Expressions that are never evaluated. Worth a warning only when something waits for them.
fn no_op(context: &Context<'_>, id: ComponentId) -> Option<Finding> {
    let component = context.component(id);
    let Gate::LooksHealthy(at) = component.gate else { return None };
    let object = &component.object;
    let statement = GateFault::GatesNothing { component: object.clone() };
    let primary = Location::new(at, Remark::NeverEvaluated);
    let advice = GateAdvice::SetWait { gate: object.clone(), patch: None };
    let finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, object, statement, primary)
        .with_verdict(Verdict::FalselyReady)
        .with_cost(Cost::DependentsStartEarly { count: context.dependents(id).len() })
        .with_fix(Fix::by_hand(advice, Goal::Waits { component: object.clone() }));
    Some(finding)
}

/// Whether something that a component waits for has proved an object healthy by then.
fn is_proved(context: &Context<'_>, id: ComponentId, object: &ObjectRef) -> bool {
    let Some(other) = context.index().find(object) else { return false };
    let proves = |gate: ComponentId| match &context.component(gate).gate {
        _ if gate == other => true,
        Gate::Healthy => context.cluster.part_of(other) == Some(gate),
        Gate::Listed(objects) => objects.contains(object),
        _ => false,
    };
    let mut seen = BTreeSet::from([id]);
    let mut work = vec![id];
    while let Some(at) = work.pop() {
        let ties = context.own_ties(at).iter().filter(|tie| tie.waits_for == WaitsFor::Done);
        let targets = ties.filter_map(|tie| match tie.to {
            TieTarget::Component(to) => Some(to),
            TieTarget::Unknown(_) => None,
        });
        for to in targets.filter(|to| seen.insert(*to)) {
            if proves(to) {
                return true;
            }
            work.push(to);
        }
    }
    false
}

/// `healthChecks` on objects that it does not apply itself, switched off by `wait: true`.
fn ignored(context: &Context<'_>, id: ComponentId) -> Option<Finding> {
    let component = context.component(id);
    let applied = |object: &ObjectRef| {
        let is_child = context.index().find(object).is_some_and(|child| context.component(child).parent == Some(id));
        is_child || context.index().offers(id).iter().any(|offer| offer.object == *object)
    };
    let outside =
        |object: &ObjectRef| context.index().find(object).is_some_and(|other| other != id) && !applied(object);
    let (object, at) =
        component.ignored_checks.iter().find(|(object, _)| outside(object) && !is_proved(context, id, object))?;
    let own = &component.object;
    let statement = GateFault::IgnoresCheck { component: own.clone(), object: object.clone() };
    let primary = Location::new(*at, Remark::Ignored);
    let goal = Goal::Ordered { component: own.clone(), after: object.clone() };
    let finding = Finding::new(&RULE, Severity::Info, &context.cluster.name, own, statement, primary)
        .with_provider(object)
        .with_verdict(Verdict::FalselyReady)
        .with_cost(Cost::DependentsStartBeforeThat)
        .with_fix(Fix::by_hand(OrderAdvice::DependOnApplierOf { object: object.clone() }, goal));
    Some(finding)
}
