//! Which events imply which, for many questions at once.
//!
//! Walking the graph anew for every question costs its size each time: too much where thousands of components wait for
//! thousands. Questions are therefore put first and answered together, some hundred targets in one pass over the graph.

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

impl Events {
    /// Answers all questions, in time proportional to the graph and the number of targets over a machine word's bits.
    pub fn answer(&self, questions: Questions) -> Answers {
        let asked = questions.sorted();
        let mut targets: Vec<Event> = asked.iter().map(|(target, _)| *target).collect();
        targets.dedup();
        let implied =
            |node: usize, edge: usize| Some(self.implied(Event(source::to_u32(node))).get(edge)?.0.0 as usize);
        let order: Vec<Event> =
            in_order(self.len(), implied).into_iter().map(|node| Event(source::to_u32(node))).collect();
        let is_cyclic = self.is_cyclic(&order);
        let mut rows = vec![[0_u64; WORDS]; self.len()];
        let mut implied = Vec::new();
        let mut rest = asked.as_slice();
        for block in targets.chunks(TARGETS_PER_PASS) {
            rows.fill([0; WORDS]);
            for (bit, target) in block.iter().enumerate() {
                rows[target.0 as usize][bit / 64] |= 1 << (bit % 64);
            }
            while self.pass(&order, &mut rows) && is_cyclic {}
            for (bit, target) in block.iter().enumerate() {
                let (here, after) = rest.split_at(rest.partition_point(|(asked, _)| asked <= target));
                let has = |source: Event| rows[source.0 as usize][bit / 64] >> (bit % 64) & 1 == 1;
                implied.extend(here.iter().copied().filter(|(_, source)| has(*source)));
                rest = after;
            }
        }
        Answers {
            implied,
            #[cfg(debug_assertions)]
            asked,
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
    fn pass(&self, order: &[Event], rows: &mut [[u64; WORDS]]) -> bool {
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
