//! Loops of scripts: what their variables go through.
//!
//! Runs no command: a list that one makes is not known, but for the directories of a directory.

use kustomize::{Files as _, PathKind};

use super::variables::next_variable;
use super::words::{Word, pipelines};
use super::{Script, Scripts, UNKNOWN};
use ::repository::path;

/// How often a variable may stand for another.
const STEPS_MAX: usize = 8;
/// How far above a command the loop is looked for that it stands in.
const LINES_MAX: usize = 20;

impl Scripts<'_> {
    /// What the variable of a loop goes through, as it is written.
    pub(crate) fn looped_over(&self, script: &Script, word: &Word) -> Vec<String> {
        let Some(text) = self.text(script) else { return Vec::new() };
        let mut name = variable_in(&word.text);
        for _ in 0..STEPS_MAX {
            let Some(wanted) = name else { return Vec::new() };
            if let Some(list) = looped(text, &wanted, word.at) {
                let array = list.first().and_then(|first| variable_in(first)).filter(|_| list.len() == 1);
                return array.map_or(list, |array| array_of(text, &array));
            }
            name = script.assigned(&wanted, word.at).and_then(variable_in);
        }
        Vec::new()
    }

    /// The words that the variable of the loop around a place goes through, with their places; nothing if it is the variable of none.
    pub(crate) fn turns(&self, script: &Script, name: &str, at: usize) -> Option<Vec<Word>> {
        let above = self.text(script)?.get(..at)?;
        let line = open_loop(above).filter(|line| line.contains(&format!("for {name} in ")))?;
        // What a command prints is not a list that is written.
        if line.contains("$(") || line.contains('`') {
            return None;
        }
        let start = above.rfind(line)?;
        let command = pipelines(line, start).concat().into_iter().next()?;
        let words: Vec<Word> = command.into_iter().skip_while(|word| word.text != "for").skip(3).collect();
        let text = self.text(script)?;
        let array = if let [only] = &words[..] { variable_in(&only.text) } else { None };
        let words = array.and_then(|array| array_words(text, &array)).unwrap_or(words);
        let is_written = |word: &Word| !word.text.is_empty() && !word.text.contains(['$', '*', '`']);
        (!words.is_empty() && words.iter().all(is_written)).then_some(words)
    }

    /// The names of the directories that the nearest loop above a place goes through: `for x in DIRECTORY/*/`, and
    /// `find DIRECTORY … -type d | while read x`.
    pub(crate) fn looped_directories(&self, script: &Script, at: usize) -> Vec<String> {
        let Some(above) = self.text(script).and_then(|text| text.get(..at)) else { return Vec::new() };
        let Some(directory) = open_loop(above).and_then(directory_in_loop) else { return Vec::new() };
        let expanded = self.expand(script, &directory, at);
        let Some(directory) = path::join("", &expanded).filter(|_| !expanded.contains(UNKNOWN)) else {
            return Vec::new();
        };
        let is_directory = |name: &&String| self.repository.kind(&format!("{directory}/{name}")) == PathKind::Directory;
        self.repository.names(&directory).iter().filter(is_directory).cloned().collect()
    }
}

/// The line that begins the innermost loop that is still open at the end of a text.
fn open_loop(text: &str) -> Option<&str> {
    let mut ended: usize = 0;
    let mut lines = text.lines().rev().take(LINES_MAX);
    while let Some(line) = lines.next() {
        let mut words = line.split([' ', '\t', ';', '|']).filter(|word| !word.is_empty());
        let (first, last) = (words.clone().next(), words.next_back());
        ended += usize::from(first == Some("done") || last == Some("done"));
        match ended.checked_sub(usize::from(begins_loop(line))) {
            // What it goes through may stand on the line before.
            None if line.trim_start().starts_with('|') => return lines.next(),
            None => return Some(line),
            Some(left) => ended = left,
        }
    }
    None
}

/// Whether a line has the keyword of a loop where a command begins: not in a comment, and not in a text that it prints.
fn begins_loop(line: &str) -> bool {
    let opens = |before: &str| before.ends_with([';', '|', '&', '(']) || matches!(before, "do" | "then" | "else" | "{");
    let words: Vec<&str> = line.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
    words.iter().enumerate().any(|(at, word)| {
        let is_first = at.checked_sub(1).is_none_or(|before| opens(words[before]));
        is_first && matches!(*word, "for" | "while" | "until")
    })
}

