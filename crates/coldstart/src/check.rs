//! `coldstart check`.

use std::path::Path;

use ::check::{Report, Severity, rules};
use draw::text::TextOptions;
use read::{ReadError, Reading};

use crate::arguments::{Check, CheckFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::nearest::nearest;
use crate::progress::Progress;
use crate::{cluster, output};

const COMMAND: &str = "check";
/// Columns of the terminal in a picture.
const PICTURE_COLUMNS: usize = 112;
/// Findings of each severity in a picture.
const PICTURE_FINDINGS: usize = 2;

pub(crate) fn run(options: &Check) -> Result<Code, Failure> {
    if let Some(rule) = &options.explain {
        return explain(rule, options);
    }
    let progress = Progress::start("reading");
    let reading = open(COMMAND, &options.path)?;
    let wanted = match &options.cluster {
        Some(name) if !is_empty(&reading) => Some(cluster::find(&reading.clusters, name, COMMAND)?.name.as_str()),
        _ => None,
    };
    let report = ::check::run(&reading, wanted);
    let report = if options.each { report } else { report.folded() };
    drop(progress);
    if is_empty(&reading) {
        // Programs get their document in any case.
        if options.format == CheckFormat::Json {
            output::print(&json(&report, &reading, options)?)?;
        }
        return Err(nothing(COMMAND, &options.path, &reading));
    }
    output::print(&render(&report, &reading, options)?)?;
    let errors = report.findings.iter().any(|finding| finding.severity == Severity::Error);
    Ok(if errors { exit::ERRORS_FOUND } else { exit::CLEAN })
}

/// Reads the repository at `path`, which is the directory given: never one above it.
pub(crate) fn open(command: &'static str, path: &Path) -> Result<Reading, Failure> {
    read::read(path).map_err(|error| match error {
        ReadError::Open(source) => Failure::Open { command, source },
        ReadError::Settings(source) => Failure::Settings { command, source },
    })
}

/// Whether there is nothing of Flux in it.
pub(crate) fn is_empty(reading: &Reading) -> bool {
    reading.clusters.iter().all(|cluster| cluster.components.is_empty())
}

pub(crate) fn nothing(command: &'static str, path: &Path, reading: &Reading) -> Failure {
    let repository = &reading.repository;
    let (yaml_files, unread) = (repository.yaml_files().count(), repository.skipped.clone());
    Failure::Nothing { command, path: path.to_path_buf(), yaml_files, unread }
}

fn render(report: &Report, reading: &Reading, options: &Check) -> Result<String, Failure> {
    let text = |color, width, sample| {
        let (min_severity, blind_spots) = (min_severity(options), options.blind_spots);
        let options = TextOptions { color, width, min_severity, each: options.each, blind_spots, sample };
        draw::text::report(report, &reading.repository, &options)
    };
    Ok(match options.format {
        CheckFormat::Text => text(output::wants_color(options.color), output::columns(), None),
        CheckFormat::Json => json(report, reading, options)?,
        CheckFormat::Svg => {
            let command = format!("coldstart check {}", draw::clean(&options.path.to_string_lossy()));
            draw::svg::picture(&command, &text(true, Some(PICTURE_COLUMNS), Some(PICTURE_FINDINGS)))
        }
    })
}

fn json(report: &Report, reading: &Reading, options: &Check) -> Result<String, Failure> {
    draw::json::report(report, &reading.clusters, &reading.repository, min_severity(options))
        .map_err(|error| Failure::Json(error.to_string()))
}

fn min_severity(options: &Check) -> Severity {
    if options.pedantic { Severity::Pedantic } else { options.min_severity.into() }
}

fn explain(rule: &str, options: &Check) -> Result<Code, Failure> {
    let Some(found) = rules::find(rule) else {
        let rules: Vec<&'static str> = rules::all().iter().map(|rule| rule.id).collect();
        let nearest = nearest(rule, rules.iter().copied());
        return Err(Failure::UnknownRule { name: rule.to_owned(), nearest, rules });
    };
    let color = output::wants_color(options.color);
    output::print(&draw::explain::manual(&found.manual(), color, output::columns()))?;
    Ok(exit::CLEAN)
}
