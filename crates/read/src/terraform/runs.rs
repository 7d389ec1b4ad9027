//! Where scripts run Terraform or OpenTofu: in which directories, in which order.
//!
//! Knows `cd` and `-chdir`, variables that are assigned above, and lists that a loop goes through. Does not follow functions: what
//! those do is known where the commands stand.

use kustomize::{Files as _, PathKind};
use repository::path;
use source::Span;

use crate::scripts::{Script, Scripts, UNKNOWN, Word, next_variable, pipelines, with_long_lines};

/// A command of a script that runs Terraform in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The path of the script.
    pub script: String,
    /// The command, or what leads into the directory.
    pub at: Span,
    /// The directory, as a path of the repository.
    pub directory: String,
    /// There is no such directory.
    pub is_missing: bool,
    /// `apply`, `validate`, `init`.
    pub action: String,
}

/// Of one loop.
const TURNS_MAX: usize = 64;
const PROGRAMS: [&str; 2] = ["terraform", "tofu"];

pub(crate) fn runs(scripts: &Scripts<'_>) -> Vec<Run> {
    let mut found = Vec::new();
    for script in scripts.found() {
        let text = scripts.text(script).filter(|text| PROGRAMS.iter().any(|program| text.contains(program)));
        if let Some(text) = text {
            Reader { scripts, script, is_shell: is_shell(&script.path), here: Vec::new() }.read(text, &mut found);
        }
    }
    found
}

/// Whether the lines of a file are run one after the other in one shell.
fn is_shell(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "sh" | "bash" | "zsh"))
}

struct Reader<'r, 'all> {
    scripts: &'r Scripts<'all>,
    script: &'r Script,
    is_shell: bool,
    /// Where the script is, one for each turn of a loop; nothing if that is not known.
    here: Vec<Entered>,
}

/// A directory that was entered.
#[derive(Clone, Debug)]
struct Entered {
    directory: String,
    is_missing: bool,
    at: Span,
}

