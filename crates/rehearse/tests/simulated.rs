//! The example, brought up in the simulated world.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use coldstart_rehearse::Simulated;
use model::{ObjectRef, Obstacle, PodTrouble, Subject};
use run::{
    Event, Hindrance, Journal, Kept, Line, Listener, Look, Machine, MemoryTape, Outcome, Plan, Selection, Tape,
    TryFailure, World as _, drive, plan,
};
use settings::UpSettings;
use simulate::{Blueprint, Conditions, Fault, Machines, Probe, What};

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
        outside: names(&["https://auth.homelab.example"]),
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
struct Recorder(Vec<Line>);

impl Listener for Recorder {
    fn hear(&mut self, line: &Line, _: &Machine<'_>) {
        self.0.push(line.clone());
    }
}

fn run(example: &Example, world: &mut Simulated<'_>, tape: impl Tape, kept: &Kept) -> (Option<Outcome>, Vec<Line>) {
    let mut machine = Machine::new(&example.plan, BTreeMap::new(), BTreeSet::new());
    let mut recorder = Recorder::default();
    let outcome = Journal::new(tape, kept)
        .ok()
        .and_then(|mut journal| drive(&example.plan, &mut machine, world, &mut journal, &mut recorder).ok());
    (outcome, recorder.0)
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

/// A run of Terraform that does everything down to the start of Flux, on machines that only files tell.
#[test]
fn what_terraform_does_of_a_boot_is_watched_and_a_gate_of_it_stops_the_run() {
    let shape = fixtures::Shelf::Shapes.directory().join("boot-on-what-works");
    let tree = fixtures::Fixture::open(&shape).unwrap().repository().unwrap();
    let reading = read::read(tree.path()).unwrap();
    let settings = run::told(&reading.repository, &reading.settings.up).up;
    let cluster = &reading.clusters[0];
    let plan = plan(&reading.repository, cluster, &graph::analyse(cluster), &reading.settings.up).unwrap();
    let (rendered, catalogue) = read::rendered::render(&reading.repository).unwrap();
    let machines = Machines::of(&rendered[0]);
    let conditions = Conditions { runs_bootstrap: true, machines, ..Conditions::default() };
    let example = Example { plan, blueprint: simulate::compile(&rendered, &catalogue, &conditions), settings };
    let up = |fault: &[Fault]| {
        let mut world = Simulated::new(&example.blueprint, &example.settings, 3, fault);
        let (outcome, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        assert_eq!(world.inner().done_twice().count(), 0);
        (outcome, lines)
    };
    let (outcome, lines) = up(&[]);
    let told: Vec<&Line> = lines.iter().filter(|line| matches!(line.event, Event::Failed { .. })).collect();
    assert_eq!(outcome, Some(Outcome::Healthy), "{told:#?}");
    let (outcome, lines) = up(&[Fault::MissingNode]);
    assert_eq!(outcome, Some(Outcome::Failed));
    let failed = lines.iter().find_map(|line| match &line.event {
        Event::Failed { step, .. } => Some(step.as_str()),
        _ => None,
    });
    assert_eq!(failed, Some("machines/terraform/infrastructure"));
}

/// What follows at once from an action must not hide what comes later: etcd was once proved at the end of all patience.
#[test]
fn whatever_happens_in_the_world_is_seen_when_it_happens() {
    let example = example();
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        let (_, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        let at = |key: &str, wanted: fn(&Event) -> bool| {
            let is = |line: &&Line| line.event.step() == Some(key) && wanted(&line.event);
            lines.iter().find(is).map(Line::time).unwrap()
        };
        let begun = at("talos/etcd", |event| matches!(event, Event::Started { .. }));
        let proved = at("talos/etcd", |event| matches!(event, Event::Proved { .. }));
        let took = proved.saturating_sub(begun);
        assert!(took < Duration::from_mins(3), "seed {seed}: {took:?}");
    }
}

#[test]
fn killed_at_a_write_it_goes_on_in_the_same_world_and_does_nothing_twice() {
    let example = example();
    // A few by default; every write of many seeds where somebody asks for that.
    let asked = std::env::var("COLDSTART_SEEDS").ok().and_then(|seeds| seeds.parse::<u64>().ok());
    let (seeds, stride) = asked.map_or((6, 5), |seeds| (seeds, 1));
    let kills: usize = repository::parallel::map(&(0..seeds).collect::<Vec<u64>>(), |seed| {
        let fresh = Simulated::new(&example.blueprint, &example.settings, *seed, &[]);
        kill_at_every(&example, &fresh, stride, &format!("seed {seed}"))
    })
    .into_iter()
    .sum();
    println!("{seeds} runs, killed {kills} times");
    assert!(kills > 100, "{kills}");
}

/// Kills a run at every so-many-th write, goes on in the same world, and looks that nothing was lost or done twice.
fn kill_at_every(example: &Example, fresh: &Simulated<'_>, stride: usize, what: &str) -> usize {
    let empty = Kept::read(b"").unwrap();
    let mut whole = Keeping::default();
    run(example, &mut fresh.clone(), &mut whole, &empty);
    let lines = whole.0.bytes.split(|byte| *byte == b'\n').count();
    for write in (0..lines).step_by(stride) {
        let mut world = fresh.clone();
        let mut first = Keeping::default();
        first.0.breaks_after = Some((write, 17));
        run(example, &mut world, &mut first, &empty);
        let kept = Kept::read(&first.0.bytes).unwrap();
        let mut second = Keeping(MemoryTape::holding(first.0.bytes[..kept.good].to_vec()));
        let (outcome, _) = run(example, &mut world, &mut second, &kept);
        assert_eq!(outcome, Some(Outcome::Healthy), "{what}, write {write}");
        assert_eq!(world.inner().done_twice().count(), 0, "{what}, write {write}");
        // Nothing that was kept is lost, and every step is proved in the end.
        let all = Kept::read(&second.0.bytes).unwrap();
        assert_eq!(all.lines[..kept.lines.len()], kept.lines, "{what}, write {write}");
        assert_eq!(all.past().proved.len(), example.plan.steps.len(), "{what}, write {write}");
    }
    lines.div_ceil(stride)
}

#[test]
fn the_first_control_plane_is_enough_for_the_network() {
    let example = example();
    let until = Selection { until: Some("network".to_owned()), ..Selection::default() };
    let plan = example.plan.clone().without(&until.left(&example.plan).unwrap());
    assert!(plan.find("talos/cp1").is_some() && plan.find("talos/cp2").is_none());
    let example = Example { plan, ..example };
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        let (outcome, _) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        assert_eq!(outcome, Some(Outcome::Healthy), "seed {seed}");
    }
}

#[test]
fn flux_starts_when_its_pods_run_though_helm_gave_up_waiting_for_them() {
    let example = example();
    let operator = example.blueprint.find("Deployment", "flux-system", "flux-operator").unwrap();
    let world = |seed: u64| Simulated::new(&example.blueprint, &example.settings, seed, &[Fault::ImagePullBackoff]);
    let mut late = 0;
    for seed in (0..5000).filter(|seed| world(*seed).inner().is_struck(operator)).take(20) {
        let mut world = world(seed);
        let (_, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        let failed =
            |wanted: &str| lines.iter().any(|line| matches!(&line.event, Event::Failed { step, .. } if step == wanted));
        assert!(!failed("flux/start"), "seed {seed}: {lines:#?}");
        let tried = |line: &Line| matches!(&line.event, Event::Tried { step, .. } if step.contains("flux-operator"));
        late += u32::from(lines.iter().any(tried));
    }
    assert!(late > 5, "only {late} installs took longer than Helm waits");
}

#[test]
fn an_api_server_that_is_away_proves_nothing_and_refutes_nothing() {
    let example = example();
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[Fault::ApiRestart]);
        assert!(!world.inner().look(Probe::Api).met);
        for step in example.plan.steps.iter().filter(|step| step.proof.asks_the_api()) {
            assert!(matches!(world.look(step), Look::UnderWay(_)), "{}", step.key);
        }
        let (outcome, _) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        assert_eq!(outcome, Some(Outcome::Healthy), "seed {seed}");
        // Nothing was done to one that was away.
        assert!(world.inner().acts().iter().all(|act| act.result.is_ok()), "seed {seed}: {:?}", world.inner().acts());
    }
}

