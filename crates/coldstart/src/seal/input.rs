//! Values on their way into a Secret: from files, variables, standard input and questions. Never from the command line.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use ::seal::manifest::{SecretManifest, inexact, to_json};
use ::seal::{SecretBytes, VALUE_BYTES_MAX, env_values};
use source::{FileId, Span};
use yaml::{Limits, Node};

use super::arguments::Secret;
use super::failure::{EmptyValue, InputFailure, SealFailure, StructureFault};
use super::{ask, secret};
use crate::output;

/// What a file of manifests or of variables may have.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// All Secrets that the options describe: those of a manifest, or one made of its values.
pub(crate) fn secrets(options: &Secret) -> Result<Vec<SecretManifest>, SealFailure> {
    standard_input_once(options)?;
    let (mut secrets, lines) = match &options.manifest {
        Some(path) => manifests(path)?,
        None => (vec![SecretManifest::default()], Vec::new()),
    };
    let place = || options.manifest.as_ref().map_or_else(|| "the Secret".to_owned(), |path| path.display().to_string());
    let is_single = secrets.len() == 1;
    if options.name.is_some() && !is_single {
        return Err(InputFailure::SeveralToName { place: place() }.into());
    }
    for secret in &mut secrets {
        if let Some(namespace) = &options.namespace {
            secret.namespace = Some(namespace.clone());
        }
        if let Some(kind) = &options.kind {
            secret.kind = Some(kind.clone());
        }
        if let Some(name) = &options.name {
            secret.name.clone_from(name);
        }
    }
    each_once(&secrets, &lines, &place())?;
    let values = values(options)?;
    if !values.is_empty() && !is_single {
        return Err(InputFailure::SeveralForValues { place: place() }.into());
    }
    if let Some(secret) = secrets.first_mut() {
        for (key, value) in values {
            if secret.data.contains_key(&key) {
                return Err(InputFailure::TwoValues { key }.into());
            }
            secret.put(&key, value).map_err(|source| SealFailure::Secret { place: place(), source })?;
        }
    }
    Ok(secrets)
}

/// Whoever reads standard input second finds it empty.
fn standard_input_once(options: &Secret) -> Result<(), SealFailure> {
    let dash = Path::new("-");
    let files = options.from_file.iter().chain(&options.structure);
    let named = files.filter(|said| *said == "-" || said.ends_with("=-")).count()
        + options.from_env_file.iter().chain(&options.manifest).filter(|path| *path == dash).count()
        + usize::from(options.from_stdin.is_some());
    if named > 1 {
        return Err(InputFailure::StandardInputTwice.into());
    }
    Ok(())
}

/// Of two Secrets of one name, one would take the place of the other in the cluster.
fn each_once(secrets: &[SecretManifest], lines: &[usize], place: &str) -> Result<(), SealFailure> {
    let mut seen: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    for (secret, line) in secrets.iter().zip(lines) {
        if let Some(first) = seen.insert((&secret.name, secret.namespace.as_deref()), *line) {
            let (place, name) = (place.to_owned(), secret::name(secret));
            return Err(InputFailure::SecretTwice { place, first, second: *line, name }.into());
        }
    }
    Ok(())
}

/// The Secrets of a file, and the line of each.
fn manifests(path: &Path) -> Result<(Vec<SecretManifest>, Vec<usize>), SealFailure> {
    let place = || if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = read_unnamed(path, "--manifest")?;
    let text = bytes.expose_text().ok_or_else(|| InputFailure::NotText { place: place() })?;
    let (mut secrets, mut lines) = (Vec::new(), Vec::new());
    // Counted on from the one before: from the top for each would be slow for many.
    let (mut counted, mut at_line) = (0, 1);
    for document in yaml::parse(FileId::GENERATED, text, Limits::default()) {
        if let Some(problem) = document.problems.first() {
            // What the parser says may quote the text.
            return Err(InputFailure::NotYaml { place: place(), line: line(text, problem.span) }.into());
        }
        if let Some(root) = document.root.filter(|root| !root.is_null()) {
            let items = root.items_at("items");
            let objects = if items.is_empty() { std::slice::from_ref(&root) } else { items };
            for object in objects {
                let secret = SecretManifest::of(object);
                secrets.push(secret.map_err(|source| SealFailure::Secret { place: place(), source })?);
                let span = object.at(&["metadata", "name"]).map_or(object.span, |name: &Node| name.span);
                let start = span.start as usize;
                at_line += text.bytes().take(start).skip(counted).filter(|byte| *byte == b'\n').count();
                counted = counted.max(start);
                lines.push(at_line);
            }
        }
    }
    if secrets.is_empty() {
        return Err(InputFailure::NoSecret { place: place() }.into());
    }
    Ok((secrets, lines))
}

/// The line of a place, without a copy of the text.
pub(crate) fn line(text: &str, span: Span) -> usize {
    text.bytes().take(span.start as usize).filter(|byte| *byte == b'\n').count() + 1
}

