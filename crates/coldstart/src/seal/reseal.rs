//! `coldstart seal reseal`: everything with the newest key. What already is stays as it is, so an interrupted run is
//! simply run again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::seal::Ring;
use ::seal::manifest::{Change, ObjectPlace, SealedSecret, edit as edited};
use draw::words::count;
use read::Repository;
use source::clean;

use super::arguments::Reseal;
use super::failure::{KeysFailure, SealFailure, WriteFailure};
use super::rotate::Mark;
use super::tree::Found;
use super::{Home, commit, files, now, say, tree};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

pub(crate) fn run(options: &Reseal) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    commit::ready(home.root(), &options.delivery, &[])?;
    let (store, kept) = home.keys()?;
    let plan = plan(&home, &kept.ring)?;
    for one in &plan.unread {
        say(&format!("{} was not read: it {}", one.place(), one.why))?;
    }
    let earlier = if options.delivery.is_wanted() { uncommitted(&home, &plan)? } else { Vec::new() };
    if plan.work.is_empty() && earlier.is_empty() {
        let everything = if plan.unread.is_empty() { "everything" } else { "everything else" };
        say(&format!("{everything} is sealed with the newest key already"))?;
    } else {
        confirm(&describe(&plan, &earlier, &kept.ring), options.yes)?;
    }
    let mut files = perform(&home, &plan, &kept.ring)?;
    files.extend(earlier.iter().map(|path| home.root().join(path)));
    let message = format!("Seal everything again for key {}", newest(&kept.ring));
    if let Some(told) = commit::deliver(home.root(), &files, &message, &options.delivery)? {
        say(&told)?;
    }
    // A rotation that was interrupted is at its end now: the next one is to make a key.
    let mark = Mark::of(store.as_ref())?;
    if kept.ring.newest().is_some_and(|newest| mark.names(newest)) {
        mark.remove();
    }
    Ok(exit::CLEAN)
}

/// Files that an earlier run sealed anew and did not commit.
pub(crate) fn uncommitted(home: &Home<'_>, plan: &Plan) -> Result<Vec<String>, SealFailure> {
    let files: Vec<PathBuf> = plan.done.iter().map(|path| home.root().join(path)).collect();
    let changed = commit::changed(home.root(), &files, false)?;
    Ok(plan.done.iter().zip(&files).filter(|(_, path)| changed.contains(path)).map(|(path, _)| path.clone()).collect())
}

fn newest(ring: &Ring) -> String {
    ring.newest().map(::seal::key::KeyPair::id).unwrap_or_default()
}

/// An item by its place and key, and the label it is bound to.
type Bound = (ObjectPlace, Option<String>, Vec<u8>);

/// One file, and the items of it that are to be sealed anew.
pub(crate) struct Work {
    path: String,
    /// Each with the label it is bound to.
    items: Vec<Bound>,
}

/// What is to be done, and what was done already.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) work: Vec<Work>,
    /// Files in which everything is sealed with the newest key.
    done: Vec<String>,
    /// What was not looked at, and why.
    unread: Vec<tree::Unread>,
}

impl Plan {
    /// Removes temporary files that a run which was killed left behind.
    pub(crate) fn clean(&self, home: &Home<'_>) -> Result<(), Failure> {
        let paths = self.work.iter().map(|work| &work.path).chain(&self.done);
        let directories: BTreeSet<PathBuf> =
            paths.filter_map(|path| home.root().join(path).parent().map(Path::to_path_buf)).collect();
        let removed: usize = directories.iter().map(|directory| edit::remove_stale(directory)).sum();
        match removed {
            0 => Ok(()),
            1 => say("removed 1 temporary file that an earlier run left behind"),
            more => say(&format!("removed {more} temporary files that earlier runs left behind")),
        }
    }
}

