//! Which commands of scripts are run before GitOps starts: all of a script whose path says bootstrap, what a task, a recipe or a
//! target does whose name says so, and all that these call in turn.
//!
//! Follows `task`, `just`, `make` and the paths of scripts. Whether a condition holds is not known: both sides count.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::recipes::{Recipe, Recipes, Tool};
use super::words::{Word, pipelines};
use super::{Script, Scripts, with_long_lines};
use crate::naming;
use ::repository::path;

/// How many files may take each other in.
const INCLUDES_DEPTH_MAX: usize = 8;
/// Words that make a name one of taking down, not of bringing up.
const UNDOING: [&str; 11] =
    ["clean", "cleanup", "delete", "destroy", "down", "nuke", "remove", "reset", "teardown", "uninstall", "wipe"];
/// Flags of the three programs that are followed by a value.
const VALUE_FLAGS: [&str; 11] =
    ["-d", "--dir", "-t", "--taskfile", "-C", "-f", "--file", "--justfile", "--working-directory", "-o", "--output"];
/// A line without any of these calls nothing.
const CALLS: [&str; 6] = ["task", "just", "make", "MAKE", ".sh", ".bash"];

/// For each script the parts of it that are run before GitOps starts, in the order they are reached.
pub(super) fn parts(scripts: &Scripts<'_>) -> Vec<Vec<(usize, Range<usize>)>> {
    let found = scripts.found();
    let recipes: Vec<Option<Recipes>> =
        found.iter().map(|script| Recipes::read(scripts.repository(), &script.path)).collect();
    let roots = roots(found, &recipes);
    let by_path = found.iter().enumerate().map(|(index, script)| (script.path.as_str(), index)).collect();
    let (seen, parts) = (BTreeSet::new(), vec![Vec::new(); found.len()]);
    let mut walk = Walk { scripts, recipes, roots, by_path, seen, parts, turn: 0 };
    for index in 0..found.len() {
        walk.start(index);
    }
    walk.parts
}

/// Those that no other takes in, the nearest to the root of the repository first.
fn roots(found: &[Script], recipes: &[Option<Recipes>]) -> Vec<usize> {
    let includes = recipes.iter().flatten().flat_map(|recipes| &recipes.includes);
    let taken_in: BTreeSet<&str> = includes.map(|include| include.path.as_str()).collect();
    let mut roots: Vec<usize> =
        (0..found.len()).filter(|index| !taken_in.contains(found[*index].path.as_str())).collect();
    roots.sort_by_key(|index| found[*index].path.matches('/').count());
    roots
}

/// Whether a name says that what bears it brings a cluster up. `of` are the names that its file is taken in under.
fn says_bootstrap(of: &[&str], name: &str) -> bool {
    let lower = of.iter().chain([&name]).map(|name| name.to_ascii_lowercase()).collect::<Vec<_>>().join(" ");
    let words: Vec<&str> = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).collect();
    let installs_flux = words.contains(&"flux") && words.contains(&"install");
    (naming::says_bootstrap(&lower) || installs_flux) && !words.iter().any(|word| UNDOING.contains(word))
}

/// A script, and the recipe of it, or all of it.
type Part = (usize, Option<usize>);

struct Walk<'all, 'text> {
    scripts: &'all Scripts<'text>,
    recipes: Vec<Option<Recipes>>,
    roots: Vec<usize>,
    by_path: BTreeMap<&'all str, usize>,
    seen: BTreeSet<Part>,
    parts: Vec<Vec<(usize, Range<usize>)>>,
    turn: usize,
}

impl Walk<'_, '_> {
    /// Begins with what a script has that says bootstrap.
    fn start(&mut self, index: usize) {
        let path = &self.scripts.found()[index].path;
        let is_whole = naming::says_bootstrap(path) || self.brings_flux(index);
        let count = self.recipes[index].as_ref().map_or(0, |recipes| recipes.all.len());
        let names = self.names_of(index);
        let is_meant =
            |at: &usize| is_whole || self.recipe(index, *at).is_some_and(|it| says_bootstrap(&names, &it.name));
        let meant: Vec<usize> = (0..count).filter(is_meant).collect();
        for at in meant {
            self.enter((index, Some(at)));
        }
        if is_whole {
            self.enter((index, None));
        }
    }

