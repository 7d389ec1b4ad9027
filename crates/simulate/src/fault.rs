//! Faults by name, and what each does to a boot: where it strikes and for how long is drawn from the seed.

use crate::blueprint::{Blueprint, Millis, Workload};
use crate::random;

/// Something that goes wrong below or beside what the repository says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Fault {
    /// One node takes several times as long for everything.
    SlowNode,
    /// One node goes away in the middle of the boot, and its machine and its member of etcd with it; its pods start elsewhere
    /// after five minutes.
    DeadNode,
    /// The kubelet of one node mounts no volumes until somebody restarts it.
    VolumeNotMounted,
    /// The network agent does not run on one node: what is placed there never gets ready, nor does the agent's DaemonSet.
    AgentMissing,
    /// One image can't be pulled for a while.
    ImagePullBackoff,
    /// One webhook does not answer for a while, though its pods are ready.
    WebhookDown,
    /// The Git server is away when Flux starts.
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
    /// One machine joins as a node long after the others.
    LateNode,
    /// One machine has its configuration and never joins as a node.
    MissingNode,
    /// The kubelet of one machine waits for a volume that does not come: it never joins, and Talos says so.
    KubeletWaits,
    /// The API server answers late.
    LateApi,
}

impl Fault {
    pub const ALL: [Self; 16] = [
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
        Self::LateNode,
        Self::MissingNode,
        Self::KubeletWaits,
        Self::LateApi,
    ];
    /// How many of them, from the first, strike any boot; the others strike machines that are switched on.
    const ANYWHERE: usize = 12;

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
            Self::LateNode => "late-node",
            Self::MissingNode => "missing-node",
            Self::KubeletWaits => "kubelet-waits",
            Self::LateApi => "late-api",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// One of them, by the seed.
    pub fn drawn(seed: u64) -> Self {
        Self::drawn_beside(seed, &[])
    }

    /// Whether it takes machines that are switched on to strike.
    pub fn is_of_machines(self) -> bool {
        Self::ALL.iter().position(|fault| *fault == self).is_some_and(|at| at >= Self::ANYWHERE)
    }

    /// One of those that strike any boot, by the seed, that is not among these; the first where these are all.
    pub fn drawn_beside(seed: u64, these: &[Self]) -> Self {
        let others: Vec<Self> =
            Self::ALL.into_iter().filter(|fault| !fault.is_of_machines() && !these.contains(fault)).collect();
        let at = span(seed, 99, (0, (others.len() as u64).saturating_sub(1)));
        others.get(usize::try_from(at).unwrap_or(0)).copied().unwrap_or(Self::SlowNode)
    }
}

