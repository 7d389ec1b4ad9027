//! Below Kubernetes: machines boot and get their configuration, etcd is bootstrapped on one of them, which is its own quorum
//! until others join, one after the other; the API server answers, nodes join.

use super::{World, scaled};
use crate::blueprint::{Id, Millis};
use crate::event::{Reason, What};
use crate::queue::WorldAlarm;
use crate::stage::Done;

/// From switched on to an operating system that answers.
const MACHINE_BOOTS: (Millis, Millis) = (40_000, 120_000);
/// A member of etcd, from when it may begin.
const MEMBER_STARTS: (Millis, Millis) = (10_000, 30_000);
const API_STARTS: (Millis, Millis) = (10_000, 30_000);
/// From an API server to a node that pods can be placed on.
const NODE_JOINS: (Millis, Millis) = (10_000, 30_000);

#[derive(Clone, Copy, Debug, Default)]
struct Machine {
    is_on: bool,
    is_up: bool,
    configured: Option<Millis>,
    /// The secrets that its configuration was made from.
    secrets: u32,
    member: Member,
    has_joined: bool,
}

/// A machine's member of etcd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Member {
    #[default]
    None,
    Joined,
    /// It had joined, and still counts.
    Lost,
    /// Lost before it joined: it never will.
    Never,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Hardware {
    machines: Vec<Machine>,
    /// How often secrets were made.
    secrets: u32,
    /// Where etcd was bootstrapped.
    etcd: Option<u32>,
    is_split: bool,
    /// The machine whose member of etcd is on its way: they join one after the other.
    joining: Option<u32>,
    pub(super) has_api: bool,
}

