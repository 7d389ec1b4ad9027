//! Whether the commands say the same of one cluster: `check` judges it, `simulate` boots it, `plan` orders it.
//!
//! Each of them comes to its conclusion by itself. Knows what must hold between them, and nothing of how they do it.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Finding, Severity};
use graph::{Analysis, Strength, Wait};
use model::{Capability, Cluster, ComponentId, Gate, ObjectRef, Obstacle, Phase, Role, Verdict};
use read::Reading;
use rehearse::{Boots, Explained};
use run::{Plan, PlanError, Proof, StepId};
use simulate::{Conditions, Counted, Faults, Id, Reason, Study};

/// What the commands say of one cluster.
#[derive(Clone, Debug)]
pub struct Agreement {
    pub cluster: String,
    pub errors: usize,
    /// At warning or above.
    pub warnings: usize,
    pub deadlocks: usize,
    pub boots: u64,
    pub converged: u64,
    /// What the plan takes by estimate, in seconds; nothing where there is none.
    pub estimated_seconds: Option<u64>,
    pub disagreements: Vec<Disagreement>,
}

/// Two commands that contradict each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// `check` has nothing at warning or above, and no boot converges.
    NeverBoots,
    /// `check` has a deadlock, and boots converge.
    BootsAllTheSame,
    /// `check` has a deadlock, and there is a plan.
    PlannedAllTheSame,
    /// `check` has no error, and `plan` refuses.
    NotPlanned,
    /// A component waits for another, and the plan does not have that.
    NotInThePlan { of: ObjectRef, by: ObjectRef, need: Capability, phase: Phase },
    /// And has it the other way round.
    Backwards { of: ObjectRef, by: ObjectRef, need: Capability, phase: Phase },
    /// Boots die of something that no finding at warning or above speaks of, and that is not behind a death that one speaks of.
    Untold {
        component: Option<ObjectRef>,
        of: Option<Obstacle>,
        /// What it comes down to.
        fact: Option<Obstacle>,
        /// At which severity it is told.
        told: Option<Severity>,
        boots: u64,
    },
}

/// All clusters of a repository.
pub fn agreements(reading: &Reading, boots: u64) -> Result<Vec<Agreement>, String> {
    let findings = check::run(reading, None).each().findings;
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(|error| error.to_string())?;
    let mut all = Vec::new();
    for cluster in &reading.clusters {
        let mine: Vec<Finding> = findings.iter().filter(|it| it.cluster == cluster.name).cloned().collect();
        let Some(rendered) = rendered.iter().find(|it| it.name == cluster.name) else { continue };
        let blueprint = simulate::compile(std::slice::from_ref(rendered), &catalogue, &Conditions::default());
        let study = simulate::study(&blueprint, 1, boots, &Faults::default());
        let analysis = graph::analyse(cluster);
        let plan = run::plan(&reading.repository, cluster, &analysis, &reading.settings.up);
        let untold = untold(&Boots::new(&blueprint, &mine), &study);
        let warnings = mine.iter().filter(|finding| finding.severity >= Severity::Warning).count();
        let errors = mine.iter().filter(|finding| finding.severity == Severity::Error).count();
        let mut disagreements = verdicts(errors, warnings, &analysis, study.converged, &plan);
        if let Ok(plan) = &plan {
            disagreements.extend(order(cluster, &analysis, plan));
        }
        disagreements.extend(untold);
        if mine.iter().any(is_doubted) {
            disagreements.retain(|it| !rests_on_deadlocks(it));
        }
        let done = plan.as_ref().ok().and_then(|plan| plan.expected(|_| false).into_iter().max());
        all.push(Agreement {
            cluster: cluster.name.clone(),
            errors,
            warnings,
            deadlocks: analysis.deadlocks.len(),
            boots: study.boots,
            converged: study.converged,
            estimated_seconds: done.map(|done| done.as_secs()),
            disagreements,
        });
    }
    Ok(all)
}

/// A deadlock unless something that was not read opens it: `check` says so at info, and neither the simulated world nor a plan can know.
fn is_doubted(finding: &Finding) -> bool {
    finding.verdict == Some(Verdict::Deadlocked) && finding.severity <= Severity::Info
}

fn rests_on_deadlocks(it: &Disagreement) -> bool {
    matches!(
        it,
        Disagreement::NeverBoots
            | Disagreement::NotPlanned
            | Disagreement::Backwards { .. }
            | Disagreement::Untold { .. }
    )
}

fn verdicts(
    errors: usize,
    warnings: usize,
    analysis: &Analysis,
    converged: u64,
    plan: &Result<Plan, PlanError>,
) -> Vec<Disagreement> {
    // Beside a bootstrap that was not read, a deadlock is no error.
    let is_locked = !analysis.deadlocks.is_empty() && errors > 0;
    let is_refused = matches!(plan, Err(PlanError::Circle(_) | PlanError::RootNotBuilt(_)));
    let cases = [
        (warnings == 0 && converged == 0, Disagreement::NeverBoots),
        (is_locked && converged > 0, Disagreement::BootsAllTheSame),
        (is_locked && !is_refused, Disagreement::PlannedAllTheSame),
        (errors == 0 && is_refused, Disagreement::NotPlanned),
    ];
    cases.into_iter().filter(|(holds, _)| *holds).map(|(_, it)| it).collect()
}

