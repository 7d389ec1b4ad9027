//! What the documents show is what the program does: every `console` block of the README and of the pages is run, every
//! YAML example is YAML, every option has its row.

#![expect(clippy::unwrap_used, reason = "a page that can not be read fails")]

mod story;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kustomize::Files as _;
use story::{Ran, Tree, command, run};

/// A line of its own that stands for any number of lines.
const ELISION: &str = "...";
/// How a command begins in a block.
const PROMPT: &str = "$ ";
/// What a command of ours begins with: as it is once installed, and as the README has it run from a clone.
const OURS: [&str; 2] = ["coldstart ", "cargo run --release -- "];

/// Pages whose commands write something: told from top to bottom in a copy of this directory, at a home of their own.
const STORIES: [(&str, &str); 1] = [("docs/commands/seal.md", "crates/coldstart/tests/docs/seal")];
/// Within a line, stands for any text: keys, days and directories differ from run to run.
const ANY_TEXT: char = '…';

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README and every page below `docs/`, by their paths in the repository.
fn pages() -> Vec<(String, String)> {
    let root = root();
    let mut found = vec!["README.md".to_owned()];
    let mut work = vec![root.join("docs")];
    while let Some(directory) = work.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                work.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path.strip_prefix(&root).unwrap().to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found.into_iter().map(|page| (page.clone(), fs::read_to_string(root.join(&page)).unwrap())).collect()
}

/// A fenced block: the line of its fence, counted from 1, and its text.
struct Block {
    line: usize,
    text: String,
}

fn blocks(page: &str, language: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Block, bool)> = None;
    for (index, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(words)) => {
                open = Some((Block { line: index + 1, text: String::new() }, words.trim() == language));
            }
            (None, None) => {}
            (Some(_), Some(_)) => found.extend(open.take().filter(|(_, wanted)| *wanted).map(|(block, _)| block)),
            (Some((block, _)), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
        }
    }
    found
}

/// A command of a block, and the lines that are shown for it.
struct Shown<'a> {
    command: &'a str,
    lines: Vec<&'a str>,
}

fn commands(block: &Block) -> Vec<Shown<'_>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for line in block.text.lines() {
        match (line.strip_prefix(PROMPT), shown.last_mut()) {
            (Some(command), _) => shown.push(Shown { command, lines: Vec::new() }),
            (None, Some(last)) => last.lines.push(line),
            (None, None) => panic!("a console block begins with a command: {line}"),
        }
    }
    shown
}

/// Whether the lines that are shown are those that were said, elisions apart.
fn fits(shown: &[&str], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((&ELISION, rest)) => (0..=said.len()).any(|skip| fits(rest, &said[skip..])),
        Some((first, rest)) => {
            said.split_first().is_some_and(|(line, after)| line_fits(first, line) && fits(rest, after))
        }
    }
}

fn line_fits(shown: &str, said: &str) -> bool {
    let mut parts = shown.split(ANY_TEXT);
    let Some(mut rest) = parts.next().and_then(|first| said.strip_prefix(first)) else { return false };
    let mut ends_open = false;
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
        ends_open = part.is_empty();
    }
    ends_open || rest.is_empty()
}

/// Where the commands of a page are run.
struct Stage {
    directory: PathBuf,
    /// Everything of a story: its repository, its home, and what lies beside them.
    story: Option<Tree>,
    /// Where journals go.
    state: Tree,
}

impl Stage {
    fn of(page: &str) -> Self {
        let Some((_, source)) = STORIES.iter().find(|(told, _)| *told == page) else {
            return Self { directory: root(), story: None, state: Tree::empty() };
        };
        let tree = Tree::empty();
        for entry in fs::read_dir(root().join(source)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            tree.write(&format!("repository/{name}"), &fs::read(path).unwrap());
        }
        Self { directory: tree.path().join("repository"), story: Some(tree), state: Tree::empty() }
    }

    /// Runs the words of a command; `< FILE` at their end is its standard input.
    fn run(&self, words: &str) -> Ran {
        let (words, input) = words.split_once(" < ").map_or((words, None), |(words, file)| (words, Some(file)));
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = command(&words);
        command.current_dir(&self.directory).env("XDG_STATE_HOME", self.state.path());
        if let Some(tree) = &self.story {
            command.env("HOME", tree.path().join("home")).env_remove("XDG_DATA_HOME");
        }
        if let Some(file) = input {
            command.stdin(fs::File::open(self.directory.join(file.trim())).unwrap());
        }
        run(&mut command)
    }
}

/// What is wrong with one block, a paragraph each.
fn tell(block: &Block, stage: &Stage) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut last: Option<Ran> = None;
    for shown in commands(block) {
        if shown.command == "echo $?" {
            let code = last.as_ref().map(|ran| ran.code.to_string()).unwrap_or_default();
            if shown.lines != [code.as_str()] {
                wrong.push(format!("the exit code is {code}, not {}", shown.lines.join(" ")));
            }
            continue;
        }
        let Some(words) = OURS.iter().find_map(|start| shown.command.strip_prefix(start)) else {
            wrong.push(format!("`{}` is no command of ours: no `console` block for that", shown.command));
            continue;
        };
        let ran = stage.run(words);
        let said: Vec<&str> = ran.stdout.lines().chain(ran.stderr.lines()).collect();
        if !fits(&shown.lines, &said) {
            let missing = shown.lines.iter().filter(|line| **line != ELISION && !said.contains(line));
            let missing: Vec<&str> = missing.copied().collect();
            let missing = if missing.is_empty() { "all of this in this order".to_owned() } else { missing.join("\n") };
            wrong.push(format!("`{}` does not say:\n{missing}\nit says:\n{}", shown.command, said.join("\n")));
        }
        last = Some(ran);
    }
    wrong
}

