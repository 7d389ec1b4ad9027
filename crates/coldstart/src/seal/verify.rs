//! `coldstart seal verify`: what will open at the next cold start, and what would quietly go wrong there.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use ::seal::Ring;
use ::seal::key::Fingerprint;
use ::seal::manifest::{Item, SECRET_BYTES_MAX};
use ::seal::store::Kept;
use ::seal::verify::{LABELS_TRIED_MAX, Landing, Verdict, item, lands};
use diagnostic::seal::{Cause, KeysFault, SealFault, SealedFault, Unopened};
use diagnostic::{Next, Severity, next};
use read::{Applied, Repository};

use super::arguments::{Verify, VerifyFormat};
use super::failure::SealFailure;
use super::findings::findings;
use super::report::{Report, Spot};
use super::tree::{self, Found};
use super::{
    Home, backup, certificate, now, recipients, renewal, secret_stores, sops, tracked, verify_cluster, verify_text,
};
use crate::check;
use crate::confirm::{confirm, confirm_aside};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// Items for which it is tried at all other landings where they belong.
const SEARCHED_MAX: usize = 30;
/// Tries of items that do not open, each a decryption with a private key: a second of them.
const CLOSED_TRIES_MAX: usize = 600;
/// The same, of those that are left then, with a few keys: two or three seconds.
const NARROW_TRIES_MAX: usize = 2_000;
/// The same, to find out where such an item belongs.
const SEARCH_TRIES_MAX: usize = 600;
/// Labels of an item that its own file gives, at most.
const LABELS_OF_ITS_OWN: usize = 12;
/// Items that are tried side by side, unless fewer may cost as many tries as are allowed.
const PORTION: usize = 32;
/// Keys that the rest is tried with: the newest, and those that opened most.
const NARROW_KEYS_MAX: usize = 3;
/// What is looked at of what clusters apply.
const KINDS: [&str; 7] =
    ["SealedSecret", "HelmRelease", "Deployment", "SecretStore", "ClusterSecretStore", "Secret", "ExternalSecret"];

/// The repository as it is now.
pub(crate) struct Checkout {
    pub(crate) repository: Repository,
    pub(crate) applied: Vec<Applied>,
}

impl Checkout {
    fn new(home: &Home<'_>) -> Result<Self, Failure> {
        let repository = Repository::open(home.root()).map_err(|source| Failure::Open { command: "seal", source })?;
        let applied = read::applied(&repository, &KINDS);
        Ok(Self { repository, applied })
    }
}

pub(crate) fn run(options: &Verify) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let mut look = Checkout::new(&home)?;
    let mut tree = tree::find(&look.repository, &look.applied);
    let (store, Kept { ring, .. }) = if tree.found.is_empty() && !options.cluster {
        let store = home.store()?;
        let kept = store.read().map_err(SealFailure::from)?;
        (store, kept)
    } else {
        home.keys()?
    };
    let mut report = Report::default();
    if options.write {
        report.changed = write(&home, &mut look, &ring, options)?;
        tree = tree::find(&look.repository, &look.applied);
    }
    let Checkout { repository, applied } = &look;
    let tree::Tree { found, unreadable, unread } = tree;
    for one in unreadable {
        let (spot, why) = (Spot::of(&look.repository, &one), Cause::new(one.why));
        report.error(spot, SealFault::Sealed(SealedFault::Unreadable { why }), None);
    }
    for one in unread {
        let (spot, why) = (Spot::of(&look.repository, &one), Cause::new(one.why));
        report.note(spot, SealFault::Sealed(SealedFault::NotLookedAt { why }), None);
    }
    secrets(&found, &ring, &mut report);
    keys(&ring, &mut report);
    certificate::check(&home, &ring, &mut report);
    backup::check(&home, &ring, &mut report);
    recipients::check(&home, (store.as_ref(), &ring), &mut report)?;
    renewal::check(&look, !found.is_empty(), &mut report);
    sops::check(&home, repository, &mut report)?;
    tracked::check(&home, &mut report)?;
    secret_stores::check(repository, applied, &mut report);
    if options.cluster {
        verify_cluster::check(&home, &ring, &options.target, &mut report)?;
    }
    report.tell_once();
    let prefix = check::prefix(&options.place.path);
    let text = match options.format {
        VerifyFormat::Text => verify_text::text(&report),
        VerifyFormat::Json => verify_text::json(&report),
        VerifyFormat::Sarif => {
            let sarif = draw::sarif::report(
                &findings(&report, repository),
                repository,
                Severity::Info,
                &prefix,
                &draw::Edits::default(),
            );
            sarif.map_err(|error| Failure::Json(error.to_string()))?
        }
        VerifyFormat::Github => {
            draw::github::report(&findings(&report, repository), repository, Severity::Info, &prefix)
        }
        VerifyFormat::Markdown => {
            draw::markdown::report(&findings(&report, repository), repository, Severity::Info, &prefix)
        }
    };
    match options.format {
        VerifyFormat::Github => output::print_exactly(&text)?,
        _ => output::print(&text)?,
    }
    Ok(if report.has_errors() { exit::ERRORS_FOUND } else { exit::CLEAN })
}

