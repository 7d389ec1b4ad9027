//! Fewer crossings: layers are ordered by where their neighbours stand, up and down, and neighbours change places.
//!
//! Knows the order within layers. Knows no coordinates. How much is tried depends on the size of the graph, never on a clock.

use crate::chains::Chains;

/// Rounds over all layers, there and back.
const ROUNDS_MAX: usize = 24;
/// Rounds in a row that change nothing for the better.
const VAIN_ROUNDS_MAX: usize = 5;
/// About how many edges are looked at in all: more rounds for small graphs than for large ones.
const LOOKS_MAX: usize = 6_000_000;
/// Passes in which neighbours change places, per round.
const PASSES_MAX: usize = 4;

/// Orders the points of every layer. Says how many crossings are left.
pub(crate) fn reduce_crossings(chains: &mut Chains) -> u64 {
    let edges: usize = chains.after.iter().map(Vec::len).sum();
    let rounds = (LOOKS_MAX / (edges * (PASSES_MAX + 2)).max(1)).clamp(2, ROUNDS_MAX);
    let mut best = (crossings(chains), chains.layers.clone());
    let mut vain = 0;
    for round in 0..rounds {
        if best.0 == 0 || vain == VAIN_ROUNDS_MAX {
            break;
        }
        sweep(chains, round % 2 == 0, round % 4 < 2);
        swap_neighbours(chains);
        let now = crossings(chains);
        vain += 1;
        if now < best.0 {
            best = (now, chains.layers.clone());
            vain = 0;
        }
    }
    chains.layers = best.1;
    for layer in 0..chains.layers.len() {
        chains.renumber(layer);
    }
    best.0
}

/// Orders layer after layer by the one before it, forward or backward; by the median or by the mean of the neighbours.
fn sweep(chains: &mut Chains, forward: bool, by_median: bool) {
    let count = chains.layers.len();
    for step in 1..count {
        let layer = if forward { step } else { count - 1 - step };
        let wish = |point: usize| {
            let beside = if forward { &chains.before[point] } else { &chains.after[point] };
            let mut at: Vec<usize> = beside.iter().map(|(other, _)| chains.position[*other]).collect();
            at.sort_unstable();
            if by_median { median(&at) } else { mean(&at) }
        };
        let wishes: Vec<(usize, Option<f64>)> =
            chains.layers[layer].iter().map(|point| (*point, wish(*point))).collect();
        chains.layers[layer] = ordered(wishes, &chains.lane);
        chains.renumber(layer);
    }
}

/// Those without a wish keep their places, and the others share what is left, lane by lane.
fn ordered(wishes: Vec<(usize, Option<f64>)>, lane: &[u32]) -> Vec<usize> {
    let mut wanting: Vec<(usize, f64)> =
        wishes.iter().filter_map(|(point, wish)| wish.map(|wish| (*point, wish))).collect();
    wanting.sort_by(|a, b| (lane[a.0], a.1).partial_cmp(&(lane[b.0], b.1)).unwrap_or(std::cmp::Ordering::Equal));
    let mut wanting = wanting.into_iter();
    let place = |(point, wish): (usize, Option<f64>)| match wish {
        Some(_) => wanting.next().map_or(point, |(point, _)| point),
        None => point,
    };
    wishes.into_iter().map(place).collect()
}

fn mean(at: &[usize]) -> Option<f64> {
    let sum: usize = at.iter().sum();
    (!at.is_empty()).then(|| crate::length(sum) / crate::length(at.len()))
}

/// Between the two in the middle the one counts more whose side is closer together, as Gansner and others do.
fn median(at: &[usize]) -> Option<f64> {
    let (first, last) = (*at.first()?, *at.last()?);
    let middle = at.len() / 2;
    if at.len() % 2 == 1 {
        return Some(crate::length(at[middle]));
    }
    let (low, high) = (at[middle - 1], at[middle]);
    let (left, right) = (low - first, last - high);
    if at.len() == 2 || left + right == 0 {
        return Some(f64::midpoint(crate::length(low), crate::length(high)));
    }
    let (low, high) = (crate::length(low) * crate::length(right), crate::length(high) * crate::length(left));
    Some((low + high) / crate::length(left + right))
}

/// Lets two that stand beside each other change places where that saves crossings.
fn swap_neighbours(chains: &mut Chains) {
    for _ in 0..PASSES_MAX {
        let mut swapped = false;
        for layer in 0..chains.layers.len() {
            for at in 1..chains.layers[layer].len() {
                let (left, right) = (chains.layers[layer][at - 1], chains.layers[layer][at]);
                if chains.lane[left] == chains.lane[right] && saves(chains, left, right) {
                    chains.layers[layer].swap(at - 1, at);
                    (chains.position[left], chains.position[right]) = (at, at - 1);
                    swapped = true;
                }
            }
        }
        if !swapped {
            break;
        }
    }
}

fn saves(chains: &Chains, left: usize, right: usize) -> bool {
    let (mut now, mut then) = (0, 0);
    for side in [&chains.before, &chains.after] {
        let (left, right) = (&side[left], &side[right]);
        // Two hubs beside each other are left as the sweep put them.
        if left.len() * right.len() > PAIRS_MAX {
            continue;
        }
        for (a, _) in left {
            for (b, _) in right {
                now += usize::from(chains.position[*a] > chains.position[*b]);
                then += usize::from(chains.position[*a] < chains.position[*b]);
            }
        }
    }
    then < now
}

/// Pairs of edges that are compared for one change of places.
const PAIRS_MAX: usize = 2_000;

/// All crossings between neighbouring layers: of edges in the order of their beginnings, those whose ends are out of order.
fn crossings(chains: &Chains) -> u64 {
    let mut sum = 0;
    for layer in 1..chains.layers.len() {
        let mut ends: Vec<usize> = Vec::new();
        for point in &chains.layers[layer - 1] {
            let first = ends.len();
            ends.extend(chains.after[*point].iter().map(|(to, _)| chains.position[*to]));
            ends[first..].sort_unstable();
        }
        sum += inversions(&ends, chains.layers[layer].len());
    }
    sum
}

/// Pairs of which the first is greater, with a Fenwick tree.
fn inversions(ends: &[usize], count: usize) -> u64 {
    let mut tree = vec![0u64; count + 1];
    let mut sum = 0;
    for (seen, end) in (0u64..).zip(ends) {
        let mut at = end + 1;
        let mut not_greater = 0;
        while at > 0 {
            not_greater += tree[at];
            at &= at - 1;
        }
        sum += seen - not_greater;
        at = end + 1;
        while at <= count {
            tree[at] += 1;
            at += at & at.wrapping_neg();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::{inversions, median};

    #[test]
    fn edges_cross_where_their_ends_are_out_of_order() {
        assert_eq!(inversions(&[0, 1, 2], 3), 0);
        assert_eq!(inversions(&[2, 1, 0], 3), 3);
        assert_eq!(inversions(&[1, 1, 0, 1], 2), 2);
    }

    #[test]
    fn the_median_leans_to_the_side_that_is_closer_together() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[4]), Some(4.0));
        assert_eq!(median(&[1, 2]), Some(1.5));
        assert_eq!(median(&[0, 1, 4, 20]).map(|it| it < 2.0), Some(true));
    }
}
