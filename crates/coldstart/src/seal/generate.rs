//! `coldstart seal generate`: what `coldstart.yaml` declares, made once.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::seal::generated::{Declared, Kind, generate};
use ::seal::key::{Certificate, GenerateOptions};
use ::seal::manifest::{SealedSecret, SecretManifest, sealed_secrets};
use ::seal::{Envelope, Ring, Scope, SecretBytes};
use read::GeneratedSecret;
use yaml::{FileId, Limits};

use super::arguments::Generate;
use super::failure::SealFailure;
use super::{Home, commit, now, say, secret, tree};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::Failure;

const LENGTH_DEFAULT: usize = 32;

pub(crate) fn run(options: &Generate) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    if home.settings.generate.is_empty() {
        let next = "declare some under `seal.generate` in coldstart.yaml";
        return Err(SealFailure::told(format!("no Secrets are declared\n  next: {next}")).into());
    }
    let mut plan = String::new();
    let mut wanted = Vec::new();
    for declared in &home.settings.generate {
        let path = home.at(Path::new(&declared.path.text));
        let missing = missing(declared, &path)?;
        if !missing.is_empty() {
            let _ = writeln!(plan, "  {} {}: {}", declared.path.text, declared.name, missing.join(", "));
            wanted.push((declared, path));
        }
    }
    if wanted.is_empty() {
        say("every declared value is there already")?;
        return Ok(exit::CLEAN);
    }
    confirm(&format!("make and seal:\n{plan}"), options.yes)?;
    let certificate = home.certificate(None)?;
    let mut written: Vec<PathBuf> = Vec::new();
    for (declared, path) in wanted {
        let what = write(&home, declared, &path, &certificate)?;
        say(&format!("{}: {what}", declared.path.text))?;
        if !written.contains(&path) {
            written.push(path);
        }
    }
    if let Some(told) = commit::deliver(home.root(), &written, "Seal generated values", &options.delivery)? {
        say(&told)?;
    }
    Ok(exit::CLEAN)
}

/// The declared keys that the file does not have.
fn missing(declared: &GeneratedSecret, path: &Path) -> Result<Vec<String>, SealFailure> {
    let there = existing(declared, path)?;
    let has =
        |key: &str| there.as_ref().is_some_and(|there| there.items.iter().any(|item| item.key.as_deref() == Some(key)));
    let absent = declared.values.iter().filter(|value| !has(&value.key));
    Ok(absent.flat_map(|value| [Some(&value.key), value.public_key.as_ref()]).flatten().cloned().collect())
}

fn existing(declared: &GeneratedSecret, path: &Path) -> Result<Option<SealedSecret>, SealFailure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(SealFailure::file(path)(error)),
    };
    let documents = yaml::parse(FileId(0), &text, Limits::default());
    let mut sealed = sealed_secrets(&documents).into_iter().map(|(_, sealed)| sealed);
    Ok(sealed.find(|sealed| sealed.name == declared.name))
}

fn write(
    home: &Home<'_>,
    declared: &GeneratedSecret,
    path: &Path,
    certificate: &Certificate,
) -> Result<String, SealFailure> {
    let told = |why: String| SealFailure::told(format!("coldstart.yaml:{}: {why}", declared.path.at.line));
    let mut values = Vec::new();
    for value in &declared.values {
        values.push(Declared {
            key: value.key.clone(),
            kind: value.kind.text.parse::<Kind>().map_err(told)?,
            length: value.length.unwrap_or(LENGTH_DEFAULT),
            template: value.template.clone(),
            public_key: value.public_key.clone(),
        });
    }
    let scope = declared.scope.as_ref().map(|scope| scope.text.parse::<Scope>());
    let scope = scope.transpose().map_err(|error| told(error.to_string()))?;
    let there = existing(declared, path)?;
    let have = match &there {
        Some(there) => opened(home, there, declared, path, &values)?,
        None => BTreeMap::new(),
    };
    let options = GenerateOptions::at(now());
    let made = generate(&values, &have, &options);
    let made = made.map_err(|source| SealFailure::Generate { path: path.to_path_buf(), source })?;
    let manifest = SecretManifest {
        name: declared.name.clone(),
        namespace: declared.namespace.clone(),
        kind: declared.kind.clone(),
        data: made,
        ..SecretManifest::default()
    };
    tree::change(path, |before| {
        let (after, what) = secret::put(before, std::slice::from_ref(&manifest), scope, certificate, path)?;
        Ok((Some(after), what.concat()))
    })
}

/// Values that are there: names only, unless a template needs to see them.
fn opened(
    home: &Home<'_>,
    there: &SealedSecret,
    declared: &GeneratedSecret,
    path: &Path,
    values: &[Declared],
) -> Result<BTreeMap<String, SecretBytes>, SealFailure> {
    let has = |key: &str| there.items.iter().any(|item| item.key.as_deref() == Some(key));
    let needs_text = values.iter().any(|value| value.kind == Kind::Template && !has(&value.key));
    let ring = if needs_text { home.keys()?.1.ring } else { Ring::default() };
    let namespace = there.namespace.as_deref().or(declared.namespace.as_deref()).unwrap_or_default();
    let mut have = BTreeMap::new();
    for item in &there.items {
        let Some(key) = &item.key else { continue };
        let value = if needs_text {
            let fault = |source| SealFailure::Open { path: path.to_path_buf(), key: key.clone(), source };
            let envelope = Envelope::from_base64(&item.text).map_err(fault)?;
            ring.open(&envelope, &there.label(namespace)).map_err(fault)?.1
        } else {
            SecretBytes::from("")
        };
        have.insert(key.clone(), value);
    }
    Ok(have)
}
