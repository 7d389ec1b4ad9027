//! Of all dependencies that findings ask for, the fewest that give all of them their order.
//!
//! A pure function over numbers: it knows neither components nor files.

use std::collections::{BTreeMap, BTreeSet};

/// More than so many are chosen one after the other, not among all sets of them.
pub(crate) const EXACT_MAX: usize = 12;

/// One waits for the other.
pub(crate) type Edge = (usize, usize);

/// What comes of every edge that is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// It is declared.
    Yes,
    /// Others that are, together with those that were there, order the same two.
    Implied,
    /// With it there would be a cycle.
    Cycle,
}

/// Chooses: as many wishes as possible get their order, without a new cycle, by as few edges as possible.
pub(crate) fn choose(existing: &[Edge], wished: &[Edge]) -> Vec<Chosen> {
    let graph = Graph::new(existing);
    let unique: BTreeSet<Edge> = wished.iter().copied().collect();
    // Whatever closes a cycle with what is there already is no choice.
    let open: Vec<Edge> = unique.into_iter().filter(|(of, on)| of != on && !graph.reaches(*on, *of)).collect();
    let kept = if graph.with(&open).are_open(&open) {
        open
    } else if open.len() <= EXACT_MAX {
        largest(&graph, &open)
    } else {
        one_by_one(&graph, &open)
    };
    let declared: BTreeSet<Edge> = reduced(&graph, kept).into_iter().collect();
    let after = graph.with(&declared.iter().copied().collect::<Vec<_>>());
    let state = |edge: &Edge| match () {
        () if declared.contains(edge) => Chosen::Yes,
        () if edge.0 != edge.1 && after.reaches(edge.0, edge.1) => Chosen::Implied,
        () => Chosen::Cycle,
    };
    wished.iter().map(state).collect()
}

/// Edges, by where they begin.
#[derive(Clone)]
struct Graph {
    next: BTreeMap<usize, Vec<usize>>,
}

impl Graph {
    fn new(edges: &[Edge]) -> Self {
        Self { next: BTreeMap::new() }.with(edges)
    }

    /// The same with more edges.
    fn with(&self, edges: &[Edge]) -> Self {
        let mut all = self.clone();
        for edge in edges {
            all.add(*edge);
        }
        all
    }

    fn add(&mut self, (of, on): Edge) {
        self.next.entry(of).or_default().push(on);
    }

    /// Takes out one edge that was added.
    fn remove(&mut self, (of, on): Edge) {
        let next = self.next.entry(of).or_default();
        if let Some(at) = next.iter().rposition(|it| *it == on) {
            next.remove(at);
        }
    }

    /// Whether a way of one edge or more leads from one to the other.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut work = vec![from];
        while let Some(at) = work.pop() {
            for next in self.next.get(&at).map(Vec::as_slice).unwrap_or_default() {
                if *next == to {
                    return true;
                }
                if seen.insert(*next) {
                    work.push(*next);
                }
            }
        }
        false
    }

    /// Whether none of these edges, which it has, is part of a cycle.
    fn are_open(&self, edges: &[Edge]) -> bool {
        edges.iter().all(|(of, on)| !self.reaches(*on, *of))
    }
}

/// The largest set without a cycle, of the fewest edges that imply as much; the first of several.
fn largest(graph: &Graph, open: &[Edge]) -> Vec<Edge> {
    let mut best: (usize, Vec<Edge>) = (0, Vec::new());
    for mask in 0_u32..1 << open.len() {
        let set: Vec<Edge> = (0..open.len()).filter(|at| mask >> at & 1 == 1).map(|at| open[at]).collect();
        let all = graph.with(&set);
        if !all.are_open(&set) {
            continue;
        }
        let closes = open.iter().filter(|(of, on)| all.reaches(*of, *on)).count();
        if closes > best.0 || (closes == best.0 && set.len() < best.1.len()) {
            best = (closes, set);
        }
    }
    best.1
}

/// Each that closes no cycle with those before it.
fn one_by_one(graph: &Graph, open: &[Edge]) -> Vec<Edge> {
    let (mut all, mut set) = (graph.clone(), Vec::new());
    for edge in open {
        if !all.reaches(edge.1, edge.0) {
            all.add(*edge);
            set.push(*edge);
        }
    }
    set
}

