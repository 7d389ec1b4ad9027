//! What many simulated boots came to.

use model::{ObjectRef, Obstacle};

use super::obstacle::{obstacle, turning};

/// What is assumed of Flux where no file tells its version.
pub const LENIENT_FLUX: &str =
    "Flux before 2.9, which leaves a variable that nothing sets empty (no file tells the version)";

/// What is told where no component is to be blamed.
pub const BOOTSTRAP: &str = "the bootstrap";

/// Why Flux was never started.
pub fn bootstrap_failed(why: Option<&Obstacle>) -> String {
    format!("{}: the bootstrap stops, and Flux is never started", why.map(obstacle).unwrap_or_default())
}

/// What a cluster lacked when Flux was started.
pub fn lacked(what: Option<&Obstacle>) -> String {
    what.map(obstacle).unwrap_or_default()
}

/// Why a boot failed, or what is behind that; `turns` where that waits, in the end, for what it blocks.
pub fn died_of(why: Option<&Obstacle>, turns: bool) -> String {
    format!("{}{}", why.map(obstacle).unwrap_or_default(), turning(turns))
}

/// What is missing though all is ready: an object that a chart was rendered without, or variables of a build.
pub fn lost(left_out: Option<&ObjectRef>) -> String {
    match left_out {
        None => "built without variables that were created later".to_owned(),
        Some(object) => format!("its chart was rendered without {object}, whose CRD was not installed yet"),
    }
}
