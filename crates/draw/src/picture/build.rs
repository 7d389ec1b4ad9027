//! From a cluster and its analysis to boxes and arrows.

use std::collections::BTreeMap;

use graph::Analysis;
use model::{
    Cluster, Component, ComponentId, MANY_RELEASES_MIN, ObjectRef, Role, Stage, TieTarget, Verdict, say_seconds,
};

use super::{Alarms, Arrow, Collapse, Lanes, Node, Picture, State, Tone, Turn, Wish};
use crate::clean::clean;
use crate::graph_text::gate_word;
use crate::words::count;

/// Everything, with every arrow.
pub(super) fn whole(cluster: &Cluster, analysis: &Analysis, alarms: &Alarms, wish: &Wish) -> Picture {
    let mut builder = Builder {
        cluster,
        analysis,
        of: Vec::new(),
        alarms: BTreeMap::new(),
        picture: Picture::default(),
        arrows: BTreeMap::new(),
    };
    builder.picture.title = clean(&cluster.name).into_owned();
    builder.boxes(wish);
    builder.alarms(alarms);
    builder.ties();
    builder.needs();
    builder.reported();
    builder.parents();
    builder.cycles();
    builder.critical_path();
    builder.picture.arrows = builder.drawn();
    builder.lanes(wish);
    builder.picture
}

/// A line below the title.
pub(super) fn summary(cluster: &Cluster, analysis: &Analysis, picture: &Picture) -> String {
    let of = |tone: Tone| picture.arrows.iter().filter(|arrow| arrow.tone == tone).count();
    let mut parts = vec![count(cluster.components.len(), "component")];
    if picture.boxes.len() != cluster.components.len() {
        parts.push(count(picture.boxes.len(), "box").replace("boxs", "boxes"));
    }
    parts.push(count(picture.arrows.len(), "arrow"));
    let done = analysis.schedule.all_done(cluster);
    parts.push(format!("about {} from the Kubernetes API to the last one", say_seconds(done)));
    for (tone, noun) in [(Tone::Missing, "missing order"), (Tone::FalselyReady, "falsely ready")] {
        match of(tone) {
            0 => {}
            number if tone == Tone::Missing => parts.push(count(number, noun)),
            number => parts.push(format!("{number} {noun}")),
        }
    }
    match analysis.cycles().count() {
        0 => {}
        number => parts.push(count(number, "cycle")),
    }
    parts.join(" · ")
}

struct Builder<'a> {
    cluster: &'a Cluster,
    analysis: &'a Analysis,
    /// The box of every component.
    of: Vec<usize>,
    /// What is reported between two boxes.
    alarms: BTreeMap<(usize, usize), Tone>,
    picture: Picture,
    arrows: BTreeMap<(usize, usize), Arrow>,
}

/// What components share a box by.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Share {
    Component(ComponentId),
    Namespace(Stage, String),
    Tier(u32),
}