/// Without the edges that the others imply.
fn reduced(graph: &Graph, set: Vec<Edge>) -> Vec<Edge> {
    let mut all = graph.with(&set);
    let is_needed = |edge: &Edge| {
        all.remove(*edge);
        let is_needed = !all.reaches(edge.0, edge.1);
        if is_needed {
            all.add(*edge);
        }
        is_needed
    };
    set.into_iter().filter(is_needed).collect()
}

#[cfg(test)]
mod tests {
    use super::{Chosen, Edge, Graph, choose};
    use proptest::prelude::*;

    #[test]
    fn an_edge_that_another_implies_is_not_declared() {
        // A store waits for its operator: what waits for the store waits for both.
        assert_eq!(choose(&[(1, 2)], &[(0, 1), (0, 2)]), [Chosen::Yes, Chosen::Implied]);
        assert_eq!(choose(&[], &[(0, 1), (1, 2), (0, 2)]), [Chosen::Yes, Chosen::Yes, Chosen::Implied]);
    }

    #[test]
    fn of_two_that_close_a_cycle_one_is_declared() {
        let chosen = choose(&[], &[(0, 1), (1, 0)]);
        assert_eq!(chosen.iter().filter(|it| **it == Chosen::Yes).count(), 1);
        assert_eq!(choose(&[(1, 0)], &[(0, 1)]), [Chosen::Cycle]);
        assert_eq!(choose(&[], &[(3, 3)]), [Chosen::Cycle]);
    }

    /// All sets, and the best of them: how many wishes it closes, and by how many edges.
    fn brute(existing: &[Edge], wished: &[Edge]) -> (usize, usize) {
        let graph = Graph::new(existing);
        let mut best = (0, 0);
        for mask in 0_u32..1 << wished.len() {
            let set: Vec<Edge> = (0..wished.len()).filter(|at| mask >> at & 1 == 1).map(|at| wished[at]).collect();
            let all = graph.with(&set);
            let is_new_cycle = set.iter().any(|(of, on)| of == on || all.reaches(*on, *of));
            if is_new_cycle {
                continue;
            }
            let closes = wished.iter().filter(|(of, on)| all.reaches(*of, *on)).count();
            if closes > best.0 || (closes == best.0 && set.len() < best.1) {
                best = (closes, set.len());
            }
        }
        best
    }

    fn edges(nodes: usize, number: usize) -> impl Strategy<Value = Vec<Edge>> {
        proptest::collection::vec((0..nodes, 0..nodes), 0..number)
    }

    /// Only forward, so that there is no cycle.
    fn forward(edges: Vec<Edge>) -> Vec<Edge> {
        edges.into_iter().filter(|(of, on)| of < on).collect()
    }

    proptest! {
        #[test]
        fn the_choice_is_as_good_as_the_best_of_all_sets(existing in edges(6, 6), wished in edges(6, 9)) {
            let existing = forward(existing);
            let wished: Vec<Edge> = wished.into_iter().collect::<std::collections::BTreeSet<_>>().into_iter().collect();
            let chosen = choose(&existing, &wished);
            let declared: Vec<Edge> =
                wished.iter().zip(&chosen).filter(|(_, it)| **it == Chosen::Yes).map(|(edge, _)| *edge).collect();
            let closes = chosen.iter().filter(|it| **it != Chosen::Cycle).count();
            prop_assert_eq!((closes, declared.len()), brute(&existing, &wished));
        }

        #[test]
        fn many_are_chosen_without_a_cycle_and_without_one_that_others_imply(existing in edges(20, 20), wished in edges(20, 60)) {
            let existing = forward(existing);
            let chosen = choose(&existing, &wished);
            let graph = Graph::new(&existing);
            let mut declared: Vec<Edge> =
                wished.iter().zip(&chosen).filter(|(_, it)| **it == Chosen::Yes).map(|(edge, _)| *edge).collect();
            declared.sort_unstable();
            declared.dedup();
            prop_assert!(graph.with(&declared).are_open(&declared));
            for edge in &declared {
                let others: Vec<Edge> = declared.iter().copied().filter(|it| it != edge).collect();
                prop_assert!(!graph.with(&others).reaches(edge.0, edge.1));
            }
        }
    }
}
