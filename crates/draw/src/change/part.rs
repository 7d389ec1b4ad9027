//! The part of a cluster that changes, as a picture.

use std::collections::{BTreeMap, BTreeSet};

use model::ObjectRef;

use super::{Change, OrderChange, Side};
use crate::picture::{Arrow, Node, Picture, Tone, Turn};

/// Boxes without an arrow, beside those that have one.
const LONELY_MAX: usize = 30;

/// What comes, goes and is ordered in another way, with so many arrows at most: the worst first.
pub fn picture(change: &Change<'_>, arrows_max: usize) -> Picture {
    let whole = |side: &Option<Side<'_>>| {
        side.as_ref().map(|side| Picture::unreduced(side.cluster, side.analysis, &side.alarms)).unwrap_or_default()
    };
    let (before, after) = (whole(&change.before), whole(&change.after));
    let mut part = Part { nodes: nodes(&before, &after), index: BTreeMap::new(), picture: Picture::default() };
    for order in change.orders.iter().take(arrows_max) {
        part.order(order);
    }
    let shown = part.picture.arrows.len();
    part.applied(change, &after, arrows_max);
    part.lonely(change);
    part.turned(change);
    part.critical(&after);
    let mut picture = part.picture;
    lanes(&mut picture, if after.lanes.is_empty() { &before.lanes } else { &after.lanes });
    picture.title = crate::clean(&change.name).into_owned();
    picture.summary = match change.orders.len() {
        all if all > shown => format!("what changes: {shown} of {all} orders"),
        _ => "what changes".to_owned(),
    };
    picture
}

/// The box of every object: as it is after the change, or was before it.
fn nodes(before: &Picture, after: &Picture) -> BTreeMap<ObjectRef, Node> {
    let all = before.boxes.iter().chain(&after.boxes);
    all.filter_map(|node| Some((node.object.clone()?, node.clone()))).collect()
}

struct Part {
    nodes: BTreeMap<ObjectRef, Node>,
    index: BTreeMap<ObjectRef, usize>,
    picture: Picture,
}

impl Part {
    fn of(&mut self, object: &ObjectRef) -> Option<usize> {
        if let Some(index) = self.index.get(object) {
            return Some(*index);
        }
        let node = self.nodes.get(object)?.clone();
        self.picture.boxes.push(node);
        let index = self.picture.boxes.len() - 1;
        self.index.insert(object.clone(), index);
        Some(index)
    }

    fn order(&mut self, order: &OrderChange) {
        let (tone, turn) = match (order.before, order.after) {
            (None, Some(now)) => (now, Turn::Comes),
            (Some(then), None) => (then, Turn::Goes),
            (Some(then), Some(now)) => (now, Turn::Turns(then)),
            (None, None) => return,
        };
        if let (Some(from), Some(to)) = (self.of(&order.first), self.of(&order.then)) {
            self.picture.arrows.push(arrow(from, to, tone, turn));
        }
    }

    /// What applies a component that comes.
    fn applied(&mut self, change: &Change<'_>, after: &Picture, arrows_max: usize) {
        let come: BTreeSet<&ObjectRef> = change.come.iter().collect();
        for applies in after.arrows.iter().filter(|arrow| arrow.tone == Tone::Applies) {
            let object = |index: usize| after.boxes[index].object.as_ref();
            let Some((by, of)) = object(applies.from).zip(object(applies.to)) else { continue };
            if self.picture.arrows.len() >= arrows_max || !come.contains(of) {
                continue;
            }
            // Where it has an order already, that says more.
            let Some(to) = self.of(of) else { continue };
            if self.picture.arrows.iter().any(|arrow| arrow.to == to) && !self.index.contains_key(by) {
                continue;
            }
            if let Some(from) = self.of(by) {
                self.picture.arrows.push(arrow(from, to, Tone::Applies, Turn::Comes));
            }
        }
    }

    fn lonely(&mut self, change: &Change<'_>) {
        let most = self.picture.boxes.len() + LONELY_MAX;
        for object in change.go.iter().chain(&change.come).chain(&change.stuck) {
            if self.picture.boxes.len() < most {
                self.of(object);
            }
        }
    }

    fn turned(&mut self, change: &Change<'_>) {
        for (list, turn) in [(&change.come, Turn::Comes), (&change.go, Turn::Goes)] {
            for index in list.iter().filter_map(|object| self.index.get(object)) {
                self.picture.boxes[*index].turn = turn;
            }
        }
    }

    /// Arrows that the longest chain takes after the change.
    fn critical(&mut self, after: &Picture) {
        let ends = |arrow: &Arrow| {
            let of = |index: usize| self.index.get(after.boxes[index].object.as_ref()?).copied();
            Some((of(arrow.from)?, of(arrow.to)?))
        };
        let critical: BTreeSet<(usize, usize)> =
            after.arrows.iter().filter(|arrow| arrow.is_critical).filter_map(ends).collect();
        for arrow in &mut self.picture.arrows {
            arrow.is_critical = arrow.turn != Turn::Goes && critical.contains(&(arrow.from, arrow.to));
        }
    }
}

fn arrow(from: usize, to: usize, tone: Tone, turn: Turn) -> Arrow {
    Arrow { from, to, tone, is_critical: false, turn, needs: Vec::new(), ties: Vec::new() }
}

/// Those that have a box, in their order.
fn lanes(picture: &mut Picture, titles: &[String]) {
    let used: BTreeSet<usize> = picture.boxes.iter().map(|node| node.lane).collect();
    for node in &mut picture.boxes {
        node.lane = used.range(..node.lane).count();
    }
    picture.lanes = used.iter().filter_map(|lane| titles.get(*lane).cloned()).collect();
}
