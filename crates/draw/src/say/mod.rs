//! Sentences, one file per topic: everything below carries types, and here they are told in words.
//!
//! Knows how things are worded. Knows no terminal and no colour, nor how anything was found; what it is given is not cleaned yet.

mod advice;
pub(crate) mod boot;
pub mod boots;
pub(crate) mod change;
pub(crate) mod clause;
mod cost;
mod cure;
mod entry;
mod failing;
mod headline;
pub mod health;
pub mod impact;
mod keyring;
mod label;
mod layer;
mod next;
mod note;
mod obstacle;
mod planning;
pub mod purpose;
mod repair;
pub mod report;
pub(crate) mod review;
mod seal;
mod statement;
mod step;
mod unread;
pub mod unseen;
mod waiting;

pub(crate) use cost::cost;
pub use cure::{Cure, cure};
pub(crate) use entry::{line as entry_line, text as entry_text};
pub use failing::{failure, left_out};
pub(crate) use failing::{failure_parts, needed_and_left_out};
pub(crate) use headline::elsewhere;
pub use headline::{WATCHING, headline, only_below, part_of};
pub use keyring::waiting_for_keyring;
pub use next::next;
pub use obstacle::{obstacle, trace};
pub(crate) use planning::{commands, danger, held, need, note, proof};
pub(crate) use repair::and_risk as repair_and_risk;
pub use repair::{
    action as repair_action, commit_message, repair, repairs_summary, risks, stopped_commits, told as repair_told,
    undone, why_left,
};
pub use seal::seal;
pub use waiting::hindrance;

use diagnostic::{Finding, Label};
use model::{Capability, ObjectRef};
use source::Sources;

use crate::words::{agree, first_few};

/// The words of one finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// One line; names in backticks.
    pub message: String,
    pub cost: String,
    /// What stands beside each place, the primary one first; empty where there is nothing to say.
    pub labels: Vec<String>,
    /// What to do.
    pub fix: Option<String>,
    pub notes: Vec<String>,
}

/// Puts a finding into words. `sources` gives names to the files that it speaks of.
pub fn finding(finding: &Finding, sources: &dyn Sources) -> Said {
    let label = |label: &Option<Label>| label.as_ref().map(label::label).unwrap_or_default();
    let evidence = finding.evidence.iter().map(|evidence| label(&evidence.label));
    let mut notes: Vec<String> = finding.notes.iter().map(note::note).collect();
    notes.extend(note::alike(&finding.alike));
    Said {
        message: format!("{}{}", statement::statement(&finding.statement), statement::alike(finding.alike.len())),
        cost: finding.cost.iter().map(cost).chain(headline::blocks(finding.blocks)).collect::<Vec<_>>().join("; "),
        labels: std::iter::once(label(&finding.primary.label)).chain(evidence).collect(),
        fix: finding.fix.as_ref().map(|fix| advice::advice(fix, sources)),
        notes,
    }
}

/// `namespace/name` in backticks.
fn quoted(object: &ObjectRef) -> String {
    format!("`{}`", object.path())
}

/// Capabilities that a sentence names.
const CAPABILITIES_NAMED_MAX: usize = 2;

/// The capabilities, each once: `CRD x, secret store y and 2 more`.
fn capabilities(needed: &[Capability]) -> String {
    first_few(&each_once(needed), CAPABILITIES_NAMED_MAX)
}

/// The same as the subject of a clause: `CRD x is`, `CRD x and 2 more are`.
fn capabilities_are(needed: &[Capability]) -> String {
    let names = each_once(needed);
    format!("{} {}", first_few(&names, CAPABILITIES_NAMED_MAX), agree(names.len(), "is", "are"))
}

fn each_once(needed: &[Capability]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in needed.iter().map(ToString::to_string) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Paths of values that a sentence names.
const PATHS_NAMED_MAX: usize = 4;

/// `` `a.b`, `c` and 2 more ``.
fn paths(paths: &[String]) -> String {
    let names: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    first_few(&names, PATHS_NAMED_MAX)
}
