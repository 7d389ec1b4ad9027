//! Faults by name, and what each does to a boot: where it strikes and for how long is drawn from the seed.

use crate::blueprint::{Blueprint, Millis, Workload};
use crate::random;

/// Something that goes wrong below or beside what the repository says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// One node takes several times as long for everything.
    SlowNode,
    /// One node goes away in the middle of the boot; its pods start elsewhere after five minutes.
    DeadNode,
    /// The kubelet of one node mounts no volumes until somebody restarts it.
    VolumeNotMounted,
    /// The network agent does not run on one node: what is placed there never gets ready.
    AgentMissing,
    /// One image can't be pulled for a while.
    ImagePullBackoff,
    /// One webhook does not answer for a while, though its pods are ready.
    WebhookDown,
    /// The Git server is away at first.
    GitDown,
    /// The sealing key is not the one that everything was sealed with.
    KeyLost,
    /// The API server restarts in the middle of the boot.
    ApiRestart,
    /// A member of etcd is lost: where the others are more than half, a new leader is found within seconds, and everything is
    /// slower after; else there is no API server any more.
    EtcdMemberLost,
    /// Every write takes long.
    SlowDisk,
    /// Clocks are apart until they are set: certificates of webhooks are not valid yet.
    ClockSkew,
}

impl Fault {
    pub const ALL: [Self; 12] = [
        Self::SlowNode,
        Self::DeadNode,
        Self::VolumeNotMounted,
        Self::AgentMissing,
        Self::ImagePullBackoff,
        Self::WebhookDown,
        Self::GitDown,
        Self::KeyLost,
        Self::ApiRestart,
        Self::EtcdMemberLost,
        Self::SlowDisk,
        Self::ClockSkew,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::SlowNode => "slow-node",
            Self::DeadNode => "dead-node",
            Self::VolumeNotMounted => "volume-not-mounted",
            Self::AgentMissing => "agent-missing",
            Self::ImagePullBackoff => "image-pull-backoff",
            Self::WebhookDown => "webhook-down",
            Self::GitDown => "git-down",
            Self::KeyLost => "key-lost",
            Self::ApiRestart => "api-restart",
            Self::EtcdMemberLost => "etcd-member-lost",
            Self::SlowDisk => "slow-disk",
            Self::ClockSkew => "clock-skew",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// One of them, by the seed.
    pub fn drawn(seed: u64) -> Self {
        let at = span(seed, 99, (0, Self::ALL.len() as u64 - 1));
        Self::ALL[usize::try_from(at).unwrap_or(0) % Self::ALL.len()]
    }
}

impl Fault {
    /// What it does to pods, in words that follow their name.
    pub(crate) const fn keeps_pods(self) -> &'static str {
        match self {
            Self::VolumeNotMounted => "the kubelet of its node mounts no volumes",
            Self::AgentMissing => "no network agent runs on its node",
            Self::ImagePullBackoff => "ImagePullBackOff: its image can't be pulled",
            Self::DeadNode => "its node is gone",
            Self::SlowNode => "its node is slow",
            _ => "it is slow to start",
        }
    }
}

/// Nodes that pods are placed on where machines are not described.
const NODES: u64 = 5;
const MINUTE: Millis = 60_000;
/// After this long the pods of a dead node are started elsewhere.
const EVICTION: Millis = 5 * MINUTE;

/// What the faults of one boot come to.
#[derive(Clone, Debug)]
pub(crate) struct Disturbance {
    seed: u64,
    pub(crate) api_down: Option<(Millis, Millis)>,
    pub(crate) api_factor: f64,
    pub(crate) git_down_until: Millis,
    pub(crate) key_is_lost: bool,
    webhook: Option<(u32, Millis)>,
    webhooks_until: Millis,
    /// The machine whose member of etcd is lost, and when.
    pub(crate) lost_member: Option<(u32, Millis)>,
    slow_node: Option<(u64, u64)>,
    dead_node: Option<(u64, Millis)>,
    mute_node: Option<u64>,
    unmounted_node: Option<u64>,
    unpulled: Option<(u32, Millis)>,
    startup_percent: u64,
    /// Nodes that pods are placed on.
    nodes: u64,
}

