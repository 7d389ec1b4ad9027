//! Values on their way into a Secret: from files, variables, standard input and questions. Never from the command line.

use std::io;
use std::path::{Path, PathBuf};

use ::seal::manifest::{SecretManifest, to_json};
use ::seal::{SecretBytes, VALUE_BYTES_MAX};
use yaml::{FileId, Limits};

use super::arguments::Secret;
use super::ask;
use super::failure::SealFailure;

/// What a file of manifests or of variables may have.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// All Secrets that the options describe: those of a manifest, or one made of its values.
pub(crate) fn secrets(options: &Secret) -> Result<Vec<SecretManifest>, SealFailure> {
    let mut secrets = match &options.manifest {
        Some(path) => manifests(path)?,
        None => vec![SecretManifest::default()],
    };
    let place = || options.manifest.as_ref().map_or_else(|| "the Secret".to_owned(), |path| path.display().to_string());
    let is_single = secrets.len() == 1;
    for secret in &mut secrets {
        if let Some(namespace) = &options.namespace {
            secret.namespace = Some(namespace.clone());
        }
        if let Some(kind) = &options.kind {
            secret.kind = Some(kind.clone());
        }
        if let Some(name) = options.name.as_ref().filter(|_| is_single) {
            secret.name.clone_from(name);
        }
    }
    let values = values(options)?;
    if !values.is_empty() && !is_single {
        return Err(SealFailure::told(format!(
            "{} holds several Secrets: further values belong to none of them",
            place()
        )));
    }
    if let Some(secret) = secrets.first_mut() {
        for (key, value) in values {
            secret.put(&key, value).map_err(|source| SealFailure::Secret { place: place(), source })?;
        }
    }
    Ok(secrets)
}

fn manifests(path: &Path) -> Result<Vec<SecretManifest>, SealFailure> {
    let place = || if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = read(path, FILE_BYTES_MAX)?;
    let text = bytes.expose_text().ok_or_else(|| SealFailure::told(format!("{} is no text", place())))?;
    let mut secrets = Vec::new();
    for document in yaml::parse(FileId::GENERATED, text, Limits::default()) {
        if !document.problems.is_empty() {
            // What the parser says may quote the text.
            return Err(SealFailure::told(format!("{} is no YAML", place())));
        }
        if let Some(root) = document.root.filter(|root| !root.is_null()) {
            let items = root.items_at("items");
            let objects = if items.is_empty() { std::slice::from_ref(&root) } else { items };
            for object in objects {
                let secret = SecretManifest::of(object);
                secrets.push(secret.map_err(|source| SealFailure::Secret { place: place(), source })?);
            }
        }
    }
    if secrets.is_empty() { Err(SealFailure::told(format!("{} holds no Secret", place()))) } else { Ok(secrets) }
}

fn values(options: &Secret) -> Result<Vec<(String, SecretBytes)>, SealFailure> {
    let mut values = Vec::new();
    for said in &options.from_file {
        let (key, path) = key_and_path(said)?;
        values.push((key, read(&path, VALUE_BYTES_MAX)?));
    }
    for path in &options.from_env_file {
        values.extend(env_file(path)?);
    }
    for said in &options.from_env {
        let (key, variable) = pair(said, "KEY=VARIABLE")?;
        let value = std::env::var_os(variable);
        let value = value.ok_or_else(|| SealFailure::told(format!("there is no environment variable `{variable}`")))?;
        values.push((key.to_owned(), SecretBytes::new(value.into_encoded_bytes())));
    }
    for said in &options.structure {
        let (key, path) = key_and_path(said)?;
        values.push((key, structure(&path)?));
    }
    if let Some(key) = &options.from_stdin {
        values.push((key.clone(), read(Path::new("-"), VALUE_BYTES_MAX)?.without_line_end()));
    }
    for key in &options.prompt {
        let value = ask::unseen(&format!("value of {key}"));
        values.push((key.clone(), value.map_err(|why| SealFailure::told(format!("no value for {key}: {why}")))?));
    }
    Ok(values)
}

/// A whole file, or standard input for `-`.
pub(crate) fn read(path: &Path, limit: usize) -> Result<SecretBytes, SealFailure> {
    if path == Path::new("-") {
        return SecretBytes::read(io::stdin().lock(), limit).map_err(SealFailure::file("standard input"));
    }
    let bytes = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, limit));
    bytes.map_err(SealFailure::file(path))
}

fn pair<'a>(said: &'a str, form: &str) -> Result<(&'a str, &'a str), SealFailure> {
    let found = said.split_once('=').filter(|(key, rest)| !key.is_empty() && !rest.is_empty());
    // Not quoted back: people put values where names belong.
    found.ok_or_else(|| SealFailure::told(format!("one of the values is not given as {form}")))
}

fn key_and_path(said: &str) -> Result<(String, PathBuf), SealFailure> {
    if said.contains('=') {
        let (key, path) = pair(said, "KEY=FILE")?;
        return Ok((key.to_owned(), PathBuf::from(path)));
    }
    let path = PathBuf::from(said);
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok((name.ok_or_else(|| SealFailure::told("one of the values is not given as KEY=FILE"))?, path))
}

/// `KEY=VALUE` lines, as kubectl reads them: no quotes, no escapes; a key alone takes its value from the environment.
fn env_file(path: &Path) -> Result<Vec<(String, SecretBytes)>, SealFailure> {
    let bytes = read(path, FILE_BYTES_MAX)?;
    let text = bytes.expose_text().ok_or_else(|| SealFailure::told(format!("{} is no text", path.display())))?;
    let mut values = Vec::new();
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let line = line.trim_start();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = || format!("{}:{}", path.display(), index + 1);
        if let Some((key, value)) = line.split_once('=') {
            values.push((key.to_owned(), SecretBytes::from(value)));
        } else {
            let value = std::env::var_os(line.trim_end());
            let missing = || SealFailure::told(format!("{}: neither KEY=VALUE nor an environment variable", at()));
            values
                .push((line.trim_end().to_owned(), SecretBytes::new(value.ok_or_else(missing)?.into_encoded_bytes())));
        }
    }
    Ok(values)
}

fn structure(path: &Path) -> Result<SecretBytes, SealFailure> {
    let bytes = read(path, VALUE_BYTES_MAX)?;
    let wrong = |why: &str| SealFailure::told(format!("{}: {why}", path.display()));
    let text = bytes.expose_text().ok_or_else(|| wrong("it is no text"))?;
    let mut documents = yaml::parse(FileId::GENERATED, text, Limits::default()).into_iter();
    let document = documents.next().ok_or_else(|| wrong("there is nothing in it"))?;
    if !document.problems.is_empty() || documents.next().is_some() {
        return Err(wrong("it is not one YAML or JSON document"));
    }
    let root = document.root.ok_or_else(|| wrong("there is nothing in it"))?;
    Ok(to_json(&root).into_bytes())
}
