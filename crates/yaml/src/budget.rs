//! How much may be looked at and made: small files can ask for work without end.
//!
//! Counts nodes that are looked at or made, and bytes that are made. Does not know what for.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::node::{Node, Value};

/// What a node takes up beside its text.
const NODE_BYTES: u64 = 64;
/// Text that is read through in the time of one node.
const TEXT_BYTES_OF_NODE: u64 = 16;
/// Nodes that are counted before all who share a budget are told.
const UNTOLD_NODES_MAX: u64 = 4096;
/// Bytes, likewise.
const UNTOLD_BYTES_MAX: u64 = 256 * 1024;

/// What something costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// Nodes that are looked at or made.
    pub nodes: u64,
    /// Bytes that are made.
    pub bytes: u64,
}

impl Cost {
    pub const NONE: Self = Self { nodes: 0, bytes: 0 };
    /// What one build may cost.
    pub const BUILD_MAX: Self = Self { nodes: 10_000_000, bytes: 96 * 1024 * 1024 };
    /// What everything of one repository may cost together.
    pub const REPORT_MAX: Self = Self { nodes: 40_000_000, bytes: 256 * 1024 * 1024 };

    /// Nodes that are looked at.
    pub fn seen(nodes: usize) -> Self {
        Self { nodes: to_u64(nodes), bytes: 0 }
    }

    /// Text that is read through.
    pub fn read(bytes: usize) -> Self {
        Self { nodes: to_u64(bytes) / TEXT_BYTES_OF_NODE, bytes: 0 }
    }

    /// Nodes that are made, with text of their own.
    pub fn made(nodes: usize, text_bytes: usize) -> Self {
        let (nodes, text) = (to_u64(nodes), to_u64(text_bytes));
        Self {
            nodes: nodes.saturating_add(text / TEXT_BYTES_OF_NODE),
            bytes: nodes.saturating_mul(NODE_BYTES).saturating_add(text),
        }
    }

    /// What it costs to look at a whole value, and not at more of it than at `nodes_max`: shared parts count each time.
    pub fn of(node: &Node, nodes_max: u64) -> Self {
        let mut nodes = 0;
        count(node, nodes_max, &mut nodes);
        Self { nodes, bytes: 0 }
    }

    /// As [`Cost::of`], for a value that is put somewhere else: its text is shared.
    pub fn of_copy(node: &Node, nodes_max: u64) -> Self {
        let seen = Self::of(node, nodes_max);
        Self { nodes: seen.nodes, bytes: seen.nodes.saturating_mul(NODE_BYTES) }
    }

    /// The same so many times.
    #[must_use]
    pub fn times(self, count: usize) -> Self {
        let count = to_u64(count);
        Self { nodes: self.nodes.saturating_mul(count), bytes: self.bytes.saturating_mul(count) }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { nodes: self.nodes.saturating_add(other.nodes), bytes: self.bytes.saturating_add(other.bytes) }
    }

    /// What is left of it after another was taken.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self { nodes: self.nodes.saturating_sub(other.nodes), bytes: self.bytes.saturating_sub(other.bytes) }
    }

    /// An equal part for each of so many.
    #[must_use]
    pub fn shared_by(self, count: usize) -> Self {
        let count = to_u64(count.max(1));
        Self { nodes: self.nodes / count, bytes: self.bytes / count }
    }

    fn fits(self, max: Self) -> bool {
        self.nodes <= max.nodes && self.bytes <= max.bytes
    }

    fn smaller(self, other: Self) -> Self {
        Self { nodes: self.nodes.min(other.nodes), bytes: self.bytes.min(other.bytes) }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.nodes / 1_000_000 {
            0 => write!(f, "{} nodes or {} KiB", self.nodes, self.bytes / 1024),
            millions => write!(f, "{millions} million nodes or {} MiB", self.bytes / (1024 * 1024)),
        }
    }
}

/// Why no more is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Spent {
    /// One build takes too much.
    Build,
    /// All of them together do.
    Report,
    /// It takes more than this, an equal part for each of so many.
    Part { max: Cost, of: usize },
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Build => write!(f, "would take more than {} to build", Cost::BUILD_MAX),
            Self::Report => write!(f, "would take, with what was built before it, more than {}", Cost::REPORT_MAX),
            Self::Part { max, of } => {
                write!(f, "would take more than {max}, one of {of} equal parts of {}", Cost::REPORT_MAX)
            }
        }
    }
}

impl std::error::Error for Spent {}

/// What one piece of work may cost, alone and together with what is done beside it.
#[derive(Debug)]
pub struct Budget {
    max: Cost,
    spent: Cost,
    /// What the others beside it were told.
    told: Cost,
    beside: Option<Arc<Shared>>,
    /// What it means if it does not suffice.
    means: Spent,
    over: Option<Spent>,
}

impl Budget {
    /// For one build, and nothing beside it.
    pub fn of_build() -> Self {
        Self::new(Cost::BUILD_MAX, Spent::Build, None)
    }

    /// For one build of which others are made at the same time.
    pub fn beside(shared: &Arc<Shared>) -> Self {
        Self::new(Cost::BUILD_MAX, Spent::Build, Some(Arc::clone(shared)))
    }

    /// For one build, where so much is left for all.
    pub fn of_rest(left: Cost) -> Self {
        let means = if Cost::BUILD_MAX.fits(left) { Spent::Build } else { Spent::Report };
        Self::new(left.smaller(Cost::BUILD_MAX), means, None)
    }

    /// For one of so many that are worked on at the same time, each with an equal part of what all may take.
    pub fn of_part(all: Cost, of: usize) -> Self {
        let part = all.shared_by(of);
        let means = if Cost::BUILD_MAX.fits(part) { Spent::Build } else { Spent::Part { max: part, of } };
        Self::new(part.smaller(Cost::BUILD_MAX), means, None)
    }

