//! The judge judged: runs that are tampered with are seen through, each for what was done to it.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use coldstart_trial::{Case, Prepared, Ran, boot, cluster, prepare};
use run::{Event, Line, Outcome, Plan, Step, TryFailure, World as _};
use simulate::Fault;

fn sound() -> Prepared {
    let prepared = prepare(cluster(2), false).unwrap();
    assert!(prepared.cluster.defect.is_none() && prepared.settings.outside.is_empty());
    prepared
}

fn plan(prepared: &Prepared) -> &Plan {
    prepared.plan.as_ref().unwrap()
}

fn ran<'b>(prepared: &'b Prepared, seed: u64, faults: &[Fault]) -> Ran<'b> {
    boot(plan(prepared), &prepared.blueprint, &prepared.settings, seed, faults).unwrap()
}

/// The first run with this fault that fails in what Flux does.
fn failing(prepared: &Prepared, fault: Fault) -> Ran<'_> {
    let in_flux = |line: &Line| matches!(&line.event, Event::Failed { step, .. } if step.starts_with("gitops/"));
    let mut runs = (0..200).map(|seed| ran(prepared, seed, &[fault]));
    runs.find(|ran| ran.lines.iter().any(in_flux)).unwrap()
}

fn wrong(prepared: &Prepared, ran: &Ran<'_>, faults: &[Fault], comes_up_without: bool) -> String {
    let case = Case { prepared, plan: plan(prepared), ran, faults, comes_up_without: &|| comes_up_without };
    case.judge().wrong.join("\n")
}

/// Where a step is said to be proved.
fn proof_of(ran: &Ran<'_>, step: &Step) -> usize {
    ran.lines.iter().position(|line| matches!(&line.event, Event::Proved { step: it, .. } if *it == step.key)).unwrap()
}

/// A step of Flux that nobody needs.
fn leaf(plan: &Plan) -> &Step {
    let dependents = plan.dependents();
    let is_leaf = |id: &run::StepId| dependents[id.index()].is_empty() && plan.step(*id).key.starts_with("gitops");
    plan.step(plan.ids().filter(is_leaf).last().unwrap())
}

#[test]
fn an_honest_run_has_nothing_wrong() {
    let prepared = sound();
    let honest = ran(&prepared, 3, &[]);
    assert_eq!((honest.outcome, wrong(&prepared, &honest, &[], true)), (Outcome::Healthy, String::new()));
    let failed = failing(&prepared, Fault::ImagePullBackoff);
    assert_eq!(wrong(&prepared, &failed, &[Fault::ImagePullBackoff], true), "");
}

#[test]
fn a_step_before_its_needs_is_seen() {
    let prepared = sound();
    let mut ran = ran(&prepared, 3, &[]);
    let step = leaf(plan(&prepared));
    let (late, early) = (proof_of(&ran, step), proof_of(&ran, plan(&prepared).step(step.needs[0].step)));
    let line = ran.lines.remove(early);
    ran.lines.insert(late, Line { at: ran.lines[late - 1].at, ..line });
    let wrong = wrong(&prepared, &ran, &[], true);
    assert!(wrong.contains("before ") && wrong.contains(" is proved"), "{wrong}");
}

#[test]
fn a_proof_of_what_was_not_there_is_seen() {
    let prepared = sound();
    let mut ran = ran(&prepared, 3, &[]);
    let proof = proof_of(&ran, leaf(plan(&prepared)));
    ran.lines[proof].at -= 1;
    let wrong = wrong(&prepared, &ran, &[], true);
    assert!(wrong.contains("in the world at"), "{wrong}");
}

#[test]
fn an_end_that_comes_late_is_seen() {
    let prepared = sound();
    let mut ran = ran(&prepared, 3, &[]);
    let took = ran.lines.last().unwrap().at;
    ran.lines.last_mut().unwrap().at = took + took * 4 / 100;
    assert_eq!(wrong(&prepared, &ran, &[], true), "");
    ran.lines.last_mut().unwrap().at = took + took * 6 / 100;
    assert!(wrong(&prepared, &ran, &[], true).contains("the critical path"));
}

#[test]
fn a_failure_that_nobody_caused_is_seen() {
    let prepared = sound();
    let faults = [Fault::ImagePullBackoff];
    let ran = failing(&prepared, Fault::ImagePullBackoff);
    assert!(wrong(&prepared, &ran, &[], true).contains("failed without a fault"));
    assert!(wrong(&prepared, &ran, &faults, false).contains("without the fault it does not come up either"));
}

#[test]
fn a_failure_of_somebody_whom_no_fault_strikes_is_seen() {
    let prepared = sound();
    let mut ran = failing(&prepared, Fault::ImagePullBackoff);
    // The lines of one run, and a world in which something else is wrong.
    ran.world = self::ran(&prepared, 3, &[Fault::GitDown]).world;
    let wrong = wrong(&prepared, &ran, &[Fault::GitDown], true);
    assert!(wrong.contains("no fault strikes what it waited for"), "{wrong}");
}

#[test]
fn a_failure_without_a_name_or_before_its_time_is_seen() {
    let prepared = sound();
    let mut ran = ran(&prepared, 3, &[]);
    let step = leaf(plan(&prepared)).key.clone();
    let proof = proof_of(&ran, leaf(plan(&prepared)));
    ran.lines[proof].event =
        Event::Failed { step, why: TryFailure::TooLate { limit_seconds: 600, last: None }, left_out: None };
    let wrong = wrong(&prepared, &ran, &[], true);
    assert!(wrong.contains("without a name"), "{wrong}");
    assert!(wrong.contains("would have been done within its limit"), "{wrong}");
    assert!(wrong.contains("Healthy with 1 failed steps"), "{wrong}");
}

#[test]
fn secrets_that_are_made_twice_are_seen() {
    let prepared = sound();
    let mut ran = ran(&prepared, 3, &[]);
    let secrets = plan(&prepared).find("talos/secrets").unwrap();
    ran.world.act(plan(&prepared).step(secrets)).unwrap();
    assert_eq!(wrong(&prepared, &ran, &[], true), "done twice: make-secrets");
}
