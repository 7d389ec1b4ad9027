//! `coldstart report`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::check::Policy;
use ::graph::{Analysis, Impacts};
use ::report::{After, BootTimes, Boots, Document, Facts, Share};
use ::simulate::{Blueprint, Conditions, Faults, World};
use diagnostic::{Finding, Fingerprint, Headline, Repairs, Severity};
use draw::picture::{Alarms, Collapse, Picture, Wish as PictureWish};
use draw::report::Pictures;
use edit::Readers;
use fix::Wish;
use model::{Cluster, ObjectRef};
use read::Reading;
use read::platform::PlatformVersion;
use read::rendered::Rendered;
use repository::Unsaved;
use repository::file::{self, Links};
use run::{Layer, Plan};
use settings::SETTINGS_FILE;

use crate::arguments::{Report, ReportFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::fix::proof::{Proof, settled};
use crate::open::{is_empty, nothing, open_then, unread};
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "report";
/// Boxes of a picture within the document.
const BOXES_MAX: usize = 90;
/// Boots in which each component's times are looked at, at most.
const TIMED_BOOTS_MAX: u64 = 100;

pub(crate) fn run(options: &Report) -> Result<Code, Failure> {
    let progress = Progress::start("checking");
    let entry = options.start.entry.as_deref();
    let (reading, analyses) = open_then(COMMAND, &options.path, entry, None, ::graph::analyse)?;
    if is_empty(&reading) {
        return Err(nothing(COMMAND, &options.path, &reading));
    }
    let only = match &options.cluster {
        Some(name) => Some(cluster::find(&reading.clusters, name, COMMAND, &options.path)?.name.clone()),
        None => None,
    };
    let told = Told::new(options, &reading, &analyses, only.as_deref())?;
    let text = told.text()?;
    drop(progress);
    if let Some(path) = &options.check {
        return compare(options, path, &text);
    }
    match &options.out {
        Some(path) => write(path, &text)?,
        None => output::print(&text)?,
    }
    Ok(exit::CLEAN)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let failure = |source| Failure::WriteFile { path: path.to_owned(), source };
    edit::write(path, text.as_bytes(), Readers::Usual).map_err(failure)
}

/// Whether the file is as it would be written; else what differs.
fn compare(options: &Report, path: &Path, text: &str) -> Result<Code, Failure> {
    let failure = |source| Failure::ReadFile { path: path.to_owned(), source };
    let bytes = file::read(path, Links::Followed, REPORT_BYTES_MAX).map_err(failure)?;
    let before = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    if before == *text {
        return Ok(exit::CLEAN);
    }
    output::print(&draw::difference(&path.to_string_lossy(), &before, text))?;
    let next =
        diagnostic::Next::Run(diagnostic::next::Run::WriteReport { at: options.path.clone(), out: path.to_owned() });
    output::remark(&format!("next: {}", draw::say::next(&next)));
    Ok(exit::ERRORS_FOUND)
}

/// A report that was written is no larger than this.
const REPORT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// All that documents are made from.
struct Told<'a> {
    options: &'a Report,
    reading: &'a Reading,
    analyses: &'a [Analysis],
    only: Option<&'a str>,
    findings: Vec<Finding>,
    headlines: BTreeMap<String, Headline>,
    repairs: BTreeMap<String, Repairs>,
    /// The repository with the fixes.
    after: Option<(Reading, Vec<Analysis>)>,
    rendered: Vec<Rendered>,
    platform: Vec<PlatformVersion>,
}

