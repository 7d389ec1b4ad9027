//! SOPS files in `coldstart seal verify`: encrypted, to the right recipients, and the identity at hand opens them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::seal::SecretBytes;
use ::seal::age_program::AgeProgramError;
use ::seal::sops::{AgeRecipient, SopsFile, of_env, of_ini};
use ::seal::store::identities_of;
use read::Repository;
use yaml::{Document, FileId, Limits, Node, Source, Span};

use super::failure::SealFailure;
use super::sops_rules::{RULES_FILE, Rule, Rules};
use super::verify::Report;
use super::{Home, children, input, tree};

const NOT_OPENED: &str = "is not opened by the age identity at hand";
const KEYS_BYTES_MAX: usize = 256 * 1024;

/// The formats that SOPS knows by the endings of names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Yaml,
    Json,
    Env,
    Ini,
}

impl Format {
    fn of(path: &str) -> Option<Self> {
        match Path::new(path).extension()?.to_str()? {
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            "env" => Some(Self::Env),
            "ini" => Some(Self::Ini),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Yaml => "YAML",
            Self::Json => "JSON",
            Self::Env => "dotenv",
            Self::Ini => "INI",
        }
    }

    fn parse(self, text: &str) -> Vec<Document> {
        let document = |root| vec![Document { root: Some(root), problems: Vec::new() }];
        match self {
            Self::Yaml | Self::Json => yaml::parse(FileId(0), text, Limits::default()),
            Self::Env => document(of_env(text)),
            Self::Ini => document(of_ini(text)),
        }
    }

    /// Whether the text has metadata of SOPS, readable or not.
    fn has_metadata(self, text: &str) -> bool {
        match self {
            Self::Yaml => text.starts_with("sops:") || text.contains("\nsops:"),
            Self::Json => text.contains("\"sops\":"),
            Self::Env => text.starts_with("sops_") || text.contains("\nsops_"),
            Self::Ini => text.contains("[sops]"),
        }
    }
}

/// A file that is looked at.
struct File<'a> {
    path: &'a str,
    source: &'a Source,
    format: Format,
    /// Whether its name says that it is encrypted.
    is_named: bool,
    rule: Option<&'a Rule>,
}

impl File<'_> {
    fn at(&self, span: Span) -> String {
        format!("{}:{}", self.path, self.source.position(span).line)
    }

    /// Whether anything can be said of it.
    fn is_worth_reading(&self) -> bool {
        let text = self.source.text();
        let is_meant = self.rule.is_some_and(|rule| rule.is_for_secrets || text.contains("Secret"));
        self.is_named || is_meant || self.format.has_metadata(text)
    }
}

pub(crate) fn check(home: &Home<'_>, repository: &Repository, report: &mut Report) -> Result<(), SealFailure> {
    let rules = Rules::find(repository, report);
    let keys = Keys::find()?;
    for path in repository.paths() {
        let Some(format) = Format::of(path).filter(|_| !tree::is_chart_template(repository, path)) else { continue };
        let name = path.rsplit('/').next().unwrap_or(path);
        // Names such as `.sops.yaml` and `.sops.pub.asc` are those of settings.
        let is_named = name.contains(".sops.") && !name.starts_with(".sops.");
        let Some(source) = repository.id(path).and_then(|id| repository.source(id)) else {
            if is_named {
                report.error(path, "is named as a SOPS file and can't be read: it is too large, or not UTF-8 text");
            }
            continue;
        };
        let rule = rules.of(path).filter(|_| !name.starts_with(".sops."));
        let file = File { path, source, format, is_named, rule };
        if file.is_worth_reading() {
            check_file(home, &file, &keys, report);
        }
    }
    Ok(())
}

