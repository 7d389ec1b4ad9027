//! A page to explore, in one file: the data, a style and a script of ours, and a policy that lets nothing else in.
//!
//! Everything from a repository is data: JSON in which no `<` stands, put on the page as text and never as markup.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Finding, Report, Severity, Who};
use graph::{Analysis, Impacts, Loss, Onset};
use model::{Cluster, ComponentId, ObjectRef, Retry};
use serde::Serialize;
use source::{Sources, Span};

use super::paths::whole;
use super::placed::{BOX_HEIGHT, Placed};
use super::svg::{STYLE, box_class, markers};
use super::{Picture, Tone};
use crate::clean::{clean, clean_source};
use crate::graph_text::gate_word;
use crate::html::Page;
use crate::{say, words};

const PAGE_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const BODY: &str = include_str!("page.html");
/// Boxes that are named where something takes more down.
const DOWN_MAX: usize = 25;
/// What comes of losing a box is asked for so many of them that, times the components of the cluster, it is no more than this: about a
/// second's work. Where that is not all, those are asked about that most others lean on.
const ASKED_MAX: usize = 100_000;
/// Capabilities that are named where something offers more.
const OFFERS_MAX: usize = 40;
/// Characters of a line of source.
const LINE_CHARS_MAX: usize = 160;

/// What `check` found.
#[derive(Clone, Copy, Debug)]
pub struct Findings<'a> {
    pub report: &'a Report,
}

/// The page with these clusters.
pub fn page(
    clusters: &[(&Cluster, &Analysis, Picture)],
    findings: Findings<'_>,
    sources: &impl Sources,
) -> Result<String, serde_json::Error> {
    let mut strings = Strings::default();
    let all = clusters
        .iter()
        .map(|(cluster, analysis, picture)| {
            ClusterTwin::new(cluster, analysis, picture, findings, sources, &mut strings)
        })
        .collect();
    let tones = Tone::ALL.iter().map(|tone| [tone.class(), tone.says()]).collect();
    let data = PageTwin {
        tones,
        calm_until: Tone::Soon as usize,
        box_height: BOX_HEIGHT,
        clusters: all,
        strings: strings.list,
    };
    let title = clusters.first().map_or("", |(_, _, picture)| picture.title.as_str());
    let page = Page {
        title,
        style: &format!("{STYLE}{PAGE_STYLE}"),
        body: &BODY.replace("<!-- markers -->", markers().trim_end()),
        data: Some(&serde_json::to_string(&data)?),
        script: Some(SCRIPT),
    };
    Ok(page.text())
}

/// Texts that are said often, each once.
#[derive(Default)]
struct Strings {
    list: Vec<String>,
    known: BTreeMap<String, usize>,
}

