//! The scripts of a repository, searched for the commands that put something into a cluster.
//!
//! Knows shell scripts, justfiles, Taskfiles and Makefiles as lines of commands. Variables are followed to the nearest
//! assignment above; what stays unknown in a path matches anything.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;
use regex::Regex;
use yaml::{FileId, Span};

use super::choice::Choice;
use super::variable::{Variable, assignment, next_variable};
use super::words::{self, Word, pipelines};
use super::{early, exists, is_archived, recipes};
use crate::parallel;
use crate::path;
use crate::repository::Repository;

const SCRIPT_BYTES_MAX: usize = 1024 * 1024;
/// How often a variable may stand for another.
const EXPANSIONS_MAX: usize = 8;
/// With less than this a name says nothing.
const KNOWN_CHARACTERS_MIN: usize = 4;
/// A path with unknown parts that matches more than this is not known at all.
const MATCHES_MAX: usize = 12;
/// Lines without any of these are of no interest.
const COMMANDS: [&str; 3] = ["kubectl", "helm", ".sops."];
/// Flags of helmfile that are followed by a value.
const VALUE_FLAGS: [&str; 16] = [
    "-f",
    "--file",
    "-e",
    "--environment",
    "-l",
    "--selector",
    "-n",
    "--namespace",
    "--kube-context",
    "--kubeconfig",
    "--log-level",
    "-b",
    "--helm-binary",
    "--state-values-set",
    "--state-values-file",
    "--concurrency",
];
/// Stands for a part of a path that is not known.
pub(super) const UNKNOWN: char = '\u{e000}';
/// Variables that hold the root of the repository by custom.
pub(super) const ROOTS: [&str; 8] = [
    "ROOT_DIR",
    "REPO_ROOT",
    "ROOT",
    "GIT_ROOT",
    "PROJECT_DIR",
    "PROJECT_ROOT",
    "justfile_dir()",
    "justfile_directory()",
];

/// How scripts use a helmfile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HelmfileCall {
    TemplatesCrds,
    Installs,
}

/// Which helmfile is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Called {
    /// Files, or directories of them.
    Paths(Vec<String>),
    /// The one of the directory that the script is in by then.
    Default,
    Unknown,
}

/// A command that runs helmfile.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) called: Called,
    pub(super) kind: HelmfileCall,
    pub(super) choice: Choice,
    /// It gives all releases a namespace.
    pub(super) sets_namespace: bool,
    /// It gives values of its own, over those of the environment.
    pub(super) sets_values: bool,
}

/// Something that a script applies.
#[derive(Clone, Debug)]
pub(super) struct Applied {
    /// A file or directory of the repository; or, if it holds none of that name, the path it would have.
    pub(super) path: String,
    pub(super) is_missing: bool,
    pub(super) namespace: Option<String>,
    pub(super) span: Span,
    /// Whether a command does it that is part of a bootstrap.
    pub(super) by_bootstrap: bool,
}

/// A Secret that a script creates. A part of its name that is not known is a `*`.
#[derive(Clone, Debug)]
pub(super) struct Created {
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) span: Span,
}

pub(super) struct Scripts<'all> {
    repository: &'all Repository,
    found: Vec<Script>,
    /// Every path and directory, for paths with unknown parts.
    places: OnceCell<BTreeSet<String>>,
}

pub(super) struct Script {
    pub(super) path: String,
    file: FileId,
    pub(super) pipelines: Vec<Vec<Vec<Word>>>,
    pub(super) variables: Vec<Variable>,
    /// What of it is run before GitOps starts, and when.
    early: Vec<(usize, Range<usize>)>,
}

impl<'all> Scripts<'all> {
    pub(super) fn read(repository: &'all Repository) -> Self {
        let paths = script_paths(repository);
        let found = parallel::map(&paths, |path| read_script(repository, path)).into_iter().flatten().collect();
        let mut scripts = Self { repository, found, places: OnceCell::new() };
        for (index, parts) in early::parts(&scripts).into_iter().enumerate() {
            scripts.found[index].early = parts;
        }
        scripts
    }

