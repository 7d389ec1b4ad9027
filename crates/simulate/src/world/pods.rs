//! Workloads: pods that wait for what they mount, are placed on a node, start, crash, are ready, and go with their node.

use super::{World, scaled};
use crate::blueprint::{Id, Millis, ThingRole};
use crate::event::{Reason, What};
use crate::fault::Fault;

/// Start-up times vary around what the catalogue says.
const SPREAD: (f64, f64) = (0.6, 1.4);
/// One in twenty is much slower: a large image, a busy disk.
const SLOW_ONES: f64 = 0.05;
const SLOW_FACTOR: (f64, f64) = (1.5, 3.0);
/// The kubelet's pauses between crashes double from the first to the last.
const CRASH_PAUSE: (Millis, Millis) = (10_000, 300_000);
/// After this long the pods of a dead node are started elsewhere.
const EVICTION: Millis = 300_000;
/// A container that has its image starts again in this.
const RESTART: (Millis, Millis) = (500, 3_000);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waits,
    Starts,
    Crashes,
    Runs,
    /// Their node went away, and others are not started yet.
    Lost,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PodState {
    phase: Phase,
    /// Since when it starts or crashes.
    since: Millis,
    /// When it will have started.
    until: Millis,
    /// Where its pods are placed; of a DaemonSet, one of all the nodes.
    node: Option<u32>,
    /// It had pods on a node that went away.
    was_lost: bool,
}

impl PodState {
    /// Nothing of it runs, and nothing is placed anywhere.
    fn gone(self) -> Self {
        Self { was_lost: self.was_lost, ..Self::default() }
    }
}

impl World<'_> {
    pub(super) fn workload_looks(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        let id = workload.id;
        if !self.exists(id) {
            self.pods[at as usize] = self.pods[at as usize].gone();
            return;
        }
        match self.pods[at as usize].phase {
            Phase::Waits if self.all_hold(&workload.needs) => self.start_pods(at),
            Phase::Crashes if !self.is_armed(id) && self.all_hold(&workload.crashes_without) => {
                let again = self.next_start(self.pods[at as usize].since);
                let (least, most) = RESTART;
                self.schedule(id, again + self.latency(id, 3, least, most), false);
            }
            _ => {}
        }
    }

    /// On a node, if there is any: else they wait for one to join.
    fn start_pods(&mut self, at: u32) {
        let Some(node) = self.place(at) else { return };
        self.pods[at as usize].node = Some(node);
        let Some(takes) = self.startup(at, node) else { return };
        let (since, until) = (self.now, self.now + takes);
        let state = self.pods[at as usize];
        self.pods[at as usize] = PodState { phase: Phase::Starts, since, until, ..state };
        self.schedule(self.blueprint.workloads[at as usize].id, until, false);
    }

    /// Where pods are, or would be; nothing if no node is there.
    fn place(&self, at: u32) -> Option<u32> {
        self.pods[at as usize].node.or_else(|| {
            let count = u32::try_from(self.nodes().count()).unwrap_or(0);
            let chosen = self.disturbance.place(&self.blueprint.workloads[at as usize], count);
            self.nodes().nth(chosen as usize)
        })
    }

    pub(super) fn workload_alarm(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        let state = self.pods[at as usize];
        if state.phase == Phase::Lost {
            self.pods[at as usize] = state.gone();
            self.workload_looks(at);
        } else if self.all_hold(&workload.crashes_without) {
            self.run_pods(at);
        } else if state.phase == Phase::Starts {
            self.pods[at as usize] = PodState { phase: Phase::Crashes, since: self.now, ..state };
        }
    }

    fn run_pods(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        self.pods[at as usize].phase = Phase::Runs;
        if workload.is_agent() { self.agent_looks(at) } else { self.make_ready(workload.id) }
    }

    /// From all it mounts to ready on a node; nothing if never.
    fn startup(&self, at: u32, node: u32) -> Option<Millis> {
        let workload = &self.blueprint.workloads[at as usize];
        let takes =
            if self.blueprint.is_steady { workload.startup } else { self.varied(workload.id, workload.startup) };
        self.disturbance.startup(at, workload, node, takes, self.now)
    }

    fn varied(&self, id: Id, millis: Millis) -> Millis {
        let between = |(least, most): (f64, f64), share: f64| least + (most - least) * share;
        let mut factor = between(SPREAD, self.draw(id, 1));
        if self.draw(id, 2) < SLOW_ONES {
            factor *= between(SLOW_FACTOR, self.draw(id, 4));
        }
        scaled(millis, factor)
    }

    /// The next start of a container that has crashed since a moment.
    fn next_start(&self, since: Millis) -> Millis {
        let (mut pause, most) = CRASH_PAUSE;
        let mut next = since + pause;
        while next < self.now {
            pause = (pause * 2).min(most);
            next += pause;
        }
        next
    }
}

