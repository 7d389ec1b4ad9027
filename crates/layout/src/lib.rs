//! Layered layout of directed graphs, after Sugiyama, Tagawa and Toda: edges run one way, from layer to layer, with few crossings.
//!
//! Knows sizes, arrows and lanes. Knows no component, no font and no file format, does no IO, and gives the same drawing for the same
//! graph. The axis on which edges run is *along*, the other one is *across*: whoever draws decides which of them is horizontal.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod acyclic;
mod chains;
mod layers;
mod order;
mod place;
mod route;
mod straight;

use chains::Chains;

/// What to draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    pub lanes: Lanes,
    /// A layer with more nodes than this is drawn as several. No limit where it is 0.
    pub layer_nodes_max: usize,
}

/// A box, by its size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    pub along: f64,
    pub across: f64,
    /// Lanes are in the order of their numbers.
    pub lane: u32,
}

/// An arrow between two nodes, by their places in [`Graph::nodes`]. One from a node to itself has no route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    pub from: u32,
    pub to: u32,
    /// A heavier edge is shorter and straighter, and of a cycle the lightest edge is the one that runs backwards.
    pub weight: u32,
}

/// How lanes lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lanes {
    /// One after another on the axis of the edges: all layers of a lane come before those of the next.
    #[default]
    Along,
    /// Beside each other, each through all layers.
    Across,
}

/// Room to leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// Between layers. Where edges are steep there is more.
    pub layers: f64,
    /// Between nodes of a layer.
    pub nodes: f64,
    /// Between edges, and between an edge and a node that it passes.
    pub edges: f64,
    /// Between lanes, beside what is between their nodes.
    pub lanes: f64,
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    pub along: f64,
    pub across: f64,
    /// By node.
    pub places: Vec<Place>,
    /// By edge.
    pub routes: Vec<Route>,
    /// By lane; nothing for one without nodes.
    pub lanes: Vec<Option<Band>>,
    /// How often edges cross, as far as their order in the layers makes them.
    pub crossings: u64,
}

/// The middle of a node, and its layer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    pub along: f64,
    pub across: f64,
    pub layer: u32,
}

/// The way of an edge from the rim of its first node to the rim of its last.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    pub points: Vec<Point>,
    /// It runs against the layers.
    pub is_backward: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub along: f64,
    pub across: f64,
}

/// What a lane takes of the axis on which lanes follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Band {
    pub from: f64,
    pub to: f64,
}

/// Lays out a graph. Edges that name a node that is not there have no route.
pub fn layout(graph: &Graph, spacing: &Spacing) -> Drawing {
    let arcs = acyclic::arcs(graph);
    let layers = layers::layers(graph, &arcs);
    let mut chains = Chains::new(graph, &arcs, &layers);
    let crossings = order::reduce_crossings(&mut chains);
    let across = place::across(&chains, graph, spacing);
    route::drawing(graph, spacing, &chains, &across, crossings)
}

/// An edge as the layers see it: it runs forward, whichever way it points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    /// In [`Graph::edges`].
    pub edge: usize,
    pub from: usize,
    pub to: usize,
    pub weight: u32,
    pub is_backward: bool,
}

/// A number of a list, as a number of a list elsewhere. Graphs of more than four thousand million nodes are not drawn.
pub(crate) fn index(number: u32) -> usize {
    number as usize
}

pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// A count as a length.
pub(crate) fn length(count: usize) -> f64 {
    f64::from(number(count))
}
