//! The example, brought up in the simulated world.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use coldstart_run::{
    Event, Journal, Kept, Line, Listener, Machine, MemoryTape, Outcome, Plan, Simulated, Tape, World as _, drive, plan,
};
use read::UpSettings;
use simulate::{Blueprint, Conditions, Machines};

struct Example {
    plan: Plan,
    blueprint: Blueprint,
    settings: UpSettings,
}

fn example() -> Example {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab");
    let reading = read::read(&root).unwrap();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let settings = UpSettings {
        control_planes: names(&["cp1", "cp2", "cp3"]),
        workers: names(&["w1", "w2"]),
        ..UpSettings::default()
    };
    let cluster = &reading.clusters[0];
    let plan = plan(&reading.repository, cluster, &graph::analyse(cluster), &settings).unwrap();
    let (rendered, catalogue) = read::rendered::render(&reading.repository).unwrap();
    let machines = Some(Machines { control_planes: 3, workers: 2 });
    let conditions = Conditions { runs_bootstrap: true, machines, ..Conditions::default() };
    let blueprint = simulate::compile(&rendered, &catalogue, &conditions);
    Example { plan, blueprint, settings }
}

#[derive(Default)]
struct Ears(Vec<Line>);

impl Listener for Ears {
    fn hear(&mut self, line: &Line, _: &Machine<'_>) {
        self.0.push(line.clone());
    }
}

fn run(example: &Example, world: &mut Simulated<'_>, tape: impl Tape, kept: &Kept) -> (Option<Outcome>, Vec<Line>) {
    let mut machine = Machine::new(&example.plan, BTreeMap::new(), BTreeSet::new());
    let mut ears = Ears::default();
    let outcome = Journal::new(tape, kept)
        .ok()
        .and_then(|mut journal| drive(&example.plan, &mut machine, world, &mut journal, &mut ears).ok());
    (outcome, ears.0)
}

#[test]
fn the_example_comes_up_from_power_on() {
    let example = example();
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        let (outcome, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        let told: Vec<String> = lines
            .iter()
            .filter(|line| matches!(line.event, Event::Failed { .. } | Event::Tried { .. }))
            .map(|line| format!("{line:?}"))
            .collect();
        assert_eq!(outcome, Some(Outcome::Healthy), "seed {seed} at {:?}: {told:#?}", world.now());
        assert_eq!(world.inner().done_twice().count(), 0, "seed {seed}");
    }
}
