//! The drawing: layers get their places along, and edges their ways.
//!
//! Knows where points are across. Edges pass a layer straight, at the place that is theirs, and so pass no node.

use crate::chains::Chains;
use crate::{Band, Drawing, Graph, Lanes, Place, Point, Route, Spacing, index};

/// How much more room there is between layers per unit that the steepest edge climbs.
const STEEP: f64 = 0.05;
/// That is at most so many times the usual room.
const STEEP_MAX: f64 = 2.0;

pub(crate) fn drawing(graph: &Graph, spacing: &Spacing, chains: &Chains, across: &[f64], crossings: u64) -> Drawing {
    let columns = columns(graph, spacing, chains, across);
    let half = |node: usize| graph.nodes[node].across / 2.0;
    let tops = (0..across.len()).map(|point| across[point] - if point < chains.nodes { half(point) } else { 0.0 });
    let top = tops.min_by(f64::total_cmp).unwrap_or(0.0);
    let bottoms = (0..across.len()).map(|point| across[point] + if point < chains.nodes { half(point) } else { 0.0 });
    let bottom = bottoms.max_by(f64::total_cmp).unwrap_or(0.0);
    let place = |node: usize| Place {
        along: columns[chains.layer[node]].from + graph.nodes[node].along / 2.0,
        across: across[node] - top,
        layer: crate::number(chains.layer[node]),
    };
    let places: Vec<Place> = (0..chains.nodes).map(place).collect();
    let mut routes = vec![Route::default(); graph.edges.len()];
    for (arc, path) in &chains.paths {
        let mut points = Vec::with_capacity(2 * path.len());
        for point in path {
            let column = columns[chains.layer[*point]];
            let across = across[*point] - top;
            let is_first = *point == arc.from;
            let right = if is_first { places[arc.from].along + graph.nodes[arc.from].along / 2.0 } else { column.from };
            points.push(Point { along: right, across });
            if *point != arc.to && column.to > right {
                points.push(Point { along: column.to, across });
            }
        }
        if arc.is_backward {
            points.reverse();
        }
        routes[arc.edge] = Route { points, is_backward: arc.is_backward };
    }
    let lanes = bands(graph, &columns, &places);
    Drawing {
        along: columns.last().map_or(0.0, |last| last.to),
        across: bottom - top,
        places,
        routes,
        lanes,
        crossings,
    }
}

/// What each layer takes along.
fn columns(graph: &Graph, spacing: &Spacing, chains: &Chains, across: &[f64]) -> Vec<Band> {
    let mut columns: Vec<Band> = Vec::with_capacity(chains.layers.len());
    let mut lane_before = None;
    for (layer, points) in chains.layers.iter().enumerate() {
        let nodes = points.iter().filter(|point| **point < chains.nodes);
        let wide = nodes.clone().map(|node| graph.nodes[*node].along).max_by(f64::total_cmp).unwrap_or(0.0);
        let lane = nodes.clone().map(|node| graph.nodes[*node].lane).next().filter(|_| graph.lanes == Lanes::Along);
        let from = match columns.last() {
            None => 0.0,
            Some(before) => {
                let rise = |point: &usize| {
                    let before = chains.before[*point].iter();
                    before.map(|(other, _)| (across[*other] - across[*point]).abs()).max_by(f64::total_cmp)
                };
                let steepest = chains.layers[layer].iter().filter_map(rise).max_by(f64::total_cmp).unwrap_or(0.0);
                let between = if lane == lane_before { 0.0 } else { spacing.lanes };
                before.to + spacing.layers + (steepest * STEEP).min(spacing.layers * STEEP_MAX) + between
            }
        };
        lane_before = lane;
        columns.push(Band { from, to: from + wide });
    }
    columns
}

fn bands(graph: &Graph, columns: &[Band], places: &[Place]) -> Vec<Option<Band>> {
    let count = graph.nodes.iter().map(|node| index(node.lane) + 1).max().unwrap_or(0);
    let mut bands: Vec<Option<Band>> = vec![None; count];
    for (node, place) in graph.nodes.iter().zip(places) {
        let own = match graph.lanes {
            Lanes::Along => columns[index(place.layer)],
            Lanes::Across => Band { from: place.across - node.across / 2.0, to: place.across + node.across / 2.0 },
        };
        let band = bands[index(node.lane)].get_or_insert(own);
        *band = Band { from: band.from.min(own.from), to: band.to.max(own.to) };
    }
    bands
}
