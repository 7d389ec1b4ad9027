//! A repository in memory: checked, fixed, and as it is after that.

#![allow(clippy::expect_used, dead_code, reason = "shared by several tests, and what can not be set up fails")]

use std::collections::BTreeSet;
use std::path::Path;

use check::{Policy, Wanted};
use coldstart_fix::{self as fix, Checked, Wish};
use diagnostic::{Changed, Finding, Repairs, Severity};
use repository::Unsaved;

/// Reads and checks, with texts that are not saved.
pub(crate) fn checked(root: &Path, unsaved: &Unsaved) -> Option<Checked> {
    let (reading, analyses) = read::read_unsaved(root, unsaved.clone(), None, None, graph::analyse).ok()?;
    let policy = Policy::of(&reading.settings).ok()?;
    let mut report = check::run_analysed(&reading, &analyses, Wanted { cluster: None, each: true });
    check::settle(&mut report, &reading, &policy);
    let findings = report.each().findings;
    Some(Checked { reading, findings })
}

pub(crate) fn repairs(root: &Path, unsaved: &Unsaved, before: &Checked) -> Repairs {
    let closes = |finding: &Finding, _: &read::Reading| finding.severity >= Severity::Info;
    let wish = Wish { closes: &closes, with_unsafe: true };
    let again = |more: &Unsaved| {
        let mut all = unsaved.clone();
        more.paths().for_each(|path| all.set(path, more.get(path).unwrap_or_default()));
        more.removed().for_each(|path| all.remove(path));
        checked(root, &all).ok_or(())
    };
    fix::repairs(&before.reading, &before.findings, &wish, again).expect("what is checked again can be read")
}

pub(crate) fn keys(checked: &Checked, least: Severity) -> BTreeSet<(String, String, String, String)> {
    let text = |finding: &Finding| {
        let provider = finding.provider.as_ref().map(ToString::to_string).unwrap_or_default();
        (finding.rule.id.to_owned(), finding.cluster.clone(), finding.component.to_string(), provider)
    };
    checked.findings.iter().filter(|finding| finding.severity >= least).map(text).collect()
}

pub(crate) fn saved(repairs: &Repairs) -> Unsaved {
    let mut unsaved = Unsaved::default();
    for Changed { path, after, .. } in repairs.made.iter().flat_map(|repair| &repair.files) {
        match after {
            Some(after) => unsaved.set(path.clone(), after.clone()),
            None => unsaved.remove(path.clone()),
        }
    }
    unsaved
}
