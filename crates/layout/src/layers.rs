//! The layer of every node: as early as its edges allow, then moved to where its edges are short.
//!
//! Knows which edges run forward. Knows no order within a layer.

use crate::{Arc, Graph, Lanes, index};

/// How often nodes are moved to shorten edges.
const ROUNDS_MAX: usize = 12;

/// By node.
pub(crate) fn layers(graph: &Graph, arcs: &[Arc]) -> Vec<usize> {
    let count = graph.nodes.len();
    let mut view = View {
        into: vec![Vec::new(); count],
        out: vec![Vec::new(); count],
        lane: graph.nodes.iter().map(|node| if graph.lanes == Lanes::Along { node.lane } else { 0 }).collect(),
        layer: vec![0; count],
    };
    for arc in arcs {
        view.into[arc.to].push((arc.from, arc.weight));
        view.out[arc.from].push((arc.to, arc.weight));
    }
    let order = view.in_order();
    for node in &order {
        view.layer[*node] = view.earliest(*node);
    }
    view.shorten(&order);
    view.pack();
    let mut layers = view.whole(graph);
    split(graph, &view, &mut layers);
    layers
}

struct View {
    /// Neighbours with the weight of the edge.
    into: Vec<Vec<(usize, u32)>>,
    out: Vec<Vec<(usize, u32)>>,
    lane: Vec<u32>,
    /// Within its lane.
    layer: Vec<usize>,
}

impl View {
    /// Every node after all that have an edge to it.
    fn in_order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.into.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..missing.len()).filter(|node| missing[*node] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for (next, _) in &self.out[node] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    order.push(*next);
                }
            }
        }
        order
    }

    fn earliest(&self, node: usize) -> usize {
        let own = self.into[node].iter().filter(|(from, _)| self.lane[*from] == self.lane[node]);
        own.map(|(from, _)| self.layer[*from] + 1).max().unwrap_or(0)
    }

    /// The last layer from which all its edges still run forward.
    fn latest(&self, node: usize, depth: usize) -> usize {
        let own = self.out[node].iter().filter(|(to, _)| self.lane[*to] == self.lane[node]);
        own.map(|(to, _)| self.layer[*to] - 1).min().unwrap_or(depth - 1)
    }

    /// Moves nodes to the side on which they have more edges.
    fn shorten(&mut self, order: &[usize]) {
        let lanes = self.lane.iter().max().map_or(0, |most| index(*most) + 1);
        let mut depth = vec![1; lanes];
        for node in order {
            let lane = index(self.lane[*node]);
            depth[lane] = depth[lane].max(self.layer[*node] + 1);
        }
        let weight = |edges: &[(usize, u32)]| edges.iter().map(|(_, weight)| u64::from(*weight)).sum::<u64>();
        for round in 0..ROUNDS_MAX {
            let mut moved = false;
            for at in 0..order.len() {
                let node = if round % 2 == 0 { order[order.len() - 1 - at] } else { order[at] };
                let (before, after) = (weight(&self.into[node]), weight(&self.out[node]));
                let layer = match before.cmp(&after) {
                    std::cmp::Ordering::Less => self.latest(node, depth[index(self.lane[node])]),
                    std::cmp::Ordering::Greater => self.earliest(node),
                    std::cmp::Ordering::Equal => continue,
                };
                moved |= layer != self.layer[node];
                self.layer[node] = layer;
            }
            if !moved {
                break;
            }
        }
    }

    /// Leaves no layer empty.
    fn pack(&mut self) {
        let mut used: Vec<(u32, usize)> =
            (0..self.layer.len()).map(|node| (self.lane[node], self.layer[node])).collect();
        used.sort_unstable();
        used.dedup();
        for node in 0..self.layer.len() {
            let lane = self.lane[node];
            let first = used.partition_point(|(other, _)| *other < lane);
            let own = used.partition_point(|place| *place < (lane, self.layer[node]));
            self.layer[node] = own - first;
        }
    }

    /// Lanes one after another.
    fn whole(&self, graph: &Graph) -> Vec<usize> {
        if graph.lanes == Lanes::Across {
            return self.layer.clone();
        }
        let lanes = self.lane.iter().max().map_or(0, |most| index(*most) + 1);
        let mut depth = vec![0; lanes];
        for (node, lane) in self.lane.iter().enumerate() {
            depth[index(*lane)] = depth[index(*lane)].max(self.layer[node] + 1);
        }
        let first = |lane: u32| depth[..index(lane)].iter().sum::<usize>();
        let starts: Vec<usize> = (0..lanes).map(|lane| first(crate::number(lane))).collect();
        self.lane.iter().enumerate().map(|(node, lane)| starts[index(*lane)] + self.layer[node]).collect()
    }
}

/// Makes several layers of one that is too large: its nodes have no edges among themselves.
fn split(graph: &Graph, view: &View, layers: &mut [usize]) {
    let most = graph.layer_nodes_max;
    if most == 0 {
        return;
    }
    let count = layers.iter().max().map_or(0, |last| last + 1);
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); count];
    layers.iter().enumerate().for_each(|(node, layer)| members[*layer].push(node));
    let mut next = 0;
    for mut nodes in members {
        // What leads on stands near to where it leads; what is alike stands together.
        nodes.sort_by_key(|node| {
            let from = view.into[*node].iter().map(|(from, _)| *from).max();
            (graph.nodes[*node].lane, !view.out[*node].is_empty(), from, *node)
        });
        let mut parts = 1;
        let lanes = nodes.chunk_by(|a, b| graph.lanes == Lanes::Along || graph.nodes[*a].lane == graph.nodes[*b].lane);
        for lane in lanes {
            let own = lane.len().div_ceil(most);
            let each = lane.len().div_ceil(own);
            for (at, node) in lane.iter().enumerate() {
                layers[*node] = next + at / each;
            }
            parts = parts.max(own);
        }
        next += parts;
    }
}