/// Nodes that pods are placed on where machines are not described.
const NODES: u32 = 5;
const MINUTE: Millis = 60_000;

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
    slow_node: Option<(u32, u64)>,
    /// The node that goes away, and when.
    pub(crate) dead_node: Option<(u32, Millis)>,
    /// The node that the network agent does not run on.
    pub(crate) mute_node: Option<u32>,
    /// The machine that joins late, and by how much.
    late_node: Option<(u32, Millis)>,
    /// The machine that never joins.
    missing_node: Option<u32>,
    /// The machine whose kubelet never runs.
    pub(crate) kubelet_waits: Option<u32>,
    /// By how much the API server is late.
    pub(crate) api_late: Millis,
    unmounted_node: Option<u32>,
    unpulled: Option<(u32, Millis)>,
    startup_percent: u64,
    /// How many nodes there are, or will be.
    pub(crate) nodes: u32,
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
            late_node: None,
            missing_node: None,
            kubelet_waits: None,
            api_late: 0,
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
        let nodes = of.machines.map_or(NODES, |(machines, _)| machines.control_planes + machines.workers).max(1);
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
        let last = u64::from(self.nodes - 1);
        let node = |question: u32| u32::try_from(span(seed, question, (0, last))).unwrap_or(0);
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
            Fault::ClockSkew => self.webhooks_until = span(seed, 16, (10 * MINUTE, 25 * MINUTE)),
            other => self.add_of_machines(of, other),
        }
    }

    /// Only machines that are switched on can be late.
    fn add_of_machines(&mut self, of: &Blueprint, fault: Fault) {
        let Some((machines, _)) = of.machines else { return };
        let (seed, all) = (self.seed, machines.control_planes + machines.workers);
        // The machine that etcd is bootstrapped on is not struck, where there is another.
        let one = |question: u32, from: u32| {
            let last = u64::from(all.saturating_sub(1));
            u32::try_from(span(seed, question, (u64::from(from).min(last), last))).unwrap_or(0)
        };
        // Volumes of kubelets are those of workers, where there are any.
        let workers = if machines.workers > 0 { machines.control_planes } else { 1 };
        match fault {
            Fault::LateNode => self.late_node = Some((one(20, 1), span(seed, 21, (2 * MINUTE, 20 * MINUTE)))),
            Fault::MissingNode => self.missing_node = Some(one(22, 1)),
            Fault::KubeletWaits => self.kubelet_waits = Some(one(23, workers)),
            Fault::LateApi => self.api_late = span(seed, 24, (3 * MINUTE, 12 * MINUTE)),
            _ => {}
        }
    }

    /// When a machine joins that would join at a moment; nothing if never.
    pub(crate) fn joins(&self, machine: u32, at: Millis) -> Option<Millis> {
        if self.missing_node == Some(machine) || self.kubelet_waits == Some(machine) {
            return None;
        }
        let later = self.late_node.filter(|(late, _)| *late == machine).map_or(0, |(_, by)| by);
        Some(at + later)
    }

    /// What is away at first is away for as long from the moment at which Flux starts: nothing asks for it before.
    pub(crate) fn flux_starts(&mut self, now: Millis) {
        let later = |until: &mut Millis| *until += if *until > 0 { now } else { 0 };
        later(&mut self.git_down_until);
        later(&mut self.webhooks_until);
        if let Some((_, until)) = &mut self.webhook {
            later(until);
        }
    }

    /// How long a machine boots, given how long it would.
    pub(crate) fn machine_boots(&self, machine: u32, takes: Millis) -> Millis {
        match self.slow_node {
            Some((node, percent)) if node == machine => takes * percent / 100,
            _ => takes,
        }
    }

    pub(crate) fn is_dead(&self, node: u32, now: Millis) -> bool {
        self.dead_node.is_some_and(|(dead, dies)| dead == node && now >= dies)
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

    /// How long pods take to start on a node, given how long they would; nothing if they never do.
    pub(crate) fn startup(&self, at: u32, workload: &Workload, on: u32, takes: Millis, now: Millis) -> Option<Millis> {
        if self.holds_for_good(workload, on).is_some() {
            return None;
        }
        let mut takes = takes * self.startup_percent / 100;
        if let Some((node, percent)) = self.slow_node
            && (workload.is_daemon() || on == node)
        {
            takes = takes * percent / 100;
        }
        if let Some((which, until)) = self.unpulled
            && which == at
        {
            takes += until.saturating_sub(now);
        }
        Some(takes)
    }

    /// Which fault keeps pods from starting on a node until somebody acts. A DaemonSet is on all of them; of those only the
    /// agent's own is known to miss one.
    fn holds_for_good(&self, workload: &Workload, on: u32) -> Option<Fault> {
        let is_on = |node: u32| !workload.is_daemon() && on == node;
        if self.mute_node.is_some_and(is_on) {
            Some(Fault::AgentMissing)
        } else {
            let is_unmounted = workload.has_volume && self.unmounted_node.is_some_and(is_on);
            is_unmounted.then_some(Fault::VolumeNotMounted)
        }
    }

    /// Which fault keeps pods from starting on a node, or makes them late.
    pub(crate) fn holds_up(&self, at: u32, workload: &Workload, on: u32, now: Millis) -> Option<Fault> {
        let is_late = || {
            let is_unpulled = self.unpulled.is_some_and(|(which, until)| which == at && now < until);
            let is_slow = self.slow_node.is_some_and(|(node, _)| !workload.is_daemon() && on == node);
            if is_unpulled { Some(Fault::ImagePullBackoff) } else { is_slow.then_some(Fault::SlowNode) }
        };
        self.holds_for_good(workload, on).or_else(is_late)
    }

    /// One of so many nodes, for pods that look for one.
    pub(crate) fn place(&self, workload: &Workload, count: u32) -> u32 {
        let share = random::draw(self.seed, workload.id.0, 50);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of nodes")]
        let node = (share * f64::from(count)) as u32;
        node.min(count.saturating_sub(1))
    }
}

/// What of a boot the faults touch: for whoever asks whether a failure is theirs.
impl Disturbance {
    pub(crate) fn strikes_everything(&self) -> bool {
        self.api_down.is_some() || self.api_factor > 1.0 || self.api_late > 0
    }

    pub(crate) fn strikes_machine(&self, machine: u32) -> bool {
        let is_it = |node: u32| node == machine;
        self.dead_node.is_some_and(|(node, _)| is_it(node))
            || self.slow_node.is_some_and(|(node, _)| is_it(node))
            || self.lost_member.is_some_and(|(lost, _)| lost == machine)
            || self.late_node.is_some_and(|(late, _)| is_it(late))
            || self.missing_node.is_some_and(is_it)
            || self.kubelet_waits.is_some_and(is_it)
    }

    pub(crate) fn strikes_webhook(&self, at: u32) -> bool {
        self.webhooks_until > 0 || self.webhook.is_some_and(|(which, _)| which == at)
    }

    /// `on` is the node that its pods are placed on, where they are.
    pub(crate) fn strikes_workload(&self, at: u32, workload: &Workload, on: Option<u32>) -> bool {
        on.is_some_and(|node| self.holds_for_good(workload, node).is_some())
            || (on.is_some() && !workload.is_daemon() && on == self.slow_node.map(|(node, _)| node))
            || (workload.is_daemon() && self.slow_node.is_some())
            || (workload.is_agent() && self.mute_node.is_some())
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
    fn a_fault_is_drawn_beside_others_and_not_once_more() {
        for seed in 0..100 {
            assert_ne!(Fault::drawn_beside(seed, &[Fault::ClockSkew]), Fault::ClockSkew);
        }
    }

    #[test]
    fn seeds_draw_all_of_them() {
        let drawn: std::collections::BTreeSet<Fault> = (0..1000).map(Fault::drawn).collect();
        assert_eq!(drawn.len(), Fault::ANYWHERE);
        assert!(drawn.iter().all(|fault| !fault.is_of_machines()));
    }
}