fn check_file(home: &Home<'_>, file: &File<'_>, keys: &Keys, report: &mut Report) {
    let mut is_encrypted = false;
    for document in file.format.parse(file.source.text()) {
        match (&document.root, document.problems.first()) {
            (Some(root), _) => match SopsFile::of(root) {
                Some(sops) => {
                    is_encrypted = true;
                    check_encrypted(home, file, &sops, keys, report);
                }
                None => check_plain(file, root, report),
            },
            (None, Some(problem)) if file.is_named || file.format.has_metadata(file.source.text()) => {
                let why = format!("is a SOPS file and can't be read as {}: {}", file.format.name(), problem.message);
                report.error(file.at(problem.span), why);
            }
            (None, _) => {}
        }
    }
    report.sops_files += usize::from(is_encrypted);
}

/// A document that was never encrypted, and perhaps should be.
fn check_plain(file: &File<'_>, root: &Node, report: &mut Report) {
    let path = file.path;
    let next = format!("\n  next: sops encrypt --in-place {path}");
    if file.is_named {
        let is_empty = root.is_null() || root.as_map().is_some_and(yaml::Map::is_empty);
        if !is_empty {
            report.error(path, format!("is named as a SOPS file and is not encrypted{next}"));
        }
        return;
    }
    let Some(rule) = file.rule else { return };
    let plain = rule.selection.plain(root);
    let mut values = plain.iter().filter(|(_, span)| !is_placeholder(file.source, *span));
    match root.text_at(&["kind"]) {
        Some("Secret") => {
            let Some((field, span)) = values.find(|(field, _)| is_data(field)) else { return };
            let what = format!("`{field}` of a Secret is in the clear, and {RULES_FILE} wants it encrypted{next}");
            // Where Flux fills in what is secret, and the rule is for a whole tree, the rest is most likely harmless.
            let is_filled_in = plain.iter().any(|(_, span)| is_placeholder(file.source, *span));
            if is_filled_in && !rule.is_for_secrets {
                report.note(file.at(*span), what);
            } else {
                report.error(file.at(*span), what);
            }
        }
        // Rules match more than is meant to be encrypted: other objects, and what kustomize reads.
        Some(_) => {}
        None => {
            let is_kustomization = path.rsplit('/').next().is_some_and(|name| name.starts_with("kustomization."));
            if let Some((field, span)) = values.next().filter(|_| rule.is_for_secrets && !is_kustomization) {
                let what = format!("`{field}` is in the clear, and {RULES_FILE} has a rule for this file{next}");
                report.note(file.at(*span), what);
            }
        }
    }
}

fn is_data(field: &str) -> bool {
    field.starts_with("data.") || field.starts_with("stringData.")
}

/// What Flux or another tool fills in is no secret.
fn is_placeholder(source: &Source, span: Span) -> bool {
    source.slice(span).is_some_and(|written| written.contains("${") || written.contains("{{"))
}

fn check_encrypted(home: &Home<'_>, file: &File<'_>, sops: &SopsFile, keys: &Keys, report: &mut Report) {
    let path = file.path;
    if let Some((field, span)) = sops.plain.first() {
        let more = match sops.plain.len() {
            1 => String::new(),
            all => format!(", and {} more", all - 1),
        };
        let what = format!("`{field}` is in the clear in a SOPS file{more}");
        report.error(file.at(*span), format!("{what}\n  next: take it out, then put it in with sops edit {path}"));
    }
    if let Some(rule) = file.rule.filter(|rule| !rule.recipients.is_empty()) {
        check_recipients(path, sops, rule, report);
    }
    if sops.age.is_empty() || !keys.are_there() {
        let why = if sops.age.is_empty() {
            "has no age recipient"
        } else {
            "was not opened: no age identity is at hand (SOPS_AGE_KEY_FILE)"
        };
        report.note(path, why);
        return;
    }
    if sops.age.iter().any(|one| one.opens_with(&keys.plain)) {
        return;
    }
    // Post-quantum identities and plugins are beyond us, not beyond sops.
    if keys.has_others || sops.age.iter().any(AgeRecipient::is_post_quantum) {
        by_programs(&home.root().join(path), path, sops, keys, report);
    } else {
        report.error(path, NOT_OPENED);
    }
}