impl<'a> Told<'a> {
    fn new(
        options: &'a Report,
        reading: &'a Reading,
        analyses: &'a [Analysis],
        only: Option<&'a str>,
    ) -> Result<Self, Failure> {
        let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: COMMAND, source })?;
        let mut each = settled(reading, analyses, &policy);
        ::check::look_ahead(&mut each, reading, analyses);
        let headlines = headlines(&each);
        let entry = options.start.entry.as_deref();
        let closes = |finding: &Finding, _: &Reading| {
            finding.severity >= Severity::Info && only.is_none_or(|only| finding.cluster == only)
        };
        let wish = Wish { closes: &closes, with_unsafe: true, may_add: &|_, _| true };
        let proof = Proof { command: COMMAND, reading, entry, policy: &policy };
        let all = proof.repairs(&each.findings, &wish)?;
        let after = if all.made.is_empty() { None } else { Some(after(reading, entry, &all)?) };
        let (rendered, _) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
        let findings: Vec<Finding> =
            each.findings.into_iter().filter(|finding| finding.severity >= Severity::Info).collect();
        let repairs = reading.clusters.iter().map(|cluster| (cluster.name.clone(), of_cluster(&all, &cluster.name)));
        let repairs = repairs.collect();
        let platform = read::platform::versions(&reading.repository);
        Ok(Self { options, reading, analyses, only, findings, headlines, repairs, after, rendered, platform })
    }

    fn text(&self) -> Result<String, Failure> {
        let inventory = read::inventory::find(&self.reading.repository);
        let wanted: Vec<(&Cluster, &Analysis)> = self
            .reading
            .clusters
            .iter()
            .zip(self.analyses)
            .filter(|(cluster, _)| self.only.is_none_or(|only| cluster.name == only) && !cluster.components.is_empty())
            .collect();
        let plans: Vec<Option<Plan>> = wanted.iter().map(|(cluster, analysis)| self.plan(cluster, analysis)).collect();
        let parts: Vec<Part> = wanted.iter().map(|(cluster, _)| self.part(cluster)).collect::<Result<_, _>>()?;
        let stage = self.options.stage.as_deref();
        let stage = stage.and_then(|name| Layer::ALL.into_iter().find(|layer| layer.name() == name));
        let documents: Vec<Document<'_>> = wanted
            .iter()
            .zip(&plans)
            .zip(&parts)
            .map(|(((cluster, analysis), plan), part)| {
                ::report::document(self.facts(cluster, analysis, plan.as_ref(), part, &inventory), stage)
            })
            .collect();
        let sources = &self.reading.repository;
        match self.options.format {
            ReportFormat::Markdown => Ok(draw::report::markdown(&documents, sources)),
            ReportFormat::Html => {
                let pictures: Vec<Pictures> =
                    wanted.iter().map(|(cluster, analysis)| self.pictures(cluster, analysis)).collect();
                Ok(draw::report::html(&documents, &pictures, sources))
            }
            ReportFormat::Json => {
                draw::report::json(&documents, sources).map_err(|error| Failure::Json(error.to_string()))
            }
        }
    }

    /// The cluster as it is, and with the fixes.
    fn pictures(&self, cluster: &Cluster, analysis: &Analysis) -> Pictures {
        let after = self.after.as_ref().and_then(|(reading, analyses)| {
            let mut both = reading.clusters.iter().zip(analyses);
            let (cluster, analysis) = both.find(|(after, _)| after.name == cluster.name)?;
            Some(picture(cluster, analysis, &Alarms::default()))
        });
        Pictures { now: picture(cluster, analysis, &Alarms::among(&self.findings, &cluster.name)), after }
    }

    fn plan(&self, cluster: &Cluster, analysis: &Analysis) -> Option<Plan> {
        ::run::plan(&self.reading.repository, cluster, analysis, &self.reading.settings.up).ok()
    }

    fn part(&self, cluster: &Cluster) -> Result<Part, Failure> {
        let rendered = self.rendered.iter().find(|one| one.name == cluster.name);
        Ok(Part {
            findings: self.findings.iter().filter(|finding| finding.cluster == cluster.name).cloned().collect(),
            versions: rendered.map(read::versions::of).unwrap_or_default(),
            boots: match self.options.boots {
                Some(boots) => Some(self.boots(cluster, boots)?),
                None => None,
            },
        })
    }

    fn facts<'f>(
        &'f self,
        cluster: &'f Cluster,
        analysis: &'f Analysis,
        plan: Option<&'f Plan>,
        part: &'f Part,
        inventory: &'f read::inventory::Inventory,
    ) -> Facts<'f> {
        let impacts = Impacts::new(cluster, analysis);
        let critical = impacts.critical().into_iter();
        let critical = critical.map(|service| {
            let impact = impacts.of(impacts.subject(service.id));
            (service, impact)
        });
        let critical = critical.collect();
        let after = self.after.as_ref().and_then(|(reading, analyses)| {
            let mut both = reading.clusters.iter().zip(analyses);
            both.find(|(after, _)| after.name == cluster.name).map(|(cluster, analysis)| After { cluster, analysis })
        });
        let has_settings = self.reading.repository.id(SETTINGS_FILE).is_some();
        Facts {
            cluster,
            analysis,
            plan,
            headline: self.headlines.get(&cluster.name).copied().unwrap_or_default(),
            findings: &part.findings,
            repairs: self.repairs.get(&cluster.name).unwrap_or(&NO_REPAIRS),
            after,
            versions: &part.versions,
            platform: &self.platform,
            inventory,
            critical,
            boots: part.boots.clone(),
            sources: &self.reading.repository,
            settings_file: has_settings.then_some(SETTINGS_FILE),
        }
    }

    /// Boots of the cluster as it is, and after the fixes.
    fn boots(&self, cluster: &Cluster, boots: u64) -> Result<Boots, Failure> {
        let Some(blueprint) = blueprint(self.reading, &cluster.name)? else { return Ok(Boots::default()) };
        let after = match &self.after {
            None => None,
            Some((reading, _)) => blueprint_after(reading, &cluster.name, boots)?,
        };
        Ok(Boots { now: share(&blueprint, boots), after, now_times: times(&blueprint, boots.min(TIMED_BOOTS_MAX)) })
    }
}

