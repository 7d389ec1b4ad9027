//! `coldstart graph` as a picture: what is asked for, and in which format.

use std::collections::BTreeSet;

use ::check::Policy;
use ::graph::Analysis;
use diagnostic::Report;
use draw::picture::{Alarms, Collapse, Findings, Lanes, Picture, Wish};
use model::{Cluster, ComponentId, nearest};
use read::Reading;

use crate::arguments::{Graph, GraphCollapse, GraphFormat, GraphLanes, PictureOptions};
use crate::failure::Failure;
use crate::impact::is_called;

const COMMAND: &str = "graph";

/// The clusters in one of the formats that are pictures.
pub(crate) fn drawn(options: &Graph, reading: &Reading, clusters: &[(&Cluster, &Analysis)]) -> Result<String, Failure> {
    let focus = focus(options, clusters)?;
    let report = report(reading, clusters)?;
    let drawn = clusters.iter().zip(focus).filter(|(_, focus)| options.picture.focus.is_empty() || !focus.is_empty());
    let picture = |cluster: &Cluster, analysis: &Analysis, focus| {
        Picture::new(cluster, analysis, &Alarms::of(&report, &cluster.name), &wish(options, focus))
    };
    let pictures: Vec<(&Cluster, &Analysis, Picture)> =
        drawn.map(|((cluster, analysis), focus)| (*cluster, *analysis, picture(cluster, analysis, focus))).collect();
    if options.format == GraphFormat::Html {
        let findings = Findings { report: &report };
        return draw::picture::page(&pictures, findings, &reading.repository)
            .map_err(|error| Failure::Json(error.to_string()));
    }
    let pictures: Vec<Picture> = pictures.into_iter().map(|(_, _, picture)| picture).collect();
    Ok(match options.format {
        GraphFormat::Mermaid => draw::picture::mermaid(&pictures),
        GraphFormat::Dot => draw::picture::dot(&pictures),
        _ => draw::picture::svg(&pictures),
    })
}

/// Whether nothing is asked for that only pictures have.
pub(crate) fn is_untouched(options: &PictureOptions) -> bool {
    let PictureOptions { focus, depth: _, only, collapse, lanes, releases } = options;
    focus.is_empty() && only.is_none() && collapse.is_none() && *lanes == GraphLanes::Stage && !releases
}

fn wish(options: &Graph, focus: BTreeSet<ComponentId>) -> Wish {
    let picture = &options.picture;
    Wish {
        lanes: match picture.lanes {
            GraphLanes::Stage => Lanes::Stage,
            GraphLanes::Namespace => Lanes::Namespace,
        },
        collapse: picture.collapse.map(|collapse| match collapse {
            GraphCollapse::Namespace => Collapse::Namespace,
            GraphCollapse::Tier => Collapse::Tier,
        }),
        focus,
        depth: picture.depth,
        only_missing: picture.only.is_some(),
        releases: picture.releases,
    }
}

/// By cluster, the components that are named.
fn focus(options: &Graph, clusters: &[(&Cluster, &Analysis)]) -> Result<Vec<BTreeSet<ComponentId>>, Failure> {
    let mut found = vec![BTreeSet::new(); clusters.len()];
    for name in &options.picture.focus {
        let mut is_known = false;
        for ((cluster, _), found) in clusters.iter().zip(&mut found) {
            let ids: Vec<ComponentId> =
                cluster.ids().filter(|id| is_called(&cluster.component(*id).object, name)).collect();
            is_known |= !ids.is_empty();
            found.extend(ids);
        }
        if !is_known {
            let names: Vec<&str> = clusters
                .iter()
                .flat_map(|(cluster, _)| &cluster.components)
                .map(|component| component.object.name.as_str())
                .collect();
            let nearest = nearest(name, names).map(str::to_owned);
            return Err(Failure::UnknownFocus { name: name.clone(), nearest });
        }
    }
    Ok(found)
}

/// What `check` finds in these clusters.
fn report(reading: &Reading, clusters: &[(&Cluster, &Analysis)]) -> Result<Report, Failure> {
    let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: COMMAND, source })?;
    let only = match clusters {
        [(cluster, _)] => Some(cluster.name.as_str()),
        _ => None,
    };
    let analyses: Vec<Analysis> = reading.clusters.iter().map(::graph::analyse).collect();
    let mut report = ::check::run_analysed(reading, &analyses, ::check::Wanted { cluster: only, each: false });
    ::check::settle(&mut report, reading, &policy);
    Ok(report.folded())
}
