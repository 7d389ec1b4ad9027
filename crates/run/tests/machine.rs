//! The machine, the journal and the loop in a small world of made-up steps, by the thousand.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use coldstart_run::{
    Action, Effect, Event, Hindrance, Input, Journal, Kept, Layer, LeftNeed, LeftOut, Limits, Line, Listener, Look,
    Machine, MemoryTape, NeedReason, Note, Outcome, Plan, Proof, State, Step, StepId, StepNeed, Timeline, TryFailure,
    World, drive,
};
use model::Obstacle;

/// A generator that is its own seed: the same numbers for ever.
struct Dice(u64);

impl Dice {
    fn few(&mut self, sides: u32) -> u32 {
        u32::try_from(self.roll(u64::from(sides))).unwrap_or(0)
    }

    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// Things that take time once begun; some fail at first, some for good.
#[derive(Clone, Debug, Default)]
struct Toy {
    now: Duration,
    takes: BTreeMap<String, Duration>,
    failures: BTreeMap<String, u32>,
    done_at: BTreeMap<String, Duration>,
    acts: BTreeMap<String, u32>,
    needs: BTreeMap<String, Vec<String>>,
    too_early: Vec<String>,
    interrupts: u32,
}

impl World for Toy {
    fn now(&self) -> Duration {
        self.now
    }

    fn act(&mut self, step: &Step) -> Result<(), Hindrance> {
        *self.acts.entry(step.key.clone()).or_default() += 1;
        let is_proved = |need: &String| self.done_at.get(need).is_some_and(|at| *at <= self.now);
        if !self.needs[&step.key].iter().all(is_proved) {
            self.too_early.push(step.key.clone());
        }
        if let Some(left) = self.failures.get_mut(&step.key).filter(|left| **left > 0) {
            *left -= 1;
            return Err(Hindrance::said("refused"));
        }
        self.done_at.insert(step.key.clone(), self.now + self.takes[&step.key]);
        Ok(())
    }

    fn look(&mut self, step: &Step) -> Look {
        match self.done_at.get(&step.key) {
            None => Look::Absent,
            Some(at) if *at <= self.now => Look::Done,
            Some(at) => Look::UnderWay(Some(Hindrance::said(format!("until {} s", at.as_secs())))),
        }
    }

    fn wait(&mut self, until: Option<Duration>) {
        let next = self.done_at.values().copied().filter(|at| *at > self.now).chain(until).min();
        self.now = next.unwrap_or(self.now + Duration::from_secs(1)).max(self.now);
    }