#[test]
fn commands_in_the_documents_say_what_is_shown() {
    let (mut count, mut wrong) = (0, String::new());
    for (page, text) in pages() {
        let stage = Stage::of(&page);
        for block in blocks(&text, "console") {
            count += 1;
            for told in tell(&block, &stage) {
                writeln!(wrong, "{page}:{}: {told}\n", block.line).unwrap();
            }
        }
    }
    assert!(count >= 4, "only {count} blocks were found");
    assert!(wrong.is_empty(), "documents that show something else than the program does:\n\n{wrong}");
}

#[test]
fn yaml_in_the_documents_is_yaml() {
    let tree = Tree::empty();
    let mut names = Vec::new();
    for (page, text) in pages() {
        for block in blocks(&text, "yaml") {
            let name = format!("{}/{}.yaml", page.trim_end_matches(".md"), block.line);
            tree.write(&name, block.text.as_bytes());
            names.push(name);
        }
    }
    assert!(names.len() >= 10, "only {} examples were found", names.len());
    let repository = read::Repository::find(tree.path()).unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in repository.yaml_paths() {
        let (_, documents) = repository.documents(path).expect("a file that was just written");
        seen += 1;
        let problems = documents.iter().flat_map(|document| &document.problems);
        wrong.extend(problems.map(|problem| format!("{path}: {}", problem.message)));
    }
    assert_eq!(seen, names.len(), "{names:?}");
    assert!(wrong.is_empty(), "examples that are no YAML (page and line of the block): {wrong:#?}");
}

/// The anchor that a heading gets where Markdown is shown.
fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn links_to_chapters_lead_to_them() {
    let mut wrong = Vec::new();
    for (page, text) in pages() {
        let directory = root().join(&page).parent().unwrap().to_path_buf();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for (file, chapter) in
            targets.filter_map(|target| target.split_once('#')).filter(|(file, _)| !file.contains("://"))
        {
            let target = if file.is_empty() { root().join(&page) } else { directory.join(file) };
            let chapters = fs::read_to_string(target).unwrap_or_default();
            let mut headings =
                chapters.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
            if !headings.any(|heading| anchor(heading) == chapter) {
                wrong.push(format!("{page}: no chapter {file}#{chapter}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The names below `Commands:` of a help, but that of the help itself.
fn commands_of(words: &[String]) -> Vec<Vec<String>> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let help = run(command(&words).arg("--help")).exits(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    // A description that is wrapped stands further to the right.
    let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| words.iter().copied().chain([name]).map(str::to_owned).collect()).collect()
}

/// Every command that has no commands below it.
fn all_commands() -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut work = vec![Vec::new()];
    while let Some(words) = work.pop() {
        let below = commands_of(&words);
        if below.is_empty() {
            found.push(words);
        }
        work.extend(below);
    }
    found
}

#[test]
fn every_option_has_its_row() {
    let all = all_commands();
    assert!(all.len() >= 18, "only {} commands were found: {all:?}", all.len());
    for words in all {
        let file = match words[0].as_str() {
            "man" | "version" => "completions",
            name => name,
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let help = run(command(&words).arg("--help")).exits(0).stdout;
        let page = fs::read_to_string(root().join("docs/commands").join(format!("{file}.md"))).unwrap();
        let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let options = lines.flat_map(|line| line.split_whitespace().take_while(|word| word.starts_with('-')));
        let options = options.map(|word| word.trim_end_matches(',').split(['=', '[']).next().unwrap_or_default());
        let missing: Vec<&str> = options
            .filter(|option| !["-h", "--help", "-V", "--version"].contains(option))
            .filter(|option| !page.contains(&format!("`{option}")))
            .collect();
        assert!(missing.is_empty(), "docs/commands/{file}.md has no row for {missing:?} of {words:?}");
    }
}

#[test]
fn every_file_of_a_rule_is_registered() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("crates/check/src/rules")).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().trim_end_matches(".rs").replace('_', "-");
        if name == "mod" {
            continue;
        }
        count += 1;
        assert!(check::rules::find(&name).is_some(), "{name} is not registered in rules/mod.rs");
    }
    assert_eq!(count, check::rules::all().len());
}

#[test]
fn an_elision_stands_for_any_number_of_lines() {
    let said = ["a", "b", "c", "d"];
    assert!(fits(&["a", "b", "c", "d"], &said));
    assert!(fits(&["...", "d"], &said));
    assert!(fits(&["a", "...", "c", "..."], &said));
    assert!(fits(&["...", "a", "b", "c", "d", "..."], &said));
    assert!(!fits(&["a", "c", "..."], &said));
    assert!(!fits(&["a", "..", "d"], &said));
}
