//! Runs that are killed, on generated clusters: whoever comes next finds the world as it is, and brings it up.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use coldstart_trial::{Prepared, cluster, prepare};
use rehearse::Simulated;
use run::{Journal, Kept, Line, Listener, Machine, MemoryTape, Outcome, Plan, Tape, drive};

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Line, _: &Machine<'_>) {}
}

/// A tape that outlives its journal.
#[derive(Default)]
struct Keeping(MemoryTape);

impl Tape for &mut Keeping {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.0.append(line)
    }
}

fn bring_up(plan: &Plan, world: &mut Simulated<'_>, tape: &mut Keeping, kept: &Kept) -> Option<Outcome> {
    let mut machine = Machine::new(plan, BTreeMap::new(), BTreeSet::new());
    let mut journal = Journal::new(tape, kept).ok()?;
    drive(plan, &mut machine, world, &mut journal, &mut Deaf).ok()
}

/// Kills a run at every so-many-th write; how often.
fn kill(prepared: &Prepared, seed: u64, stride: usize) -> usize {
    let plan = prepared.plan.as_ref().unwrap();
    let what = format!("seed {seed}, cluster {}", prepared.cluster.number);
    let fresh = Simulated::new(&prepared.blueprint, &prepared.settings, seed, &[]);
    let empty = Kept::read(b"").unwrap();
    let mut whole = Keeping::default();
    bring_up(plan, &mut fresh.clone(), &mut whole, &empty);
    let writes = whole.0.bytes.split(|byte| *byte == b'\n').count();
    for write in (0..writes).step_by(stride) {
        let mut world = fresh.clone();
        let mut first = Keeping::default();
        first.0.breaks_after = Some((write, 17));
        bring_up(plan, &mut world, &mut first, &empty);
        let kept = Kept::read(&first.0.bytes).unwrap();
        let mut second = Keeping(MemoryTape::holding(first.0.bytes[..kept.good].to_vec()));
        let outcome = bring_up(plan, &mut world, &mut second, &kept);
        assert_eq!(outcome, Some(Outcome::Healthy), "{what}, write {write}");
        assert_eq!(world.inner().done_twice().count(), 0, "{what}, write {write}");
        let all = Kept::read(&second.0.bytes).unwrap();
        assert_eq!(all.lines[..kept.lines.len()], kept.lines, "{what}, write {write}");
        assert_eq!(all.past().proved.len(), plan.steps.len(), "{what}, write {write}");
    }
    writes.div_ceil(stride)
}

#[test]
fn killed_at_a_write_every_cluster_comes_up_and_nothing_is_done_twice() {
    // A few by default; every write of many seeds where somebody asks for that.
    let asked = std::env::var("COLDSTART_SEEDS").ok().and_then(|seeds| seeds.parse::<u64>().ok());
    let (seeds, stride) = asked.map_or((8, 7), |seeds| (seeds, 1));
    // A cluster for each seed; every fifth has a defect, and is left out.
    let seeds: Vec<u64> = (0..seeds + seeds / 4).filter(|seed| seed % 5 != 4).collect();
    let kills = repository::parallel::map(&seeds, |seed| kill(&prepare(cluster(*seed), false).unwrap(), *seed, stride));
    let kills: usize = kills.into_iter().sum();
    println!("{} runs, killed {kills} times", seeds.len());
    assert!(kills > 50, "{kills}");
}
