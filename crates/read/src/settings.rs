//! `coldstart.yaml`: what files can't tell. A user's own additions to the catalogue, how strict `check` is to be, and what
//! a cold start must know.
//!
//! Knows which keys there are and what shape they have. Does not know the rules: their names and severities are kept as
//! they are spelt, with their places, for whoever does. `docs/schema/coldstart.schema.json` says the same to editors.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use kustomize::Files;
use yaml::{Entry, FileId, Node, Position, Span};

use crate::repository::Repository;

/// The name of the file, at the root of the repository.
pub const SETTINGS_FILE: &str = "coldstart.yaml";

/// What is wrong in `coldstart.yaml`, and where.
#[derive(Debug, thiserror::Error)]
#[error("{SETTINGS_FILE}:{line}:{column}: {message}")]
pub struct SettingsError {
    line: u32,
    column: u32,
    message: String,
}

impl SettingsError {
    pub fn new(at: Position, message: impl Into<String>) -> Self {
        Self { line: at.line, column: at.column, message: message.into() }
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
    pub up: UpSettings,
}

/// What a cold start must know and no manifest tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpSettings {
    /// The cluster is made up: steps happen in a simulated world.
    pub is_simulated: bool,
    /// Names of machines; the first control plane is the one that etcd starts on.
    pub control_planes: Vec<String>,
    pub workers: Vec<String>,
    /// Where the API server answers before the virtual address does.
    pub endpoint: Option<String>,
    pub vip: Option<String>,
    /// Terraform directories that outlive the cluster, in their order.
    pub keys: Vec<String>,
    /// Terraform directories that speak to services, in their order.
    pub configuration: Vec<Configuration>,
    /// What must answer from outside in the end.
    pub outside: Vec<String>,
}

/// A Terraform directory that speaks to the APIs of services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    pub directory: String,
    /// `namespace/name` of what must be ready first; nobody named: everything.
    pub needs: Vec<String>,
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
        return Ok((read.settings, read.additions));
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
                "up" => self.up(&entry.value)?,
                "world" => self.world(&entry.value)?,
                _ => return Err(self.unknown(entry, &["catalogue", "check", "up", "world"])),
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

    fn world(&mut self, node: &Node) -> Result<(), SettingsError> {
        match self.text(node, "`world`")?.text.as_str() {
            "simulated" => self.settings.up.is_simulated = true,
            "real" => self.settings.up.is_simulated = false,
            other => return Err(self.wrong(node.span, format!("`world` is real or simulated, not `{other}`"))),
        }
        Ok(())
    }

    fn up(&mut self, node: &Node) -> Result<(), SettingsError> {
        const KEYS: [&str; 7] = ["configuration", "control-planes", "endpoint", "keys", "outside", "vip", "workers"];
        for entry in self.entries(node, "`up`")? {
            let value = &entry.value;
            match entry.key.as_str() {
                "configuration" => self.settings.up.configuration = self.configuration(value)?,
                "control-planes" => self.settings.up.control_planes = self.texts(value, "`control-planes`")?,
                "endpoint" => self.settings.up.endpoint = Some(self.text(value, "`endpoint`")?.text),
                "keys" => self.settings.up.keys = self.texts(value, "`keys`")?,
                "outside" => self.settings.up.outside = self.texts(value, "`outside`")?,
                "vip" => self.settings.up.vip = Some(self.text(value, "`vip`")?.text),
                "workers" => self.settings.up.workers = self.texts(value, "`workers`")?,
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        self.machines_differ(node)
    }

    /// A machine is one thing, whatever its part.
    fn machines_differ(&self, node: &Node) -> Result<(), SettingsError> {
        let mut seen = std::collections::BTreeSet::new();
        let up = &self.settings.up;
        match up.control_planes.iter().chain(&up.workers).find(|name| !seen.insert(*name)) {
            Some(twice) => Err(self.wrong(node.span, format!("two machines are called `{twice}`"))),
            None => Ok(()),
        }
    }

    fn configuration(&self, node: &Node) -> Result<Vec<Configuration>, SettingsError> {
        let mut layers = Vec::new();
        for item in self.items(node, "`configuration`")? {
            let mut layer = Configuration::default();
            for entry in self.entries(item, "a part of `configuration`")? {
                match entry.key.as_str() {
                    "directory" => layer.directory = self.text(&entry.value, "`directory`")?.text,
                    "needs" => layer.needs = self.texts(&entry.value, "`needs`")?,
                    _ => return Err(self.unknown(entry, &["directory", "needs"])),
                }
            }
            if layer.directory.is_empty() {
                return Err(self.wrong(item.span, "a part of `configuration` needs a `directory`"));
            }
            layers.push(layer);
        }
        Ok(layers)
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
