//! Reasons with names in place of numbers: what leaves this crate. Knows no sentence.

use model::{MachineRef, Obstacle, PodTrouble, Subject, Trace};

use crate::blueprint::{Blueprint, Id, NODES, ThingRole};
use crate::event::{Lack, Reason};
use crate::fault::Fault;
use crate::world::World;

impl Reason {
    /// The same with names; nothing where there is no reason. Machines have the names that files give them, or numbers.
    pub fn named(self, of: &Blueprint) -> Option<Obstacle> {
        let machines: Vec<String> = of.steps.machines.iter().map(ToString::to_string).collect();
        Naming { blueprint: of, machines: &machines }.obstacle(self)
    }
}

impl World<'_> {
    /// A reason with names, those of machines included; nothing where there is none.
    pub fn named(&self, reason: Reason) -> Option<Obstacle> {
        Naming { blueprint: self.blueprint(), machines: self.machine_names() }.obstacle(reason)
    }

    /// A reason and the reasons behind it, with names.
    pub fn named_trace(&self, first: Reason) -> Trace {
        let (chain, turns) = self.follow(first);
        Trace { chain: chain.into_iter().filter_map(|reason| self.named(reason)).collect(), turns }
    }
}

struct Naming<'a> {
    blueprint: &'a Blueprint,
    /// In their order; empty where they have none.
    machines: &'a [String],
}

