//! From one failing object to its root.

use std::collections::{BTreeMap, VecDeque};

use crate::facts::ObjectKey;
use crate::status::{Because, Link, Status};

/// One step of the way: what fails, and what makes it wait for the next step. The root waits for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop<'a> {
    pub link: &'a Link,
    pub because: Option<Because>,
}

/// The shortest way from an object to a root. Empty where the object does not fail.
pub fn trace<'a>(status: &'a Status, object: &ObjectKey) -> Vec<Hop<'a>> {
    let same = |key: &ObjectKey| {
        key.kind == object.kind
            && key.name == object.name
            && (object.namespace.is_empty() || key.namespace == object.namespace)
    };
    let Some(start) = status.links.iter().position(|it| same(&it.object)) else { return Vec::new() };
    let mut came: BTreeMap<usize, (usize, Because)> = BTreeMap::new();
    let mut open = VecDeque::from([start]);
    let mut last = start;
    while let Some(at) = open.pop_front() {
        last = at;
        let link = &status.links[at];
        if link.by.is_empty() {
            return way(status, &came, start, at);
        }
        for (to, because) in &link.by {
            let Some(to) = status.links.iter().position(|it| it.object == *to) else { continue };
            if to != start && !came.contains_key(&to) {
                came.insert(to, (at, *because));
                open.push_back(to);
            }
        }
    }
    // A cycle: all of it, as far as it is new.
    way(status, &came, start, last)
}

fn way<'a>(status: &'a Status, came: &BTreeMap<usize, (usize, Because)>, start: usize, end: usize) -> Vec<Hop<'a>> {
    let mut hops = vec![Hop { link: &status.links[end], because: None }];
    let mut at = end;
    while at != start {
        let Some((from, because)) = came.get(&at) else { break };
        hops.push(Hop { link: &status.links[*from], because: Some(*because) });
        at = *from;
    }
    hops.reverse();
    hops
}
