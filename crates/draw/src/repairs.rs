//! What `fix` would change: for people as a diff with its reasons, for programs as JSON.

use std::fmt::Write as _;

use diagnostic::{Action, Changed, Left, Repair, Repairs, Told};
use serde::Serialize;
use source::Sources;

use crate::clean::clean_json;
use crate::edits::FileTwin;
use crate::json::{TOOL, VERSION};
use crate::paint::Paint;
use crate::words::{count, wrap};
use crate::{clean, diff, say};

/// Columns where the terminal has no width.
const COLUMNS: usize = 100;
/// Findings of one repair that are named.
const CLOSED_MAX: usize = 4;
/// Files that are named in one line.
const FILES_MAX: usize = 4;

/// How the text is wanted.
#[derive(Clone, Copy, Debug)]
pub struct RepairsText {
    pub color: bool,
    pub width: Option<usize>,
    /// The edits were made.
    pub is_written: bool,
    /// Each finding that stays, with the reason.
    pub with_left: bool,
}

/// A diff, with the reason, the risk and the way back above what each repair changes.
pub fn text(repairs: &Repairs, sources: &dyn Sources, options: RepairsText) -> String {
    let mut out = String::new();
    for (at, repair) in repairs.made.iter().enumerate() {
        out.push_str(&shown(repair, (at + 1, repairs.made.len()), options));
    }
    out.push_str(&summary(repairs, sources, options));
    out
}

/// One repair: what stands above its diff, and the diff.
pub fn shown(repair: &Repair, number: (usize, usize), options: RepairsText) -> String {
    let paint = Paint { color: options.color };
    let (mut edited, mut moved) = (String::new(), String::new());
    for changed in &repair.files {
        match moved_from(changed, &repair.files) {
            _ if moved_to(changed, &repair.files).is_some() => {}
            Some(from) => moved.push_str(&diff::renamed(from, changed, paint)),
            None => edited.push_str(&diff::unified(changed, paint)),
        }
    }
    // Git takes a diff that follows the head of a renamed file for a part of it; an empty line ends that.
    format!("{}{edited}{moved}\n", above(repair, number, options))
}

/// The file that goes where this one comes with the same text.
fn moved_from<'f>(new: &Changed, files: &'f [Changed]) -> Option<&'f Changed> {
    let from = new.from.as_ref().filter(|_| new.before.is_none())?;
    files.iter().find(|old| old.path == *from && old.after.is_none() && old.before == new.after)
}

/// The file that comes with the same text where this one goes.
fn moved_to<'f>(old: &Changed, files: &'f [Changed]) -> Option<&'f Changed> {
    files.iter().find(|new| moved_from(new, files) == Some(old))
}

/// What stands above the diff of one repair.
fn above(repair: &Repair, (at, of): (usize, usize), options: RepairsText) -> String {
    let paint = Paint { color: options.color };
    let mut out = format!("{}\n", paint.bold(&clean(&format!("fix {at} of {of}: {}", say::repair(repair)))));
    for told in repair.closes.iter().take(CLOSED_MAX) {
        let severity = paint.severity(told.severity, told.severity.word());
        labelled(&mut out, "reason", &format!("{severity} {}: {}", told.rule, clean(&say::repair_told(told))), options);
    }
    let more = repair.closes.len().saturating_sub(CLOSED_MAX);
    if more > 0 {
        labelled(&mut out, "", &format!("and {}", count(more, "more finding")), options);
    }
    for risk in say::risks(repair) {
        let label = if repair.is_unsafe() { "risk" } else { "effect" };
        labelled(&mut out, label, &clean(&risk), options);
    }
    labelled(&mut out, "rollback", &clean(&rollback(&repair.files)), options);
    out
}

pub(crate) fn rollback(files: &[Changed]) -> String {
    let (new, old): (Vec<&Changed>, Vec<&Changed>) = files.iter().partition(|changed| changed.before.is_none());
    let name = |changed: &&Changed| crate::shell::word(&changed.path);
    let old: Vec<String> = old.iter().map(name).collect();
    let restore = match old.len() {
        0 => String::new(),
        _ if old.len() > FILES_MAX => format!("git restore the {} files below", old.len()),
        _ => format!("git restore {}", old.join(" ")),
    };
    let new: Vec<String> = new.iter().map(name).collect();
    let remove = if new.is_empty() { String::new() } else { format!("rm {}", new.join(" ")) };
    [restore, remove].into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(" && ")
}

