//! The steps before GitOps, with the releases that they install by number.

use std::collections::BTreeSet;

use model::{Boot, BootStep, Brings, Doing};
use read::rendered::Rendered;

use super::builder::Builder;
use crate::steps::{Deed, Run, Step, Steps};

impl Builder<'_> {
    /// Only where machines are switched on and the bootstrap is run.
    pub(crate) fn resolve_boot(&mut self, revisions: &[Rendered]) {
        let Some(boot) = revisions.last().map(|rendered| &rendered.bootstrap.boot) else { return };
        if self.conditions.machines.is_none() || !self.conditions.runs_bootstrap {
            return;
        }
        let late = after_the_start(boot);
        let mut runs: Vec<Run> = Vec::new();
        let mut all = Vec::with_capacity(boot.steps.len());
        for (at, step) in boot.steps.iter().enumerate() {
            let run = Run { kind: step.object.kind.clone(), place: step.object.namespace.clone() };
            let number = runs.iter().position(|known| *known == run).unwrap_or_else(|| {
                runs.push(run);
                runs.len() - 1
            });
            let waits = step.proves.iter().map(|proven| (proven.fact, proven.of));
            all.push(Step {
                object: step.object.clone(),
                run: source::to_u32(number),
                does: self.deed(step),
                after: step.after.iter().map(|order| order.on.index()).collect(),
                waits: waits.chain(step.awaits.iter().map(|fact| (*fact, model::Extent::Existing))).collect(),
                reaches_shared_address: step.reaches.is_some() && step.reaches == boot.virtual_address,
                is_late: late.contains(&at),
            });
        }
        let of =
            |is_control_plane: bool| boot.nodes.iter().filter(move |node| node.is_control_plane == is_control_plane);
        let machines = of(true).chain(of(false)).map(|node| node.name.clone()).collect();
        self.out.steps = Steps { all, runs, lacks_network: boot.lacks_network, machines };
    }

    fn deed(&self, step: &BootStep) -> Deed {
        match &step.does {
            Doing::MakesMachines => Deed::PowersOn,
            Doing::ConfiguresMachines => Deed::Configures,
            Doing::BootstrapsEtcd => Deed::BootstrapsEtcd,
            Doing::Installs { brings: Brings::PodNetwork { unavailable_max }, .. } => Deed::InstallsNetwork {
                release: self.release_of(step),
                // A release that shows nothing does not wait.
                unavailable_max: unavailable_max.filter(|_| !step.proves.is_empty()),
            },
            Doing::Installs { .. } => Deed::Installs { release: self.release_of(step) },
            Doing::StoresSealingKey => Deed::StoresKey,
            Doing::StartsGitOps => Deed::StartsFlux,
            Doing::FetchesCredentials
            | Doing::ChecksFirst
            | Doing::AsksOutside
            | Doing::PreparesMachines
            | Doing::RunsLayer { .. }
            | Doing::AppliesObjects(_)
            | Doing::Waits
            | Doing::Other => Deed::Other,
        }
    }

    /// The release of the bootstrap that a step installs, where one alone is called so.
    fn release_of(&self, step: &BootStep) -> Option<u32> {
        let name = match &step.does {
            Doing::Installs { release, .. } if step.object.kind == "Terraform" => release,
            _ => &step.object.name,
        };
        let is_it = |text: &str| text.rsplit('/').next() == Some(name.as_str());
        let mut found = (0..).zip(&self.out.early).filter(|(_, early)| is_it(self.out.text(early.name)));
        let first = found.next().map(|(at, _)| at);
        first.filter(|_| found.next().is_none())
    }
}

/// The steps that come after one that starts Flux, among them those that start it again.
fn after_the_start(boot: &Boot) -> BTreeSet<usize> {
    let mut late: BTreeSet<usize> = BTreeSet::new();
    let starts: BTreeSet<usize> = boot.starts().map(model::StepId::index).collect();
    loop {
        let is_next = |at: &usize| {
            let step = &boot.steps[*at];
            !late.contains(at)
                && step.after.iter().any(|order| starts.contains(&order.on.index()) || late.contains(&order.on.index()))
        };
        let next: Vec<usize> = (0..boot.steps.len()).filter(is_next).collect();
        if next.is_empty() {
            return late;
        }
        late.extend(next);
    }
}
