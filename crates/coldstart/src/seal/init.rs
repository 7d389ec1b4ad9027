//! `coldstart seal init`: a key that is made once, or one that exists already.

use std::fmt::Write as _;
use std::path::Path;

use ::seal::key::{AdoptError, Adopted, Adoption, GenerateOptions, KeyPair, Source, from_sources, from_text, generate};
use ::seal::store::{Store, keep, secret_tool_items};
use ::seal::{Ring, date};

use super::arguments::Init;
use super::copies::Copies;
use super::failure::{AdoptFailure, FoundPair, KeysFailure, SealFailure};
use super::recipients::Change;
use super::{Home, cluster, input, lost, now, say, store};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::{Failure, next_line};

const ADOPTED_BYTES_MAX: usize = 64 * 1024 * 1024;

pub(crate) fn run(options: &Init) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let store = home.store()?;
    let before = store.read().map_err(SealFailure::from)?;
    let second = (options.backup.as_deref(), options.backup_identity.as_deref());
    let certificate = options.certificate.clone().or_else(|| home.certificate_path());
    let copies = Copies::open(&home, store.as_ref(), second, certificate)?;
    let Adoption { pairs: mut new, left } =
        adopted(options, &home)?.unwrap_or(Adoption { pairs: Vec::new(), left: Vec::new() });
    if options.new_certificate {
        renews_nothing(&new, &before.ring)?;
    }
    new.retain(|one| !before.ring.contains(one.pair.fingerprint()));
    let makes = !is_adopting(options) && before.ring.is_empty();
    if new.is_empty() && !makes {
        return complete(options, store.as_ref(), &before.ring, &copies);
    }
    if !before.ring.is_empty() {
        copies.has_history()?;
    }
    if makes && !options.new_key {
        lost::refuse_new(&home, store.as_ref(), copies.certificate(), copies.second())?;
    }
    let recipients =
        copies.recipients((store.as_ref(), &before.ring), (&options.recipients.accepted, options.yes), &[])?;
    let plan = plan(options, (&new, &left), store.as_ref(), &copies);
    confirm(&format!("{plan}{}", recipients.describe()), options.yes)?;

    let mut ring = before.ring.duplicate().map_err(SealFailure::from)?;
    for one in new {
        ring.add(one.pair, now()).map_err(SealFailure::from)?;
    }
    if makes {
        let wanted = GenerateOptions { bits: options.bits, days: options.days, now: now() };
        ring.add(generate(&wanted).map_err(SealFailure::from)?, now()).map_err(SealFailure::from)?;
    }
    keep(store.as_ref(), &ring, &before).map_err(SealFailure::from)?;
    for held in ring.keys().iter().filter(|held| !before.ring.contains(held.pair.fingerprint())) {
        say(&format!("kept key {} in {}", describe(&held.pair), store.describe()))?;
    }
    copy(&copies, &ring, &recipients)
}

fn copy(copies: &Copies, ring: &Ring, recipients: &Change) -> Result<Code, Failure> {
    copies.back_up(ring, recipients)?;
    write_certificate(copies, ring)?;
    copies.suggest_second()?;
    Ok(exit::CLEAN)
}

fn write_certificate(copies: &Copies, ring: &Ring) -> Result<(), Failure> {
    if let Some(path) = copies.write_certificate(ring)? {
        say(&format!("wrote the certificate to {}", path.display()))?;
    }
    Ok(())
}

/// The keys are there: what an earlier run did not live to do, or what was lost since, is done.
fn complete(options: &Init, store: &dyn Store, ring: &Ring, copies: &Copies) -> Result<Code, Failure> {
    let nothing = format!("nothing to adopt: {} has all of these keys already", store.describe());
    let is_adopted = is_adopting(options);
    if is_adopted {
        say(&nothing)?;
    }
    let (second, certificate) = (copies.second_is_complete(ring)?, copies.certificate_is_complete(ring));
    if second && certificate {
        return if is_adopted { Ok(exit::CLEAN) } else { Err(is_there(store, ring).into()) };
    }
    // Told in the end: a disk that is not there keeps nobody from the certificate.
    let history = copies.has_history();
    let fills = !second && history.is_ok();
    if !fills && certificate {
        return Ok(history.map(|()| exit::CLEAN)?);
    }
    let newest = ring.newest().map(describe).unwrap_or_default();
    let mut plan = format!("make no key: {newest} is in {}\n", store.describe());
    if fills {
        plan.push_str(&copies.describe_second());
    }
    if !certificate {
        plan.push_str(&copies.describe_certificate());
    }
    let recipients = copies.recipients((store, ring), (&options.recipients.accepted, options.yes), &[])?;
    confirm(&format!("{plan}{}", recipients.describe()), options.yes)?;
    if fills {
        copies.back_up(ring, &recipients)?;
    }
    if !certificate {
        write_certificate(copies, ring)?;
    }
    Ok(history.map(|()| exit::CLEAN)?)
}

fn is_adopting(options: &Init) -> bool {
    !options.adopt.is_empty() || options.adopt_cluster || options.adopt_secret_tool
}

