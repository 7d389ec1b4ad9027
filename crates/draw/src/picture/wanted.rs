//! A part of a picture: what is near to something, or only what is wrong.

use std::collections::BTreeSet;

use super::{Picture, Tone, Wish};

/// Without what was not asked for.
pub(super) fn wanted(mut picture: Picture, wish: &Wish) -> Picture {
    let mut kept: BTreeSet<usize> = (0..picture.boxes.len()).collect();
    if wish.only_missing {
        picture.arrows.retain(|arrow| matches!(arrow.tone, Tone::Missing | Tone::Deadlocked));
        kept = picture.arrows.iter().flat_map(|arrow| [arrow.from, arrow.to]).collect();
    }
    if !wish.focus.is_empty() {
        let near = near(&picture, wish);
        kept.retain(|index| near.contains(index));
    }
    keep(&mut picture, &kept);
    picture
}

/// The boxes that are at most so many arrows away, in either direction.
fn near(picture: &Picture, wish: &Wish) -> BTreeSet<usize> {
    let is_meant = |index: &usize| picture.boxes[*index].components.iter().any(|id| wish.focus.contains(id));
    let start: BTreeSet<usize> = (0..picture.boxes.len()).filter(is_meant).collect();
    let mut near = start.clone();
    // Backward and forward by themselves: what else a neighbour leads to is another matter.
    for forward in [true, false] {
        let mut edge = start.clone();
        for _ in 0..wish.depth {
            let ends = picture
                .arrows
                .iter()
                .map(|arrow| if forward { (arrow.from, arrow.to) } else { (arrow.to, arrow.from) });
            edge = ends
                .filter(|(here, there)| edge.contains(here) && !near.contains(there))
                .map(|(_, there)| there)
                .collect();
            near.extend(&edge);
        }
    }
    near
}

/// Boxes with their arrows and lanes; what is empty goes.
fn keep(picture: &mut Picture, kept: &BTreeSet<usize>) {
    let mut new = vec![usize::MAX; picture.boxes.len()];
    kept.iter().enumerate().for_each(|(index, old)| new[*old] = index);
    picture.arrows.retain(|arrow| kept.contains(&arrow.from) && kept.contains(&arrow.to));
    for arrow in &mut picture.arrows {
        (arrow.from, arrow.to) = (new[arrow.from], new[arrow.to]);
    }
    let mut index = 0;
    picture.boxes.retain(|_| {
        index += 1;
        kept.contains(&(index - 1))
    });
    let used: BTreeSet<usize> = picture.boxes.iter().map(|node| node.lane).collect();
    for node in &mut picture.boxes {
        node.lane = used.range(..node.lane).count();
    }
    picture.lanes = used.iter().filter_map(|lane| picture.lanes.get(*lane).cloned()).collect();
}