fn labelled(out: &mut String, label: &str, text: &str, options: RepairsText) {
    let columns = options.width.unwrap_or(COLUMNS).max(40) - 12;
    for (at, line) in wrap(text, columns).into_iter().enumerate() {
        let label = if at == 0 && !label.is_empty() { format!("{label}:") } else { String::new() };
        let _ = writeln!(out, "  {label:<9} {line}");
    }
}

fn summary(repairs: &Repairs, sources: &dyn Sources, options: RepairsText) -> String {
    let mut out = String::new();
    if options.with_left {
        for left in &repairs.left {
            let severity = Paint { color: options.color }.severity(left.finding.severity, left.finding.severity.word());
            let told = clean(&say::repair_told(&left.finding)).into_owned();
            let _ = writeln!(out, "not fixed: {severity} {}: {told}", left.finding.rule);
            labelled(&mut out, "because", &clean(&say::why_left(left, sources)), options);
        }
    }
    let closed: usize = repairs.made.iter().map(|repair| repair.closes.len()).sum();
    let held = repairs.left.iter().filter(|left| left.is_held()).count();
    out.push_str(&say::repairs_summary(closed, repairs.left.len(), held, repairs.made.len(), options.is_written));
    out
}

/// The same for programs, as one JSON object with a line end.
pub fn json(repairs: &Repairs, sources: &dyn Sources) -> Result<String, serde_json::Error> {
    let document = DocumentTwin {
        version: VERSION,
        tool: TOOL,
        repairs: repairs.made.iter().map(|repair| RepairTwin::new(repair, sources)).collect(),
        left: repairs.left.iter().map(|left| LeftTwin::new(left, sources)).collect(),
    };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct DocumentTwin {
    version: u32,
    tool: &'static str,
    repairs: Vec<RepairTwin>,
    left: Vec<LeftTwin>,
}

#[derive(Serialize)]
struct RepairTwin {
    title: String,
    #[serde(rename = "unsafe")]
    is_unsafe: bool,
    actions: Vec<ActionTwin>,
    risks: Vec<String>,
    closes: Vec<ToldTwin>,
    files: Vec<FileTwin>,
}

impl RepairTwin {
    fn new(repair: &Repair, sources: &dyn Sources) -> Self {
        Self {
            title: say::repair(repair),
            is_unsafe: repair.is_unsafe(),
            actions: repair.actions.iter().map(ActionTwin::new).collect(),
            risks: say::risks(repair),
            closes: repair.closes.iter().map(|told| ToldTwin::new(told, sources)).collect(),
            files: repair.files.iter().map(FileTwin::step).collect(),
        }
    }
}

#[derive(Serialize)]
struct ActionTwin {
    action: &'static str,
    component: Option<String>,
    target: Option<String>,
    text: String,
}

impl ActionTwin {
    fn new(action: &Action) -> Self {
        Self {
            action: action.word(),
            component: action.component().map(ToString::to_string),
            target: action.target(),
            text: say::repair_action(action),
        }
    }
}

#[derive(Serialize)]
struct ToldTwin {
    rule: &'static str,
    severity: &'static str,
    cluster: String,
    component: String,
    provider: Option<String>,
    message: String,
    path: String,
    line: Option<u32>,
}

impl ToldTwin {
    fn new(told: &Told, sources: &dyn Sources) -> Self {
        Self {
            rule: told.rule,
            severity: told.severity.word(),
            cluster: told.cluster.clone(),
            component: told.component.to_string(),
            provider: told.fingerprint.provider.clone(),
            message: say::repair_told(told),
            path: told.fingerprint.path.clone(),
            line: sources.locate(told.at).map(|(_, at)| at.line),
        }
    }
}

#[derive(Serialize)]
struct LeftTwin {
    #[serde(flatten)]
    finding: ToldTwin,
    why: &'static str,
    reason: String,
}

impl LeftTwin {
    fn new(left: &Left, sources: &dyn Sources) -> Self {
        Self {
            finding: ToldTwin::new(&left.finding, sources),
            why: left.why.word(),
            reason: say::why_left(left, sources),
        }
    }
}
