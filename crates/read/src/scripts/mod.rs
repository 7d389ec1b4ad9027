//! The scripts of a repository, searched for the commands that put something into a cluster.
//!
//! Knows shell scripts, justfiles, Taskfiles and Makefiles as lines of commands. Variables are followed to the nearest
//! assignment above; what stays unknown in a path matches anything.

mod applied;
mod bootstrap_parts;
mod created;
mod loops;
mod missing_files;
mod recipes;
mod variables;
mod words;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::Range;

use memchr::memmem;
use model::{BlindSpot, Cause, Unseen, WhyUnseen};
use regex::Regex;
use source::{FileId, Span};

use crate::naming::{exists, is_archived};
use crate::repository::Repository;
use ::repository::Unread;
use ::repository::parallel;
use ::repository::path;

pub(crate) use applied::Applied;
pub use created::CreatedKind;
pub use missing_files::MissingFile;
pub(crate) use missing_files::{by_scripts as missing_files, is_kept_elsewhere, leads_nowhere};
pub(crate) use recipes::{Recipes, Tool};
pub(crate) use variables::next_variable;
use variables::{Variable, assignment};
pub(crate) use words::{Word, applied as applied_by, flag_values, pipelines};

const SCRIPT_BYTES_MAX: usize = 1024 * 1024;
/// How often a variable may stand for another.
const EXPANSIONS_MAX: usize = 8;
/// A path with unknown parts that matches more than this is not known at all.
const MATCHES_MAX: usize = 12;
/// Lines without any of these are of no interest.
const COMMANDS: [&str; 3] = ["kubectl", "helm", ".sops."];
/// Stands for a part of a path that is not known.
pub(crate) const UNKNOWN: char = '\u{e000}';
/// Variables that hold the root of the repository by custom.
pub(crate) const ROOTS: [&str; 8] = [
    "ROOT_DIR",
    "REPO_ROOT",
    "ROOT",
    "GIT_ROOT",
    "PROJECT_DIR",
    "PROJECT_ROOT",
    "justfile_dir()",
    "justfile_directory()",
];

/// All scripts of a repository.
pub(crate) struct Scripts<'all> {
    repository: &'all Repository,
    found: Vec<Script>,
    /// Those that are too large.
    unread: Vec<FileId>,
    /// Every path and directory, for paths with unknown parts.
    places: OnceCell<BTreeSet<String>>,
}

/// One script, read by line.
pub(crate) struct Script {
    pub(crate) path: String,
    file: FileId,
    pub(crate) pipelines: Vec<Vec<Vec<Word>>>,
    pub(crate) variables: Vec<Variable>,
    /// What of it is run before GitOps starts, and when.
    early: Vec<(usize, Range<usize>)>,
}

impl<'all> Scripts<'all> {
    pub(crate) fn read(repository: &'all Repository) -> Self {
        let paths = script_paths(repository);
        let found = parallel::map(&paths, |path| read_script(repository, path)).into_iter().flatten().collect();
        let is_too_large =
            |path: &&String| text_of(repository, path).is_some_and(|(_, text)| text.len() > SCRIPT_BYTES_MAX);
        let unread = paths.iter().filter(is_too_large).filter_map(|path| repository.id(path)).collect();
        let mut scripts = Self { repository, found, unread, places: OnceCell::new() };
        for (index, parts) in bootstrap_parts::parts(&scripts).into_iter().enumerate() {
            scripts.found[index].early = parts;
        }
        scripts
    }

    pub(crate) fn repository(&self) -> &'all Repository {
        self.repository
    }

    pub(crate) fn text(&self, script: &Script) -> Option<&'all str> {
        Some(self.repository.source(script.file)?.text())
    }

    /// The scripts that were not read, for their size.
    pub(crate) fn unread(&self) -> impl Iterator<Item = BlindSpot> {
        self.unread.iter().filter_map(|file| {
            let what = Unseen::File(self.repository.path(*file)?.to_owned());
            let bytes_max = u64::try_from(SCRIPT_BYTES_MAX).unwrap_or(u64::MAX);
            let why = WhyUnseen::NotRead(Cause::new(Unread::TooLarge { bytes_max }));
            Some(BlindSpot { what, why, at: Span::new(*file, 0, 0), component: None })
        })
    }

    pub(crate) fn found(&self) -> &[Script] {
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

    /// The places of the repository that a word of a script may mean.
    pub(crate) fn resolve(&self, script: &Script, word: &str, at: usize) -> Vec<String> {
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
    pub(crate) fn expand(&self, script: &Script, word: &str, at: usize) -> String {
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

    /// What a variable holds that all scripts set to one value; the root of the repository is `/`.
    pub(crate) fn settled(&self, name: &str) -> Option<String> {
        let set = |script: &'_ Script| script.variables.iter().any(|variable| variable.name == name);
        let mut values: BTreeSet<String> = BTreeSet::new();
        for script in self.found.iter().filter(|script| set(script)) {
            for variable in script.variables.iter().filter(|variable| variable.name == name) {
                values.insert(self.expand(script, &variable.value, variable.at));
            }
        }
        let value = values.pop_first().filter(|_| values.is_empty())?;
        (!value.contains([UNKNOWN, '$', '{'])).then_some(value)
    }

    /// Whether any script speaks of this.
    pub(crate) fn mention(&self, text: &str) -> bool {
        self.found.iter().any(|script| self.text(script).is_some_and(|own| own.contains(text)))
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

impl Script {
    pub(crate) fn span(&self, word: &Word) -> Span {
        let number = |at: usize| source::to_u32(at);
        Span::new(self.file, number(word.at), number(word.at + word.text.len()))
    }

    pub(crate) fn file(&self) -> FileId {
        self.file
    }

    /// Whether anything of it is run before GitOps starts.
    pub(crate) fn is_early(&self) -> bool {
        !self.early.is_empty()
    }

    /// What a variable is set to, nearest above a place.
    pub(crate) fn assigned(&self, name: &str, at: usize) -> Option<&str> {
        let above = self.variables.iter().rfind(|variable| variable.name == name && variable.at < at);
        above.map(|variable| variable.value.as_str())
    }

    /// The turn at which the command at a place is run, if that is before GitOps starts.
    pub(crate) fn turn(&self, at: usize) -> Option<usize> {
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

pub(crate) fn is_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_taskfile = name.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("taskfile"));
    matches!(ending, "sh" | "bash" | "fish" | "just" | "zsh" | "mk")
        || ["justfile", ".justfile", "makefile", "gnumakefile"].iter().any(|known| name.eq_ignore_ascii_case(known))
        || (matches!(ending, "yaml" | "yml")
            && (is_taskfile || path.split('/').any(|part| matches!(part, ".taskfiles" | "taskfiles"))))
}

fn text_of<'r>(repository: &'r Repository, path: &str) -> Option<(FileId, &'r str)> {
    let file = repository.id(path)?;
    Some((file, repository.source(file)?.text()))
}

fn read_script(repository: &Repository, path: &str) -> Option<Script> {
    let (file, text) = text_of(repository, path).filter(|(_, text)| text.len() <= SCRIPT_BYTES_MAX)?;
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

/// The words of a command without their places.
pub(crate) fn texts(command: &[Word]) -> Vec<String> {
    command.iter().map(|word| word.text.clone()).collect()
}

/// Whether a command calls helmfile.
pub(crate) fn calls_helmfile(words: &[String]) -> bool {
    words.iter().any(|word| is_helmfile(word))
}

/// Whether a word of a command is the program itself, also after an assignment.
pub(crate) fn is_helmfile(word: &str) -> bool {
    word == "helmfile" || word.ends_with("=helmfile")
}
