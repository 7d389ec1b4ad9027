//! The baseline's file.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use ::check::{Baseline, Report, Severity};
use read::Reading;

use crate::arguments::Check;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// A baseline of a hundred thousand findings is smaller than this.
const BASELINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where it is: as the command line says, from the current directory; or as the settings say, from the repository.
pub(crate) fn path(options: &Check, reading: &Reading) -> Option<PathBuf> {
    let said = reading.settings.check.baseline.as_ref().map(|path| options.path.join(path));
    options.baseline.clone().or(said)
}

pub(crate) fn apply(
    path: &Path,
    report: &mut Report,
    reading: &Reading,
    min_severity: Severity,
) -> Result<(), Failure> {
    let failure = |why: String| Failure::Baseline { path: path.to_path_buf(), why };
    let text = text(path).map_err(|error| failure(format!("cannot be read: {error}")))?;
    let baseline = Baseline::parse(&text).map_err(|error| failure(error.to_string()))?;
    baseline.apply(report, &reading.repository, min_severity);
    Ok(())
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(BASELINE_BYTES_MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Writes all findings of the report that matter this much or more.
pub(crate) fn write(
    path: Option<&Path>,
    report: &Report,
    reading: &Reading,
    min_severity: Severity,
) -> Result<Code, Failure> {
    let path = path.ok_or(Failure::NoBaseline)?;
    let baseline = Baseline::of(report, &reading.repository, min_severity);
    let text = baseline.to_text().map_err(|error| Failure::Json(error.to_string()))?;
    fs::write(path, text).map_err(|source| Failure::WriteFile { path: path.to_path_buf(), source })?;
    let (number, severity) = (baseline.len(), min_severity.word());
    let findings = if number == 1 { "1 finding" } else { &format!("{number} findings") };
    let path = path.display();
    output::print(&format!("wrote {findings} of severity {severity} and above to {path}\n"))?;
    Ok(exit::CLEAN)
}