#[test]
fn a_world_is_found_again_from_its_journal() {
    let example = example();
    let empty = Kept::read(b"").unwrap();
    for write in [40, 90, 150] {
        let mut world = Simulated::new(&example.blueprint, &example.settings, 3, &[]);
        let mut tape = Keeping::default();
        tape.0.breaks_after = Some((write, 0));
        run(&example, &mut world, &mut tape, &empty);
        let kept = Kept::read(&tape.0.bytes).unwrap();
        let mut again = Simulated::new(&example.blueprint, &example.settings, 3, &[]);
        again.replay(&example.plan, &kept.lines);
        let (outcome, _) = run(&example, &mut again, &mut Keeping::default(), &empty);
        assert_eq!(outcome, Some(Outcome::Healthy), "write {write}");
        assert_eq!(again.inner().done_twice().count(), 0, "write {write}");
    }
}

/// What steps wait for.
fn waits(lines: &[Line]) -> impl Iterator<Item = (&str, &Hindrance)> {
    lines.iter().filter_map(|line| match &line.event {
        Event::Waiting { step, why } => Some((step.as_str(), why)),
        _ => None,
    })
}

fn chain(of: &Hindrance) -> &[Obstacle] {
    match of {
        Hindrance::Obstacles(trace) => &trace.chain,
        _ => &[],
    }
}

