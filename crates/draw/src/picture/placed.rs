//! Boxes and arrows with their places.

use layout::{Drawing, Edge, Graph, Spacing};

use super::{Picture, Tone};
use crate::svg::small;
use crate::words::{shorten, width};

/// A letter of a name.
const LETTER: f64 = 7.2;
/// Letters of a name that are shown.
pub(super) const LETTERS_MAX: usize = 26;
const BOX_WIDTH_MIN: f64 = 110.0;
const BOX_PADDING: f64 = 24.0;
pub(super) const BOX_HEIGHT: f64 = 38.0;
const SPACING: Spacing = Spacing { layers: 46.0, nodes: 12.0, edges: 9.0, lanes: 40.0 };
/// A layer has about as many boxes as makes the picture a little wider than high.
const LAYER_BOXES_MIN: usize = 9;

/// A picture that has been laid out.
pub(super) struct Placed<'a> {
    pub picture: &'a Picture,
    pub drawing: Drawing,
    /// By box.
    pub widths: Vec<f64>,
    /// What is drawn of the names.
    pub names: Vec<String>,
}

impl<'a> Placed<'a> {
    pub(super) fn new(picture: &'a Picture) -> Self {
        let names: Vec<String> = picture.boxes.iter().map(|node| shorten(&node.name, LETTERS_MAX)).collect();
        let letters = |index: usize| width(&names[index]).max(width(&picture.boxes[index].detail) * 5 / 6);
        let wide = |index: usize| (small(letters(index)) * LETTER + BOX_PADDING).max(BOX_WIDTH_MIN).round();
        let widths: Vec<f64> = (0..names.len()).map(wide).collect();
        let number = |index: usize| source::to_u32(index);
        let node = |(index, node): (usize, &super::Node)| layout::Node {
            along: widths[index],
            across: BOX_HEIGHT,
            lane: number(node.lane),
        };
        let edge = |arrow: &super::Arrow| Edge {
            from: number(arrow.from),
            to: number(arrow.to),
            weight: match arrow.tone {
                _ if arrow.is_critical => 6,
                Tone::Guaranteed | Tone::Declared => 3,
                Tone::AppliedOnly | Tone::FalselyReady => 2,
                Tone::Applies | Tone::Unordered | Tone::Missing | Tone::Deadlocked => 1,
            },
        };
        let graph = Graph {
            nodes: picture.boxes.iter().enumerate().map(node).collect(),
            edges: picture.arrows.iter().map(edge).collect(),
            lanes: if picture.lanes_below { layout::Lanes::Across } else { layout::Lanes::Along },
            layer_nodes_max: layer_boxes_max(picture.boxes.len()),
        };
        let drawing = layout::layout(&graph, &SPACING);
        Self { picture, drawing, widths, names }
    }
}

/// About one and a half times the square root.
fn layer_boxes_max(boxes: usize) -> usize {
    (boxes * 9 / 4).isqrt().max(LAYER_BOXES_MIN)
}