/// A store keeps each key with the certificate it came with: a new one would be dropped without a word.
fn renews_nothing(adopted: &[Adopted], ring: &Ring) -> Result<(), SealFailure> {
    let there = adopted.iter().filter_map(|one| ring.get(one.pair.fingerprint()));
    let Some(expired) = there.into_iter().find(|pair| pair.certificate().not_after() < now()) else { return Ok(()) };
    Err(AdoptFailure::RenewsNothing { key: describe(expired) }.into())
}

/// A key that is there is never replaced by this command.
fn is_there(store: &dyn Store, ring: &Ring) -> SealFailure {
    let newest = ring.newest().map(describe).unwrap_or_default();
    KeysFailure::ThereAlready { store: store.describe(), newest }.into()
}

pub(crate) fn describe(pair: &KeyPair) -> String {
    let certificate = pair.certificate();
    let (from, to) = (date(certificate.not_before()), date(certificate.not_after()));
    format!("{} ({} bits, {from} to {to})", pair.id(), certificate.bits())
}

fn plan(options: &Init, (new, left): (&[Adopted], &[AdoptError]), store: &dyn Store, copies: &Copies) -> String {
    let mut plan = String::new();
    for one in left {
        let next = one.error.certain_next().as_ref().map(next_line).unwrap_or_default();
        let _ = writeln!(plan, "leave alone {one}{next}");
    }
    for one in new {
        let place = if one.place.is_empty() { String::new() } else { format!(" from {}", draw::clean(&one.place)) };
        let _ = writeln!(plan, "adopt key {}{place}", describe(&one.pair));
        if one.pair.certificate().not_before() > now() {
            plan.push_str("  its certificate is not valid yet: nothing is sealed with it before\n");
        } else if one.pair.certificate().check_validity(now()).is_err() {
            plan.push_str(
                "  its certificate has expired: it opens what was sealed, and nothing can be sealed with it\n",
            );
        }
    }
    if new.is_empty() {
        let _ = writeln!(plan, "make a key of {} bits with a certificate for {} days", options.bits, options.days);
    }
    let _ = writeln!(plan, "keep it in {}", store.describe());
    plan + &copies.describe_second() + &copies.describe_certificate()
}

/// The pairs to adopt; nothing where a new one is to be made.
fn adopted(options: &Init, home: &Home<'_>) -> Result<Option<Adoption>, SealFailure> {
    let all = |pairs| Some(Adoption { pairs, left: Vec::new() });
    if options.adopt_cluster {
        let cluster = cluster::Cluster::connect(options.target.context.as_deref())?;
        let namespace = cluster::controller_namespace(home, &options.target);
        return cluster.keys(&namespace).map(all);
    }
    if options.adopt_secret_tool {
        let items = secret_tool_items(&store::patience()).map_err(AdoptFailure::SecretService)?;
        let items = items.ok_or(AdoptFailure::NoItems)?;
        return Ok(all(from_text(items.expose_text().unwrap_or_default())?));
    }
    if options.adopt.is_empty() {
        return Ok(None);
    }
    let found = from_files(options)?;
    pick(found, options.pick.as_deref()).map(Some)
}

/// The pairs of all files, each file read on its own.
fn from_files(options: &Init) -> Result<Adoption, SealFailure> {
    let mut files = Vec::new();
    for path in &options.adopt {
        let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
        files.push((name, input::read(path, ADOPTED_BYTES_MAX)?));
    }
    let mut sources = Vec::new();
    for (name, bytes) in &files {
        let text = bytes.expose_text().ok_or_else(|| AdoptFailure::NotText { name: name.clone() })?;
        sources.push(Source { name, text });
    }
    let wanted = GenerateOptions { bits: options.bits, days: options.days, now: now() };
    let found = from_sources(&sources, options.new_certificate.then_some(&wanted));
    found.map_err(|error| AdoptFailure::Unusable(error).into())
}

/// Terraform's state may hold pairs of other things: somebody has to say which. Secrets of a cluster are all meant.
fn pick(adoption: Adoption, pick: Option<&str>) -> Result<Adoption, SealFailure> {
    let Adoption { pairs: found, left } = adoption;
    let list = |found: &[Adopted]| found.iter().map(FoundPair::of).collect::<Vec<_>>();
    if let Some(pick) = pick {
        let places = list(&found);
        let (wanted, _): (Vec<Adopted>, Vec<Adopted>) =
            found.into_iter().partition(|one| one.place == pick || one.pair.id() == pick);
        if wanted.is_empty() {
            return Err(AdoptFailure::NoSuchPair { pick: pick.to_owned(), pairs: places }.into());
        }
        return Ok(Adoption { pairs: wanted, left: Vec::new() });
    }
    let are_secrets = found.iter().all(|one| one.place.is_empty() || one.is_in_secret);
    if found.len() > 1 && !are_secrets {
        return Err(AdoptFailure::SeveralPairs(list(&found)).into());
    }
    Ok(Adoption { pairs: found, left })
}
