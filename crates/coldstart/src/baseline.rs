//! The baseline's file.

#![expect(
    clippy::disallowed_methods,
    reason = "a baseline lies where its user wants it: it is no file of the repository"
)]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use diagnostic::{Baseline, BaselineError, Report, Severity};
use draw::words::count;
use edit::Readers;
use read::Reading;
use repository::file::{self, Links};

use crate::arguments::Check;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// A baseline of a hundred thousand findings is smaller than this.
const BASELINE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Where it is: as the command line says, from the current directory; or as the settings say, from the repository and inside of
/// it. The settings may be a stranger's.
pub(crate) fn path(options: &Check, reading: &Reading) -> Result<Option<PathBuf>, Failure> {
    if let Some(path) = &options.baseline {
        return Ok(Some(path.clone()));
    }
    let Some(said) = &reading.settings.check.baseline else { return Ok(None) };
    let path = options.path.join(said);
    match edit::below(reading.repository.root(), &path) {
        Ok(Some(_)) => Ok(Some(path)),
        // What is behind a link that leads nowhere is not there, and told when it is read.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Some(path)),
        Ok(None) | Err(_) => Err(Failure::BaselineOutside { path }),
    }
}

pub(crate) fn read(path: &Path) -> Result<Baseline, Failure> {
    let path_buf = || path.to_path_buf();
    let text = text(path).map_err(|error| {
        let why = format!("cannot be read: {error}");
        match error.kind() {
            ErrorKind::NotFound => Failure::Baseline { path: path_buf(), why },
            _ => Failure::NoBaselineFile { path: path_buf(), why },
        }
    })?;
    Baseline::parse(&text).map_err(|error| match error {
        BaselineError::Version(_) => Failure::Baseline { path: path_buf(), why: error.to_string() },
        BaselineError::Unreadable(_) => Failure::NoBaselineFile { path: path_buf(), why: error.to_string() },
    })
}

fn text(path: &Path) -> std::io::Result<String> {
    file::read_text(path, Links::Followed, BASELINE_BYTES_MAX)
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
    spare_others(path)?;
    edit::write(path, text.as_bytes(), Readers::Usual)
        .map_err(|source| Failure::WriteFile { path: path.to_path_buf(), source })?;
    let (number, severity) = (baseline.len(), min_severity.word());
    let findings = count(number, "finding");
    let path = source::shown(path);
    output::print(&format!("wrote {findings} of severity {severity} and above to {path}\n"))?;
    Ok(exit::CLEAN)
}

/// Whatever is there and is no baseline, a manifest that was named by mistake, is not written over. An empty file loses nothing.
fn spare_others(path: &Path) -> Result<(), Failure> {
    if !fs::metadata(path).is_ok_and(|there| there.is_file() && there.len() > 0) {
        return Ok(());
    }
    match read(path) {
        // One of another version is a baseline all the same.
        Ok(_) | Err(Failure::Baseline { .. }) => Ok(()),
        Err(failure) => Err(failure),
    }
}
