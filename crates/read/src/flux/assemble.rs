//! One cluster put together: every Kustomization built, its children found in what it builds, wave by wave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ecow::EcoString;
use kustomize::{Blind, BuildError, Failure, Overlay};
use model::{
    Behaviour, BlindSpot, BrokenBuild, BuildFault, Cause, Cluster, Component, ComponentId, Gate, ObjectRef, Role,
    Stage, Tie, TieTarget, UndefinedVariable, Unseen, WaitsFor, WhyUnseen,
};
use source::Span;
use yaml::{Budget, Cost, Node, Spent};

use crate::flux::builds::Builds;
use crate::flux::common_metadata::{add_common_metadata, cost_of_metadata};
use crate::flux::entry::{Entry, SYNC_FILE};
use crate::flux::faults::{fault, is_encrypted, is_of_bootstrap, is_patch_of_flux, sealed_by_sops};
use crate::flux::helm_release::HelmRelease;
use crate::flux::kustomization::{Dependency, Kustomization, SourceRef, dependencies};
use crate::flux::set_component::resource_set_component;
use crate::flux::source::{SourcePlace, Sources};
use crate::flux::variables::{Settings, Variables};
use crate::flux::{CONTROL_PLANE_GROUP, Common, HELM_GROUP, KUSTOMIZE_GROUP, SOURCE_GROUP};
use crate::ledger::Ledger;
use crate::object::Object;
use crate::overlooked::overlooked;
use crate::repository::Repository;
use crate::resource_set;
use crate::substitute::{ObjectError, SubstituteError, Undefined};
use ::repository::parallel;
use ::repository::path;

/// Nested deeper than this nobody nests: a Kustomization that makes itself again and again under new names.
const WAVES_MAX: usize = 32;
/// Components of one cluster.
const COMPONENTS_MAX: usize = 200_000;
/// What it costs to keep an object, beside what it holds.
const BUILT: Cost = Cost { nodes: 8, bytes: 96 };
/// The component that a cluster starts from.
const ROOT: ComponentId = ComponentId(0);

/// An object, as it would reach the API server, and the component that applies it.
#[derive(Clone, Debug)]
pub(crate) struct Built {
    pub(crate) component: ComponentId,
    pub(crate) node: Node,
    /// Where it lands if it does not say itself.
    pub(crate) namespace: EcoString,
    pub(crate) origin: Origin,
}

/// How an object came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Manifest,
    /// A chart renders it. What the chart itself says points here: where the release names its chart.
    Chart(Span),
    /// As above, and only where the cluster has its API already.
    Asked(Span),
}

impl Built {
    /// Where its chart is named, if a chart renders it.
    pub(crate) fn chart_at(&self) -> Option<Span> {
        match self.origin {
            Origin::Manifest => None,
            Origin::Chart(at) | Origin::Asked(at) => Some(at),
        }
    }
}

/// A cluster with its components and ties, and the objects that needs and offers are to be read from.
#[derive(Debug, Default)]
pub(crate) struct Assembled {
    pub(crate) cluster: Cluster,
    pub(crate) objects: Vec<Built>,
    pub(crate) kustomizations: Vec<(ComponentId, Kustomization)>,
    pub(crate) releases: Vec<(ComponentId, HelmRelease)>,
    /// Kustomizations that are built the same with their optional variables and without.
    pub(crate) indifferent: BTreeSet<ComponentId>,
    /// Components that another one applies as well, and who that is.
    pub(crate) also_applied: Vec<(ComponentId, ComponentId)>,
}

impl Assembled {
    /// Whether it applies Flux, and nothing else.
    pub(super) fn is_flux_alone(&self) -> bool {
        let is_of_flux = |built: &Built| {
            let object = Object::new(&built.node);
            let part_of = built.node.text_at(&["metadata", "labels", "app.kubernetes.io/part-of"]);
            part_of == Some("flux") || matches!(object.group(), SOURCE_GROUP | KUSTOMIZE_GROUP)
        };
        let is_whole = self.cluster.blind.is_empty() && self.cluster.broken.is_empty();
        is_whole && self.cluster.components.len() == 1 && self.objects.iter().all(is_of_flux)
    }
}

