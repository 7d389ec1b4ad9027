//! `coldstart plan`.

use std::path::Path;

use model::Cluster;
use read::Reading;
use run::{Plan, Selection};

use crate::arguments::{Part, Plan as Options, PlanFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{find_helm, open_some};
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "plan";

pub(crate) fn run(options: &Options) -> Result<Code, Failure> {
    let progress = Progress::start("reading");
    let helm = find_helm(COMMAND, &options.charts)?;
    let reading = open_some(COMMAND, &options.path, options.start.entry.as_deref(), helm.as_ref())?;
    let cluster = one(&reading.clusters, options.cluster.as_deref(), COMMAND, &options.path)?;
    let plan = part(planned(&reading, cluster, &options.path)?, &options.part, &options.path)?;
    drop(progress);
    let text = match options.format {
        PlanFormat::Text if options.quiet => {
            draw::plan::headline(&plan, &cluster.name, output::wants_color(options.color))
        }
        PlanFormat::Text => draw::plan::text(&plan, &cluster.name, output::wants_color(options.color)),
        PlanFormat::Json => draw::plan::json(&plan, &cluster.name).map_err(|error| Failure::Json(error.to_string()))?,
        PlanFormat::Mermaid => draw::plan::mermaid(&plan),
    };
    output::print(&text)?;
    Ok(exit::CLEAN)
}

/// The steps that bring a cluster up.
pub(crate) fn planned(reading: &Reading, cluster: &Cluster, at: &Path) -> Result<Plan, Failure> {
    ::run::plan(&reading.repository, cluster, &::graph::analyse(cluster), &reading.settings.up)
        .map_err(|source| Failure::Plan { at: at.to_owned(), source })
}

/// A cold start is of one cluster.
pub(crate) fn one<'a>(
    clusters: &'a [Cluster],
    name: Option<&str>,
    command: &'static str,
    at: &Path,
) -> Result<&'a Cluster, Failure> {
    match (name, clusters) {
        (Some(name), _) => cluster::find(clusters, name, command, at),
        (None, [only]) => Ok(only),
        (None, _) => {
            let names = clusters.iter().map(|cluster| cluster.name.clone()).collect();
            Err(Failure::WhichCluster { command, at: at.to_owned(), names })
        }
    }
}

/// Only the steps that were asked for.
fn part(plan: Plan, part: &Part, at: &Path) -> Result<Plan, Failure> {
    let left = selection(part).left(&plan).map_err(|source| Failure::Selection { at: at.to_owned(), source })?;
    Ok(plan.without(&left))
}

pub(crate) fn selection(part: &Part) -> Selection {
    Selection { from: part.from.clone(), until: part.until.clone(), only: part.only.clone(), skip: part.skip.clone() }
}
