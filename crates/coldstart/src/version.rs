//! Which coldstart this is.

use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// The version, with the commit where the build knew it: a build of an archive does not.
pub(crate) const TEXT: &str = env!("COLDSTART_VERSION");

/// `coldstart version`.
pub(crate) fn run() -> Result<Code, Failure> {
    output::print(&format!("coldstart {TEXT}\n"))?;
    Ok(exit::CLEAN)
}