/// Shows what `--write` is about to do, does it if that is wanted, and looks at everything anew.
fn write(home: &Home<'_>, look: &mut Checkout, ring: &Ring, options: &Verify) -> Result<Vec<String>, Failure> {
    let edits = renewal::edits(look);
    let certificate = certificate::to_write(home, ring);
    if edits.is_empty() && certificate.is_none() {
        return Ok(Vec::new());
    }
    let mut plan: String = edits.values().map(renewal::Edit::describe).collect();
    if let Some(path) = certificate {
        let _ = writeln!(plan, "write the newest certificate to {}", draw::clean(path));
    }
    match options.format {
        VerifyFormat::Text => confirm(&plan, options.yes)?,
        // Standard output has a form of its own.
        _ => confirm_aside(&plan, options.yes)?,
    }
    renewal::perform(look, &edits)?;
    let mut told = Vec::new();
    if let Some(path) = certificate {
        certificate::write(home, path, ring)?;
        told.push(format!("{path}: wrote the newest certificate"));
    }
    *look = Checkout::new(home)?;
    told.extend(renewal::told(look, &edits));
    Ok(told)
}

fn secrets(found: &[Found], ring: &Ring, report: &mut Report) {
    report.newest = ring.newest().map(::seal::key::KeyPair::fingerprint);
    let mut places: Vec<Landing> = found.iter().flat_map(|one| one.landings.iter().cloned()).collect();
    places.sort();
    places.dedup();
    let all = judge_all(found, ring, &places);
    report.is_other_store = is_other_store(&all);
    for (one, verdicts) in found.iter().zip(all) {
        let spot = || Spot::Line { span: one.sealed.span, path: one.path.clone(), line: one.at.line };
        let name = || one.landings.first().map_or_else(String::new, Landing::to_string);
        report.secrets += 1;
        report.items += one.sealed.items.len();
        for trouble in &one.sealed.trouble {
            let fault = SealedFault::Malformed { object: name(), why: Cause::new(trouble.what) };
            report.error(spot(), SealFault::Sealed(fault), None);
        }
        let bytes = one.sealed.value_bytes(|_| true);
        if bytes > SECRET_BYTES_MAX {
            let fault = SealedFault::TooLarge { object: name(), bytes, bytes_max: SECRET_BYTES_MAX };
            report.error(spot(), SealFault::Sealed(fault), None);
        }
        let (own, template) = (one.sealed.scope, one.sealed.template_scope);
        // kubeseal writes both or neither; a narrower template is common in files written by hand, and harmless.
        if template > own {
            let (own, template) = (own.word(), template.word());
            let fault = SealedFault::TemplateScope { object: name(), own, template };
            report.note(spot(), SealFault::Sealed(fault), None);
        }
        for judged in verdicts {
            match judged {
                Ok(by) => *report.by_key.entry(by).or_default() += 1,
                Err(wrong) => wrong.into_iter().for_each(|wrong| report.error(spot(), wrong.fault(), None)),
            }
        }
    }
}