/// Everything that a failed step is told to have failed for.
fn failed_for(line: &Line) -> &[Obstacle] {
    match &line.event {
        Event::Failed {
            why: TryFailure::Hindered { by: why } | TryFailure::TooLate { last: Some(why), .. }, ..
        } => chain(why),
        _ => &[],
    }
}

#[test]
fn a_node_that_dies_takes_all_along_that_ran_on_it() {
    const EVICTION: u64 = 300_000;
    let example = example();
    let empty = Kept::read(b"").unwrap();
    let mut felt = 0;
    for seed in 0..23 {
        let mut sound = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        let (_, lines) = run(&example, &mut sound, MemoryTape::default(), &empty);
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[Fault::DeadNode]);
        let (_, struck) = run(&example, &mut world, MemoryTape::default(), &empty);
        felt += u32::from(struck.last().unwrap().at != lines.last().unwrap().at);
        let events = world.inner().events();
        let Some(gone) = events.iter().position(|event| matches!(event.what, What::NodeGone(_))) else { continue };
        let What::NodeGone(node) = events[gone].what else { continue };
        assert!(!world.inner().look(Probe::Machine(node)).met, "seed {seed}");
        let (before, after) = events.split_at(gone);
        assert!(!after.iter().any(|event| event.what == What::NodeJoined(node)), "seed {seed}");
        let lost = after.iter().take_while(|event| event.at == events[gone].at);
        for lost in lost.filter(|event| event.what == What::NotReady) {
            let kind = &example.blueprint.thing(lost.thing.unwrap()).kind;
            assert!(before.iter().any(|event| event.thing == lost.thing && event.what == What::Ready), "seed {seed}");
            let again = after.iter().find(|event| event.thing == lost.thing && event.what == What::Ready);
            let is_late = again.is_none_or(|again| again.at > lost.at + EVICTION);
            assert!(is_late || matches!(kind.as_str(), "Kustomization" | "Gift"), "seed {seed}: {kind}");
        }
    }
    assert!(felt > 15, "only {felt} of 23 nodes were missed");
}