fn values(options: &Secret) -> Result<Vec<(String, SecretBytes)>, SealFailure> {
    let mut values = Vec::new();
    for said in &options.from_file {
        let (key, path) = key_and_path(said)?;
        values.push((key.clone(), value_file(&key, &path)?));
    }
    for path in &options.from_env_file {
        values.extend(env_file(path)?);
    }
    for said in &options.from_env {
        let (key, variable) = pair(said, "KEY=VARIABLE")?;
        let value = std::env::var_os(variable);
        // Not quoted back: people put values where names belong.
        let missing = || InputFailure::NoVariable { key: key.to_owned() };
        let value = SecretBytes::new(value.ok_or_else(missing)?.into_encoded_bytes());
        if value.is_empty() {
            return Err(nothing_there(key, EmptyValue::Variable));
        }
        values.push((key.to_owned(), value));
    }
    for said in &options.structure {
        let (key, path) = key_and_path(said)?;
        let bytes = value_file(&key, &path)?;
        values.push((key, structure(&bytes, &path)?));
    }
    if let Some(key) = &options.from_stdin {
        is_key(key)?;
        let value = value_file(key, Path::new("-"))?.without_line_end();
        if value.is_empty() {
            return Err(nothing_there(key, EmptyValue::StandardInput));
        }
        values.push((key.clone(), value));
    }
    for key in &options.prompt {
        is_key(key)?;
        let value = ask::unseen(&format!("value of {key}"));
        let value = value.map_err(|why| InputFailure::Unanswered { key: key.clone(), why })?;
        if value.is_empty() {
            return Err(nothing_there(key, EmptyValue::Answer));
        }
        values.push((key.clone(), value));
    }
    Ok(values)
}

fn is_key(key: &str) -> Result<(), SealFailure> {
    SecretManifest::check_key(key).map_err(|source| SealFailure::Secret { place: "the Secret".to_owned(), source })
}

fn nothing_there(key: &str, why: EmptyValue) -> SealFailure {
    InputFailure::Empty { key: key.to_owned(), why }.into()
}

/// The bytes of a value. The path is not repeated: people put values where paths belong.
fn value_file(key: &str, path: &Path) -> Result<SecretBytes, SealFailure> {
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            let unseen = format!("--prompt {key} does not show it");
            output::remark(&format!("reading the value of {key} from this terminal, until Ctrl-D; {unseen}"));
        }
        let bytes = read(path, VALUE_BYTES_MAX)?;
        return if bytes.is_empty() { Err(nothing_there(key, EmptyValue::StandardInput)) } else { Ok(bytes) };
    }
    let bytes = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, VALUE_BYTES_MAX));
    bytes.map_err(|source| InputFailure::UnreadableValue { key: key.to_owned(), source }.into())
}

/// The same, without what stands there in a message unless it is a file: people put values where paths belong.
fn read_unnamed(path: &Path, option: &'static str) -> Result<SecretBytes, SealFailure> {
    let is_known = path == Path::new("-") || path.exists();
    read(path, FILE_BYTES_MAX).map_err(|failure| match failure {
        SealFailure::File { source, .. } if !is_known => InputFailure::UnreadableFile { option, source }.into(),
        other => other,
    })
}

/// A whole file, or standard input for `-`.
pub(crate) fn read(path: &Path, limit: usize) -> Result<SecretBytes, SealFailure> {
    if path == Path::new("-") {
        return SecretBytes::read(io::stdin().lock(), limit).map_err(SealFailure::file("standard input"));
    }
    let bytes = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, limit));
    bytes.map_err(SealFailure::file(path))
}

fn pair<'a>(said: &'a str, form: &'static str) -> Result<(&'a str, &'a str), SealFailure> {
    let found = said.split_once('=').filter(|(key, rest)| !key.is_empty() && !rest.is_empty());
    // Not quoted back: people put values where names belong.
    let found = found.ok_or(InputFailure::Form { form })?;
    is_key(found.0)?;
    Ok(found)
}

fn key_and_path(said: &str) -> Result<(String, PathBuf), SealFailure> {
    if said.contains('=') {
        let (key, path) = pair(said, "KEY=FILE")?;
        return Ok((key.to_owned(), PathBuf::from(path)));
    }
    let path = PathBuf::from(said);
    let name = path.file_name().filter(|_| path.exists()).map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or(InputFailure::NeitherKeyNorFile)?;
    is_key(&name)?;
    Ok((name, path))
}

/// The values of a file of variables.
fn env_file(path: &Path) -> Result<Vec<(String, SecretBytes)>, SealFailure> {
    let bytes = read_unnamed(path, "--from-env-file")?;
    let text = bytes.expose_text().ok_or_else(|| InputFailure::NotText { place: path.display().to_string() })?;
    env_values(text).map_err(|source| InputFailure::EnvFile { path: path.to_path_buf(), source }.into())
}

fn structure(bytes: &SecretBytes, path: &Path) -> Result<SecretBytes, SealFailure> {
    let wrong_at = |line, why| SealFailure::from(InputFailure::Structure { path: path.to_path_buf(), line, why });
    let wrong = |why| wrong_at(None, why);
    let text = bytes.expose_text().ok_or_else(|| wrong(StructureFault::NotText))?;
    let mut documents = yaml::parse(FileId::GENERATED, text, Limits::default()).into_iter();
    let document = documents.next().ok_or_else(|| wrong(StructureFault::Empty))?;
    if let Some(problem) = document.problems.first() {
        return Err(wrong_at(Some(line(text, problem.span)), StructureFault::NotYaml));
    }
    if documents.next().is_some() {
        return Err(wrong(StructureFault::Several));
    }
    let root = document.root.ok_or_else(|| wrong(StructureFault::Empty))?;
    if let Some((span, why)) = inexact(&root) {
        return Err(wrong_at(Some(line(text, span)), why.into()));
    }
    Ok(to_json(&root).into_bytes())
}
