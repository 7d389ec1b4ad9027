//! `coldstart status --wait-for`: until a layer and all below it are healthy.

#![expect(clippy::disallowed_methods, reason = "one waits in real time")]

use std::time::{Duration, Instant};

use health::status::{LayerName, State, Status};
use observe::Cluster;

use super::arguments::Status as Options;
use super::{accepted, code, judged, told};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;

/// Time alone makes something healthy or not, too.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

pub(crate) fn run(options: &Options, cluster: &mut Cluster, layer: LayerName) -> Result<Code, Failure> {
    let progress = Progress::start("waiting for the cluster");
    let started = Instant::now();
    cluster.look();
    accepted(cluster)?;
    loop {
        let now = cluster.now();
        let status = judged(&cluster.facts(), now);
        let left = options.timeout.checked_sub(started.elapsed());
        let is_up = is_healthy(&status, layer);
        if let Some(left) = left.filter(|_| !is_up) {
            cluster.follow(left.min(LOOK_AGAIN));
            continue;
        }
        drop(progress);
        output::print(&told(options, &status)?)?;
        // Layers above it may not be healthy: they were not asked for.
        return Ok(if is_up { exit::CLEAN } else { not_in_time(&status) });
    }
}

/// The outcome, which is never healthy where the time is over.
fn not_in_time(status: &Status) -> Code {
    let told = code(status.outcome);
    if told == exit::CLEAN { exit::UNKNOWN } else { told }
}

/// Whether the layer and all below it are healthy, or no part of this cluster.
fn is_healthy(status: &Status, wanted: LayerName) -> bool {
    let below = status.layers.iter().filter(|layer| layer.name <= wanted);
    let fine = |state: State| matches!(state, State::Healthy | State::Absent);
    below.clone().any(|layer| layer.name == wanted) && below.clone().all(|layer| fine(layer.state) || is_unasked(layer))
}

/// It takes more than Kubernetes' own facts, and was not asked for.
fn is_unasked(layer: &health::status::Layer) -> bool {
    layer.state == State::Unknown && layer.reason == health::status::Reason::NotAsked
}
