//! One file with its own style: light, and dark where the reader prefers that.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::paths::{at, path};
use super::placed::{BOX_HEIGHT, LANE_TITLE, Placed};
use super::{Arrow, Node, Picture, State, Tone};
use crate::svg::{escape, small};
use crate::words::shorten;

pub(crate) const STYLE: &str = include_str!("style.css");
const MARGIN: f64 = 24.0;
const HEAD: f64 = 92.0;
const LANE_TEXT: f64 = 18.0;
const WIDTH_MIN: f64 = 720.0;
const LETTER: f64 = 7.0;
/// Between two pictures.
const BETWEEN: f64 = 40.0;

/// Every cluster below the one before.
pub fn svg(pictures: &[Picture]) -> String {
    let mut body = String::new();
    let (mut wide, mut high): (f64, f64) = (WIDTH_MIN, 0.0);
    for picture in pictures {
        let placed = Placed::new(picture);
        let top = if high > 0.0 { high + BETWEEN } else { 0.0 };
        let (width, height) = one(&mut body, &placed, top);
        (wide, high) = (wide.max(width), top + height);
    }
    let titles: Vec<&str> = pictures.iter().map(|picture| picture.title.as_str()).collect();
    let label = escape(&format!("What waits for what in {}", shorten(&titles.join(", "), 200)));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{label}\">\n",
        at(wide),
        at(high)
    );
    let _ = writeln!(out, "<style>{STYLE}</style>");
    out.push_str(&markers());
    let _ = writeln!(out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

/// A picture within a page that has [`STYLE`]. Pages with several give each a number of its own.
pub(crate) fn drawn(picture: &Picture, number: usize) -> String {
    let mut body = String::new();
    let (width, height) = one(&mut body, &Placed::new(picture), 0.0);
    let label = escape(&format!("What waits for what in {}", shorten(&picture.title, 200)));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" aria-label=\"{label}\">\n",
        at(width.max(WIDTH_MIN)),
        at(height)
    );
    // The tips have the same names in every picture: those of the first are good for all.
    if number == 0 {
        out.push_str(&markers());
    }
    let _ = writeln!(out, "<rect class=\"ground\" width=\"100%\" height=\"100%\"/>");
    out.push_str(&body);
    out.push_str("</svg>\n");
    out
}

/// The tips of arrows.
pub(super) fn markers() -> String {
    let mut out = "<defs>".to_owned();
    for tone in Tone::ALL.iter().map(|tone| tone.class()).chain(["critical"]) {
        let _ = write!(
            out,
            "<marker id=\"tip-{tone}\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip-{tone}\" d=\"M0 0.6L8 4L0 7.4z\"/></marker>"
        );
    }
    out.push_str("</defs>\n");
    out
}

/// A picture with its head. Says how large it is.
fn one(out: &mut String, placed: &Placed<'_>, top: f64) -> (f64, f64) {
    let picture = placed.picture;
    let text = |out: &mut String, class: &str, x: f64, y: f64, text: &str| {
        let _ = writeln!(out, "<text class=\"{class}\" x=\"{}\" y=\"{}\">{}</text>", at(x), at(y), escape(text));
    };
    text(out, "title", MARGIN, top + 34.0, &picture.title);
    text(out, "summary", MARGIN, top + 54.0, &picture.summary);
    let key = legend(out, picture, top + 76.0);
    if picture.boxes.is_empty() {
        text(out, "summary", MARGIN, top + HEAD + 20.0, "nothing to draw");
        return (WIDTH_MIN, HEAD + 40.0);
    }
    let _ = writeln!(out, "<g transform=\"translate({} {})\">", at(MARGIN), at(top + HEAD));
    lanes(out, placed);
    arrows(out, placed);
    lane_titles(out, placed);
    for (index, node) in picture.boxes.iter().enumerate() {
        let (x, y) = placed.corners[index];
        draw_box(out, node, &placed.names[index], (x, y, placed.widths[index]));
    }
    out.push_str("</g>\n");
    let (wide, high) = placed.size;
    ((wide + 2.0 * MARGIN).max(key + MARGIN), HEAD + high + MARGIN)
}

