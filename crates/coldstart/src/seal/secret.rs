//! `coldstart seal secret`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::seal::Scope;
use ::seal::key::Certificate;
use ::seal::manifest::{Change, Place, SealedSecret, SecretManifest, edit, sealed_secrets};
use yaml::{FileId, Limits};

use super::arguments::Secret;
use super::failure::SealFailure;
use super::{Home, commit, input, say, tree};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

pub(crate) fn run(options: &Secret) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let secrets = input::secrets(options)?;
    let scope = |secret: &SecretManifest| options.scope.map_or_else(|| secret.scope(), Scope::from);
    let fault = |source| SealFailure::Secret { place: "the Secret".to_owned(), source };
    let certificate = home.certificate(options.certificate.as_deref())?;
    if options.raw {
        let secret = secrets.first().ok_or_else(|| SealFailure::told("there is no value to seal"))?;
        if secret.data.len() != 1 {
            return Err(SealFailure::told("--raw seals one value: give one").into());
        }
        let mut secret = secret.clone();
        if secret.name.is_empty() && scope(&secret) != Scope::Strict {
            // Wider scopes are bound to no name.
            "any".clone_into(&mut secret.name);
        }
        for value in secret.seal(&certificate, scope(&secret)).map_err(fault)?.values() {
            say(value)?;
        }
        return Ok(exit::CLEAN);
    }
    let Some(out) = &options.out else {
        let sealed = read::parallel::map(&secrets, |secret| secret.to_sealed_yaml(&certificate, scope(secret)));
        let sealed: Result<String, _> = sealed.into_iter().collect();
        output::print(&sealed.map_err(fault)?)?;
        return Ok(exit::CLEAN);
    };
    let path = home.at(out);
    let said = options.scope.map(Scope::from);
    let wrote = tree::change(&path, |before| {
        let (after, wrote) = put(before, &secrets, said, &certificate, &path)?;
        Ok((Some(after), wrote))
    })?;
    for what in &wrote {
        say(&format!("{}: {what}", out.display()))?;
    }
    let message = format!("Seal {}", secrets.iter().map(name).collect::<Vec<_>>().join(", "));
    if let Some(told) = commit::deliver(home.root(), &[path], &message, &options.delivery)? {
        say(&told)?;
    }
    Ok(exit::CLEAN)
}

pub(crate) fn name(secret: &SecretManifest) -> String {
    secret.namespace.as_ref().map_or_else(|| secret.name.clone(), |namespace| format!("{namespace}/{}", secret.name))
}

/// The text with the values of Secrets in it, each in the SealedSecret of its name, or as a document more; and what was
/// done. All or nothing.
pub(crate) fn put(
    text: Option<String>,
    secrets: &[SecretManifest],
    scope: Option<Scope>,
    certificate: &Certificate,
    path: &Path,
) -> Result<(String, Vec<String>), SealFailure> {
    let mut text = text.unwrap_or_default();
    let mut wrote = Vec::new();
    let mut rest: Vec<&SecretManifest> = secrets.iter().collect();
    while !rest.is_empty() {
        // The file is read once for all; only a Secret that comes twice must see what the first one wrote.
        let (now, later) = without_repeats(rest);
        let (after, what) = put_once(&text, &now, scope, certificate, path)?;
        text = after;
        wrote.extend(what);
        rest = later;
    }
    Ok((text, wrote))
}

/// Secrets of different names or namespaces, and those that may be one of them again.
fn without_repeats(secrets: Vec<&SecretManifest>) -> (Vec<&SecretManifest>, Vec<&SecretManifest>) {
    let mut seen: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    secrets.into_iter().partition(|secret| {
        let namespaces = seen.entry(secret.name.as_str()).or_default();
        let namespace = secret.namespace.as_deref();
        // One that says no namespace goes into whichever is there.
        let is_open = namespace.is_none() || namespaces.contains(&None);
        (namespaces.is_empty() || !is_open) && namespaces.insert(namespace)
    })
}

/// What becomes of one Secret: changes of a SealedSecret that is there, or a document more.
enum Put {
    Changes(Vec<Change>),
    Document(String),
}

