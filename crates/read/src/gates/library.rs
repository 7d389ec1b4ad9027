//! The functions that a text can call: its own, and those of the texts that it sources.

use std::collections::BTreeMap;

use shell::{Command, CommandKind, List, PartKind, Statement};
use source::Span;

use super::text::ShellText;

/// A text and its tree.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) text: ShellText,
    pub(crate) script: shell::Script,
}

impl Parsed {
    pub(crate) fn of(text: ShellText) -> Self {
        let script = shell::parse(text.as_str());
        Self { text, script }
    }
}

/// A function and the text that it is written in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function<'all> {
    pub(super) body: &'all Command,
    text: &'all ShellText,
}

impl Function<'_> {
    pub(super) fn span(&self) -> Span {
        self.text.span(self.body.at)
    }
}

/// Functions by name.
#[derive(Clone, Debug, Default)]
pub(super) struct Library<'all> {
    functions: BTreeMap<&'all str, Function<'all>>,
}

impl<'all> Library<'all> {
    /// Those of a text and of the ones that it sources; the last definition of a name counts.
    pub(super) fn of(sourced: &[&'all Parsed], own: &'all Parsed) -> Self {
        let mut library = Self::default();
        for parsed in sourced.iter().copied().chain([own]) {
            library.add(&parsed.script.body, &parsed.text);
        }
        library
    }

    fn add(&mut self, list: &'all List, text: &'all ShellText) {
        for command in list.statements.iter().flat_map(Statement::pipelines).flat_map(|pipeline| &pipeline.commands) {
            match &command.kind {
                CommandKind::Function { name, body } => {
                    self.functions.insert(name, Function { body, text });
                }
                _ => super::tree::inner_lists(command, &mut |list| self.add(list, text)),
            }
        }
    }

    /// What the functions run.
    pub(super) fn bodies(&self) -> impl Iterator<Item = &'all List> + use<'_, 'all> {
        self.functions.values().filter_map(|function| match &function.body.kind {
            CommandKind::Group(list) | CommandKind::Subshell(list) => Some(list),
            _ => None,
        })
    }

    pub(super) fn get(&self, name: &str) -> Option<Function<'all>> {
        self.functions.get(name).copied()
    }
}

/// The words that a text sources, as they are written.
pub(super) fn sourced_words(parsed: &Parsed) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    super::tree::commands_in(&parsed.script.body, &mut |command| {
        let CommandKind::Simple(simple) = &command.kind else { return };
        let [first, file, ..] = &simple.words[..] else { return };
        if first.is_bare_text("source") || first.is_bare_text(".") {
            let last = file.parts.last().map(|part| &part.kind);
            let is_known = matches!(last, Some(PartKind::Literal(_) | PartKind::Quoted(_) | PartKind::Double(_)));
            let raw = parsed.text.as_str().get(file.at.start..file.at.end).unwrap_or_default();
            found.extend(is_known.then(|| (raw.replace(['"', '\''], ""), file.at.start)));
        }
    });
    found
}
