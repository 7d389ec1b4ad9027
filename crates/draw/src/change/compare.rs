//! Two readings of one cluster, side by side. Components are the same where their kind, namespace and name are.

use std::collections::{BTreeMap, BTreeSet};

use model::{ComponentId, ObjectRef};

use super::{Change, Figures, OrderChange, Side, Told};
use crate::picture::{Picture, Tone};

/// A component that is ready this much later or sooner is told.
const MOVED_SECONDS_MIN: u64 = 60;

/// What comes first and what waits for it.
type Pair = (ObjectRef, ObjectRef);

impl<'a> Change<'a> {
    pub fn new(
        name: &str,
        before: Option<Side<'a>>,
        after: Option<Side<'a>>,
        new_findings: Vec<Told>,
        gone_findings: Vec<Told>,
    ) -> Self {
        let (old, new) = (objects(before.as_ref()), objects(after.as_ref()));
        let done = |side: &Option<Side<'_>>, id: Option<&ComponentId>| {
            side.as_ref().zip(id).and_then(|(side, id)| side.analysis.schedule.done(*id))
        };
        let both = || old.iter().filter_map(|(object, then)| Some((*object, Some(then), Some(new.get(*object)?))));
        let times = || both().map(|(object, then, now)| (object, done(&before, then), done(&after, now)));
        let mut moved: Vec<(ObjectRef, u64, u64)> =
            times().filter_map(|(object, then, now)| Some((object.clone(), then?, now?))).collect();
        moved.retain(|(_, then, now)| then.abs_diff(*now) >= MOVED_SECONDS_MIN);
        moved.sort_by_key(|(_, then, now)| std::cmp::Reverse(then.abs_diff(*now)));
        let (then, now) = (path(before.as_ref()), path(after.as_ref()));
        Self {
            name: name.to_owned(),
            come: missing(&new, &old),
            go: missing(&old, &new),
            orders: order_changes(&orders(before.as_ref()), &orders(after.as_ref()), |object| {
                old.contains_key(object) && new.contains_key(object)
            }),
            stuck: of(times(), |then, now| then.is_some() && now.is_none()),
            freed: of(times(), |then, now| then.is_none() && now.is_some()),
            moved,
            onto_path: now
                .iter()
                .filter(|object| !then.contains(object) && old.contains_key(object))
                .cloned()
                .collect(),
            off_path: then.iter().filter(|object| !now.contains(object) && new.contains_key(object)).cloned().collect(),
            critical: critical([before.as_ref(), after.as_ref()]),
            new_findings,
            gone_findings,
            before,
            after,
        }
    }
}

fn objects<'s>(side: Option<&'s Side<'_>>) -> BTreeMap<&'s ObjectRef, ComponentId> {
    let Some(side) = side else { return BTreeMap::new() };
    side.cluster.ids().map(|id| (&side.cluster.component(id).object, id)).collect()
}

fn missing(these: &BTreeMap<&ObjectRef, ComponentId>, from: &BTreeMap<&ObjectRef, ComponentId>) -> Vec<ObjectRef> {
    these.keys().filter(|object| !from.contains_key(*object)).map(|object| (*object).clone()).collect()
}

fn of<'o>(
    times: impl Iterator<Item = (&'o ObjectRef, Option<u64>, Option<u64>)>,
    is_it: impl Fn(Option<u64>, Option<u64>) -> bool,
) -> Vec<ObjectRef> {
    times.filter(|(_, then, now)| is_it(*then, *now)).map(|(object, _, _)| object.clone()).collect()
}

fn path(side: Option<&Side<'_>>) -> Vec<ObjectRef> {
    let Some(side) = side else { return Vec::new() };
    let path = side.analysis.schedule.critical_path.iter();
    path.map(|id| side.cluster.component(*id).object.clone()).collect()
}

/// Every order that is more than that one component applies the other.
fn orders(side: Option<&Side<'_>>) -> BTreeMap<Pair, Tone> {
    let Some(side) = side else { return BTreeMap::new() };
    let picture = Picture::unreduced(side.cluster, side.analysis, &side.alarms);
    let object = |index: usize| picture.boxes[index].object.clone();
    let said = picture.arrows.iter().filter(|arrow| arrow.tone > Tone::Applies);
    said.filter_map(|arrow| Some(((object(arrow.from)?, object(arrow.to)?), arrow.tone))).collect()
}

fn order_changes(
    before: &BTreeMap<Pair, Tone>,
    after: &BTreeMap<Pair, Tone>,
    stays: impl Fn(&ObjectRef) -> bool,
) -> Vec<OrderChange> {
    let pairs: BTreeSet<&Pair> = before.keys().chain(after.keys()).collect();
    let one = |pair: &Pair| OrderChange {
        first: pair.0.clone(),
        then: pair.1.clone(),
        before: before.get(pair).copied(),
        after: after.get(pair).copied(),
        is_alone: stays(&pair.0) && stays(&pair.1),
    };
    let mut all: Vec<OrderChange> = pairs.into_iter().map(one).filter(|change| change.before != change.after).collect();
    // A race that soon ends well says least.
    let says_little = |it: &OrderChange| it.before.max(it.after) == Some(Tone::Soon);
    all.sort_by_key(|it| (it.news(), says_little(it), std::cmp::Reverse(it.after.max(it.before))));
    all
}

/// Services that must not be disrupted, among what is made of the files that change.
fn critical(sides: [Option<&Side<'_>>; 2]) -> Vec<ObjectRef> {
    let of = |side: &&Side<'_>| -> Vec<ObjectRef> {
        let both = side.critical.intersection(&side.touched);
        both.map(|id| side.cluster.component(*id).object.clone()).collect()
    };
    let all: BTreeSet<ObjectRef> = sides.iter().flatten().flat_map(of).collect();
    all.into_iter().collect()
}

pub(super) fn figures(side: &Side<'_>) -> Figures {
    let mut figures = Figures {
        seconds: side.analysis.schedule.all_done(side.cluster),
        components: side.cluster.components.len(),
        cycles: side.analysis.cycles().count(),
        ..Figures::default()
    };
    for tone in orders(Some(side)).values() {
        match tone {
            Tone::Guaranteed => figures.guaranteed += 1,
            Tone::Declared => figures.declared += 1,
            Tone::AppliedOnly => figures.applied_only += 1,
            Tone::FalselyReady => figures.falsely_ready += 1,
            Tone::Missing => figures.missing += 1,
            Tone::Applies | Tone::Soon | Tone::Deadlocked => {}
        }
    }
    figures
}

#[cfg(test)]
mod tests {
    use model::ObjectRef;

    use super::{OrderChange, Tone};
    use crate::change::News;

    #[test]
    fn what_is_worse_is_told_from_what_is_better() {
        let news = |before, after| {
            let (first, then) =
                (ObjectRef::new("Kustomization", "a", "first"), ObjectRef::new("Kustomization", "a", "then"));
            OrderChange { first, then, before, after, is_alone: true }.news()
        };
        assert_eq!(news(None, Some(Tone::Missing)), News::Worse);
        assert_eq!(news(Some(Tone::Guaranteed), Some(Tone::AppliedOnly)), News::Worse);
        assert_eq!(news(Some(Tone::Guaranteed), None), News::Lost);
        assert_eq!(news(Some(Tone::Missing), Some(Tone::AppliedOnly)), News::Better);
        assert_eq!(news(Some(Tone::Missing), None), News::Better);
        assert_eq!(news(None, Some(Tone::Guaranteed)), News::Other);
    }
}