fn check_recipients(path: &str, sops: &SopsFile, rule: &Rule, report: &mut Report) {
    let mut have: Vec<&str> = sops.age.iter().map(|one| one.recipient.as_str()).collect();
    have.sort_unstable();
    let next = format!("next: sops updatekeys {path}");
    for one in rule.recipients.iter().filter(|one| !have.contains(&one.as_str())) {
        report.error(path, format!("is not encrypted to {}, as {RULES_FILE} wants\n  {next}", short(one)));
    }
    for one in have.iter().filter(|one| !rule.recipients.iter().any(|wanted| wanted == **one)) {
        report.error(path, format!("is encrypted to {}, which {RULES_FILE} does not name\n  {next}", short(one)));
    }
}

/// sops tries the whole file. Where it is missing or too old, age tries the file's key.
fn by_programs(full: &Path, path: &str, file: &SopsFile, keys: &Keys, report: &mut Report) {
    const NEEDED: &str = "sops 3.12 or age 1.3";
    let sops = sops_opens(full);
    if sops == Some(true) {
        return;
    }
    let tried: Vec<_> = file.age.iter().map(|one| one.opens_with_program(&keys.all)).collect();
    if tried.iter().any(Result::is_ok) {
        if sops == Some(false) {
            report.note(path, "`age` opens its key, but `sops` does not open it: is that 3.12 or later?");
        }
        return;
    }
    let was_asked = tried.iter().any(|result| matches!(result, Err(AgeProgramError::NoMatch)));
    match sops {
        None if !was_asked => {
            let why =
                format!("was not opened: that takes {NEEDED} or later on PATH (post-quantum recipients or plugins)");
            report.note(path, why);
        }
        Some(_) if !was_asked => {
            report.error(path, format!("is not opened by `sops` with the age identity at hand ({NEEDED} or later?)"));
        }
        _ => report.error(path, NOT_OPENED),
    }
}

/// The identities that sops itself would use.
struct Keys {
    plain: Vec<age::x25519::Identity>,
    /// Identities that only sops can use.
    has_others: bool,
    /// All of them, for programs.
    all: SecretBytes,
}

impl Keys {
    fn find() -> Result<Self, SealFailure> {
        let mut text = ::seal::SecretText::default();
        if let Ok(said) = std::env::var(children::SOPS_KEY_VARIABLE) {
            text.push(&said);
            text.push("\n");
        }
        let named = std::env::var_os("SOPS_AGE_KEY_FILE").map(PathBuf::from);
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.or_else(|| std::env::home_dir().map(|home| home.join(".config")));
        let usual = config.map(|config| config.join("sops/age/keys.txt")).filter(|path| path.is_file());
        for path in named.into_iter().chain(usual) {
            let bytes = input::read(&path, KEYS_BYTES_MAX)?;
            text.push(bytes.expose_text().unwrap_or_default());
            text.push("\n");
        }
        let mut keys = Self { plain: Vec::new(), has_others: false, all: SecretBytes::from(text.expose()) };
        for line in text.expose().lines().filter(|line| line.starts_with("AGE-")) {
            match identities_of(line) {
                Ok(identities) => keys.plain.extend(identities),
                Err(_) => keys.has_others = true,
            }
        }
        Ok(keys)
    }

    fn are_there(&self) -> bool {
        !self.plain.is_empty() || self.has_others
    }
}

/// Whether the real sops opens the file; nothing if there is none. What it prints is thrown away.
fn sops_opens(path: &Path) -> Option<bool> {
    let mut command = Command::new("sops");
    command.arg("decrypt").arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    children::without_secrets(&mut command, Some(children::SOPS_KEY_VARIABLE));
    command.status().ok().map(|status| status.success())
}

/// Post-quantum recipients have two thousand characters.
fn short(recipient: &str) -> String {
    const SHOWN: usize = 20;
    let shown: String = recipient.chars().take(SHOWN).collect();
    if recipient.chars().count() > SHOWN { format!("{shown}…") } else { shown }
}
