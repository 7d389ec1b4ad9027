//! Long edges made straight where there is room.
//!
//! Knows the points of an edge and what stands beside each. Moves nothing but points of edges, and none past its neighbours.

use crate::place::Rows;

/// For every long edge: stretches of points that can all lie at one place lie there.
pub(crate) fn straighten(rows: &Rows<'_>, at: &mut [f64]) {
    let mut index = vec![usize::MAX; rows.chains.layer.len()];
    for layer in &rows.layers {
        layer.iter().enumerate().for_each(|(position, point)| index[*point] = position);
    }
    for (_, path) in &rows.chains.paths {
        let inner = &path[1..path.len() - 1];
        let mut first = 0;
        while first < inner.len() {
            first += stretch(rows, &index, &inner[first..], at);
        }
    }
}

/// Puts as many points as can be at one place there. Says how many.
fn stretch(rows: &Rows<'_>, index: &[usize], points: &[usize], at: &mut [f64]) -> usize {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut count = 0;
    for point in points {
        // Of another lane.
        if index[*point] == usize::MAX {
            return count.max(1);
        }
        let room = room(rows, index, *point, at);
        let (next_low, next_high) = (low.max(room.0), high.min(room.1));
        if next_low > next_high {
            break;
        }
        (low, high) = (next_low, next_high);
        count += 1;
    }
    let stretch = &points[..count];
    let sum: f64 = stretch.iter().map(|point| at[*point]).sum();
    if count > 1 {
        let value = (sum / crate::length(count)).max(low).min(high);
        for point in stretch {
            at[*point] = value;
        }
    }
    count.max(1)
}

/// Between what stands above a point and what stands below it.
fn room(rows: &Rows<'_>, index: &[usize], point: usize, at: &[f64]) -> (f64, f64) {
    let layer = &rows.layers[rows.chains.layer[point]];
    let above = index[point].checked_sub(1).and_then(|above| layer.get(above));
    let below = layer.get(index[point] + 1);
    (
        above.map_or(f64::NEG_INFINITY, |above| at[*above] + rows.distance(*above, point)),
        below.map_or(f64::INFINITY, |below| at[*below] - rows.distance(point, *below)),
    )
}
