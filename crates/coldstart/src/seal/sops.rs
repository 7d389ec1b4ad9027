//! SOPS files in `coldstart seal verify`: encrypted, to the right recipients, and the identity at hand opens them.

use std::path::{Path, PathBuf};

use ::seal::SecretBytes;
use ::seal::age_program::AgeProgramError;
use ::seal::sops::{AgeRecipient, SopsFile, of_env, of_ini};
use ::seal::store::identities_of;
use diagnostic::Next;
use diagnostic::next::Program;
use diagnostic::seal::{SealFault, SopsFault};
use exec::{Runner as _, Stream, System};
use read::Repository;
use source::{FileId, Source, Span};
use yaml::{Document, Limits, Node};

use super::failure::SealFailure;
use super::report::{Report, Spot};
use super::sops_rules::{Rule, Rules};
use super::{Home, children, input, tree};

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
    id: FileId,
    source: &'a Source,
    format: Format,
    /// Whether its name says that it is encrypted.
    is_named: bool,
    rule: Option<&'a Rule>,
}

impl File<'_> {
    /// A line of it.
    fn at(&self, span: Span) -> Spot {
        Spot::Line {
            span: Span { file: self.id, ..span },
            path: self.path.to_owned(),
            line: self.source.position(span).line,
        }
    }

    /// All of it.
    fn whole(&self) -> Spot {
        Spot::File(self.path.to_owned())
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
        let Some((id, source)) = repository.id(path).and_then(|id| Some((id, repository.source(id)?))) else {
            if is_named {
                report.error(Spot::File(path.to_owned()), SealFault::Sops(SopsFault::NotText), None);
            }
            continue;
        };
        let rule = rules.of(path).filter(|_| !name.starts_with(".sops."));
        let file = File { path, id, source, format, is_named, rule };
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
                let (format, problem_text) = (file.format.name(), problem.message.clone());
                let fault = SopsFault::NotRead { format, problem: problem_text };
                report.error(file.at(problem.span), SealFault::Sops(fault), None);
            }
            (None, _) => {}
        }
    }
    report.sops_files += usize::from(is_encrypted);
}

/// A document that was never encrypted, and perhaps should be.
fn check_plain(file: &File<'_>, root: &Node, report: &mut Report) {
    let path = file.path;
    let next = Some(Next::Program(Program::SopsEncrypt { path: path.to_owned() }));
    if file.is_named {
        let is_empty = root.is_null() || root.as_map().is_some_and(yaml::Map::is_empty);
        if !is_empty {
            report.error(file.whole(), SealFault::Sops(SopsFault::NotEncrypted), next);
        }
        return;
    }
    let Some(rule) = file.rule else { return };
    let plain = rule.selection.plain(root);
    let mut values = plain.iter().filter(|(_, span)| !is_placeholder(file.source, *span));
    match root.text_at(&["kind"]) {
        Some("Secret") => {
            let Some((field, span)) = values.find(|(field, _)| is_data(field)) else { return };
            let fault = SealFault::Sops(SopsFault::SecretInTheClear { field: field.clone() });
            // Where Flux fills in what is secret, and the rule is for a whole tree, the rest is most likely harmless.
            let is_filled_in = plain.iter().any(|(_, span)| is_placeholder(file.source, *span));
            if is_filled_in && !rule.is_for_secrets {
                report.note(file.at(*span), fault, next);
            } else {
                report.error(file.at(*span), fault, next);
            }
        }
        // Rules match more than is meant to be encrypted: other objects, and what kustomize reads.
        Some(_) => {}
        None => {
            let is_kustomization = path.rsplit('/').next().is_some_and(|name| name.starts_with("kustomization."));
            if let Some((field, span)) = values.next().filter(|_| rule.is_for_secrets && !is_kustomization) {
                let fault = SealFault::Sops(SopsFault::ValueInTheClear { field: field.clone() });
                report.note(file.at(*span), fault, next);
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
        let fault = SopsFault::PlainValues { field: field.clone(), more: sops.plain.len() - 1 };
        let next = Next::Program(Program::SopsEdit { path: path.to_owned() });
        report.error(file.at(*span), SealFault::Sops(fault), Some(next));
    }
    if let Some(rule) = file.rule.filter(|rule| !rule.recipients.is_empty()) {
        check_recipients(file, sops, rule, report);
    }
    if sops.age.is_empty() || !keys.are_there() {
        let fault = if sops.age.is_empty() { SopsFault::NoAgeRecipient } else { SopsFault::NoIdentity };
        report.note(file.whole(), SealFault::Sops(fault), None);
        return;
    }
    if sops.age.iter().any(|one| one.opens_with(&keys.plain)) {
        return;
    }
    // Post-quantum identities and plugins are beyond us, not beyond sops.
    if keys.has_others || sops.age.iter().any(AgeRecipient::is_post_quantum) {
        by_programs(&home.root().join(path), file, sops, keys, report);
    } else {
        report.error(file.whole(), SealFault::Sops(SopsFault::NotOpened), None);
    }
}

fn check_recipients(file: &File<'_>, sops: &SopsFile, rule: &Rule, report: &mut Report) {
    let mut have: Vec<&str> = sops.age.iter().map(|one| one.recipient.as_str()).collect();
    have.sort_unstable();
    let missing = rule.recipients.iter().filter(|one| !have.contains(&one.as_str()));
    let missing = missing.map(|one| SopsFault::LacksRecipient { recipient: one.clone() });
    let extra = have.iter().filter(|one| !rule.recipients.iter().any(|wanted| wanted == **one));
    let extra = extra.map(|one| SopsFault::ExtraRecipient { recipient: (*one).to_owned() });
    for fault in missing.chain(extra) {
        let next = Next::Program(Program::SopsUpdateKeys { path: file.path.to_owned() });
        report.error(file.whole(), SealFault::Sops(fault), Some(next));
    }
}

/// sops tries the whole file. Where it is missing or too old, age tries the file's key.
fn by_programs(full: &Path, file: &File<'_>, encrypted: &SopsFile, keys: &Keys, report: &mut Report) {
    let sops = sops_opens(full);
    if sops == Some(true) {
        return;
    }
    let tried: Vec<_> = encrypted.age.iter().map(|one| one.opens_with_program(&keys.all)).collect();
    if tried.iter().any(Result::is_ok) {
        if sops == Some(false) {
            report.note(file.whole(), SealFault::Sops(SopsFault::OldSops), None);
        }
        return;
    }
    let was_asked = tried.iter().any(|result| matches!(result, Err(AgeProgramError::NoMatch)));
    match sops {
        None if !was_asked => report.note(file.whole(), SealFault::Sops(SopsFault::NeedsPrograms), None),
        Some(_) if !was_asked => report.error(file.whole(), SealFault::Sops(SopsFault::NotOpenedBySops), None),
        _ => report.error(file.whole(), SealFault::Sops(SopsFault::NotOpened), None),
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
    let sops = exec::Program::new("sops").argument("decrypt").argument(path);
    let sops = sops.output(Stream::Dropped).complaint(Stream::Dropped);
    let sops = sops.environment(children::environment(Some(children::SOPS_KEY_VARIABLE)));
    System.run(&sops).ok().map(|finished| finished.is_success())
}
