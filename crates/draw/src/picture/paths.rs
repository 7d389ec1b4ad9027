//! The way of an arrow as a path of SVG: straight past the boxes of a layer, bent between layers.

use std::fmt::Write as _;

/// Numbers without more digits than can be seen.
pub(super) fn at(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// A place on the way of an arrow: half a pixel more or less is not seen, and there are very many.
fn near(value: f64) -> String {
    format!("{value:.0}")
}

/// A place of a picture as the whole number that it is.
#[expect(clippy::cast_possible_truncation, reason = "it has been rounded, and no picture is so large")]
pub(super) fn whole(value: f64) -> i32 {
    value as i32
}

/// A way without the points between which it goes on straight.
pub(super) fn bends(points: &[(f64, f64)], down: bool) -> Vec<(f64, f64)> {
    let side = |(x, y): (f64, f64)| if down { x } else { y };
    let mut out: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points.iter().map(|(x, y)| (x.round(), y.round())) {
        if let [.., first, middle] = out.as_slice() {
            let is_straight = [side(*middle), side(point)].iter().all(|it| (it - side(*first)).abs() < 1.0);
            if is_straight {
                out.pop();
            }
        }
        out.push(point);
    }
    out
}

/// Through these points: down where `down` says so, to the right otherwise.
pub(super) fn path(points: &[(f64, f64)], down: bool) -> String {
    let mut out = String::new();
    let mut before: Option<(f64, f64)> = None;
    for (x, y) in points.iter().copied() {
        let _ = match before {
            None => write!(out, "M{} {}", near(x), near(y)),
            Some((last, _)) if down && (last - x).abs() < 0.5 => write!(out, "V{}", near(y)),
            Some((_, last)) if !down && (last - y).abs() < 0.5 => write!(out, "H{}", near(x)),
            Some((last_x, last_y)) if down => {
                let middle = near(f64::midpoint(last_y, y));
                write!(out, "C{} {middle} {x} {middle} {x} {}", near(last_x), near(y), x = near(x))
            }
            Some((last_x, last_y)) => {
                let middle = near(f64::midpoint(last_x, x));
                write!(out, "C{middle} {} {middle} {y} {} {y}", near(last_y), near(x), y = near(y))
            }
        };
        before = Some((x, y));
    }
    out
}