/// Puts clusters together side by side, wave by wave, so that what several of them apply is built once.
pub(super) fn assemble(
    common: &Common<'_>,
    entries: &[Entry],
    builds: &mut Builds,
    ledger: &mut Ledger,
) -> Vec<Assembled> {
    let mut assemblers: Vec<Assembler<'_>> = entries.iter().map(|entry| Assembler::start(common, entry)).collect();
    let is_done = |assemblers: &[Assembler<'_>]| assemblers.iter().all(|assembler| assembler.wave.is_empty());
    for _ in 0..WAVES_MAX {
        if is_done(&assemblers) {
            assemblers.iter_mut().for_each(Assembler::take_handed);
        }
        if is_done(&assemblers) {
            break;
        }
        let wanted: Vec<(&str, &Overlay)> = assemblers.iter().flat_map(Assembler::wanted).collect();
        builds.make(common.repository, &wanted, ledger);
        take_wave(&mut assemblers, builds, ledger);
    }
    parallel::each(&mut assemblers, Assembler::finish);
    assemblers.into_iter().map(|assembler| assembler.out).collect()
}

/// Takes in what was built for this wave, and finds the next one in it.
fn take_wave(assemblers: &mut [Assembler<'_>], builds: &Builds, ledger: &mut Ledger) {
    for assembler in assemblers.iter_mut() {
        assembler.patch_root(builds);
    }
    let turns: Vec<(&Assembler<'_>, &Turn)> =
        assemblers.iter().flat_map(|assembler| assembler.wave.iter().map(move |turn| (assembler, turn))).collect();
    let outcomes = ledger.map(&turns, |(assembler, turn), budget| assembler.outcome(turn, builds, budget));
    let mut outcomes = outcomes.into_iter();
    let parts = ledger.parts(assemblers.len());
    let mut work: Vec<(&mut Assembler<'_>, Vec<BuildOutcome>, Ledger)> = assemblers
        .iter_mut()
        .zip(parts)
        .map(|(assembler, part)| {
            let own = outcomes.by_ref().take(assembler.wave.len()).collect();
            (assembler, own, part)
        })
        .collect();
    parallel::each(&mut work, |(assembler, outcomes, part)| assembler.take(std::mem::take(outcomes), part));
    for (_, _, part) in &work {
        ledger.take_back(part);
    }
}

struct Assembler<'a> {
    common: &'a Common<'a>,
    repository: &'a Repository,
    sources: &'a Sources<'a>,
    providers: &'a [Node],
    entry: &'a Entry,
    settings: Settings,
    by_object: BTreeMap<ObjectRef, ComponentId>,
    dependencies: Vec<(ComponentId, Dependency)>,
    /// The Kustomizations whose turn it is.
    wave: Vec<Turn>,
    /// Whether it was told that there are too many components.
    is_full: bool,
    /// Kustomizations that another one applies as well, with a `decryption`.
    decrypted: BTreeSet<ComponentId>,
    out: Assembled,
}

/// A Kustomization whose turn it is.
struct Turn {
    id: ComponentId,
    kustomization: Kustomization,
    place: SourcePlace,
}

/// What building one Kustomization gave.
#[derive(Default)]
struct BuildOutcome {
    objects: Vec<Node>,
    blind: Vec<Blind>,
    failures: Vec<Failure>,
    unseen: Option<(Unseen, WhyUnseen)>,
    /// The path that is not there.
    missing: Option<String>,
    /// Why its variables can't be put in.
    refused: Option<ObjectError>,
    directory: Option<String>,
    undefined: Vec<Undefined>,
    unsubstituted: Vec<Undefined>,
    /// Whether anything of it mentions a variable that may come from an optional source.
    wants_optional: bool,
}

impl BuildOutcome {
    /// Nothing is known of what takes too much.
    fn beyond(self, kustomization: &Kustomization, spent: Spent) -> Self {
        let what = Unseen::Kustomization(kustomization.object.clone());
        let unseen = Some((what, WhyUnseen::BeyondLimit(Cause::new(spent))));
        Self { unseen, blind: self.blind, failures: self.failures, directory: self.directory, ..Self::default() }
    }
}

impl<'a> Assembler<'a> {
    fn start(common: &'a Common<'a>, entry: &'a Entry) -> Self {
        let mut assembler = Self {
            common,
            repository: common.repository,
            sources: &common.sources,
            providers: &common.providers,
            entry,
            settings: common.settings.clone(),
            by_object: BTreeMap::new(),
            dependencies: Vec::new(),
            wave: Vec::new(),
            is_full: false,
            decrypted: BTreeSet::new(),
            out: Assembled::default(),
        };
        // The root of the repository has a name that can be read and typed.
        let name = entry.name.as_ref().unwrap_or(&entry.directory);
        assembler.out.cluster.name = if name.is_empty() { ".".to_owned() } else { name.clone() };
        let own = entry.root.source.as_ref().map(|source| &source.object).or(common.own.as_ref());
        let address = entry.url.as_deref().or_else(|| common.sources.url(own?));
        assembler.out.cluster.facts.own_address = address.map(str::to_owned);
        let source = entry.root.source.as_ref();
        assembler.out.cluster.facts.source_namespace = source.map(|source| source.object.namespace.clone());
        assembler.out.cluster.facts.handed_over = Arc::clone(&common.handed_over);
        let id = assembler.add_kustomization(&entry.root, None);
        let turn = assembler.turn(id, entry.root.clone());
        assembler.wave.push(turn);
        assembler.begin(entry.also.clone());
        assembler
    }

    /// What a script hands to Flux by itself belongs to the cluster that waits for it, where nothing else here makes it.
    fn take_handed(&mut self) {
        let awaited = self.dependencies.iter().map(|(_, dependency)| &dependency.object);
        let unmade: BTreeSet<ObjectRef> = awaited.filter(|it| !self.by_object.contains_key(it)).cloned().collect();
        if !unmade.is_empty() {
            let handed = unmade.iter().filter_map(|it| self.common.handed().for_cluster(it, &self.entry.directory));
            self.begin(handed.collect());
        }
    }

    /// Takes in Kustomizations that no other one applies.
    fn begin(&mut self, kustomizations: Vec<Kustomization>) {
        for kustomization in kustomizations {
            let id = self.add_kustomization(&kustomization, None);
            let turn = self.turn(id, kustomization);
            self.wave.push(turn);
        }
    }

    fn turn(&self, id: ComponentId, mut kustomization: Kustomization) -> Turn {
        kustomization.overlay.source = self.sources.cut_by(&kustomization, self.entry);
        let place = self.sources.place(&kustomization, self.entry);
        Turn { id, kustomization, place }
    }

    /// What must be built for this wave.
    fn wanted(&self) -> impl Iterator<Item = (&str, &Overlay)> {
        self.wave.iter().filter_map(|turn| match &turn.place {
            SourcePlace::Here(directory) => Some((directory.as_str(), &turn.kustomization.overlay)),
            SourcePlace::Elsewhere { .. } | SourcePlace::Missing { .. } => None,
        })
    }

    /// Takes in what came of this wave, and finds the next one in it. The ledger is for what ResourceSets make.
    fn take(&mut self, outcomes: Vec<BuildOutcome>, ledger: &mut Ledger) {
        let wave = std::mem::take(&mut self.wave);
        for (turn, outcome) in wave.into_iter().zip(outcomes) {
            self.absorb(turn, outcome, ledger);
        }
    }

    /// The root is part of what it applies, and patches there change it: `flux bootstrap` builds the directory before it applies it. What it
    /// applies, and with which patches, was settled before.
    fn patch_root(&mut self, builds: &Builds) {
        // See `is_root_of_instance`.
        if self.entry.url.is_some() {
            return;
        }
        let Some(turn) = self.wave.iter_mut().find(|turn| turn.id == ROOT) else { return };
        let SourcePlace::Here(directory) = &turn.place else { return };
        let root = &mut turn.kustomization;
        let Some(made) = builds.get(directory, &root.overlay) else { return };
        let read = |node: &Node| {
            let is_one = Object::new(node).is(KUSTOMIZE_GROUP, "Kustomization");
            is_one.then(|| Kustomization::read(node, &root.object.namespace))
        };
        let Some(built) = made.objects.iter().filter_map(read).find(|built| built.object == root.object) else {
            return;
        };
        let component = &mut self.out.cluster.components[turn.id.index()];
        component.gate = built.gate.clone();
        component.gate_at = built.gate_at;
        component.suspended = built.suspended;
        component.patience = built.patience.clone();
        component.ignored_checks.clone_from(&built.ignored_checks);
        component.expressions.clone_from(&built.expressions);
        let Kustomization { path, path_at, source, depends_on, overlay, .. } = root.clone();
        *root = Kustomization { path, path_at, source, depends_on, overlay, ..built };
    }

    fn finish(&mut self) {
        // As often as the one that sets it applies last, Flux can decrypt.
        let decrypted = &self.decrypted;
        let is_read =
            |it: &BrokenBuild| matches!(it.fault, BuildFault::Encrypted { .. }) && decrypted.contains(&it.component);
        self.out.cluster.broken.retain(|it| !is_read(it));
        if let Some(turn) = self.wave.first() {
            let (id, at) = (turn.id, turn.kustomization.at);
            let what = Unseen::Kustomization(turn.kustomization.object.clone());
            self.blind(what, WhyUnseen::NestedTooDeep { levels: WAVES_MAX }, at, id);
        }
        self.tell_sources();
        self.tie();
        self.free_neighbours(ROOT);
        self.review_undefined();
    }

    /// Objects that set variables may be built after those that use them: asked again when all are there.
    fn review_undefined(&mut self) {
        let mut undefined = std::mem::take(&mut self.out.cluster.facts.undefined);
        let mut unsubstituted = std::mem::take(&mut self.out.cluster.facts.unsubstituted);
        let ids: BTreeSet<ComponentId> = undefined.iter().chain(&unsubstituted).map(|it| it.of).collect();
        let users = self.out.kustomizations.iter().filter(|(id, _)| ids.contains(id));
        let variables: BTreeMap<ComponentId, Variables> = users
            .map(|(id, user)| (*id, Variables::new(user.post_build.as_ref(), &user.object.namespace, &self.settings)))
            .collect();
        undefined.retain(|it| variables.get(&it.of).is_some_and(|variables| variables.is_unset(&it.name)));
        unsubstituted.retain(|it| variables.get(&it.of).is_some_and(Variables::is_left_empty));
        self.out.cluster.facts.undefined = undefined;
        self.out.cluster.facts.unsubstituted = unsubstituted;
    }

    fn outcome(&self, turn: &Turn, builds: &Builds, budget: &mut Budget) -> BuildOutcome {
        let Turn { kustomization, place, .. } = turn;
        let directory = match place {
            SourcePlace::Here(directory) => directory,
            SourcePlace::Elsewhere { source, url, why } => {
                let path = if kustomization.path.is_empty() { "./" } else { kustomization.path.as_str() };
                let what = Unseen::AppliedBy {
                    kustomization: kustomization.object.clone(),
                    path: path.to_owned(),
                    source: source.clone(),
                    url: url.clone(),
                };
                return BuildOutcome { unseen: Some((what, why.clone())), ..BuildOutcome::default() };
            }
            SourcePlace::Missing { path } => {
                return BuildOutcome { missing: Some(path.clone()), ..BuildOutcome::default() };
            }
        };
        let mut outcome = BuildOutcome { directory: Some(directory.clone()), ..BuildOutcome::default() };
        if let Some(build) = builds.get(directory, &kustomization.overlay) {
            outcome.blind.clone_from(&build.blind);
            outcome.failures.clone_from(&build.failures);
            if let Err(spent) = budget.spend(build.cost.and(BUILT.times(build.objects.len()))) {
                return outcome.beyond(kustomization, spent);
            }
            outcome.objects.clone_from(&build.objects);
        }
        match self.substitute(kustomization, &mut outcome, budget) {
            Ok(()) => outcome,
            Err(spent) => outcome.beyond(kustomization, spent),
        }
    }

    /// What Flux does to what is built before it applies it.
    fn substitute(
        &self,
        kustomization: &Kustomization,
        outcome: &mut BuildOutcome,
        budget: &mut Budget,
    ) -> Result<(), Spent> {
        let (post_build, namespace) = (kustomization.post_build.as_ref(), &kustomization.object.namespace);
        let variables = Variables::within(post_build, namespace, &self.settings, budget)?;
        for node in &mut outcome.objects {
            outcome.wants_optional = outcome.wants_optional || variables.wants_optional(node);
            outcome.unsubstituted.extend(variables.left_alone(node));
            match variables.apply(node, budget) {
                Ok(undefined) => outcome.undefined.extend(undefined),
                Err(ObjectError { source: SubstituteError::Spent(spent), .. }) => return Err(spent),
                Err(error) => outcome.refused = Some(error),
            }
            if let Some(metadata) = &kustomization.common_metadata {
                budget.spend(cost_of_metadata(node, metadata))?;
                add_common_metadata(node, metadata);
            }
        }
        Ok(())
    }

    fn absorb(&mut self, turn: Turn, mut outcome: BuildOutcome, ledger: &mut Ledger) {
        let Turn { id, kustomization, .. } = turn;
        if outcome.directory.is_some() && outcome.blind.is_empty() && !outcome.wants_optional {
            self.out.indifferent.insert(id);
        }
        if let Some((what, why)) = outcome.unseen {
            self.blind(what, why, kustomization.path_at, id);
        }
        let missing = outcome.missing.map(|path| (BuildFault::NoPath { path }, kustomization.path_at));
        // Of a part of a repository, what lies outside is only not seen.
        let is_part = self.repository.is_part();
        let is_outside = |failure: &Failure| is_part && matches!(failure.error, BuildError::Outside { .. });
        let (outside, failures): (Vec<Failure>, Vec<Failure>) = outcome.failures.into_iter().partition(is_outside);
        // Flux decrypts a patch before it is built.
        let (encrypted, failures): (Vec<Failure>, Vec<Failure>) = failures.into_iter().partition(is_encrypted);
        for failure in encrypted {
            self.blind(Unseen::Kustomization(kustomization.object.clone()), WhyUnseen::Encrypted, failure.span, id);
        }
        for failure in outside {
            self.blind(Unseen::RestOfRepository, WhyUnseen::AboveDirectory, failure.span, id);
        }
        let failures = self.without_written(id, failures);
        let failures = if self.is_one_by_one(id) { Vec::new() } else { failures };
        let failures =
            failures.into_iter().map(|failure| (BuildFault::Kustomize(Cause::new(failure.error)), failure.span));
        let whole = Unseen::Kustomization(kustomization.object.clone());
        if let Some(error) = outcome.refused.take_if(|error| error.source.is_limit()) {
            outcome.objects.clear();
            self.blind(whole.clone(), WhyUnseen::BeyondLimit(Cause::new(error.source)), error.span, id);
        }
        let refused = outcome.refused.map(|error| (fault(error.source), error.span));
        let unread = outcome.objects.iter().filter(|_| !kustomization.may_decrypt).filter_map(sealed_by_sops);
        for (fault, at) in missing.into_iter().chain(failures).chain(refused).chain(unread) {
            self.out.cluster.broken.push(BrokenBuild { component: id, fault, at });
        }
        for blind in outcome.blind {
            let (what, why) = overlooked(blind.what, &whole);
            let at = if blind.span.is_generated() { kustomization.path_at } else { blind.span };
            self.blind(what, why, at, id);
        }
        let set_at = kustomization.post_build.as_ref().map_or(kustomization.at, |post_build| post_build.span);
        let used = |it: Undefined| UndefinedVariable { of: id, name: it.name, at: it.span, set_at };
        self.out.cluster.facts.undefined.extend(outcome.undefined.into_iter().map(used));
        self.out.cluster.facts.unsubstituted.extend(outcome.unsubstituted.into_iter().map(used));
        self.out.cluster.components[id.index()].path = outcome.directory;
        if kustomization.is_remote {
            self.blind(
                Unseen::Kustomization(kustomization.object.clone()),
                WhyUnseen::AnotherCluster,
                kustomization.at,
                id,
            );
        }
        let namespace = kustomization.object.namespace.clone();
        for node in outcome.objects.into_iter().filter(|_| !kustomization.is_remote) {
            self.object(id, node, &namespace, ledger);
        }
        self.out.kustomizations.push((id, kustomization));
    }

    /// Whether nothing says that the files of the root are built together: they may be applied one by one, and then fail alone.
    fn is_one_by_one(&self, id: ComponentId) -> bool {
        let beside = self.repository.names(&self.entry.directory);
        let is_listed = || beside.iter().any(|name| kustomize::FILE_NAMES.contains(&name.as_str()));
        id == ROOT && self.entry.is_assumed && !is_listed()
    }

    /// What fails without files that Terraform or `flux bootstrap` is yet to write is only not seen.
    fn without_written(&mut self, id: ComponentId, failures: Vec<Failure>) -> Vec<Failure> {
        let (mut left, mut lacks_flux) = (Vec::new(), false);
        for failure in failures {
            match self.yet_to_be_written(id, &failure) {
                Some((path, why)) => {
                    lacks_flux |= why == WhyUnseen::WrittenByBootstrap;
                    self.blind(Unseen::File(path), why, failure.span, id);
                }
                None => left.push(failure),
            }
        }
        // Patches of Flux itself, which is written with the rest.
        left.retain(|failure| !lacks_flux || !is_patch_of_flux(&failure.error));
        left
    }

    /// The file that is missing, and who is to write it.
    fn yet_to_be_written(&self, id: ComponentId, failure: &Failure) -> Option<(String, WhyUnseen)> {
        let BuildError::Missing { path } = &failure.error else { return None };
        let home = path::parent(self.repository.path(failure.span.file)?);
        let whole = path::join(home, path)?;
        if self.common.is_written_by_terraform(&whole) {
            return Some((whole, WhyUnseen::WrittenByTerraform));
        }
        // No file says where Flux begins: nobody has started this cluster with what is here.
        let is_yet_to_begin = id == ROOT && self.entry.root.at.is_generated();
        let is_of_flux = is_of_bootstrap(&self.entry.directory, &whole);
        (is_yet_to_begin && is_of_flux).then_some((whole, WhyUnseen::WrittenByBootstrap))
    }

    /// Where neither a source is defined nor anything says where Flux begins, a part of the cluster is elsewhere. `flux-system` is what
    /// `flux bootstrap` makes.
    fn tell_sources(&mut self) {
        let sources = self.out.kustomizations.iter().filter(|_| self.entry.is_assumed);
        let sources = sources.filter_map(|(id, it)| Some((it.source.as_ref()?, *id)));
        let is_elsewhere = |source: &SourceRef| {
            let object = &source.object;
            object.kind != "ExternalArtifact" && object.name != "flux-system" && self.sources.url(object).is_none()
        };
        let found: BTreeMap<ObjectRef, (Span, ComponentId)> = sources
            .filter(|(source, _)| is_elsewhere(source))
            .map(|(source, id)| (source.object.clone(), (source.at, id)))
            .collect();
        for (source, (at, id)) in found {
            self.blind(Unseen::Source(source), WhyUnseen::DefinedElsewhere, at, id);
        }
    }

    /// The rest of the cluster is not seen, which is told once, where it begins.
    fn tell_full(&mut self, owner: ComponentId) {
        if std::mem::replace(&mut self.is_full, true) {
            return;
        }
        let component = self.out.cluster.component(owner);
        let (what, at) = (Unseen::Kustomization(component.object.clone()), component.at);
        self.blind(what, WhyUnseen::TooManyObjects { max: COMPONENTS_MAX }, at, owner);
    }

    fn object(&mut self, owner: ComponentId, node: Node, namespace: &str, ledger: &mut Ledger) {
        if self.out.cluster.components.len() >= COMPONENTS_MAX {
            self.tell_full(owner);
            return;
        }
        let object = Object::new(&node);
        if self.is_root_of_instance(object, namespace) {
            return;
        }
        let component = &mut self.out.cluster.components[owner.index()];
        component.objects += 1;
        match (object.group(), object.kind()) {
            (KUSTOMIZE_GROUP, "Kustomization") => {
                let kustomization = Kustomization::read(&node, namespace);
                if !self.is_also_applied(&kustomization.object, owner) {
                    let is_beside_root = self.is_beside_root(kustomization.at) || self.is_handed(kustomization.at);
                    let id = self.add_kustomization(&kustomization, Some(owner).filter(|_| !is_beside_root));
                    if is_beside_root {
                        self.out.cluster.facts.beside_root.insert(id, owner);
                    }
                    let turn = self.turn(id, kustomization);
                    self.wave.push(turn);
                } else if kustomization.may_decrypt {
                    self.decrypted.extend(self.by_object.get(&kustomization.object));
                }
            }
            (HELM_GROUP, "HelmRelease") => self.add_release(&node, owner, namespace),
            (CONTROL_PLANE_GROUP, "ResourceSet") => self.add_resource_set(&node, owner, namespace, ledger),
            ("", "ConfigMap" | "Secret") => self.settings.add(&node),
            _ => {}
        }
        let origin = Origin::Manifest;
        self.out.objects.push(Built { component: owner, node, namespace: namespace.into(), origin });
    }

    /// Whether it is the root that a FluxInstance makes. Flux leaves that alone: the operator marks it `ssa: Ignore`.
    fn is_root_of_instance(&self, object: Object<'_>, namespace: &str) -> bool {
        let is_one = self.entry.url.is_some() && object.is(KUSTOMIZE_GROUP, "Kustomization");
        is_one && object.reference(namespace) == self.entry.root.object
    }

    /// Whether the script that starts Flux applies what stands at a place, before Flux does.
    fn is_handed(&self, at: Span) -> bool {
        let file = self.repository.path(at.file).filter(|_| !at.is_generated());
        file.is_some_and(|file| self.common.handed().applies_first(file))
    }

    /// Whether the root is applied together with what stands at a place: a person who applies it by hand applies the rest of its file, and
    /// `flux bootstrap` all that the kustomization beside `gotk-sync.yaml` takes in.
    fn is_beside_root(&self, at: Span) -> bool {
        let root = self.entry.root.at;
        if root.is_generated() || at.is_generated() {
            return false;
        }
        let (Some(own), Some(file)) = (self.repository.path(root.file), self.repository.path(at.file)) else {
            return false;
        };
        let is_synced = own.rsplit('/').next() == Some(SYNC_FILE);
        own == file || (is_synced && self.common.overlays.above(file).contains(&path::parent(own)))
    }

    fn add(&mut self, component: Component) -> ComponentId {
        let id = ComponentId(source::to_u32(self.out.cluster.components.len()));
        self.by_object.insert(component.object.clone(), id);
        self.out.cluster.components.push(component);
        id
    }

    fn add_kustomization(&mut self, kustomization: &Kustomization, parent: Option<ComponentId>) -> ComponentId {
        let id = self.add(Component {
            object: kustomization.object.clone(),
            role: Role::Kustomization,
            behaviour: Behaviour::RECONCILED_IN_STAGES,
            stage: Stage::GitOps,
            at: kustomization.at,
            parent,
            gate: kustomization.gate.clone(),
            gate_at: kustomization.gate_at,
            suspended: kustomization.suspended,
            patience: kustomization.patience.clone(),
            startup_seconds: 0,
            known_as: None,
            path: None,
            ties_at: kustomization.ties_at,
            objects: 0,
            ignored_checks: kustomization.ignored_checks.clone(),
            expressions: kustomization.expressions.clone(),
            resource: None,
            target_namespace: None,
        });
        self.dependencies.extend(kustomization.depends_on.iter().map(|dependency| (id, dependency.clone())));
        id
    }

    /// Whether another component applies it already; this one is noted then.
    fn is_also_applied(&mut self, object: &ObjectRef, owner: ComponentId) -> bool {
        let known = self.by_object.get(object);
        self.out.also_applied.extend(known.map(|id| (*id, owner)));
        known.is_some()
    }

    fn add_release(&mut self, node: &Node, owner: ComponentId, namespace: &str) {
        const RELEASE_SECONDS: u64 = 60;
        let release = HelmRelease::read(node, namespace);
        if self.is_also_applied(&release.object, owner) {
            return;
        }
        let id = self.add(Component {
            object: release.object.clone(),
            role: Role::HelmRelease,
            behaviour: Behaviour::RECONCILED_RELEASE,
            stage: Stage::GitOps,
            at: release.at,
            parent: Some(owner),
            gate: release.gate.clone(),
            gate_at: release.gate_at,
            suspended: release.suspended,
            patience: release.patience.clone(),
            startup_seconds: RELEASE_SECONDS,
            known_as: None,
            path: None,
            ties_at: release.ties_at,
            objects: 0,
            ignored_checks: Vec::new(),
            expressions: BTreeSet::new(),
            resource: None,
            target_namespace: Some(release.target_namespace.clone()).filter(|into| *into != release.object.namespace),
        });
        self.dependencies.extend(release.depends_on.iter().map(|dependency| (id, dependency.clone())));
        if self.is_handed(release.at) {
            self.out.cluster.components[id.index()].parent = None;
            self.out.cluster.facts.beside_root.insert(id, owner);
        }
        self.out.releases.push((id, release));
    }

    fn add_resource_set(&mut self, node: &Node, owner: ComponentId, namespace: &str, ledger: &mut Ledger) {
        let object = Object::new(node);
        let reference = object.reference(namespace);
        if self.by_object.contains_key(&reference) {
            return;
        }
        let expansion = ledger.one(|budget| resource_set::expand_with(node, self.providers, budget));
        let waits = object.spec("wait").and_then(Node::as_bool) == Some(true);
        // It is done when its last step is.
        let gate = if waits || !expansion.steps.is_empty() { Gate::Healthy } else { Gate::Applied };
        let id = self.add(resource_set_component(object, reference.clone(), owner, gate));
        // A ResourceSet waits for the existence of what it names unless `ready: true` asks for more.
        for mut dependency in dependencies(object.spec("dependsOn"), "Kustomization", &reference.namespace) {
            let asks = object.spec("dependsOn").and_then(Node::as_seq).unwrap_or_default().iter().any(|item| {
                item.get("ready").and_then(Node::as_bool) == Some(true)
                    && item.get("name").is_some_and(|name| name.span == dependency.at)
            });
            if dependency.waits_for == WaitsFor::Done && !asks {
                dependency.waits_for = WaitsFor::Exists;
            }
            self.dependencies.push((id, dependency));
        }
        for (what, why, at) in expansion.blind {
            self.blind(what, why, at, id);
        }
        let owners = self.add_steps(object, &reference, id, &expansion.steps, waits);
        for (index, node) in expansion.objects.into_iter().enumerate() {
            let step = expansion.steps.iter().position(|(_, range)| range.contains(&index));
            let owner = step.and_then(|step| owners.get(step)).copied().unwrap_or(id);
            self.object(owner, node, &reference.namespace, ledger);
        }
    }

    /// Each step begins when the one before it is healthy; the last one is waited for only if the set waits.
    fn add_steps(
        &mut self,
        object: Object<'_>,
        set: &ObjectRef,
        parent: ComponentId,
        steps: &[(EcoString, std::ops::Range<usize>)],
        waits: bool,
    ) -> Vec<ComponentId> {
        let mut ids: Vec<ComponentId> = Vec::new();
        for (index, (name, _)) in steps.iter().enumerate() {
            let is_last = index + 1 == steps.len();
            let gate = if waits || !is_last { Gate::Healthy } else { Gate::Applied };
            let reference = ObjectRef::new("ResourceSet", set.namespace.clone(), format!("{} step {name}", set.name));
            let id = self.add(resource_set_component(object, reference, parent, gate));
            if let Some(before) = ids.last() {
                let tie = Tie {
                    from: id,
                    to: TieTarget::Component(*before),
                    at: object.name_span(),
                    waits_for: WaitsFor::Done,
                };
                self.out.cluster.ties.push(tie);
            }
            ids.push(id);
        }
        ids
    }

    fn blind(&mut self, what: Unseen, why: WhyUnseen, at: Span, component: ComponentId) {
        self.out.cluster.blind.push(BlindSpot { what, why, at, component: Some(component) });
    }

    /// A root that stands in what it applies itself was applied from outside, and whatever it waits for that stands in the
    /// same directory came with it.
    fn free_neighbours(&mut self, root: ComponentId) {
        let own = self.directory_of(root).map(str::to_owned);
        let awaited = self.out.cluster.ties.iter().filter(|tie| tie.from == root).filter_map(|tie| match tie.to {
            TieTarget::Component(to) => Some(to),
            TieTarget::Unknown(_) => None,
        });
        for id in awaited.collect::<Vec<_>>() {
            let is_beside = own.is_some() && self.directory_of(id) == own.as_deref();
            if is_beside && self.out.cluster.component(id).parent == Some(root) {
                self.out.cluster.components[id.index()].parent = None;
            }
        }
    }

    /// The directory a component is written in.
    fn directory_of(&self, id: ComponentId) -> Option<&str> {
        let at = self.out.cluster.component(id).at;
        self.repository.path(at.file).filter(|_| !at.is_generated()).map(path::parent)
    }

    fn tie(&mut self) {
        for (from, dependency) in std::mem::take(&mut self.dependencies) {
            let is_component =
                matches!(dependency.object.kind.as_str(), "Kustomization" | "HelmRelease" | "ResourceSet");
            let to = match self.by_object.get(&dependency.object) {
                Some(id) => TieTarget::Component(*id),
                None if is_component => TieTarget::Unknown(dependency.object),
                // A ResourceSet may wait for an object of any kind, also one that the cluster itself makes.
                None => continue,
            };
            self.out.cluster.ties.push(Tie { from, to, at: dependency.at, waits_for: dependency.waits_for });
        }
    }
}
