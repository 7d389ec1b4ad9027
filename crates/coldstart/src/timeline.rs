//! `--timeline FILE`: times in a file, as what its ending says.

#![expect(clippy::disallowed_methods, reason = "a picture lies where its user wants it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ::run::{Line, Plan, Timeline};
use ::simulate::{Blueprint, Fault, Faults, World};
use draw::timeline::{BootRow, Boots};
use graph::Analysis;
use model::{Cluster, ComponentId, ObjectRef, TieTarget};

use crate::failure::Failure;

/// Boots that are looked at, at most.
pub(crate) const TIMED_BOOTS_MAX: u64 = 200;

/// What is written into the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Svg,
    Page,
    /// For Perfetto and other viewers of traces.
    Trace,
}

impl Kind {
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("html" | "htm") => Self::Page,
            Some("json") => Self::Trace,
            _ => Self::Svg,
        }
    }
}

/// A run takes its time, and is not to end with a picture that goes nowhere.
pub(crate) fn try_to_write(path: &Path) -> Result<(), Failure> {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.map(drop).map_err(|source| Failure::WriteFile { path: path.to_owned(), source })
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    edit::write(path, text.as_bytes(), edit::Readers::Usual)
        .map_err(|source| Failure::WriteFile { path: path.to_owned(), source })
}

/// One run.
pub(crate) fn of_run(
    path: &Path,
    cluster: &str,
    plan: &Plan,
    lines: &[Line],
    timeline: &Timeline,
) -> Result<(), Failure> {
    let text = match Kind::of(path) {
        Kind::Svg => Ok(draw::timeline::svg(timeline, cluster)),
        Kind::Page => draw::timeline::html(timeline, plan, lines, cluster),
        Kind::Trace => draw::timeline::trace(timeline, cluster),
    };
    write(path, &text.map_err(|error| Failure::Json(error.to_string()))?)
}

/// Whether many boots can be written into such a file: bands have no SVG.
pub(crate) fn holds_boots(path: &Path) -> bool {
    Kind::of(path) != Kind::Svg
}

/// Many boots.
pub(crate) fn of_boots(path: &Path, all: &[Boots]) -> Result<(), Failure> {
    let text = match Kind::of(path) {
        Kind::Trace => draw::timeline::boots_trace(all),
        Kind::Svg | Kind::Page => draw::timeline::boots_html(all),
    };
    write(path, &text.map_err(|error| Failure::Json(error.to_string()))?)
}

/// What the clock of the boots begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begins {
    WithFlux,
    /// Estimates count from the Kubernetes API, and say nothing of the time before it.
    WithMachines,
}

/// When everything that Flux looks after was ready, in each of these boots.
pub(crate) fn boots(
    cluster: &Cluster,
    analysis: &Analysis,
    blueprint: &Blueprint,
    (first, boots): (u64, u64),
    faults: &Faults,
    begins: Begins,
) -> Boots {
    let mut ready: BTreeMap<ObjectRef, Vec<u64>> = BTreeMap::new();
    let mut world = World::new(blueprint);
    for seed in first..first + boots {
        for flux in world.boot(seed, &faults_of(faults, seed)).flux {
            let own = ready.entry(blueprint.thing(flux.id).object()).or_default();
            own.extend(flux.first_ready.map(|millis| millis / 1000));
        }
    }
    let mut rows: Vec<BootRow> =
        ready.into_iter().map(|(object, ready)| row(object, ready, (cluster, analysis), begins)).collect();
    let middle = |row: &BootRow| row.ready.get(row.ready.len() / 2).copied().unwrap_or(u64::MAX);
    rows.sort_by_key(middle);
    Boots { cluster: cluster.name.clone(), boots, rows }
}

/// Those of one boot: a drawn one beside those that are asked for.
fn faults_of(faults: &Faults, seed: u64) -> Vec<Fault> {
    let drawn = faults.is_drawn.then(|| Fault::drawn_beside(seed, &faults.these));
    faults.these.iter().copied().chain(drawn).collect()
}

fn row(object: ObjectRef, mut ready: Vec<u64>, (cluster, analysis): (&Cluster, &Analysis), begins: Begins) -> BootRow {
    ready.sort_unstable();
    let Some(id) = cluster.find(&object) else {
        return BootRow { object, ready, expected: None, is_critical: false, after: Vec::new() };
    };
    let schedule = &analysis.schedule;
    let flux = schedule.flux_starts().unwrap_or(0);
    let since_flux = |seconds: u64| seconds.saturating_sub(flux);
    let estimate = schedule.start(id).zip(schedule.done(id));
    BootRow {
        expected: estimate.filter(|_| begins == Begins::WithFlux).map(|(from, to)| (since_flux(from), since_flux(to))),
        is_critical: schedule.critical_path.contains(&id),
        after: after(id, cluster),
        object,
        ready,
    }
}

/// What a component is tied to, and what applies it.
fn after(id: ComponentId, cluster: &Cluster) -> Vec<ObjectRef> {
    let ties = cluster.ties.iter().filter(|tie| tie.from == id).map(|tie| match &tie.to {
        TieTarget::Component(to) => cluster.component(*to).object.clone(),
        TieTarget::Unknown(object) => object.clone(),
    });
    let parent = cluster.component(id).parent.map(|parent| cluster.component(parent).object.clone());
    parent.into_iter().chain(ties).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Kind;

    #[test]
    fn the_ending_of_a_file_says_what_it_holds() {
        let kind = |path: &str| Kind::of(Path::new(path));
        assert_eq!(
            (kind("a.html"), kind("a.json"), kind("a.svg"), kind("a")),
            (Kind::Page, Kind::Trace, Kind::Svg, Kind::Svg)
        );
    }
}