    /// Whether a script that has no recipes installs Flux, or hands it the first thing to apply.
    fn brings_flux(&self, index: usize) -> bool {
        let script = &self.scripts.found()[index];
        let is_undoing = || {
            let name = path::parent(&script.path).len();
            let words = script.path[name..].to_ascii_lowercase();
            UNDOING.iter().any(|word| words.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|it| it == *word))
        };
        let installs = |text: &str| {
            let lines = text.lines().map(str::trim_start);
            let brings = |line: &str| line.starts_with("flux install") || line.starts_with("flux bootstrap");
            lines.into_iter().any(|line| brings(line) && !line.contains("--export"))
        };
        let is_bare = self.recipes[index].is_none() && !naming::is_document(&script.path);
        is_bare
            && !is_undoing()
            && (self.scripts.text(script).is_some_and(installs) || self.scripts.starts_flux(script))
    }

    /// The names under which other files take a script in.
    fn names_of(&self, index: usize) -> Vec<&str> {
        let path = &self.scripts.found()[index].path;
        let includes = self.recipes.iter().flatten().flat_map(|recipes| &recipes.includes);
        includes
            .filter(|include| include.path == *path)
            .flat_map(|include| &include.names)
            .map(String::as_str)
            .collect()
    }

    fn recipe(&self, index: usize, at: usize) -> Option<&Recipe> {
        self.recipes.get(index)?.as_ref()?.all.get(at)
    }

    /// Follows one part to its end. What it needs comes before it, what it calls after it.
    fn enter(&mut self, part: Part) {
        let mut open = vec![(part, false)];
        while let Some((part, is_ready)) = open.pop() {
            if is_ready {
                self.take(part);
                open.extend(self.called(part).into_iter().rev().map(|part| (part, false)));
            } else if self.seen.insert(part) {
                open.push((part, true));
                open.extend(self.needed(part).into_iter().rev().map(|part| (part, false)));
            }
        }
    }

    fn take(&mut self, (index, at): Part) {
        let range = at.and_then(|at| self.recipe(index, at)).map_or(0..usize::MAX, |recipe| recipe.range.clone());
        self.parts[index].push((self.turn, range));
        self.turn += 1;
    }

    fn needed(&self, (index, at): Part) -> Vec<Part> {
        let Some(recipe) = at.and_then(|at| self.recipe(index, at)) else { return Vec::new() };
        recipe.before.iter().filter_map(|name| self.find(index, None, name)).collect()
    }

    /// What a part runs: as its file declares it, and by the commands in it.
    fn called(&self, (index, at): Part) -> Vec<Part> {
        let script = &self.scripts.found()[index];
        let recipe = at.and_then(|at| self.recipe(index, at));
        let declared = recipe.map_or(&[][..], |recipe| &recipe.runs[..]);
        let mut called: Vec<Part> = declared.iter().filter_map(|name| self.find(index, None, name)).collect();
        let Some(text) = self.scripts.text(script) else { return called };
        let range = recipe.map_or(0..text.len(), |recipe| recipe.range.clone());
        let text = text.get(range.clone()).map(with_long_lines).unwrap_or_default();
        let mut begin = range.start;
        for line in text.split_inclusive('\n') {
            if !line.trim_start().starts_with('#') && CALLS.iter().any(|call| line.contains(call)) {
                for command in pipelines(line, begin).concat() {
                    self.add_called(index, script, &command, &mut called);
                }
            }
            begin += line.len();
        }
        called
    }

    fn add_called(&self, index: usize, script: &Script, command: &[Word], called: &mut Vec<Part>) {
        if command.iter().any(|word| matches!(word.text.trim_start_matches('@'), "echo" | "printf")) {
            return;
        }
        let tool = command
            .iter()
            .enumerate()
            .find_map(|(at, word)| Some((at, Tool::called(word.text.trim_start_matches('@'))?)));
        if let Some((at, tool)) = tool {
            let names = bare_words(&command[at + 1..]);
            // `just module recipe`, and several at once.
            let pair = names.get(..2).map(|pair| pair.join(tool.separator())).filter(|_| tool == Tool::Just);
            called.extend(
                pair.iter().map(String::as_str).chain(names).filter_map(|name| self.find(index, Some(tool), name)),
            );
        }
        let is_script = |word: &&Word| matches!(word.text.rsplit_once('.'), Some((_, "sh" | "bash")));
        for word in command.iter().filter(is_script) {
            if let [path] = &self.scripts.resolve(script, word.text.trim_start_matches('@'), word.at)[..] {
                called.extend(self.by_path.get(path.as_str()).map(|script| (*script, None)));
            }
        }
    }

    /// The recipe that a name means in a script: its own, one of a file it takes in, or one of the files that no other takes in.
    fn find(&self, index: usize, by: Option<Tool>, name: &str) -> Option<Part> {
        let own = self.recipes[index].as_ref().map(|recipes| recipes.tool);
        let tool = by.or(own)?;
        let name = name.trim_start_matches(':');
        let near = (own == Some(tool)).then(|| self.look(index, name, INCLUDES_DEPTH_MAX)).flatten();
        let is_of_tool = |at: &&usize| self.recipes[**at].as_ref().is_some_and(|recipes| recipes.tool == tool);
        let mut roots = self.roots.iter().filter(is_of_tool);
        near.or_else(|| roots.find_map(|at| self.look(*at, name, INCLUDES_DEPTH_MAX)))
    }

    fn look(&self, index: usize, name: &str, depth: usize) -> Option<Part> {
        let depth = depth.checked_sub(1)?;
        let recipes = self.recipes.get(index)?.as_ref()?;
        if let Some(at) = recipes.all.iter().position(|recipe| recipe.name == name) {
            return Some((index, Some(at)));
        }
        recipes.includes.iter().find_map(|include| {
            let inside = *self.by_path.get(include.path.as_str())?;
            if include.names.is_empty() {
                return self.look(inside, name, depth);
            }
            include.names.iter().find_map(|space| {
                let rest = name.strip_prefix(space.as_str())?;
                let rest = if rest.is_empty() { "default" } else { rest.strip_prefix(recipes.tool.separator())? };
                self.look(inside, rest, depth)
            })
        })
    }
}

/// The words after the name of a program that are neither flags nor their values nor variables.
fn bare_words(words: &[Word]) -> Vec<&str> {
    let mut bare = Vec::new();
    let mut words = words.iter().map(|word| word.text.as_str());
    while let Some(word) = words.next() {
        if word == "--" {
            break;
        }
        if VALUE_FLAGS.contains(&word) {
            words.next();
        } else if !word.starts_with('-') && !word.contains('=') {
            bare.push(word);
        }
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::says_bootstrap;

    #[test]
    fn a_name_says_bootstrap() {
        for name in ["bootstrap", "bootstrap:cluster", "cluster-bootstrap", "install-flux", "flux:install"] {
            assert!(says_bootstrap(&[], name), "{name}");
        }
        assert!(says_bootstrap(&["flux"], "install"));
        assert!(says_bootstrap(&["bootstrap"], "apps"));
        for name in ["apply", "flux:reconcile", "install", "bootstrap:reset", "uninstall-flux"] {
            assert!(!says_bootstrap(&[], name), "{name}");
        }
    }
}
