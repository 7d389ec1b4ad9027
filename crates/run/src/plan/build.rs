//! From the graph, and from what `coldstart.yaml` tells, to steps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use graph::{Analysis, Deadlock, EarlyPart, Wait, early_parts, repeated};
use model::{BootstrapStep, Cluster, Component, ComponentId, Gate, Role, Stage, TieTarget, WaitsFor};
use read::Repository;
use settings::UpSettings;

use super::by_hand::ByHand;
use super::content::Contents;
use super::order::Edge;
use super::terraform::Runs;
use super::told::told;
use super::{Action, Layer, Limits, NeedReason, Note, Plan, Proof, Seed, Step};
use source::clean;

pub(super) const MINUTE: Duration = Duration::from_mins(1);
/// A hand at work: tried a few times, and not at once.
pub(super) const BY_HAND: Limits =
    Limits { timeout: Duration::from_mins(10), attempts: 3, pause: Duration::from_secs(15) };
/// Flux tries by itself; a person would look after this many rounds of its patience.
const ROUNDS: u32 = 3;

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Each needs the next, and the last the first.
    #[error("no order works: {} → {} wait for each other", .0.join(" → "), .0.first().map_or("", String::as_str))]
    Circle(Vec<String>),
    #[error("{it} can never be applied: what Flux starts from does not build", it = clean(.0))]
    RootNotBuilt(String),
    #[error("coldstart.yaml: `up` names the directory `{it}`, which is not in this repository", it = clean(.0))]
    NoDirectory(String),
    #[error("coldstart.yaml: `{directory}` needs `{name}`, but Flux applies nothing of that name{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default(), directory = clean(.directory), name = clean(.name))]
    UnknownNeed { directory: String, name: String, near: Option<String> },
}

/// The steps that bring a cluster up.
pub fn plan(
    repository: &Repository,
    cluster: &Cluster,
    analysis: &Analysis,
    settings: &UpSettings,
) -> Result<Plan, PlanError> {
    let mut told = told(repository, settings);
    let runs = Runs::of(&cluster.facts.boot);
    if settings.configuration.is_empty() {
        told.up.configuration.retain(|one| !runs.starts_flux(&one.directory));
    }
    mistakes(repository, cluster, &told.up)?;
    possible(cluster, analysis)?;
    let mut draft = Draft {
        repository,
        contents: Contents::new(repository),
        cluster,
        parts: early_parts(cluster),
        steps: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
        repeated: repeated(cluster),
        runs,
    };
    let api = draft.below_kubernetes(&told);
    let steps = draft.components();
    let start = draft.bootstrap_ties(&steps, &api);
    draft.containment(&steps);
    draft.declared_ties(&steps);
    draft.flux_comes_last(&steps, start);
    draft.terraform_in_cluster(&told, &api, &steps, start);
    draft.linked_needs(&steps, analysis);
    draft.above_kubernetes(&told.up, &steps);
    let times = draft.times(&steps, start, &analysis.schedule);
    draft.finish(&times)
}

/// What `check` knows to be impossible has no plan.
fn possible(cluster: &Cluster, analysis: &Analysis) -> Result<(), PlanError> {
    let named = |id: &ComponentId| cluster.component(*id).object.to_string();
    // A bootstrap that was not read may bring what a need closes the circle with.
    let is_doubtful = cluster.facts.unread_bootstrap.is_some() || cluster.facts.unclear_crds.is_some();
    let is_certain = |deadlock: &&Deadlock| !is_doubtful || deadlock.needs().next().is_none();
    if let Some(deadlock) = analysis.cycles().find(is_certain) {
        return Err(PlanError::Circle(deadlock.components(&analysis.events).iter().map(named).collect()));
    }
    let is_root = |id: ComponentId| {
        let component = cluster.component(id);
        component.stage == Stage::GitOps && component.parent.is_none()
    };
    match cluster.broken.iter().find(|broken| is_root(broken.component)) {
        Some(broken) => Err(PlanError::RootNotBuilt(named(&broken.component))),
        None => Ok(()),
    }
}

pub(super) struct Draft<'a> {
    pub(super) repository: &'a Repository,
    contents: Contents<'a>,
    pub(super) cluster: &'a Cluster,
    /// Which part of the bootstrap each component is.
    pub(super) parts: Vec<Option<EarlyPart>>,
    pub(super) steps: Vec<Step>,
    pub(super) edges: Vec<Edge>,
    pub(super) notes: Vec<Note>,
    /// Releases that another helmfile has installed before.
    repeated: BTreeSet<ComponentId>,
    /// What runs of Terraform do.
    pub(super) runs: Runs,
}

