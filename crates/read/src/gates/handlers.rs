//! What follows the failure of a command: `||`, and the branches of an `if`.

use std::collections::BTreeSet;

use model::{Ends, GateDefect, Toothless, Wait, Waiter};
use shell::{Branch, Command, CommandKind, Joint, List, Pipeline, Simple, Statement};
use source::Span;

use super::line::Line;
use super::walk::{Following, Place, Walk};
use super::{deeds, tree, waits};

/// Words that say that what bears them ends the script.
const FATAL: [&str; 8] = ["fatal", "die", "abort", "panic", "log_fatal", "log::fatal", "error_exit", "fail_exit"];

/// `command || handler`, `command && next`.
pub(super) fn judge(walk: &mut Walk<'_>, statement: &Statement, place: Place, following: &Following<'_>) {
    let pipelines: Vec<&Pipeline> = statement.pipelines().collect();
    for (at, (joint, handler)) in statement.rest.iter().enumerate() {
        let failing = pipelines[at];
        let gate = gate_of(failing).filter(|_| !place.is_asked && !failing.is_negated);
        match (joint, gate) {
            (Joint::Or, gate) => {
                judge_calls(walk, failing_name(failing).as_deref(), std::slice::from_ref(handler));
                let tells =
                    walk.follower().pipeline_alone(handler).only_tells() && !walk.notes_failure(&as_list(handler));
                let is_end = at + 1 == statement.rest.len();
                let deed = || deeds::configures(walk, failing).filter(|_| !place.is_asked && !failing.is_negated);
                if let Some((wait, span)) = gate.or_else(deed).filter(|_| tells && is_end) {
                    let wait_at = walk.span(span);
                    let why = if is_fatal_call(handler) { continue } else { Toothless::OrTrue };
                    let at = walk.span(handler.at);
                    walk.fault(GateDefect::Toothless { wait, why }, at, vec![wait_at]);
                }
            }
            (Joint::And, Some((wait, span))) => {
                let only_tells = walk.follower().pipeline_alone(handler).only_tells();
                let is_end = at + 1 == statement.rest.len();
                let goes_on = !place.is_last && !following.is_empty() && !place.is_repeated;
                if only_tells && is_end && goes_on && at == 0 {
                    let at = walk.span(span);
                    walk.fault(GateDefect::Toothless { wait, why: Toothless::BeforeAnd }, at, Vec::new());
                }
            }
            (Joint::And, None) => {}
        }
    }
}

/// `if ! command; then handler; fi` and `if command; then …; else handler; fi`.
pub(super) fn judge_if(walk: &mut Walk<'_>, branches: &[Branch], otherwise: Option<&List>, place: Place) {
    let [branch] = branches else { return };
    let nothing = List::default();
    let Some(condition) = branch.condition.statements.last() else { return };
    let is_negated = condition.first.is_negated;
    let (failed, succeeded) = if is_negated {
        (&branch.body, otherwise.unwrap_or(&nothing))
    } else {
        (otherwise.unwrap_or(&nothing), &branch.body)
    };
    let handlers: Vec<Pipeline> = failed.statements.iter().flat_map(Statement::pipelines).cloned().collect();
    judge_calls(walk, failing_name(&condition.first).as_deref(), &handlers);
    let Some((wait, gate_at)) = gate_of(&condition.first).filter(|_| condition.rest.is_empty()) else { return };
    let tells =
        !failed.statements.is_empty() && walk.follower().list(failed).only_tells() && !walk.notes_failure(failed);
    let then_only_tells = walk.follower().list(succeeded).only_tells();
    let calls_fatal = handlers.iter().any(is_fatal_call);
    if tells && then_only_tells && !place.is_repeated && !calls_fatal {
        let at = failed.statements.first().map_or(gate_at, |statement| statement.at);
        let (at, shown) = (walk.span(at), vec![walk.span(gate_at)]);
        walk.fault(GateDefect::Toothless { wait, why: Toothless::HandlerGoesOn }, at, shown);
    }
}

fn as_list(pipeline: &Pipeline) -> List {
    let at = pipeline.at;
    List { statements: vec![Statement { first: pipeline.clone(), rest: Vec::new(), is_background: false, at }] }
}

/// The command that waits in a pipeline, where its failure is the pipeline's.
fn gate_of(pipeline: &Pipeline) -> Option<(Wait, shell::At)> {
    let command = pipeline.commands.last()?;
    let CommandKind::Simple(simple) = &command.kind else { return None };
    waits::wait(&Line::of(simple)).map(|wait| (wait, command.at))
}

/// Calls of functions that seem to end the script, and certainly do not.
fn judge_calls(walk: &mut Walk<'_>, failing: Option<&str>, handlers: &[Pipeline]) {
    for pipeline in handlers {
        let [command] = &pipeline.commands[..] else { continue };
        let CommandKind::Simple(simple) = &command.kind else { continue };
        let Some(function) = fatal_function(simple).and_then(|name| walk.library.get(&name)) else { continue };
        if !walk.follower().simple_alone(simple).only_tells() {
            continue;
        }
        let Some(failing) = failing else { continue };
        let wait = Wait { by: Waiter::Command(failing.into()), on: None, ends: Ends::Sometime };
        let shown: Vec<Span> = vec![function.span()];
        let at = walk.span(command.at);
        walk.fault(GateDefect::Toothless { wait, why: Toothless::HandlerGoesOn }, at, shown);
    }
}

fn is_fatal_call(pipeline: &Pipeline) -> bool {
    matches!(&pipeline.commands[..], [Command { kind: CommandKind::Simple(simple), .. }] if fatal_function(simple).is_some())
}

/// The function that a command calls, if its name or its first argument says that this is the end.
fn fatal_function(simple: &Simple) -> Option<String> {
    let line = Line::of(simple);
    let first = line.words.get(1).map_or("", |(word, _)| word.as_str());
    let says = FATAL.contains(&line.program()) || FATAL.contains(&first.to_ascii_lowercase().as_str());
    says.then(|| line.program().to_owned())
}

/// The command whose failure a condition is about: the first that is a program and no test.
fn failing_name(pipeline: &Pipeline) -> Option<String> {
    let mut found = Vec::new();
    for command in &pipeline.commands {
        match &command.kind {
            CommandKind::Simple(simple) => {
                found.push(simple);
                tree::words_of(simple).for_each(|word| super::line::all_simple(&word.parts, &mut found));
            }
            _ => return None,
        }
    }
    let names: Vec<Line<'_>> = found.into_iter().map(Line::of).collect();
    let skips: BTreeSet<&str> = ["", "[", "test", "echo", "printf", "cat", "command", "which"].into();
    // What is piped decides by its last command, and is named by the one that does something in a cluster.
    let mut lines = names.iter().filter(|line| !skips.contains(line.program()));
    let first = lines.clone().find(|line| waits::probes(line)).or_else(|| lines.next())?;
    let is_program = !first.program().contains(crate::scripts::UNKNOWN);
    is_program.then(|| first.name())
}
