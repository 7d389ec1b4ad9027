//! Whatever the graph: nodes do not overlap, edges run from layer to layer and pass no node, lanes are kept, and the same graph has the
//! same drawing.

use coldstart_layout::{Drawing, Edge, Graph, Lanes, Node, Spacing, layout};
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, any};
use proptest::{prop_assert, prop_assert_eq, proptest};

const SPACING: Spacing = Spacing { layers: 40.0, nodes: 10.0, edges: 8.0, lanes: 30.0 };
/// Sums of lengths are not exact.
const SLACK: f64 = 1e-6;

fn graphs() -> impl Strategy<Value = Graph> {
    (1u32..40, any::<bool>(), 0usize..6).prop_flat_map(|(count, along, layer_nodes_max)| {
        let node = (20u32..200, 10u32..60, 0u32..4).prop_map(|(along, across, lane)| Node {
            along: f64::from(along),
            across: f64::from(across),
            lane,
        });
        let edge = (0..count, 0..count, 1u32..5).prop_map(|(from, to, weight)| Edge { from, to, weight });
        (vec(node, count as usize), vec(edge, 0..100)).prop_map(move |(nodes, edges)| Graph {
            nodes,
            edges,
            lanes: if along { Lanes::Along } else { Lanes::Across },
            layer_nodes_max,
        })
    })
}

/// Left, top, right, bottom.
fn box_of(graph: &Graph, drawing: &Drawing, node: usize) -> [f64; 4] {
    let (size, place) = (graph.nodes[node], drawing.places[node]);
    let (along, across) = (size.along / 2.0, size.across / 2.0);
    [place.along - along, place.across - across, place.along + along, place.across + across]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nodes_do_not_overlap(graph in graphs()) {
        let drawing = layout(&graph, &SPACING);
        for a in 0..graph.nodes.len() {
            for b in 0..a {
                let (a, b) = (box_of(&graph, &drawing, a), box_of(&graph, &drawing, b));
                let apart = a[2] <= b[0] + SLACK || b[2] <= a[0] + SLACK || a[3] <= b[1] + SLACK || b[3] <= a[1] + SLACK;
                prop_assert!(apart, "{a:?} and {b:?}");
            }
        }
    }

    #[test]
    fn everything_is_within_the_picture(graph in graphs()) {
        let drawing = layout(&graph, &SPACING);
        for node in 0..graph.nodes.len() {
            let [left, top, right, bottom] = box_of(&graph, &drawing, node);
            prop_assert!(left >= -SLACK && top >= -SLACK, "{left} {top}");
            prop_assert!(right <= drawing.along + SLACK && bottom <= drawing.across + SLACK, "{right} {bottom}");
        }
    }

    #[test]
    fn edges_run_from_layer_to_layer_and_pass_no_node(graph in graphs()) {
        let drawing = layout(&graph, &SPACING);
        for (edge, route) in graph.edges.iter().zip(&drawing.routes) {
            if edge.from == edge.to {
                prop_assert!(route.points.is_empty());
                continue;
            }
            let (from, to) = (drawing.places[edge.from as usize], drawing.places[edge.to as usize]);
            prop_assert_eq!(route.is_backward, from.layer > to.layer);
            prop_assert!(from.layer != to.layer);
            prop_assert!((route.points[0].across - from.across).abs() < SLACK);
            prop_assert!((route.points[route.points.len() - 1].across - to.across).abs() < SLACK);
            let mut along: Vec<f64> = route.points.iter().map(|point| point.along).collect();
            if route.is_backward {
                along.reverse();
            }
            prop_assert!(along.is_sorted(), "{along:?}");
            for pair in route.points.windows(2).filter(|pair| pair[0].across.to_bits() == pair[1].across.to_bits()) {
                let (low, high) = (pair[0].along.min(pair[1].along), pair[0].along.max(pair[1].along));
                for node in (0..graph.nodes.len()).filter(|node| ![edge.from, edge.to].contains(&(u32::try_from(*node).unwrap_or(0)))) {
                    let [left, top, right, bottom] = box_of(&graph, &drawing, node);
                    let is_beside = high <= left + SLACK || low >= right - SLACK || pair[0].across <= top + SLACK || pair[0].across >= bottom - SLACK;
                    prop_assert!(is_beside, "edge {edge:?} through node {node}");
                }
            }
        }
    }

    #[test]
    fn lanes_are_kept(graph in graphs()) {
        let drawing = layout(&graph, &SPACING);
        let mut before = f64::NEG_INFINITY;
        for (lane, band) in drawing.lanes.iter().enumerate() {
            let Some(band) = band else { continue };
            prop_assert!(band.from >= before - SLACK, "lane {lane} begins before another ends");
            before = band.to;
            for node in (0..graph.nodes.len()).filter(|node| graph.nodes[*node].lane as usize == lane) {
                let [left, top, right, bottom] = box_of(&graph, &drawing, node);
                let (from, to) = if graph.lanes == Lanes::Along { (left, right) } else { (top, bottom) };
                prop_assert!(from >= band.from - SLACK && to <= band.to + SLACK);
            }
        }
    }

    #[test]
    fn a_layer_holds_no_more_than_it_may(graph in graphs()) {
        let drawing = layout(&graph, &SPACING);
        if graph.layer_nodes_max > 0 {
            for place in &drawing.places {
                for lane in 0..4 {
                    let in_lane = |node: usize| graph.lanes == Lanes::Along || graph.nodes[node].lane == lane;
                    let beside = (0..graph.nodes.len()).filter(|node| drawing.places[*node].layer == place.layer && in_lane(*node));
                    prop_assert!(beside.count() <= graph.layer_nodes_max);
                }
            }
        }
    }

    #[test]
    fn the_same_graph_has_the_same_drawing(graph in graphs()) {
        prop_assert_eq!(layout(&graph, &SPACING), layout(&graph, &SPACING));
    }
}

#[test]
fn of_a_cycle_the_lightest_edge_runs_backwards() {
    let node = Node { along: 10.0, across: 10.0, lane: 0 };
    let edges = [(0, 1, 3), (1, 2, 1), (2, 0, 3)].map(|(from, to, weight)| Edge { from, to, weight });
    let graph = Graph { nodes: vec![node; 3], edges: edges.to_vec(), ..Graph::default() };
    let backward: Vec<bool> = layout(&graph, &SPACING).routes.iter().map(|route| route.is_backward).collect();
    assert_eq!(backward, [false, true, false]);
}

#[test]
fn a_tree_has_no_crossings_and_parents_stand_amid_their_children() {
    let node = Node { along: 10.0, across: 10.0, lane: 0 };
    let edges = [(0, 1), (0, 2), (1, 3), (2, 4), (1, 5), (2, 6)].map(|(from, to)| Edge { from, to, weight: 1 });
    let graph = Graph { nodes: vec![node; 7], edges: edges.to_vec(), ..Graph::default() };
    let drawing = layout(&graph, &SPACING);
    assert_eq!(drawing.crossings, 0);
    let at = |node: usize| drawing.places[node].across;
    assert!(at(3) < at(1) && at(1) < at(5), "{:?}", drawing.places);
    assert!((at(0) - f64::midpoint(at(1), at(2))).abs() < SLACK, "{:?}", drawing.places);
}

#[test]
fn nothing_makes_an_empty_drawing() {
    assert_eq!(layout(&Graph::default(), &SPACING), Drawing::default());
}
