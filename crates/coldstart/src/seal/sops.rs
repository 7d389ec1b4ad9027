//! SOPS files in `coldstart seal verify`: encrypted, to the right recipients, and the identity at hand opens them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ::seal::SecretBytes;
use ::seal::age_program::AgeProgramError;
use ::seal::sops::{AgeRecipient, SopsFile, rule_recipients};
use ::seal::store::identities_of;
use read::Repository;
use regex::Regex;
use yaml::{FileId, Limits, Node, Source};

use super::failure::SealFailure;
use super::verify::Report;
use super::{Home, input};

const RULES_FILE: &str = ".sops.yaml";
const NOT_OPENED: &str = "is not opened by the age identity at hand";
const KEYS_BYTES_MAX: usize = 256 * 1024;

/// A rule of `.sops.yaml`: the paths it is for, seen from its directory, and who is to open them.
struct Rule {
    directory: String,
    pattern: Option<Regex>,
    recipients: Vec<String>,
}

pub(crate) fn check(home: &Home<'_>, repository: &Repository, report: &mut Report) -> Result<(), SealFailure> {
    let rules = rules(repository, report);
    let keys = Keys::find()?;
    let is_yaml = |path: &&str| Path::new(path).extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    for path in repository.paths().filter(is_yaml) {
        let is_named = path.contains(".sops.") && path.rsplit('/').next() != Some(RULES_FILE);
        let Some(source) = repository.id(path).and_then(|id| repository.source(id)) else { continue };
        if !is_named && !source.text().contains("\nsops:") {
            continue;
        }
        let documents = yaml::parse(FileId(0), source.text(), Limits::default());
        for root in documents.iter().filter_map(|document| document.root.as_ref()) {
            match SopsFile::of(root) {
                Some(file) => {
                    report.sops_files += 1;
                    check_file(home, path, source, &file, &rules, &keys, report);
                }
                None if is_named && root.as_map().is_some() => {
                    report.error(path, "is named as a SOPS file and is not encrypted\n  next: sops encrypt --in-place");
                }
                None => {}
            }
        }
    }
    Ok(())
}

fn check_file(
    home: &Home<'_>,
    path: &str,
    source: &Source,
    file: &SopsFile,
    rules: &[Rule],
    keys: &Keys,
    report: &mut Report,
) {
    for (field, span) in &file.plain {
        let line = source.position(*span).line;
        report.error(format!("{path}:{line}"), format!("`{field}` is in the clear in a SOPS file"));
    }
    if let Some(rule) = rule_of(rules, path).filter(|rule| !rule.recipients.is_empty()) {
        let mut have: Vec<&str> = file.age.iter().map(|one| one.recipient.as_str()).collect();
        have.sort_unstable();
        let missing: Vec<&String> = rule.recipients.iter().filter(|one| !have.contains(&one.as_str())).collect();
        let further: Vec<&&str> =
            have.iter().filter(|one| !rule.recipients.iter().any(|wanted| wanted == **one)).collect();
        for one in missing {
            report.error(
                path,
                format!("is not encrypted to {}, as {RULES_FILE} wants\n  next: sops updatekeys {path}", short(one)),
            );
        }
        for one in further {
            report.error(
                path,
                format!(
                    "is encrypted to {}, which {RULES_FILE} does not name\n  next: sops updatekeys {path}",
                    short(one)
                ),
            );
        }
    }
    if file.age.is_empty() || !keys.are_there() {
        let why = if file.age.is_empty() {
            "has no age recipient"
        } else {
            "was not opened: no age identity is at hand (SOPS_AGE_KEY_FILE)"
        };
        report.note(path, why);
        return;
    }
    if file.age.iter().any(|one| one.opens_with(&keys.plain)) {
        return;
    }
    // Post-quantum identities and plugins are beyond us, not beyond sops.
    if keys.has_others || file.age.iter().any(AgeRecipient::is_post_quantum) {
        by_programs(&home.root().join(path), path, file, keys, report);
    } else {
        report.error(path, NOT_OPENED);
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
        if let Ok(said) = std::env::var("SOPS_AGE_KEY") {
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
    command.env_remove(super::ask::PASSPHRASE_VARIABLE);
    command.status().ok().map(|status| status.success())
}

fn rules(repository: &Repository, report: &mut Report) -> Vec<Rule> {
    let mut rules = Vec::new();
    let files: Vec<&str> =
        repository.paths().filter(|path| *path == RULES_FILE || path.ends_with(&format!("/{RULES_FILE}"))).collect();
    for path in files {
        let Some(source) = repository.id(path).and_then(|id| repository.source(id)) else { continue };
        let Some(root) = yaml::parse_value(FileId(0), source.text()) else { continue };
        let directory = path.strip_suffix(RULES_FILE).unwrap_or_default().to_owned();
        for rule in root.items_at("creation_rules") {
            let pattern = rule.get("path_regex").and_then(Node::text).map(Regex::new).transpose();
            match pattern {
                Ok(pattern) => {
                    rules.push(Rule { directory: directory.clone(), pattern, recipients: rule_recipients(rule) });
                }
                Err(_) => report.note(path, "has a path_regex that was not understood"),
            }
        }
    }
    // The nearest file above a path is the one that counts.
    rules.sort_by_key(|rule| std::cmp::Reverse(rule.directory.len()));
    rules
}

fn rule_of<'a>(rules: &'a [Rule], path: &str) -> Option<&'a Rule> {
    let nearest = rules.iter().find(|rule| path.starts_with(&rule.directory))?.directory.clone();
    let inside = path.strip_prefix(&nearest)?;
    rules
        .iter()
        .filter(|rule| rule.directory == nearest)
        .find(|rule| rule.pattern.as_ref().is_none_or(|pattern| pattern.is_match(inside)))
}

/// Post-quantum recipients have two thousand characters.
fn short(recipient: &str) -> String {
    const SHOWN: usize = 20;
    let shown: String = recipient.chars().take(SHOWN).collect();
    if recipient.chars().count() > SHOWN { format!("{shown}…") } else { shown }
}
