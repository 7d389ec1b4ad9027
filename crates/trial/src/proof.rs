//! A repository in memory: checked, fixed, and as it is after that.

use std::path::Path;

use check::{Policy, Wanted};
use diagnostic::{Changed, Finding, Repairs, Severity};
use fix::{Checked, Wish};
use repository::Unsaved;

/// Reads and checks, with texts that are not saved.
pub fn checked(root: &Path, unsaved: &Unsaved) -> Option<Checked> {
    let (reading, analyses) = read::read_unsaved(root, unsaved.clone(), None, None, graph::analyse).ok()?;
    let policy = Policy::of(&reading.settings).ok()?;
    let mut report = check::run_analysed(&reading, &analyses, Wanted { cluster: None, each: true });
    check::settle(&mut report, &reading, &policy);
    let findings = report.each().findings;
    Some(Checked { reading, findings })
}

/// What closes everything at info and above, of a repository that was checked with these texts.
pub fn repairs(root: &Path, unsaved: &Unsaved, before: &Checked) -> Option<Repairs> {
    let closes = |finding: &Finding, _: &read::Reading| finding.severity >= Severity::Info;
    let wish = Wish { closes: &closes, with_unsafe: true, may_add: &|_, _| true };
    let again = |more: &Unsaved| {
        let mut all = unsaved.clone();
        more.paths().for_each(|path| all.set(path, more.get(path).unwrap_or_default()));
        more.removed().for_each(|path| all.remove(path));
        checked(root, &all).ok_or(())
    };
    fix::repairs(&before.reading, &before.findings, &wish, again).ok()
}

/// The texts that repairs leave.
pub fn saved(repairs: &Repairs) -> Unsaved {
    let mut unsaved = Unsaved::default();
    for Changed { path, after, .. } in repairs.made.iter().flat_map(|repair| &repair.files) {
        match after {
            Some(after) => unsaved.set(path.clone(), after.clone()),
            None => unsaved.remove(path.clone()),
        }
    }
    unsaved
}