fn lanes(out: &mut String, placed: &Placed<'_>) {
    for (_, at_) in &placed.lanes {
        let [x, y, width, height] = at_.map(at);
        let _ =
            writeln!(out, "<rect class=\"lane\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>");
    }
}

/// Over the arrows that pass them.
fn lane_titles(out: &mut String, placed: &Placed<'_>) {
    for (title, at_) in &placed.lanes {
        let title = escape(&shorten(title, letters(at_[2] / LETTER)));
        let (x, y) = (at(at_[0] + LANE_TEXT), at(at_[1] + LANE_TITLE - 6.0));
        let _ = writeln!(out, "<text class=\"lane-title\" x=\"{x}\" y=\"{y}\">{title}</text>");
    }
}

/// What is wrong over what is not.
fn arrows(out: &mut String, placed: &Placed<'_>) {
    let picture = placed.picture;
    let mut order: Vec<usize> = (0..picture.arrows.len()).collect();
    order.sort_by_key(|index| (picture.arrows[*index].is_critical, picture.arrows[*index].tone));
    for index in order {
        let arrow = &picture.arrows[index];
        let (class, tip) = classes(arrow);
        let (from, to) = (&picture.boxes[arrow.from].name, &picture.boxes[arrow.to].name);
        let title = escape(&format!("{from} → {to}: {}", arrow.tone.says()));
        let d = path(&placed.ways[index], !picture.lanes_beside);
        let _ = writeln!(
            out,
            "<path class=\"{class}\" marker-end=\"url(#tip-{tip})\" d=\"{d}\"><title>{title}</title></path>"
        );
    }
}

fn letters(width: f64) -> usize {
    (1..200).take_while(|count| small(*count) <= width).count()
}

fn draw_box(out: &mut String, node: &Node, name: &str, (x, y, width): (f64, f64, f64)) {
    let _ = writeln!(
        out,
        "<g class=\"{}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{BOX_HEIGHT}\" rx=\"7\"/><text x=\"{tx}\" y=\"{name_y}\">{}</text><text class=\"detail\" x=\"{tx}\" y=\"{detail_y}\">{}</text></g>",
        box_class(node),
        escape(&node.full),
        escape(name),
        escape(&node.detail),
        x = at(x),
        y = at(y),
        width = at(width),
        tx = at(x + 11.0),
        name_y = at(y + 16.5),
        detail_y = at(y + 30.5),
    );
}

pub(super) fn box_class(node: &Node) -> String {
    let state = match node.state {
        State::Comes => "",
        State::Suspended => " suspended",
        State::Stuck => " stuck",
        State::NotFound => " not-found",
    };
    format!("box{state}{}{}", if node.is_critical { " critical" } else { "" }, node.turn.class())
}

/// The classes of an arrow, and the name of its tip.
fn classes(arrow: &Arrow) -> (String, &'static str) {
    let tone = arrow.tone.class();
    let is_blue = arrow.is_critical && arrow.tone <= Tone::Soon;
    let critical = if arrow.is_critical { " critical" } else { "" };
    (format!("arrow {tone}{critical}{}", arrow.turn.class()), if is_blue { "critical" } else { tone })
}

/// What the arrows mean, those that there are. Says how wide it is.
fn legend(out: &mut String, picture: &Picture, y: f64) -> f64 {
    let tones: BTreeSet<Tone> = picture.tones();
    let mut keys: Vec<(String, &str, &str)> =
        tones.iter().rev().map(|tone| (format!("arrow {}", tone.class()), tone.class(), tone.says())).collect();
    if picture.arrows.iter().any(|arrow| arrow.is_critical) {
        keys.push(("arrow guaranteed critical".to_owned(), "critical", "critical path"));
    }
    let mut x = MARGIN;
    for (class, tip, says) in keys {
        let _ = writeln!(
            out,
            "<path class=\"{class}\" marker-end=\"url(#tip-{tip})\" d=\"M{} {}h30\"/><text class=\"key\" x=\"{}\" y=\"{}\">{says}</text>",
            at(x),
            at(y - 4.0),
            at(x + 37.0),
            at(y)
        );
        x += 37.0 + 6.4 * small(says.len()) + 22.0;
    }
    x
}