impl World<'_> {
    /// Pods that have been running for a while.
    pub(super) fn pod_runs(&mut self, at: u32) {
        self.pods[at as usize].node = self.place(at);
        self.run_pods(at);
    }
}

/// Nodes come and go.
impl World<'_> {
    /// A node goes away, and takes its machine and its pods with it.
    pub(super) fn node_dies(&mut self, node: u32) {
        self.note(None, What::NodeGone(node));
        self.machine_dies(node);
        self.epoch += 1;
        for at in (0..).take(self.pods.len()) {
            if self.pods[at as usize].node == Some(node) {
                self.lose_pods(at);
            }
        }
        self.withdraw();
        self.nodes_changed();
    }

    /// Those of a DaemonSet on other nodes go on, and a Job that is done stays so.
    fn lose_pods(&mut self, at: u32) {
        let workload = &self.blueprint.workloads[at as usize];
        let id = workload.id;
        let state = self.pods[at as usize];
        let is_done = state.phase == Phase::Runs && self.blueprint.thing(id).kind == "Job";
        if workload.is_daemon() || is_done || !self.exists(id) {
            return;
        }
        self.pods[at as usize] = PodState { phase: Phase::Lost, was_lost: true, ..state };
        self.unready(id);
        self.schedule(id, self.now + EVICTION, false);
    }

    /// Whoever waits for a node looks again, and so does the network's agent. Without faults of nodes there is nobody.
    pub(super) fn nodes_changed(&mut self) {
        if self.disturbance.dead_node.is_none() && self.disturbance.mute_node.is_none() {
            return;
        }
        for (at, workload) in (0..).zip(&self.blueprint.workloads) {
            if workload.is_agent() && self.pods[at as usize].phase == Phase::Runs {
                self.agent_looks(at);
            } else {
                self.wake.push(workload.id);
            }
        }
    }

    /// The network's agent is ready when it runs on every node. Where it does run, pods have a network.
    fn agent_looks(&mut self, at: u32) {
        let id = self.blueprint.workloads[at as usize].id;
        let Some(mute) = self.mute_node() else { return self.make_ready(id) };
        self.unready(id);
        if let Some(network) = self.blueprint.network
            && self.nodes().any(|node| node != mute)
        {
            self.make_ready(network);
        }
    }

    /// The node that lacks the network's agent, once it is there.
    fn mute_node(&self) -> Option<u32> {
        self.disturbance.mute_node.filter(|node| self.has_node(*node))
    }
}

/// What can be seen of pods.
impl World<'_> {
    /// Why pods that have all they need are not ready.
    pub(super) fn pod_fact(&self, at: u32) -> Option<Reason> {
        let workload = &self.blueprint.workloads[at as usize];
        let state = self.pods[at as usize];
        let id = workload.id;
        let Some(node) = state.node else { return self.lacks_nodes(at).then_some(Reason::Unplaced(id)) };
        if state.phase == Phase::Lost {
            return Some(Reason::Stuck(id, Fault::DeadNode, node));
        }
        if workload.is_agent() && state.phase == Phase::Runs {
            return self.mute_node().map(|mute| Reason::Stuck(id, Fault::AgentMissing, mute));
        }
        if let Some(fault) = self.disturbance.holds_up(at, workload, node, self.now) {
            return Some(Reason::Stuck(id, fault, node));
        }
        match state.phase {
            Phase::Starts => {
                let seconds = (state.until - state.since).div_ceil(1000);
                Some(Reason::Starts(id, u32::try_from(seconds).unwrap_or(u32::MAX)))
            }
            Phase::Crashes => Some(Reason::Crashes(id)),
            Phase::Waits | Phase::Runs | Phase::Lost => None,
        }
    }

    /// The node that pods are placed on; of a DaemonSet, one of all.
    pub fn node_of(&self, id: Id) -> Option<u32> {
        match self.blueprint.role(id) {
            ThingRole::Workload(at) => self.pods[at as usize].node,
            _ => None,
        }
    }

    fn lacks_nodes(&self, at: u32) -> bool {
        let needs = &self.blueprint.workloads[at as usize].needs;
        self.pods[at as usize].phase == Phase::Waits && self.all_hold(needs) && self.nodes().next().is_none()
    }

    /// A fault touches its pods.
    pub(super) fn pod_is_struck(&self, at: u32) -> bool {
        let state = self.pods[at as usize];
        let workload = &self.blueprint.workloads[at as usize];
        let has_no_node = self.disturbance.dead_node.is_some() && self.lacks_nodes(at);
        state.was_lost || has_no_node || self.disturbance.strikes_workload(at, workload, state.node)
    }
}
