//! Values on their way into a Secret: from files, variables, standard input and questions. Never from the command line.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use ::seal::manifest::{SecretManifest, inexact, to_json};
use ::seal::{SecretBytes, VALUE_BYTES_MAX, env_values};
use yaml::{FileId, Limits, Node, Span};

use super::arguments::Secret;
use super::failure::SealFailure;
use super::{ask, secret};
use crate::output;

/// What a file of manifests or of variables may have.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;
const NO_TEXT: &str = "\n  next: the same with a text file; a value of bytes goes with --from-file KEY=FILE";
const EMPTY_INPUT: &str = "standard input is empty; did the program before it fail?";

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
        return Err(SealFailure::told(format!(
            "{} holds several Secrets: --name can't name them all\n  next: the same without --name",
            place()
        )));
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
        return Err(SealFailure::told(format!(
            "{} holds several Secrets: further values belong to none of them\n  next: the values by a command of their own, with --name",
            place()
        )));
    }
    if let Some(secret) = secrets.first_mut() {
        for (key, value) in values {
            if secret.data.contains_key(&key) {
                return Err(SealFailure::told(format!(
                    "there are two values for `{key}`\n  next: the same with one of them"
                )));
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
        return Err(SealFailure::told(
            "standard input can be read once, and is asked for more than once\n  next: the same with a file for the others",
        ));
    }
    Ok(())
}

/// Of two Secrets of one name, one would take the place of the other in the cluster.
fn each_once(secrets: &[SecretManifest], lines: &[usize], place: &str) -> Result<(), SealFailure> {
    let mut seen: BTreeMap<(&str, Option<&str>), usize> = BTreeMap::new();
    for (secret, line) in secrets.iter().zip(lines) {
        if let Some(first) = seen.insert((&secret.name, secret.namespace.as_deref()), *line) {
            return Err(SealFailure::told(format!(
                "{place}:{first} and {place}:{line} are both Secret {}; nothing was sealed\n  next: make one Secret of them, or give one another name",
                secret::name(secret)
            )));
        }
    }
    Ok(())
}

/// The Secrets of a file, and the line of each.
fn manifests(path: &Path) -> Result<(Vec<SecretManifest>, Vec<usize>), SealFailure> {
    let place = || if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = read_unnamed(path, "--manifest")?;
    let text = bytes.expose_text().ok_or_else(|| SealFailure::told(format!("{} is no text{NO_TEXT}", place())))?;
    let (mut secrets, mut lines) = (Vec::new(), Vec::new());
    // Counted on from the one before: from the top for each would be slow for many.
    let (mut counted, mut at_line) = (0, 1);
    for document in yaml::parse(FileId::GENERATED, text, Limits::default()) {
        if let Some(problem) = document.problems.first() {
            // What the parser says may quote the text.
            return Err(SealFailure::told(format!(
                "{} is no YAML: line {}\n  next: mend that line, then the same command again",
                place(),
                line(text, problem.span)
            )));
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
        return Err(SealFailure::told(format!(
            "{} holds no Secret\n  next: a manifest of kind Secret, or values: coldstart seal secret --help",
            place()
        )));
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
        let missing = || {
            SealFailure::told(format!(
                "the environment variable that is named for `{key}` is not there\n  next: export it, then the same command again"
            ))
        };
        let value = SecretBytes::new(value.ok_or_else(missing)?.into_encoded_bytes());
        if value.is_empty() {
            return Err(nothing_there(key, "the environment variable that is named for it is empty"));
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
            return Err(nothing_there(key, EMPTY_INPUT));
        }
        values.push((key.clone(), value));
    }
    for key in &options.prompt {
        is_key(key)?;
        let value = ask::unseen(&format!("value of {key}"));
        let next = format!("--from-stdin {key}, or --from-file {key}=FILE");
        let value = value.map_err(|why| SealFailure::told(format!("no value for {key}: {why}\n  next: {next}")))?;
        if value.is_empty() {
            return Err(nothing_there(key, "the answer is empty"));
        }
        values.push((key.clone(), value));
    }
    Ok(values)
}

fn is_key(key: &str) -> Result<(), SealFailure> {
    SecretManifest::check_key(key).map_err(|source| SealFailure::Secret { place: "the Secret".to_owned(), source })
}

fn nothing_there(key: &str, why: &str) -> SealFailure {
    SealFailure::told(format!(
        "no value for `{key}`: {why}\n  next: an empty value, if that is meant, goes with --from-file {key}=/dev/null"
    ))
}

/// The bytes of a value. The path is not repeated: people put values where paths belong.
fn value_file(key: &str, path: &Path) -> Result<SecretBytes, SealFailure> {
    let unreadable = |why: &dyn std::fmt::Display| {
        SealFailure::told(format!(
            "the file that is named for `{key}` can't be read: {why}\n  next: the same with --from-file {key}=FILE, or --from-stdin {key}"
        ))
    };
    if path == Path::new("-") {
        if io::stdin().is_terminal() {
            let unseen = format!("--prompt {key} does not show it");
            output::remark(&format!("reading the value of {key} from this terminal, until Ctrl-D; {unseen}"));
        }
        let bytes = read(path, VALUE_BYTES_MAX)?;
        return if bytes.is_empty() { Err(nothing_there(key, EMPTY_INPUT)) } else { Ok(bytes) };
    }
    let bytes = std::fs::File::open(path).and_then(|file| SecretBytes::read(file, VALUE_BYTES_MAX));
    bytes.map_err(|error| unreadable(&error))
}

/// The same, without what stands there in a message unless it is a file: people put values where paths belong.
fn read_unnamed(path: &Path, option: &str) -> Result<SecretBytes, SealFailure> {
    let is_known = path == Path::new("-") || path.exists();
    read(path, FILE_BYTES_MAX).map_err(|failure| match failure {
        SealFailure::File { source, .. } if !is_known => SealFailure::told(format!(
            "the file that is named for {option} can't be read: {source}\n  next: the same with a file, or - for standard input"
        )),
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

fn pair<'a>(said: &'a str, form: &str) -> Result<(&'a str, &'a str), SealFailure> {
    let found = said.split_once('=').filter(|(key, rest)| !key.is_empty() && !rest.is_empty());
    // Not quoted back: people put values where names belong.
    let found = found.ok_or_else(|| {
        SealFailure::told(format!("one of the values is not given as {form}\n  next: coldstart seal secret --help"))
    })?;
    is_key(found.0)?;
    Ok(found)
}

fn key_and_path(said: &str) -> Result<(String, PathBuf), SealFailure> {
    if said.contains('=') {
        let (key, path) = pair(said, "KEY=FILE")?;
        return Ok((key.to_owned(), PathBuf::from(path)));
    }
    let path = PathBuf::from(said);
    let wrong = || {
        SealFailure::told(
            "one of the values is not given as KEY=FILE, nor is it a file\n  next: coldstart seal secret --help",
        )
    };
    let name = path.file_name().filter(|_| path.exists()).map(|name| name.to_string_lossy().into_owned());
    let name = name.ok_or_else(wrong)?;
    is_key(&name)?;
    Ok((name, path))
}

/// The values of a file of variables.
fn env_file(path: &Path) -> Result<Vec<(String, SecretBytes)>, SealFailure> {
    let bytes = read_unnamed(path, "--from-env-file")?;
    let text =
        bytes.expose_text().ok_or_else(|| SealFailure::told(format!("{} is no text{NO_TEXT}", path.display())))?;
    env_values(text).map_err(|error| SealFailure::told(format!("{}:{}: {}", path.display(), error.line, error.fault)))
}

fn structure(bytes: &SecretBytes, path: &Path) -> Result<SecretBytes, SealFailure> {
    let wrong = |why: &str| SealFailure::told(format!("{}: {why}", path.display()));
    let text = bytes
        .expose_text()
        .ok_or_else(|| wrong("it is no text\n  next: a file as it is goes with --from-file KEY=FILE"))?;
    let mut documents = yaml::parse(FileId::GENERATED, text, Limits::default()).into_iter();
    let wrong_at = |span, why: &str| SealFailure::told(format!("{}:{}: {why}", path.display(), line(text, span)));
    let document = documents
        .next()
        .ok_or_else(|| wrong("there is nothing in it\n  next: the same with a file that has a structure"))?;
    if let Some(problem) = document.problems.first() {
        return Err(wrong_at(
            problem.span,
            "it is no YAML or JSON\n  next: mend it; a file as it is goes with --from-file KEY=FILE",
        ));
    }
    if documents.next().is_some() {
        return Err(wrong(
            "it is more than one YAML or JSON document\n  next: the same with a file of one; all as they are: --from-file KEY=FILE",
        ));
    }
    let root = document
        .root
        .ok_or_else(|| wrong("there is nothing in it\n  next: the same with a file that has a structure"))?;
    if let Some((span, why)) = inexact(&root) {
        return Err(wrong_at(span, &format!("{why}\n  next: quote it, to have it carried as it is written")));
    }
    Ok(to_json(&root).into_bytes())
}