impl Default for Disturbance {
    fn default() -> Self {
        Self {
            seed: 0,
            api_down: None,
            api_factor: 1.0,
            git_down_until: 0,
            key_is_lost: false,
            webhook: None,
            webhooks_until: 0,
            lost_member: None,
            slow_node: None,
            dead_node: None,
            mute_node: None,
            unmounted_node: None,
            unpulled: None,
            startup_percent: 100,
            nodes: NODES,
        }
    }
}

/// A whole number between two, both included.
fn span(seed: u64, question: u32, (least, most): (u64, u64)) -> u64 {
    let share = random::draw(seed, u32::MAX, question);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small numbers"
    )]
    let more = (share * (most - least + 1) as f64) as u64;
    (least + more).min(most)
}

impl Disturbance {
    pub(crate) fn draw(of: &Blueprint, seed: u64, faults: &[Fault]) -> Self {
        let nodes =
            of.machines.map_or(NODES, |(machines, _)| u64::from(machines.control_planes + machines.workers)).max(1);
        let mut all = Self { seed, nodes, ..Self::default() };
        for fault in faults {
            all.add(of, *fault);
        }
        all
    }

    fn add(&mut self, of: &Blueprint, fault: Fault) {
        let seed = self.seed;
        let one_of = |question: u32, count: usize| {
            let last = (count as u64).saturating_sub(1);
            (count > 0).then(|| u32::try_from(span(seed, question, (0, last))).unwrap_or(0))
        };
        let last = self.nodes - 1;
        let node = |question: u32| span(seed, question, (0, last));
        match fault {
            Fault::SlowNode => self.slow_node = Some((node(1), span(seed, 2, (300, 600)))),
            Fault::DeadNode => self.dead_node = Some((node(3), span(seed, 4, (0, 20 * MINUTE)))),
            Fault::VolumeNotMounted => self.unmounted_node = Some(node(5)),
            Fault::AgentMissing => self.mute_node = Some(node(6)),
            Fault::ImagePullBackoff => {
                let until = span(seed, 8, (2 * MINUTE, 30 * MINUTE));
                self.unpulled = one_of(7, of.workloads.len()).map(|at| (at, until));
            }
            Fault::WebhookDown => {
                let until = span(seed, 10, (5 * MINUTE, 30 * MINUTE));
                self.webhook = one_of(9, of.webhooks.len()).map(|at| (at, until));
            }
            Fault::GitDown => self.git_down_until = span(seed, 11, (2 * MINUTE, 15 * MINUTE)),
            Fault::KeyLost => self.key_is_lost = true,
            Fault::ApiRestart => {
                let from = span(seed, 12, (MINUTE, 15 * MINUTE));
                self.api_down = Some((from, from + span(seed, 13, (20_000, 90_000))));
            }
            Fault::EtcdMemberLost => {
                let from = span(seed, 14, (MINUTE, 15 * MINUTE));
                self.api_down = Some((from, from + span(seed, 15, (2_000, 10_000))));
                self.api_factor *= 1.5;
                let last = of.machines.map_or(1, |(machines, _)| u64::from(machines.control_planes)).saturating_sub(1);
                let machine = u32::try_from(span(seed, 17, (0, last))).unwrap_or(0);
                self.lost_member = of.machines.map(|_| (machine, from));
            }
            Fault::SlowDisk => {
                self.api_factor *= 6.0;
                self.startup_percent = 150;
            }
            Fault::ClockSkew => self.webhooks_until = span(seed, 16, (2 * MINUTE, 10 * MINUTE)),
        }
    }

    /// When a machine is up that is switched on at a moment; nothing if it dies before.
    pub(crate) fn machine_up(&self, machine: u32, on: Millis, takes: Millis) -> Option<Millis> {
        let is_it = |node: u64| node == u64::from(machine);
        if self.dead_node.is_some_and(|(node, dies)| is_it(node) && dies < on + takes) {
            return None;
        }
        match self.slow_node {
            Some((node, percent)) if is_it(node) => Some(on + takes * percent / 100),
            _ => Some(on + takes),
        }
    }

    pub(crate) fn api_is_down_until(&self, now: Millis) -> Option<Millis> {
        self.api_down.filter(|(from, to)| (*from..*to).contains(&now)).map(|(_, to)| to)
    }

