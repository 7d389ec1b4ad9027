//! The way of an arrow as a path of SVG: straight past the boxes of a layer, bent between layers.

use std::fmt::Write as _;

/// Numbers without more digits than can be seen.
pub(super) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// Through these points: down where `down` says so, to the right otherwise.
pub(super) fn path(points: &[(f64, f64)], down: bool) -> String {
    let mut out = String::new();
    let mut before: Option<(f64, f64)> = None;
    for (x, y) in points.iter().copied() {
        let _ = match before {
            None => write!(out, "M{} {}", at(x), at(y)),
            Some((last, _)) if down && (last - x).abs() < 0.05 => write!(out, "V{}", at(y)),
            Some((_, last)) if !down && (last - y).abs() < 0.05 => write!(out, "H{}", at(x)),
            Some((last_x, last_y)) if down => {
                let middle = at(f64::midpoint(last_y, y));
                write!(out, "C{} {middle} {x} {middle} {x} {}", at(last_x), at(y), x = at(x))
            }
            Some((last_x, last_y)) => {
                let middle = at(f64::midpoint(last_x, x));
                write!(out, "C{middle} {} {middle} {y} {} {y}", at(last_y), at(x), y = at(y))
            }
        };
        before = Some((x, y));
    }
    out
}
