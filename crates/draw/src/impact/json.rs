//! For programs. As in the report, the structs here are the promise.

use graph::Loss;
use model::{Cluster, ComponentId, ObjectRef};
use serde::Serialize;

use super::text::provider;
use super::{Answer, CriticalOf, MachineLoss, Told, What};
use crate::clean::clean_json;
use crate::json::{ObjectTwin, TOOL, VERSION};
use crate::say;

/// The answer as one JSON object with a line end.
pub fn json(told: &Told<'_>) -> Result<String, serde_json::Error> {
    let mut document =
        DocumentTwin { version: VERSION, tool: TOOL, answers: Vec::new(), critical: Vec::new(), machine: None };
    match told {
        Told::Answers(answers) => document.answers = answers.iter().map(AnswerTwin::new).collect(),
        Told::Critical(all) => document.critical = all.iter().map(CriticalTwin::new).collect(),
        Told::Machine(machine) => document.machine = Some(MachineTwin::new(machine)),
    }
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    answers: Vec<AnswerTwin<'a>>,
    critical: Vec<CriticalTwin<'a>>,
    machine: Option<MachineTwin<'a>>,
}

#[derive(Serialize)]
struct AnswerTwin<'a> {
    cluster: &'a str,
    kind: &'static str,
    component: Option<ObjectTwin<'a>>,
    object: Option<ObjectTwin<'a>>,
    from_version: Option<&'a str>,
    to_version: Option<&'a str>,
    files: &'a [String],
    /// The components that are lost: with what they apply.
    components: Vec<ObjectTwin<'a>>,
    running: Vec<LossTwin<'a>>,
    /// Null where Flux does not apply it.
    pruned: Option<bool>,
    cold_start: Vec<LostTwin<'a>>,
    critical: Vec<ObjectTwin<'a>>,
    order: Vec<ObjectTwin<'a>>,
}

#[derive(Serialize)]
struct LossTwin<'a> {
    loss: &'static str,
    affected: Vec<AffectedTwin<'a>>,
}

#[derive(Serialize)]
struct AffectedTwin<'a> {
    component: ObjectTwin<'a>,
    when: &'static str,
    from: ObjectTwin<'a>,
    why: String,
}

#[derive(Serialize)]
struct LostTwin<'a> {
    component: ObjectTwin<'a>,
    /// `never-ready` or `broken`: ready, and does not work.
    fate: &'static str,
    from: Option<ObjectTwin<'a>>,
    why: String,
}

#[derive(Serialize)]
struct CriticalTwin<'a> {
    cluster: &'a str,
    services: Vec<ServiceTwin<'a>>,
}

#[derive(Serialize)]
struct ServiceTwin<'a> {
    component: ObjectTwin<'a>,
    at_once: usize,
    pod_start: usize,
    reconcile: usize,
    cold_start: usize,
    affected: Vec<AffectedTwin<'a>>,
}

#[derive(Serialize)]
struct MachineTwin<'a> {
    name: &'a str,
    control_plane: bool,
    control_planes: usize,
    workers: usize,
    says: Vec<String>,
}

fn twin(cluster: &Cluster, id: ComponentId) -> ObjectTwin<'_> {
    ObjectTwin::new(&cluster.component(id).object)
}

impl<'a> AnswerTwin<'a> {
    fn new(answer: &'a Answer<'a>) -> Self {
        let cluster = answer.cluster;
        let (kind, component, object): (_, Option<ComponentId>, Option<&ObjectRef>) = match &answer.what {
            What::Component(id) => ("component", Some(*id), None),
            What::Object { object, by } => ("object", Some(*by), Some(object)),
            What::Version { id, .. } => ("version", Some(*id), None),
            What::Files { are_removed: true, .. } => ("removed-files", None, None),
            What::Files { .. } => ("files", None, None),
        };
        let (from_version, to_version) = match &answer.what {
            What::Version { from, to, .. } => (from.as_deref(), Some(to.as_str())),
            _ => (None, None),
        };
        let files: &[String] = if let What::Files { files, .. } = &answer.what { files } else { &[] };
        let impact = &answer.impact;
        Self {
            cluster: &cluster.name,
            kind,
            component: component.map(|id| twin(cluster, id)),
            object: object.map(ObjectTwin::new),
            from_version,
            to_version,
            files,
            components: impact.subject.components.iter().map(|id| twin(cluster, *id)).collect(),
            running: answer.losses.iter().map(|loss| LossTwin::new(answer, *loss)).collect(),
            pruned: impact.is_pruned,
            cold_start: answer.cold_start().into_iter().map(|lost| LostTwin::new(cluster, lost)).collect(),
            critical: answer.critical().into_iter().map(|id| twin(cluster, id)).collect(),
            order: impact.order.iter().map(|id| twin(cluster, *id)).collect(),
        }
    }
}

impl<'a> LossTwin<'a> {
    fn new(answer: &'a Answer<'a>, loss: Loss) -> Self {
        let affected = answer.impact.running.get(&loss).into_iter().flatten();
        Self { loss: loss.word(), affected: affected.map(|it| AffectedTwin::new(answer.cluster, it)).collect() }
    }
}

impl<'a> AffectedTwin<'a> {
    fn new(cluster: &'a Cluster, it: &graph::Affected) -> Self {
        Self {
            component: twin(cluster, it.id),
            when: it.onset.word(),
            from: twin(cluster, it.from),
            why: say::impact::cause(cluster, it),
        }
    }
}

impl<'a> LostTwin<'a> {
    fn new(cluster: &'a Cluster, (id, fate, why): (ComponentId, graph::Fate, graph::Missing)) -> Self {
        Self {
            component: twin(cluster, id),
            fate: match fate {
                graph::Fate::NeverDone => "never-ready",
                graph::Fate::Broken => "broken",
            },
            from: provider(why).map(|id| twin(cluster, id)),
            why: say::impact::missing(cluster, why),
        }
    }
}

impl<'a> CriticalTwin<'a> {
    fn new(of: &'a CriticalOf<'a>) -> Self {
        let service = |(service, impact): (&'a graph::Critical, &'a graph::Impact)| ServiceTwin {
            component: twin(of.cluster, service.id),
            at_once: service.at_once,
            pod_start: service.pod_start,
            reconcile: service.reconcile,
            cold_start: service.cold_start,
            affected: impact
                .running
                .get(&Loss::Down)
                .into_iter()
                .flatten()
                .map(|it| AffectedTwin::new(of.cluster, it))
                .collect(),
        };
        Self { cluster: &of.cluster.name, services: of.services.iter().zip(&of.impacts).map(service).collect() }
    }
}

impl<'a> MachineTwin<'a> {
    fn new(machine: &'a MachineLoss) -> Self {
        Self {
            name: &machine.name,
            control_plane: machine.is_control_plane,
            control_planes: machine.control_planes,
            workers: machine.workers,
            says: super::machine_lines(machine),
        }
    }
}
