//! `coldstart seal rotate`: in the order in which nothing can be lost. First the new key is kept, twice if there are
//! two stores; then the cluster can open what is sealed with it; only then is anything sealed with it.

use std::fmt::Write as _;
use std::path::Path;

use ::seal::Ring;
use ::seal::key::{GenerateOptions, generate};
use ::seal::store::keep;

use super::arguments::Rotate;
use super::failure::SealFailure;
use super::{Home, backup, commit, deploy, init, now, reseal, say, store};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn run(options: &Rotate) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let (store, before) = home.keys()?;
    let second = store::second(&home, None, options.backup_identity.as_deref())?;
    // What could fail later is tried now: the cluster answers, and every value opens.
    if !options.offline {
        deploy::plan(&home, &before.ring, &options.target)?;
    }
    reseal::plan(&home, &before.ring).or_else(expired_is_fine)?;
    let certificate = home.settings.certificate.as_ref().map(|path| home.at(Path::new(path)));
    confirm(&plan(options, store.as_ref(), second.as_deref(), certificate.as_deref()), options.yes)?;

    wait_for_a_later_second(&before.ring)?;
    let wanted = GenerateOptions { bits: options.bits, days: options.days, now: now() };
    let mut ring = before.ring.duplicate().map_err(SealFailure::from)?;
    ring.add(generate(&wanted).map_err(SealFailure::from)?, now()).map_err(SealFailure::from)?;
    keep(store.as_ref(), &ring, &before).map_err(SealFailure::from)?;
    let newest = ring.newest().map(init::describe).unwrap_or_default();
    say(&format!("kept key {newest} in {}", store.describe()))?;
    if let Some(second) = second {
        backup::copy(&ring, second.as_ref())?;
        say(&format!("and in {}", second.describe()))?;
    }
    if !options.offline {
        let work = deploy::plan(&home, &ring, &options.target)?;
        let prove = options.prove || work.controller.is_some();
        work.perform(&ring, prove)?;
    }
    init::write_certificate(certificate.as_deref(), &ring)?;
    let work = reseal::plan(&home, &ring)?;
    let mut written = reseal::perform(&home, &work, &ring)?;
    say(&format!("sealed {} files anew", written.len()))?;
    written.extend(certificate);
    let message =
        format!("Rotate the sealing key to {}", ring.newest().map(::seal::key::KeyPair::id).unwrap_or_default());
    if let Some(told) = commit::deliver(home.root(), &written, &message, &options.delivery)? {
        say(&told)?;
    }
    if options.offline {
        say("next: coldstart seal deploy, before the files reach a cluster")?;
    }
    Ok(exit::CLEAN)
}

/// The controller prefers the key whose certificate begins last, and certificates count in seconds.
fn wait_for_a_later_second(ring: &Ring) -> Result<(), SealFailure> {
    const CLOCK_SECONDS_MAX: i64 = 5;
    let Some(newest) = ring.newest() else { return Ok(()) };
    loop {
        let ahead = newest.certificate().not_before().unix_timestamp() - now().unix_timestamp();
        if ahead < 0 {
            return Ok(());
        }
        if ahead > CLOCK_SECONDS_MAX {
            let source = newest.certificate().check_validity(now());
            return source.map_err(SealFailure::from);
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

/// A certificate that expired is a good reason to rotate.
fn expired_is_fine(failure: SealFailure) -> Result<Vec<reseal::Work>, SealFailure> {
    match failure {
        SealFailure::NewKey(::seal::key::KeyError::Expired { .. }) => Ok(Vec::new()),
        other => Err(other),
    }
}

fn plan(
    options: &Rotate,
    store: &dyn ::seal::store::Store,
    second: Option<&dyn ::seal::store::Store>,
    certificate: Option<&Path>,
) -> String {
    let mut plan = format!("make a key of {} bits and keep it in {}\n", options.bits, store.describe());
    if let Some(second) = second {
        let _ = writeln!(plan, "and in {}", second.describe());
    }
    plan.push_str(if options.offline { "deploy nothing\n" } else { "deploy it beside the older ones\n" });
    if let Some(path) = certificate {
        let _ = writeln!(plan, "write its certificate to {}", path.display());
    }
    plan.push_str("seal everything anew with it; older keys stay\n");
    plan
}
