//! From the graph, and from what `coldstart.yaml` tells, to steps.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use graph::Analysis;
use model::{
    Capability, CapabilityKind, Cluster, Component, ComponentId, Gate, ObjectRef, Phase, Role, Stage, TieTarget,
};
use read::helmfile::{Early, ONLY_CRDS, step_name};
use read::{Repository, UpSettings};

use super::content;
use super::{Action, Layer, Limits, Need, Plan, Proof, Step, StepId};

const MINUTE: Duration = Duration::from_mins(1);
/// A hand at work: tried a few times, and not at once.
const BY_HAND: Limits = Limits { timeout: Duration::from_mins(10), attempts: 3, pause: Duration::from_secs(15) };
/// Flux tries by itself; a person would look after this many rounds of its patience.
const ROUNDS: u32 = 3;
/// Flux looks at a dependency every 30 s: half of that on average.
const TIE_POLL: Duration = Duration::from_secs(15);
const APPLY: Duration = Duration::from_secs(2);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// Each needs the next, and the last the first.
    #[error("no order brings this up: {} → {} wait for each other", .0.join(" → "), .0.first().map_or("", String::as_str))]
    Circle(Vec<String>),
    #[error("coldstart.yaml: `up` names the directory `{0}`, which is not in this repository")]
    NoDirectory(String),
    #[error("coldstart.yaml: `{directory}` needs `{name}`, and Flux applies nothing of that name{}", .near.as_ref().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default())]
    UnknownNeed { directory: String, name: String, near: Option<String> },
}

/// The steps that bring a cluster up.
pub fn plan(
    repository: &Repository,
    cluster: &Cluster,
    analysis: &Analysis,
    settings: &UpSettings,
) -> Result<Plan, PlanError> {
    mistakes(repository, cluster, settings)?;
    let early = read::helmfile::read_early(repository);
    let mut draft = Draft {
        repository,
        early: &early,
        cluster,
        steps: Vec::new(),
        edges: Vec::new(),
        notes: Vec::new(),
        repeated: BTreeSet::new(),
    };
    let api = draft.below_kubernetes(settings);
    let steps = draft.components();
    draft.bootstrap_ties(&steps, &api);
    draft.containment(&steps);
    draft.declared_ties(&steps);
    draft.linked_needs(&steps, analysis);
    draft.above_kubernetes(settings, &steps);
    draft.finish()
}

/// An edge between steps that have no order yet.
#[derive(Clone, Debug)]
struct Edge {
    from: usize,
    to: usize,
    why: String,
    /// Read from content, not declared: given up where it would close a circle.
    is_inferred: bool,
}

struct Draft<'a> {
    repository: &'a Repository,
    early: &'a Early,
    cluster: &'a Cluster,
    steps: Vec<Step>,
    edges: Vec<Edge>,
    notes: Vec<String>,
    /// Releases that another helmfile has installed before.
    repeated: BTreeSet<ComponentId>,
}