/// The directory in whose directories a line begins a loop.
fn directory_in_loop(line: &str) -> Option<String> {
    if !line.contains("for ") && !line.contains("find ") {
        return None;
    }
    let command = pipelines(line, 0).concat().into_iter().next()?;
    let words: Vec<&str> =
        command.iter().map(|word| word.text.as_str()).skip_while(|word| *word != "for" && *word != "find").collect();
    match words[..] {
        ["for", _, "in", glob] => glob.strip_suffix("/*/").map(str::to_owned),
        ["find", directory, ref flags @ ..] if flags.windows(2).any(|pair| pair == ["-type", "d"]) => {
            Some(directory.to_owned())
        }
        _ => None,
    }
}

/// The name in `${name% *}`.
fn variable_in(text: &str) -> Option<String> {
    let (_, _, name) = next_variable(text)?;
    let name = name.split(['%', '#', '/', ' ', '|']).next().unwrap_or_default();
    Some(name.to_owned()).filter(|name| !name.is_empty())
}

/// The words in the nearest `for name in words` above a place.
fn looped(text: &str, name: &str, at: usize) -> Option<Vec<String>> {
    let lines = text.get(..at)?.lines().rev();
    lines.filter(|line| line.contains("for ")).find_map(|line| {
        let command = pipelines(line, 0).concat().into_iter().next()?;
        let words = command.iter().map(|word| word.text.as_str()).skip_while(|word| *word != "for");
        match words.collect::<Vec<_>>()[..] {
            ["for", variable, "in", ref list @ ..] if variable == name => {
                Some(list.iter().map(|word| (*word).to_owned()).collect())
            }
            _ => None,
        }
    })
}

/// The words that an array is set to in one assignment, with their places.
fn array_words(text: &str, name: &str) -> Option<Vec<Word>> {
    let opening = format!("{name}=(");
    let (at, _) = text.match_indices(&opening).find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        before.is_none_or(|letter| !letter.is_ascii_alphanumeric() && letter != '_')
    })?;
    let start = at + opening.len();
    let inside = text.get(start..start + text.get(start..)?.find(')')?)?;
    let mut words = Vec::new();
    let mut begin = 0;
    for part in inside.split_inclusive(char::is_whitespace) {
        let word = part.trim();
        let text = word.trim_matches(['"', '\'']);
        if !text.is_empty() {
            words.push(Word { text: text.to_owned(), at: start + begin + part.find(text).unwrap_or(0) });
        }
        begin += part.len();
    }
    (!words.is_empty()).then_some(words)
}

/// The words in `name=( … )`, comments left out.
fn array_of(text: &str, name: &str) -> Vec<String> {
    let opening = format!("{name}=(");
    let is_word = |at: usize| !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
    let Some((at, _)) = text.match_indices(&opening).find(|(at, _)| is_word(*at)) else { return Vec::new() };
    let mut found = Vec::new();
    for line in text[at + opening.len()..].lines().map(str::trim) {
        if !line.starts_with('#') {
            found.extend(pipelines(line, 0).concat().concat().into_iter().map(|word| word.text));
        }
        if !line.starts_with('#') && line.ends_with(')') {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::open_loop;

    #[test]
    fn a_loop_that_has_ended_is_not_the_one_around() {
        assert_eq!(open_loop("for a in x/*/; do\n  echo\n"), Some("for a in x/*/; do"));
        assert_eq!(open_loop("for a in x/*/; do\n  echo\ndone\n"), None);
        let nested = "find y -type d | while read -r b; do\n  for a in x/*/; do\n    echo\n  done\n";
        assert_eq!(open_loop(nested), Some("find y -type d | while read -r b; do"));
        assert_eq!(open_loop("for a in x; do echo; done\n"), None);
        assert_eq!(open_loop("for a in x/*/; do\n  # not for b\n  echo waiting for b\n"), Some("for a in x/*/; do"));
        assert_eq!(open_loop("find y -type d \\\n  | while read -r b; do\n"), Some("find y -type d \\"));
    }
}
