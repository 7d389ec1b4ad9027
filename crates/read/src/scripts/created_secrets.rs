//! The Secrets that scripts create by name: `kubectl create secret TYPE NAME`.

use source::Span;

use super::words::{Word, pipelines};
use super::{Scripts, UNKNOWN};

/// With less than this a name says nothing.
const KNOWN_CHARACTERS_MIN: usize = 4;

/// A Secret that a script creates. A part of its name that is not known is a `*`.
#[derive(Clone, Debug)]
pub(crate) struct Created {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) span: Span,
}

impl Scripts<'_> {
    /// The Secrets that scripts create by name.
    pub(crate) fn created_secrets(&self) -> Vec<Created> {
        let mut created = Vec::new();
        for script in &self.found {
            let handed_on = script.pipelines.iter().flatten().flat_map(|command| handed_on(command));
            for command in script.pipelines.iter().flatten().cloned().chain(handed_on) {
                let Some((namespace, name)) = created_secret(&command) else { continue };
                let namespace = namespace.map(|word| self.expand(script, &word.text, word.at));
                let namespace = namespace.unwrap_or_else(|| "default".to_owned());
                let text = self.expand(script, &name.text, name.at);
                if is_named(&text) && !namespace.contains(UNKNOWN) {
                    let text = text.replace(UNKNOWN, "*");
                    created.push(Created { namespace, name: text, span: script.span(&name) });
                }
            }
        }
        created
    }
}

/// Commands in the words of one: arguments that a task hands on to another, or to a shell.
fn handed_on(command: &[Word]) -> Vec<Vec<Word>> {
    let says = command.iter().any(|word| matches!(word.text.as_str(), "echo" | "printf"));
    let inner = command.iter().filter(|word| !says && word.text.contains("kubectl ") && word.text.contains("secret"));
    inner.flat_map(|word| pipelines(&word.text, word.at)).flatten().collect()
}

/// Whether a name is known, or all of it but one part.
fn is_named(text: &str) -> bool {
    let unknown = text.matches(UNKNOWN).count();
    unknown == 0 || (unknown == 1 && text.chars().count() > KNOWN_CHARACTERS_MIN)
}

/// The namespace and name of `kubectl create secret TYPE NAME`.
fn created_secret(command: &[Word]) -> Option<(Option<Word>, Word)> {
    let is = |text: &'static str| move |word: &Word| word.text == text;
    let kubectl = command.iter().position(is("kubectl"))?;
    let create = command.iter().position(is("create")).filter(|at| *at > kubectl)?;
    let secret = command.iter().position(is("secret")).filter(|at| *at > create)?;
    let mut namespace = None;
    let mut bare = Vec::new();
    let mut words = command[kubectl + 1..].iter().enumerate();
    while let Some((at, word)) = words.next() {
        if word.text == "-n" || word.text == "--namespace" {
            namespace = words.next().map(|(_, word)| word.clone());
        } else if let Some(value) = word.text.strip_prefix("--namespace=") {
            namespace = Some(Word { text: value.to_owned(), at: word.at });
        } else if !word.text.starts_with('-') && kubectl + 1 + at > secret {
            bare.push(word.clone());
        }
    }
    bare.into_iter().nth(1).map(|name| (namespace, name))
}
