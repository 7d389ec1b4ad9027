//! Commands of provisioners that wait: whether their failure stops anything, and whether what they wait for can exist by then.

use ecow::EcoString;
use model::{Defect, GateDefect, LayerDefect, ObjectRef, StepFault, Wait, Waiter, Which};
use source::Span;

use super::{Judge, KIND, fault, made_by, name, start_of};
use crate::gates::{GateFault, Judged, of_provisioner};
use crate::object::Object;
use crate::terraform::chain::{Block, BlockId, BlockKind};

/// What the provisioners of a run get wrong.
pub(super) fn find(judge: &Judge<'_>, at: usize, found: &mut Vec<StepFault>) {
    let chain = &judge.layers.chains[at];
    for (id, block) in chain.iter() {
        for provisioner in made_by(block) {
            let judged = of_provisioner(judge.repository, provisioner);
            for one in &judged.faults {
                found.push(step_fault(judge, (at, id), one.clone()));
            }
            found.extend(awaits(judge, (at, id), &judged));
        }
    }
}

/// A fault as one of its block. The failure of a wait that can't succeed yet must not stop the boot: then it is said that it waits too early.
fn step_fault(judge: &Judge<'_>, (at, id): (usize, BlockId), one: GateFault) -> StepFault {
    let chain = &judge.layers.chains[at];
    let step = ObjectRef::new(KIND, chain.root.as_str(), chain.block(id).address.as_str());
    let (mut defect, mut shown) = (one.defect, one.shown);
    if let GateDefect::Toothless { wait, why } = &defect
        && let Some(later) = later(judge, (at, id), wait)
    {
        shown.extend(later.start_at);
        shown.push(later.brought);
        defect = GateDefect::TooEarly { wait: wait.clone(), why: *why, start: later.start };
    }
    StepFault { at: one.at, step, defect: Defect::Gate(defect), shown }
}

/// Waits that can fail and that do so on every new cluster: for what GitOps brings, before it is started.
fn awaits<'a>(
    judge: &'a Judge<'_>,
    (at, id): (usize, BlockId),
    judged: &'a Judged,
) -> impl Iterator<Item = StepFault> + use<'a> {
    let chain = &judge.layers.chains[at];
    let is_toothless = |wait: &Wait| {
        judged
            .faults
            .iter()
            .any(|fault| matches!(&fault.defect, GateDefect::Toothless { wait: other, .. } if other == wait))
    };
    let is_run = chain.block(id).count.is_some_and(|count| count > 0);
    let gates = judged.gates.iter().filter(move |gate| is_run && gate.is_certain && !is_toothless(&gate.wait));
    gates.filter_map(move |gate| {
        let later = later(judge, (at, id), &gate.wait)?;
        let (start, start_at) = (later.start?, later.start_at?);
        let defect = LayerDefect::AwaitsGitOps { object: object(&gate.wait)?, start };
        Some(fault(chain, chain.block(id), gate.at, defect, vec![start_at, later.brought]))
    })
}

/// What is waited for, which only GitOps brings.
struct Later {
    /// The object in Git.
    brought: Span,
    /// What starts GitOps, if the wait comes before it.
    start: Option<EcoString>,
    start_at: Option<Span>,
}

fn later(judge: &Judge<'_>, (at, id): (usize, BlockId), wait: &Wait) -> Option<Later> {
    let chain = &judge.layers.chains[at];
    let brought = brought(judge, wait)?;
    let (start_chain, start) = start_of(judge, at)?;
    let starter = judge.layers.chains[start_chain].block(start);
    let is_early = start_chain != at || chain.is_before(id, start);
    Some(Later { brought, start: is_early.then(|| name(starter)), start_at: is_early.then_some(starter.at) })
}

/// A workload that is waited for by its name, as it is said.
fn object(wait: &Wait) -> Option<EcoString> {
    let on = wait.on.as_ref().filter(|_| matches!(wait.by, Waiter::KubectlWait | Waiter::RolloutStatus))?;
    let Which::Named(names) = &on.which else { return None };
    let is_workload = ["deploy", "statefulset", "sts", "daemonset", "ds"].iter().any(|kind| on.kind.starts_with(kind));
    let [name] = &names[..] else { return None };
    (is_workload && !name.contains('*')).then(|| format!("{}/{name}", on.kind).into())
}

/// The object in Git that brings what is waited for, if no run installs it itself.
fn brought(judge: &Judge<'_>, wait: &Wait) -> Option<Span> {
    let object = object(wait)?;
    let name = object.rsplit('/').next()?;
    let is_of = |release: &str| release == name || name.strip_prefix(release).is_some_and(|rest| rest.starts_with('-'));
    let installs = |block: &Block| {
        let own = block.text(&["name"]).or_else(|| block.text(&["metadata", "name"]));
        block.kind == BlockKind::Resource && block.may_exist() && own.is_some_and(is_of)
    };
    if judge.layers.chains.iter().flat_map(|chain| &chain.blocks).any(installs) {
        return None;
    }
    let objects = judge.repository.yaml_files().flat_map(|(_, _, documents)| documents);
    let mut objects = objects.filter_map(|document| document.root.as_ref()).map(Object::new);
    let is_it = |object: &Object<'_>| match object.kind() {
        "HelmRelease" => {
            let full = object.node.text_at(&["spec", "values", "fullnameOverride"]);
            full.map_or_else(|| is_of(object.name()), |full| full == name)
        }
        "Deployment" | "StatefulSet" | "DaemonSet" => object.name() == name,
        _ => false,
    };
    objects.find(is_it).map(Object::name_span)
}