/// Deaths without a finding at warning or above. One that only follows from another is told with that.
fn untold(boots: &Boots<'_>, study: &Study) -> Vec<Disagreement> {
    let all: Vec<_> = study.causes.iter().map(|cause| (cause, boots.cause(cause))).collect();
    let severity = |explained: &Explained| explained.finding.as_ref().map(|finding| finding.severity);
    let (told, untold): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|(_, explained)| severity(explained) >= Some(Severity::Warning));
    let of_told: BTreeSet<Id> =
        told.iter().flat_map(|(cause, _)| std::iter::once(cause.id).chain(cause.circle.iter().copied())).collect();
    let behind: Vec<(Id, BTreeSet<Id>)> = untold.iter().map(|(cause, _)| (cause.id, boots.behind(cause))).collect();
    let waits_for = |of: &Counted, by: Id| behind.iter().any(|(id, all)| *id == of.id && all.contains(&by));
    let follows = |of: &Counted| {
        let others = untold.iter().map(|(cause, _)| *cause).filter(|cause| cause.id != of.id);
        let mut before = others.filter(|cause| waits_for(of, cause.id) && !waits_for(cause, of.id));
        before.next().is_some()
    };
    let is_root = |cause: &Counted| boots.behind(cause).is_disjoint(&of_told) && !follows(cause);
    let is_told_behind = |cause: &Counted| boots.links(cause).iter().any(|it| it.severity >= Severity::Warning);
    let counts = |cause: &Counted| is_root(cause) && !is_told_behind(cause) && !is_chance(cause, study.boots);
    let roots: Vec<_> = untold.iter().filter(|(cause, _)| counts(cause)).collect();
    let named = |reason: Reason| reason.named(boots.blueprint);
    roots
        .into_iter()
        .map(|(cause, explained)| Disagreement::Untold {
            of: named(cause.reason),
            fact: explained.fact.and_then(named),
            told: severity(explained),
            component: explained.component.clone(),
            boots: cause.boots,
        })
        .collect()
}

/// Pods that were only slow, in fewer than half of the boots: nothing was missing, and no order would have helped.
fn is_chance(cause: &Counted, boots: u64) -> bool {
    let was_slow = matches!(cause.chain.last(), Some(Reason::Starts(..) | Reason::UnderWay(_) | Reason::Crashes(_)));
    was_slow && cause.boots * 2 < boots
}

/// What each component waits for and can't do without, against the plan.
fn order(cluster: &Cluster, analysis: &Analysis, plan: &Plan) -> Vec<Disagreement> {
    let steps = steps(plan);
    let step = |id: ComponentId| {
        let object = &cluster.component(id).object;
        steps.get(&(object.kind.to_string(), object.namespace.to_string(), object.name.to_string())).copied()
    };
    let mut known = BTreeSet::new();
    let mut found = Vec::new();
    for wait in analysis.schedule.waits.iter().filter(|wait| is_hard(cluster, wait)) {
        let (Some(of), Some(by)) = (step(wait.of), step(wait.by)) else { continue };
        // Each needs the other: what is there when that is applied is there in time.
        let is_in_time = || wait.ends_under_way(cluster) && needs(plan, by, of);
        if !known.insert((of, by)) || needs(plan, of, by) || is_in_time() {
            continue;
        }
        let named = |id: ComponentId| cluster.component(id).object.clone();
        let (of_object, by_object) = (named(wait.of), named(wait.by));
        let (need, phase) = (cluster.needs[wait.need].capability.clone(), cluster.needs[wait.need].phase);
        found.push(if needs(plan, by, of) {
            Disagreement::Backwards { of: of_object, by: by_object, need, phase }
        } else {
            Disagreement::NotInThePlan { of: of_object, by: by_object, need, phase }
        });
    }
    found
}

/// Whether a component is not done without what it waits for. One that only applies is done before its objects are healthy.
fn is_hard(cluster: &Cluster, wait: &Wait) -> bool {
    let component = cluster.component(wait.of);
    let only_applies = component.role != Role::HelmRelease && component.gate == Gate::Applied;
    wait.strength == Strength::Hard && !(only_applies && cluster.needs[wait.need].phase == Phase::Ready)
}

/// The steps that watch an object, by that.
fn steps(plan: &Plan) -> BTreeMap<(String, String, String), StepId> {
    let watched = plan.ids().filter_map(|id| match &plan.step(id).proof {
        Proof::Ready { kind, namespace, name } => Some(((kind.clone(), namespace.clone(), name.clone()), id)),
        _ => None,
    });
    watched.collect()
}

/// Whether a step needs another, however indirectly.
fn needs(plan: &Plan, of: StepId, wanted: StepId) -> bool {
    let mut seen = BTreeSet::new();
    let mut next = vec![of];
    while let Some(id) = next.pop() {
        if id == wanted {
            return true;
        }
        // Steps stand after all that they need.
        let before = plan.step(id).needs.iter().map(|need| need.step).filter(|need| *need >= wanted);
        next.extend(before.filter(|need| seen.insert(*need)));
    }
    false
}
