//! Arrows that follow from others are left out: an order that a longer way declares as well. What is wrong, and the critical path, stays.

use super::{Picture, Tone};

/// Leaves out what follows from other orders, and says how many that were.
pub(super) fn reduce(picture: &mut Picture) {
    let count = picture.boxes.len();
    let mut next: Vec<Vec<usize>> = vec![Vec::new(); count];
    let mut missing = vec![0usize; count];
    for arrow in picture.arrows.iter().filter(|arrow| arrow.tone.orders()) {
        next[arrow.from].push(arrow.to);
        missing[arrow.to] += 1;
    }
    let mut order: Vec<usize> = (0..count).filter(|node| missing[*node] == 0).collect();
    let mut at = 0;
    while let Some(&node) = order.get(at) {
        at += 1;
        for to in &next[node] {
            missing[*to] -= 1;
            if missing[*to] == 0 {
                order.push(*to);
            }
        }
    }
    // What is in a cycle of declared orders, or behind one, has no place in the order and is left alone.
    let mut place = vec![usize::MAX; count];
    order.iter().enumerate().for_each(|(index, node)| place[*node] = index);
    let words = count.div_ceil(64);
    let mut reach = vec![0u64; count * words];
    let mut implied: Vec<(usize, usize)> = Vec::new();
    for from in order.iter().rev() {
        let mut own: Vec<usize> = next[*from].iter().copied().filter(|to| place[*to] != usize::MAX).collect();
        // The nearest first: what one of them reaches follows from it.
        own.sort_by_key(|to| place[*to]);
        for to in own {
            if reach[from * words + to / 64] >> (to % 64) & 1 == 1 {
                implied.push((*from, to));
                continue;
            }
            reach[from * words + to / 64] |= 1 << (to % 64);
            for word in 0..words {
                reach[from * words + word] |= reach[to * words + word];
            }
        }
    }
    implied.sort_unstable();
    let all = picture.arrows.len();
    picture.arrows.retain(|arrow| {
        let is_implied = implied.binary_search(&(arrow.from, arrow.to)).is_ok();
        !is_implied || arrow.is_critical || !arrow.tone.orders()
    });
    picture.implied = all - picture.arrows.len();
}

/// The arrows that fit, what is wrong first and what is merely applied last; in their usual order.
pub(super) fn first_few(picture: &Picture, most: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..picture.arrows.len()).collect();
    let rank = |index: &usize| {
        let arrow = &picture.arrows[*index];
        let least = arrow.tone == Tone::Applies;
        (std::cmp::Reverse(arrow.is_critical), least, std::cmp::Reverse(arrow.tone), *index)
    };
    if all.len() > most {
        all.sort_by_key(rank);
        all.truncate(most);
        all.sort_unstable();
    }
    all
}
