//! `coldstart seal generate`: what `coldstart.yaml` declares, made once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::seal::generated::{Declared, Kind, generate, missing, needs_values, outdated};
use ::seal::key::Certificate;
use ::seal::manifest::{SealedSecret, SecretManifest, sealed_secrets};
use ::seal::{Envelope, Ring, Scope, SecretBytes};
use settings::GeneratedSecret;
use source::{FileId, clean};
use yaml::Limits;

use super::arguments::Generate;
use super::failure::{DeclarationFault, InputFailure, SealFailure};
use super::files::Held;
use super::{Home, commit, files, say, secret};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

const LENGTH_DEFAULT: usize = 32;
const ALL_THERE: &str = "every declared value already exists";

pub(crate) fn run(options: &Generate) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    if home.settings.generate.is_empty() {
        return Err(SealFailure::from(InputFailure::NothingDeclared).into());
    }
    let wanted: Vec<Wanted<'_>> =
        home.settings.generate.iter().map(|declared| Wanted::of(declared, &home)).collect::<Result<_, _>>()?;
    let paths: Vec<PathBuf> = wanted.iter().map(|one| one.path.clone()).collect();
    commit::ready(home.root(), &options.delivery, &paths)?;
    let mut plan = String::new();
    for one in &wanted {
        let work = one.work(one.find(files::read(&one.path)?.as_deref()).as_ref());
        if !work.is_empty() {
            let place = files::named(home.root(), &one.declared.path.text, &one.path);
            let _ = writeln!(plan, "  {} {}: {}", clean(&place), clean(&one.declared.name), clean(&work.join(", ")));
        }
    }
    if plan.is_empty() {
        say(ALL_THERE)?;
    } else {
        confirm(&format!("make and seal:\n{plan}"), options.yes)?;
        write(&home, &wanted, &home.certificate(None)?)?;
    }
    if !options.delivery.is_wanted() {
        return Ok(exit::CLEAN);
    }
    // Also what an earlier run wrote and did not live to commit.
    let mut paths: Vec<PathBuf> = wanted.iter().map(|one| one.path.clone()).filter(|path| path.exists()).collect();
    paths.sort();
    paths.dedup();
    let changed = commit::changed(home.root(), &paths, true)?;
    if let Some(told) = commit::deliver(home.root(), &changed, "Seal generated values", &options.delivery)? {
        say(&told)?;
    }
    Ok(exit::CLEAN)
}

/// Everything is made before anything is written, and under the locks of all files: what somebody else made meanwhile
/// is there then.
fn write(home: &Home<'_>, wanted: &[Wanted<'_>], certificate: &Certificate) -> Result<(), Failure> {
    let mut held: BTreeMap<&Path, (Option<Held>, String)> = BTreeMap::new();
    for one in wanted {
        held.insert(&one.path, (None, String::new()));
    }
    // In the order of paths, so that two runs never wait for each other.
    for (path, (lock, text)) in &mut held {
        let file = Held::open(home.root(), path)?;
        file.text().unwrap_or_default().clone_into(text);
        *lock = Some(file);
    }
    let mut said: Vec<(&Path, String)> = Vec::new();
    for one in wanted {
        let Some((_, text)) = held.get_mut(one.path.as_path()) else { continue };
        if let Some((after, what)) = one.make(home, text, certificate)? {
            *text = after;
            said.push((&one.path, format!("{}: {what}", one.declared.path.text)));
        }
    }
    if said.is_empty() {
        return say(ALL_THERE);
    }
    for (path, (lock, text)) in &held {
        let Some(lock) = lock.as_ref().filter(|_| said.iter().any(|(changed, _)| changed == path)) else { continue };
        lock.replace(text)?;
        for (_, what) in said.iter().filter(|(changed, _)| changed == path) {
            say(what)?;
        }
    }
    Ok(())
}

/// A Secret that is declared.
struct Wanted<'a> {
    declared: &'a GeneratedSecret,
    path: PathBuf,
    values: Vec<Declared>,
    scope: Option<Scope>,
}