    fn new(max: Cost, means: Spent, beside: Option<Arc<Shared>>) -> Self {
        Self { max, spent: Cost::NONE, told: Cost::NONE, beside, means, over: None }
    }

    /// Takes what something costs before it is done.
    pub fn spend(&mut self, cost: Cost) -> Result<(), Spent> {
        self.spent = self.spent.and(cost);
        if self.over.is_none() && !self.spent.fits(self.max) {
            self.over = Some(self.means);
        }
        let untold = self.spent.without(self.told);
        if untold.nodes > UNTOLD_NODES_MAX || untold.bytes > UNTOLD_BYTES_MAX {
            self.tell();
        }
        self.over.map_or(Ok(()), Err)
    }

    /// Nodes that may still be looked at.
    pub fn nodes_left(&self) -> u64 {
        self.max.without(self.spent).nodes
    }

    /// What was spent so far.
    pub fn spent(&self) -> Cost {
        self.spent
    }

    fn tell(&mut self) {
        let Some(shared) = &self.beside else { return };
        if !shared.add(self.spent.without(self.told)) && self.over.is_none() {
            self.over = Some(Spent::Report);
        }
        self.told = self.spent;
    }
}

impl Default for Budget {
    fn default() -> Self {
        Self::of_build()
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        self.tell();
    }
}

/// What many pieces of work at the same time may cost together.
#[derive(Debug)]
pub struct Shared {
    max: Cost,
    nodes: AtomicU64,
    bytes: AtomicU64,
}

impl Shared {
    pub fn new(max: Cost) -> Self {
        Self { max, nodes: AtomicU64::new(0), bytes: AtomicU64::new(0) }
    }

    /// What was spent of it.
    pub fn spent(&self) -> Cost {
        Cost { nodes: self.nodes.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Whether it sufficed for all.
    pub fn suffices(&self) -> bool {
        self.spent().fits(self.max)
    }

    fn add(&self, cost: Cost) -> bool {
        let nodes = self.nodes.fetch_add(cost.nodes, Ordering::Relaxed).saturating_add(cost.nodes);
        let bytes = self.bytes.fetch_add(cost.bytes, Ordering::Relaxed).saturating_add(cost.bytes);
        Cost { nodes, bytes }.fits(self.max)
    }
}

fn to_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn count(node: &Node, nodes_max: u64, nodes: &mut u64) {
    *nodes += 1;
    if *nodes > nodes_max {
        return;
    }
    match &node.value {
        Value::Scalar(_) => {}
        Value::Map(map) => map
            .iter()
            .take_while(|entry| {
                count(&entry.value, nodes_max, nodes);
                *nodes <= nodes_max
            })
            .for_each(drop),
        Value::Seq(items) => items
            .iter()
            .take_while(|item| {
                count(item, nodes_max, nodes);
                *nodes <= nodes_max
            })
            .for_each(drop),
    }
}

#[cfg(test)]
mod tests {
    use source::Span;

    use super::*;
    use crate::node::Map;

    #[test]
    fn what_is_shared_counts_each_time_and_no_further_than_asked() {
        let mut node = Node::string("a", Span::GENERATED);
        for _ in 0..40 {
            let mut map = Map::new();
            map.insert("a", Span::GENERATED, node.clone());
            map.insert("b", Span::GENERATED, node.clone());
            node = Node::map(map, Span::GENERATED);
        }
        assert!((1_001..2_000).contains(&Cost::of(&node, 1_000).nodes));
        let one = node.get("a").and_then(|node| node.get("b")).unwrap();
        assert_eq!(Cost::of(one.at(&["a"; 36]).unwrap(), 1_000).nodes, 7);
    }

    #[test]
    fn a_budget_ends_for_good_at_its_own_limit() {
        let mut budget = Budget::of_build();
        assert_eq!(budget.spend(Cost::seen(9_000_000)), Ok(()));
        assert_eq!(budget.spend(Cost::seen(2_000_000)), Err(Spent::Build));
        assert_eq!(budget.spend(Cost::NONE), Err(Spent::Build));
    }

    #[test]
    fn a_budget_ends_where_all_together_spent_too_much() {
        let shared = Arc::new(Shared::new(Cost { nodes: 10_000, bytes: 0 }));
        let mut one = Budget::beside(&shared);
        assert_eq!(one.spend(Cost::seen(9_000)), Ok(()));
        let mut other = Budget::beside(&shared);
        assert_eq!(other.spend(Cost::seen(900)), Ok(()));
        assert_eq!(other.spend(Cost::seen(9_000)), Err(Spent::Report));
        drop((one, other));
        assert!(!shared.suffices());
        assert_eq!(shared.spent().nodes, 18_900);
    }

    #[test]
    fn what_is_left_says_whose_limit_it_is() {
        let of_five = || Budget::of_part(Cost::REPORT_MAX, 5).spend(Cost::seen(9_000_000));
        let max = Cost::REPORT_MAX.shared_by(5);
        assert_eq!(of_five(), Err(Spent::Part { max, of: 5 }));
        assert!(of_five().is_err_and(|spent| spent.to_string().contains("8 million nodes or 51 MiB")));
        assert_eq!(Budget::of_part(Cost::REPORT_MAX, 2).spend(Cost::seen(11_000_000)), Err(Spent::Build));
        let spend = |left: Cost| Budget::of_rest(left).spend(Cost::seen(11_000_000));
        assert_eq!(spend(Cost::REPORT_MAX), Err(Spent::Build));
        assert_eq!(spend(Cost { nodes: 5, bytes: 0 }), Err(Spent::Report));
    }
}
