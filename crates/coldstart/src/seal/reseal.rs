//! `coldstart seal reseal`: everything with the newest key. What already is stays as it is, so an interrupted run is
//! simply run again.

use std::fmt::Write as _;
use std::path::PathBuf;

use ::seal::Ring;
use ::seal::manifest::{Change, Place, SealedSecret, edit};
use read::Repository;

use super::arguments::Reseal;
use super::failure::SealFailure;
use super::tree::Found;
use super::{Home, commit, now, say, secret, tree};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn run(options: &Reseal) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let (_, kept) = home.keys()?;
    let (work, unread) = plan_all(&home, &kept.ring)?;
    for (place, what) in &unread {
        say(&format!("{place} was not looked at: it {what}"))?;
    }
    if work.is_empty() {
        let everything = if unread.is_empty() { "everything" } else { "everything else" };
        say(&format!("{everything} is sealed with the newest key already"))?;
        return Ok(exit::CLEAN);
    }
    confirm(&describe(&work, &kept.ring), options.yes)?;
    let written = perform(&home, &work, &kept.ring)?;
    let message = format!("Seal everything anew for key {}", newest(&kept.ring));
    if let Some(told) = commit::deliver(home.root(), &written, &message, &options.delivery)? {
        say(&told)?;
    }
    Ok(exit::CLEAN)
}

fn newest(ring: &Ring) -> String {
    ring.newest().map(::seal::key::KeyPair::id).unwrap_or_default()
}

/// An item by its place and key, and the label it is bound to.
type Bound = (Place, Option<String>, Vec<u8>);

/// One file, and the items of it that are to be sealed anew.
pub(crate) struct Work {
    path: String,
    /// Each with the label it is bound to.
    items: Vec<Bound>,
}

pub(crate) fn describe(work: &[Work], ring: &Ring) -> String {
    let items = work.iter().map(|work| work.items.len()).sum();
    let mut plan = String::new();
    for one in work {
        let _ = writeln!(plan, "  {} ({})", one.path, secret::count(one.items.len()));
    }
    let _ = writeln!(plan, "seal {} anew with key {}", secret::count(items), newest(ring));
    plan
}

/// Everything that an older key opens. What no key opens stops the whole: half a rotation is worse than none.
pub(crate) fn plan(home: &Home<'_>, ring: &Ring) -> Result<Vec<Work>, SealFailure> {
    plan_all(home, ring).map(|(work, _)| work)
}

/// The same, and what was not looked at.
fn plan_all(home: &Home<'_>, ring: &Ring) -> Result<(Vec<Work>, Vec<tree::Told>), SealFailure> {
    let key = ring.newest().ok_or_else(|| SealFailure::told("there is no key"))?;
    key.certificate().check_validity(now())?;
    let repository = Repository::open(home.root()).map_err(|error| SealFailure::told(error.to_string()))?;
    let applied = read::applied(&repository, &["SealedSecret"]);
    let tree::Tree { found, unreadable, unread } = tree::find(&repository, &applied);
    if let Some((place, what)) = unreadable.first() {
        return Err(SealFailure::told(format!(
            "{place}: may hold a SealedSecret and {what}\n  nothing was written\n  next: coldstart seal verify"
        )));
    }
    let tried = read::parallel::map(&found, |one| outdated(one, ring));
    let mut work: Vec<Work> = Vec::new();
    for (one, items) in found.iter().zip(tried) {
        let items = items?;
        if items.is_empty() {
            continue;
        }
        match work.last_mut().filter(|work| work.path == one.path) {
            Some(work) => work.items.extend(items),
            None => work.push(Work { path: one.path.clone(), items }),
        }
    }
    Ok((work, unread))
}

fn outdated(one: &Found, ring: &Ring) -> Result<Vec<Bound>, SealFailure> {
    let newest = ring.newest().map(::seal::key::KeyPair::fingerprint);
    let mut items = Vec::new();
    for item in &one.sealed.items {
        let mut last = None;
        let labels = one.landings.iter().map(|landing| one.sealed.scope.label(&landing.namespace, &landing.name));
        let opened = labels.into_iter().find_map(|label| match item.opened_by(ring, &label) {
            Ok(pair) => Some((label, pair.fingerprint())),
            Err(error) => {
                last = Some(error);
                None
            }
        });
        let Some((label, by)) = opened else {
            let (path, key) = (PathBuf::from(&one.path), item.key.clone().unwrap_or_else(|| "spec.data".to_owned()));
            let source = last.unwrap_or(::seal::OpenError::NoKey);
            return Err(SealFailure::told(format!(
                "{}\n  nothing was written\n  next: coldstart seal verify",
                SealFailure::Open { path, key, source }
            )));
        };
        if Some(by) != newest {
            items.push((one.place.clone(), item.key.clone(), label));
        }
    }
    Ok(items)
}

/// Writes file by file, each whole.
pub(crate) fn perform(home: &Home<'_>, work: &[Work], ring: &Ring) -> Result<Vec<PathBuf>, SealFailure> {
    let done = read::parallel::map(work, |one| reseal_file(home, one, ring));
    let mut written = Vec::new();
    for (one, result) in work.iter().zip(done) {
        result?;
        written.push(home.root().join(&one.path));
    }
    Ok(written)
}

fn reseal_file(home: &Home<'_>, work: &Work, ring: &Ring) -> Result<(), SealFailure> {
    let path = home.root().join(&work.path);
    tree::change(&path, |before| {
        let text = before.ok_or_else(|| SealFailure::told(format!("{} is gone", work.path)))?;
        let documents = yaml::parse(yaml::FileId(0), &text, yaml::Limits::default());
        let mut changes = Vec::new();
        for (place, key, label) in &work.items {
            let fault = |source| SealFailure::Open {
                path: path.clone(),
                key: key.clone().unwrap_or_else(|| "spec.data".to_owned()),
                source,
            };
            let sealed = place.node(&documents).and_then(SealedSecret::of);
            let item = sealed.and_then(|sealed| sealed.items.into_iter().find(|item| item.key == *key));
            let item = item.ok_or_else(|| SealFailure::told(format!("{} was changed meanwhile", work.path)))?;
            if let Some(value) = item.resealed(ring, label).map_err(fault)? {
                changes.push(Change { place: place.clone(), key: key.clone(), value });
            }
        }
        let after = edit(&text, &changes).map_err(|source| SealFailure::Edit { path: path.clone(), source })?;
        Ok((Some(after), ()))
    })
}
