//! Files that a bootstrap applies and that are not there: it stops at such a command.
//!
//! Says so only where the path is surely one of this repository, and where not even the directory is there that it leads to: a
//! single file may be made on the way, be ignored by Git, or lie in a submodule.

use std::collections::BTreeSet;

use ignore::gitignore::GitignoreBuilder;
use kustomize::{Files as _, PathKind};
use model::FileUse;
use source::Span;

use super::variables::next_variable;
use super::words::{self, Word};
use super::{ROOTS, Script, Scripts, UNKNOWN, texts};
use crate::repository::Repository;
use ::repository::path;

/// How often a variable may stand for another.
const STEPS_MAX: usize = 8;
/// What makes a line depend on something.
const CONDITIONS: [&str; 5] = ["||", "&&", "if ", "[ ", "test "];

/// Whether a path begins in this repository and leads to a directory that it does not hold.
pub(crate) fn leads_nowhere(repository: &Repository, file: &str) -> bool {
    let directory = path::parent(file);
    let Some((first, _)) = directory.split_once('/') else { return false };
    repository.kind(file) == PathKind::Missing
        && repository.kind(directory) == PathKind::Missing
        && repository.kind(first) == PathKind::Directory
        && !is_kept_elsewhere(repository, file)
}

/// Whether Git ignores a path, or has it in another repository.
pub(crate) fn is_kept_elsewhere(repository: &Repository, file: &str) -> bool {
    let text = |path: &str| repository.id(path).and_then(|id| repository.source(id)).map(source::Source::text);
    let is_module = |line: &str| {
        let module = line.trim().strip_prefix("path").and_then(|rest| rest.trim().strip_prefix('='));
        module.is_some_and(|module| path::is_below(file, module.trim()))
    };
    if text(".gitmodules").is_some_and(|modules| modules.lines().any(is_module)) {
        return true;
    }
    path::ancestors(path::parent(file)).any(|directory| {
        let place = if directory.is_empty() { ".gitignore".to_owned() } else { format!("{directory}/.gitignore") };
        let Some(patterns) = text(&place) else { return false };
        let mut builder = GitignoreBuilder::new("");
        for line in patterns.lines() {
            // A pattern that is none ignores nothing.
            let _ = builder.add_line(None, line);
        }
        let inside = file.strip_prefix(directory).unwrap_or(file).trim_start_matches('/');
        builder.build().is_ok_and(|ignored| ignored.matched_path_or_any_parents(inside, false).is_ignore())
    })
}

/// A file that a bootstrap uses and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingFile {
    /// Relative to the repository's root.
    pub path: String,
    /// Where it is named.
    pub at: Span,
    pub used_as: FileUse,
    /// A file that may have been meant.
    pub meant: Option<String>,
}

/// What commands of a bootstrap apply that is not there.
pub(crate) fn by_scripts(scripts: &Scripts<'_>) -> Vec<MissingFile> {
    let mut found = Vec::new();
    for script in scripts.found() {
        // What is piped in, or piped on, is no file alone.
        for command in script.pipelines.iter().filter(|pipeline| pipeline.len() == 1).flatten() {
            let targets = words::applied(&texts(command));
            let words = command.iter().filter(|word| targets.contains(&word.text));
            let missing = |word: &Word| {
                let (path, at) = (missing(scripts, script, word)?, script.span(word));
                Some(MissingFile { path, at, used_as: FileUse::Applied, meant: None })
            };
            found.extend(words.filter_map(missing));
        }
    }
    found
}

/// The path that a word means, if that leads nowhere. Where a shell stands by then is not known, so it must begin with a variable that
/// holds the root.
fn missing(scripts: &Scripts<'_>, script: &Script, word: &Word) -> Option<String> {
    script.turn(word.at)?;
    let text = scripts.text(script)?;
    let begin = text.get(..word.at)?.rfind('\n').map_or(0, |before| before + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    // Named twice it may be looked for, or made, before it is applied.
    let is_plain = text.matches(word.text.as_str()).count() == 1
        && !CONDITIONS.iter().any(|condition| line.contains(condition))
        && !word.text.starts_with('/')
        && has_settled_variables(scripts, &word.text);
    let expanded = scripts.expand(script, &word.text, word.at);
    if !is_plain || !expanded.starts_with('/') || expanded.contains([UNKNOWN, '$', '{', '*', ':']) {
        return None;
    }
    path::join("", &expanded).filter(|path| leads_nowhere(scripts.repository(), path))
}

/// Whether every variable that a word stands on is set once, and to one value, in all scripts.
fn has_settled_variables(scripts: &Scripts<'_>, word: &str) -> bool {
    let mut open = vec![word];
    for _ in 0..STEPS_MAX {
        let Some(text) = open.pop() else { return true };
        let Some((_, end, name)) = next_variable(text) else { continue };
        open.push(&text[end..]);
        if ROOTS.contains(&name.as_str()) || text.starts_with("$(git rev-parse --show-toplevel)") {
            continue;
        }
        let all = scripts.found().iter().flat_map(|script| &script.variables);
        let values: BTreeSet<&str> = all.filter(|it| it.name == name).map(|it| it.value.as_str()).collect();
        match values.into_iter().collect::<Vec<_>>()[..] {
            [value] => open.push(value),
            _ => return false,
        }
    }
    false
}
