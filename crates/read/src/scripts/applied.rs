//! What scripts apply with kubectl: files, directories, what is piped in, what sops decrypts.

use std::collections::BTreeSet;

use kustomize::Files as _;
use source::Span;

use super::variables::next_variable;
use super::words::{self, Word, pipelines};
use super::{Script, Scripts, UNKNOWN, calls_helmfile, texts};
use crate::flux::KUSTOMIZE_GROUP;
use crate::object::Object;

/// Something that a script applies.
#[derive(Clone, Debug)]
pub(crate) struct Applied {
    /// A file or directory of the repository; or, if it holds none of that name, the path it would have.
    pub(crate) path: String,
    pub(crate) is_missing: bool,
    pub(crate) namespace: Option<String>,
    pub(crate) span: Span,
    /// Whether a command does it that is part of a bootstrap.
    pub(crate) by_bootstrap: bool,
}

impl Scripts<'_> {
    /// Everything that scripts apply with kubectl.
    pub(crate) fn applied(&self) -> Vec<Applied> {
        self.found.iter().flat_map(|script| self.applied_by(script)).collect()
    }

    fn applied_by(&self, script: &Script) -> Vec<Applied> {
        let mut applied = Vec::new();
        for pipeline in &script.pipelines {
            for at in 0..pipeline.len() {
                self.applied_by_command(script, pipeline, at, &mut applied);
            }
        }
        applied
    }

    /// Whether a script applies a file with a Kustomization of Flux.
    pub(super) fn starts_flux(&self, script: &Script) -> bool {
        let holds = |applied: &Applied| {
            let documents =
                self.repository.documents(&applied.path).map(|(_, documents)| documents).unwrap_or_default();
            let mut roots = documents.iter().filter_map(|document| document.root.as_ref());
            roots.any(|node| Object::new(node).is(KUSTOMIZE_GROUP, "Kustomization"))
        };
        self.applied_by(script).iter().any(holds)
    }

    fn applied_by_command(&self, script: &Script, pipeline: &[Vec<Word>], at: usize, applied: &mut Vec<Applied>) {
        let words = texts(&pipeline[at]);
        let namespace = words::flag_values(&words, &["-n", "--namespace"]).pop();
        for target in words::applied(&words) {
            if matches!(target.as_str(), "-" | "/dev/stdin") {
                let feeds = &pipeline[..at];
                if !feeds.iter().any(|command| calls_helmfile(&texts(command))) {
                    let mut seen = BTreeSet::new();
                    let feeds = feeds.iter().flatten().flat_map(|word| followed(script, word, &mut seen));
                    feeds.for_each(|word| self.add_fed(script, &word, namespace.as_ref(), applied));
                }
            } else if let Some(word) = pipeline[at].iter().find(|word| word.text.ends_with(&target)) {
                let word = Word { text: target, at: word.at };
                self.add_fed(script, &word, namespace.as_ref(), applied);
            }
        }
        if let Some(decrypted) = words.iter().position(|word| word == "exec-file")
            && let Some(inner) = pipeline[at].get(decrypted + 2..).and_then(|rest| rest.first())
        {
            let inner = pipelines(&inner.text, inner.at).concat().concat();
            let inner = texts(&inner);
            if !words::applied(&inner).is_empty() {
                let namespace = words::flag_values(&inner, &["-n", "--namespace"]).pop();
                self.add_decrypted(script, &pipeline[at][decrypted + 1], namespace.as_ref(), applied);
            }
        }
    }

    fn add(&self, script: &Script, word: &Word, namespace: Option<&String>, applied: &mut Vec<Applied>) {
        if !(word.text.contains('/') || word.text.contains(".yaml") || word.text.contains(".yml")) {
            return;
        }
        let by_bootstrap = script.turn(word.at).is_some();
        for path in self.resolve(script, &word.text, word.at) {
            let span = script.span(word);
            applied.push(Applied { path, is_missing: false, namespace: namespace.cloned(), span, by_bootstrap });
        }
    }

    /// A file that a command applies, or that is written into its standard input; also by a variable that holds its path.
    fn add_fed(&self, script: &Script, word: &Word, namespace: Option<&String>, applied: &mut Vec<Applied>) {
        let text = if is_variable(&word.text) { self.expand(script, &word.text, word.at) } else { word.text.clone() };
        self.add(script, &Word { text, at: word.at }, namespace, applied);
    }

    /// A file given to `sops exec-file`; for the variable of a loop, every encrypted file that the script names.
    fn add_decrypted(&self, script: &Script, word: &Word, namespace: Option<&String>, applied: &mut Vec<Applied>) {
        let before = applied.len();
        self.add(script, word, namespace, applied);
        if applied.len() > before {
            return;
        }
        for word in script.pipelines.iter().flatten().flatten() {
            if !(word.text.ends_with(".sops.yaml") || word.text.ends_with(".sops.yml")) {
                continue;
            }
            let before = applied.len();
            self.add(script, word, namespace, applied);
            let expanded = self.expand(script, &word.text, word.at);
            let name = expanded.trim_start_matches('/');
            if applied.len() == before && !expanded.contains(UNKNOWN) {
                applied.push(Applied {
                    path: name.to_owned(),
                    is_missing: true,
                    namespace: namespace.cloned(),
                    span: script.span(word),
                    by_bootstrap: script.turn(word.at).is_some(),
                });
            }
        }
    }
}

/// A word; or, for a variable that holds the output of a command, the words of that command. Each variable is followed once.
fn followed(script: &Script, word: &Word, seen: &mut BTreeSet<String>) -> Vec<Word> {
    let variable = next_variable(&word.text).filter(|_| is_variable(&word.text)).and_then(|(_, _, name)| {
        script.variables.iter().rfind(|variable| variable.name == name && variable.at < word.at)
    });
    let command = variable.and_then(|variable| variable.value.strip_prefix("$(")?.strip_suffix(')'));
    let (Some(variable), Some(command)) = (variable, command) else { return vec![word.clone()] };
    let commands = pipelines(command, 0).concat();
    if !seen.insert(variable.name.clone()) || commands.iter().any(|command| calls_helmfile(&texts(command))) {
        return Vec::new();
    }
    let words = commands.concat().into_iter().map(|inner| Word { text: inner.text, at: word.at });
    words.flat_map(|word| followed(script, &word, seen)).collect()
}

fn is_variable(text: &str) -> bool {
    next_variable(text).is_some_and(|(start, end, name)| start == 0 && end == text.len() && !name.is_empty())
}
