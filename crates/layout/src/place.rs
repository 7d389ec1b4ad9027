//! Where points are across: as near to their neighbours as those beside them allow.
//!
//! A layer is a row of points with an order and least distances; the places nearest to what its neighbours wish are a weighted isotonic
//! regression, which pooling adjacent violators solves exactly. Layers are solved in turns until little moves.

use crate::chains::Chains;
use crate::{Graph, Lanes, Spacing, straight};

/// Turns over all layers.
const TURNS: usize = 10;
/// Where there are more points than this, half as many do.
const FEW_POINTS_MAX: usize = 50_000;

/// By point.
pub(crate) fn across(chains: &Chains, graph: &Graph, spacing: &Spacing) -> Vec<f64> {
    let mut at = vec![0.0; chains.layer.len()];
    if graph.lanes == Lanes::Along {
        Rows::new(chains, graph, spacing, None).place(&mut at);
        return at;
    }
    // Lane below lane: what is in one is placed as if the others were not.
    let lanes = graph.nodes.iter().map(|node| node.lane).max().map_or(0, |last| last + 1);
    let mut next = 0.0;
    for lane in 0..lanes {
        let rows = Rows::new(chains, graph, spacing, Some(lane));
        rows.place(&mut at);
        let Some((low, high)) = rows.extent(&at) else { continue };
        rows.points().for_each(|point| at[point] += next - low);
        next += high - low + spacing.lanes + spacing.nodes;
    }
    at
}

pub(crate) struct Rows<'a> {
    pub chains: &'a Chains,
    graph: &'a Graph,
    spacing: &'a Spacing,
    pub layers: Vec<Vec<usize>>,
    lane: Option<u32>,
}

impl<'a> Rows<'a> {
    fn new(chains: &'a Chains, graph: &'a Graph, spacing: &'a Spacing, lane: Option<u32>) -> Self {
        let is_own = |point: &usize| lane.is_none_or(|lane| chains.lane[*point] == lane);
        let layers = chains.layers.iter().map(|layer| layer.iter().copied().filter(is_own).collect()).collect();
        Self { chains, graph, spacing, layers, lane }
    }

    fn points(&self) -> impl Iterator<Item = usize> + '_ {
        self.layers.iter().flatten().copied()
    }

    fn half(&self, point: usize) -> f64 {
        self.graph.nodes.get(point).map_or(0.0, |node| node.across / 2.0)
    }

    /// The least distance of two that stand beside each other.
    pub(crate) fn distance(&self, upper: usize, lower: usize) -> f64 {
        let both_nodes = upper < self.chains.nodes && lower < self.chains.nodes;
        let gap = if both_nodes { self.spacing.nodes } else { self.spacing.edges };
        self.half(upper) + gap + self.half(lower)
    }

    fn extent(&self, at: &[f64]) -> Option<(f64, f64)> {
        let low = self.points().map(|point| at[point] - self.half(point)).min_by(f64::total_cmp)?;
        let high = self.points().map(|point| at[point] + self.half(point)).max_by(f64::total_cmp)?;
        Some((low, high))
    }

    fn place(&self, at: &mut [f64]) {
        for layer in &self.layers {
            let mut next = 0.0;
            for (index, point) in layer.iter().enumerate() {
                if let Some(above) = index.checked_sub(1) {
                    next += self.distance(layer[above], *point);
                }
                at[*point] = next;
            }
            // The middles of all layers on one line.
            for point in layer {
                at[*point] -= next / 2.0;
            }
        }
        let last = self.layers.len();
        let turns = if at.len() > FEW_POINTS_MAX { TURNS / 2 } else { TURNS };
        for turn in 0..turns {
            let only = if turn < turns / 2 { Side::One } else { Side::Both };
            (0..last).for_each(|layer| self.settle(layer, at, only, true));
            (0..last).rev().for_each(|layer| self.settle(layer, at, only, false));
        }
        straight::straighten(self, at);
        self.close(at);
    }

    /// Moves the points of a layer to the places nearest to their wishes.
    fn settle(&self, layer: usize, at: &mut [f64], only: Side, forward: bool) {
        let points = &self.layers[layer];
        let mut wishes = Vec::with_capacity(points.len());
        let mut offset = 0.0;
        for (index, point) in points.iter().enumerate() {
            if let Some(above) = index.checked_sub(1) {
                offset += self.distance(points[above], *point);
            }
            let (wish, weight) = self.wish(*point, at, only, forward);
            wishes.push((wish - offset, weight));
        }
        let solved = nearest_rising(&wishes);
        let mut offset = 0.0;
        for (index, point) in points.iter().enumerate() {
            if let Some(above) = index.checked_sub(1) {
                offset += self.distance(points[above], *point);
            }
            at[*point] = solved[index] + offset;
        }
    }

    /// The mean of the neighbours, the straighter an edge is to be the more. Without any it is content.
    fn wish(&self, point: usize, at: &[f64], only: Side, forward: bool) -> (f64, f64) {
        let (before, after) = (&self.chains.before[point], &self.chains.after[point]);
        let (first, second) = if forward { (before, after) } else { (after, before) };
        let second: &[(usize, u32)] = if matches!(only, Side::Both) || first.is_empty() { second } else { &[] };
        let is_own = |other: usize| self.lane.is_none_or(|lane| self.chains.lane[other] == lane);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (other, weight) in first.iter().chain(second).filter(|(other, _)| is_own(*other)) {
            sum += at[*other] * f64::from(*weight);
            weights += f64::from(*weight);
        }
        if weights > 0.0 { (sum / weights, weights) } else { (at[point], 0.05) }
    }

    /// Takes out strips that nothing is in.
    fn close(&self, at: &mut [f64]) {
        let mut points: Vec<usize> = self.points().collect();
        points.sort_by(|a, b| (at[*a] - self.half(*a)).total_cmp(&(at[*b] - self.half(*b))));
        let (mut shift, mut reach) = (0.0, f64::NEG_INFINITY);
        let room = 2.0 * self.spacing.nodes;
        for point in points {
            let top = at[point] - self.half(point);
            if reach.is_finite() && top - reach > room {
                shift += top - reach - room;
            }
            reach = reach.max(at[point] + self.half(point));
            at[point] -= shift;
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Side {
    One,
    Both,
}

/// The rising sequence nearest to the wishes, by weighted squares.
fn nearest_rising(wishes: &[(f64, f64)]) -> Vec<f64> {
    // Value, weight, how many.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(wishes.len());
    for (wish, weight) in wishes {
        let mut block = (*wish, *weight, 1);
        while let Some(before) = blocks.last().filter(|before| before.0 >= block.0) {
            let weight = before.1 + block.1;
            block = ((before.0 * before.1 + block.0 * block.1) / weight, weight, before.2 + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|(value, _, count)| std::iter::repeat_n(*value, *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::nearest_rising;

    #[test]
    fn what_falls_is_pooled() {
        assert_eq!(nearest_rising(&[(1.0, 1.0), (2.0, 1.0)]), [1.0, 2.0]);
        assert_eq!(nearest_rising(&[(3.0, 1.0), (0.0, 2.0), (4.0, 1.0)]), [1.0, 1.0, 4.0]);
        assert!(nearest_rising(&[]).is_empty());
    }
}
