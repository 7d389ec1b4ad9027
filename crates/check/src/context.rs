//! What every rule is given.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use diagnostic::{Maker, Severity};
use ecow::EcoString;
use graph::{Analysis, Deadlock, Judged, Trials};
use model::{
    BlindSpot, Capability, CapabilityKind, Cluster, Component, ComponentId, Consequence, Need, Phase, Purpose, Role,
    Tie, TieTarget, Verdict, WhyUnseen,
};
use read::Reading;
use read::texts::Creations;

use crate::index::Index;
use crate::pairs::Pair;

pub(crate) struct Context<'a> {
    reading: &'a Reading,
    pub(crate) cluster: &'a Cluster,
    pub(crate) analysis: &'a Analysis,
    /// Whether somebody wants to hear of everybody by himself.
    pub(crate) each: bool,
    /// Components that are never applied, because they or something above them is suspended.
    asleep: Vec<bool>,
    dependents: Vec<Vec<&'a Tie>>,
    /// What each component is tied to.
    ties: Vec<Vec<ComponentId>>,
    /// What each component declares.
    own_ties: Vec<Vec<&'a Tie>>,
    /// Where each component declares that.
    tie_places: Vec<Vec<source::Span>>,
    has_ties: Vec<bool>,
    /// Where this cluster declares order between releases: mostly on the releases, or on their Kustomizations.
    releases_are_tied: bool,
    /// How many releases a component applies.
    releases: Vec<usize>,
    /// One of these releases.
    a_release: Vec<Option<ComponentId>>,
    /// See [`Context::creation_in_text`].
    creations: OnceLock<Creations>,
    /// See [`Context::ordered_after`].
    ordered: OnceLock<BTreeMap<ComponentId, usize>>,
    /// See [`Context::operator`].
    operators: OnceLock<BTreeMap<(ComponentId, &'a str), ComponentId>>,
    /// See [`Context::races`].
    races: OnceLock<Vec<Pair<'a>>>,
    /// See [`Context::waits_for_kind_of_webhook`].
    raced_kinds: OnceLock<BTreeSet<(ComponentId, ComponentId, &'a str)>>,
    /// See [`Context::trials`].
    trials: OnceLock<Trials<'a>>,
    /// See [`Context::index`].
    index: OnceLock<Index<'a>>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(reading: &'a Reading, cluster: &'a Cluster, analysis: &'a Analysis, each: bool) -> Self {
        let mut ties: BTreeMap<Role, usize> = BTreeMap::new();
        for tie in &cluster.ties {
            *ties.entry(cluster.component(tie.from).role).or_default() += 1;
        }
        let releases_are_tied = ties.get(&Role::HelmRelease) > ties.get(&Role::Kustomization);
        let mut dependents = vec![Vec::new(); cluster.components.len()];
        let mut has_ties = vec![false; cluster.components.len()];
        let mut by_source = vec![Vec::new(); cluster.components.len()];
        let mut tie_places = vec![Vec::new(); cluster.components.len()];
        let mut own_ties = vec![Vec::new(); cluster.components.len()];
        for tie in &cluster.ties {
            own_ties[tie.from.index()].push(tie);
            has_ties[tie.from.index()] = true;
            tie_places[tie.from.index()].push(tie.at);
            if let TieTarget::Component(to) = tie.to {
                dependents[to.index()].push(tie);
                by_source[tie.from.index()].push(to);
            }
        }
        let mut releases = vec![0; cluster.components.len()];
        let mut a_release = vec![None; cluster.components.len()];
        for id in cluster.ids().filter(|id| cluster.component(*id).role == Role::HelmRelease) {
            if let Some(parent) = cluster.component(id).parent {
                releases[parent.index()] += 1;
                a_release[parent.index()] = Some(id);
            }
        }
        let mut context = Self {
            reading,
            cluster,
            analysis,
            each,
            asleep: Vec::new(),
            dependents,
            ties: by_source,
            own_ties,
            tie_places,
            has_ties,
            releases_are_tied,
            releases,
            a_release,
            creations: OnceLock::new(),
            ordered: OnceLock::new(),
            operators: OnceLock::new(),
            races: OnceLock::new(),
            raced_kinds: OnceLock::new(),
            trials: OnceLock::new(),
            index: OnceLock::new(),
        };
        context.asleep =
            cluster.ids().map(|id| context.above(id).any(|at| cluster.component(at).suspended.is_some())).collect();
        context
    }

    pub(crate) fn component(&self, id: ComponentId) -> &'a Component {
        self.cluster.component(id)
    }

    /// Every cycle that nothing can leave, also those through what several bring.
    pub(crate) fn deadlocks(&self) -> impl Iterator<Item = &'a Deadlock> + use<'a> {
        let analysis = self.analysis;
        analysis.cycles()
    }

    pub(crate) fn need(&self, judged: &Judged) -> &'a Need {
        &self.cluster.needs[judged.need]
    }

    /// Pairs that nothing orders, gathered once for the rules that share them out among themselves.
    pub(crate) fn races(&self, gather: impl FnOnce() -> Vec<Pair<'a>>) -> &[Pair<'a>] {
        self.races.get_or_init(gather)
    }

    /// The cluster to try edits on.
    pub(crate) fn trials(&self) -> &Trials<'a> {
        self.trials.get_or_init(|| Trials::new(self.cluster, self.analysis))
    }

    /// Where to find what, instead of searching all of the cluster for each finding.
    pub(crate) fn index(&self) -> &Index<'a> {
        self.index.get_or_init(|| Index::new(self.cluster))
    }

    /// What a component declares, targets that do not exist included.
    pub(crate) fn own_ties(&self, id: ComponentId) -> &[&'a Tie] {
        &self.own_ties[id.index()]
    }

    /// Where a component declares what it is tied to.
    pub(crate) fn tie_places(&self, id: ComponentId) -> &[source::Span] {
        &self.tie_places[id.index()]
    }

    /// Judged needs of components that will be applied at all.
    pub(crate) fn judged(&self) -> impl Iterator<Item = &'a Judged> + '_ {
        self.analysis.judged.iter().filter(|judged| !self.is_asleep(self.need(judged).of))
    }

    /// A component of this cluster whose files are in another repository: what it holds was not read.
    pub(crate) fn elsewhere(&self) -> Option<&Component> {
        self.unseen(WhyUnseen::is_other_repository)
    }

    /// A ResourceSet of this cluster whose inputs come from elsewhere: what it makes of them is not known.
    pub(crate) fn other_inputs(&self) -> Option<&Component> {
        self.unseen(WhyUnseen::is_other_inputs)
    }

    /// Whether a part of the cluster was not seen that may hold a component which something of the cluster names.
    pub(crate) fn may_hold_more(&self) -> bool {
        let own = self.cluster.facts.own_address.as_deref().and_then(owner);
        let is_of_others = |blind: &BlindSpot| {
            let other = blind.what.address().and_then(owner).filter(|_| blind.why.is_other_repository());
            own.as_ref().zip(other).is_some_and(|(own, other)| *own != other)
        };
        // What other people publish does not know of this cluster's components.
        self.cluster.blind.iter().any(|blind| blind.why.may_hold_components() && !is_of_others(blind))
    }

    /// Whether the cluster applies objects of which even the names are encrypted.
    pub(crate) fn holds_encrypted_names(&self) -> bool {
        self.cluster.blind.iter().any(|blind| blind.why == WhyUnseen::Encrypted)
    }

    /// Whether something of what a component applies was not seen.
    pub(crate) fn is_unseen(&self, id: ComponentId) -> bool {
        self.cluster.blind.iter().any(|blind| blind.component == Some(id) && blind.why.may_hold_components())
    }

    /// Whether something that a component is applied by can't be built: what it would apply beside the component is not known.
    pub(crate) fn is_below_broken(&self, id: ComponentId) -> bool {
        let is_broken = |at: ComponentId| self.cluster.broken.iter().any(|broken| broken.component == at);
        self.above(id).skip(1).any(is_broken)
    }

    /// The first component of which something was not seen for such a reason.
    fn unseen(&self, is_it: impl Fn(&WhyUnseen) -> bool) -> Option<&Component> {
        let mut blind = self.cluster.blind.iter().filter(|blind| is_it(&blind.why));
        blind.find_map(|blind| blind.component).map(|id| self.component(id))
    }

    pub(crate) fn is_asleep(&self, id: ComponentId) -> bool {
        self.asleep[id.index()]
    }

    /// A component, the one that applies it, and so on.
    pub(crate) fn above(&self, id: ComponentId) -> impl Iterator<Item = ComponentId> + use<'a> {
        let cluster = self.cluster;
        std::iter::successors(Some(id), move |at| cluster.component(*at).parent)
    }

    /// The Kustomization (or ResourceSet) that a component is or is applied by.
    pub(crate) fn applier(&self, id: ComponentId) -> ComponentId {
        self.above(id).find(|at| self.component(*at).role != Role::HelmRelease).unwrap_or(id)
    }

    /// The two components between which somebody would declare the order.
    pub(crate) fn pair(&self, consumer: ComponentId, provider: ComponentId) -> (ComponentId, ComponentId) {
        let (of, by) = (self.applier(consumer), self.applier(provider));
        let releases = [consumer, provider].iter().all(|id| self.component(*id).role == Role::HelmRelease);
        let are_many = self.applies_many_releases(of) || self.applies_many_releases(by);
        if releases && (of == by || are_many || self.is_tied_by_releases((consumer, provider), (of, by))) {
            (consumer, provider)
        } else {
            (of, by)
        }
    }

    /// The release that a component is, or the only one that it applies.
    pub(crate) fn release(&self, id: ComponentId) -> Option<ComponentId> {
        if self.component(id).role == Role::HelmRelease {
            return Some(id);
        }
        self.a_release[id.index()].filter(|_| self.releases[id.index()] == 1)
    }

    /// Whether a Kustomization applies so many releases that nobody would order it as one: "apps", "core".
    fn applies_many_releases(&self, id: ComponentId) -> bool {
        self.releases[id.index()] >= model::MANY_RELEASES_MIN
    }

    /// Whether two releases are ordered only by the Kustomizations around them, of which one applies many releases: its gate
    /// would wait for all of them, so that people order the two releases instead.
    pub(crate) fn is_between_large_kustomizations(&self, judged: &Judged) -> bool {
        let Some(offer) = judged.offer else { return false };
        let provider = self.operator(judged).unwrap_or(self.cluster.offers[offer].by);
        let consumer = self.need(judged).of;
        let are_releases = [consumer, provider].iter().all(|id| self.component(*id).role == Role::HelmRelease);
        let (of, by) = (self.applier(consumer), self.applier(provider));
        are_releases && of != by && (self.applies_many_releases(of) || self.applies_many_releases(by))
    }

    /// The release that runs the operator behind an offered object, where a release needs it and can only be tied to
    /// releases: its own Kustomization applies many.
    pub(crate) fn operator(&self, judged: &Judged) -> Option<ComponentId> {
        let offer = &self.cluster.offers[judged.offer?];
        let of = self.need(judged).of;
        let is_bound = self.component(of).role == Role::HelmRelease && self.applies_many_releases(self.applier(of));
        if !is_bound || self.component(offer.by).role == Role::HelmRelease {
            return None;
        }
        let operator = self.operators.get_or_init(|| self.find_operators());
        operator.get(&(offer.by, offer.object.kind.as_str())).copied()
    }

    /// By who applies an object and its kind: the release that brings the kind, or else the one that is known to work on it.
    fn find_operators(&self) -> BTreeMap<(ComponentId, &'a str), ComponentId> {
        let controllers: BTreeMap<&str, ComponentId> = (self.cluster.offers.iter())
            .filter(|offer| offer.capability.kind == CapabilityKind::Controller)
            .map(|offer| (offer.capability.name.as_str(), offer.by))
            .collect();
        let mut operators = BTreeMap::new();
        for judged in &self.analysis.judged {
            let need = self.need(judged);
            let Some(offer) = judged.offer.filter(|_| need.capability.kind == CapabilityKind::Crd) else { continue };
            let by = self.cluster.offers[offer].by;
            let brings = Some(by).filter(|by| self.component(*by).role == Role::HelmRelease);
            let works = || {
                let (group, _) = need.capability.name.split_once('/')?;
                let name = need.capability.name.as_str();
                controllers.get(name).or_else(|| controllers.get(format!("{group}/*").as_str())).copied()
            };
            if let Some(operator) = brings.or_else(works) {
                operators.insert((need.of, need.object.kind.as_str()), operator);
            }
        }
        operators
    }

    /// Whether people tie releases to this provider rather than Kustomizations to its Kustomization.
    fn is_tied_by_releases(&self, releases: (ComponentId, ComponentId), appliers: (ComponentId, ComponentId)) -> bool {
        let weight = |(consumer, provider): (ComponentId, ComponentId)| {
            let role = self.component(consumer).role;
            let to_it = self.dependents(provider).iter().filter(|tie| self.component(tie.from).role == role).count();
            2 * to_it + usize::from(self.has_ties[consumer.index()])
        };
        let (by_release, by_applier) = (weight(releases), weight(appliers));
        let is_usual = self.releases_are_tied || self.has_ties[releases.0.index()];
        by_release > by_applier || (by_release == by_applier && is_usual)
    }

    /// Whether adding a tie between the two would close a circle: one applies the other.
    pub(crate) fn is_nested(&self, a: ComponentId, b: ComponentId) -> bool {
        self.above(a).any(|at| at == b) || self.above(b).any(|at| at == a)
    }

    /// Who is tied to a component, and where the tie is written.
    pub(crate) fn dependents(&self, id: ComponentId) -> &[&'a Tie] {
        &self.dependents[id.index()]
    }

    /// What a component itself is tied to.
    pub(crate) fn tied_to(&self, id: ComponentId) -> &[ComponentId] {
        &self.ties[id.index()]
    }

    /// Whether a chain of declared ties leads from one to the other, whatever it proves.
    pub(crate) fn is_tied(&self, from: ComponentId, to: ComponentId) -> bool {
        let tied = self.tied_below(to);
        self.above(from).any(|at| tied.contains(&at))
    }

    /// All from which a chain of declared ties leads to a component.
    pub(crate) fn tied_below(&self, to: ComponentId) -> BTreeSet<ComponentId> {
        reached([to], |at| self.dependents(at).iter().map(|tie| tie.from).collect())
    }

    /// All that a chain of declared ties leads to, from a component or from what applies it.
    pub(crate) fn tied_above(&self, from: ComponentId) -> BTreeSet<ComponentId> {
        reached(self.above(from), |at| self.tied_to(at).to_vec())
    }

    /// Every cluster of the repository.
    pub(crate) fn clusters(&self) -> &'a [Cluster] {
        &self.reading.clusters
    }

    /// The directory of the file a place is in.
    pub(crate) fn directory(&self, span: source::Span) -> Option<&'a str> {
        let path = self.reading.repository.path(span.file)?;
        Some(path.rsplit_once('/').map_or("", |(directory, _)| directory))
    }

    /// The file a place is in.
    pub(crate) fn path(&self, span: source::Span) -> Option<&'a str> {
        self.reading.repository.path(span.file)
    }

    /// What a comment near a place names as the maker of things: Flux is not alone.
    pub(crate) fn comment_beside(&self, span: source::Span) -> Option<Maker> {
        self.comment_about(span, None)
    }

    /// The same of something in a namespace: a command that creates it in another one does not count.
    pub(crate) fn comment_about(&self, span: source::Span, namespace: Option<&str>) -> Option<Maker> {
        const LINES_AROUND: usize = 8;
        const MAKERS: [(&str, Maker); 8] = [
            ("terraform", Maker::Terraform),
            ("opentofu", Maker::OpenTofu),
            ("tofu", Maker::OpenTofu),
            ("pulumi", Maker::Pulumi),
            ("ansible", Maker::Ansible),
            ("manually", Maker::ByHand),
            ("by hand", Maker::ByHand),
            ("kubectl create", Maker::ByHand),
        ];
        let text = self.text(span)?;
        let (before, after) = text.split_at_checked(span.start as usize)?;
        let mut near: Vec<&str> = Vec::new();
        for (index, line) in before.lines().rev().enumerate() {
            // A comment that begins further above belongs to it as a whole.
            let is_comment = |line: &str| line.trim_start().starts_with('#');
            let goes_on = is_comment(line) && near.last().is_some_and(|below| is_comment(below));
            if index > LINES_AROUND && !goes_on {
                break;
            }
            near.push(line);
        }
        near.reverse();
        near.extend(after.lines().take(LINES_AROUND));
        let near = near.into_iter();
        let comments = near.filter_map(|line| line.split_once('#')).map(|(_, words)| words.to_ascii_lowercase());
        let is_meant =
            |words: &String| namespace.is_none_or(|wanted| namespace_in(words).is_none_or(|it| it == wanted));
        let comments = comments.filter(is_meant);
        comments
            .flat_map(|words| MAKERS.iter().filter(move |(name, _)| words.contains(name)).map(|(_, maker)| *maker))
            .next()
    }

    /// The first script, recipe, Terraform file or document with a line that creates something of a name: `kubectl create namespace web`.
    pub(crate) fn creation_in_text(&self, capability: &Capability) -> Option<EcoString> {
        self.creations.get_or_init(|| Creations::of(&self.reading.repository)).file(capability)
    }

    /// The directory that a Kustomization with a kubeconfig applies to another cluster, if it holds the file of a place. Which cluster
    /// the kubeconfig is for, no file says.
    pub(crate) fn handed_over(&self, span: source::Span) -> Option<EcoString> {
        let file = self.reading.repository.path(span.file)?;
        let mut directories = self.cluster.facts.handed_over.iter();
        directories.find(|directory| repository::path::is_below(file, directory)).map(|it| it.as_str().into())
    }

    /// Whether a script or a text for people says a name.
    pub(crate) fn is_told(&self, name: &str) -> bool {
        read::texts::say(&self.reading.repository, name)
    }

    /// Whether a comment beside the object that counts names another maker of it.
    fn is_made_outside(&self, judged: &Judged) -> bool {
        judged.offer.is_some_and(|offer| self.comment_beside(self.cluster.offers[offer].at).is_some())
    }

    /// The text of the file a place is in.
    pub(crate) fn text(&self, span: source::Span) -> Option<&'a str> {
        Some(self.reading.repository.source(span.file)?.text())
    }

    /// Whether a file that can be shown holds a place.
    pub(crate) fn is_in_file(&self, span: source::Span) -> bool {
        self.reading.repository.locate(span).is_some()
    }

    /// How many wait for a component to have what they need of it.
    pub(crate) fn ordered_after(
        &self,
        provider: ComponentId,
        count: impl FnOnce() -> BTreeMap<ComponentId, usize>,
    ) -> usize {
        self.ordered.get_or_init(count).get(&provider).copied().unwrap_or_default()
    }

    /// Whether a release can't be rendered before the one that brings a webhook has brought the kinds that it is asked about, too: each try
    /// before that fails, and the first after it meets a webhook that does not answer yet.
    fn waits_for_kind_of_webhook(&self, judged: &Judged) -> bool {
        let need = self.need(judged);
        let Some(by) = judged.offer.map(|offer| self.cluster.offers[offer].by) else { return false };
        self.raced_kinds.get_or_init(|| self.find_raced_kinds()).contains(&(need.of, by, group(&need.capability.name)))
    }

    /// Whether, by the estimates, a release is installed well after the one that brings a webhook has registered it, and well before
    /// it answers: that race is lost nearly every time.
    fn begins_before_it_answers(&self, judged: &Judged) -> bool {
        const CLEARLY_SECONDS: u64 = 10;
        let Some(by) = judged.offer.map(|offer| self.cluster.offers[offer].by) else { return false };
        let schedule = &self.analysis.schedule;
        let (Some(begins), Some(registered), Some(answers)) =
            (schedule.start(self.need(judged).of), schedule.start(by), schedule.done(by))
        else {
            return false;
        };
        begins >= registered + CLEARLY_SECONDS && begins + CLEARLY_SECONDS <= answers
    }

    /// Who needs kinds of a group to be applied, of whom, and which group, where nothing orders the two.
    fn find_raced_kinds(&self) -> BTreeSet<(ComponentId, ComponentId, &'a str)> {
        let is_raced = |judged: &&Judged| {
            let need = self.need(judged);
            let is_kind = need.capability.kind == CapabilityKind::Crd && need.phase == Phase::Apply;
            is_kind && judged.verdict == Verdict::Unordered
        };
        let raced = self.analysis.judged.iter().filter(is_raced).filter_map(|judged| {
            let need = self.need(judged);
            Some((need.of, self.cluster.offers[judged.offer?].by, group(&need.capability.name)))
        });
        raced.collect()
    }

    /// How much an unmet need matters, by what it costs.
    pub(crate) fn severity(&self, judged: &Judged) -> Severity {
        const LONG_SECONDS: u64 = 600;
        const SHORT_SECONDS: u64 = 30;
        /// A timeout that leaves this much is no race.
        const AMPLE_SECONDS: u64 = 900;
        let kind = self.need(judged).capability.kind;
        let is_class =
            matches!(kind, CapabilityKind::StorageClass | CapabilityKind::SnapshotClass | CapabilityKind::GatewayClass);
        // What a program does without the host it talks to is nowhere written: some wait, some give up.
        let is_race_for_names = kind == CapabilityKind::ClusterDns
            && judged.verdict == Verdict::Unordered
            && self.component(self.need(judged).of).role.is_bootstrap();
        let is_host = kind == CapabilityKind::Service || is_race_for_names;
        // However long a release would wait: what it names is there to be ordered.
        let is_named = is_host || kind == CapabilityKind::Secret || self.need(judged).why == Purpose::PartOf;
        let severity = match judged.consequence {
            Consequence::Deadlock | Consequence::Terminal { certain: true } => Severity::Error,
            Consequence::Terminal { certain: false } | Consequence::Silent => Severity::Warning,
            Consequence::Slow { seconds } if seconds >= LONG_SECONDS => Severity::Warning,
            Consequence::Slow { seconds } if seconds < SHORT_SECONDS => Severity::Pedantic,
            Consequence::Safe { spare_seconds } if spare_seconds >= AMPLE_SECONDS && !is_class && !is_named => {
                Severity::Pedantic
            }
            Consequence::Slow { .. } | Consequence::Safe { .. } => Severity::Info,
            Consequence::Nothing if judged.verdict == Verdict::BootstrapOnly => Severity::Info,
            Consequence::Noise if is_host || is_class => Severity::Info,
            Consequence::Noise | Consequence::Nothing => Severity::Pedantic,
        };
        let need = self.need(judged);
        // A webhook stands in the way only from the moment it is registered until it answers. Where the two are ordered
        // without a gate, or where the CRD that comes with it is waited for too, that moment is just when the other begins.
        // And a policy engine registers one only once it runs, for the kinds that its policies name.
        let is_of_policies = need.capability.name == "*";
        let is_passed_by = judged.verdict == Verdict::Unordered
            && !self.waits_for_kind_of_webhook(judged)
            && !self.begins_before_it_answers(judged);
        let is_gentle =
            need.soft || (need.capability.kind == CapabilityKind::Webhook && (is_passed_by || is_of_policies));
        if judged.verdict == Verdict::Deadlocked {
            return severity;
        }
        if !is_acted_on(kind, judged) {
            return Severity::Pedantic;
        }
        // The gate opens too early, but most controllers are done before a dependent looks again.
        let severity = if judged.early { severity.lowered() } else { severity };
        let is_guess = judged.offer.is_some_and(|offer| self.cluster.offers[offer].is_guess);
        if severity > Severity::Info && kind == CapabilityKind::Namespace && self.is_made_outside(judged) {
            return Severity::Info;
        }
        if is_host || is_way_in(kind) || judged.holds_by_failure || is_guess {
            return severity.min(Severity::Info);
        }
        if !is_gentle {
            return severity;
        }
        // However soft the kind, without its CRD nothing beside it is applied either, and without its controller nothing
        // comes of it: that stays worth a line.
        let is_kind = matches!(need.capability.kind, CapabilityKind::Crd | CapabilityKind::Controller);
        let least = if is_kind { severity.min(Severity::Info) } else { Severity::Pedantic };
        severity.lowered().max(least)
    }
}

