//! Which events imply which, for many questions at once.
//!
//! Walking the graph anew for every question costs its size each time: too much where thousands of components wait for
//! thousands. Questions are therefore put first and answered together, some hundred targets in one pass over the graph.

use std::collections::BTreeMap;

use crate::events::{Event, Events};
use crate::settle::in_order;

/// Machine words of targets that one pass carries.
const WORDS: usize = 8;
const TARGETS_PER_PASS: usize = WORDS * 64;

/// Questions "does the first event imply the second?".
#[derive(Clone, Debug, Default)]
pub struct Questions {
    /// Target, then source, in the order of asking.
    asked: Vec<(Event, Event)>,
}

impl Questions {
    pub fn ask(&mut self, source: Event, target: Event) {
        self.asked.push((target, source));
    }

    /// The targets of one pass stand together.
    fn sorted(mut self) -> Vec<(Event, Event)> {
        self.asked.sort_unstable();
        self.asked.dedup();
        self.asked
    }
}

/// The answers to [`Questions`].
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Sorted.
    implied: Vec<(Event, Event)>,
    #[cfg(debug_assertions)]
    asked: Vec<(Event, Event)>,
}

impl Answers {
    /// Whether `source` implies `target`, or is it. Only what was asked is known.
    pub fn implies(&self, source: Event, target: Event) -> bool {
        #[cfg(debug_assertions)]
        assert!(self.asked.binary_search(&(target, source)).is_ok(), "a question that nobody put before");
        self.implied.binary_search(&(target, source)).is_ok()
    }
}

/// One of several things that a component waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member {
    pub source: Event,
    pub target: Event,
}

/// A member of a group whose target the source of another member implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImpliedByOther {
    pub group: usize,
    pub member: usize,
    pub by: usize,
}

/// Which targets of a block an event implies, a bit each.
type Row = [u64; WORDS];

fn has(row: &Row, bit: usize) -> bool {
    row[bit / 64] >> (bit % 64) & 1 == 1
}

/// What the sources of a group imply, taken together.
fn together(members: &[Member], rows: &[Row]) -> Row {
    let mut all = [0; WORDS];
    for member in members {
        for (word, more) in all.iter_mut().zip(&rows[member.source.0 as usize]) {
            *word |= more;
        }
    }
    all
}

impl Events {
    /// Answers all questions, in time proportional to the graph and the number of targets over a machine word's bits.
    pub fn answer(&self, questions: Questions) -> Answers {
        let asked = questions.sorted();
        let mut targets: Vec<Event> = asked.iter().map(|(target, _)| *target).collect();
        targets.dedup();
        let mut implied = Vec::new();
        let mut rest = asked.as_slice();
        self.each_block(&targets, |block, rows| {
            for (bit, target) in block.iter().enumerate() {
                let (here, after) = rest.split_at(rest.partition_point(|(asked, _)| asked <= target));
                implied.extend(here.iter().copied().filter(|(_, source)| has(&rows[source.0 as usize], bit)));
                rest = after;
            }
        });
        Answers {
            implied,
            #[cfg(debug_assertions)]
            asked,
        }
    }

    /// For every group the members whose target the source of another member implies, and the first such other: groups of
    /// any size, without a question for each pair in them.
    pub fn implied_by_others(&self, groups: &[Vec<Member>]) -> Vec<ImpliedByOther> {
        let mut wanted: Vec<(Event, usize, usize)> = Vec::new();
        for (group, members) in groups.iter().enumerate() {
            wanted.extend(members.iter().enumerate().map(|(at, member)| (member.target, group, at)));
        }
        wanted.sort_unstable();
        let mut targets: Vec<Event> = wanted.iter().map(|(target, ..)| *target).collect();
        targets.dedup();
        let mut found = Vec::new();
        let mut rest = wanted.as_slice();
        self.each_block(&targets, |block, rows| {
            let end = block.last().map_or(0, |last| rest.partition_point(|(target, ..)| target <= last));
            let (here, after) = rest.split_at(end);
            rest = after;
            let mut any: BTreeMap<usize, Row> = BTreeMap::new();
            for (target, group, at) in here.iter().copied() {
                let members = &groups[group];
                let together = any.entry(group).or_insert_with(|| together(members, rows));
                let Ok(bit) = block.binary_search(&target) else { continue };
                if !has(together, bit) {
                    continue;
                }
                let implies = |member: &Member| member.target != target && has(&rows[member.source.0 as usize], bit);
                found.extend(members.iter().position(implies).map(|by| ImpliedByOther { group, member: at, by }));
            }
        });
        found.sort_unstable();
        found
    }

    /// Some hundred targets at a time, with what every event implies of them.
    fn each_block(&self, targets: &[Event], mut work: impl FnMut(&[Event], &[Row])) {
        let implied =
            |node: usize, edge: usize| Some(self.implied(Event(source::to_u32(node))).get(edge)?.0.0 as usize);
        let order: Vec<Event> =
            in_order(self.len(), implied).into_iter().map(|node| Event(source::to_u32(node))).collect();
        let is_cyclic = self.is_cyclic(&order);
        let mut rows = vec![[0_u64; WORDS]; self.len()];
        for block in targets.chunks(TARGETS_PER_PASS) {
            rows.fill([0; WORDS]);
            for (bit, target) in block.iter().enumerate() {
                rows[target.0 as usize][bit / 64] |= 1 << (bit % 64);
            }
            while self.pass(&order, &mut rows) && is_cyclic {}
            work(block, &rows);
        }
    }

    /// Whether an event stands before one that it implies.
    fn is_cyclic(&self, order: &[Event]) -> bool {
        let mut place = vec![0_usize; self.len()];
        for (at, event) in order.iter().enumerate() {
            place[event.0 as usize] = at;
        }
        order.iter().any(|from| self.implied(*from).iter().any(|(to, _)| place[to.0 as usize] > place[from.0 as usize]))
    }

    /// Gives every event what the events that it implies have; says whether any had something new.
    fn pass(&self, order: &[Event], rows: &mut [Row]) -> bool {
        let mut changed = false;
        for event in order {
            let before = rows[event.0 as usize];
            let mut row = before;
            for (to, _) in self.implied(*event) {
                for (word, more) in row.iter_mut().zip(&rows[to.0 as usize]) {
                    *word |= more;
                }
            }
            changed |= row != before;
            rows[event.0 as usize] = row;
        }
        changed
    }
}
