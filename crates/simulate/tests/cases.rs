//! The lab's case directories in the simulated world: what real Flux was seen to do with each of them must happen here too.
//!
//! `lab.yaml` is the lab's own file, read with the same keys and the same pace. What is left open is said in
//! `docs/evaluation.md`.

#![expect(clippy::unwrap_used, reason = "a case that can not be read fails")]

#[path = "lab/stage.rs"]
mod stage;
#[path = "lab/told.rs"]
mod told;
#[path = "lab/verify.rs"]
mod verify;

use coldstart_simulate::{Action, Blueprint, World};
use read::rendered::Rendered;
use stage::{Case, blueprint, definitions, find};
use verify::Verify;

const SEEDS: u64 = 20;
const LATE_STEPS_MAX: usize = 100_000;

#[test]
fn the_simulated_world_tells_the_stories_that_the_lab_saw() {
    let only = std::env::var("COLDSTART_CASE").ok();
    let mut wrong = Vec::new();
    let mut ran = 0;
    for case in Case::all() {
        if only.as_ref().is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        ran += 1;
        let revisions = case.revisions();
        let blueprint = blueprint(&case, &revisions);
        for seed in 1..=SEEDS {
            let (problems, story) = run(&case, &revisions, &blueprint, seed);
            if !problems.is_empty() {
                let story = if only.is_some() { story } else { String::new() };
                wrong.push(format!("{} (seed {seed}):\n  {}\n{story}", case.name, problems.join("\n  ")));
                break;
            }
        }
    }
    assert!(ran > 0, "no case");
    assert!(wrong.is_empty(), "{} of {ran} cases differ:\n{}", wrong.len(), wrong.join("\n"));
}

fn run(case: &Case, revisions: &[Rendered], blueprint: &Blueprint, seed: u64) -> (Vec<String>, String) {
    let mut world = World::new(blueprint);
    world.start_traced(seed, &[]);
    if let Some(late) = &case.told.late {
        let until = find(blueprint, &late.until).unwrap_or_else(|| panic!("{} could never exist", late.until));
        for _ in 0..LATE_STEPS_MAX {
            if world.exists(until) || !world.step() {
                break;
            }
        }
        world.push_revision();
    }
    let mut verify = Verify { case, world, blueprint, revisions };
    let mut wrong = verify.happens(&case.told.happens, 0);
    if wrong.is_empty() {
        wrong.extend(verify.ends(case.told.outcome));
    }
    for then in &case.told.then {
        if !wrong.is_empty() {
            break;
        }
        let since = verify.world.now();
        for id in then.apply.iter().flat_map(|file| definitions(case, file, blueprint)) {
            let now = verify.world.now();
            verify.world.act(now, Action::Apply(id)).unwrap();
        }
        if then.bootstrap_again {
            verify.world.bootstrap_again();
        }
        if !then.edit.is_empty() {
            verify.world.push_revision();
        }
        wrong = verify.happens(&then.happens, since).into_iter().map(|one| format!("{}: {one}", then.act)).collect();
    }
    if case.told.bootstrap.helmfile.as_ref().is_some_and(|helmfile| helmfile.fails.is_some()) {
        let failed =
            |event: &coldstart_simulate::BootEvent| matches!(event.what, coldstart_simulate::What::BootstrapFailed(_));
        if !verify.world.events().iter().any(failed) {
            wrong.push("the bootstrap did not fail".to_owned());
        }
    }
    (wrong, verify.story())
}
