//! `coldstart check`.

use std::collections::BTreeSet;
use std::path::{Component, Path};

use ::check::{Policy, Wanted, rules};
use diagnostic::{Finding, Repairs, Report, Severity};
use draw::Edits;
use draw::text::{Detail, TextOptions};
use model::nearest;
use read::Reading;

use crate::arguments::{Check, CheckFormat};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::fix::proof::{self, Proof};
use crate::open::{find_helm, is_silent, nothing, open_then, part};
use crate::progress::Progress;
use crate::{baseline, cluster, output, since};

const COMMAND: &str = "check";
/// Columns of the terminal in a picture.
const PICTURE_COLUMNS: usize = 86;
/// Findings of each severity in a picture.
const PICTURE_FINDINGS: usize = 1;

pub(crate) fn run(options: &Check) -> Result<Code, Failure> {
    if let Some(rule) = &options.explain {
        return explain(rule, options);
    }
    if options.list_rules {
        output::print(&draw::explain::list(rules::all(), output::wants_color(options.color)))?;
        return Ok(exit::CLEAN);
    }
    let progress = Progress::start("reading");
    let helm = find_helm(COMMAND, &options.charts)?;
    let (reading, analyses) =
        open_then(COMMAND, &options.path, options.start.entry.as_deref(), helm.as_ref(), ::graph::analyse)?;
    let wanted = match &options.cluster {
        Some(name) if !is_silent(&reading) => {
            Some(cluster::find(&reading.clusters, name, COMMAND, &options.path)?.name.as_str())
        }
        _ => None,
    };
    // Run below the root, the repository is meant; where a directory is named, that is.
    let is_named = options.path != Path::new(".");
    let part = part(&options.path, &reading);
    let whole = Check { path: reading.repository.root().to_path_buf(), ..options.clone() };
    let options = if part.is_some() { &whole } else { options };
    let policy = Policy::of(&reading.settings).map_err(|source| Failure::Settings { command: COMMAND, source })?;
    let each = options.each || options.format.is_beside_lines();
    let mut report = ::check::run_analysed(&reading, &analyses, Wanted { cluster: wanted, each });
    ::check::settle(&mut report, &reading, &policy);
    ::check::look_ahead(&mut report, &reading, &analyses);
    let wish = Wish { options, min_severity: min_severity(options, &policy), prefix: prefix(&options.path) };
    let baseline = baseline::path(options, &reading)?;
    if options.write_baseline && !is_silent(&reading) {
        return baseline::write(baseline.as_deref(), &report, &reading, wish.min_severity);
    }
    let baseline = baseline.map(|path| baseline::read(&path)).transpose()?;
    if let Some(baseline) = &baseline {
        baseline.apply(&mut report, &reading.repository, wish.min_severity);
    }
    if let Some(revision) = &options.since {
        let mut before = since::at(revision, options, helm.as_ref())?;
        if let Some(baseline) = &baseline {
            // What it holds is out of both: it neither came nor went.
            baseline.apply(&mut before.report, &before.reading.repository, wish.min_severity);
        }
        let before = (&before.report, &before.reading.repository);
        diagnostic::only_new(&mut report, &reading.repository, before, revision, wish.min_severity);
    }
    let mut report = if each { report.each() } else { report.folded() };
    ::check::weigh(&mut report, &reading, &analyses);
    drop(progress);
    if let Some(part) = part.filter(|_| is_named) {
        output::remark(&draw::say::only_below(&part));
        report.findings.retain(|finding| is_below(finding, &reading, &part));
    }
    if is_silent(&reading) {
        // Programs get their document in any case.
        if options.format.has_edits() {
            output::print(&render(&report, &reading, &wish, &Edits::default())?)?;
        }
        return Err(nothing(COMMAND, &options.path, &reading));
    }
    let repairs = repairs(&report, (&reading, &analyses), &policy, &wish)?;
    let rendered = render(&report, &reading, &wish, &Edits::new(&repairs))?;
    match options.format {
        CheckFormat::Github => output::print_exactly(&rendered)?,
        _ => output::print(&rendered)?,
    }
    let counts = |finding: &Finding| options.fail_on.severity().is_some_and(|least| finding.severity >= least);
    Ok(if report.findings.iter().any(counts) { exit::ERRORS_FOUND } else { exit::CLEAN })
}