/// Whether everything that can be judged was sealed for keys that are not there, and that is more than one item.
fn is_other_store(all: &[Judged]) -> bool {
    let is_right = |judged: &Result<Fingerprint, Vec<Wrong>>| match judged {
        Ok(_) => true,
        Err(wrong) => wrong.iter().any(|one| one.is_foreign == Some(false)),
    };
    let is_foreign = |wrong: &&Vec<Wrong>| wrong.iter().any(|one| one.is_foreign == Some(true));
    let items = || all.iter().flatten();
    !items().any(is_right) && items().filter_map(|judged| judged.as_ref().err()).filter(is_foreign).count() > 1
}

/// Why an item does not open at one of its landings.
struct Wrong {
    landing: String,
    key: String,
    why: Unopened,
    /// Whether no key opens it at all; nothing where it is broken, which says nothing about keys.
    is_foreign: Option<bool>,
}

impl Wrong {
    fn fault(self) -> SealFault {
        SealFault::Sealed(SealedFault::DoesNotOpen { landing: self.landing, key: self.key, why: self.why })
    }
}

/// For each item the key that opens it wherever it lands, or what is wrong.
type Judged = Vec<Result<Fingerprint, Vec<Wrong>>>;

/// Where each belongs that does not open is looked for among all places, for so many of them: if a key is lost, all are
/// closed, and looking for all of them everywhere would take hours.
fn judge_all(found: &[Found], ring: &Ring, places: &[Landing]) -> Vec<Judged> {
    let attempt: &Try<'_> = &|one, item, landing, by| lands(&one.sealed, item, landing, by);
    let mut all = judge_where_they_land(found, ring, attempt);
    let closed = closed(&all);
    let tries = |labels: usize| SEARCH_TRIES_MAX / (labels * ring.keys().len().max(1));
    let everywhere = within(found, &closed, tries(LABELS_TRIED_MAX)).min(SEARCHED_MAX);
    let (searched, rest) = closed.split_at(everywhere);
    let rest = &rest[..within(found, rest, tries(LABELS_OF_ITS_OWN))];
    for (closed, places) in [(searched, places), (rest, &[][..])] {
        let again = repository::parallel::map(closed, |at| {
            let one = &found[at.secret];
            let places = with_name_of_file(one, places);
            judge_item(one, &one.sealed.items[at.item], |sealed, landing| {
                item(&one.sealed, sealed, landing, ring, &places)
            })
        });
        closed.iter().zip(again).for_each(|(at, judged)| all[at.secret][at.item] = judged);
    }
    all
}

/// An item of a SealedSecret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ItemAt {
    secret: usize,
    item: usize,
}

/// Items that no key opens: the first of every SealedSecret, then the second of each, for those of one mostly belong to one place.
fn closed(all: &[Judged]) -> Vec<ItemAt> {
    let is_closed = |judged: &Result<Fingerprint, Vec<Wrong>>| {
        judged.as_ref().is_err_and(|wrong| wrong.iter().any(|wrong| wrong.is_foreign.is_some()))
    };
    let of_one = |(secret, judged): (usize, &Judged)| {
        let items: Vec<usize> = (0..judged.len()).filter(|item| is_closed(&judged[*item])).collect();
        items.into_iter().enumerate().map(move |(rank, item)| (rank, ItemAt { secret, item }))
    };
    let mut closed: Vec<(usize, ItemAt)> = all.iter().enumerate().flat_map(of_one).collect();
    closed.sort_by_key(|(rank, at)| (*rank, at.secret));
    closed.into_iter().map(|(_, at)| at).collect()
}

/// How many of these items may be tried at all of their landings, so many tries in all.
fn within(found: &[Found], items: &[ItemAt], tries: usize) -> usize {
    let mut left = tries;
    let fits = |at: &&ItemAt| {
        let fits = left.checked_sub(found[at.secret].landings.len());
        left = fits.unwrap_or(0);
        fits.is_some()
    };
    items.iter().take_while(fits).count()
}

/// The keys that the next items are tried with.
enum With<'r> {
    All(&'r Ring),
    /// The newest, and the ones that opened most.
    Narrow(Ring),
    None,
}

