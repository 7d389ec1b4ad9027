//! Tasks of a Taskfile: each of its commands a shell of its own, always with -e.

use std::ops::Range;

use source::FileId;
use yaml::{Entry, Node};

use super::Unit;
use crate::gates::{Container, ShellText};

pub(super) fn units(file: FileId, text: &str, root: &Node, parts: &[Range<usize>]) -> Vec<Unit> {
    let pipefail = sets_pipefail(root);
    let tasks = root.get("tasks").map_or(&[][..], Node::entries);
    let is_meant = |entry: &&Entry| parts.iter().any(|range| range.start == entry.key_span.start as usize);
    tasks.iter().filter(is_meant).flat_map(|entry| task(file, text, &entry.value, pipefail)).collect()
}

fn sets_pipefail(node: &Node) -> bool {
    node.items_at("set").iter().any(|word| word.text() == Some("pipefail"))
}

fn task(file: FileId, text: &str, task: &Node, pipefail: bool) -> Vec<Unit> {
    let pipefail = pipefail || sets_pipefail(task);
    let ignores = |node: &Node| node.get("ignore_error").and_then(Node::as_bool) == Some(true);
    let listed = task.as_seq().unwrap_or_else(|| task.items_at("cmds"));
    let single = task.get("cmd").into_iter().chain(task.text().map(|_| task));
    let commands = listed.iter().chain(single).filter_map(|item| {
        let command = item.text().map(|_| item).or_else(|| item.get("cmd"))?;
        Some((command, ignores(task) || ignores(item)))
    });
    let asked = ["preconditions", "status"].into_iter().flat_map(|key| task.items_at(key));
    let asked = asked.filter_map(|item| item.text().map(|_| item).or_else(|| item.get("sh"))).map(|node| (node, false));
    commands
        .chain(asked)
        .filter_map(|(node, is_ignored)| {
            let container = Container { pipefail, is_ignored, ..Container::TASK };
            Some(Unit { text: of_scalar(file, text, node)?, container })
        })
        .collect()
}

/// The text of a scalar: its words are found in the file one after the other, however it is written there.
pub(super) fn of_scalar(file: FileId, whole: &str, node: &Node) -> Option<ShellText> {
    let value = node.text()?;
    let (begin, end) = (node.span.start as usize, node.span.end as usize);
    let written = whole.get(begin..end)?;
    let mut text = ShellText::new(file);
    let (mut done, mut at) = (0, 0);
    for word in value.split_ascii_whitespace() {
        let start = word.as_ptr() as usize - value.as_ptr() as usize;
        let found = written.get(at..).and_then(|rest| rest.find(word)).map_or(at, |found| at + found);
        // Blanks before a word belong to it.
        push(&mut text, &value[done..start], begin + at);
        push(&mut text, word, begin + found);
        done = start + word.len();
        at = (found + word.len()).min(written.len());
    }
    push(&mut text, &value[done..], begin + at);
    Some(without_templates(file, &text))
}

fn push(text: &mut ShellText, part: &str, at: usize) {
    if !part.is_empty() {
        text.push(part, at);
    }
}

/// The same with `{{ … }}` taken for something that is not known.
fn without_templates(file: FileId, text: &ShellText) -> ShellText {
    let raw = text.as_str();
    let mut plain = ShellText::new(file);
    let mut done = 0;
    let place = |at: usize| text.span(shell::At::new(at, at)).start as usize;
    while done < raw.len() {
        let open = raw[done..].find("{{").map_or(raw.len(), |open| done + open);
        // Every word by itself: between two there may be more in the file than in the text.
        for word in raw[done..open].split_inclusive(char::is_whitespace) {
            let at = word.as_ptr() as usize - raw.as_ptr() as usize;
            plain.push(word, place(at));
        }
        if open == raw.len() {
            break;
        }
        plain.push_unknown(place(open));
        done = raw[open..].find("}}").map_or(raw.len(), |close| open + close + 2);
    }
    plain
}
