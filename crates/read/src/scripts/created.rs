//! What scripts create by name: `kubectl create namespace|secret|configmap NAME`, also where the object is only printed and then applied.

use source::Span;

use super::words::{Word, pipelines};
use super::{Script, Scripts, UNKNOWN};

/// With less than this a name says nothing.
const KNOWN_CHARACTERS_MIN: usize = 4;
/// Flags of `kubectl create` that are followed by a value; the namespace is read.
const VALUE_FLAGS: [&str; 12] = [
    "-o",
    "--output",
    "--context",
    "--kubeconfig",
    "--field-manager",
    "--from-file",
    "--from-literal",
    "--from-env-file",
    "--type",
    "--cert",
    "--key",
    "-s",
];
/// What seals or encrypts an object instead of applying it.
const SEALERS: [&str; 2] = ["kubeseal", "sops"];

/// A kind that `kubectl create` makes by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CreatedKind {
    Namespace,
    Secret,
    ConfigMap,
}

impl CreatedKind {
    /// The one that a word of `kubectl create` names.
    fn named(word: &str) -> Option<Self> {
        match word {
            "namespace" | "ns" => Some(Self::Namespace),
            "secret" => Some(Self::Secret),
            "configmap" | "cm" => Some(Self::ConfigMap),
            _ => None,
        }
    }

    /// Its name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "Namespace",
            Self::Secret => "Secret",
            Self::ConfigMap => "ConfigMap",
        }
    }
}

/// An object that a script creates. A part of its name that is not known is a `*`.
#[derive(Clone, Debug)]
pub(crate) struct Created {
    pub(crate) kind: CreatedKind,
    /// Empty for a Namespace.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) span: Span,
}

impl Scripts<'_> {
    /// What scripts create by name.
    pub(crate) fn created(&self) -> Vec<Created> {
        let mut created = Vec::new();
        for script in &self.found {
            for pipeline in script.pipelines.iter().filter(|pipeline| !seals(pipeline)) {
                for command in pipeline {
                    created.extend(self.created_by(script, command));
                    created.extend(handed_on(command).iter().flat_map(|inner| self.created_by(script, inner)));
                }
            }
        }
        created
    }

    /// Several for the variable of a loop.
    fn created_by(&self, script: &Script, command: &[Word]) -> Vec<Created> {
        let Some((kind, namespace, name)) = named_in(command) else { return Vec::new() };
        let namespace = namespace.map(|word| self.expand(script, &word.text, word.at));
        let namespace = match kind {
            CreatedKind::Namespace => String::new(),
            CreatedKind::Secret | CreatedKind::ConfigMap => namespace.unwrap_or_else(|| "default".to_owned()),
        };
        if namespace.contains(UNKNOWN) {
            return Vec::new();
        }
        let text = self.expand(script, &name.text, name.at);
        let names = if is_named(&text) { vec![text] } else { self.looped_names(script, kind, &name) };
        let span = script.span(&name);
        let created =
            |name: String| Created { kind, namespace: namespace.clone(), name: name.replace(UNKNOWN, "*"), span };
        names.into_iter().map(created).collect()
    }

    /// The names that a loop goes through. Directories are only ever named after namespaces.
    fn looped_names(&self, script: &Script, kind: CreatedKind, name: &Word) -> Vec<String> {
        let is_name = |name: &String| !name.is_empty() && !name.contains(['$', '{', '*', '/', '(']);
        let listed: Vec<String> = self.looped_over(script, name).into_iter().filter(is_name).collect();
        match kind {
            CreatedKind::Namespace if listed.is_empty() => self.looped_directories(script, name.at),
            _ => listed,
        }
    }
}

/// Whether what is created goes into a sealed or encrypted file, and not to the cluster.
fn seals(pipeline: &[Vec<Word>]) -> bool {
    pipeline.iter().skip(1).flatten().any(|word| SEALERS.contains(&word.text.as_str()))
}

/// Commands in the words of one: arguments that a task hands on to another, or to a shell.
fn handed_on(command: &[Word]) -> Vec<Vec<Word>> {
    let says = command.iter().any(|word| matches!(word.text.as_str(), "echo" | "printf"));
    let inner = command.iter().filter(|word| !says && word.text.contains("kubectl ") && word.text.contains("create"));
    inner.flat_map(|word| pipelines(&word.text, word.at)).flatten().collect()
}

/// Whether a name is known, or all of it but one part.
fn is_named(text: &str) -> bool {
    let unknown = text.matches(UNKNOWN).count();
    unknown == 0 || (unknown == 1 && text.chars().count() > KNOWN_CHARACTERS_MIN)
}

/// The kind, namespace and name of `kubectl create secret TYPE NAME`, and of the others, which have no type.
fn named_in(command: &[Word]) -> Option<(CreatedKind, Option<Word>, Word)> {
    let is = |text: &'static str| move |word: &Word| word.text == text;
    let kubectl = command.iter().position(is("kubectl"))?;
    let create = command.iter().position(is("create")).filter(|at| *at > kubectl)?;
    let mut namespace = None;
    let mut bare = Vec::new();
    let mut words = command[kubectl + 1..].iter().enumerate();
    while let Some((at, word)) = words.next() {
        if word.text == "-n" || word.text == "--namespace" {
            namespace = words.next().map(|(_, word)| word.clone());
        } else if let Some(value) = word.text.strip_prefix("--namespace=") {
            namespace = Some(Word { text: value.to_owned(), at: word.at });
        } else if VALUE_FLAGS.contains(&word.text.as_str()) {
            words.next();
        } else if !word.text.starts_with('-') && kubectl + 1 + at > create {
            bare.push(word.clone());
        }
    }
    let mut bare = bare.into_iter();
    let kind = CreatedKind::named(&bare.next()?.text)?;
    let types = usize::from(kind == CreatedKind::Secret);
    bare.nth(types).map(|name| (kind, namespace, name))
}