fn put_once(
    before: &str,
    secrets: &[&SecretManifest],
    scope: Option<Scope>,
    certificate: &Certificate,
    path: &Path,
) -> Result<(String, Vec<String>), SealFailure> {
    let documents = yaml::parse(FileId(0), before, Limits::default());
    if documents.iter().any(|document| !document.problems.is_empty()) {
        return Err(SealFailure::told(format!("{} is no YAML; nothing was written", path.display())));
    }
    let there = There::new(sealed_secrets(&documents));
    let sealed = read::parallel::map(secrets, |secret| seal_one(secret, there.find(secret), scope, certificate, path));
    let (mut changes, mut added, mut wrote) = (Vec::new(), String::new(), Vec::new());
    for one in sealed {
        let (put, what) = one?;
        wrote.push(what);
        match put {
            Put::Changes(more) => changes.extend(more),
            Put::Document(text) => added.push_str(&text),
        }
    }
    let fault = |source| SealFailure::Edit { path: path.to_path_buf(), source };
    let after = if changes.is_empty() { before.to_owned() } else { edit(before, &changes).map_err(fault)? };
    if added.is_empty() {
        return Ok((after, wrote));
    }
    let text = if after.trim().is_empty() { added } else { format!("{}\n{added}", after.trim_end()) };
    Ok((text, wrote))
}

fn seal_one(
    secret: &SecretManifest,
    there: Option<&(Place, SealedSecret)>,
    scope: Option<Scope>,
    certificate: &Certificate,
    path: &Path,
) -> Result<(Put, String), SealFailure> {
    let fault = |source| SealFailure::Secret { place: path.display().to_string(), source };
    let Some((place, there)) = there else {
        let new = secret.to_sealed_yaml(certificate, scope.unwrap_or_else(|| secret.scope())).map_err(fault)?;
        return Ok((Put::Document(new), format!("sealed {} ({})", name(secret), count(secret.data.len()))));
    };
    // Items of one SealedSecret share its scope.
    if let Some(scope) = scope.filter(|scope| *scope != there.scope) {
        return Err(SealFailure::told(format!(
            "{}: {} is sealed {}, and one SealedSecret has one scope: {scope} can't be mixed in; nothing was written",
            path.display(),
            there.name,
            there.scope
        )));
    }
    let mut bound = secret.clone();
    bound.name.clone_from(&there.name);
    bound.namespace = there.namespace.clone().or_else(|| secret.namespace.clone());
    let items = bound.seal(certificate, there.scope).map_err(fault)?;
    let change = |(key, value): (String, String)| Change { place: place.clone(), key: Some(key), value };
    let changes: Vec<Change> = items.into_iter().map(change).collect();
    let what = format!("sealed {} of {}", count(changes.len()), name(&bound));
    Ok((Put::Changes(changes), what))
}

/// The SealedSecrets of a file, to be found by their names.
struct There {
    all: Vec<(Place, SealedSecret)>,
    by_name: BTreeMap<String, Vec<usize>>,
}

impl There {
    fn new(all: Vec<(Place, SealedSecret)>) -> Self {
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, (_, sealed)) in all.iter().enumerate() {
            by_name.entry(sealed.name.clone()).or_default().push(index);
        }
        Self { all, by_name }
    }

    /// The SealedSecret that a Secret belongs into.
    fn find(&self, secret: &SecretManifest) -> Option<&(Place, SealedSecret)> {
        // A file of one SealedSecret is meant when nobody gave a name.
        if secret.name.is_empty() && self.all.len() == 1 {
            return self.all.first();
        }
        let is_same = |(_, there): &&(Place, SealedSecret)| {
            there.namespace.is_none() || secret.namespace.is_none() || there.namespace == secret.namespace
        };
        self.by_name.get(&secret.name)?.iter().filter_map(|index| self.all.get(*index)).find(is_same)
    }
}

pub(crate) fn count(number: usize) -> String {
    if number == 1 { "1 item".to_owned() } else { format!("{number} items") }
}
