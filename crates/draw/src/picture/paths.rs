//! The way of an arrow as a path of SVG: straight past the boxes of a layer, bent between layers.

use std::fmt::Write as _;

use layout::{Point, Route};

/// Numbers without more digits than can be seen.
pub(super) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

pub(super) fn path(route: &Route, dx: f64, dy: f64) -> String {
    let mut out = String::new();
    let mut before: Option<Point> = None;
    for point in &route.points {
        let (x, y) = (point.along + dx, point.across + dy);
        let _ = match before {
            None => write!(out, "M{} {}", at(x), at(y)),
            Some(last) if (last.across - point.across).abs() < 0.05 => write!(out, "H{}", at(x)),
            Some(last) => {
                let middle = f64::midpoint(last.along, point.along) + dx;
                write!(out, "C{0} {1} {0} {2} {3} {2}", at(middle), at(last.across + dy), at(y), at(x))
            }
        };
        before = Some(*point);
    }
    out
}