    pub(super) fn repository(&self) -> &'all Repository {
        self.repository
    }

    pub(super) fn text(&self, script: &Script) -> Option<&'all str> {
        Some(self.repository.source(script.file)?.text())
    }

    pub(super) fn found(&self) -> &[Script] {
        &self.found
    }

    fn places(&self) -> &BTreeSet<String> {
        self.places.get_or_init(|| {
            let mut places = BTreeSet::new();
            for path in self.repository.paths() {
                places.insert(path.to_owned());
                let mut directory = path::parent(path);
                while !directory.is_empty() && places.insert(directory.to_owned()) {
                    directory = path::parent(directory);
                }
            }
            places
        })
    }

    /// Every call of helmfile that installs something, or renders CRDs.
    pub(super) fn helmfile_calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for script in &self.found {
            for pipeline in &script.pipelines {
                for (at, command) in pipeline.iter().enumerate() {
                    if let Some(kind) = helmfile_call(&texts(command), &pipeline[at + 1..]) {
                        let called = self.called_helmfile(script, command);
                        let choice = self.choice(script, command);
                        let sets_namespace = command.iter().any(|word| is_namespace_flag(&word.text));
                        let sets_values = command.iter().any(|word| word.text.starts_with("--state-values-"));
                        calls.push(Call { called, kind, choice, sets_namespace, sets_values });
                    }
                }
            }
        }
        calls
    }

    fn called_helmfile(&self, script: &Script, command: &[Word]) -> Called {
        let files = words::flag_values(&texts(command), &["-f", "--file"]);
        let offset = command.first().map_or(0, |word| word.at);
        let paths: Vec<String> = files.iter().flat_map(|file| self.resolve(script, file, offset)).collect();
        match (files.is_empty(), paths.is_empty()) {
            (true, _) => Called::Default,
            (false, true) => Called::Unknown,
            (false, false) => Called::Paths(paths),
        }
    }

    /// The releases that a call of helmfile chooses.
    fn choice(&self, script: &Script, command: &[Word]) -> Choice {
        let arguments = command.iter().skip_while(|word| !is_program(&word.text)).skip(1);
        let arguments: Vec<&Word> = arguments.collect();
        let expand = |text: &str| self.expand(script, text, arguments.first().map_or(0, |word| word.at));
        // A variable in the place of an argument may hold selectors as well.
        let is_open = |(at, word): (usize, &&Word)| {
            let before = at.checked_sub(1).map_or("", |before| arguments[before].text.as_str());
            !word.text.starts_with('-') && !VALUE_FLAGS.contains(&before) && expand(&word.text).starts_with(UNKNOWN)
        };
        if arguments.iter().enumerate().any(is_open) {
            return Choice::All;
        }
        let words: Vec<String> = arguments.iter().map(|word| word.text.clone()).collect();
        let joined = words.iter().filter_map(|word| word.strip_prefix("-l")).filter(|rest| !rest.starts_with('='));
        let joined = joined.filter(|rest| rest.contains('=')).map(str::to_owned);
        let apart = words::flag_values(&words, &["-l", "--selector"]).into_iter();
        let selectors: Vec<String> = apart.chain(joined).map(|selector| expand(&selector)).collect();
        let with_needs = words.iter().any(|word| word == "--include-needs" || word == "--include-transitive-needs");
        Choice::of(selectors.iter().map(|selector| Some(selector.as_str())), with_needs)
    }

    /// Everything that scripts apply with kubectl.
    pub(super) fn applied(&self) -> Vec<Applied> {
        let mut applied = Vec::new();
        for script in &self.found {
            for pipeline in &script.pipelines {
                for at in 0..pipeline.len() {
                    self.applied_by_command(script, pipeline, at, &mut applied);
                }
            }
        }
        applied
    }

    fn applied_by_command(&self, script: &Script, pipeline: &[Vec<Word>], at: usize, applied: &mut Vec<Applied>) {
        let words = texts(&pipeline[at]);
        let namespace = words::flag_values(&words, &["-n", "--namespace"]).pop();
        for target in words::applied(&words) {
            if matches!(target.as_str(), "-" | "/dev/stdin") {
                let feeds = &pipeline[..at];
                if !feeds.iter().any(|command| is_helmfile(&texts(command))) {
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

    /// The Secrets that scripts create by name.
    pub(super) fn created_secrets(&self) -> Vec<Created> {
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

    /// The places of the repository that a word of a script may mean.
    pub(super) fn resolve(&self, script: &Script, word: &str, at: usize) -> Vec<String> {
        let expanded = self.expand(script, word, at);
        if expanded.contains("://") || expanded.contains("{}") {
            return Vec::new();
        }
        if !expanded.contains(UNKNOWN) {
            let from_root = path::join("", &expanded);
            let from_script = path::join(path::parent(&script.path), &expanded);
            let places = [from_root, from_script.filter(|_| !expanded.starts_with('/'))].into_iter().flatten();
            return places.filter(|place| !place.is_empty() && exists(self.repository, place)).take(1).collect();
        }
        let known = expanded.rsplit(UNKNOWN).next().unwrap_or_default().trim_start_matches('/');
        if known.len() < 3 {
            return Vec::new();
        }
        let parts = expanded.trim_start_matches('/').split(UNKNOWN).map(regex::escape).collect::<Vec<_>>();
        let pattern = match parts.split_first() {
            Some((first, rest)) if first.is_empty() => {
                let rest = rest.join("[^/]*");
                format!("^(?:.*/)?{}$", rest.trim_start_matches('/'))
            }
            _ => format!("^{}$", parts.join("[^/]*")),
        };
        let Ok(pattern) = Regex::new(&pattern) else { return Vec::new() };
        let matching = self.places().iter().filter(|place| !is_archived(place) && pattern.is_match(place));
        let found: Vec<String> = matching.take(MATCHES_MAX + 1).cloned().collect();
        if found.len() > MATCHES_MAX { Vec::new() } else { found }
    }

    /// A word with its variables filled in; the root of the repository is `/`.
    pub(super) fn expand(&self, script: &Script, word: &str, at: usize) -> String {
        let mut text = word.replace("$(git rev-parse --show-toplevel)", "/");
        for _ in 0..EXPANSIONS_MAX {
            let Some((start, end, name)) = next_variable(&text) else { return text };
            let value = match name.as_str() {
                "source_directory()" | "source_dir()" => format!("/{}", path::parent(&script.path)),
                name if ROOTS.contains(&name) => "/".to_owned(),
                name => self.value(script, name, at).unwrap_or_else(|| UNKNOWN.to_string()),
            };
            text.replace_range(start..end, &value);
        }
        if next_variable(&text).is_some() { UNKNOWN.to_string() } else { text }
    }

    /// The nearest assignment above, else any of the same script, else one of another script.
    fn value(&self, script: &Script, name: &str, at: usize) -> Option<String> {
        let own = script.variables.iter().filter(|variable| variable.name == name);
        let above = own.clone().rfind(|variable| variable.at < at);
        let elsewhere =
            || self.found.iter().flat_map(|script| &script.variables).find(|variable| variable.name == name);
        above.or_else(|| own.clone().next()).or_else(elsewhere).map(|variable| variable.value.clone())
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
    if !seen.insert(variable.name.clone()) || commands.iter().any(|command| is_helmfile(&texts(command))) {
        return Vec::new();
    }
    let words = commands.concat().into_iter().map(|inner| Word { text: inner.text, at: word.at });
    words.flat_map(|word| followed(script, &word, seen)).collect()
}

fn is_variable(text: &str) -> bool {
    next_variable(text).is_some_and(|(start, end, name)| start == 0 && end == text.len() && !name.is_empty())
}

impl Script {
    pub(super) fn span(&self, word: &Word) -> Span {
        let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.file, number(word.at), number(word.at + word.text.len()))
    }

    /// What a variable is set to, nearest above a place.
    pub(super) fn assigned(&self, name: &str, at: usize) -> Option<&str> {
        let above = self.variables.iter().rfind(|variable| variable.name == name && variable.at < at);
        above.map(|variable| variable.value.as_str())
    }

    /// The turn at which the command at a place is run, if that is before GitOps starts.
    pub(super) fn turn(&self, at: usize) -> Option<usize> {
        self.early.iter().find(|(_, range)| range.contains(&at)).map(|(turn, _)| *turn)
    }
}

/// All scripts, and the Taskfiles that others take in, whatever they are called.
fn script_paths(repository: &Repository) -> Vec<String> {
    let mut paths: BTreeSet<String> =
        repository.paths().filter(|path| is_script(path) && !is_archived(path)).map(str::to_owned).collect();
    let mut open: Vec<String> = paths.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let included = recipes::included(repository, &path);
        open.extend(included.into_iter().filter(|path| paths.insert(path.clone())));
    }
    paths.into_iter().collect()
}

fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_taskfile = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("taskfile"));
    matches!(ending, "sh" | "bash" | "fish" | "just" | "zsh" | "mk")
        || ["justfile", ".justfile", "makefile", "gnumakefile"].iter().any(|known| name.eq_ignore_ascii_case(known))
        || (matches!(ending, "yaml" | "yml")
            && (is_taskfile || path.split('/').any(|part| matches!(part, ".taskfiles" | "taskfiles"))))
}

fn read_script(repository: &Repository, path: &str) -> Option<Script> {
    let file = repository.id(path)?;
    let text = repository.source(file)?.text();
    if text.len() > SCRIPT_BYTES_MAX {
        return None;
    }
    let has_commands = COMMANDS.iter().any(|command| memmem::find(text.as_bytes(), command.as_bytes()).is_some());
    let text = with_long_lines(text);
    let mut script =
        Script { path: path.to_owned(), file, pipelines: Vec::new(), variables: Vec::new(), early: Vec::new() };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#') {
            script.variables.extend(assignment(path, line, at));
            if has_commands && COMMANDS.iter().any(|command| line.contains(command)) {
                script.pipelines.extend(pipelines(line, at));
            }
        }
        at += line.len();
    }
    Some(script)
}