pub(crate) fn describe(plan: &Plan, earlier: &[String], ring: &Ring) -> String {
    let items: usize = plan.work.iter().map(|work| work.items.len()).sum();
    let mut text = String::new();
    for one in &plan.work {
        let _ = writeln!(text, "  {} ({})", clean(&one.path), count(one.items.len(), "item"));
    }
    if items > 0 {
        let _ = writeln!(text, "seal {} again with key {}", count(items, "item"), newest(ring));
    }
    for path in earlier {
        let _ = writeln!(text, "commit {}, which was sealed again before", clean(path));
    }
    text
}

/// Everything that an older key opens. What no key opens stops the whole: half a rotation is worse than none.
pub(crate) fn plan(home: &Home<'_>, ring: &Ring) -> Result<Plan, SealFailure> {
    let key = ring.newest().ok_or(KeysFailure::NoNewest)?;
    key.certificate().check_validity(now())?;
    let repository = Repository::open(home.root()).map_err(WriteFailure::Repository)?;
    let applied = read::applied(&repository, &["SealedSecret"]);
    let tree::Tree { found, unreadable, unread } = tree::find(&repository, &applied);
    if let Some(first) = unreadable.into_iter().next() {
        return Err(WriteFailure::MayHoldMore(first).into());
    }
    if let Some((one, trouble)) = found.iter().find_map(|one| Some((one, one.sealed.trouble.first()?))) {
        let (path, line) = (one.path.clone(), one.at.line);
        return Err(WriteFailure::Malformed { path, line, what: trouble.what }.into());
    }
    let tried = repository::parallel::map(&found, |one| outdated(one, ring));
    let mut files: BTreeMap<&str, Vec<Bound>> = BTreeMap::new();
    for (one, items) in found.iter().zip(tried) {
        files.entry(&one.path).or_default().extend(items?);
    }
    let mut plan = Plan { unread, ..Plan::default() };
    for (path, items) in files {
        if items.is_empty() {
            plan.done.push(path.to_owned());
        } else {
            plan.work.push(Work { path: path.to_owned(), items });
        }
    }
    Ok(plan)
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
            let (path, key) = (one.path.clone(), item.key.clone().unwrap_or_else(|| "spec.data".to_owned()));
            let source = last.unwrap_or(::seal::OpenError::NoKey);
            return Err(WriteFailure::DoesNotOpen { path, key, source }.into());
        };
        if Some(by) != newest {
            items.push((one.place.clone(), item.key.clone(), label));
        }
    }
    Ok(items)
}

/// Writes file by file, each whole.
pub(crate) fn perform(home: &Home<'_>, plan: &Plan, ring: &Ring) -> Result<Vec<PathBuf>, Failure> {
    plan.clean(home)?;
    let done = repository::parallel::map(&plan.work, |one| reseal_file(home, one, ring));
    let mut written = Vec::new();
    for (one, result) in plan.work.iter().zip(done) {
        result?;
        written.push(home.root().join(&one.path));
    }
    Ok(written)
}

fn reseal_file(home: &Home<'_>, work: &Work, ring: &Ring) -> Result<(), SealFailure> {
    let path = home.root().join(&work.path);
    files::change(home.root(), &path, |before| {
        let text = before.ok_or_else(|| WriteFailure::Gone { path: work.path.clone() })?;
        let documents = yaml::parse(source::FileId(0), &text, yaml::Limits::default());
        let mut changes = Vec::new();
        for (place, key, label) in &work.items {
            let fault = |source| SealFailure::Open {
                path: path.clone(),
                key: key.clone().unwrap_or_else(|| "spec.data".to_owned()),
                source,
            };
            let sealed = place.node(&documents).and_then(SealedSecret::of);
            let item = sealed.and_then(|sealed| sealed.items.into_iter().find(|item| item.key == *key));
            let item = item.ok_or_else(|| WriteFailure::Changed { path: work.path.clone() })?;
            if let Some(value) = item.resealed(ring, label).map_err(fault)? {
                changes.push(Change { place: place.clone(), key: key.clone(), value });
            }
        }
        let after = edited(&text, &changes).map_err(|source| SealFailure::Edit { path: path.clone(), source })?;
        Ok((Some(after), ()))
    })
}
