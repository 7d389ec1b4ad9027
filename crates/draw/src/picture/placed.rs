//! Boxes and arrows with their places: what comes first stands above what waits for it, or left of it where lanes lie beside each other.

use layout::{Band, Drawing, Edge, Graph, Spacing};

use super::paths::bends;
use super::{Arrow, Picture, Tone};
use crate::svg::small;
use crate::words::{shorten, width};

/// A letter of a name.
const LETTER: f64 = 7.2;
/// Letters of a name that are shown.
const LETTERS_MAX: usize = 26;
const BOX_WIDTH_MIN: f64 = 110.0;
const BOX_PADDING: f64 = 24.0;
pub(super) const BOX_HEIGHT: f64 = 38.0;
const SPACING: Spacing = Spacing { layers: 42.0, nodes: 14.0, edges: 10.0, lanes: 44.0 };
/// A layer has about as many boxes as makes the picture a little wider than high.
const LAYER_BOXES_MIN: usize = 9;
const LANE_PADDING: f64 = 18.0;
pub(super) const LANE_TITLE: f64 = 26.0;

/// A picture that has been laid out. Nothing in it is left of or above 0.
pub(super) struct Placed<'a> {
    pub picture: &'a Picture,
    /// By box.
    pub widths: Vec<f64>,
    /// What is drawn of the names.
    pub names: Vec<String>,
    /// The upper left corners.
    pub corners: Vec<(f64, f64)>,
    /// By arrow.
    pub ways: Vec<Vec<(f64, f64)>>,
    /// Title, corner and size.
    pub lanes: Vec<(String, [f64; 4])>,
    pub size: (f64, f64),
}

impl<'a> Placed<'a> {
    pub(super) fn new(picture: &'a Picture) -> Self {
        let names: Vec<String> = picture.boxes.iter().map(|node| shorten(&node.name, LETTERS_MAX)).collect();
        let letters = |index: usize| width(&names[index]).max(width(&picture.boxes[index].detail) * 5 / 6);
        let wide = |index: usize| (small(letters(index)) * LETTER + BOX_PADDING).max(BOX_WIDTH_MIN).round();
        let widths: Vec<f64> = (0..names.len()).map(wide).collect();
        let drawing = layout::layout(&graph(picture, &widths), &SPACING);
        let down = !picture.lanes_beside;
        let (dx, dy) = (LANE_PADDING, LANE_PADDING + LANE_TITLE);
        let turned = |along: f64, across: f64| if down { (across + dx, along + dy) } else { (along + dx, across + dy) };
        let corner = |(place, wide): (&layout::Place, &f64)| {
            let (x, y) = turned(place.along, place.across);
            (x - wide / 2.0, y - BOX_HEIGHT / 2.0)
        };
        let way = |route: &layout::Route| {
            let points: Vec<(f64, f64)> = route.points.iter().map(|point| turned(point.along, point.across)).collect();
            bends(&points, down)
        };
        let (wide, high) = turned(drawing.along, drawing.across);
        Self {
            picture,
            corners: drawing.places.iter().zip(&widths).map(corner).collect(),
            ways: drawing.routes.iter().map(way).collect(),
            lanes: lanes(picture, &drawing),
            size: (wide + LANE_PADDING, high + LANE_PADDING),
            widths,
            names,
        }
    }
}

/// The graph as `layout` knows it.
fn graph(picture: &Picture, widths: &[f64]) -> Graph {
    let number = |index: usize| source::to_u32(index);
    let node = |(node, wide): (&super::Node, &f64)| {
        let (along, across) = if picture.lanes_beside { (*wide, BOX_HEIGHT) } else { (BOX_HEIGHT, *wide) };
        layout::Node { along, across, lane: number(node.lane) }
    };
    let edge = |arrow: &Arrow| Edge {
        from: number(arrow.from),
        to: number(arrow.to),
        weight: match arrow.tone {
            _ if arrow.is_critical => 6,
            Tone::Guaranteed | Tone::Declared => 3,
            Tone::AppliedOnly | Tone::FalselyReady => 2,
            Tone::Applies | Tone::Soon | Tone::Missing | Tone::Deadlocked => 1,
        },
    };
    Graph {
        nodes: picture.boxes.iter().zip(widths).map(node).collect(),
        edges: picture.arrows.iter().map(edge).collect(),
        lanes: if picture.lanes_beside { layout::Lanes::Across } else { layout::Lanes::Along },
        layer_nodes_max: layer_boxes_max(picture),
    }
}

/// Boxes are wider than high: about the square root of how many there are beside each other, twice as many below each other.
fn layer_boxes_max(picture: &Picture) -> usize {
    let boxes = picture.boxes.len() * if picture.lanes_beside { 4 } else { 1 };
    boxes.isqrt().max(LAYER_BOXES_MIN)
}

/// The rectangles around the boxes of each lane.
fn lanes(picture: &Picture, drawing: &Drawing) -> Vec<(String, [f64; 4])> {
    let one = |(title, band): (&String, &Option<Band>)| {
        let Band { from, to } = (*band)?;
        let at = if picture.lanes_beside {
            [0.0, from + LANE_PADDING, drawing.along + 2.0 * LANE_PADDING, to - from + LANE_TITLE + 8.0]
        } else {
            [0.0, from, drawing.across + 2.0 * LANE_PADDING, to - from + LANE_TITLE + 2.0 * LANE_PADDING]
        };
        Some((title.clone(), at))
    };
    picture.lanes.iter().zip(&drawing.lanes).filter_map(one).collect()
}
