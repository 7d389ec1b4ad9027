//! Conditions that hold too early.

use model::{Ends, GateDefect, Toothless, Wait, Waiter};
use shell::{Command, CommandKind, List, Pipeline, Simple, Value, Word};

use super::line::Line;
use super::walk::{Place, Walk};
use super::{tree, waits};

/// Judges a pipeline that is asked for, or that has to succeed.
pub(super) fn judge_pipeline(walk: &mut Walk<'_>, pipeline: &Pipeline, place: Place) {
    let lines: Option<Vec<Line<'_>>> =
        pipeline.commands.iter().map(|command| simple_of(&command.kind).map(Line::of)).collect();
    let Some(lines) = lines.filter(|lines| lines.len() > 1) else { return };
    let decides = place.is_asked || place.errexit || place.is_last;
    let Some(at) = lines.iter().position(matches_not_ready) else { return };
    let lists_nodes = lines.first().is_some_and(waits::lists_nodes);
    let is_filtered =
        lines[1..at].iter().any(|line| line.has(&["-v", "-vw", "--invert-match"]) || line.program() == "awk");
    let prints = lines[at + 1..].iter().any(|line| !matches!(line.program(), "wc" | "grep" | "tr" | "xargs" | "head"));
    // On its own it may be there to be read.
    let is_shown = place.is_told || !place.is_asked && !lines[at].has(&["-q", "-qw", "--quiet"]);
    if !decides || !lists_nodes || is_filtered || prints || is_shown {
        return;
    }
    let wait = Wait { by: Waiter::Command("kubectl get nodes".into()), on: None, ends: Ends::Sometime };
    let at = walk.span(pipeline.commands[at].at);
    walk.fault(GateDefect::Toothless { wait, why: Toothless::MatchesNotReady }, at, Vec::new());
}

fn simple_of(kind: &CommandKind) -> Option<&Simple> {
    match kind {
        CommandKind::Simple(simple) => Some(simple),
        _ => None,
    }
}

/// `grep Ready`, which also finds `NotReady`.
fn matches_not_ready(line: &Line<'_>) -> bool {
    if !matches!(line.program(), "grep" | "egrep" | "fgrep") {
        return false;
    }
    let is_exact = |word: &str| {
        let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
        flags.is_some_and(|flags| flags.contains(['v', 'w', 'x'])) || matches!(word, "--word-regexp" | "--invert-match")
    };
    let words = line.words.iter().skip(1).map(|(word, _)| word.as_str());
    let mut bare = words.clone().filter(|word| !word.starts_with('-'));
    !words.clone().any(is_exact) && bare.next() == Some("Ready")
}

/// Conditions of a loop that any answer fulfils, or that look only at what is there. `text` is all of the loop, with its comments.
pub(super) fn judge_loop(walk: &mut Walk<'_>, condition: &List, body: &List, at: source::Span, text: &str) {
    let tests: Vec<&[Word]> = tests_in(condition).into_iter().chain(tests_in(body)).collect();
    let any_code = tests.iter().any(|words| compares(words, "!=", |word| word.literal().as_deref() == Some("000")));
    if any_code {
        let wait = Wait { by: Waiter::Command("curl".into()), on: None, ends: Ends::Sometime };
        let is_meant = ["401", "403"].iter().any(|code| text.contains(code));
        let why = if is_meant { Toothless::AnyHttpCodeOnPurpose } else { Toothless::AnyHttpCode };
        walk.fault(GateDefect::Toothless { wait, why }, at, Vec::new());
    }
    let counted = counted_by_the_same(body);
    let names_of = |word: &Word| names_in_word(word);
    let all_that_exist = tests.iter().any(|words| {
        ["-eq", "==", "=", "-ge"].iter().any(|sign| {
            let Some(at) = words.iter().position(|word| word.is_bare_text(sign)).filter(|at| *at > 0) else { return false };
            let Some(right) = words.get(at + 1) else { return false };
            let (left, right) = (names_of(&words[at - 1]), names_of(right));
            matches!((&left[..], &right[..]), ([left], [right]) if left != right && counted.contains(left) && counted.contains(right))
        })
    });
    if all_that_exist {
        let wait = Wait { by: Waiter::Command("kubectl get".into()), on: None, ends: Ends::Sometime };
        walk.fault(GateDefect::Toothless { wait, why: Toothless::AllThatExist }, at, Vec::new());
    }
}

fn tests_in(list: &List) -> Vec<&[Word]> {
    let mut found = Vec::new();
    tree::commands_in(list, &mut |command| found.extend(tree::test_words(command)));
    found
}

fn compares(words: &[Word], sign: &str, right: impl Fn(&Word) -> bool) -> bool {
    words.windows(2).any(|pair| pair[0].is_bare_text(sign) && right(&pair[1]))
}

fn names_in_word(word: &Word) -> Vec<String> {
    let simple = Simple { assignments: Vec::new(), words: vec![word.clone()] };
    let command = Command { kind: CommandKind::Simple(simple), redirects: Vec::new(), at: word.at };
    tree::names_read_in(&Pipeline { is_negated: false, commands: vec![command], at: word.at })
}

/// The variables of a body that count lines of one and the same `kubectl get`; empty if there are fewer than two.
fn counted_by_the_same(body: &List) -> Vec<String> {
    let mut counted: Vec<(String, String)> = Vec::new();
    tree::commands_in(body, &mut |command| {
        let CommandKind::Simple(simple) = &command.kind else { return };
        for assignment in &simple.assignments {
            let Value::Word(word) = &assignment.value else { continue };
            let mut found = Vec::new();
            super::line::all_simple(&word.parts, &mut found);
            let lines: Vec<Line<'_>> = found.into_iter().map(Line::of).collect();
            let Some(first) = lines.first().filter(|line| line.program() == "kubectl" && line.has(&["get"])) else {
                continue;
            };
            let is_count =
                lines.iter().any(|line| line.program() == "wc" || line.program() == "grep" && line.has(&["-c"]));
            let asked: Vec<&str> = first.words.iter().map(|(word, _)| word.as_str()).collect();
            if is_count {
                counted.push((assignment.name.clone(), asked.join(" ")));
            }
        }
    });
    let Some((_, first)) = counted.first().cloned() else { return Vec::new() };
    let same: Vec<String> = counted.into_iter().filter(|(_, asked)| *asked == first).map(|(name, _)| name).collect();
    if same.len() > 1 { same } else { Vec::new() }
}