/// The same text in the same number of bytes, with lines that continue made one.
pub(crate) fn with_long_lines(text: &str) -> String {
    let mut output = text.replace("\\\n", "  ");
    let continues: Vec<usize> = output
        .match_indices('\n')
        .filter(|(at, _)| is_piped(&output[..*at], &output[at + 1..]))
        .map(|(at, _)| at)
        .collect();
    for at in continues {
        output.replace_range(at..=at, " ");
    }
    output
}

/// Whether a pipe joins two lines: one that begins with it, or ends in it. `key: |` of a Taskfile is none, and no comment goes on.
fn is_piped(before: &str, after: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim_end();
    let ends = line.strip_suffix('|').map(str::trim_end);
    let goes_on = |command: &str| {
        !command.is_empty() && !command.ends_with([':', '-', '|']) && !command.trim_start().starts_with('#')
    };
    after.trim_start_matches([' ', '\t']).starts_with('|') || ends.is_some_and(goes_on)
}

pub(super) fn texts(command: &[Word]) -> Vec<String> {
    command.iter().map(|word| word.text.clone()).collect()
}

fn is_namespace_flag(word: &str) -> bool {
    word == "-n" || word.starts_with("-n=") || word.starts_with("--namespace")
}

fn is_helmfile(words: &[String]) -> bool {
    words.iter().any(|word| is_program(word))
}

fn is_program(word: &str) -> bool {
    word == "helmfile" || word.ends_with("=helmfile")
}

fn helmfile_call(words: &[String], after: &[Vec<Word>]) -> Option<HelmfileCall> {
    if !is_helmfile(words) {
        return None;
    }
    let filters_crds = || after.iter().flatten().any(|word| word.text.contains("CustomResourceDefinition"));
    let does = |what: &str| words.iter().any(|word| word == what);
    if does("template") && filters_crds() {
        Some(HelmfileCall::TemplatesCrds)
    } else {
        (does("sync") || does("apply")).then_some(HelmfileCall::Installs)
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