impl Builder<'_> {
    fn boxes(&mut self, wish: &Wish) {
        let owner = self.owners(wish);
        let mut known: BTreeMap<Share, usize> = BTreeMap::new();
        for id in self.cluster.ids() {
            let component = self.cluster.component(owner[id.index()]);
            let share = match wish.collapse {
                None => Share::Component(owner[id.index()]),
                Some(Collapse::Namespace) => Share::Namespace(component.stage, component.object.namespace.to_string()),
                Some(Collapse::Tier) => Share::Tier(self.analysis.schedule.tier(owner[id.index()])),
            };
            let next = self.picture.boxes.len();
            let index = *known.entry(share.clone()).or_insert(next);
            if index == next {
                self.picture.boxes.push(blank());
            }
            self.picture.boxes[index].components.push(id);
            self.of.push(index);
        }
        let titles: BTreeMap<usize, Share> = known.into_iter().map(|(share, index)| (index, share)).collect();
        for (index, share) in titles {
            self.describe(index, &share);
        }
    }

    /// By component the one whose box it is in: a Kustomization that applies few releases is drawn with them.
    fn owners(&self, wish: &Wish) -> Vec<ComponentId> {
        let mut releases: BTreeMap<ComponentId, usize> = BTreeMap::new();
        let mut others: BTreeMap<ComponentId, usize> = BTreeMap::new();
        for component in &self.cluster.components {
            let Some(parent) = component.parent else { continue };
            let counts = if component.role == Role::HelmRelease { &mut releases } else { &mut others };
            *counts.entry(parent).or_default() += 1;
        }
        let is_small = |id: &ComponentId| {
            let parent = self.cluster.component(*id);
            let few = releases.get(id).is_some_and(|count| *count < MANY_RELEASES_MIN);
            parent.role == Role::Kustomization && few && !others.contains_key(id)
        };
        let owner = |id: ComponentId| {
            let component = self.cluster.component(id);
            let parent = component.parent.filter(|_| !wish.releases && component.role == Role::HelmRelease);
            parent.filter(is_small).unwrap_or(id)
        };
        self.cluster.ids().map(owner).collect()
    }

    fn describe(&mut self, index: usize, share: &Share) {
        let schedule = &self.analysis.schedule;
        let node = &mut self.picture.boxes[index];
        let ids = node.components.clone();
        let all = || ids.iter().map(|id| self.cluster.component(*id));
        node.tier = ids.iter().map(|id| schedule.tier(*id)).min().unwrap_or(0);
        node.start = ids.iter().filter_map(|id| schedule.start(*id)).min();
        node.done =
            ids.iter().map(|id| schedule.done(*id)).collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max());
        node.is_critical = ids.iter().any(|id| schedule.critical_path.contains(id));
        node.state = match () {
            () if all().any(|component| component.suspended.is_some()) => State::Suspended,
            () if node.done.is_none() => State::Stuck,
            () => State::Comes,
        };
        let done = node.done.map_or_else(|| "never".to_owned(), say_seconds);
        match share {
            Share::Component(id) => {
                let component = self.cluster.component(*id);
                node.name = clean(&component.object.name).into_owned();
                node.namespace = clean(&component.object.namespace).into_owned();
                node.full = full(component, ids.len() - 1);
                node.object = Some(component.object.clone());
                node.detail = format!("{} · {done}", gate_word(component));
            }
            Share::Namespace(stage, namespace) => {
                let name = if namespace.is_empty() { "no namespace" } else { namespace };
                let before = if *stage == Stage::Bootstrap { ", before Flux" } else { "" };
                node.name = clean(name).into_owned();
                node.namespace.clone_from(&node.name);
                node.full = format!("namespace {}{before}", node.name);
                node.detail = format!("{} · {done}", count(ids.len(), "component"));
            }
            Share::Tier(tier) => {
                node.name = format!("tier {tier}");
                node.full.clone_from(&node.name);
                node.detail = format!("{} · {done}", count(ids.len(), "component"));
            }
        }
    }

    /// The arrow between the boxes of two components, to be told more about; nothing within one box.
    fn arrow(&mut self, first: ComponentId, then: ComponentId, tone: Tone) -> Option<&mut Arrow> {
        let (from, to) = (self.of[first.index()], self.of[then.index()]);
        (from != to).then(|| self.between(from, to, tone))
    }

    fn between(&mut self, from: usize, to: usize, tone: Tone) -> &mut Arrow {
        let new = Arrow { from, to, tone, is_critical: false, turn: Turn::Stays, needs: Vec::new(), ties: Vec::new() };
        let arrow = self.arrows.entry((from, to)).or_insert(new);
        arrow.tone = arrow.tone.max(tone);
        arrow
    }

    fn ties(&mut self) {
        let cluster = self.cluster;
        let mut unknown: BTreeMap<&ObjectRef, usize> = BTreeMap::new();
        for (index, tie) in cluster.ties.iter().enumerate() {
            let arrow = match &tie.to {
                TieTarget::Component(to) => self.arrow(*to, tie.from, Tone::Declared),
                TieTarget::Unknown(object) => {
                    let next = self.picture.boxes.len();
                    let at = *unknown.entry(object).or_insert(next);
                    if at == next {
                        self.picture.boxes.push(not_found(object));
                    }
                    Some(self.between(at, self.of[tie.from.index()], Tone::Missing))
                }
            };
            if let Some(arrow) = arrow {
                arrow.ties.push(index);
            }
        }
    }

    fn needs(&mut self) {
        let (cluster, analysis) = (self.cluster, self.analysis);
        for judged in &analysis.judged {
            let Some(offer) = judged.offer else { continue };
            let (by, of) = (cluster.offers[offer].by, cluster.needs[judged.need].of);
            let between = (self.of[by.index()], self.of[of.index()]);
            let tone = tone(judged.verdict).map(|tone| match tone {
                Tone::AppliedOnly | Tone::FalselyReady | Tone::Missing if !self.alarms.contains_key(&between) => {
                    Tone::Soon
                }
                tone => tone,
            });
            if let Some(arrow) = tone.and_then(|tone| self.arrow(by, of, tone)) {
                arrow.needs.push(judged.need);
            }
        }
    }

    /// The boxes that findings are about.
    fn alarms(&mut self, alarms: &Alarms) {
        let ids = self.cluster.ids().map(|id| (&self.cluster.component(id).object, self.of[id.index()]));
        let of: BTreeMap<&ObjectRef, usize> = ids.collect();
        for (component, provider, verdict) in alarms.iter() {
            let (Some(to), Some(from), Some(tone)) = (of.get(component), of.get(provider), tone(*verdict)) else {
                continue;
            };
            if from != to && !tone.orders() {
                let known = self.alarms.entry((*from, *to)).or_insert(tone);
                *known = tone.max(*known);
            }
        }
    }

    /// What is reported at another level than that of the need has its arrow, too.
    fn reported(&mut self) {
        for ((from, to), tone) in std::mem::take(&mut self.alarms) {
            self.between(from, to, tone);
        }
    }

    fn parents(&mut self) {
        let cluster = self.cluster;
        for id in cluster.ids() {
            if let Some(parent) = cluster.component(id).parent {
                self.arrow(parent, id, Tone::Applies);
            }
        }
    }

    fn cycles(&mut self) {
        let analysis = self.analysis;
        for cycle in analysis.cycles() {
            let members = cycle.components(&analysis.events);
            for (waits, first) in members.iter().zip(members.iter().cycle().skip(1)) {
                self.arrow(*first, *waits, Tone::Deadlocked);
            }
        }
    }

    fn critical_path(&mut self) {
        for pair in self.analysis.schedule.critical_path.windows(2) {
            let is_back = self.arrows.contains_key(&(self.of[pair[1].index()], self.of[pair[0].index()]));
            // Done follows what is applied: the way back into the box that applies it is no arrow.
            let applies = self.cluster.component(pair[0]).parent == Some(pair[1]);
            if is_back && applies {
                continue;
            }
            if let Some(arrow) = self.arrow(pair[0], pair[1], Tone::Applies) {
                arrow.is_critical = true;
            }
        }
    }

    /// Without arrows that say little: a host that something talks to later, beside an order the other way round, and that what comes before
    /// Flux is there for what Flux applies.
    fn drawn(&mut self) -> Vec<Arrow> {
        let all = std::mem::take(&mut self.arrows);
        let is_against = |arrow: &Arrow| arrow.tone == Tone::Soon && all.contains_key(&(arrow.to, arrow.from));
        let is_early = |index: usize| {
            let ids = &self.picture.boxes[index].components;
            !ids.is_empty() && ids.iter().all(|id| self.cluster.component(*id).stage == Stage::Bootstrap)
        };
        let is_plain =
            |arrow: &Arrow| arrow.tone.orders() && !arrow.is_critical && is_early(arrow.from) && !is_early(arrow.to);
        all.values().filter(|arrow| !is_against(arrow) && !is_plain(arrow)).cloned().collect()
    }

    fn lanes(&mut self, wish: &Wish) {
        let titles: Vec<String> = match (wish.lanes, wish.collapse) {
            (_, Some(Collapse::Tier)) => vec!["all".to_owned(); self.picture.boxes.len()],
            (Lanes::Namespace, _) => self.picture.boxes.iter().map(|node| node.namespace.clone()).collect(),
            (Lanes::Stage, _) => return self.stages(),
        };
        let mut sorted = titles.clone();
        sorted.sort();
        sorted.dedup();
        for (node, title) in self.picture.boxes.iter_mut().zip(&titles) {
            node.lane = sorted.partition_point(|other| other < title);
        }
        self.picture.lanes_beside = sorted.len() > 1;
        self.picture.lanes = sorted;
    }

    /// What others wait for comes before what nothing waits for.
    fn stages(&mut self) {
        let mut leads_on = vec![false; self.picture.boxes.len()];
        for arrow in &self.picture.arrows {
            leads_on[arrow.from] = true;
        }
        let is_early = |id: &ComponentId| self.cluster.component(*id).stage == Stage::Bootstrap;
        for (node, leads_on) in self.picture.boxes.iter_mut().zip(leads_on) {
            node.lane = match () {
                () if !node.components.is_empty() && node.components.iter().all(is_early) => 0,
                () if leads_on => 1,
                () => 2,
            };
        }
        self.picture.lanes = STAGES.map(str::to_owned).to_vec();
    }
}

