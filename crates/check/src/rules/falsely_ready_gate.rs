//! ## What it finds
//!
//! A gate that looks as if it proved health, and does not:
//! `healthCheckExprs` with neither `wait` nor `healthChecks` (they are never evaluated); `wait: true` over objects whose
//! status tells nothing (a SealedSecret, a Gateway); `healthChecks` beside `wait: true` that name objects of others (the
//! list is ignored).
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
//! Add `wait: true` beside the expressions. For objects without a status, wait for what they become: `healthChecks` on
//! the workload that uses the Secret, or a `healthCheckExprs` entry for the kind.

use graph::Verdict;
use model::{ComponentId, Gate};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::pairs::{self, Pair};
use crate::rules::capability_gated::is_asked;
use crate::rules::missing_dependency::add_tie;
use crate::rules::ungated_dependency::{also, by_gate, dependents};
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
        "{}{} {} on the health of {}, which proves nothing about {}",
        quoted(context.component(worst.consumer)),
        and_more(1, pairs.len()),
        agree(pairs.len(), "relies", "rely"),
        quoted(gated),
        worst.capabilities(context),
    );
    let offered = worst.judged[0].offer.map(|offer| &context.cluster.offers[offer].object);
    let ignored = gated.ignored_checks.iter().find(|(object, _)| Some(object) == offered);
    let (span, label) = match (&gated.gate, ignored) {
        (_, Some((_, at))) => (*at, "ignored: `wait: true` switches `healthChecks` off".to_owned()),
        (Gate::LooksHealthy(_), None) => {
            (gated.gate_at, "never evaluated: neither `wait` nor `healthChecks` is set".to_owned())
        }
        _ => (gated.gate_at, "waits for objects whose status tells nothing".to_owned()),
    };
    finding.locations.insert(0, Location { span, role: LocationRole::Primary, label });
    finding.fix = Some(match ignored {
        Some(_) => add_tie(context, worst),
        None => fix(&gated.gate, gated),
    });
    if matches!(gated.gate, Gate::LooksHealthy(_)) {
        // Worth a line even where its dependents only make noise: without any, it gets one as well.
        finding.severity = finding.severity.max(Severity::Info);
    }
    finding.notes = dependents(context, pairs);
    finding.also = also(context, pairs);
    for also in &mut finding.also {
        also.provider = Some(gated.object.clone());
    }
    finding
}

fn fix(gate: &Gate, gated: &model::Component) -> String {
    match gate {
        Gate::LooksHealthy(_) => format!("set `wait: true` on {}", gated.object),
        _ => "wait for what uses it: `healthChecks` on the workload, or `healthCheckExprs` for the kind".to_owned(),
    }
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
        cost: format!("its {dependents} dependents start before it is healthy"),
        locations: vec![Location { span: at, role: LocationRole::Primary, label }],
        fix: Some(fix(&component.gate, component)),
        notes: Vec::new(),
        also: Vec::new(),
    })
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
    let (object, at) = component.ignored_checks.iter().find(|(object, _)| outside(object))?;
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
    })
}