/// The namespace in `kubectl create secret … -n NAME`.
fn namespace_in(words: &str) -> Option<&str> {
    let mut words = words.split([' ', '=']).skip_while(|word| !matches!(*word, "-n" | "--namespace"));
    words.nth(1)
}

/// The API group of `group/Kind`.
fn group(kind: &str) -> &str {
    kind.split('/').next().unwrap_or_default()
}

/// Who owns what is at an address: the first part behind its host, without a port.
fn owner(address: &str) -> Option<String> {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split_once('@').map_or(rest, |(_, rest)| rest);
    let mut parts = rest.split(['/', ':']).filter(|part| !part.is_empty());
    parts.next()?;
    let owner = parts.find(|part| !part.bytes().all(|byte| byte.is_ascii_digit()))?;
    Some(owner.to_lowercase())
}

/// Pods wait for a node that has what they want, and start by themselves: where an order is declared and the wait costs nothing,
/// people leave it at that, however weak its gate. Addresses that the bootstrap sees to are as good as given.
fn is_acted_on(kind: CapabilityKind, judged: &Judged) -> bool {
    match kind {
        CapabilityKind::Device | CapabilityKind::NodeLabel | CapabilityKind::NetworkAttachment => {
            judged.verdict == Verdict::Unordered || !judged.consequence.is_free()
        }
        CapabilityKind::RuntimeClass => !judged.consequence.is_free(),
        CapabilityKind::LoadBalancer => judged.verdict != Verdict::BootstrapOnly,
        _ => true,
    }
}

/// What others reach a component by. It runs without: whoever would reach it waits.
pub(crate) fn is_way_in(kind: CapabilityKind) -> bool {
    matches!(
        kind,
        CapabilityKind::IngressClass
            | CapabilityKind::Gateway
            | CapabilityKind::Issuer
            | CapabilityKind::LoadBalancer
            | CapabilityKind::SnapshotController
    )
}

/// All that is reached from some by steps, those themselves only where a step leads to them.
fn reached(
    from: impl IntoIterator<Item = ComponentId>,
    steps: impl Fn(ComponentId) -> Vec<ComponentId>,
) -> BTreeSet<ComponentId> {
    let mut seen = BTreeSet::new();
    let mut work: Vec<ComponentId> = from.into_iter().collect();
    while let Some(at) = work.pop() {
        work.extend(steps(at).into_iter().filter(|to| seen.insert(*to)));
    }
    seen
}
