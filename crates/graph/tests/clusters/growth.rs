//! Twice the cluster is twice the graph: events, what follows from them, and offers that needs are linked to are counted, so that
//! nothing is listed for every pair.

use model::{Arrival, Cluster, ComponentId, Gate, Phase, Retry, Role, WaitsFor};

use crate::sketch::{Story, component, crd, need, need_of, object, offer, tie};
use coldstart_graph::Event;

/// So many Kustomizations that wait. Each is after those that `after` says, below the first, and needs a kind that the second brings.
fn cluster(count: u32, after: impl Fn(u32) -> Vec<u32>) -> Cluster {
    let mut cluster = Cluster { name: "growing".to_owned(), ..Cluster::default() };
    for at in 0..count {
        let own = object("Kustomization", &format!("app-{at}"));
        let id = ComponentId(at);
        let mut one = component(Role::Kustomization, own.clone(), Gate::Healthy, Retry::Never);
        if at > 0 {
            one.parent = Some(ComponentId(0));
            one.gate = if at == 1 { Gate::Healthy } else { Gate::Applied };
        }
        match at {
            0 => {}
            1 => cluster.offers.push(offer(id, crd("Widget"), Arrival::Healthy, own.clone())),
            _ => cluster.needs.push(need_of(id, need(crd("Widget"), Phase::Apply), &own)),
        }
        cluster.ties.extend(after(at).into_iter().map(|to| tie(id, ComponentId(to), WaitsFor::Done)));
        cluster.components.push(one);
    }
    cluster.components[0].gate = Gate::Applied;
    cluster
}

/// All that is listed of a cluster.
fn listed(cluster: Cluster) -> usize {
    let Story { analysis, .. } = Story::of(cluster);
    let events = (0_u32..).map(Event).take(analysis.events.len());
    let edges: usize = events.map(|event| analysis.events.implied(event).len()).sum();
    let links: usize = (0..analysis.judged.len()).map(|need| analysis.links.offers_for(need).len()).sum();
    analysis.events.len()
        + edges
        + links
        + analysis.deadlocks.iter().map(|deadlock| deadlock.steps.len()).sum::<usize>()
}

#[test]
fn twice_as_many_components_are_twice_as_much_to_list() {
    for (shape, after) in [
        ("independent", (|_, _| Vec::new()) as fn(u32, u32) -> Vec<u32>),
        ("chain", |at, _| if at > 1 { vec![at - 1] } else { Vec::new() }),
        ("star", |at, _| if at > 1 { vec![1] } else { Vec::new() }),
        ("fan-in", |at, count| if at + 1 == count { (1..at).collect() } else { Vec::new() }),
        ("ten each", |at, _| (at.saturating_sub(10).max(1)..at).collect()),
    ] {
        let of = |count: u32| listed(cluster(count, |at| after(at, count)));
        let (some, twice) = (of(200), of(400));
        assert!(twice * 10 <= some * 22, "{shape}: {some}, and {twice} for twice as many");
    }
}
