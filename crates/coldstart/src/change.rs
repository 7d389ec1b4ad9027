//! `coldstart graph --diff`: two revisions of a repository, side by side.

use std::collections::{BTreeMap, BTreeSet};

use ::check::{Policy, Wanted};
use ::graph::{Analysis, Impacts};
use diagnostic::{Finding, LeftOut, Report, Severity};
use draw::change::{Change, Side, Told, picture};
use draw::picture::{Alarms, Picture};
use model::{Cluster, ComponentId};
use read::Reading;

use crate::arguments::{Graph, GraphFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::impact::Made;
use crate::open::open_some;
use crate::output;
use crate::progress::Progress;
use crate::since::between;

const COMMAND: &str = "graph";
/// Arrows of a picture.
const ARROWS_MAX: usize = 300;
/// Of a flowchart.
const MERMAID_ARROWS_MAX: usize = 60;

pub(crate) fn run(options: &Graph, base: &str, head: &str) -> Result<Code, Failure> {
    let progress = Progress::start("comparing");
    let entry = options.start.entry.as_deref();
    let here = open_some(COMMAND, &options.path, entry, None)?;
    let between = between(COMMAND, (base, head), &options.path, entry)?;
    let after: &Reading = between.after.as_ref().map_or(&here, |after| &after.reading);
    let before: &Reading = &between.before.reading;
    let files: Vec<String> = between.files.iter().map(|file| file.path.clone()).collect();
    let (then, now) = (Revision::new(before, &files)?, Revision::new(after, &files)?);
    let names = names(options, before, after)?;
    let changes: Vec<Change<'_>> = names.iter().map(|name| change(name, &then, &now)).collect();
    drop(progress);
    let pictures = |most: usize| -> Vec<Picture> {
        changes.iter().filter(|change| !change.is_empty()).map(|change| picture(change, most)).collect()
    };
    let text = match options.format {
        GraphFormat::Text => draw::change::text(&changes, output::wants_color(options.color)),
        GraphFormat::Markdown => draw::change::markdown(&changes),
        GraphFormat::Json => draw::change::json(&changes).map_err(|error| Failure::Json(error.to_string()))?,
        GraphFormat::Html => draw::change::html(&changes, &format!("{base}..{head}")),
        GraphFormat::Svg => draw::picture::svg(&pictures(ARROWS_MAX)),
        GraphFormat::Dot => draw::picture::dot(&pictures(ARROWS_MAX)),
        GraphFormat::Mermaid => draw::picture::mermaid(&pictures(MERMAID_ARROWS_MAX)),
    };
    output::print(&text)?;
    let is_same = changes.iter().all(Change::is_empty);
    Ok(if options.exit_code && !is_same { exit::ERRORS_FOUND } else { exit::CLEAN })
}

/// The clusters of both, or the one that is meant.
fn names(options: &Graph, before: &Reading, after: &Reading) -> Result<BTreeSet<String>, Failure> {
    let known = |reading: &Reading| -> Vec<Cluster> {
        reading.clusters.iter().map(|cluster| Cluster { name: cluster.name.clone(), ..Cluster::default() }).collect()
    };
    let mut all = known(after);
    all.extend(known(before));
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all.dedup_by(|a, b| a.name == b.name);
    Ok(match &options.cluster {
        Some(name) => BTreeSet::from([crate::cluster::find(&all, name, COMMAND, &options.path)?.name.clone()]),
        None => all.into_iter().map(|cluster| cluster.name).collect(),
    })
}

/// What is known of one of the two.
struct Revision<'a> {
    reading: &'a Reading,
    analyses: Vec<Analysis>,
    report: Report,
    least: Severity,
    /// By cluster, what is made of the files that change.
    touched: BTreeMap<String, BTreeSet<ComponentId>>,
}

impl<'a> Revision<'a> {
    fn new(reading: &'a Reading, files: &[String]) -> Result<Self, Failure> {
        let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: COMMAND, source })?;
        let clusters: Vec<&Cluster> = reading.clusters.iter().collect();
        let analyses = repository::parallel::map(&clusters, |cluster| ::graph::analyse(cluster));
        let mut report = ::check::run_analysed(reading, &analyses, Wanted { cluster: None, each: false });
        ::check::settle(&mut report, reading, &policy);
        let made = Made::of(reading)?;
        let touched =
            clusters.iter().map(|cluster| (cluster.name.clone(), made.components(cluster, files).0)).collect();
        let least = policy.min_severity.unwrap_or(Severity::Warning);
        Ok(Self { reading, analyses, report, least, touched })
    }

    fn side(&self, name: &str) -> Option<Side<'_>> {
        let at = self.reading.clusters.iter().position(|cluster| cluster.name == name)?;
        let (cluster, analysis) = (&self.reading.clusters[at], &self.analyses[at]);
        if cluster.components.is_empty() {
            return None;
        }
        let critical = Impacts::new(cluster, analysis).critical().into_iter().map(|service| service.id).collect();
        let touched = self.touched.get(name).cloned().unwrap_or_default();
        let alarms = Alarms::of(&copied(&self.report).folded(), name);
        Some(Side { cluster, analysis, alarms, critical, touched })
    }

    /// What is found here and not in the other.
    fn alone(&self, other: &Revision<'_>, name: &str) -> Vec<Told> {
        let mut report = copied(&self.report);
        let known = (&other.report, &other.reading.repository);
        diagnostic::only_new(&mut report, &self.reading.repository, known, "", self.least);
        let findings = report.folded().findings;
        let told = findings.iter().filter(|finding| finding.cluster == name && finding.severity >= self.least);
        told.map(|finding| self.told(finding)).collect()
    }

    fn told(&self, finding: &Finding) -> Told {
        let sources = &self.reading.repository;
        let said = draw::say::finding(finding, sources);
        let place = source::Sources::locate(sources, finding.primary.at.span());
        Told {
            rule: finding.rule.id,
            severity: finding.severity.word(),
            message: said.message,
            cost: said.cost,
            fix: said.fix,
            place: place.map(|(path, at)| format!("{path}:{}", at.line)).unwrap_or_default(),
        }
    }
}

/// Folding takes a report apart, and it is compared as well.
fn copied(report: &Report) -> Report {
    Report {
        findings: report.findings.clone(),
        clusters: report.clusters.clone(),
        blind_spots: Vec::new(),
        left_out: LeftOut::default(),
        is_partial: report.is_partial,
        rules: report.rules,
    }
}

fn change<'a>(name: &str, then: &'a Revision<'_>, now: &'a Revision<'_>) -> Change<'a> {
    Change::new(name, then.side(name), now.side(name), now.alone(then, name), then.alone(now, name))
}
