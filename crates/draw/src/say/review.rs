//! What stands around suggestions on a pull request.

use std::fmt::Write as _;

use diagnostic::Repair;

use super::repair::{repair, risks, told};
use crate::clean;
use crate::markdown::inline;
use crate::review::Unsuggested;
use crate::words::count;

/// Findings of one edit that are named.
const CLOSED_MAX: usize = 4;

/// What stands above a suggestion: what it does, why, and what it does to a running cluster.
pub(crate) fn above(repairs: &[&Repair], is_part: bool) -> String {
    let mut out: Vec<String> = Vec::new();
    for made in repairs {
        out.push(format!("{}\n", line(&repair(made))));
        let closes = made.closes.iter().take(CLOSED_MAX);
        out.extend(closes.map(|one| format!("- {} `{}`: {}", one.severity.word(), one.rule, line(&told(one)))));
        let more = made.closes.len().saturating_sub(CLOSED_MAX);
        if more > 0 {
            out.push(format!("- and {}", count(more, "more finding")));
        }
        let label = if made.is_unsafe() { "Risk" } else { "Effect" };
        out.extend(risks(made).iter().map(|risk| format!("- {label}: {}", line(risk))));
        out.push(String::new());
    }
    if is_part {
        out.push("There are more edits for this on other lines: `coldstart fix` shows all.\n".to_owned());
    }
    out.join("\n")
}

fn line(text: &str) -> String {
    inline(&clean(text))
}

/// What the whole review says.
pub(crate) fn body(suggested: usize, others: &Unsuggested) -> String {
    let number = if suggested == 0 { "nothing".to_owned() } else { count(suggested, "edit") };
    let mut out = format!("coldstart suggests {number} on lines of this change.");
    let reasons = [
        (others.elsewhere, "on lines that this change does not have"),
        (others.in_part, "with a part on lines that this change does not have"),
        (others.unshown, "in new files, or in lines that a suggestion can't hold"),
        (others.posted, "suggested here before"),
    ];
    let more = reasons.iter().filter(|(number, _)| *number > 0);
    let more: Vec<String> = more.map(|(number, why)| format!("{number} {why}")).collect();
    if !more.is_empty() {
        let _ = write!(out, " Not suggested here: {}; `coldstart fix` shows all.", more.join(", "));
    }
    out
}
