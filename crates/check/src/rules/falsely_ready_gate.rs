//! ## What it finds
//!
//! A gate that looks as if it proved health, and does not:
//! `healthCheckExprs` with neither `wait` nor `healthChecks` (they are never evaluated); `wait: true` over objects whose
//! status tells nothing (a SealedSecret, a Gateway); `healthChecks` beside `wait: true` that name objects of others (the
//! list is ignored), unless what it depends on waits for them; a HelmRelease of a chart that is one custom resource (`rook-ceph-cluster`), which Helm does not wait
//! for.
//!
//! And a gate over nothing but custom resources, such as an ExternalSecret or a Certificate: they have no status when they
//! have just been made, which counts as healthy. The gate opens at its first look, milliseconds later, before their
//! controller has said a word. Most controllers are done before a dependent looks again (every 30 s), so this is told at
//! info where losing costs ten minutes or a stall, and with `--pedantic` elsewhere. A workload or a HelmRelease in the same
//! Kustomization closes it: the next look is five seconds later.
//!
//! ## Why it matters at a cold start
//!
//! Somebody has thought about health here, and the dependents rely on it. At a cold start they start just as early as if
//! nobody had.
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
//! entry for the kind: until there is a status that fulfils it, the gate stays closed. For the custom resource of a chart:
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

use std::collections::BTreeSet;

use graph::Verdict;
use model::{Component, ComponentId, Gate, ObjectRef, Role, TieTarget, WaitsFor};
use yaml::Span;

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::capability_gated::is_asked;
use crate::rules::missing_dependency::add_tie;
use crate::rules::ungated_dependency::{by_gate, speak_for_all, tie_to};
use crate::words::{agree, and_more, quoted};

const RULE: &str = "falsely-ready-gate";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let gates = by_gate(
        context,
        pairs::gather(context, |judged| judged.verdict == Verdict::FalselyReady && !is_asked(context, judged)),
    );
    let mut findings: Vec<Finding> = gates.iter().map(|(gate, pairs)| relied_on(context, *gate, pairs)).collect();
    for id in context.cluster.ids().filter(|id| !context.is_asleep(*id) && !gates.contains_key(id)) {
        findings.extend(no_op(context, id));
        findings.extend(ignored(context, id));
    }
    findings
}

fn relied_on(context: &Context<'_>, gate: ComponentId, pairs: &[Pair<'_>]) -> Finding {
    let worst = &pairs[0];
    let gated = context.component(gate);
    let mut finding = worst.finding(context, RULE);
    finding.provider = Some(gated.object.clone());
    finding.message = format!(
        "{}{} {} on the health of {}, which {} {}",
        quoted(context.component(worst.consumer)),
        and_more(1, pairs.len()),
        agree(pairs.len(), "relies", "rely"),
        quoted(gated),
        if worst.judged[0].early { "may pass before there is" } else { "proves nothing about" },
        worst.capabilities(context),
    );
    let flaw = Flaw::of(context, worst, gated);
    let tie = tie_to(context, worst.consumer, gate);
    let (span, label) = flaw.place(gated, tie);
    finding.locations.insert(0, Location { span, role: LocationRole::Primary, label });
    finding.fix = Some(flaw.fix(context, worst, gated));
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

    fn place(&self, gated: &Component, tie: Option<Span>) -> (Span, String) {
        match self {
            Self::Ignored(at) => (*at, "ignored: `wait: true` switches `healthChecks` off".to_owned()),
            Self::NeverEvaluated => {
                (gated.gate_at, "never evaluated: neither `wait` nor `healthChecks` is set".to_owned())
            }
            Self::Beyond(resource) => (
                // A tie to the release passes by whatever its Kustomization waits for.
                tie.filter(|_| gated.role == Role::HelmRelease).unwrap_or(gated.gate_at),
                format!("the release is ready as soon as its {} is stored: Helm does not wait for it", resource.kind),
            ),
            Self::Early(kind) => {
                (gated.gate_at, format!("opens at its first look: an {kind} without a status counts as healthy"))
            }
            Self::Blind => (gated.gate_at, "waits for objects whose status tells nothing".to_owned()),
        }
    }

    fn fix(&self, context: &Context<'_>, pair: &Pair<'_>, gated: &Component) -> String {
        match self {
            // The object's own component may be waited for, unless the list is of what is applied right here.
            Self::Ignored(_) if gated.object != context.component(pair.provider).object => add_tie(context, pair),
            Self::Ignored(_) => {
                format!(
                    "take `wait: true` off {}, so that its `healthChecks` count; list its release there too",
                    gated.object
                )
            }
            Self::NeverEvaluated => format!("set `wait: true` on {}", gated.object),
            Self::Beyond(resource) => {
                let applier = context.component(context.applier(pair.provider));
                let waits = waits_for(applier, resource);
                let how = "`healthChecks` without `wait: true`, and `healthCheckExprs` for the kind";
                match gated.role {
                    Role::HelmRelease if waits => {
                        format!("depend on {} instead, which waits for {resource}", applier.object)
                    }
                    Role::HelmRelease => {
                        format!("depend on {} instead, and have it wait for {resource}: {how}", applier.object)
                    }
                    _ => format!("have {} wait for {resource}: {how}", applier.object),
                }
            }
            Self::Early(kind) => format!("add `healthCheckExprs` for {kind} to {}", gated.object),
            Self::Blind => {
                "wait for what uses it: `healthChecks` on the workload, or `healthCheckExprs` for the kind".to_owned()
            }
        }
    }
}