impl Draft<'_> {
    fn add(&mut self, key: String, layer: Layer, action: Action, proof: Proof, texts: &[&[u8]]) -> usize {
        let hash = content::hash(&action, &proof, texts);
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
            hash,
        });
        self.steps.len() - 1
    }

    fn tie(&mut self, from: usize, to: usize, why: impl Into<String>) {
        if from != to {
            self.edges.push(Edge { from, to, why: why.into(), is_inferred: false });
        }
    }

    fn tie_all(&mut self, from: usize, to: &[usize], why: &str) {
        for to in to {
            self.tie(from, *to, why);
        }
    }

    fn terraform(&mut self, layer: Layer, directory: &str) -> usize {
        let texts = content::directory(self.repository, directory);
        let action = Action::Terraform { directory: directory.to_owned() };
        let proof = Proof::NothingToApply { directory: directory.to_owned() };
        let step = self.add(format!("{}/{directory}", layer.name()), layer, action, proof, &texts);
        self.steps[step].expected = MINUTE;
        self.steps[step].limits.timeout = 30 * MINUTE;
        step
    }

    /// Keys, machines, Talos, the API server. The steps that everything above waits for.
    fn below_kubernetes(&mut self, settings: &UpSettings) -> Vec<usize> {
        let keys: Vec<usize> = settings.keys.iter().map(|directory| self.terraform(Layer::Keys, directory)).collect();
        let Some(first) = settings.control_planes.first() else {
            self.notes.push(
                "machines are not described: the plan begins with the Kubernetes API (`up` in coldstart.yaml describes them)"
                    .to_owned(),
            );
            let api = self.api("api/kubernetes", settings.endpoint.as_deref().unwrap_or("the kubeconfig's address"));
            self.tie_all(api, &keys, "credentials");
            return vec![api];
        };
        let secrets = self.add("talos/secrets".to_owned(), Layer::Talos, Action::MakeSecrets, Proof::SecretsKept, &[]);
        self.steps[secrets].once = true;
        self.steps[secrets].danger =
            Some("machines that have the old secrets trust nobody who has new ones".to_owned());
        let mut talos = BTreeMap::new();
        for machine in settings.control_planes.iter().chain(&settings.workers) {
            let step = self.machine(machine, &keys);
            self.tie(step, secrets, "its configuration is made from them");
            talos.insert(machine.clone(), step);
        }
        let members = 1;
        let action = Action::BootstrapEtcd { machine: first.clone() };
        let etcd = self.add("talos/etcd".to_owned(), Layer::Talos, action, Proof::EtcdMembers { members }, &[]);
        self.steps[etcd].once = true;
        self.steps[etcd].danger = Some("a second bootstrap makes a second, empty cluster".to_owned());
        self.steps[etcd].expected = MINUTE;
        self.tie(etcd, talos[first], "etcd starts on the first control plane");
        let api = self.api("api/bootstrap", settings.endpoint.as_deref().unwrap_or(first));
        self.tie(api, etcd, "the API server keeps everything in etcd");
        if let Some(vip) = &settings.vip {
            let step = self.api("api/vip", vip);
            self.tie(step, api, "the virtual address is elected through the API");
            for machine in &settings.control_planes {
                self.tie(step, talos[machine], "every control plane is to stand behind it");
            }
        }
        vec![api]
    }

    fn machine(&mut self, machine: &str, keys: &[usize]) -> usize {
        let action = Action::PowerOn { machine: machine.to_owned() };
        let proof = Proof::Maintenance { machine: machine.to_owned() };
        let on = self.add(format!("machines/{machine}"), Layer::Machines, action, proof, &[]);
        self.steps[on].expected = MINUTE;
        self.tie_all(on, keys, "credentials");
        let action = Action::Configure { machine: machine.to_owned() };
        let proof = Proof::TalosRuns { machine: machine.to_owned() };
        let talos = self.add(format!("talos/{machine}"), Layer::Talos, action, proof, &[]);
        self.steps[talos].expected = 2 * MINUTE;
        self.steps[talos].danger =
            Some("a machine that is given a configuration installs itself on its disk".to_owned());
        self.tie(talos, on, "the machine must answer");
        talos
    }

    fn api(&mut self, key: &str, endpoint: &str) -> usize {
        let proof = Proof::ApiAnswers { endpoint: endpoint.to_owned() };
        let step = self.add(key.to_owned(), Layer::Api, Action::Watch, proof, &[]);
        self.steps[step].expected = MINUTE;
        self.steps[step].limits = Limits { attempts: 1, ..BY_HAND };
        step
    }

    /// A step for each component. A release that stands in two helmfiles is one step, and the first of them says when: by the
    /// order of the helmfiles the second would wait for whatever waits for the first.
    fn components(&mut self) -> Vec<usize> {
        let cluster = self.cluster;
        let mut known: BTreeMap<&ObjectRef, usize> = BTreeMap::new();
        let mut steps = Vec::with_capacity(cluster.components.len());
        for id in cluster.ids() {
            let component = cluster.component(id);
            let is_early = component.stage == Stage::Bootstrap;
            let first = known.get(&component.object).copied().filter(|_| is_early);
            if first.is_some() {
                self.repeated.insert(id);
            }
            let step = first.unwrap_or_else(|| self.component(id));
            if is_early {
                known.insert(&component.object, step);
            }
            steps.push(step);
        }
        steps
    }

    fn component(&mut self, id: ComponentId) -> usize {
        let component = self.cluster.component(id);
        let texts = content::texts(self.repository, self.early, component);
        let layer = self.layer(id);
        let name = if component.object.kind == ONLY_CRDS { step_name(&component.object) } else { qualified(component) };
        let key = match component.role {
            Role::HelmRelease => format!("{}/helmrelease/{name}", layer.name()),
            _ => format!("{}/{name}", layer.name()),
        };
        let (action, proof) = match component.stage {
            Stage::GitOps => (Action::Watch, Proof::ready(&component.object)),
            Stage::Bootstrap if is_seed(component) => {
                (Action::Seed { component: name.clone() }, Proof::Seeded { component: name.clone() })
            }
            Stage::Bootstrap => (Action::Install { release: name.clone() }, Proof::ReleaseHealthy { release: name }),
        };
        let step = self.add(key, layer, action, proof, &texts);
        self.steps[step].expected = self.usual(component);
        if component.stage == Stage::GitOps {
            self.steps[step].limits = watched(component, self.steps[step].expected);
        }
        step
    }

    fn layer(&self, id: ComponentId) -> Layer {
        let component = self.cluster.component(id);
        let offers = |kind: CapabilityKind, name: &str| {
            let wanted = Capability::cluster(kind, name);
            self.cluster.offers.iter().any(|offer| offer.by == id && offer.capability == wanted)
        };
        if component.stage == Stage::GitOps {
            Layer::GitOps
        } else if is_seed(component) {
            if self.waits_for_release(id) { Layer::Bootstrap } else { Layer::Seeds }
        } else if offers(CapabilityKind::PodNetwork, "") {
            Layer::Network
        } else if component.known_as.as_deref().is_some_and(|name| name.starts_with("flux")) {
            Layer::Flux
        } else {
            Layer::Bootstrap
        }
    }

    /// It comes after something that is installed, not only applied.
    fn waits_for_release(&self, id: ComponentId) -> bool {
        let is_installed = |to: &TieTarget| match to {
            TieTarget::Component(to) => !is_seed(self.cluster.component(*to)),
            TieTarget::Unknown(_) => false,
        };
        self.cluster.ties.iter().any(|tie| tie.from == id && is_installed(&tie.to))
    }

    fn usual(&self, component: &Component) -> Duration {
        let is_tied = |tie: &model::Tie| self.cluster.component(tie.from).object == component.object;
        let poll = component.stage == Stage::GitOps && self.cluster.ties.iter().any(is_tied);
        let waits = component.role == Role::HelmRelease || component.gate != Gate::Applied;
        let startup = if waits { component.startup_seconds } else { 0 };
        APPLY + Duration::from_secs(startup) + if poll { TIE_POLL } else { Duration::ZERO }
    }

    /// Everything needs the API server; pods need a network; Flux's own components come before what Flux does.
    fn bootstrap_ties(&mut self, steps: &[usize], api: &[usize]) {
        let of = |draft: &Self, layer: Layer| -> Vec<usize> {
            steps.iter().copied().filter(|step| draft.steps[*step].layer == layer).collect()
        };
        let (network, flux) = (of(self, Layer::Network), of(self, Layer::Flux));
        let start = self.add("flux/start".to_owned(), Layer::Flux, Action::StartFlux, Proof::FluxRuns, &[]);
        let before = if flux.is_empty() { [api, &network].concat() } else { flux };
        self.tie_all(start, &before, "Flux must run");
        self.flux_comes_last(steps, start);
        for id in self.cluster.ids() {
            let step = steps[id.index()];
            match self.steps[step].layer {
                Layer::GitOps if self.applied_by(id).is_some() => {}
                Layer::GitOps => self.tie(step, start, "Flux applies it"),
                layer => {
                    self.tie_all(step, api, "the Kubernetes API");
                    if !matches!(layer, Layer::Seeds | Layer::Network) {
                        self.tie_all(step, &network, "the pod network");
                    }
                }
            }
        }
    }

    /// Once Flux runs it applies everything at once, and asks nobody: what the bootstrap brings is to be there by then.
    fn flux_comes_last(&mut self, steps: &[usize], start: usize) {
        let bootstrap = self.cluster.ids().filter(|id| self.cluster.component(*id).stage == Stage::Bootstrap);
        let (mut flux, early): (Vec<usize>, Vec<usize>) =
            bootstrap.map(|id| steps[id.index()]).partition(|step| self.steps[*step].layer == Layer::Flux);
        flux.push(start);
        for from in flux {
            for to in &early {
                let why = "Flux builds on it as soon as it runs".to_owned();
                self.edges.push(Edge { from, to: *to, why, is_inferred: true });
            }
        }
    }

    /// The nearest component above that is done before what it applies: one that waits is done after it.
    fn applied_by(&self, id: ComponentId) -> Option<ComponentId> {
        let mut left = self.cluster.components.len();
        let mut next = self.cluster.component(id).parent;
        while let Some(above) = next.filter(|_| left > 0) {
            if self.cluster.component(above).gate == Gate::Applied {
                return Some(above);
            }
            next = self.cluster.component(above).parent;
            left -= 1;
        }
        None
    }

    /// Whoever is applied by another comes after what that one waits for; a parent that waits comes after its children.
    fn containment(&mut self, steps: &[usize]) {
        for id in self.cluster.ids() {
            let step = steps[id.index()];
            if let Some(above) = self.applied_by(id) {
                self.tie(step, steps[above.index()], "applies it");
            }
            if let Some(parent) = self.cluster.component(id).parent
                && self.cluster.component(parent).gate != Gate::Applied
            {
                self.tie(steps[parent.index()], step, "waits for what it applies");
            }
        }
    }

    fn declared_ties(&mut self, steps: &[usize]) {
        let children = children(self.cluster);
        let cluster = self.cluster;
        for tie in cluster.ties.iter().filter(|tie| !self.repeated.contains(&tie.from)).collect::<Vec<_>>() {
            let TieTarget::Component(to) = tie.to else { continue };
            // Nothing of what it applies is there before.
            let mut next = vec![tie.from];
            while let Some(id) = next.pop() {
                self.tie(steps[id.index()], steps[to.index()], "declared");
                if self.cluster.component(id).gate != Gate::Applied {
                    next.extend(&children[id.index()]);
                }
            }
        }
    }

    /// Hard needs for what another component brings.
    fn linked_needs(&mut self, steps: &[usize], analysis: &Analysis) {
        for (index, need) in self.cluster.needs.iter().enumerate() {
            if need.soft || need.optional || need.phase == Phase::Run {
                continue;
            }
            let offers = analysis.links.offers_for(index).iter().map(|offer| self.cluster.offers[*offer].by);
            // Two hands for one component: the bootstrap's comes first.
            let first = offers.filter(|by| *by != need.of).min_by_key(|by| (self.cluster.component(*by).stage, *by));
            let Some(by) = first.filter(|by| !self.is_ancestor(*by, need.of)) else { continue };
            let (from, to) = (steps[need.of.index()], steps[by.index()]);
            if from != to {
                self.edges.push(Edge { from, to, why: need.capability.to_string(), is_inferred: true });
            }
        }
    }

    fn is_ancestor(&self, above: ComponentId, of: ComponentId) -> bool {
        let mut next = self.cluster.component(of).parent;
        let mut left = self.cluster.components.len();
        while let Some(id) = next.filter(|_| left > 0) {
            if id == above {
                return true;
            }
            next = self.cluster.component(id).parent;
            left -= 1;
        }
        false
    }

    /// Terraform that speaks to services, and proofs from outside.
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
            self.tie_all(step, &needs, "speaks to its API");
            last.push(step);
        }
        let is_below = |step: &usize| matches!(self.steps[*step].layer, Layer::Talos | Layer::Api);
        let below: Vec<usize> = (0..self.steps.len()).filter(is_below).collect();
        for url in &settings.outside {
            let action = Action::Watch;
            let step =
                self.add(format!("outside/{url}"), Layer::Outside, action, Proof::Answers { url: url.clone() }, &[]);
            self.tie_all(step, &last, "the way in leads through everything");
            self.tie_all(step, &below, "the cluster is whole");
        }
    }

    fn finish(mut self) -> Result<Plan, PlanError> {
        let circles = in_circles(self.steps.len(), &self.edges);
        self.edges.retain(|edge| !(edge.is_inferred && circles.contains(&edge.from) && circles.contains(&edge.to)));
        let circles = in_circles(self.steps.len(), &self.edges);
        if let Some(circle) = walk(&circles, &self.edges) {
            return Err(PlanError::Circle(circle.iter().map(|step| self.steps[*step].key.clone()).collect()));
        }
        let order = order(&self.steps, &self.edges);
        let mut place = vec![0; order.len()];
        for (at, step) in order.iter().enumerate() {
            place[*step] = at;
        }
        let mut slots: Vec<Option<Step>> = self.steps.into_iter().map(Some).collect();
        let mut steps: Vec<Step> = order.iter().filter_map(|step| slots[*step].take()).collect();
        let mut known = BTreeSet::new();
        for edge in self.edges {
            let (from, to) = (place[edge.from], place[edge.to]);
            if known.insert((from, to)) {
                let step = StepId(u32::try_from(to).unwrap_or(u32::MAX));
                steps[from].needs.push(Need { step, why: edge.why });
            }
        }
        for step in &mut steps {
            step.needs.sort_by_key(|need| need.step);
        }
        Ok(Plan { steps, notes: self.notes })
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

/// Applied as it is, and there when it is.
fn is_seed(component: &Component) -> bool {
    component.object.kind == "Bootstrap" || component.object.kind == ONLY_CRDS
}

fn qualified(component: &Component) -> String {
    match component.object.namespace.as_str() {
        "" => component.object.name.to_string(),
        namespace => format!("{namespace}/{}", component.object.name),
    }
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

/// Steps in an order in which nobody comes before what it needs; among those that could come next, by layer.
fn order(steps: &[Step], edges: &[Edge]) -> Vec<usize> {
    let mut unmet = vec![0_usize; steps.len()];
    let mut dependents = vec![Vec::new(); steps.len()];
    for edge in edges {
        unmet[edge.from] += 1;
        dependents[edge.to].push(edge.from);
    }
    let mut next: BTreeSet<(Layer, usize)> =
        (0..steps.len()).filter(|step| unmet[*step] == 0).map(|step| (steps[step].layer, step)).collect();
    let mut order = Vec::with_capacity(steps.len());
    while let Some((_, step)) = next.pop_first() {
        order.push(step);
        for dependent in &dependents[step] {
            unmet[*dependent] -= 1;
            if unmet[*dependent] == 0 {
                next.insert((steps[*dependent].layer, *dependent));
            }
        }
    }
    order
}

/// The steps that stand in a circle, or between two of them: what is left when those that could come first or last have
/// been taken away, again and again.
fn in_circles(steps: usize, edges: &[Edge]) -> BTreeSet<usize> {
    let mut left: BTreeSet<usize> = (0..steps).collect();
    for backwards in [false, true] {
        let end = |edge: &Edge| if backwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
        let mut degree = vec![0_usize; steps];
        let mut others = vec![Vec::new(); steps];
        for (from, to) in edges.iter().map(end).filter(|(from, to)| left.contains(from) && left.contains(to)) {
            degree[from] += 1;
            others[to].push(from);
        }
        let mut next: Vec<usize> = left.iter().copied().filter(|step| degree[*step] == 0).collect();
        while let Some(step) = next.pop() {
            left.remove(&step);
            for other in &others[step] {
                degree[*other] -= 1;
                if degree[*other] == 0 {
                    next.push(*other);
                }
            }
        }
    }
    left
}

/// One circle among steps of which each needs another.
fn walk(among: &BTreeSet<usize>, edges: &[Edge]) -> Option<Vec<usize>> {
    let next: BTreeMap<usize, usize> = edges
        .iter()
        .filter(|edge| among.contains(&edge.from) && among.contains(&edge.to))
        .map(|edge| (edge.from, edge.to))
        .collect();
    let mut path: Vec<usize> = Vec::new();
    let mut at = *among.first()?;
    loop {
        if let Some(begin) = path.iter().position(|step| *step == at) {
            return Some(path.split_off(begin));
        }
        path.push(at);
        at = *next.get(&at)?;
    }
}
