//! The named parts of Taskfiles, justfiles and Makefiles: tasks, recipes, targets.
//!
//! Knows where each begins and ends, which others it says it needs, and which files are taken in under which names. What its
//! commands do is not known here.

use std::ops::Range;

use kustomize::{Files as _, PathKind};
use yaml::{Entry, Node};

use crate::repository::Repository;
use ::repository::path;

/// What a Taskfile is called in a directory that is included as a whole.
const TASKFILES: [&str; 6] =
    ["Taskfile.yml", "Taskfile.yaml", "taskfile.yml", "taskfile.yaml", "Taskfile.dist.yml", "Taskfile.dist.yaml"];

/// A program that runs named parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Task,
    Just,
    Make,
}

impl Tool {
    /// The one that runs a script, given that it is one; none for a shell's.
    fn of(path: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        match name.rsplit('.').next().unwrap_or_default() {
            "yaml" | "yml" => Some(Self::Task),
            "just" | "justfile" => Some(Self::Just),
            "mk" | "makefile" | "gnumakefile" => Some(Self::Make),
            _ => None,
        }
    }

    /// The one that a word of a command calls.
    pub(super) fn called(word: &str) -> Option<Self> {
        match word {
            "task" | "go-task" => Some(Self::Task),
            "just" | "{{just_executable()}}" | "{{ just_executable() }}" => Some(Self::Just),
            "make" | "MAKE" => Some(Self::Make),
            _ => None,
        }
    }

    /// What stands between the name of a file that is taken in and the name of a part of it.
    pub(super) fn separator(self) -> &'static str {
        match self {
            Self::Task => ":",
            Self::Just => "::",
            Self::Make => "/",
        }
    }
}

#[derive(Debug)]
pub(crate) struct Recipe {
    pub(crate) name: String,
    /// The bytes of its file that are its own.
    pub(crate) range: Range<usize>,
    /// Those that run before it.
    pub(crate) before: Vec<String>,
    /// Those that it runs among its commands, where the file itself says so.
    pub(crate) runs: Vec<String>,
}

/// A file that is taken in.
#[derive(Debug)]
pub(crate) struct Include {
    /// None where its parts are taken in under their own names.
    pub(crate) names: Vec<String>,
    pub(crate) path: String,
}

#[derive(Debug)]
pub(crate) struct Recipes {
    pub(crate) tool: Tool,
    pub(crate) all: Vec<Recipe>,
    pub(crate) includes: Vec<Include>,
}

impl Recipes {
    /// Those of a script; nothing for one of a shell.
    pub(crate) fn read(repository: &Repository, path: &str) -> Option<Self> {
        let tool = Tool::of(path)?;
        let (all, includes) = match tool {
            Tool::Task => {
                let root = repository.documents(path)?.1.first()?.root.as_ref()?;
                (tasks(root), task_includes(repository, path, root))
            }
            Tool::Just | Tool::Make => {
                let text = repository.source(repository.id(path)?)?.text();
                let includes = if tool == Tool::Just { modules(repository, path, text) } else { Vec::new() };
                (blocks(tool, text), includes)
            }
        };
        Some(Self { tool, all, includes })
    }
}

/// The Taskfiles that one takes in, whatever they are called.
pub(super) fn included(repository: &Repository, path: &str) -> Vec<String> {
    let text = repository.id(path).and_then(|id| repository.source(id)).map(source::Source::text);
    if Tool::of(path) != Some(Tool::Task) || !text.is_some_and(|text| text.contains("includes:")) {
        return Vec::new();
    }
    let root = repository.documents(path).and_then(|(_, documents)| documents.first()?.root.as_ref());
    let includes = root.map(|root| task_includes(repository, path, root)).unwrap_or_default();
    includes.into_iter().map(|include| include.path).collect()
}

fn tasks(root: &Node) -> Vec<Recipe> {
    let Some(tasks) = root.get("tasks") else { return Vec::new() };
    let entries = tasks.entries();
    let ends = entries.iter().skip(1).map(|next| next.key_span.start).chain([tasks.span.end]);
    entries.iter().zip(ends).map(|(entry, end)| task(entry, end as usize)).collect()
}

fn task(entry: &Entry, end: usize) -> Recipe {
    let named = |node: &Node| node.text().or_else(|| node.text_at(&["task"])).map(str::to_owned);
    let run = |node: &Node| {
        let node = node.get("defer").unwrap_or(node);
        node.text_at(&["task"]).map(str::to_owned)
    };
    let commands = entry.value.as_seq().unwrap_or_else(|| entry.value.items_at("cmds"));
    Recipe {
        name: entry.key.to_string(),
        range: entry.key_span.start as usize..end.max(entry.key_span.end as usize),
        before: entry.value.items_at("deps").iter().filter_map(named).collect(),
        runs: commands.iter().filter_map(run).collect(),
    }
}