    pub(crate) fn webhook_is_down(&self, at: u32, now: Millis) -> bool {
        now < self.webhooks_until || self.webhook.is_some_and(|(which, until)| which == at && now < until)
    }

    /// From when on no webhook is kept from answering.
    pub(crate) fn webhooks_answer_at(&self) -> Millis {
        self.webhooks_until.max(self.webhook.map_or(0, |(_, until)| until))
    }

    /// How long pods take to start, given how long they would; nothing if they never do.
    pub(crate) fn startup(&self, at: u32, workload: &Workload, takes: Millis, now: Millis) -> Option<Millis> {
        let is_on = |node: u64| !workload.is_daemon && self.node_of(workload) == node;
        let is_stuck =
            self.mute_node.is_some_and(is_on) || (workload.has_volume && self.unmounted_node.is_some_and(is_on));
        if is_stuck {
            return None;
        }
        let mut takes = takes * self.startup_percent / 100;
        if let Some((node, percent)) = self.slow_node
            && (workload.is_daemon || is_on(node))
        {
            takes = takes * percent / 100;
        }
        if let Some((which, until)) = self.unpulled
            && which == at
        {
            takes += until.saturating_sub(now);
        }
        if let Some((node, dies)) = self.dead_node
            && is_on(node)
            && (now..now + takes).contains(&dies)
        {
            takes += (dies - now) + EVICTION;
        }
        Some(takes)
    }

    /// Which fault keeps pods from starting, or makes them late.
    pub(crate) fn holds_up(&self, at: u32, workload: &Workload, now: Millis) -> Option<Fault> {
        let is_on = |node: u64| !workload.is_daemon && self.node_of(workload) == node;
        if self.mute_node.is_some_and(is_on) {
            Some(Fault::AgentMissing)
        } else if workload.has_volume && self.unmounted_node.is_some_and(is_on) {
            Some(Fault::VolumeNotMounted)
        } else if self.unpulled.is_some_and(|(which, until)| which == at && now < until) {
            Some(Fault::ImagePullBackoff)
        } else if self.dead_node.is_some_and(|(node, dies)| is_on(node) && now >= dies) {
            Some(Fault::DeadNode)
        } else {
            self.slow_node.filter(|(node, _)| is_on(*node)).map(|_| Fault::SlowNode)
        }
    }

    fn node_of(&self, workload: &Workload) -> u64 {
        let share = random::draw(self.seed, workload.id.0, 50);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a handful of nodes"
        )]
        let node = (share * self.nodes as f64) as u64;
        node.min(self.nodes - 1)
    }
}

/// What of a boot the faults touch: for whoever asks whether a failure is theirs.
impl Disturbance {
    pub(crate) fn strikes_everything(&self) -> bool {
        self.api_down.is_some() || self.api_factor > 1.0
    }

    pub(crate) fn strikes_machine(&self, machine: u32) -> bool {
        let is_it = |node: u64| node == u64::from(machine);
        self.dead_node.is_some_and(|(node, _)| is_it(node))
            || self.slow_node.is_some_and(|(node, _)| is_it(node))
            || self.lost_member.is_some_and(|(lost, _)| lost == machine)
    }

    pub(crate) fn strikes_webhook(&self, at: u32) -> bool {
        self.webhooks_until > 0 || self.webhook.is_some_and(|(which, _)| which == at)
    }

    pub(crate) fn strikes_workload(&self, at: u32, workload: &Workload) -> bool {
        let node = self.node_of(workload);
        let is_on = |struck: Option<u64>| !workload.is_daemon && struck == Some(node);
        is_on(self.mute_node)
            || (workload.has_volume && is_on(self.unmounted_node))
            || is_on(self.dead_node.map(|(node, _)| node))
            || is_on(self.slow_node.map(|(node, _)| node))
            || (workload.is_daemon && self.slow_node.is_some())
            || self.unpulled.is_some_and(|(which, _)| which == at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_found_by_its_name() {
        for fault in Fault::ALL {
            assert_eq!(Fault::named(fault.name()), Some(fault));
        }
        assert_eq!(Fault::named("gremlins"), None);
    }

    #[test]
    fn seeds_draw_all_of_them() {
        let drawn: std::collections::BTreeSet<Fault> = (0..1000).map(Fault::drawn).collect();
        assert_eq!(drawn.len(), Fault::ALL.len());
    }
}
