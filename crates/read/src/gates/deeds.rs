//! Commands that do something the boot needs, and whose failure is lost: what configures machines, what writes a sealed file; and
//! handlers of a failure that `set -e` never lets run.

use model::{Ends, GateDefect, Toothless, Wait, Waiter};
use shell::{Command, CommandKind, List, Pipeline, RedirectKind, Simple, Statement, Value};

use super::line::{Line, said};
use super::walk::{Following, Place, Walk};
use super::{tree, waits};

fn wait(line: &Line<'_>) -> Wait {
    Wait { by: Waiter::Command(line.name().into()), on: None, ends: Ends::Sometime }
}

fn last_line(pipeline: &Pipeline) -> Option<Line<'_>> {
    line_of(pipeline.commands.last()?)
}

fn line_of(command: &Command) -> Option<Line<'_>> {
    match &command.kind {
        CommandKind::Simple(simple) => Some(Line::of(simple)),
        _ => None,
    }
}

/// A command that gives a machine its configuration, in a text that starts etcd later: without it the machine never joins.
pub(super) fn configures(walk: &Walk<'_>, pipeline: &Pipeline) -> Option<(Wait, shell::At)> {
    let line = last_line(pipeline).filter(|line| line.program() == "talosctl" && line.has(&["apply-config"]))?;
    let mut found = Vec::new();
    tree::simple_in(walk.body(), &mut found);
    let starts = found.into_iter().any(|simple| {
        let other = Line::of(simple);
        waits::bootstraps(&other)
            && other.words.first().zip(line.words.first()).is_some_and(|(it, own)| it.1.at.start > own.1.at.start)
    });
    starts.then(|| (wait(&line), pipeline.at))
}

/// `generator | bash`: what is generated is a command for each machine, and only how the last of them ends is looked at.
pub(super) fn judge_generated(walk: &mut Walk<'_>, pipeline: &Pipeline, place: Place) {
    let [.., generator, shell] = &pipeline.commands[..] else { return };
    let (Some(generator), Some(run)) = (line_of(generator), line_of(shell)) else { return };
    let is_shell = matches!(run.program(), "bash" | "sh");
    let options: Vec<&str> = run.words.iter().skip(1).map(|(word, _)| word.as_str()).collect();
    let only_options = options.iter().all(|word| word.starts_with('-'));
    let is_flag = |word: &&&str| !word.starts_with("--") && word.contains('e');
    let stops = options.iter().any(|word| is_flag(&word)) || options.contains(&"errexit");
    let is_for_all = generator.program() == "talhelper"
        && generator.has(&["gencommand"])
        && generator.has(&["apply"])
        && generator.value(&["-n", "--node"]).is_none();
    if is_shell && only_options && !stops && is_for_all && !place.is_asked {
        let at = walk.span(shell.at);
        walk.fault(GateDefect::Toothless { wait: wait(&generator), why: Toothless::LastOfGenerated }, at, Vec::new());
    }
}

/// `kubeseal … > file`: the file is emptied before the command runs.
pub(super) fn judge_written(walk: &mut Walk<'_>, command: &Command, place: Place, following: &Following<'_>) {
    let Some(line) = line_of(command) else { return };
    let seals = line.program() == "kubeseal" && !line.has(&["--fetch-cert", "--validate", "--version"])
        || line.program() == "sops" && line.has(&["-e", "--encrypt", "encrypt"]);
    let target = command.redirects.iter().find(|redirect| redirect.kind == RedirectKind::Output);
    let is_kept = target.is_some_and(|redirect| !is_scratch(&said(&redirect.target.parts)));
    let is_looked_at = place.errexit || place.is_last || place.is_asked || super::walk::asks_how_it_ended(following);
    if seals && is_kept && !is_looked_at {
        // Without the file, whose path may be written elsewhere.
        let at = line.words.first().map_or(command.at, |(_, word)| word.at);
        let at = walk.span(at);
        walk.fault(GateDefect::Toothless { wait: wait(&line), why: Toothless::EmptyFile }, at, Vec::new());
    }
}

/// A file that nothing keeps, or another descriptor.
fn is_scratch(target: &str) -> bool {
    ["/tmp", "/dev", "&"].iter().any(|begin| target.starts_with(begin))
}

/// Words by which a text looks for a failure in what a command said.
const FAILURES: [&str; 9] =
    ["already", "error", "fail", "refused", "denied", "timed out", "unavailable", "unable", "not found"];

/// `out=$(command)` under `set -e`, and then a look at `$?` or for an error in `$out`.
pub(super) fn judge_dead_handler(walk: &mut Walk<'_>, statement: &Statement, place: Place, following: &Following<'_>) {
    let [command] = &statement.first.commands[..] else { return };
    let CommandKind::Simple(simple) = &command.kind else { return };
    let ends_here = place.errexit && !place.is_asked && !place.is_in_function && statement.rest.is_empty();
    if !ends_here || !simple.words.is_empty() || statement.first.is_negated {
        return;
    }
    let Some((name, line)) = taken(walk, simple) else { return };
    let Some(next) = following.statements.first() else { return };
    let [handler] = &next.first.commands[..] else { return };
    let CommandKind::If { branches, .. } = &handler.kind else { return };
    let asks = branches.iter().any(|branch| asks_for_failure(&branch.condition, &name));
    if asks {
        let (at, shown) = (walk.span(statement.at), walk.span(branch_head(handler, branches)));
        walk.fault(GateDefect::DeadHandler { wait: wait(&line) }, at, vec![shown]);
    }
}

fn branch_head(handler: &Command, branches: &[shell::Branch]) -> shell::At {
    let end = branches
        .first()
        .and_then(|branch| branch.condition.statements.last())
        .map_or(handler.at.end, |last| last.at.end);
    shell::At::new(handler.at.start, end)
}

/// The variable that takes what a command says, and that command: how it ends is how the assignment ends.
fn taken<'tree>(walk: &Walk<'_>, simple: &'tree Simple) -> Option<(String, Line<'tree>)> {
    let [assignment] = &simple.assignments[..] else { return None };
    let Value::Word(word) = &assignment.value else { return None };
    let parts = match &word.parts[..] {
        [shell::Part { kind: shell::PartKind::Double(inner), .. }] => inner,
        parts => parts,
    };
    let [shell::Part { kind: shell::PartKind::Substitution(list), .. }] = parts else { return None };
    let [statement] = &list.statements[..] else { return None };
    let is_lost = statement.first.commands.len() > 1 && !walk.container.pipefail;
    if !statement.rest.is_empty() || is_lost || statement.first.is_negated {
        return None;
    }
    let line = line_of(statement.first.commands.first()?)?;
    let is_known = waits::probes(&line) && !line.program().contains(crate::scripts::UNKNOWN);
    is_known.then(|| (assignment.name.clone(), line))
}

/// Whether a condition looks at `$?`, or for a word of failure in a variable.
fn asks_for_failure(condition: &List, name: &str) -> bool {
    let read = tree::names_read(condition);
    if read.iter().any(|read| read == "?") {
        return true;
    }
    let mut texts: Vec<String> = Vec::new();
    tree::commands_in(condition, &mut |command| match &command.kind {
        CommandKind::Simple(simple) => texts.extend(simple.words.iter().map(|word| said(&word.parts))),
        CommandKind::Test(words) => texts.extend(words.iter().map(|word| said(&word.parts))),
        _ => {}
    });
    let tells = |text: &String| FAILURES.iter().any(|failure| text.to_ascii_lowercase().contains(failure));
    read.iter().any(|read| read == name) && texts.iter().any(tells)
}
