//! Whether `impact` says of the next cold start what the simulated world shows when something is taken away.
//!
//! The graph is asked once for every component; the world boots once with everything, and once without each. Only what came up with
//! everything is compared.

use std::collections::BTreeSet;

use graph::{Fate, Impacts};
use model::{Capability, Cluster, ComponentId, ObjectRef, Stage};
use simulate::{Blueprint, World};

/// The seed of every boot: what never comes up does so under none.
const SEED: u64 = 1;

/// A component that the two disagree about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Otherwise {
    pub taken: ObjectRef,
    pub of: ObjectRef,
    /// The graph has it done; the world does not.
    pub is_done_by_graph: bool,
}

/// How many components were taken away, how many others that stopped, and all that the two disagree about.
#[derive(Clone, Debug, Default)]
pub struct Taking {
    pub taken: usize,
    pub stopped: usize,
    pub otherwise: Vec<Otherwise>,
    /// Those that come up in the world and not in the graph, with a need that keeps them: its object, and what that needs.
    pub hindered: Vec<(ObjectRef, Option<(ObjectRef, Capability)>)>,
}

/// Takes every component of a cluster away, one after the other. The blueprint is of a world that runs the bootstrap.
pub fn take_each(cluster: &Cluster, blueprint: &Blueprint) -> Taking {
    let analysis = graph::analyse(cluster);
    let impacts = Impacts::new(cluster, &analysis);
    let with_everything = ready(&mut World::new(blueprint), blueprint);
    let by_flux = |id: &ComponentId| cluster.component(*id).stage == Stage::GitOps;
    let is_ready = |id: &ComponentId| with_everything.contains(&cluster.component(*id).object);
    let compared: Vec<ComponentId> = cluster.ids().filter(by_flux).filter(is_ready).collect();
    let mut all = Taking::default();
    // What comes up with everything must come up in the graph as well.
    for id in compared.iter().filter(|id| !impacts.standing().is_done(**id)) {
        all.hindered.push((
            cluster.component(*id).object.clone(),
            impacts.standing().hindered_by(*id).and_then(|missing| match missing {
                graph::Missing::Need { need, .. } => {
                    Some((cluster.needs[need].object.clone(), cluster.needs[need].capability.clone()))
                }
                _ => None,
            }),
        ));
    }
    if !all.hindered.is_empty() {
        return all;
    }
    for id in cluster.ids() {
        let subject = impacts.subject(id);
        let objects: Vec<&ObjectRef> =
            subject.components.iter().filter(|id| by_flux(id)).map(|id| &cluster.component(*id).object).collect();
        let early = subject.components.iter().filter(|id| !by_flux(id));
        let steps: Vec<String> = early.map(|id| step_name(cluster, *id)).collect();
        let mut world = World::new(blueprint).withholding(objects, steps.iter().map(String::as_str));
        let left = ready(&mut world, blueprint);
        let lost = impacts.of(subject).cold_start;
        all.taken += 1;
        for of in &compared {
            let object = &cluster.component(*of).object;
            let is_done_by_graph = !matches!(lost.components.get(of), Some((Fate::NeverDone, _)));
            let is_done = left.contains(object);
            all.stopped += usize::from(!is_done);
            if is_done != is_done_by_graph {
                let taken = cluster.component(id).object.clone();
                all.otherwise.push(Otherwise { taken, of: object.clone(), is_done_by_graph });
            }
        }
    }
    all
}

fn step_name(cluster: &Cluster, id: ComponentId) -> String {
    let component = cluster.component(id);
    match component.role {
        model::Role::Bootstrap(step) => step.step_name(&component.object),
        _ => component.object.path(),
    }
}

/// What Flux looks after and is ready in the end.
fn ready(world: &mut World<'_>, blueprint: &Blueprint) -> BTreeSet<ObjectRef> {
    let outcome = world.boot(SEED, &[]);
    outcome.flux.iter().filter(|it| it.is_ready).map(|it| blueprint.thing(it.id).object()).collect()
}