/// The edits that close what is reported, where the format has a place for them. Proving them is a second check. With rendered charts
/// it would be many runs of helm, and there are none.
fn repairs(
    report: &Report,
    (reading, analyses): (&Reading, &[::graph::Analysis]),
    policy: &Policy,
    wish: &Wish<'_>,
) -> Result<Repairs, Failure> {
    let options = wish.options;
    let is_told = |finding: &&Finding| finding.severity >= wish.min_severity && finding.fix.is_some();
    let told: BTreeSet<(&str, &str, String)> = report.findings.iter().filter(is_told).flat_map(everyone).collect();
    if !options.format.has_edits() || options.charts.render_charts || told.is_empty() {
        return Ok(Repairs::default());
    }
    let closes = |finding: &Finding, _: &Reading| {
        let key = (finding.rule.id, finding.cluster.as_str(), finding.component.to_string());
        finding.severity >= wish.min_severity && told.contains(&key)
    };
    let _progress = Progress::start("checking the edits");
    let entry = options.start.entry.as_deref();
    let all = proof::settled(reading, analyses, policy);
    let wish = fix::Wish { closes: &closes, with_unsafe: options.with_unsafe, may_add: &|_, _| true };
    Proof { command: COMMAND, reading, entry, policy }.repairs(&all.findings, &wish)
}

/// Who a finding is about: those that it speaks for as well.
fn everyone(finding: &Finding) -> impl Iterator<Item = (&'static str, &str, String)> {
    let all = std::iter::once(&finding.component).chain(finding.also.iter().map(|also| &also.component));
    all.map(|component| (finding.rule.id, finding.cluster.as_str(), component.to_string()))
}

/// Whether the line to edit is in that directory.
fn is_below(finding: &Finding, reading: &Reading, part: &str) -> bool {
    let place = reading.repository.locate(finding.primary.at.span());
    place.is_some_and(|(path, _)| repository::path::is_below(path, part))
}

/// How the report is wanted, from the command line and the settings together.
struct Wish<'a> {
    options: &'a Check,
    min_severity: Severity,
    /// What stands before paths for programs that look from the current directory.
    prefix: String,
}

fn render(report: &Report, reading: &Reading, wish: &Wish<'_>, edits: &Edits<'_>) -> Result<String, Failure> {
    let Wish { options, min_severity, prefix } = wish;
    let (repository, min_severity) = (&reading.repository, *min_severity);
    let text = |color, width, sample: Option<usize>| {
        let detail = match options.amount.detail() {
            Detail::Screens if sample.is_some() => Detail::Everything,
            detail => detail,
        };
        let options = TextOptions { color, width, min_severity, blind_spots: options.blind_spots, detail, sample };
        draw::text::report(report, repository, &options)
    };
    let json = match options.format {
        CheckFormat::Text => return Ok(text(output::wants_color(options.color), output::columns(), None)),
        CheckFormat::Svg => {
            let command = format!("coldstart check {}", draw::clean(&options.path.to_string_lossy()));
            return Ok(draw::svg::picture(&command, &text(true, Some(PICTURE_COLUMNS), Some(PICTURE_FINDINGS))));
        }
        CheckFormat::Github => return Ok(draw::github::report(report, repository, min_severity, prefix)),
        CheckFormat::Markdown => return Ok(draw::markdown::report(report, repository, min_severity, prefix)),
        CheckFormat::Json => draw::json::report(report, &reading.clusters, repository, min_severity, edits),
        CheckFormat::Sarif => draw::sarif::report(report, repository, min_severity, prefix, edits),
    };
    json.map_err(|error| Failure::Json(error.to_string()))
}

fn min_severity(options: &Check, policy: &Policy) -> Severity {
    if options.pedantic {
        return Severity::Pedantic;
    }
    let said = options.min_severity.map(Severity::from).or(policy.min_severity);
    said.unwrap_or(Severity::Warning)
}

/// The repository seen from the current directory: `cluster/` for `./cluster`, nothing for `.` or for what lies elsewhere.
#[expect(clippy::disallowed_methods, reason = "the door of the program: paths are shown from where its user stands")]
pub(crate) fn prefix(path: &Path) -> String {
    let below = if path.is_absolute() {
        let current = std::env::current_dir().unwrap_or_default();
        path.strip_prefix(current).map(Path::to_path_buf).unwrap_or_default()
    } else {
        path.to_path_buf()
    };
    let mut prefix = String::new();
    for part in below.components() {
        match part {
            Component::Normal(name) => {
                prefix.push_str(&name.to_string_lossy());
                prefix.push('/');
            }
            Component::CurDir => {}
            _ => return String::new(),
        }
    }
    prefix
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