impl World<'_> {
    pub(super) fn rack(&mut self) {
        let count = self.blueprint.machines.map_or(0, |(machines, _)| machines.control_planes + machines.workers);
        self.hardware.machines.clear();
        self.hardware.machines.resize(count as usize, Machine::default());
        self.hardware.secrets = 0;
        self.hardware.etcd = None;
        self.hardware.is_split = false;
        self.hardware.joining = None;
        self.hardware.has_api = self.blueprint.machines.is_none();
    }

    fn machine(&self, machine: u32) -> Result<Machine, Reason> {
        self.hardware.machines.get(machine as usize).copied().ok_or(Reason::NoMachine(machine))
    }

    pub(super) fn make_secrets(&mut self) -> Done {
        self.hardware.secrets += 1;
        if self.hardware.secrets == 1 { Done::Begun } else { Done::Again }
    }

    pub(super) fn power_on(&mut self, machine: u32) -> Result<Done, Reason> {
        if self.machine(machine)?.is_on {
            return Ok(Done::Again);
        }
        self.hardware.machines[machine as usize].is_on = true;
        let takes = self.between(MACHINE_BOOTS, 100 + machine);
        let up = self.now + self.disturbance.machine_boots(machine, takes);
        self.queue.push_world(up, WorldAlarm::MachineUp(machine));
        Ok(Done::Begun)
    }

    pub(super) fn machine_is_up(&mut self, machine: u32) {
        if self.disturbance.is_dead(machine, self.now) {
            return;
        }
        self.hardware.machines[machine as usize].is_up = true;
        self.note(None, What::MachineUp(machine));
    }

    pub(super) fn configure(&mut self, machine: u32) -> Result<Done, Reason> {
        let it = self.machine(machine)?;
        if !it.is_up {
            return Err(Reason::NoAnswer(machine));
        }
        if self.hardware.secrets == 0 {
            return Err(Reason::NoSecrets);
        }
        if it.configured.is_some() {
            let is_same = it.secrets == self.hardware.secrets;
            return if is_same { Ok(Done::Again) } else { Err(Reason::OtherSecrets(machine)) };
        }
        let state = &mut self.hardware.machines[machine as usize];
        state.configured = Some(self.now);
        state.secrets = self.hardware.secrets;
        self.start_next_member();
        self.join(machine);
        Ok(Done::Begun)
    }

    pub(super) fn bootstrap_etcd(&mut self, machine: u32) -> Result<Done, Reason> {
        if let Some(reason) = self.lacks_configuration(machine) {
            return Err(reason);
        }
        if !self.is_control_plane(machine) {
            return Err(Reason::NoControlPlane(machine));
        }
        if let Some(there) = self.hardware.etcd {
            if there != machine {
                self.split();
            }
            return Ok(Done::Again);
        }
        self.hardware.etcd = Some(machine);
        self.start_next_member();
        Ok(Done::Begun)
    }

    /// Two clusters of one name: neither the old data nor the API server can be relied on any more.
    fn split(&mut self) {
        self.hardware.is_split = true;
        self.lose_api();
    }

    fn control_planes(&self) -> u32 {
        self.blueprint.machines.map_or(0, |(machines, _)| machines.control_planes)
    }

    pub(super) fn is_control_plane(&self, machine: u32) -> bool {
        machine < self.control_planes()
    }

    /// The machine that etcd was bootstrapped on has the first member. The others follow once that one is there, each when its
    /// machine has a configuration that the first one trusts.
    fn start_next_member(&mut self) {
        let Some(first) = self.hardware.etcd.filter(|_| self.hardware.joining.is_none()) else { return };
        let leader = self.hardware.machines[first as usize];
        let can_join = |machine: u32, it: &Machine| {
            let is_its_turn = machine == first || self.lacks_etcd().is_none();
            let is_trusted = it.configured.is_some() && it.secrets == leader.secrets;
            is_its_turn && is_trusted && it.member == Member::None
        };
        let mut all = (0..).zip(&self.hardware.machines).take(self.control_planes() as usize);
        let Some((machine, _)) = all.find(|(machine, it)| can_join(*machine, it)) else { return };
        let starts = self.now + self.between(MEMBER_STARTS, 200 + machine);
        self.hardware.joining = Some(machine);
        self.queue.push_world(starts, WorldAlarm::MemberUp(machine));
    }

    pub(super) fn member_is_up(&mut self, machine: u32) {
        self.hardware.joining = None;
        // Without a quorum nobody is let in.
        let is_let_in = self.hardware.etcd == Some(machine) || self.lacks_etcd().is_none();
        if is_let_in && self.hardware.machines[machine as usize].member == Member::None {
            self.hardware.machines[machine as usize].member = Member::Joined;
            self.note(None, What::MemberJoined(machine));
            if self.hardware.etcd == Some(machine) && !self.hardware.is_split {
                let starts = self.between(API_STARTS, 300) + self.disturbance.api_late;
                self.queue.push_world(self.now + starts, WorldAlarm::ApiReady);
            }
        }
        self.start_next_member();
    }

    /// A member that has joined stays one when it is lost: the others must be more than half of all. One that has not never will.
    pub(super) fn member_is_lost(&mut self, machine: u32) {
        let Some(it) = self.hardware.machines.get_mut(machine as usize) else { return };
        it.member = if it.member == Member::Joined { Member::Lost } else { Member::Never };
        if it.member == Member::Lost && self.lacks_etcd().is_some() {
            self.lose_api();
        }
    }

    /// A machine goes away, with its member of etcd; the API server goes where that one can't be spared.
    pub(super) fn machine_dies(&mut self, machine: u32) {
        let Some(it) = self.hardware.machines.get_mut(machine as usize) else { return };
        it.is_up = false;
        it.has_joined = false;
        if self.is_control_plane(machine) {
            self.member_is_lost(machine);
        }
    }

    fn lose_api(&mut self) {
        self.hardware.has_api = false;
        self.disturbance.api_down = Some((self.now, self.limits.horizon));
        self.note(None, What::ApiDown);
    }

    fn has_quorum(&self) -> bool {
        let count = |member: Member| self.hardware.machines.iter().filter(|it| it.member == member).count();
        count(Member::Joined) > count(Member::Lost)
    }

    /// The API server answers for the first time.
    pub(super) fn api_is_ready(&mut self) {
        if self.lacks_etcd().is_some() {
            return;
        }
        self.note(None, What::ApiUp);
        self.hardware.has_api = true;
        for machine in (0..).take(self.hardware.machines.len()) {
            self.join(machine);
        }
    }

    fn join(&mut self, machine: u32) {
        let it = self.hardware.machines[machine as usize];
        let etcd = self.hardware.etcd.map(|etcd| self.hardware.machines[etcd as usize].secrets);
        if self.hardware.has_api && it.configured.is_some() && etcd == Some(it.secrets) {
            let joins = self.now + self.between(NODE_JOINS, 400 + machine);
            if let Some(joins) = self.disturbance.joins(machine, joins) {
                self.queue.push_world(joins, WorldAlarm::NodeJoined(machine));
            }
        }
    }

    pub(super) fn node_has_joined(&mut self, machine: u32) {
        if self.disturbance.is_dead(machine, self.now) {
            return;
        }
        self.hardware.machines[machine as usize].has_joined = true;
        self.note(None, What::NodeJoined(machine));
        if let Some((_, nodes)) = self.blueprint.machines {
            self.create(nodes);
        }
        self.nodes_changed();
    }

    /// A node that pods can be placed on. Where no machines are described, nodes are there from the start.
    pub(super) fn has_node(&self, node: u32) -> bool {
        match self.hardware.machines.get(node as usize) {
            Some(it) => it.has_joined,
            None => self.blueprint.machines.is_none() && !self.disturbance.is_dead(node, self.now),
        }
    }

    /// All nodes that pods can be placed on.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.disturbance.nodes).filter(|node| self.has_node(*node))
    }

    pub(super) fn between(&self, (least, most): (Millis, Millis), question: u32) -> Millis {
        let of = self.blueprint.machines.map_or(Id(0), |(_, nodes)| nodes);
        let factor = self.disturbance.api_factor.min(3.0);
        least + scaled(most - least, self.draw(of, question) * factor)
    }

    pub(super) fn lacks_machine(&self, machine: u32) -> Option<Reason> {
        match self.machine(machine) {
            Err(reason) => Some(reason),
            Ok(it) => (!it.is_up).then_some(Reason::NoAnswer(machine)),
        }
    }

    pub(super) fn lacks_configuration(&self, machine: u32) -> Option<Reason> {
        self.lacks_machine(machine).or_else(|| {
            let it = self.hardware.machines[machine as usize];
            match it.configured {
                None => Some(Reason::NotConfigured(machine)),
                Some(_) => (it.secrets != self.hardware.secrets).then_some(Reason::OtherSecrets(machine)),
            }
        })
    }

    pub(super) fn lacks_secrets(&self) -> Option<Reason> {
        (self.hardware.secrets == 0 && self.blueprint.machines.is_some()).then_some(Reason::NoSecrets)
    }

    pub(super) fn lacks_bootstrap(&self) -> Option<Reason> {
        let is_missing = self.hardware.etcd.is_none() && self.blueprint.machines.is_some();
        is_missing.then_some(Reason::EtcdNotBootstrapped)
    }

    pub(super) fn lacks_etcd(&self) -> Option<Reason> {
        self.blueprint.machines?;
        if self.hardware.is_split {
            return Some(Reason::EtcdSplit);
        }
        self.lacks_bootstrap().or_else(|| (!self.has_quorum()).then_some(Reason::NoQuorum))
    }

    pub(super) fn lacks_api(&self) -> Option<Reason> {
        let is_away = !self.hardware.has_api || self.disturbance.api_is_down_until(self.now).is_some();
        is_away.then(|| self.lacks_etcd().unwrap_or(Reason::NoApi))
    }

    pub(super) fn lacks_node(&self, machine: u32) -> Option<Reason> {
        match self.machine(machine) {
            Err(reason) => Some(reason),
            Ok(it) => (!it.has_joined).then_some(Reason::NoNode(machine)),
        }
    }
}

/// For whoever follows the book.
impl World<'_> {
    /// The next thing to do about a machine, if there is any.
    pub(super) fn unconfigured(&self) -> Option<u32> {
        let is_next = |it: &Machine| it.is_up && it.configured.is_none();
        (0..).zip(&self.hardware.machines).find(|(_, it)| is_next(it)).map(|(machine, _)| machine)
    }

    /// A control plane that etcd can be bootstrapped on, where it was on none.
    pub(super) fn first_member(&self) -> Option<u32> {
        let all = || (0..).zip(&self.hardware.machines).take(self.control_planes() as usize);
        all()
            .find(|(_, it)| it.configured.is_some() && it.is_up)
            .map(|(machine, _)| machine)
            .filter(|_| self.hardware.etcd.is_none())
    }

    pub(super) fn is_raised(&self) -> bool {
        self.hardware.machines.is_empty() || self.hardware.machines.iter().any(|it| it.has_joined)
    }
}