fn task_includes(repository: &Repository, path: &str, root: &Node) -> Vec<Include> {
    let entries = root.get("includes").map_or(&[][..], Node::entries);
    let include = |entry: &Entry| {
        let written = entry.value.text().or_else(|| entry.value.text_at(&["taskfile"]))?;
        let from_root = written.strip_prefix("{{.ROOT_DIR}}").or_else(|| written.strip_prefix("{{ .ROOT_DIR }}"));
        let (directory, written) = from_root.map_or((path::parent(path), written), |rest| ("", rest));
        let relative = written.trim_start_matches('/');
        let place = path::join(directory, if from_root.is_some() { relative } else { written })?;
        let inside = || TASKFILES.iter().map(|name| format!("{place}/{name}"));
        let path = match repository.kind(&place) {
            PathKind::Directory => inside().find(|file| repository.kind(file) == PathKind::File)?,
            PathKind::File => place,
            PathKind::Missing => return None,
        };
        let aliases = entry.value.items_at("aliases").iter().filter_map(Node::text).map(str::to_owned);
        let is_flat = entry.value.get("flatten").and_then(Node::as_bool) == Some(true);
        let names = if is_flat { Vec::new() } else { aliases.chain([entry.key.to_string()]).collect() };
        Some(Include { names, path })
    };
    entries.iter().filter_map(include).collect()
}

/// `mod name`, `mod name "path"` and `import "path"` of a justfile.
fn modules(repository: &Repository, path: &str, text: &str) -> Vec<Include> {
    let include = |line: &str| {
        let mut words = line.split_whitespace();
        let word = words.next()?.trim_end_matches('?');
        let unquoted = |text: &str| text.trim_matches(['"', '\'']).to_owned();
        let (names, written) = match word {
            "import" => (Vec::new(), unquoted(words.next()?)),
            "mod" => {
                let name = words.next()?;
                let written = words.next().filter(|word| word.starts_with(['"', '\'']));
                (vec![name.to_owned()], written.map_or_else(|| name.to_owned(), unquoted))
            }
            _ => return None,
        };
        let place = path::join(path::parent(path), &written)?;
        let files = ["", ".just", "/mod.just", "/justfile", "/.justfile"].map(|end| format!("{place}{end}"));
        let path = files.into_iter().find(|file| repository.kind(file) == PathKind::File)?;
        Some(Include { names, path })
    };
    text.lines().filter(|line| line.starts_with("mod") || line.starts_with("import")).filter_map(include).collect()
}

/// The parts of a justfile or a Makefile: a heading at the margin, and what is indented below it.
fn blocks(tool: Tool, text: &str) -> Vec<Recipe> {
    let mut found: Vec<Recipe> = Vec::new();
    let mut is_open = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.starts_with([' ', '\t']) || line.trim().is_empty() || is_between(tool, line) {
            if let Some(open) = found.last_mut().filter(|_| is_open) {
                open.range.end = end;
            }
        } else if !line.starts_with(['#', '[']) {
            let heading = heading(tool, line);
            is_open = heading.is_some();
            found.extend(heading.map(|(name, before)| Recipe { name, range: at..end, before, runs: Vec::new() }));
        }
        at = end;
    }
    found
}

/// Conditions of a Makefile stand at the margin, also inside of a target.
fn is_between(tool: Tool, line: &str) -> bool {
    tool == Tool::Make
        && ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"].iter().any(|word| line.starts_with(word))
}

/// The name in `name parameters: others`, and those others.
fn heading(tool: Tool, line: &str) -> Option<(String, Vec<String>)> {
    let line = line.trim_end().trim_start_matches('@');
    let is_name = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.' | '/' | '%');
    let end = line.find(|letter: char| !is_name(letter))?;
    let (name, rest) = line.split_at(end);
    let before = match tool {
        // A parameter may have a default with a colon in it.
        Tool::Just => rest.rsplit_once(':')?.1,
        _ => rest.split_once(':')?.1.trim_start_matches(':'),
    };
    if name.is_empty() || name.starts_with('.') || before.starts_with('=') || rest.trim_start().starts_with(['=', '?'])
    {
        return None;
    }
    let before = before.split('#').next().unwrap_or_default();
    let others = before.split(|letter: char| !is_name(letter) && letter != ':').filter(|word| !word.is_empty());
    Some((name.to_owned(), others.map(str::to_owned).collect()))
}