/// Whether a gate names an object, and judges it by its status.
fn waits_for(gated: &Component, object: &ObjectRef) -> bool {
    matches!(&gated.gate, Gate::Listed(objects) if objects.contains(object)) && gated.expressions.contains(&object.kind)
}

/// Expressions that are never evaluated. Worth a warning only when somebody waits for them.
fn no_op(context: &Context<'_>, id: ComponentId) -> Option<Finding> {
    let component = context.component(id);
    let Gate::LooksHealthy(at) = component.gate else { return None };
    let dependents = context.dependents(id).len();
    let label = "never evaluated: neither `wait` nor `healthChecks` is set".to_owned();
    Some(Finding {
        rule: RULE,
        severity: Severity::Info,
        message: format!("{} has `healthCheckExprs` that gate nothing", quoted(component)),
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: None,
        capability: None,
        verdict: Some(Verdict::FalselyReady),
        consequence: None,
        cost: match dependents {
            0 => "nobody waits for it now; whoever does will start before it is healthy".to_owned(),
            1 => "its dependent starts before it is healthy".to_owned(),
            many => format!("its {many} dependents start before it is healthy"),
        },
        locations: vec![Location { span: at, role: LocationRole::Primary, label }],
        fix: Some(format!("set `wait: true` on {}", component.object)),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    })
}

/// Whether something that a component waits for has proved an object healthy by then.
fn is_proved(context: &Context<'_>, id: ComponentId, object: &ObjectRef) -> bool {
    let Some(other) = context.cluster.find(object) else { return false };
    let proves = |gate: ComponentId| match &context.component(gate).gate {
        _ if gate == other => true,
        Gate::Healthy => context.component(other).parent == Some(gate),
        Gate::Listed(objects) => objects.contains(object),
        _ => false,
    };
    let mut seen = BTreeSet::from([id]);
    let mut work = vec![id];
    while let Some(at) = work.pop() {
        let ties = context.cluster.ties.iter().filter(|tie| tie.from == at && tie.waits_for == WaitsFor::Done);
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
    let applied = |object: &model::ObjectRef| {
        let is_child = context.cluster.find(object).is_some_and(|child| context.component(child).parent == Some(id));
        is_child || context.cluster.offers.iter().any(|offer| offer.by == id && offer.object == *object)
    };
    let outside =
        |object: &model::ObjectRef| context.cluster.find(object).is_some_and(|other| other != id) && !applied(object);
    let (object, at) =
        component.ignored_checks.iter().find(|(object, _)| outside(object) && !is_proved(context, id, object))?;
    Some(Finding {
        rule: RULE,
        severity: Severity::Info,
        message: format!("{} does not wait for {object}: `wait: true` switches `healthChecks` off", quoted(component)),
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: Some(object.clone()),
        capability: None,
        verdict: Some(Verdict::FalselyReady),
        consequence: None,
        cost: "its dependents start before that object is healthy".to_owned(),
        locations: vec![Location { span: *at, role: LocationRole::Primary, label: "ignored".to_owned() }],
        fix: Some(format!("add a `dependsOn` on what applies {object}")),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    })
}
