//! `coldstart seal rotate`: in the order in which nothing can be lost. First the new key is kept, twice if there are
//! two stores; then the cluster can open what is sealed with it; only then is anything sealed with it.

use std::path::PathBuf;

use ::seal::Ring;
use ::seal::key::{GenerateOptions, KeyError, KeyPair, generate};
use ::seal::store::{Kept, Store, keep};
use diagnostic::{Next, next};

use super::arguments::Rotate;
use super::copies::Copies;
use super::failure::{KeysFailure, SealFailure};
use super::recipients::Change;
use super::{Home, commit, deploy, files, init, now, reseal, say, store};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn run(options: &Rotate) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    // What could fail later is tried now: Git, both stores, the certificate's file, the cluster, and every value.
    commit::ready(home.root(), &options.delivery, &[])?;
    let (store, before) = home.keys()?;
    let second = (None, options.backup_identity.as_deref());
    let copies = Copies::open(&home, store.as_ref(), second, home.certificate_path())?;
    copies.has_history()?;
    let cluster = if options.offline { None } else { Some(deploy::plan(&home, &before.ring, &options.target)?) };
    let files = reseal::plan(&home, &before.ring).or_else(clock_is_fine)?;
    let mark = Mark::of(store.as_ref())?;
    let mut begun = before.ring.newest().filter(|newest| mark.names(newest));
    if let Some(key) = begun {
        let is_deployed = cluster.is_none_or(|work| work.is_empty());
        if is_deployed
            && copies.second_is_complete(&before.ring)?
            && copies.certificate_is_complete(&before.ring)
            && is_delivered(options, &home, &files)?
        {
            // Somebody else brought it to its end, by hand or with `reseal`: what is asked for is another key.
            begun = None;
        } else {
            is_as_asked(options, key)?;
        }
    }
    // A rotation that goes on took them out of the first store already.
    let removed = if begun.is_some() { &[] } else { &options.remove_recipient[..] };
    let accepted = (&options.recipients.accepted[..], options.yes);
    let recipients =
        copies.recipients((store.as_ref(), &before.ring), accepted, removed)?.removing(&options.remove_recipient);
    let plan = plan(options, store.as_ref(), &copies, begun);
    confirm(&format!("{plan}{}", recipients.describe()), options.yes)?;

    let ring = match begun {
        Some(_) => before.ring,
        None => make(options, store.as_ref(), &before, (&mark, &recipients))?,
    };
    finish(options, &home, (&copies, &recipients), &ring).map_err(|failure| {
        let key = ring.newest().map(KeyPair::id).unwrap_or_default();
        SealFailure::Unfinished { key, failure: Box::new(failure) }
    })?;
    mark.remove();
    Ok(exit::CLEAN)
}

/// A new key in the store, and beside it a mark that its rotation has begun.
fn make(
    options: &Rotate,
    store: &dyn Store,
    before: &Kept,
    (mark, recipients): (&Mark, &Change),
) -> Result<Ring, Failure> {
    wait_for_a_later_second(&before.ring);
    let wanted = wanted(options);
    let mut ring = before.ring.duplicate().map_err(SealFailure::from)?;
    recipients.apply(&mut ring);
    let pair = generate(&wanted).map_err(SealFailure::from)?;
    mark.write(&pair)?;
    let told = format!("kept key {} in {}", init::describe(&pair), store.describe());
    ring.add(pair, now()).map_err(SealFailure::from)?;
    let ring = keep(store, &ring, before).map_err(SealFailure::from)?;
    say(&told)?;
    Ok(ring)
}

fn wanted(options: &Rotate) -> GenerateOptions {
    let usual = GenerateOptions::at(now());
    GenerateOptions { bits: options.bits.unwrap_or(usual.bits), days: options.days.unwrap_or(usual.days), ..usual }
}

/// Whether all files are sealed with the newest key, and committed and pushed if that is wanted.
fn is_delivered(options: &Rotate, home: &Home<'_>, files: &reseal::Plan) -> Result<bool, SealFailure> {
    if !files.work.is_empty() {
        return Ok(false);
    }
    if !options.delivery.is_wanted() {
        return Ok(true);
    }
    let certificate: Vec<PathBuf> = home.certificate_path().into_iter().collect();
    // It may lie elsewhere, where this repository can't take it.
    let certificate = commit::changed(home.root(), &certificate, true).unwrap_or_default();
    let is_committed = certificate.is_empty() && reseal::uncommitted(home, files)?.is_empty();
    Ok(is_committed && !(options.delivery.push && commit::is_ahead(home.root())))
}