impl<'a> Wanted<'a> {
    fn of(declared: &'a GeneratedSecret, home: &Home<'_>) -> Result<Self, SealFailure> {
        let bad = |why: DeclarationFault| InputFailure::BadDeclaration { line: declared.path.at.line, why };
        let mut values = Vec::new();
        for value in &declared.values {
            values.push(Declared {
                key: value.key.text.clone(),
                kind: value.kind.text.parse::<Kind>().map_err(|error| bad(error.into()))?,
                length: value.length.unwrap_or(LENGTH_DEFAULT),
                template: value.template.clone(),
                public_key: value.public_key.as_ref().map(|key| key.text.clone()),
            });
        }
        let scope = declared.scope.as_ref().map(|scope| scope.text.parse::<Scope>());
        let scope = scope.transpose().map_err(|error| bad(error.into()))?;
        let path = files::to_write(home.root(), &home.at(Path::new(&declared.path.text)))?;
        Ok(Self { declared, path, values, scope })
    }

    /// The SealedSecret of its name and namespace.
    fn find(&self, text: Option<&str>) -> Option<SealedSecret> {
        let documents = yaml::parse(FileId(0), text?, Limits::default());
        let is_it = |sealed: &SealedSecret| {
            let namespaces = (&sealed.namespace, &self.declared.namespace);
            let is_same = matches!(namespaces, (None, _) | (_, None)) || namespaces.0 == namespaces.1;
            sealed.name == self.declared.name && is_same
        };
        sealed_secrets(&documents).into_iter().map(|(_, sealed)| sealed).find(is_it)
    }

    /// The declared keys that the file does not have, and templates that are made again with them.
    fn work(&self, there: Option<&SealedSecret>) -> Vec<String> {
        let has = |key: &str| there.is_some_and(|there| has(there, key));
        let again = outdated(&self.values, has).into_iter();
        let again = again.map(|(template, used)| format!("{template} again, which uses {used}"));
        missing(&self.values, has).into_iter().chain(again).collect()
    }

    /// The text with what was missing in it, and what was done; nothing where nothing is missing.
    fn make(
        &self,
        home: &Home<'_>,
        text: &str,
        certificate: &Certificate,
    ) -> Result<Option<(String, String)>, SealFailure> {
        let there = self.find(Some(text));
        if self.work(there.as_ref()).is_empty() {
            return Ok(None);
        }
        let have = match &there {
            Some(there) => self.opened(home, there)?,
            None => BTreeMap::new(),
        };
        let made = generate(&self.values, &have);
        let made = made.map_err(|source| SealFailure::Generate { path: self.path.clone(), source })?;
        let manifest = SecretManifest {
            name: self.declared.name.clone(),
            namespace: self.declared.namespace.clone(),
            kind: self.declared.kind.clone(),
            data: made,
            ..SecretManifest::default()
        };
        let only = std::slice::from_ref(&manifest);
        let (after, what) = secret::put(text, only, self.scope, certificate, &self.path)?;
        Ok(Some((after, what.concat())))
    }

    /// Values that are there: names only, unless they have to be seen to make others.
    fn opened(&self, home: &Home<'_>, there: &SealedSecret) -> Result<BTreeMap<String, SecretBytes>, SealFailure> {
        let needs_values = needs_values(&self.values, |key| has(there, key));
        let ring = if needs_values { home.keys()?.1.ring } else { Ring::default() };
        let namespace = there.namespace.as_deref().or(self.declared.namespace.as_deref()).unwrap_or_default();
        let mut have = BTreeMap::new();
        for item in &there.items {
            let Some(key) = &item.key else { continue };
            let value = if needs_values {
                let fault = |source| SealFailure::Open { path: self.path.clone(), key: key.clone(), source };
                let envelope = Envelope::from_base64(&item.text).map_err(fault)?;
                ring.open(&envelope, &there.label(namespace)).map_err(fault)?.1
            } else {
                SecretBytes::from("")
            };
            have.insert(key.clone(), value);
        }
        Ok(have)
    }
}

fn has(there: &SealedSecret, key: &str) -> bool {
    there.items.iter().any(|item| item.key.as_deref() == Some(key))
}