const STAGES: [&str; 3] = ["Before Flux", "Flux: others wait for these", "Flux: nothing waits for these"];

/// How a need is drawn; nothing where it says nothing about an order.
fn tone(verdict: Verdict) -> Option<Tone> {
    match verdict {
        Verdict::Unoffered => None,
        Verdict::Deadlocked => Some(Tone::Deadlocked),
        Verdict::Unordered => Some(Tone::Missing),
        Verdict::ExistsOnly | Verdict::AppliedOnly => Some(Tone::AppliedOnly),
        Verdict::FalselyReady => Some(Tone::FalselyReady),
        Verdict::BootstrapOnly | Verdict::Guaranteed => Some(Tone::Guaranteed),
    }
}

fn full(component: &Component, parts: usize) -> String {
    let object = clean(&component.object.to_string()).into_owned();
    if parts == 0 { object } else { format!("{object}, with {}", count(parts, "release")) }
}

fn blank() -> Node {
    Node {
        name: String::new(),
        detail: String::new(),
        full: String::new(),
        object: None,
        namespace: String::new(),
        components: Vec::new(),
        lane: 0,
        tier: 0,
        state: State::Comes,
        is_critical: false,
        turn: Turn::Stays,
        start: None,
        done: None,
    }
}

fn not_found(object: &ObjectRef) -> Node {
    Node {
        name: clean(&object.name).into_owned(),
        detail: "not found".to_owned(),
        full: format!("{} (not found)", clean(&object.to_string())),
        namespace: clean(&object.namespace).into_owned(),
        object: Some(object.clone()),
        state: State::NotFound,
        ..blank()
    }
}
