//! What a step waits for.

use run::Hindrance;

use super::obstacle::{BEHIND, trace_parts};

/// What keeps a step from being done or proved, in one line.
pub fn hindrance(it: &Hindrance) -> String {
    hindrance_parts(it).join(BEHIND)
}

/// The same down to the fact, each by itself; at least one.
pub(super) fn hindrance_parts(it: &Hindrance) -> Vec<String> {
    let said = match it {
        Hindrance::Obstacles(trace) => return trace_parts(trace),
        Hindrance::TerraformApplies => "terraform applies".to_owned(),
        Hindrance::ApiRefuses => "connection refused: the Kubernetes API does not answer".to_owned(),
        Hindrance::NotRendered => "the bootstrap renders nothing of that name".to_owned(),
        Hindrance::NoMachine { machine } => format!("there is no machine {machine}"),
        Hindrance::NoRelease { release } => format!("the bootstrap has no release {release}"),
        Hindrance::NotMade => "it does not exist yet".to_owned(),
    };
    vec![said]
}