impl Draft<'_> {
    pub(super) fn add(&mut self, key: String, layer: Layer, action: Action, proof: Proof) -> usize {
        let hash = self.contents.hash(&action, &proof, &[]);
        self.steps.push(Step {
            key,
            layer,
            action,
            needs: Vec::new(),
            proof,
            limits: BY_HAND,
            once: false,
            danger: None,
            expected: Duration::from_secs(10),
            by_hand: ByHand::default(),
            hash,
        });
        self.steps.len() - 1
    }

    pub(super) fn tie(&mut self, from: usize, to: usize, why: NeedReason) {
        if from != to {
            self.edges.push(Edge { from, to, why, is_inferred: false });
        }
    }

    pub(super) fn tie_all(&mut self, from: usize, to: &[usize], why: &NeedReason) {
        for to in to {
            self.tie(from, *to, why.clone());
        }
    }

    /// After its action has become another.
    pub(super) fn hash_again(&mut self, step: usize) {
        let of = &self.steps[step];
        self.steps[step].hash = self.contents.hash(&of.action, &of.proof, &[]);
    }

    pub(super) fn infer(&mut self, from: usize, to: usize, why: NeedReason) {
        if from != to {
            self.edges.push(Edge { from, to, why, is_inferred: true });
        }
    }

    pub(super) fn terraform(&mut self, layer: Layer, directory: &str) -> usize {
        let action = Action::Terraform { directory: directory.to_owned() };
        let proof = Proof::NothingToApply { directory: directory.to_owned() };
        let hash = self.contents.hash(&action, &proof, &self.contents.directory(directory));
        let step = self.add(format!("{}/{directory}", layer.name()), layer, action, proof);
        self.steps[step].hash = hash;
        self.steps[step].expected = MINUTE;
        self.steps[step].limits.timeout = 30 * MINUTE;
        self.steps[step].by_hand.uses_tofu = read::inventory::uses_tofu(self.repository, directory);
        step
    }

    /// A step for each component. A release that stands in two helmfiles is one step, and the first of them says when: by the
    /// order of the helmfiles the second would wait for whatever waits for the first.
    fn components(&mut self) -> Vec<usize> {
        let cluster = self.cluster;
        let mut known: BTreeMap<_, usize> = BTreeMap::new();
        let mut steps = Vec::with_capacity(cluster.components.len());
        for id in cluster.ids() {
            let component = cluster.component(id);
            let first = known.get(&graph::early_key(component)).copied().filter(|_| self.repeated.contains(&id));
            let step = first.unwrap_or_else(|| self.component(id));
            if component.stage == Stage::Bootstrap {
                known.insert(graph::early_key(component), step);
            }
            steps.push(step);
        }
        steps
    }

    fn component(&mut self, id: ComponentId) -> usize {
        let component = self.cluster.component(id);
        let layer = self.layer(id);
        let name = step_name(component);
        let key = match component.role {
            Role::HelmRelease => format!("{}/helmrelease/{name}", layer.name()),
            _ => format!("{}/{name}", layer.name()),
        };
        let (action, proof) = match component.role {
            Role::Bootstrap(step) => match self.seed(step) {
                None => (Action::Install { release: name.clone() }, Proof::ReleaseHealthy { release: name }),
                Some(seed) => {
                    let action = Action::Seed { component: name.clone(), seed: seed.clone() };
                    (action, Proof::Seeded { component: name, seed })
                }
            },
            Role::Kustomization | Role::HelmRelease | Role::ResourceSet => {
                (Action::Watch, Proof::ready(&component.object))
            }
        };
        let hash = self.contents.hash(&action, &proof, &self.contents.parts(self.cluster, component));
        let step = self.add(key, layer, action, proof);
        let own = Duration::from_secs(graph::own_seconds(component));
        self.steps[step].hash = hash;
        self.steps[step].by_hand = ByHand::of(self.repository, self.cluster, id);
        if component.stage == Stage::GitOps {
            self.steps[step].limits = watched(component, own);
        }
        step
    }

    /// What a component of the bootstrap seeds; nothing for a release, which is installed.
    fn seed(&self, step: BootstrapStep) -> Option<Seed> {
        Some(match step {
            BootstrapStep::Release | BootstrapStep::TerraformRelease => return None,
            BootstrapStep::Crds => Seed::Crds,
            BootstrapStep::Resources => Seed::Resources,
            BootstrapStep::ResourcesAfter(release) => {
                Seed::ResourcesAfter { release: step_name(self.cluster.component(release)) }
            }
            BootstrapStep::SealingKey => Seed::SealingKey,
            BootstrapStep::Foundation => Seed::Foundation,
        })
    }

    fn layer(&self, id: ComponentId) -> Layer {
        match self.parts[id.index()] {
            None => Layer::GitOps,
            Some(EarlyPart::Seed) => Layer::Seeds,
            Some(EarlyPart::Network) => Layer::Network,
            Some(EarlyPart::Release) => Layer::Bootstrap,
            Some(EarlyPart::Flux) => Layer::Flux,
        }
    }

    /// Everything needs the API server; pods need a network; Flux's own components come before what Flux does. Gives the step that
    /// starts Flux.
    fn bootstrap_ties(&mut self, steps: &[usize], api: &[usize]) -> usize {
        let of = |draft: &Self, layer: Layer| -> Vec<usize> {
            steps.iter().copied().filter(|step| draft.steps[*step].layer == layer).collect()
        };
        let (network, flux) = (of(self, Layer::Network), of(self, Layer::Flux));
        let start = self.add("flux/start".to_owned(), Layer::Flux, Action::StartFlux, Proof::FluxRuns);
        let before = if flux.is_empty() { [api, &network].concat() } else { flux };
        self.tie_all(start, &before, &NeedReason::FluxRuns);
        for id in self.cluster.ids() {
            let step = steps[id.index()];
            match self.steps[step].layer {
                Layer::GitOps if self.applied_by(id).is_some() => {}
                Layer::GitOps => self.tie(step, start, NeedReason::FluxApplies),
                layer => {
                    self.tie_all(step, api, &NeedReason::KubernetesApi);
                    // A bootstrap that says otherwise is followed.
                    for network in network.iter().filter(|_| !matches!(layer, Layer::Seeds | Layer::Network)) {
                        self.infer(step, *network, NeedReason::PodNetwork);
                    }
                }
            }
        }
        start
    }

    /// Once Flux runs it applies everything at once, and asks nobody: what the bootstrap brings is to be there by then.
    fn flux_comes_last(&mut self, steps: &[usize], start: usize) {
        let bootstrap = self.cluster.ids().filter(|id| self.cluster.component(*id).stage == Stage::Bootstrap);
        let (mut flux, early): (Vec<usize>, Vec<usize>) =
            bootstrap.map(|id| steps[id.index()]).partition(|step| self.steps[*step].layer == Layer::Flux);
        flux.push(start);
        for from in flux {
            for to in &early {
                self.infer(from, *to, NeedReason::FluxBuildsOnIt);
            }
        }
    }

    /// The nearest component above that is done before what it applies: one that waits is done after it.
    fn applied_by(&self, id: ComponentId) -> Option<ComponentId> {
        let above = std::iter::successors(self.cluster.component(id).parent, |at| self.cluster.component(*at).parent);
        let mut above = above.take(self.cluster.components.len());
        above.find(|above| is_done_when_applied(self.cluster.component(*above)))
    }

    /// What is applied by another comes after what that one waits for; a gate comes after what it looks at.
    fn containment(&mut self, steps: &[usize]) {
        let cluster = self.cluster;
        let known = || cluster.ids().map(|id| (id, cluster.component(id)));
        let by_object: BTreeMap<_, _> = known().map(|(id, component)| (&component.object, id)).collect();
        let by_resource: BTreeMap<_, _> = known().filter_map(|(id, it)| Some((it.resource.as_ref()?, id))).collect();
        for (id, component) in known() {
            let step = steps[id.index()];
            if let Some(above) = self.applied_by(id) {
                self.tie(step, steps[above.index()], NeedReason::AppliedBy);
            }
            if let Some(parent) = component.parent.filter(|parent| cluster.component(*parent).gate == Gate::Healthy) {
                self.tie(steps[parent.index()], step, NeedReason::WaitsForApplied);
            }
            let Gate::Listed(objects) = &component.gate else { continue };
            let listed = objects.iter().filter_map(|object| by_object.get(object).or_else(|| by_resource.get(object)));
            for listed in listed.filter(|listed| **listed != id) {
                self.tie(step, steps[listed.index()], NeedReason::WaitsForListed);
            }
        }
    }

    fn declared_ties(&mut self, steps: &[usize]) {
        let children = children(self.cluster);
        let cluster = self.cluster;
        for tie in &cluster.ties {
            if self.repeated.contains(&tie.from) {
                continue;
            }
            let TieTarget::Component(to) = tie.to else { continue };
            // What has only to exist is there once it is applied.
            let to = match tie.waits_for {
                WaitsFor::Exists => self.applied_by(to),
                WaitsFor::Done | WaitsFor::Opaque => Some(to),
            };
            let Some(to) = to else { continue };
            // Nothing of what it applies is there before.
            let mut next = vec![tie.from];
            while let Some(id) = next.pop() {
                let (from, to) = (steps[id.index()], steps[to.index()]);
                match tie.waits_for {
                    WaitsFor::Opaque => self.infer(from, to, NeedReason::Declared),
                    WaitsFor::Done | WaitsFor::Exists => self.tie(from, to, NeedReason::Declared),
                }
                if !is_done_when_applied(cluster.component(id)) {
                    next.extend(&children[id.index()]);
                }
            }
        }
    }

    /// What each waits for that another component brings, as the timeline has it: the strongest first. A step is a whole component, so
    /// that what is there before the other one is done comes last.
    fn linked_needs(&mut self, steps: &[usize], analysis: &Analysis) {
        let (under_way, done): (Vec<&Wait>, Vec<&Wait>) =
            analysis.schedule.waits.iter().partition(|wait| wait.ends_under_way(self.cluster));
        for wait in done.into_iter().chain(under_way) {
            let capability = self.cluster.needs[wait.need].capability.clone();
            self.infer(steps[wait.of.index()], steps[wait.by.index()], NeedReason::Offered(capability));
        }
    }

    /// Terraform that configures services, and proofs from outside.
    fn above_kubernetes(&mut self, settings: &UpSettings, steps: &[usize]) {
        let mut last: Vec<usize> =
            steps.iter().copied().filter(|step| self.steps[*step].layer == Layer::GitOps).collect();
        for layer in &settings.configuration {
            let step = self.terraform(Layer::Configuration, &layer.directory);
            let named = |component: &Component| layer.needs.iter().any(|name| *name == qualified(component));
            let found: Vec<usize> = self
                .cluster
                .ids()
                .filter(|id| self.cluster.component(*id).stage == Stage::GitOps && named(self.cluster.component(*id)))
                .map(|id| steps[id.index()])
                .collect();
            let needs = if found.is_empty() { last.clone() } else { found };
            self.tie_all(step, &needs, &NeedReason::SpeaksToApi);
            last.push(step);
        }
        let is_below = |step: &usize| matches!(self.steps[*step].layer, Layer::Talos | Layer::Api);
        let below: Vec<usize> = (0..self.steps.len()).filter(is_below).collect();
        for url in &settings.outside {
            let action = Action::Watch;
            let step = self.add(format!("outside/{url}"), Layer::Outside, action, Proof::Answers { url: url.clone() });
            self.tie_all(step, &last, &NeedReason::WayIn);
            self.tie_all(step, &below, &NeedReason::WholeCluster);
        }
    }
}

