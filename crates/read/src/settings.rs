//! `coldstart.yaml`: what files can't tell. A user's own additions to the catalogue, how strict `check` is to be, where
//! sealing keys are kept, and what a cold start must know.
//!
//! Knows which keys there are and what shape they have. Does not know the rules: their names and severities are kept as
//! they are spelt, with their places, for whoever does. `docs/schema/coldstart.schema.json` says the same to editors.

mod up;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use kustomize::Files;
use yaml::{Entry, FileId, Node, Position, Span};

use crate::repository::Repository;

pub use up::{Configuration, UpSettings};

/// The name of the file, at the root of the repository.
pub const SETTINGS_FILE: &str = "coldstart.yaml";

/// The kinds of values that can be made. Whoever makes them has a test that these are all.
pub const GENERATED_KINDS: [&str; 10] =
    ["password", "symbols", "hex", "base64", "base64url", "bytes", "ssh-ed25519", "age", "rsa", "template"];

/// What is wrong with `coldstart.yaml`.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// In a place of it.
    #[error("{SETTINGS_FILE}:{line}:{column}: {message}")]
    Wrong { line: u32, column: u32, message: String },
    /// It is there, and no text.
    #[error("{SETTINGS_FILE} {why}")]
    Unread { why: String },
}

impl SettingsError {
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self::Wrong { line: at.line, column: at.column, message: message.into() }
    }
}

/// A word of the file and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spelt {
    pub text: String,
    pub at: Position,
}

/// Everything that `coldstart.yaml` says, but what it adds to the catalogue.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    pub check: CheckSettings,
    pub seal: SealSettings,
    pub up: UpSettings,
}

/// How strict `check` is to be. What is not there was not said.
#[derive(Clone, Debug, Default)]
pub struct CheckSettings {
    pub min_severity: Option<Spelt>,
    /// From the root of the repository.
    pub baseline: Option<String>,
    /// Names of rules with `off` or a severity, in the order of the file.
    pub rules: Vec<(Spelt, Spelt)>,
    ignored: Option<Gitignore>,
}

/// Sealing keys and what is sealed with them. What is not there was not said.
#[derive(Clone, Debug, Default)]
pub struct SealSettings {
    pub store: Option<Spelt>,
    pub backup: Option<Spelt>,
    /// From the root of the repository, as every path here.
    pub certificate: Option<String>,
    pub recipients: Vec<String>,
    pub controller: ControllerSettings,
    pub generate: Vec<GeneratedSecret>,
}

/// Where the controller is.
#[derive(Clone, Debug, Default)]
pub struct ControllerSettings {
    pub namespace: Option<String>,
    pub name: Option<String>,
}

/// A Secret whose values are made.
#[derive(Clone, Debug)]
pub struct GeneratedSecret {
    pub path: Spelt,
    pub name: String,
    pub namespace: Option<String>,
    pub scope: Option<Spelt>,
    pub kind: Option<String>,
    pub values: Vec<GeneratedValue>,
}

/// A value that is made.
#[derive(Clone, Debug)]
pub struct GeneratedValue {
    pub key: Spelt,
    pub kind: Spelt,
    pub length: Option<usize>,
    pub template: Option<String>,
    pub public_key: Option<Spelt>,
}

impl GeneratedSecret {
    /// Every key that it declares, public halves too.
    fn keys(&self) -> impl Iterator<Item = &Spelt> {
        self.values.iter().flat_map(|value| [Some(&value.key), value.public_key.as_ref()]).flatten()
    }

    /// Whether both are one Secret of one file. One that says no namespace goes into whichever is there.
    fn is_same(&self, other: &Self) -> bool {
        let is_open = self.namespace.is_none() || other.namespace.is_none();
        (&self.path.text, &self.name) == (&other.path.text, &other.name)
            && (is_open || self.namespace == other.namespace)
    }
}