impl With<'_> {
    fn ring(&self) -> Option<&Ring> {
        match self {
            Self::All(ring) => Some(ring),
            Self::Narrow(ring) => Some(ring),
            Self::None => None,
        }
    }

    /// How many tries in vain there may be with them.
    fn tries_max(&self) -> usize {
        if matches!(self, Self::All(_)) { CLOSED_TRIES_MAX } else { NARROW_TRIES_MAX }
    }

    /// Fewer of them, after too many tries in vain.
    fn fewer(self, used: &BTreeMap<Fingerprint, usize>) -> Self {
        match self {
            Self::All(ring) => narrowed(ring, used).map_or(Self::None, Self::Narrow),
            Self::Narrow(_) | Self::None => Self::None,
        }
    }
}

/// Tries an item at a landing with some keys.
type Try<'t> = dyn Fn(&Found, &Item, &Landing, &Ring) -> Verdict + Sync + 't;

/// Every item where it lands. An item that opens with none costs a try with every key: after so many of them, the rest is tried with the
/// newest key and with the ones that opened most, and after too many of these, not at all. In portions, so that the same items are tried each
/// time.
fn judge_where_they_land(found: &[Found], ring: &Ring, attempt: &Try<'_>) -> Vec<Judged> {
    let of_one = |(secret, one): (usize, &Found)| (0..one.sealed.items.len()).map(move |item| ItemAt { secret, item });
    let items: Vec<ItemAt> = found.iter().enumerate().flat_map(of_one).collect();
    let mut all: Vec<Judged> = found.iter().map(|_| Vec::new()).collect();
    let (mut left, mut tries, mut with) = (items.as_slice(), 0, With::All(ring));
    let mut used: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    while !left.is_empty() {
        if tries > with.tries_max() {
            (tries, with) = (0, with.fewer(&used));
        }
        let keys = with.ring().map_or(0, |ring| ring.keys().len());
        // So many that even if none opens, no more is tried than is allowed; one at least.
        let count = within(found, left, CLOSED_TRIES_MAX / keys.max(1)).clamp(1, PORTION);
        let (portion, rest) = left.split_at(count.min(left.len()));
        left = rest;
        let judged = repository::parallel::map(portion, |at| {
            let (one, bits) = (&found[at.secret], 0);
            judge_item(one, &one.sealed.items[at.item], |item, landing| {
                with.ring().map_or(Verdict::NoKey { bits }, |by| attempt(one, item, landing, by))
            })
        });
        for (at, judged) in portion.iter().zip(judged) {
            match &judged {
                Ok(key) => *used.entry(*key).or_default() += 1,
                Err(wrong) => tries += wrong.len() * keys,
            }
            let is_narrow = !matches!(with, With::All(_));
            all[at.secret].push(judged.map_err(|wrong| if is_narrow { not_tried(wrong, keys) } else { wrong }));
        }
    }
    all
}

/// The newest key, and the ones that opened most.
fn narrowed(ring: &Ring, used: &BTreeMap<Fingerprint, usize>) -> Option<Ring> {
    let newest = ring.newest().map(::seal::key::KeyPair::fingerprint);
    let mut most: Vec<Fingerprint> = used.keys().copied().filter(|key| Some(*key) != newest).collect();
    most.sort_by_key(|key| (std::cmp::Reverse(used[key]), *key));
    let kept: BTreeSet<Fingerprint> = newest.into_iter().chain(most).take(NARROW_KEYS_MAX).collect();
    ring.only(|key| kept.contains(&key)).ok()
}

/// What no key in use opens; what is broken stays so.
fn not_tried(wrong: Vec<Wrong>, tried: usize) -> Vec<Wrong> {
    let why = |one: Wrong| match one.is_foreign {
        None => one,
        Some(_) => Wrong { why: Unopened::NotTried { tried }, is_foreign: None, ..one },
    };
    wrong.into_iter().map(why).collect()
}

/// A file is often still called as the SealedSecret in it was.
fn with_name_of_file(one: &Found, places: &[Landing]) -> Vec<Landing> {
    let stem = Path::new(&one.path).file_stem().unwrap_or_default().to_string_lossy();
    let renamed = |landing: &Landing| Landing { namespace: landing.namespace.clone(), name: stem.to_string() };
    one.landings.iter().map(renamed).chain(places.iter().cloned()).collect()
}