/// The key that a rotation goes on with is made already: it can't become what somebody asks for now.
fn is_as_asked(options: &Rotate, key: &KeyPair) -> Result<(), SealFailure> {
    let certificate = key.certificate();
    let days = (certificate.not_after() - certificate.not_before()).whole_days();
    let is_same = options.bits.is_none_or(|bits| usize::try_from(bits).is_ok_and(|bits| bits == certificate.bits()))
        && options.days.is_none_or(|wanted| i64::from(wanted) == days);
    if is_same {
        return Ok(());
    }
    Err(KeysFailure::RotationUnderWay { key: key.id(), bits: certificate.bits(), days }.into())
}

/// Everything after the key is kept; each part can be done again.
fn finish(
    options: &Rotate,
    home: &Home<'_>,
    (copies, recipients): (&Copies, &Change),
    ring: &Ring,
) -> Result<(), Failure> {
    copies.back_up(ring, recipients)?;
    if !options.offline {
        let work = deploy::plan(home, ring, &options.target)?;
        let prove = options.prove || work.controller.is_some();
        work.perform(ring, prove)?;
    }
    let certificate = copies.write_certificate(ring)?;
    let plan = reseal::plan(home, ring)?;
    let mut written = reseal::perform(home, &plan, ring)?;
    let files = if written.len() == 1 { "file" } else { "files" };
    say(&format!("sealed {} {files} again", written.len()))?;
    if options.delivery.is_wanted() {
        written.extend(reseal::uncommitted(home, &plan)?.iter().map(|path| home.root().join(path)));
        let certificate: Vec<PathBuf> = certificate.map(std::path::Path::to_path_buf).into_iter().collect();
        // It may lie elsewhere, where this repository can't take it.
        written.extend(commit::changed(home.root(), &certificate, true).unwrap_or_default());
    }
    let message = format!("Rotate the sealing key to {}", ring.newest().map(KeyPair::id).unwrap_or_default());
    if let Some(told) = commit::deliver(home.root(), &written, &message, &options.delivery)? {
        say(&told)?;
    }
    if options.offline {
        say(&format!("next: {}", draw::say::next(&Next::Seal(next::Seal::DeployFirst))))?;
    }
    copies.suggest_second()
}

/// Which key a rotation on this machine made and has not brought to its end: the next run goes on with that one.
pub(crate) struct Mark {
    path: PathBuf,
}

impl Mark {
    pub(crate) fn of(store: &dyn Store) -> Result<Self, SealFailure> {
        let digest = ::seal::digest_hex(store.identity().as_bytes());
        Ok(Self { path: store::data_directory()?.join("rotations").join(digest) })
    }

    pub(crate) fn names(&self, key: &KeyPair) -> bool {
        std::fs::read_to_string(&self.path).is_ok_and(|named| named.trim() == key.fingerprint().to_string())
    }

    fn write(&self, key: &KeyPair) -> Result<(), SealFailure> {
        files::write(&self.path, &format!("{}\n", key.fingerprint()))
    }

    pub(crate) fn remove(&self) {
        let _not_there = std::fs::remove_file(&self.path);
    }
}

/// The controller prefers the key whose certificate begins last, and certificates count in seconds.
fn wait_for_a_later_second(ring: &Ring) {
    const CLOCK_SECONDS_MAX: i64 = 5;
    let Some(newest) = ring.newest() else { return };
    // One that begins much later is none to wait for: until then, the new one is the newest.
    while (0..=CLOCK_SECONDS_MAX)
        .contains(&(newest.certificate().not_before().unix_timestamp() - now().unix_timestamp()))
    {
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
}

/// A certificate that expired is a good reason to rotate, and so is one that is not good yet.
fn clock_is_fine(failure: SealFailure) -> Result<reseal::Plan, SealFailure> {
    match failure {
        SealFailure::NewKey(KeyError::Expired { .. } | KeyError::NotYetValid { .. }) => Ok(reseal::Plan::default()),
        other => Err(other),
    }
}

fn plan(options: &Rotate, store: &dyn Store, copies: &Copies, begun: Option<&KeyPair>) -> String {
    let mut plan = match begun {
        Some(key) => {
            format!("continue with key {}, which an earlier run made and kept in {}\n", key.id(), store.describe())
        }
        None => format!("make a key of {} bits and keep it in {}\n", wanted(options).bits, store.describe()),
    };
    plan.push_str(&copies.describe_second());
    plan.push_str(if options.offline { "deploy nothing\n" } else { "deploy it beside the older ones\n" });
    plan.push_str(&copies.describe_certificate());
    plan.push_str("seal everything again with it; older keys stay\n");
    plan
}
