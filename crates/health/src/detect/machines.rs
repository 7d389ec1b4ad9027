//! Machines and etcd, where the machines themselves were asked.

use std::time::Duration;

use crate::detect::Found;
use crate::facts::{Answer, Machine, ObjectKey, Role};
use crate::status::{LayerName, Problem, What, WhyNot};
use crate::symptom::Symptom;
use crate::view::View;

/// A service may wait for its volumes for so long.
const WAITING: Duration = Duration::from_mins(2);

pub(crate) fn machine_key(name: &str) -> ObjectKey {
    ObjectKey::new("talos.dev", "Machine", "", name)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    let machines = &view.facts.machines;
    let mut good = 0;
    for machine in machines {
        let before = found.symptoms.len();
        one(view, machine, found);
        good += usize::from(found.symptoms.len() == before);
    }
    found.count(LayerName::Machines, What::Machines, good, machines.len());
    etcd(view, found);
}

fn one(view: &View<'_>, machine: &Machine, found: &mut Found) {
    let symptom = |problem| Symptom::new(LayerName::Machines, machine_key(&machine.name), problem);
    if let Answer::No(why) = &machine.answer {
        found.add(symptom(Problem::NoAnswer { why: WhyNot::from(why) }).shows(
            "apid",
            machine.address.clone(),
            machine.seen,
        ));
        return;
    }
    if machine.time_synced == Some(false) {
        found.add(symptom(Problem::TimeNotSynced).shows("TimeStatus.synced", "false", machine.seen));
    }
    for volume in machine.volumes.iter().filter(|it| ["failed", "missing", "waiting"].contains(&&*it.phase)) {
        let (phase, message) = (volume.phase.clone(), volume.error.clone());
        let problem = Problem::VolumeNotReady { volume: volume.id.clone(), phase: phase.clone(), message };
        found.add(symptom(problem).shows("VolumeStatus.phase", phase, machine.seen));
    }
    for service in
        machine.services.iter().filter(|it| it.healthy == Some(false) || it.state == "Failed" || it.state == "Waiting")
    {
        if !view.is_older(service.since, WAITING) {
            continue;
        }
        let problem = Problem::ServiceNotHealthy {
            service: service.id.clone(),
            state: service.state.clone(),
            message: service.message.clone(),
        };
        found.add(symptom(problem).shows("Service.state", service.message.clone(), service.since));
    }
    let is_named = !machine.stage.is_empty() && machine.stage != "running";
    if is_named {
        let (unmet, why) = machine.unmet.first().cloned().unwrap_or_default();
        let problem = Problem::MachineNotReady { stage: machine.stage.clone(), unmet, why };
        found.add(symptom(problem).shows("MachineStatus.stage", machine.stage.clone(), machine.seen));
    }
}

fn etcd(view: &View<'_>, found: &mut Found) {
    let planes: Vec<&Machine> = view.facts.machines.iter().filter(|it| it.role == Role::ControlPlane).collect();
    let Some(known) = planes.iter().filter_map(|it| it.etcd.as_ref()).max_by_key(|it| it.members.len()) else { return };
    let voters = known.members.iter().filter(|it| !it.learner).count();
    let reachable = planes.iter().filter(|it| it.etcd.as_ref().is_some_and(|etcd| !etcd.leader.is_empty())).count();
    found.count(LayerName::Etcd, What::EtcdMembers, reachable.min(voters), voters);
    if reachable < voters / 2 + 1 {
        let problem = Problem::EtcdNoQuorum { reachable, members: voters };
        let symptom = Symptom::new(LayerName::Etcd, ObjectKey::new("", "Etcd", "", "etcd"), problem);
        let value = ecow::eco_format!("{reachable} of {voters}");
        let machines = planes.iter().map(|it| (machine_key(&it.name), crate::status::Because::Node));
        found.add(symptom.shows("EtcdStatus.leader", value, view.facts.machines.seen).edges(machines));
    }
    let mut alarms: Vec<_> = planes.iter().filter_map(|it| it.etcd.as_ref()).flat_map(|it| &it.alarms).collect();
    alarms.sort_by_key(|(member, _)| member.clone());
    alarms.dedup();
    for (member, alarm) in alarms {
        let object = ObjectKey::new("", "EtcdMember", "", member);
        let problem = Problem::EtcdAlarm { alarm: (*alarm).into() };
        found.add(Symptom::new(LayerName::Etcd, object, problem).shows(
            "EtcdAlarmList",
            "set",
            view.facts.machines.seen,
        ));
    }
}
