//! `coldstart impact`.

mod changes;
mod subject;

pub(crate) use subject::{Made, is_called};

use std::collections::BTreeSet;

use ::graph::{Analysis, Critical, Impacts, Loss, Subject};
use draw::impact::{Answer, CriticalOf, Told, What};
use model::{Cluster, ComponentId};
use read::Reading;

use crate::arguments::{Impact, ImpactFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{find_helm, open_some};
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "impact";

pub(crate) fn run(options: &Impact) -> Result<Code, Failure> {
    let (of, path) = match (&options.of, options.critical || options.from_git.is_some()) {
        // Without something to ask about, the first word is the directory.
        (Some(path), true) => (None, std::path::PathBuf::from(path)),
        (of, _) => (of.as_deref(), options.path.clone()),
    };
    let progress = Progress::start("reading");
    let helm = find_helm(COMMAND, &options.charts)?;
    let reading = open_some(COMMAND, &path, options.start.entry.as_deref(), helm.as_ref())?;
    let only = match &options.cluster {
        Some(name) => Some(cluster::find(&reading.clusters, name, COMMAND, &path)?.name.clone()),
        None => None,
    };
    let only = only.as_deref();
    let printed = |told: &Told<'_>, reading: &Reading| print(options, told, reading);
    match (of, &options.from_git) {
        _ if options.critical => {
            let asked = Asked::all(&reading, only);
            drop(progress);
            printed(&Told::Critical(asked.iter().map(Asked::services).collect()), &reading)?;
        }
        (_, Some((base, head))) => {
            let entry = options.start.entry.as_deref();
            let change = changes::Change::of(&path, base, head, entry)?;
            change.answers(&reading, only, |told, reading| print(options, told, reading), progress)?;
        }
        (Some(of), None) => {
            let asked = Asked::all(&reading, only);
            let told = subject::told(of, &reading, &asked, &path)?;
            drop(progress);
            printed(&told, &reading)?;
        }
        (None, None) => return Err(Failure::NoSubject { at: path }),
    }
    Ok(exit::CLEAN)
}

fn print(options: &Impact, told: &Told<'_>, reading: &Reading) -> Result<(), Failure> {
    let detail = options.amount.detail();
    let text = match options.format {
        ImpactFormat::Text => draw::impact::text(told, &reading.repository, detail, output::wants_color(options.color)),
        ImpactFormat::Json => draw::impact::json(told).map_err(|error| Failure::Json(error.to_string()))?,
        ImpactFormat::Markdown => draw::impact::markdown(told),
    };
    output::print(&text)?;
    Ok(())
}

/// A cluster that can be asked.
pub(crate) struct Asked<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) analysis: Analysis,
}

impl<'a> Asked<'a> {
    pub(crate) fn all(reading: &'a Reading, only: Option<&str>) -> Vec<Self> {
        let wanted = reading.clusters.iter().filter(|cluster| only.is_none_or(|only| cluster.name == only));
        let wanted: Vec<&Cluster> = wanted.filter(|cluster| !cluster.components.is_empty()).collect();
        let analyses = repository::parallel::map(&wanted, |cluster| ::graph::analyse(cluster));
        wanted.into_iter().zip(analyses).map(|(cluster, analysis)| Asked { cluster, analysis }).collect()
    }

    fn answer(&'a self, what: What, losses: &[Loss], subject: impl Fn(&Impacts<'a>) -> Subject) -> Answer<'a> {
        let impacts = Impacts::new(self.cluster, &self.analysis);
        let critical: BTreeSet<ComponentId> = impacts.critical().into_iter().map(|it| it.id).collect();
        let impact = impacts.of(subject(&impacts));
        Answer { cluster: self.cluster, what, losses: losses.to_vec(), impact, critical }
    }

    /// The services that must not be disrupted, with what each takes down.
    pub(crate) fn services(&self) -> CriticalOf<'a> {
        let impacts = Impacts::new(self.cluster, &self.analysis);
        let services: Vec<Critical> = impacts.critical();
        let taken_down = services.iter().map(|service| impacts.of(impacts.subject(service.id))).collect();
        CriticalOf { cluster: self.cluster, services, impacts: taken_down }
    }
}