impl Naming<'_> {
    fn object(&self, id: Id) -> model::ObjectRef {
        self.blueprint.thing(id).object()
    }

    fn machine(&self, number: u32) -> MachineRef {
        let name = self.machines.get(number as usize).map(|name| name.as_str().into());
        MachineRef { number, name }
    }

    fn subject(&self, id: Id) -> Subject {
        if matches!(self.blueprint.role(id), ThingRole::Webhook(_)) {
            return Subject::WebhookOf { release: self.blueprint.webhook_owner(id).into() };
        }
        self.blueprint.own_things.get(&id).cloned().unwrap_or_else(|| Subject::Object(self.object(id)))
    }

    fn is_nodes(&self, id: Id) -> bool {
        self.blueprint.thing(id).kind == NODES
    }

    fn obstacle(&self, reason: Reason) -> Option<Obstacle> {
        let text = |text: u32| self.blueprint.text(text);
        Some(match reason {
            Reason::None => return None,
            Reason::Suspended => Obstacle::Suspended,
            Reason::DependencyNotReady(id) => Obstacle::DependencyNotReady { dependency: self.object(id) },
            Reason::DependencyNotFound(id) => Obstacle::DependencyNotFound { dependency: self.object(id) },
            Reason::SourceNotFound(id) => Obstacle::SourceNotFound { source: self.object(id) },
            Reason::SourceNotReady(id) => Obstacle::SourceNotReady { source: self.object(id) },
            Reason::BuildFailed(message) => Obstacle::BuildFailed { message: text(message).to_owned() },
            Reason::VariablesNotFound(id) => Obstacle::VariablesNotFound { object: self.object(id) },
            Reason::UndefinedVariable(name) => Obstacle::UndefinedVariable { name: text(name).to_owned() },
            Reason::KeyNotFound(id) => Obstacle::KeyNotFound { object: self.object(id) },
            Reason::NoMatch(id) => {
                let api_version = self.blueprint.thing(id).api_version.clone();
                Obstacle::UnknownKind { object: self.object(id), api_version }
            }
            Reason::NamespaceNotFound(id) => Obstacle::NamespaceNotFound { object: self.object(id) },
            Reason::WebhookDown(id, webhook, has_pods) => Obstacle::WebhookDown {
                object: self.object(id),
                api_version: self.blueprint.thing(id).api_version.clone(),
                release: self.blueprint.webhook_owner(webhook).into(),
                has_pods,
            },
            Reason::ValuesNotFound(id) => Obstacle::ValuesNotFound { object: self.object(id) },
            Reason::NoSealingKey => Obstacle::NoSealingKey,
            Reason::ApiDown => Obstacle::ApiDown,
            Reason::BootstrapTimeout(release) => Obstacle::BootstrapTimeout { release: text(release).into() },
            Reason::NotInstalled(release) => Obstacle::NotInstalled { release: text(release).into() },
            Reason::FluxNotStarted => Obstacle::FluxNotStarted,
            Reason::Sealed(id) => Obstacle::Sealed { object: self.object(id) },
            Reason::LooksAgain(id, every_seconds) => {
                Obstacle::LooksAgain { dependency: self.object(id), every_seconds }
            }
            Reason::LooksSoon(every_seconds) => Obstacle::LooksSoon { every_seconds },
            Reason::Reconciles => Obstacle::Reconciles,
            Reason::GitDown(id) => Obstacle::GitDown { source: self.object(id) },
            other => return self.health(other).or_else(|| self.below_kubernetes(other)),
        })
    }

    fn lack(&self, lack: Lack) -> Obstacle {
        match lack {
            Lack::Etcd => Obstacle::NoQuorum,
            Lack::Api => Obstacle::NoApi,
            Lack::Answer(machine) => Obstacle::NoAnswer { machine: self.machine(machine) },
            Lack::Joined(machine) => Obstacle::NotJoined { machine: self.machine(machine) },
            Lack::Kubelet(machine) => Obstacle::KubeletWaits { machine: self.machine(machine) },
            Lack::Agent(machine) => Obstacle::NoAgent { machine: self.machine(machine) },
            Lack::Network => Obstacle::NoNetwork,
            Lack::Release(release) => {
                let name = self.blueprint.early.get(release as usize).map_or("", |it| self.blueprint.text(it.name));
                Obstacle::BootstrapTimeout { release: name.into() }
            }
        }
    }

    /// Of what is waited for, ready or not.
    fn health(&self, reason: Reason) -> Option<Obstacle> {
        Some(match reason {
            Reason::NotThere(id) | Reason::NotReady(id) if self.is_nodes(id) => Obstacle::NoNodes,
            Reason::NotThere(id) => Obstacle::NotThere { subject: self.subject(id) },
            Reason::NotReady(id) => Obstacle::NotReady { subject: self.subject(id) },
            Reason::WaitsFor(id, on) => Obstacle::WaitsFor { subject: self.subject(id), on: self.subject(on) },
            Reason::HealthTimeout(id) => Obstacle::HealthTimeout { on: self.subject(id) },
            Reason::HealthStalled(id) => Obstacle::HealthStalled { on: self.subject(id) },
            Reason::HealthChecks(id, timeout_seconds) => {
                Obstacle::HealthChecks { on: self.subject(id), timeout_seconds }
            }
            Reason::InstallTimeout(id) => Obstacle::InstallTimeout { on: self.subject(id) },
            Reason::Installs(id, timeout_seconds) => Obstacle::Installs { on: self.subject(id), timeout_seconds },
            Reason::Stuck(id, fault, node) => {
                Obstacle::Stuck { subject: self.subject(id), trouble: trouble(fault), node: self.machine(node) }
            }
            Reason::Unplaced(id) => Obstacle::Unplaced { subject: self.subject(id) },
            Reason::Starts(id, takes_seconds) => Obstacle::Starts { subject: self.subject(id), takes_seconds },
            Reason::Crashes(id) => Obstacle::Crashes { subject: self.subject(id) },
            Reason::UnderWay(id) => Obstacle::UnderWay { subject: self.subject(id) },
            Reason::IsSuspended(id) => Obstacle::IsSuspended { subject: self.subject(id) },
            _ => return None,
        })
    }

    fn below_kubernetes(&self, reason: Reason) -> Option<Obstacle> {
        Some(match reason {
            Reason::NoQuorum => Obstacle::NoQuorum,
            Reason::NoMachine(number) => Obstacle::NoMachine { number },
            Reason::NoAnswer(machine) => Obstacle::NoAnswer { machine: self.machine(machine) },
            Reason::NotConfigured(machine) => Obstacle::NotConfigured { machine: self.machine(machine) },
            Reason::OtherSecrets(machine) => Obstacle::OtherSecrets { machine: self.machine(machine) },
            Reason::NoSecrets => Obstacle::NoSecrets,
            Reason::NoControlPlane(machine) => Obstacle::NoControlPlane { machine: self.machine(machine) },
            Reason::EtcdNotBootstrapped => Obstacle::EtcdNotBootstrapped,
            Reason::EtcdSplit => Obstacle::EtcdSplit,
            Reason::NoApi => Obstacle::NoApi,
            Reason::NoNode(machine) => Obstacle::NotJoined { machine: self.machine(machine) },
            Reason::StepStopped(step, lack) => {
                let step = self.blueprint.steps.all.get(step as usize)?.object.clone();
                Obstacle::StepStopped { step, lacks: Box::new(self.lack(lack)) }
            }
            Reason::StartedWithout(lack) => self.lack(lack),
            _ => return None,
        })
    }
}

/// What a fault is to pods.
fn trouble(fault: Fault) -> PodTrouble {
    match fault {
        Fault::VolumeNotMounted => PodTrouble::VolumesNotMounted,
        Fault::AgentMissing => PodTrouble::NoNetworkAgent,
        Fault::ImagePullBackoff => PodTrouble::ImageNotPulled,
        Fault::DeadNode => PodTrouble::NodeGone,
        Fault::SlowNode => PodTrouble::NodeSlow,
        _ => PodTrouble::SlowStart,
    }
}
