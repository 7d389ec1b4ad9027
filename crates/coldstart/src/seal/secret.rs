//! `coldstart seal secret`.

use std::path::Path;

use ::seal::Scope;
use ::seal::manifest::{Change, SealedSecret, SecretManifest, edit};
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
        let mut text = before;
        let mut wrote = Vec::new();
        for secret in &secrets {
            let (after, what) = put(text.take(), secret, said, &certificate, &path)?;
            text = Some(after);
            wrote.push(what);
        }
        Ok((text, wrote))
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

/// The text with the Secret's values in it: in the SealedSecret of that name, or as a document more.
pub(crate) fn put(
    text: Option<String>,
    secret: &SecretManifest,
    scope: Option<Scope>,
    certificate: &::seal::key::Certificate,
    path: &Path,
) -> Result<(String, String), SealFailure> {
    let fault = |source| SealFailure::Secret { place: path.display().to_string(), source };
    let before = text.unwrap_or_default();
    let Some((document, there)) = existing(&before, secret, path)? else {
        let new = secret.to_sealed_yaml(certificate, scope.unwrap_or_else(|| secret.scope())).map_err(fault)?;
        let text = if before.trim().is_empty() { new } else { format!("{}\n{new}", before.trim_end()) };
        return Ok((text, format!("sealed {} ({})", name(secret), count(secret.data.len()))));
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
    let change = |(key, value): (String, String)| Change { document, key: Some(key), value };
    let changes: Vec<Change> = items.into_iter().map(change).collect();
    let after = edit(&before, &changes).map_err(|source| SealFailure::Edit { path: path.to_path_buf(), source })?;
    Ok((after, format!("sealed {} of {}", count(changes.len()), name(&bound))))
}

/// The SealedSecret of the same name, and the number of its document.
fn existing(text: &str, secret: &SecretManifest, path: &Path) -> Result<Option<(usize, SealedSecret)>, SealFailure> {
    let documents = yaml::parse(FileId(0), text, Limits::default());
    if documents.iter().any(|document| !document.problems.is_empty()) {
        return Err(SealFailure::told(format!("{} is no YAML; nothing was written", path.display())));
    }
    let sealed = documents
        .iter()
        .enumerate()
        .filter_map(|(index, document)| Some((index, document.root.as_ref().and_then(SealedSecret::of)?)));
    let is_same = |there: &SealedSecret| {
        let same_namespace =
            there.namespace.is_none() || secret.namespace.is_none() || there.namespace == secret.namespace;
        there.name == secret.name && same_namespace
    };
    let all: Vec<(usize, SealedSecret)> = sealed.collect();
    // A file of one SealedSecret is meant when nobody gave a name.
    if secret.name.is_empty() && all.len() == 1 {
        return Ok(all.into_iter().next());
    }
    Ok(all.into_iter().find(|(_, there)| is_same(there)))
}

pub(crate) fn count(number: usize) -> String {
    if number == 1 { "1 item".to_owned() } else { format!("{number} items") }
}
