//! From the YAML of the file to what it says.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use source::{Source, Span};
use yaml::{Document, Entry, Node};

use crate::additions::Additions;
use crate::failure::{Problem, SettingsError};
use crate::said::{ControllerSettings, GENERATED_KINDS, GeneratedSecret, GeneratedValue, Settings, Word};

/// Longer values are no passwords and no keys.
const LENGTH_MAX: usize = 4096;

/// The settings, and what a user adds under `catalogue`.
pub fn read(source: &Source, documents: &[Document]) -> Result<(Settings, Additions), SettingsError> {
    let mut read = Read { source, settings: Settings::default(), additions: Additions::default() };
    for document in documents {
        if let Some(problem) = document.problems.first() {
            return Err(read.wrong(problem.span, Problem::NotYaml(problem.message.clone())));
        }
        if let Some(root) = &document.root {
            read.root(root)?;
        }
    }
    Ok((read.settings, read.additions))
}

pub(crate) struct Read<'a> {
    source: &'a Source,
    pub(crate) settings: Settings,
    additions: Additions,
}

impl Read<'_> {
    fn root(&mut self, node: &Node) -> Result<(), SettingsError> {
        for entry in self.entries(node, "the file")? {
            match entry.key.as_str() {
                "catalogue" => self.catalogue(&entry.value)?,
                "check" => self.check(&entry.value)?,
                "entry-points" => self.settings.entry_points = self.texts(&entry.value, "`entry-points`")?,
                "seal" => self.seal(&entry.value)?,
                "up" => self.up(&entry.value)?,
                "world" => self.world(&entry.value)?,
                _ => return Err(self.unknown(entry, &["catalogue", "check", "entry-points", "seal", "up", "world"])),
            }
        }
        Ok(())
    }

    fn catalogue(&mut self, node: &Node) -> Result<(), SettingsError> {
        for entry in self.entries(node, "`catalogue`")? {
            let wrong = |read: &Self, item: &Node, error: catalogue::DecodeError| {
                read.wrong(error.span.unwrap_or(item.span), Problem::Catalogue(error))
            };
            match entry.key.as_str() {
                "additions" => {
                    for item in self.items(&entry.value, "`additions`")? {
                        let component = catalogue::Component::from_node(item);
                        self.additions.components.push(component.map_err(|error| wrong(self, item, error))?);
                    }
                }
                "providers" => {
                    for item in self.items(&entry.value, "`providers`")? {
                        let provider = catalogue::Provider::from_node(item);
                        self.additions.providers.push(provider.map_err(|error| wrong(self, item, error))?);
                    }
                }
                _ => return Err(self.unknown(entry, &["additions", "providers"])),
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
                    Some(true) => self.severity(entry, self.word("pedantic", entry.value.span))?,
                    Some(false) => {}
                    None => return Err(self.wrong(entry.value.span, Problem::Pedantic)),
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
                    let texts: Result<Vec<Word>, _> = items.map(|item| self.text(item, "a recipient")).collect();
                    self.settings.seal.recipients = texts?.into_iter().map(|word| word.text).collect();
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
            let text = |what: &'static str| self.text(&entry.value, what);
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
        let missing = |field| self.wrong(node.span, Problem::Missing { whole: "a Secret of `generate`", field });
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
            let text = |what: &'static str| self.text(&entry.value, what);
            match entry.key.as_str() {
                "key" => key = Some(text("`key`")?),
                "kind" => kind = Some(one_of(text("`kind`")?, &GENERATED_KINDS)?),
                "template" => template = Some(text("`template`")?.text),
                "public-key" => public_key = Some(text("`public-key`")?),
                "length" => {
                    let number = entry.value.as_int().and_then(|number| usize::try_from(number).ok());
                    let wrong = || self.wrong(entry.value.span, Problem::Length { min: 1, max: LENGTH_MAX });
                    length = Some(number.filter(|number| (1..=LENGTH_MAX).contains(number)).ok_or_else(wrong)?);
                }
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        let missing = |field| self.wrong(node.span, Problem::Missing { whole: "a value of `values`", field });
        let (key, kind) = (key.ok_or_else(|| missing("key"))?, kind.ok_or_else(|| missing("kind"))?);
        Ok(GeneratedValue { key, kind, length, template, public_key })
    }

    pub(crate) fn texts(&self, node: &Node, what: &'static str) -> Result<Vec<String>, SettingsError> {
        self.items(node, what)?.iter().map(|item| Ok(self.text(item, what)?.text)).collect()
    }

    fn severity(&mut self, entry: &Entry, said: Word) -> Result<(), SettingsError> {
        if self.settings.check.min_severity.is_some() {
            return Err(self.wrong(entry.key_span, Problem::TwoSeverities));
        }
        self.settings.check.min_severity = Some(said);
        Ok(())
    }

    fn rules(&self, node: &Node) -> Result<Vec<(Word, Word)>, SettingsError> {
        let mut rules = Vec::new();
        for entry in self.entries(node, "`rules`")? {
            // YAML of old reads `off` as false, and so may whatever wrote the file.
            let level = match entry.value.as_bool() {
                Some(false) => self.word("off", entry.value.span),
                _ => self.text(&entry.value, "a rule's value")?,
            };
            rules.push((self.word(&entry.key, entry.key_span), level));
        }
        Ok(rules)
    }

    fn patterns(&self, node: &Node) -> Result<Gitignore, SettingsError> {
        let mut builder = GitignoreBuilder::new("");
        for item in self.items(node, "`ignore-paths`")? {
            let pattern = self.text(item, "a path")?;
            builder.add_line(None, &pattern.text).map_err(|error| self.wrong(item.span, Problem::Pattern(error)))?;
        }
        builder.build().map_err(|error| self.wrong(node.span, Problem::Pattern(error)))
    }

    /// The entries of a mapping; nothing at all is an empty one.
    pub(crate) fn entries<'n>(&self, node: &'n Node, what: &'static str) -> Result<&'n [Entry], SettingsError> {
        if node.is_null() {
            return Ok(&[]);
        }
        let map = node.as_map().ok_or_else(|| self.wrong(node.span, Problem::NotAMapping(what)))?;
        Ok(map.as_slice())
    }

    pub(crate) fn items<'n>(&self, node: &'n Node, what: &'static str) -> Result<&'n [Node], SettingsError> {
        if node.is_null() {
            return Ok(&[]);
        }
        node.as_seq().ok_or_else(|| self.wrong(node.span, Problem::NotAList(what)))
    }

    pub(crate) fn text(&self, node: &Node, what: &'static str) -> Result<Word, SettingsError> {
        let text = node.as_str().filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| self.wrong(node.span, Problem::NotText(what)))?;
        Ok(self.word(text, node.span))
    }

    fn word(&self, text: &str, span: Span) -> Word {
        Word { text: text.to_owned(), at: self.source.position(span) }
    }

    pub(crate) fn unknown(&self, entry: &Entry, known: &'static [&'static str]) -> SettingsError {
        self.wrong(entry.key_span, Problem::UnknownField { field: entry.key.to_string(), known })
    }

    pub(crate) fn wrong(&self, span: Span, problem: Problem) -> SettingsError {
        SettingsError::new(self.source.position(span), problem)
    }
}

/// A key of a Secret holds one value: of two declarations of it, one would be lost.
fn each_key_once(before: &[GeneratedSecret], secret: &GeneratedSecret) -> Result<(), SettingsError> {
    let mut seen: Vec<&Word> =
        before.iter().filter(|one| one.is_same(secret)).flat_map(GeneratedSecret::keys).collect();
    for key in secret.keys() {
        if let Some(first) = seen.iter().find(|one| one.text == key.text) {
            let (secret, line) = (secret.name.clone(), first.at.line);
            return Err(SettingsError::new(key.at, Problem::KeyTwice { key: key.text.clone(), secret, line }));
        }
        seen.push(key);
    }
    Ok(())
}

/// The word, if it is one of those that are known.
fn one_of(said: Word, known: &'static [&'static str]) -> Result<Word, SettingsError> {
    if known.contains(&said.text.as_str()) {
        return Ok(said);
    }
    Err(SettingsError::new(said.at, Problem::UnknownWord { word: said.text, known }))
}
