//! `coldstart status`: what is seen of a live cluster, judged and told. How it is seen is in the crate `observe`, what it means in
//! `health`, how it reads in `draw`; here they are brought together.

pub(crate) mod arguments;
mod failure;
mod narrow;
mod place;
mod record;
mod screen;
mod wait;

use health::status::{Outcome, Status};
use health::{Facts, Time};
use observe::{Cluster, Contact, Limits};

use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;
use crate::progress::Progress;
use arguments::{Status as Options, StatusFormat};
pub(crate) use failure::StatusFailure;

const LOOKING: &str = "looking at the cluster";

pub(crate) fn run(options: &Options) -> Result<Code, Failure> {
    if options.rights {
        output::print_exactly(&observe::cluster_role(&observe::wanted()))?;
        return Ok(exit::CLEAN);
    }
    if let Some(path) = &options.from {
        let recording = record::read(path)?;
        return show(options, &recording.facts, recording.at);
    }
    let mut cluster =
        Cluster::open(&place::target(&options.target), options.target.namespace.clone(), Limits::default())
            .map_err(StatusFailure::Access)?;
    if let Some(layer) = options.wait_for {
        return wait::run(options, &mut cluster, layer.into());
    }
    if options.watch {
        return screen::run(options, &mut cluster);
    }
    let (facts, now) = seen(&mut cluster)?;
    drop(cluster);
    if let Some(path) = &options.record {
        record::write(path, now, &facts)?;
    }
    show(options, &facts, now)
}

/// Looks once.
fn seen(cluster: &mut Cluster) -> Result<(Facts, Time), Failure> {
    let progress = Progress::start(LOOKING);
    cluster.look();
    drop(progress);
    accepted(cluster)?;
    Ok((cluster.facts(), cluster.now()))
}

/// That what answers is an API server that speaks to us. One that does not answer is a fact of the cluster.
fn accepted(cluster: &Cluster) -> Result<(), StatusFailure> {
    let Contact { fault, discovery, .. } = cluster.session.contact();
    let is_ours = |fault: &observe::Fault| fault.is_access() || matches!(fault, observe::Fault::NotKubernetes { .. });
    match fault.or(discovery).filter(is_ours) {
        None => Ok(()),
        Some(fault) => Err(StatusFailure::Refused {
            fault: Box::new(fault),
            url: cluster.session.url.trim_end_matches('/').to_owned(),
            context: cluster.session.context.clone(),
        }),
    }
}

fn show(options: &Options, facts: &Facts, now: Time) -> Result<Code, Failure> {
    let status = judged(facts, now);
    output::print(&told(options, &status)?)?;
    Ok(code(status.outcome))
}

fn judged(facts: &Facts, now: Time) -> Status {
    health::assess(facts, None, now)
}

/// The status as it was asked for.
fn told(options: &Options, status: &Status) -> Result<String, Failure> {
    let color = options.format == StatusFormat::Text && output::wants_color(options.color);
    let mut part = status.clone();
    if let Some(layer) = options.layer {
        narrow::to_layer(&mut part, layer.into());
    }
    if let Some(said) = &options.object {
        let object = narrow::find(status, said)?;
        if options.format == StatusFormat::Text {
            return Ok(draw::status::trace(status, &object, color).unwrap_or_default());
        }
        narrow::to_object(&mut part, &object);
    }
    Ok(match options.format {
        StatusFormat::Text => draw::status::text(&part, options.verbose, color),
        StatusFormat::Json => draw::status::json(&part),
        StatusFormat::Markdown => draw::status::markdown(&part),
    })
}

fn code(outcome: Outcome) -> Code {
    match outcome {
        Outcome::Healthy => exit::CLEAN,
        Outcome::Progressing => exit::PROGRESSING,
        Outcome::Degraded => exit::ERRORS_FOUND,
        Outcome::Unknown => exit::UNKNOWN,
    }
}
