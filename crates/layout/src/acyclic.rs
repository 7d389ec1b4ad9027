//! Cycles opened: edges that would close one run backwards, the lightest first.
//!
//! Knows edges and lanes. Knows no layers yet.

use crate::{Arc, Graph, Lanes, index};

/// In a knot of more edges than this the lightest are not looked for: its edges run in the order of its nodes.
const KNOT_EDGES_MAX: usize = 4_000;

/// The edges so that none is part of a cycle. Those from a node to itself, or to none, are left out.
pub(crate) fn arcs(graph: &Graph) -> Vec<Arc> {
    let count = graph.nodes.len();
    let is_drawn = |edge: &crate::Edge| edge.from != edge.to && index(edge.from) < count && index(edge.to) < count;
    let lane = |node: usize| if graph.lanes == Lanes::Along { graph.nodes[node].lane } else { 0 };
    let mut arcs: Vec<Arc> = Vec::with_capacity(graph.edges.len());
    for (number, edge) in graph.edges.iter().enumerate().filter(|(_, edge)| is_drawn(edge)) {
        let (from, to) = (index(edge.from), index(edge.to));
        let is_backward = lane(from) > lane(to);
        let (from, to) = if is_backward { (to, from) } else { (from, to) };
        arcs.push(Arc { edge: number, from, to, weight: edge.weight.max(1), is_backward });
    }
    let knot = knots(count, &arcs);
    let mut inside: Vec<usize> = (0..arcs.len()).filter(|arc| knot[arcs[*arc].from] == knot[arcs[*arc].to]).collect();
    inside.sort_by_key(|arc| (std::cmp::Reverse(arcs[*arc].weight), *arc));
    let mut edges_of = vec![0usize; count];
    for arc in &inside {
        edges_of[knot[arcs[*arc].from]] += 1;
    }
    let mut open = Opened { next: vec![Vec::new(); count], seen: vec![0; count], round: 0 };
    for arc in inside {
        let Arc { from, to, .. } = arcs[arc];
        let closes = if edges_of[knot[from]] > KNOT_EDGES_MAX { from > to } else { open.reaches(to, from) };
        if closes {
            let arc = &mut arcs[arc];
            (arc.from, arc.to, arc.is_backward) = (to, from, !arc.is_backward);
        }
        open.next[arcs[arc].from].push(arcs[arc].to);
    }
    arcs
}

/// The edges that were taken so far.
struct Opened {
    next: Vec<Vec<usize>>,
    seen: Vec<usize>,
    round: usize,
}

impl Opened {
    fn reaches(&mut self, from: usize, to: usize) -> bool {
        self.round += 1;
        let mut stack = vec![from];
        while let Some(node) = stack.pop() {
            if node == to {
                return true;
            }
            if self.seen[node] == self.round {
                continue;
            }
            self.seen[node] = self.round;
            stack.extend(self.next[node].iter().filter(|next| self.seen[**next] != self.round));
        }
        false
    }
}

/// By node, the strongly connected component that it is in, as the number of one of its nodes: Tarjan's, without recursion.
fn knots(count: usize, arcs: &[Arc]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let mut next = vec![Vec::new(); count];
    for arc in arcs {
        next[arc.from].push(arc.to);
    }
    let (mut number, mut low, mut knot) = (vec![NONE; count], vec![NONE; count], vec![NONE; count]);
    let (mut stack, mut counter) = (Vec::new(), 0);
    for root in 0..count {
        if number[root] != NONE {
            continue;
        }
        let mut path = vec![(root, 0usize)];
        while let Some((node, at)) = path.last_mut() {
            let node = *node;
            if *at == 0 {
                (number[node], low[node]) = (counter, counter);
                counter += 1;
                stack.push(node);
            }
            if let Some(&to) = next[node].get(*at) {
                *at += 1;
                if number[to] == NONE {
                    path.push((to, 0));
                } else if knot[to] == NONE {
                    low[node] = low[node].min(number[to]);
                }
                continue;
            }
            // A node without edges is seen once, one with edges never again from its first.
            path.pop();
            if let Some((before, _)) = path.last() {
                low[*before] = low[*before].min(low[node]);
            }
            if low[node] == number[node] {
                while let Some(member) = stack.pop() {
                    knot[member] = node;
                    if member == node {
                        break;
                    }
                }
            }
        }
    }
    knot
}
