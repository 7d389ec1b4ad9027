//! What an edit of the files would change about the order of a cluster.
//!
//! Knows the model. Whether a change is worth making is for [`crate::Trials`] to say.

use model::{Cluster, ComponentId, Gate, ObjectRef, Tie, TieTarget, WaitsFor};
use source::Span;

/// One edit, as far as the order goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// The first does not start before the second is done.
    Tie(ComponentId, ComponentId),
    /// A declared tie goes, by its index.
    Untie(usize),
    /// A component is done only when more is healthy than before.
    Gate(NewGate),
    /// Objects with these needs leave their component for a new one beside it, which is tied to another.
    Split { needs: Vec<usize>, after: ComponentId },
}

/// A gate that a component is to have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NewGate {
    pub of: ComponentId,
    pub looks_at: LooksAt,
    /// Judges objects of this kind by an expression on their status.
    pub expression: Option<ecow::EcoString>,
}

/// What a new gate looks at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LooksAt {
    /// Everything that the component applies: `wait: true`.
    All,
    /// One object more: an entry of `healthChecks`. In place of `wait: true`, those of all components that it applies come with it.
    Object(ObjectRef),
}

/// The cluster as it would be read after these edits. Indices of what is left stay the same, but for ties behind one that goes.
#[must_use]
pub fn changed(cluster: &Cluster, changes: &[Change]) -> Cluster {
    let mut cluster = cluster.clone();
    // From the last on: an index means a tie of the cluster as it was.
    let mut gone: Vec<usize> = changes.iter().filter_map(untied).collect();
    gone.sort_unstable();
    for tie in gone.into_iter().rev() {
        cluster.ties.remove(tie);
    }
    for change in changes {
        match change {
            Change::Untie(_) => {}
            Change::Tie(from, to) => cluster.ties.push(tie(*from, *to)),
            Change::Gate(gate) => set_gate(&mut cluster, gate),
            Change::Split { needs, after } => split(&mut cluster, needs, *after),
        }
    }
    cluster
}

fn untied(change: &Change) -> Option<usize> {
    match change {
        Change::Untie(tie) => Some(*tie),
        _ => None,
    }
}

fn tie(from: ComponentId, to: ComponentId) -> Tie {
    Tie { from, to: TieTarget::Component(to), at: Span::GENERATED, waits_for: WaitsFor::Done }
}

fn set_gate(cluster: &mut Cluster, new: &NewGate) {
    let applied = cluster.ids().filter(|id| cluster.part_of(*id) == Some(new.of));
    let applied: Vec<ObjectRef> = applied.map(|id| cluster.component(id).object.clone()).collect();
    let component = &mut cluster.components[new.of.index()];
    component.expressions.extend(new.expression.clone());
    match (&new.looks_at, &mut component.gate) {
        (LooksAt::All, gate) => *gate = Gate::Healthy,
        (LooksAt::Object(object), Gate::Listed(objects)) => objects.push(object.clone()),
        // `wait: true` ignores a list: it goes, and the list names what it waited for.
        (LooksAt::Object(object), gate @ Gate::Healthy) => {
            *gate = Gate::Listed(applied.into_iter().chain([object.clone()]).collect());
        }
        (LooksAt::Object(object), gate) => *gate = Gate::Listed(vec![object.clone()]),
    }
}

/// What the moved objects offer goes with them; everything else stays.
fn split(cluster: &mut Cluster, needs: &[usize], after: ComponentId) {
    let Some(of) = needs.first().map(|need| cluster.needs[*need].of) else { return };
    let moved: Vec<ObjectRef> = needs.iter().map(|need| cluster.needs[*need].object.clone()).collect();
    let new = ComponentId(source::to_u32(cluster.components.len()));
    let mut component = cluster.component(of).clone();
    component.object.name = format!("{}-2", component.object.name).into();
    component.gate = Gate::Applied;
    component.expressions.clear();
    component.ignored_checks.clear();
    cluster.components.push(component);
    for need in cluster.needs.iter_mut().filter(|need| need.of == of && moved.contains(&need.object)) {
        need.of = new;
    }
    for offer in cluster.offers.iter_mut().filter(|offer| offer.by == of && moved.contains(&offer.object)) {
        offer.by = new;
    }
    cluster.ties.push(tie(new, after));
}