impl CheckSettings {
    /// Whether findings at this path, from the root of the repository, are to be left out.
    pub fn ignores(&self, path: &str) -> bool {
        self.ignored.as_ref().is_some_and(|ignored| ignored.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// The settings, and the catalogue entries that a user adds under `catalogue.additions`.
pub(crate) fn read(repository: &Repository) -> Result<(Settings, Vec<catalogue::Component>), SettingsError> {
    let mut read = Read { repository, file: FileId::GENERATED, settings: Settings::default(), additions: Vec::new() };
    let Some((file, documents)) = repository.documents(SETTINGS_FILE) else {
        let unread = repository.obstacle(SETTINGS_FILE).map(|why| SettingsError::Unread { why });
        return unread.map_or(Ok((read.settings, read.additions)), Err);
    };
    read.file = file;
    for document in documents {
        if let Some(problem) = document.problems.first() {
            return Err(read.wrong(problem.span, problem.message.clone()));
        }
        if let Some(root) = &document.root {
            read.root(root)?;
        }
    }
    Ok((read.settings, read.additions))
}

struct Read<'a> {
    repository: &'a Repository,
    file: FileId,
    settings: Settings,
    additions: Vec<catalogue::Component>,
}

impl Read<'_> {
    fn root(&mut self, node: &Node) -> Result<(), SettingsError> {
        for entry in self.entries(node, "the file")? {
            match entry.key.as_str() {
                "catalogue" => self.catalogue(&entry.value)?,
                "check" => self.check(&entry.value)?,
                "seal" => self.seal(&entry.value)?,
                "up" => self.up(&entry.value)?,
                "world" => self.world(&entry.value)?,
                _ => return Err(self.unknown(entry, &["catalogue", "check", "seal", "up", "world"])),
            }
        }
        Ok(())
    }

    fn catalogue(&mut self, node: &Node) -> Result<(), SettingsError> {
        for entry in self.entries(node, "`catalogue`")? {
            if entry.key != "additions" {
                return Err(self.unknown(entry, &["additions"]));
            }
            for item in self.items(&entry.value, "`additions`")? {
                let component = catalogue::Component::from_node(item);
                let wrong =
                    |error: catalogue::DecodeError| self.wrong(error.span.unwrap_or(item.span), error.to_string());
                self.additions.push(component.map_err(wrong)?);
            }
        }
        Ok(())
    }

    fn check(&mut self, node: &Node) -> Result<(), SettingsError> {
        const KEYS: [&str; 5] = ["baseline", "ignore-paths", "min-severity", "pedantic", "rules"];
        for entry in self.entries(node, "`check`")? {
            match entry.key.as_str() {
                "baseline" => self.settings.check.baseline = Some(self.text(&entry.value, "`baseline`")?.text),
                "ignore-paths" => self.settings.check.ignored = Some(self.patterns(&entry.value)?),
                "min-severity" => self.severity(entry, self.text(&entry.value, "`min-severity`")?)?,
                "pedantic" => match entry.value.as_bool() {
                    Some(true) => self.severity(entry, self.spelt("pedantic", entry.value.span))?,
                    Some(false) => {}
                    None => return Err(self.wrong(entry.value.span, "`pedantic` is true or false")),
                },
                "rules" => self.settings.check.rules.extend(self.rules(&entry.value)?),
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        Ok(())
    }

    fn seal(&mut self, node: &Node) -> Result<(), SettingsError> {
        const KEYS: [&str; 6] = ["backup", "certificate", "controller", "generate", "recipients", "store"];
        for entry in self.entries(node, "`seal`")? {
            let value = &entry.value;
            match entry.key.as_str() {
                "store" => self.settings.seal.store = Some(self.text(value, "`store`")?),
                "backup" => self.settings.seal.backup = Some(self.text(value, "`backup`")?),
                "certificate" => self.settings.seal.certificate = Some(self.text(value, "`certificate`")?.text),
                "controller" => self.settings.seal.controller = self.controller(value)?,
                "recipients" => {
                    let items = self.items(value, "`recipients`")?.iter();
                    let texts: Result<Vec<Spelt>, _> = items.map(|item| self.text(item, "a recipient")).collect();
                    self.settings.seal.recipients = texts?.into_iter().map(|spelt| spelt.text).collect();
                }
                "generate" => {
                    for item in self.items(value, "`generate`")? {
                        let secret = self.generated_secret(item)?;
                        each_key_once(&self.settings.seal.generate, &secret)?;
                        self.settings.seal.generate.push(secret);
                    }
                }
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        Ok(())
    }

    fn controller(&self, node: &Node) -> Result<ControllerSettings, SettingsError> {
        let mut controller = ControllerSettings::default();
        for entry in self.entries(node, "`controller`")? {
            match entry.key.as_str() {
                "namespace" => controller.namespace = Some(self.text(&entry.value, "`namespace`")?.text),
                "name" => controller.name = Some(self.text(&entry.value, "`name`")?.text),
                _ => return Err(self.unknown(entry, &["name", "namespace"])),
            }
        }
        Ok(controller)
    }

    fn generated_secret(&self, node: &Node) -> Result<GeneratedSecret, SettingsError> {
        const KEYS: [&str; 6] = ["name", "namespace", "path", "scope", "type", "values"];
        let (mut path, mut name, mut values) = (None, None, None);
        let (mut namespace, mut scope, mut kind) = (None, None, None);
        for entry in self.entries(node, "a Secret of `generate`")? {
            let text = |what: &str| self.text(&entry.value, what);
            match entry.key.as_str() {
                "path" => path = Some(text("`path`")?),
                "name" => name = Some(text("`name`")?.text),
                "namespace" => namespace = Some(text("`namespace`")?.text),
                "scope" => scope = Some(one_of(text("`scope`")?, &["strict", "namespace-wide", "cluster-wide"])?),
                "type" => kind = Some(text("`type`")?.text),
                "values" => {
                    let items = self.items(&entry.value, "`values`")?.iter();
                    values = Some(items.map(|item| self.generated_value(item)).collect::<Result<Vec<_>, _>>()?);
                }
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        let missing = |what: &str| self.wrong(node.span, format!("a Secret of `generate` needs `{what}`"));
        Ok(GeneratedSecret {
            path: path.ok_or_else(|| missing("path"))?,
            name: name.ok_or_else(|| missing("name"))?,
            values: values.ok_or_else(|| missing("values"))?,
            namespace,
            scope,
            kind,
        })
    }

    fn generated_value(&self, node: &Node) -> Result<GeneratedValue, SettingsError> {
        const KEYS: [&str; 5] = ["key", "kind", "length", "public-key", "template"];
        let (mut key, mut kind, mut length, mut template, mut public_key) = (None, None, None, None, None);
        for entry in self.entries(node, "a value of `values`")? {
            let text = |what: &str| self.text(&entry.value, what);
            match entry.key.as_str() {
                "key" => key = Some(text("`key`")?),
                "kind" => kind = Some(one_of(text("`kind`")?, &GENERATED_KINDS)?),
                "template" => template = Some(text("`template`")?.text),
                "public-key" => public_key = Some(text("`public-key`")?),
                "length" => {
                    let number = entry.value.as_int().and_then(|number| usize::try_from(number).ok());
                    let wrong = || self.wrong(entry.value.span, "`length` must be a number from 1 to 4096");
                    length = Some(number.filter(|number| (1..=4096).contains(number)).ok_or_else(wrong)?);
                }
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        let missing = |what: &str| self.wrong(node.span, format!("a value of `values` needs `{what}`"));
        let (key, kind) = (key.ok_or_else(|| missing("key"))?, kind.ok_or_else(|| missing("kind"))?);
        Ok(GeneratedValue { key, kind, length, template, public_key })
    }

    fn texts(&self, node: &Node, what: &str) -> Result<Vec<String>, SettingsError> {
        self.items(node, what)?.iter().map(|item| Ok(self.text(item, what)?.text)).collect()
    }

    fn severity(&mut self, entry: &Entry, said: Spelt) -> Result<(), SettingsError> {
        if self.settings.check.min_severity.is_some() {
            return Err(self.wrong(entry.key_span, "`pedantic: true` and `min-severity` are two words for one thing"));
        }
        self.settings.check.min_severity = Some(said);
        Ok(())
    }

    fn rules(&self, node: &Node) -> Result<Vec<(Spelt, Spelt)>, SettingsError> {
        let mut rules = Vec::new();
        for entry in self.entries(node, "`rules`")? {
            // YAML of old reads `off` as false, and so may whatever wrote the file.
            let level = match entry.value.as_bool() {
                Some(false) => self.spelt("off", entry.value.span),
                _ => self.text(&entry.value, "a rule's value")?,
            };
            rules.push((self.spelt(&entry.key, entry.key_span), level));
        }
        Ok(rules)
    }

    fn patterns(&self, node: &Node) -> Result<Gitignore, SettingsError> {
        let mut builder = GitignoreBuilder::new("");
        for item in self.items(node, "`ignore-paths`")? {
            let pattern = self.text(item, "a path")?;
            builder.add_line(None, &pattern.text).map_err(|error| self.wrong(item.span, error.to_string()))?;
        }
        builder.build().map_err(|error| self.wrong(node.span, error.to_string()))
    }

    /// The entries of a mapping; nothing at all is an empty one.
    fn entries<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Entry], SettingsError> {
        if node.is_null() {
            return Ok(&[]);
        }
        let map = node.as_map().ok_or_else(|| self.wrong(node.span, format!("{what} must be a mapping")))?;
        Ok(map.as_slice())
    }

    fn items<'n>(&self, node: &'n Node, what: &str) -> Result<&'n [Node], SettingsError> {
        if node.is_null() {
            return Ok(&[]);
        }
        node.as_seq().ok_or_else(|| self.wrong(node.span, format!("{what} must be a list")))
    }

    fn text(&self, node: &Node, what: &str) -> Result<Spelt, SettingsError> {
        let text = node.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| self.wrong(node.span, format!("{what} must be text")))?;
        Ok(self.spelt(text, node.span))
    }

    fn spelt(&self, text: &str, span: Span) -> Spelt {
        Spelt { text: text.to_owned(), at: self.position(span) }
    }

    fn unknown(&self, entry: &Entry, known: &[&str]) -> SettingsError {
        let known: Vec<String> = known.iter().map(|key| format!("`{key}`")).collect();
        let message = format!("unknown field `{}`, expected {}", entry.key, known.join(", "));
        self.wrong(entry.key_span, message)
    }

    fn wrong(&self, span: Span, message: impl Into<String>) -> SettingsError {
        SettingsError::new(self.position(span), message)
    }

    fn position(&self, span: Span) -> Position {
        let start = Position { line: 1, column: 1 };
        self.repository.source(self.file).map_or(start, |source| source.position(span))
    }
}

/// A key of a Secret holds one value: of two declarations of it, one would be lost.
fn each_key_once(before: &[GeneratedSecret], secret: &GeneratedSecret) -> Result<(), SettingsError> {
    let mut seen: Vec<&Spelt> =
        before.iter().filter(|one| one.is_same(secret)).flat_map(GeneratedSecret::keys).collect();
    for key in secret.keys() {
        if let Some(first) = seen.iter().find(|one| one.text == key.text) {
            let (name, line) = (&secret.name, first.at.line);
            let message = format!("`{}` of Secret `{name}` is declared already, in line {line}: rename one", key.text);
            return Err(SettingsError::new(key.at, message));
        }
        seen.push(key);
    }
    Ok(())
}

/// The word, if it is one of those that are known.
fn one_of(said: Spelt, known: &[&str]) -> Result<Spelt, SettingsError> {
    if known.contains(&said.text.as_str()) {
        return Ok(said);
    }
    let known: Vec<String> = known.iter().map(|word| format!("`{word}`")).collect();
    Err(SettingsError::new(said.at, format!("`{}` is not one of {}", said.text, known.join(", "))))
}
