//! What runs of Terraform do of a boot, as its steps were read: what they do is watched, and not done by hand as well.

use std::collections::{BTreeMap, BTreeSet};

use graph::EarlyPart;
use model::{Boot, Doing};

use super::build::Draft;
use super::told::Told;
use super::{Action, Layer, NeedReason, Proof, Seed};

/// What a run does of a boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    MakesMachines,
    ConfiguresMachines,
    BootstrapsEtcd,
    FetchesCredentials,
    Installs,
    StoresSealingKey,
    StartsFlux,
    Waits,
}

const OF_MACHINES: [Deed; 3] = [Deed::MakesMachines, Deed::ConfiguresMachines, Deed::BootstrapsEtcd];

/// The runs of Terraform that do something for a boot, by directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Runs {
    pub(super) deeds: BTreeMap<String, BTreeSet<Deed>>,
    /// One directory after another: the later one first.
    order: BTreeSet<(String, String)>,
    /// The steps of those that are in the plan.
    steps: BTreeMap<String, usize>,
}

impl Runs {
    pub(super) fn of(boot: &Boot) -> Self {
        let mut runs = Self::default();
        let of_terraform = |step: &&model::BootStep| step.object.kind == "Terraform";
        for step in boot.steps.iter().filter(of_terraform) {
            let directory = step.object.namespace.to_string();
            runs.deeds.entry(directory.clone()).or_default().insert(deed(&step.does));
            let before = step.after.iter().map(|order| boot.step(order.on)).filter(of_terraform);
            let others = before.filter(|other| !step.is_of_run(other));
            runs.order.extend(others.map(|other| (directory.clone(), other.object.namespace.to_string())));
        }
        runs
    }

    /// Whether a run starts Flux: it comes before what Flux does.
    pub(super) fn starts_flux(&self, directory: &str) -> bool {
        self.deeds.get(directory).is_some_and(|deeds| deeds.contains(&Deed::StartsFlux))
    }

    pub(super) fn add(&mut self, directory: &str, step: usize) {
        self.steps.insert(directory.to_owned(), step);
    }

    /// Those in the plan that do this.
    pub(super) fn doing(&self, deed: Deed) -> Vec<usize> {
        let does = |directory: &String| self.deeds.get(directory).is_some_and(|deeds| deeds.contains(&deed));
        self.steps.iter().filter(|(directory, _)| does(directory)).map(|(_, step)| *step).collect()
    }

    /// The same, where what else they do is not done by hand. Without machines nothing is known of the cluster that they speak to.
    fn watchable(&self, deed: Deed, told: &Told) -> Vec<usize> {
        if told.up.control_planes.is_empty() {
            return Vec::new();
        }
        let by_hand = |step: &usize| {
            told.machines_from.is_none() && OF_MACHINES.iter().any(|deed| self.doing(*deed).contains(step))
        };
        self.doing(deed).into_iter().filter(|step| !by_hand(step)).collect()
    }

    /// The steps of two runs of which one comes after the other.
    fn orders(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.order.iter().filter_map(|(late, early)| Some((*self.steps.get(late)?, *self.steps.get(early)?)))
    }
}

fn deed(does: &Doing) -> Deed {
    match does {
        Doing::MakesMachines => Deed::MakesMachines,
        Doing::ConfiguresMachines => Deed::ConfiguresMachines,
        Doing::BootstrapsEtcd => Deed::BootstrapsEtcd,
        Doing::FetchesCredentials => Deed::FetchesCredentials,
        Doing::Installs { .. } | Doing::AppliesObjects(_) => Deed::Installs,
        Doing::StoresSealingKey => Deed::StoresSealingKey,
        Doing::StartsGitOps => Deed::StartsFlux,
        Doing::ChecksFirst
        | Doing::AsksOutside
        | Doing::PreparesMachines
        | Doing::RunsLayer { .. }
        | Doing::Waits
        | Doing::Other => Deed::Waits,
    }
}

impl Draft<'_> {
    /// Runs that install into the new cluster, and what they do of what the plan would do itself. What only starts a bootstrap whose
    /// releases are steps of the plan is no step beside them.
    pub(super) fn terraform_in_cluster(&mut self, told: &Told, api: &[usize], steps: &[usize], start: usize) {
        let brings_flux = self.parts.contains(&Some(EarlyPart::Flux));
        let own = |deeds: &BTreeSet<Deed>| {
            let is_told = |deed: &Deed| match deed {
                Deed::StartsFlux => brings_flux,
                Deed::Waits | Deed::FetchesCredentials => true,
                _ => false,
            };
            // What makes machines and is no step by now makes those of another cluster, or the same ones again.
            !deeds.iter().all(is_told) && !OF_MACHINES.iter().any(|deed| deeds.contains(deed))
        };
        let is_open = |directory: &String| !self.runs.steps.contains_key(directory);
        let all = self.runs.deeds.iter().filter(|(directory, deeds)| is_open(directory) && own(deeds));
        let mut in_cluster: Vec<String> = all.map(|(directory, _)| directory.clone()).collect();
        let is_of_services = |directory: &str| told.up.configuration.iter().any(|one| one.directory == directory);
        in_cluster.retain(|directory| !self.is_known(directory) && !is_of_services(directory));
        for directory in &in_cluster {
            let step = self.terraform(Layer::Bootstrap, directory);
            self.tie_all(step, api, &NeedReason::KubernetesApi);
            self.runs.add(directory, step);
            self.infer(start, step, NeedReason::FluxBuildsOnIt);
        }
        for (late, early) in self.runs.orders().collect::<Vec<_>>() {
            self.infer(late, early, NeedReason::AfterRun);
        }
        let starts = self.runs.watchable(Deed::StartsFlux, told);
        if !starts.is_empty() && !brings_flux {
            self.watched(start, &starts);
        }
        let stores = self.runs.watchable(Deed::StoresSealingKey, told);
        let is_key = |step: &usize| matches!(self.steps[*step].proof, Proof::Seeded { seed: Seed::SealingKey, .. });
        if let Some(key) = steps.iter().copied().find(is_key).filter(|_| !stores.is_empty()) {
            self.watched(key, &stores);
        }
    }

    /// Whether it is a step for another reason.
    fn is_known(&self, directory: &str) -> bool {
        self.steps
            .iter()
            .any(|step| matches!(&step.action, Action::Terraform { directory: known } if known == directory))
    }

    /// A step that runs of Terraform do: it is only watched.
    pub(super) fn watched(&mut self, step: usize, by: &[usize]) {
        let of = &mut self.steps[step];
        of.action = Action::Watch;
        of.once = false;
        of.danger = None;
        of.limits.attempts = 1;
        self.tie_all(step, by, &NeedReason::TerraformDoes);
        for by in by {
            self.steps[*by].by_hand.does_boot = true;
        }
        self.hash_again(step);
    }
}