fn judge_item(
    one: &Found,
    sealed: &Item,
    verdict: impl Fn(&Item, &Landing) -> Verdict,
) -> Result<Fingerprint, Vec<Wrong>> {
    let key = sealed.key.as_deref().unwrap_or("spec.data");
    let (mut opened, mut wrong) = (None, Vec::new());
    for landing in &one.landings {
        let verdict = verdict(sealed, landing);
        if let Some(why) = verdict.why(&one.sealed, landing) {
            let is_foreign = match verdict {
                Verdict::Broken(_) => None,
                other => Some(matches!(other, Verdict::NoKey { .. })),
            };
            wrong.push(Wrong { landing: landing.to_string(), key: key.to_owned(), why, is_foreign });
        } else if let Verdict::Opens(by) = verdict {
            opened = Some(by);
        }
    }
    opened.filter(|_| wrong.is_empty()).ok_or(wrong)
}

/// Keys that can't be sealed with any more, or soon.
fn keys(ring: &Ring, report: &mut Report) {
    const SOON_DAYS: i64 = 60;
    let Some(newest) = ring.newest() else { return };
    let certificate = newest.certificate();
    let days = (certificate.not_after() - now()).whole_days();
    match certificate.check_validity(now()) {
        Err(error) => {
            let (next, why) = (error.certain_next(), Cause::new(error));
            report.error(Spot::OwnStore, SealFault::Keys(KeysFault::NewestUnusable { why }), next);
        }
        Ok(()) if days < SOON_DAYS => {
            let fault = KeysFault::ExpiresSoon { key: newest.id(), days };
            report.note(Spot::OwnStore, SealFault::Keys(fault), Some(Next::Seal(next::Seal::Rotate)));
        }
        Ok(()) => {}
    }
    let old: usize =
        report.by_key.iter().filter(|(key, _)| **key != newest.fingerprint()).map(|(_, items)| items).sum();
    if old > 0 {
        let fault = KeysFault::OlderInUse { items: old };
        report.note(Spot::OwnStore, SealFault::Keys(fault), Some(Next::Seal(next::Seal::Reseal)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ::seal::key::{GenerateOptions, generate};
    use ::seal::manifest::SealedSecret;

    use super::*;

    /// SealedSecrets of three items each.
    fn found(count: usize) -> Vec<Found> {
        let text = "{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: a, namespace: b}, spec: {encryptedData: {a: AA, b: AA, c: AA}}}";
        let sealed = SealedSecret::of(&yaml::parse_value(source::FileId(0), text).unwrap()).unwrap();
        let landing = Landing { namespace: "b".to_owned(), name: "a".to_owned() };
        let one = Found {
            path: "a.yaml".to_owned(),
            place: ::seal::manifest::ObjectPlace::default(),
            sealed,
            at: source::Position { line: 1, column: 1 },
            landings: vec![landing],
        };
        vec![one; count]
    }

    fn ring(keys: i64) -> Ring {
        let mut ring = Ring::default();
        for day in 0..keys {
            let begins = now() - time::Duration::days(keys - day);
            ring.add(generate(&GenerateOptions { bits: 2048, ..GenerateOptions::at(begins) }).unwrap(), begins)
                .unwrap();
        }
        ring
    }

    #[test]
    fn however_many_items_do_not_open_the_tries_have_an_end() {
        let ring = ring(4);
        for count in [10, 1_000, 20_000] {
            let tries = AtomicUsize::new(0);
            let attempt: &Try<'_> = &|_, _, _, by| {
                tries.fetch_add(by.keys().len(), Ordering::Relaxed);
                Verdict::NoKey { bits: 2048 }
            };
            let all = judge_where_they_land(&found(count), &ring, attempt);
            assert_eq!(all.iter().map(Vec::len).sum::<usize>(), 3 * count);
            let tries = tries.load(Ordering::Relaxed);
            let most = CLOSED_TRIES_MAX + NARROW_TRIES_MAX + 2 * PORTION * ring.keys().len();
            assert!(tries <= most && tries >= most.min(12 * count) / 2, "{count}: {tries}");
        }
    }
}
