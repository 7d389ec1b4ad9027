//! The case suite with real Flux: one trial per run of a case. `cargo test -p coldstart-lab --test cases -- 04` runs those
//! whose name holds `04`.
//!
//! `COLDSTART_CASE_RUNS=20` runs each guaranteed case so often, with shuffled delays from the second run on;
//! `COLDSTART_CASE_SEED` says with which seed they begin. `cargo xtask test --full` sets both, and `COLDSTART_LAB=full`:
//! then no case is skipped for want of a program.

use std::path::Path;

use coldstart_lab::build::{self, Tier, Tool};
use coldstart_lab::cases::{self, Case};
use fixtures::Shelf;
use libtest_mimic::{Arguments, Failed, Trial};

/// On two cores: more labs at once only wait for each other.
const LABS_AT_ONCE: usize = 6;
const DEFAULT_SEED: u64 = 1;

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(LABS_AT_ONCE);
    let directory = Shelf::Cases.directory();
    let mut cases = cases::all(&directory).expect("cases that can be read");
    // Those with a pace of their own take longest: first, so that none is left alone at the end.
    cases.sort_by_key(|case| case.told.pace == cases::DEFAULT_PACE);
    let runs = from_environment("COLDSTART_CASE_RUNS").unwrap_or(1);
    let seed = from_environment("COLDSTART_CASE_SEED").unwrap_or(DEFAULT_SEED);
    let mut trials: Vec<Trial> = cases.iter().flat_map(|case| trials(case, runs, seed)).collect();
    trials.push(Trial::test("every-case-says-what-happens", move || all_have_one(&directory)));
    // Several names at once: `-- 03,07,27`.
    if let Some(names) = arguments.filter.take_if(|filter| filter.contains(',')) {
        trials.retain(|trial| names.split(',').any(|name| trial.name().contains(name)));
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn trials(case: &Case, runs: u64, seed: u64) -> Vec<Trial> {
    let runs = if case.is_guaranteed() { runs } else { 1 };
    let trial = |run: u64| {
        let (case, seed) = (case.clone(), (run > 0).then_some(seed + run));
        let name = seed.map_or_else(|| case.name.clone(), |seed| format!("{}::seed-{seed}", case.name));
        let missing = missing(&case);
        let trial = Trial::test(name, move || tell(&case, seed));
        match missing {
            Some(why) => trial.with_ignored_flag(true).with_kind(format!("SKIPPED: {why}")),
            None => trial,
        }
    };
    (0..runs).map(trial).collect()
}

/// What a case needs and this machine has not, unless it must be there: then the case runs, and fails.
fn missing(case: &Case) -> Option<String> {
    let say = |missing: build::Missing| missing.to_string();
    let must = |tier: &str| std::env::var("COLDSTART_LAB").is_ok_and(|required| required == tier);
    if must("full") {
        return None;
    }
    if let Err(missing) = build::ready(Tier::Small) {
        return (!must("required")).then(|| say(missing));
    }
    case.told.tools.iter().find_map(|tool| match Tool::named(tool) {
        Some(tool) => build::binary(tool).err().map(say),
        None => Some(format!("no tool is called {tool}")),
    })
}

fn tell(case: &Case, seed: Option<u64>) -> Result<(), Failed> {
    let run = cases::run(case, seed).map_err(|error| Failed::from(error.to_string()))?;
    if run.wrong.is_empty() {
        return Ok(());
    }
    let seed = seed.map(|seed| format!(" (seed {seed})")).unwrap_or_default();
    Err(Failed::from(format!("{}{seed}\n  {}\n\n{}", case.name, run.wrong.join("\n  "), run.story)))
}

fn all_have_one(directory: &Path) -> Result<(), Failed> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() && !path.join("lab.yaml").is_file() {
            return Err(Failed::from(format!("{} has no lab.yaml", path.display())));
        }
    }
    Ok(())
}
