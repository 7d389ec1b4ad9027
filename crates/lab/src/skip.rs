//! Tests that need the lab, where there is none.

use crate::{Lab, LabError, Options, failures};

/// Set to `required` (or `full`) where the lab must be there: then a missing program fails the test instead of skipping it.
const REQUIRED: &str = "COLDSTART_LAB";

/// A lab for the test `name`, or `None` with a loud word on stderr where its programs are not built.
///
/// # Panics
/// When the lab is there but does not start, and with `COLDSTART_LAB=required` also when it is not there.
pub fn or_skip(name: &str) -> Option<Lab> {
    or_skip_with(Options::named(name))
}

/// The same with options; their name is the test's.
pub fn or_skip_with(options: Options) -> Option<Lab> {
    let name = options.name.clone();
    match Lab::start(options) {
        Ok(lab) => Some(lab),
        Err(LabError::Missing(missing))
            if std::env::var_os(REQUIRED).is_none_or(|value| value != "required" && value != "full") =>
        {
            failures::say(&format!("SKIPPED {name}: needs the lab; get it with `cargo xtask lab build` ({missing})"));
            None
        }
        Err(error) => panic!("lab for {name}: {error}"),
    }
}