    fn interrupts(&self) -> u32 {
        self.interrupts
    }
}

#[derive(Default)]
struct Recorder(Vec<Line>);

impl Listener for Recorder {
    fn hear(&mut self, line: &Line, _: &Machine<'_>) {
        self.0.push(line.clone());
    }
}

const LIMITS: Limits = Limits { timeout: Duration::from_mins(10), attempts: 3, pause: Duration::from_secs(15) };

fn step(key: &str, needs: &[u32]) -> Step {
    Step {
        key: key.to_owned(),
        layer: Layer::Bootstrap,
        action: Action::Install { release: key.to_owned() },
        needs: needs.iter().map(|need| StepNeed { step: StepId(*need), why: NeedReason::Declared }).collect(),
        proof: Proof::ReleaseHealthy { release: key.to_owned() },
        limits: LIMITS,
        once: false,
        danger: None,
        expected: Duration::from_secs(10),
        by_hand: coldstart_run::ByHand::default(),
        hash: format!("hash of {key}"),
    }
}

fn toy(plan: &Plan) -> Toy {
    let names = |step: &Step| step.needs.iter().map(|need| plan.step(need.step).key.clone()).collect();
    Toy {
        takes: plan.steps.iter().map(|step| (step.key.clone(), Duration::from_secs(10))).collect(),
        needs: plan.steps.iter().map(|step| (step.key.clone(), names(step))).collect(),
        ..Toy::default()
    }
}

/// A plan and its world from a seed: up to thirty steps, each needing some of those before.
fn generated(seed: u64) -> (Plan, Toy) {
    let mut dice = Dice(seed);
    let mut plan = Plan::default();
    for index in 0..2 + dice.few(28) {
        let needs: BTreeSet<u32> = (0..dice.roll(4)).filter(|_| index > 0).map(|_| dice.few(index.max(1))).collect();
        let mut new = step(&format!("step-{index}"), &needs.into_iter().collect::<Vec<_>>());
        new.once = dice.roll(5) == 0;
        plan.steps.push(new);
    }
    let mut world = toy(&plan);
    for step in &plan.steps {
        world.takes.insert(step.key.clone(), Duration::from_secs(1 + dice.roll(300)));
        if !step.once && dice.roll(6) == 0 {
            world.failures.insert(step.key.clone(), 1 + dice.few(2));
        }
    }
    (plan, world)
}

struct Ran {
    outcome: Option<Outcome>,
    bytes: Vec<u8>,
    lines: Vec<Line>,
}

fn run(plan: &Plan, world: &mut Toy, bytes: &[u8], breaks_after: Option<(usize, usize)>) -> Ran {
    let kept = Kept::read(bytes).expect("a journal");
    let mut tape = MemoryTape::holding(bytes[..kept.good].to_vec());
    tape.breaks_after = breaks_after;
    let mut recorder = Recorder::default();
    let mut machine = Machine::new(plan, BTreeMap::new(), BTreeSet::new());
    let Ok(mut journal) = Journal::new(tape, &kept) else {
        return Ran { outcome: None, bytes: Vec::new(), lines: Vec::new() };
    };
    let outcome = drive(plan, &mut machine, world, &mut journal, &mut recorder).ok();
    Ran { outcome, bytes: journal.into_tape().bytes, lines: recorder.0 }
}

#[test]
fn steps_start_when_their_own_needs_are_proved_and_not_before() {
    for seed in 0..2_000 {
        let (plan, mut world) = generated(seed);
        let ran = run(&plan, &mut world, b"", None);
        assert_eq!(ran.outcome, Some(Outcome::Healthy), "seed {seed}");
        assert_eq!(world.too_early, Vec::<String>::new(), "seed {seed}");
    }
}

#[test]
fn killed_at_any_write_it_comes_up_all_the_same_and_does_nothing_twice_that_must_be_done_once() {
    for seed in 0..1_000 {
        let (plan, fresh) = generated(seed);
        let whole = run(&plan, &mut fresh.clone(), b"", None);
        let writes = whole.bytes.split(|byte| *byte == b'\n').count() - 1;
        let mut dice = Dice(seed);
        // Also twice in a row, and torn anywhere in the line.
        for write in 0..writes {
            let mut world = fresh.clone();
            let torn = dice.few(120) as usize;
            let first = run(&plan, &mut world, b"", Some((write, torn)));
            let second_break = dice.few(4) as usize;
            let second = run(&plan, &mut world, &first.bytes, Some((second_break, 3)));
            let last = run(&plan, &mut world, &second.bytes, None);
            let place = format!("seed {seed}, write {write}");
            assert_eq!(last.outcome, Some(Outcome::Healthy), "{place}");
            assert_eq!(world.too_early, Vec::<String>::new(), "{place}");
            for step in plan.steps.iter().filter(|step| step.once) {
                assert_eq!(world.acts[&step.key], 1, "{place}: {}", step.key);
            }
            assert_eq!(world.done_at.len(), plan.steps.len(), "{place}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    for seed in 0..50 {
        let (plan, world) = generated(seed);
        let bytes = || run(&plan, &mut world.clone(), b"", None).bytes;
        assert_eq!(bytes(), bytes());
    }
}

#[test]
fn a_second_run_finds_everything_there() {
    let (plan, mut world) = generated(7);
    let first = run(&plan, &mut world, b"", None);
    let acts = world.acts.clone();
    let second = run(&plan, &mut world, &first.bytes, None);
    assert_eq!(second.outcome, Some(Outcome::Healthy));
    assert_eq!(world.acts, acts);
    let past = Kept::read(&second.bytes).unwrap().past();
    assert_eq!(past.proved.len(), plan.steps.len());
    assert!(past.begun.is_empty());
}

#[test]
fn a_failed_step_stops_what_depends_on_it_and_lets_the_rest_finish() {
    let plan = Plan {
        steps: vec![
            step("network", &[]),
            step("broken", &[0]),
            step("needs broken", &[1]),
            step("far behind", &[2]),
            step("beside", &[0]),
        ],
        notes: Vec::new(),
    };
    let mut world = toy(&plan);
    world.failures.insert("broken".to_owned(), 99);
    let ran = run(&plan, &mut world, b"", None);
    assert_eq!(ran.outcome, Some(Outcome::Failed));
    assert_eq!(world.acts["broken"], LIMITS.attempts);
    assert!(!world.acts.contains_key("needs broken"));
    assert!(world.done_at.contains_key("beside"));
    let blocked: Vec<(&str, &str, &[String])> = ran
        .lines
        .iter()
        .filter_map(|line| match &line.event {
            Event::Blocked { step, by, through } => Some((step.as_str(), by.as_str(), through.as_slice())),
            _ => None,
        })
        .collect();
    let through = ["needs broken".to_owned()];
    assert_eq!(blocked, [("needs broken", "broken", &[][..]), ("far behind", "broken", &through[..])]);
}

#[test]
fn what_takes_too_long_fails_with_the_last_reason() {
    let plan = Plan { steps: vec![step("slow", &[])], notes: Vec::new() };
    let mut world = toy(&plan);
    world.takes.insert("slow".to_owned(), Duration::from_secs(100_000));
    let ran = run(&plan, &mut world, b"", None);
    assert_eq!(ran.outcome, Some(Outcome::Failed));
    let failed = ran.lines.iter().find_map(|line| match &line.event {
        Event::Failed { why, .. } => Some(why.clone()),
        _ => None,
    });
    let Some(TryFailure::TooLate { limit_seconds: 600, last: Some(Hindrance::Obstacles(last)) }) = failed else {
        panic!("{failed:?}")
    };
    let is_last = |obstacle: &Obstacle| matches!(obstacle, Obstacle::Said { text } if text.starts_with("until "));
    assert!(last.chain.len() == 1 && is_last(&last.chain[0]), "{last:?}");
}

#[test]
fn what_never_comes_has_a_named_cause_too() {
    let mut plan = Plan { steps: vec![step("watched", &[])], notes: Vec::new() };
    plan.steps[0].action = Action::Watch;
    plan.steps[0].limits.attempts = 1;
    let ran = run(&plan, &mut toy(&plan), b"", None);
    let late = TryFailure::TooLate { limit_seconds: 600, last: Some(Hindrance::NotMade) };
    let failed = |line: &Line| matches!(&line.event, Event::Failed { why, .. } if *why == late);
    assert!(ran.lines.iter().any(failed), "{:?}", ran.lines);
}

#[test]
fn what_nobody_could_look_at_is_done_once_somebody_can() {
    let plan = Plan { steps: vec![step("release", &[])], notes: Vec::new() };
    let (id, now) = (StepId(0), Duration::from_secs(1));
    let mut machine = Machine::new(&plan, BTreeMap::new(), BTreeSet::new());
    assert_eq!(machine.step(Input::Begin, now), [Effect::Look(id)]);
    machine.step(Input::Looked(id, Look::UnderWay(Some(Hindrance::said("connection refused")))), now);
    assert_eq!(machine.step(Input::Woke, now), [Effect::Look(id)]);
    let effects = machine.step(Input::Looked(id, Look::Absent), now);
    let started = Event::Started { step: "release".to_owned(), attempt: 1 };
    assert_eq!(effects, [Effect::Tell(Line::new(now, started)), Effect::Act(id)]);
}

#[test]
fn asked_to_stop_it_begins_nothing_new_and_can_go_on_later() {
    let (plan, mut world) = generated(11);
    world.interrupts = 1;
    let stopped = run(&plan, &mut world, b"", None);
    assert_eq!(stopped.outcome, Some(Outcome::Stopped));
    world.interrupts = 0;
    assert_eq!(run(&plan, &mut world, &stopped.bytes, None).outcome, Some(Outcome::Healthy));
}

#[test]
fn nothing_waits_longer_than_the_critical_path() {
    for seed in 0..200 {
        let (plan, mut world) = generated(seed);
        world.failures.clear();
        let mut machine = Machine::new(&plan, BTreeMap::new(), BTreeSet::new());
        let mut journal = Journal::new(MemoryTape::default(), &Kept::read(b"").unwrap()).unwrap();
        let mut recorder = Recorder::default();
        drive(&plan, &mut machine, &mut world, &mut journal, &mut recorder).unwrap();
        let timeline = Timeline::new(&plan, &recorder.0);
        let mut at = Vec::new();
        for step in &plan.steps {
            let start: Duration = step.needs.iter().map(|need| at[need.step.index()]).max().unwrap_or_default();
            at.push(start + world.takes[&step.key]);
        }
        assert_eq!(timeline.took, at.iter().max().copied().unwrap(), "seed {seed}");
        let critical: Duration =
            timeline.bars.iter().filter(|bar| bar.is_critical).map(|bar| world.takes[&bar.key]).sum();
        assert_eq!(critical, timeline.took, "seed {seed}");
    }
}

#[test]
fn a_changed_step_is_done_again_unless_it_must_be_done_once() {
    let mut plan = Plan { steps: vec![step("release", &[]), step("etcd", &[])], notes: Vec::new() };
    plan.steps[1].once = true;
    let mut world = toy(&plan);
    run(&plan, &mut world, b"", None);
    let mut machine = Machine::new(&plan, BTreeMap::new(), plan.ids().collect());
    let mut journal = Journal::new(MemoryTape::default(), &Kept::read(b"").unwrap()).unwrap();
    drive(&plan, &mut machine, &mut world, &mut journal, &mut Recorder::default()).unwrap();
    assert_eq!((world.acts["release"], world.acts["etcd"]), (2, 1));
}

#[test]
fn a_step_that_is_not_wanted_counts_as_met() {
    let plan = Plan { steps: vec![step("unwanted", &[]), step("wanted", &[0])], notes: Vec::new() };
    let mut world = toy(&plan);
    world.needs.insert("wanted".to_owned(), Vec::new());
    let left = BTreeMap::from([(StepId(0), LeftOut::NotNamed)]);
    let mut machine = Machine::new(&plan, left, BTreeSet::new());
    let mut journal = Journal::new(MemoryTape::default(), &Kept::read(b"").unwrap()).unwrap();
    let outcome = drive(&plan, &mut machine, &mut world, &mut journal, &mut Recorder::default()).unwrap();
    assert_eq!(outcome, Outcome::Healthy);
    assert_eq!(machine.state(StepId(0)), &State::Left);
    assert!(!world.acts.contains_key("unwanted"));
}

#[test]
fn a_failure_names_what_was_needed_and_not_wanted() {
    let plan = Plan { steps: vec![step("unwanted", &[]), step("wanted", &[0])], notes: Vec::new() };
    let why = LeftOut::Skipped { name: "unwanted".to_owned(), reason: "later".to_owned() };
    let left = BTreeMap::from([(StepId(0), why.clone())]);
    let mut machine = Machine::new(&plan, left, BTreeSet::new());
    let mut told = machine.step(Input::Begin, Duration::ZERO);
    told.extend(machine.step(Input::Looked(StepId(1), Look::Absent), Duration::ZERO));
    let mut now = Duration::ZERO;
    while !matches!(machine.state(StepId(1)), State::Failed { .. }) {
        told.extend(machine.step(Input::Acted(StepId(1), Err(Hindrance::said("refused"))), now));
        now = machine.deadline().unwrap_or(now);
        told.extend(machine.step(Input::Woke, now));
        told.extend(machine.step(Input::Looked(StepId(1), Look::Absent), now));
    }
    let failed = Event::Failed {
        step: "wanted".to_owned(),
        why: TryFailure::Hindered { by: Hindrance::said("refused") },
        left_out: Some(LeftNeed { step: "unwanted".to_owned(), why, more: 0 }),
    };
    let is_it = |effect: &Effect| matches!(effect, Effect::Tell(Line { event, .. }) if *event == failed);
    assert!(told.iter().any(is_it), "{told:?}");
}

/// Somebody skips a step in the middle: what comes after it still comes after what came before it.
#[test]
fn order_goes_through_a_step_that_is_not_wanted() {
    for seed in 0..500 {
        let (plan, mut world) = generated(seed);
        let mut dice = Dice(seed);
        let left: BTreeMap<StepId, LeftOut> =
            plan.ids().filter(|_| dice.roll(3) == 0).map(|id| (id, LeftOut::NotNamed)).collect();
        let short = plan.clone().without(&left);
        let names = |step: &Step| step.needs.iter().map(|need| short.step(need.step).key.clone()).collect();
        world.needs.extend(short.steps.iter().map(|step| (step.key.clone(), names(step))));
        let mut machine = Machine::new(&plan, left.clone(), BTreeSet::new());
        let mut journal = Journal::new(MemoryTape::default(), &Kept::read(b"").unwrap()).unwrap();
        let outcome = drive(&plan, &mut machine, &mut world, &mut journal, &mut Recorder::default()).unwrap();
        assert_eq!(outcome, Outcome::Healthy, "seed {seed}");
        assert_eq!(world.too_early, Vec::<String>::new(), "seed {seed}");
        assert!(left.keys().all(|id| !world.acts.contains_key(&plan.step(*id).key)), "seed {seed}");
    }
    let plan = Plan { steps: vec![step("power", &[]), step("configure", &[0]), step("etcd", &[1])], notes: Vec::new() };
    let short = plan.without(&BTreeMap::from([(StepId(1), LeftOut::NotNamed)]));
    assert_eq!(short.steps[1].needs, [StepNeed { step: StepId(0), why: NeedReason::Declared }]);
    assert_eq!(short.notes, [Note::LeftOut { why: LeftOut::NotNamed, steps: 1 }]);
}