impl Reader<'_, '_> {
    fn read(mut self, text: &str, found: &mut Vec<Run>) {
        let text = with_long_lines(text);
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let trimmed = line.trim_start();
            let before = self.here.clone();
            if !trimmed.starts_with('#') {
                for command in pipelines(line, at).into_iter().flatten() {
                    self.command(&command, line, &text, found);
                }
            }
            // What a line of its own or a subshell enters is left at its end.
            if !self.is_shell || trimmed.starts_with('(') && line.trim_end().ends_with(')') {
                self.here = before;
            }
            at += line.len();
        }
    }

    fn command(&mut self, command: &[Word], line: &str, text: &str, found: &mut Vec<Run>) {
        let words = command.iter().position(|word| !is_preface(&word.text)).map(|first| &command[first..]);
        let Some([first, rest @ ..]) = words else { return };
        if first.text == "cd" || first.text == "pushd" {
            let Some(to) = rest.iter().find(|word| !word.text.starts_with('-')) else { return };
            // `cd "$(dirname "$0")"`.
            if to.text == "dirname" || line.contains("BASH_SOURCE") {
                let directory = path::parent(&self.script.path).to_owned();
                self.here = vec![Entered { directory, is_missing: false, at: self.script.span(to) }];
                return;
            }
            // A script that looks first knows that it may be missing.
            let is_guarded = line.contains("||") || is_looked_for(text, to);
            self.here = self.entered(to, is_guarded);
            return;
        }
        if !PROGRAMS.contains(&first.text.as_str()) {
            return;
        }
        let chdir = rest.iter().find_map(|word| {
            let value = word.text.strip_prefix("-chdir=")?;
            Some(Word { text: value.to_owned(), at: word.at + word.text.len() - value.len() })
        });
        let Some(action) = rest.iter().find(|word| !word.text.starts_with('-')) else { return };
        let places = chdir.map_or_else(|| self.here.clone(), |to| self.entered(&to, is_looked_for(text, &to)));
        found.extend(places.into_iter().map(|place| Run {
            script: self.script.path.clone(),
            at: if place.is_missing { place.at } else { self.script.span(first) },
            directory: place.directory,
            is_missing: place.is_missing,
            action: action.text.clone(),
        }));
    }

    /// The directories that a word means.
    fn entered(&self, word: &Word, is_guarded: bool) -> Vec<Entered> {
        let mut texts = vec![(word.text.clone(), self.script.span(word))];
        while let Some(at) = texts.iter().position(|(text, _)| self.looped(text, word).is_some()) {
            let (text, _) = texts.remove(at);
            let (range, list) = self.looped(&text, word).unwrap_or_default();
            let turns = list.into_iter().map(|(value, place)| {
                let mut text = text.clone();
                text.replace_range(range.clone(), &value);
                (text, place)
            });
            texts.extend(turns);
            if texts.len() > TURNS_MAX {
                return Vec::new();
            }
        }
        let repository = self.scripts.repository();
        let place = |(text, at): (String, Span)| {
            let expanded = self.scripts.expand(self.script, &text, word.at);
            if expanded.contains([UNKNOWN, '~', '`']) || expanded.contains("$(") || expanded.is_empty() {
                return None;
            }
            let is_there = |directory: &String| repository.kind(directory) == PathKind::Directory;
            let bases = self.here.first().map(|here| here.directory.as_str()).into_iter();
            let bases = bases.chain(["", path::parent(&self.script.path)]);
            let mut all = bases.filter_map(|base| path::join(base, &expanded));
            let directory = match expanded.strip_prefix('/') {
                Some(whole) => path::join("", whole)?,
                None => all.clone().find(is_there).or_else(|| all.find(|place| has_siblings(repository, place)))?,
            };
            let is_missing = !is_there(&directory) && !is_guarded && has_siblings(repository, &directory);
            (is_there(&directory) || is_missing).then_some(Entered { directory, is_missing, at })
        };
        texts.into_iter().filter_map(place).collect()
    }

    /// A variable of a text that a loop around goes through: its place in the text, and the values with their places.
    #[expect(clippy::type_complexity, reason = "used in one place")]
    fn looped(&self, text: &str, word: &Word) -> Option<(std::ops::Range<usize>, Vec<(String, Span)>)> {
        let mut from = 0;
        while let Some((start, end, name)) = next_variable(text.get(from..)?) {
            let range = from + start..from + end;
            if let Some(words) = self.scripts.turns(self.script, &name, word.at) {
                let values = words.into_iter().map(|turn| {
                    let at = self.script.span(&turn);
                    (turn.text, at)
                });
                return Some((range, values.collect()));
            }
            from += end;
        }
        None
    }
}

/// Words before the program itself.
fn is_preface(word: &str) -> bool {
    let is_assignment = word
        .split_once('=')
        .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
    is_assignment || matches!(word, "if" | "then" | "else" | "do" | "!" | "time" | "exec" | "sudo" | "{" | "-" | "@")
}

/// Whether the text asks whether a directory exists.
fn is_looked_for(text: &str, word: &Word) -> bool {
    let asks = ["-d ", "-e ", "-f "];
    let name = word.text.trim_matches('"');
    asks.iter().any(|ask| text.contains(&format!("{ask}\"{name}\"")) || text.contains(&format!("{ask}{name}")))
}

/// Whether it could be there: others lie where it would. What scripts make themselves does not.
fn has_siblings(repository: &crate::Repository, directory: &str) -> bool {
    let above = path::parent(directory);
    repository.kind(above) == PathKind::Directory
        && repository.names(above).iter().any(|name| {
            let sibling = path::join(above, name).unwrap_or_default();
            repository.names(&sibling).iter().any(|file| matches!(file.rsplit('.').next(), Some("tf" | "tofu")))
        })
}