/// Names in the settings that stand for nothing.
fn mistakes(repository: &Repository, cluster: &Cluster, settings: &UpSettings) -> Result<(), PlanError> {
    let directories = settings.keys.iter().chain(settings.configuration.iter().map(|layer| &layer.directory));
    for directory in directories {
        if repository.names(directory.trim_start_matches("./").trim_end_matches('/')).is_empty() {
            return Err(PlanError::NoDirectory(directory.clone()));
        }
    }
    let applied = cluster.components.iter().filter(|component| component.stage == Stage::GitOps);
    let known: BTreeSet<String> = applied.map(qualified).collect();
    for layer in &settings.configuration {
        if let Some(name) = layer.needs.iter().find(|name| !known.contains(*name)) {
            let near = known.iter().map(String::as_str);
            let near = model::nearest(name, near).map(str::to_owned);
            return Err(PlanError::UnknownNeed { directory: layer.directory.clone(), name: name.clone(), near });
        }
    }
    Ok(())
}

/// It is done once its objects are accepted, and so before anything that it applies is.
fn is_done_when_applied(component: &Component) -> bool {
    matches!(component.gate, Gate::Applied | Gate::LooksHealthy(_))
}

/// What a component is called in the key of its step.
fn step_name(component: &Component) -> String {
    match component.role {
        Role::Bootstrap(step) => step.step_name(&component.object),
        Role::Kustomization | Role::HelmRelease | Role::ResourceSet => qualified(component),
    }
}

fn qualified(component: &Component) -> String {
    component.object.path()
}

fn children(cluster: &Cluster) -> Vec<Vec<ComponentId>> {
    let mut children = vec![Vec::new(); cluster.components.len()];
    for id in cluster.ids() {
        if let Some(parent) = cluster.component(id).parent {
            children[parent.index()].push(id);
        }
    }
    children
}

fn watched(component: &Component, expected: Duration) -> Limits {
    let pause = match component.patience.retry {
        model::Retry::Every(seconds) => Duration::from_secs(seconds),
        model::Retry::Never => Duration::ZERO,
    };
    let round = Duration::from_secs(component.patience.timeout_seconds) + pause;
    Limits { timeout: (ROUNDS * round).max(2 * expected).max(10 * MINUTE), attempts: 1, pause: Duration::ZERO }
}