impl Strings {
    fn of(&mut self, text: &str) -> usize {
        if let Some(index) = self.known.get(text) {
            return *index;
        }
        self.list.push(text.to_owned());
        self.known.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

#[derive(Serialize)]
struct PageTwin {
    tones: Vec<[&'static str; 2]>,
    /// The last of the tones that are no alarm.
    calm_until: usize,
    box_height: f64,
    clusters: Vec<ClusterTwin>,
    strings: Vec<String>,
}

#[derive(Serialize)]
struct ClusterTwin {
    title: String,
    summary: String,
    /// Arrows run down, and not to the right.
    down: bool,
    size: [f64; 2],
    seconds: u64,
    lanes: Vec<LaneTwin>,
    boxes: Vec<BoxTwin>,
    arrows: Vec<ArrowTwin>,
    needs: Vec<NeedTwin>,
    findings: Vec<FindingTwin>,
}

/// Of box, by box, capability, verdict, consequence, place.
type NeedTwin = (usize, Option<usize>, usize, usize, usize, Option<PlaceTwin>);

#[derive(Serialize)]
struct LaneTwin {
    title: String,
    at: [f64; 4],
}

/// A file, as the number of its string, and a line.
type PlaceTwin = (usize, u32);

#[derive(Serialize)]
struct BoxTwin {
    name: String,
    /// What is drawn of a long name.
    #[serde(skip_serializing_if = "Option::is_none")]
    short: Option<String>,
    detail: String,
    full: String,
    class: String,
    lane: usize,
    tier: u32,
    x: f64,
    y: f64,
    w: f64,
    start: Option<u64>,
    done: Option<u64>,
    parts: Vec<PartTwin>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    offers: Vec<usize>,
    #[serde(skip_serializing_if = "is_zero")]
    more_offers: usize,
    /// Nothing where it was not worked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    down: Option<Vec<DownTwin>>,
}

#[derive(Serialize)]
struct PartTwin {
    /// Where it is not the name of the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    gate: &'static str,
    retry: usize,
    at: Option<PlaceTwin>,
}

/// What stops at one moment when this is down: how many, and the first of them.
#[derive(Serialize)]
struct DownTwin {
    when: &'static str,
    count: usize,
    boxes: Vec<usize>,
}

#[derive(Serialize)]
struct ArrowTwin {
    from: usize,
    to: usize,
    tone: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    critical: bool,
    /// Its first place and the steps from bend to bend, x and y in turns.
    way: Vec<i32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ties: Vec<PlaceTwin>,
}

#[derive(Serialize)]
struct FindingTwin {
    rule: &'static str,
    severity: &'static str,
    message: String,
    cost: String,
    fix: Option<String>,
    notes: Vec<String>,
    boxes: Vec<usize>,
    places: Vec<(usize, u32, String)>,
    /// The line of the first place.
    line: String,
}

impl ClusterTwin {
    fn new(
        cluster: &Cluster,
        analysis: &Analysis,
        picture: &Picture,
        findings: Findings<'_>,
        sources: &impl Sources,
        strings: &mut Strings,
    ) -> Self {
        let placed = Placed::new(picture);
        let mut view = View { cluster, analysis, picture, of: of(cluster, picture), strings, sources };
        let boxes = view.boxes(&placed);
        let lane = |(title, at): &(String, [f64; 4])| LaneTwin { title: title.clone(), at: at.map(round) };
        Self {
            title: picture.title.clone(),
            summary: picture.summary.clone(),
            down: !picture.lanes_beside,
            size: [placed.size.0, placed.size.1].map(round),
            seconds: analysis.schedule.all_done(cluster),
            lanes: placed.lanes.iter().map(lane).collect(),
            boxes,
            arrows: view.arrows(&placed),
            needs: view.needs(),
            findings: view.findings(findings),
        }
    }
}

/// The box of every component; none for what was left out.
fn of(cluster: &Cluster, picture: &Picture) -> Vec<Option<usize>> {
    let mut of = vec![None; cluster.components.len()];
    for (index, node) in picture.boxes.iter().enumerate() {
        for id in &node.components {
            of[id.index()] = Some(index);
        }
    }
    of
}

struct View<'a, S> {
    cluster: &'a Cluster,
    analysis: &'a Analysis,
    picture: &'a Picture,
    of: Vec<Option<usize>>,
    strings: &'a mut Strings,
    sources: &'a S,
}

impl<S: Sources> View<'_, S> {
    fn boxes(&mut self, placed: &Placed<'_>) -> Vec<BoxTwin> {
        let (cluster, picture) = (self.cluster, self.picture);
        let impacts = Impacts::new(cluster, self.analysis);
        let mut offers: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for offer in &cluster.offers {
            let Some(by) = self.of[offer.by.index()] else { continue };
            let name = self.strings.of(&clean(&offer.capability.to_string()));
            let own = offers.entry(by).or_default();
            if !own.contains(&name) {
                own.push(name);
            }
        }
        let asked = self.asked();
        let mut boxes = Vec::with_capacity(picture.boxes.len());
        for (index, node) in picture.boxes.iter().enumerate() {
            let (x, y) = placed.corners[index];
            let mut own = offers.remove(&index).unwrap_or_default();
            let more_offers = own.len().saturating_sub(OFFERS_MAX);
            own.truncate(OFFERS_MAX);
            let parts = node.components.iter().map(|id| self.part(*id, &node.full)).collect();
            boxes.push(BoxTwin {
                name: node.name.clone(),
                short: Some(placed.names[index].clone()).filter(|short| *short != node.name),
                detail: node.detail.clone(),
                full: node.full.clone(),
                class: box_class(node),
                lane: node.lane,
                tier: node.tier,
                x: round(x),
                y: round(y),
                w: placed.widths[index],
                start: node.start,
                done: node.done,
                parts,
                offers: own,
                more_offers,
                down: asked.contains(&index).then(|| self.down(&impacts, index)),
            });
        }
        boxes
    }

    fn part(&mut self, id: ComponentId, full: &str) -> PartTwin {
        let component = self.cluster.component(id);
        let name = clean(&component.object.to_string()).into_owned();
        let retry = match component.patience.retry {
            Retry::Every(seconds) => format!("every {}", model::say_seconds(seconds)),
            Retry::Never => "never".to_owned(),
        };
        PartTwin {
            name: Some(name).filter(|name| name != full),
            gate: gate_word(component),
            retry: self.strings.of(&retry),
            at: self.place(component.at),
        }
    }

    /// The boxes whose loss is worked out.
    fn asked(&self) -> BTreeSet<usize> {
        let mut leans = vec![0usize; self.picture.boxes.len()];
        for arrow in &self.picture.arrows {
            leans[arrow.from] += 1 + arrow.needs.len();
        }
        let mut order: Vec<usize> = (0..leans.len()).collect();
        order.sort_by_key(|index| (std::cmp::Reverse(leans[*index]), *index));
        order.truncate(ASKED_MAX / self.cluster.components.len().max(1));
        order.into_iter().collect()
    }

    fn down(&self, impacts: &Impacts<'_>, index: usize) -> Vec<DownTwin> {
        let Some(first) = self.picture.boxes[index].components.first() else { return Vec::new() };
        let impact = impacts.of(impacts.subject(*first));
        let mut found: BTreeMap<Onset, Vec<usize>> = BTreeMap::new();
        let mut add = |onset: Onset, id: ComponentId| {
            let Some(other) = self.of[id.index()].filter(|other| *other != index) else { return };
            let own = found.entry(onset).or_default();
            if !own.contains(&other) {
                own.push(other);
            }
        };
        impact.running.get(&Loss::Down).into_iter().flatten().for_each(|it| add(it.onset, it.id));
        impact.cold_start.components.keys().for_each(|id| add(Onset::ColdStart, *id));
        let twin = |(onset, mut boxes): (Onset, Vec<usize>)| {
            let count = boxes.len();
            boxes.truncate(DOWN_MAX);
            DownTwin { when: when(onset), count, boxes }
        };
        found.into_iter().map(twin).collect()
    }

    fn arrows(&mut self, placed: &Placed<'_>) -> Vec<ArrowTwin> {
        let picture = self.picture;
        let one = |(arrow, way): (&super::Arrow, &Vec<(f64, f64)>)| {
            let ties = arrow.ties.iter().filter_map(|tie| self.place(self.cluster.ties[*tie].at)).collect();
            let tone = Tone::ALL.iter().position(|tone| *tone == arrow.tone).unwrap_or(0);
            ArrowTwin { from: arrow.from, to: arrow.to, tone, critical: arrow.is_critical, way: steps(way), ties }
        };
        picture.arrows.iter().zip(&placed.ways).map(one).collect()
    }

    fn needs(&mut self) -> Vec<NeedTwin> {
        let mut seen = BTreeSet::new();
        let mut needs = Vec::new();
        for judged in &self.analysis.judged {
            let need = &self.cluster.needs[judged.need];
            let Some(of) = self.of[need.of.index()] else { continue };
            let by = judged.offer.and_then(|offer| self.of[self.cluster.offers[offer].by.index()]);
            let capability = self.strings.of(&clean(&need.capability.to_string()));
            let key = (of, by, capability, judged.verdict.word());
            if by == Some(of) || !seen.insert(key) {
                continue;
            }
            let verdict = self.strings.of(judged.verdict.word());
            let consequence = self.strings.of(judged.consequence.word());
            needs.push((of, by, capability, verdict, consequence, self.place(need.at)));
        }
        needs
    }

    fn findings(&mut self, findings: Findings<'_>) -> Vec<FindingTwin> {
        let cluster = self.cluster;
        let own = findings.report.findings.iter().filter(|finding| finding.cluster == cluster.name);
        let told = own.filter(|finding| finding.severity > Severity::Pedantic);
        told.map(|finding| self.finding(finding)).collect()
    }

    fn finding(&mut self, finding: &Finding) -> FindingTwin {
        let said = say::finding(finding, self.sources);
        let alike = finding.alike.iter().filter_map(|alike| match &alike.who {
            Who::Component(component) | Who::Both { component, .. } => Some(component),
            Who::Provider(_) => None,
        });
        let objects =
            std::iter::once(&finding.component).chain(finding.also.iter().map(|also| &also.component)).chain(alike);
        let mut boxes: Vec<usize> = objects.filter_map(|object| self.box_of(object)).collect();
        boxes.sort_unstable();
        boxes.dedup();
        let mut places = Vec::new();
        for ((_, site), label) in finding.places().zip(said.labels) {
            if let Some((file, line)) = self.place(site.span()) {
                places.push((file, line, label));
            }
        }
        FindingTwin {
            rule: finding.rule.id,
            severity: finding.severity.word(),
            message: said.message,
            cost: said.cost,
            fix: said.fix,
            notes: said.notes,
            boxes,
            line: self.line(finding.primary.at.span()),
            places,
        }
    }

    fn box_of(&self, object: &ObjectRef) -> Option<usize> {
        self.of[self.cluster.find(object)?.index()]
    }

    fn place(&mut self, span: Span) -> Option<PlaceTwin> {
        let (path, position) = self.sources.locate(span)?;
        Some((self.strings.of(&clean(path)), position.line))
    }

    /// The line of source that a place is in.
    fn line(&self, span: Span) -> String {
        let Some((_, position)) = self.sources.locate(span) else { return String::new() };
        let text = self.sources.source(span.file).map_or("", |source| source.text());
        let line = text.lines().nth(position.line as usize - 1).unwrap_or_default();
        words::shorten(&clean_source(line), LINE_CHARS_MAX)
    }
}

fn when(onset: Onset) -> &'static str {
    match onset {
        Onset::AtOnce => "at once",
        Onset::PodStart => "when pods start again",
        Onset::Reconcile => "at the next reconcile",
        Onset::ColdStart => "at the next cold start",
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The first place, then how far it is from each to the next: small numbers.
fn steps(way: &[(f64, f64)]) -> Vec<i32> {
    let mut last = (0, 0);
    let mut out = Vec::with_capacity(2 * way.len());
    for (x, y) in way.iter().map(|(x, y)| (whole(*x), whole(*y))) {
        out.extend([x - last.0, y - last.1]);
        last = (x, y);
    }
    out
}

/// To a tenth.
fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