#[test]
fn pods_are_placed_on_nodes_that_have_joined() {
    let example = example();
    let until = Selection { until: Some("outside".to_owned()), ..Selection::default() };
    let plan = example.plan.clone().without(&until.left(&example.plan).unwrap());
    let first = Example { plan, ..example };
    for (example, seed) in [(&first, 0), (&first, 1), (&self::example(), 2), (&self::example(), 3)] {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        run(example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        let events = world.inner().events();
        let mut joined = BTreeSet::new();
        for event in events {
            if let What::NodeJoined(node) = event.what {
                joined.insert(node);
            }
            let node = event.thing.filter(|_| event.what == What::Ready).and_then(|id| world.inner().node_of(id));
            assert!(node.is_none_or(|node| joined.contains(&node)), "seed {seed}: {event:?} on {node:?}");
        }
        assert!(!joined.is_empty());
    }
}

#[test]
fn an_agent_that_is_missing_on_a_node_keeps_its_daemon_set_from_being_ready() {
    let example = example();
    let cilium = example.blueprint.find("DaemonSet", "kube-system", "cilium");
    let mut named = 0;
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[Fault::AgentMissing]);
        let (outcome, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        assert_eq!(outcome, Some(Outcome::Failed), "seed {seed}");
        let machines: Vec<&String> = example.settings.control_planes.iter().chain(&example.settings.workers).collect();
        let lacks_agent = |obstacle: &Obstacle| match obstacle {
            Obstacle::Stuck { trouble: PodTrouble::NoNetworkAgent, node, .. } => {
                node.name.as_ref().is_some_and(|name| machines.iter().any(|machine| *machine == name.as_str()))
            }
            _ => false,
        };
        let is_named = |line: &Line| failed_for(line).iter().any(lacks_agent);
        assert!(lines.iter().any(is_named), "seed {seed}: {lines:#?}");
        assert!(!world.inner().is_ready(cilium.unwrap()), "seed {seed}");
        let agent = Subject::Object(ObjectRef::new("DaemonSet", "kube-system", "cilium"));
        let is_agent = |obstacle: &Obstacle| {
            lacks_agent(obstacle) && matches!(obstacle, Obstacle::Stuck { subject, .. } if *subject == agent)
        };
        named += u32::from(waits(&lines).any(|(_, why)| chain(why).iter().any(is_agent)));
    }
    assert!(named > 0);
}

#[test]
fn what_is_under_way_is_told_as_such() {
    let example = example();
    for seed in 0..20 {
        let mut world = Simulated::new(&example.blueprint, &example.settings, seed, &[]);
        let (_, lines) = run(&example, &mut world, MemoryTape::default(), &Kept::read(b"").unwrap());
        let mut proved: BTreeSet<&str> = BTreeSet::new();
        for line in &lines {
            match &line.event {
                Event::Proved { step, .. } => _ = proved.insert(step),
                Event::Waiting { step, why } => {
                    for obstacle in chain(why) {
                        assert!(!has_failed(obstacle) && !is_nameless(obstacle), "seed {seed}: {step}: {why:?}");
                    }
                    let first = chain(why).iter().find_map(|obstacle| match obstacle {
                        Obstacle::DependencyNotReady { dependency } => Some(dependency.path()),
                        _ => None,
                    });
                    if let Some(path) = first {
                        let key = step.replacen(&step[step.len() - path_of(step).len()..], &path, 1);
                        assert!(!proved.contains(key.as_str()), "seed {seed}: {step}: {why:?}");
                    }
                }
                _ => {}
            }
        }
    }
}

fn has_failed(it: &Obstacle) -> bool {
    matches!(it, Obstacle::HealthTimeout { .. } | Obstacle::HealthStalled { .. })
}

/// It is about the machines, and names none that the settings have.
fn is_nameless(it: &Obstacle) -> bool {
    match it {
        Obstacle::NoMachine { .. } | Obstacle::NoSecrets => true,
        Obstacle::NoAnswer { machine }
        | Obstacle::NotConfigured { machine }
        | Obstacle::OtherSecrets { machine }
        | Obstacle::NoControlPlane { machine }
        | Obstacle::NotJoined { machine }
        | Obstacle::Stuck { node: machine, .. } => machine.name.is_none(),
        _ => false,
    }
}

/// The namespace and the name that a step's key ends with.
fn path_of(step: &str) -> &str {
    let slash = step.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    &step[slash..]
}

/// A tape that outlives its journal.
#[derive(Default)]
struct Keeping(MemoryTape);

impl Tape for &mut Keeping {
    fn append(&mut self, line: &[u8]) -> std::io::Result<()> {
        self.0.append(line)
    }
}
