//! The edits that close findings, each proved by the same check of the repository with all of them.

use ::check::{Policy, Wanted};
use diagnostic::{Finding, Repairs, Report};
use fix::{Checked, Wish};
use read::Reading;
use repository::Unsaved;

use crate::failure::Failure;
use crate::open::unread;

/// How a repository is checked again.
pub(crate) struct Proof<'a> {
    pub(crate) command: &'static str,
    pub(crate) reading: &'a Reading,
    pub(crate) entry: Option<&'a str>,
    pub(crate) policy: &'a Policy,
}

impl Proof<'_> {
    /// The edits that close what is wished of these findings.
    pub(crate) fn repairs(&self, findings: &[Finding], wish: &Wish<'_>) -> Result<Repairs, Failure> {
        fix::repairs(self.reading, findings, wish, |unsaved| self.again(unsaved))
    }

    /// Checks again, as if these texts were saved.
    fn again(&self, unsaved: &Unsaved) -> Result<Checked, Failure> {
        let root = self.reading.repository.root();
        let read = read::read_unsaved(root, unsaved.clone(), self.entry, None, ::graph::analyse);
        let (reading, analyses) = read.map_err(|error| unread(self.command, error))?;
        let findings = settled(&reading, &analyses, self.policy).findings;
        // As in `open_then`: giving it back takes longer than the process lives.
        std::mem::forget(analyses);
        Ok(Checked { reading, findings })
    }
}

/// Everything that is found, each by itself.
pub(crate) fn settled(reading: &Reading, analyses: &[::graph::Analysis], policy: &Policy) -> Report {
    let mut report = ::check::run_analysed(reading, analyses, Wanted { cluster: None, each: true });
    ::check::settle(&mut report, reading, policy);
    report.each()
}