/// What `check` says of each cluster in its first line.
fn headlines(report: &diagnostic::Report) -> BTreeMap<String, Headline> {
    let of = |name: &str| {
        let of_cluster = diagnostic::Report {
            findings: report.findings.iter().filter(|finding| finding.cluster == name).cloned().collect(),
            clusters: report.clusters.iter().filter(|cluster| cluster.name == name).cloned().collect(),
            blind_spots: Vec::new(),
            left_out: diagnostic::LeftOut::default(),
            is_partial: report.is_partial,
            rules: report.rules,
        }
        .folded();
        Headline::new(&of_cluster, &diagnostic::causes(&of_cluster.findings))
    };
    report.clusters.iter().map(|cluster| (cluster.name.clone(), of(&cluster.name))).collect()
}

/// Everything, or where that would be too small to read on a page, namespaces.
fn picture(cluster: &Cluster, analysis: &Analysis, alarms: &Alarms) -> Picture {
    let whole = Picture::new(cluster, analysis, alarms, &PictureWish::default());
    if whole.boxes.len() <= BOXES_MAX {
        return whole;
    }
    let wish = PictureWish { collapse: Some(Collapse::Namespace), ..PictureWish::default() };
    Picture::new(cluster, analysis, alarms, &wish)
}

static NO_REPAIRS: Repairs = Repairs { made: Vec::new(), left: Vec::new() };

/// What belongs to one cluster.
struct Part {
    findings: Vec<Finding>,
    versions: Vec<read::versions::ChartVersion>,
    boots: Option<Boots>,
}

/// The repository as it would be with all edits.
fn after(reading: &Reading, entry: Option<&str>, repairs: &Repairs) -> Result<(Reading, Vec<Analysis>), Failure> {
    let mut unsaved = Unsaved::default();
    for changed in repairs.made.iter().flat_map(|repair| &repair.files) {
        match &changed.after {
            Some(text) => unsaved.set(changed.path.as_str(), text.as_str()),
            None => unsaved.remove(changed.path.as_str()),
        }
    }
    let root = reading.repository.root();
    read::read_unsaved(root, unsaved, entry, None, ::graph::analyse).map_err(|error| unread(COMMAND, error))
}

/// The repairs that close something in a cluster.
fn of_cluster(all: &Repairs, name: &str) -> Repairs {
    let made = all.made.iter().filter(|repair| repair.closes.iter().any(|told| told.cluster == name));
    let mut known: BTreeSet<Fingerprint> = BTreeSet::new();
    let left = all.left.iter().filter(|left| left.finding.cluster == name);
    let left = left.filter(|left| known.insert(left.finding.fingerprint.clone()));
    Repairs { made: made.cloned().collect(), left: left.cloned().collect() }
}

/// A cluster, ready to be booted.
fn blueprint(reading: &Reading, name: &str) -> Result<Option<Blueprint>, Failure> {
    let (all, catalogue) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
    let one = all.iter().find(|one| one.name == name);
    Ok(one.map(|one| ::simulate::compile(std::slice::from_ref(one), &catalogue, &Conditions::default())))
}

fn blueprint_after(reading: &Reading, name: &str, boots: u64) -> Result<Option<Share>, Failure> {
    Ok(blueprint(reading, name)?.map(|blueprint| share(&blueprint, boots)))
}

fn share(blueprint: &Blueprint, boots: u64) -> Share {
    let study = ::simulate::study(blueprint, 0, boots, &Faults::default());
    Share { boots: study.boots, converged: study.converged, median_seconds: study.percentile(50).map(|it| it / 1000) }
}

/// When each object became ready, in the middle of so many boots.
fn times(blueprint: &Blueprint, boots: u64) -> BootTimes {
    let mut all: BTreeMap<ObjectRef, Vec<u64>> = BTreeMap::new();
    let mut world = World::new(blueprint);
    for seed in 0..boots {
        for flux in world.boot(seed, &[]).flux {
            if let Some(ready) = flux.first_ready {
                all.entry(blueprint.thing(flux.id).object()).or_default().push(ready / 1000);
            }
        }
    }
    let median = |(object, mut times): (ObjectRef, Vec<u64>)| {
        times.sort_unstable();
        let middle = times.get(times.len() / 2).copied()?;
        Some((object, middle))
    };
    BootTimes { medians: all.into_iter().filter_map(median).collect() }
}
