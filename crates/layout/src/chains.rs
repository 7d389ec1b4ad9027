//! Layers whose edges lead only to the next layer: a longer edge has a point in every layer that it passes.
//!
//! Knows who stands in which layer, and beside whom. Knows no coordinates.

use crate::{Arc, Graph, Lanes, index};

/// The points: first the nodes, then those of long edges.
#[derive(Clone, Debug)]
pub(crate) struct Chains {
    /// The points of each layer, in their order.
    pub layers: Vec<Vec<usize>>,
    /// By point.
    pub layer: Vec<usize>,
    pub position: Vec<usize>,
    /// The lane that it must stay in; 0 for all where lanes do not lie beside each other.
    pub lane: Vec<u32>,
    /// Neighbours in the layer before and in the one after, with how straight the edge should be.
    pub before: Vec<Vec<(usize, u32)>>,
    pub after: Vec<Vec<(usize, u32)>>,
    /// By arc, its points from first to last.
    pub paths: Vec<(Arc, Vec<usize>)>,
    pub nodes: usize,
}

impl Chains {
    pub(crate) fn new(graph: &Graph, arcs: &[Arc], layers: &[usize]) -> Self {
        let nodes = graph.nodes.len();
        let is_across = graph.lanes == Lanes::Across;
        let lane = |node: usize| if is_across { graph.nodes[node].lane } else { 0 };
        let mut chains = Self {
            layers: vec![Vec::new(); layers.iter().max().map_or(0, |last| last + 1)],
            layer: layers.to_vec(),
            position: Vec::new(),
            lane: (0..nodes).map(lane).collect(),
            before: Vec::new(),
            after: Vec::new(),
            paths: Vec::with_capacity(arcs.len()),
            nodes,
        };
        for arc in arcs {
            let mut path = vec![arc.from];
            for layer in layers[arc.from] + 1..layers[arc.to] {
                path.push(chains.layer.len());
                chains.layer.push(layer);
                chains.lane.push(lane(arc.from));
            }
            path.push(arc.to);
            chains.paths.push((*arc, path));
        }
        chains.link();
        chains.first_order();
        chains
    }

    /// Long edges are to be straight, and what is heavy more so.
    fn link(&mut self) {
        let count = self.layer.len();
        (self.before, self.after, self.position) = (vec![Vec::new(); count], vec![Vec::new(); count], vec![0; count]);
        for (arc, path) in &self.paths {
            for pair in path.windows(2) {
                let inner = pair.iter().filter(|point| **point >= self.nodes).count();
                let straight = [1, 2, 8][inner] * arc.weight;
                self.after[pair[0]].push((pair[1], straight));
                self.before[pair[1]].push((pair[0], straight));
            }
        }
    }

    /// What hangs together stands together: depth first, from what nothing leads to.
    fn first_order(&mut self) {
        let count = self.layer.len();
        let mut seen = vec![false; count];
        let sources = (0..count).filter(|point| self.before[*point].is_empty());
        let mut stack = Vec::new();
        for source in sources.chain(0..count) {
            stack.push(source);
            while let Some(point) = stack.pop() {
                if std::mem::replace(&mut seen[point], true) {
                    continue;
                }
                self.layers[self.layer[point]].push(point);
                stack.extend(self.after[point].iter().rev().map(|(to, _)| *to).filter(|to| !seen[*to]));
            }
        }
        for layer in 0..self.layers.len() {
            let lane = &self.lane;
            self.layers[layer].sort_by_key(|point| index(lane[*point]));
            self.renumber(layer);
        }
    }

    pub(crate) fn renumber(&mut self, layer: usize) {
        for (position, point) in self.layers[layer].iter().enumerate() {
            self.position[*point] = position;
        }
    }
}
