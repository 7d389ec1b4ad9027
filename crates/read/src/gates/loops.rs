//! Loops that wait, and how they end if what they wait for does not come.

use model::{Endless, Ends, GateDefect, Toothless, Wait, Waiter};
use shell::{Command, CommandKind, Joint, List, Part, PartKind, Pipeline, Simple, Statement, Word};

use super::line::{Line, said};
use super::outcomes::Outcomes;
use super::walk::{Following, Place, Walk};
use super::{Dialect, Gate, conditions, tree, waits};

/// `while` or `until`.
pub(super) struct Around<'a> {
    pub(super) command: &'a Command,
    pub(super) is_until: bool,
    pub(super) condition: &'a List,
    pub(super) body: &'a List,
}

/// What bounds a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// A number of tries, or a time.
    Counted,
    /// Time by a variable that only bash has.
    Clock,
    None,
}

pub(super) fn judge(walk: &mut Walk<'_>, around: &Around<'_>, place: Place, following: &Following<'_>) {
    let condition = probe_in(walk, around.condition);
    let Some(probe) = condition.clone().or_else(|| probe_in(walk, around.body)) else { return };
    let bound = bound_of(around);
    let asked = condition.is_some();
    // What reads lines of another command ends with them.
    if reads_input(around.condition) || !asked && bound == Bound::None && !is_forever(around) {
        return;
    }
    let is_bounded = place.is_bounded || bound != Bound::None || leaves(walk, around, asked);
    let ends = if is_bounded { Ends::Sometime } else { Ends::Never };
    let wait = Wait { by: Waiter::Loop(probe.into()), on: None, ends };
    let at = walk.span(around.command.at);
    let is_certain = !place.is_asked && !place.is_conditional;
    let is_asked = place.is_asked && !place.is_negated;
    let namespace = probed_namespace(around.condition).or_else(|| probed_namespace(around.body)).unwrap_or_default();
    walk.judged.gates.push(Gate { wait: wait.clone(), at, is_certain, is_asked, is_retried: false, namespace });
    let first_line = head(walk, around);
    conditions::judge_loop(walk, around.condition, around.body, first_line, walk.raw(around.command.at));
    judge_credentials(walk, [around.condition, around.body], &wait, first_line, following);
    if bound == Bound::Clock && walk.container.dialect == Dialect::Sh && !place.is_bounded {
        walk.fault(GateDefect::Endless { wait, why: Endless::NoClock }, first_line, Vec::new());
    } else if ends == Ends::Never {
        let defect = if starts_cluster(around) {
            GateDefect::Rerun { wait, stops_earlier: false }
        } else {
            let why = if waits_for_unready_nodes(around) {
                Endless::MixedNodes
            } else if walk.container.is_unattended {
                Endless::Unwatched
            } else {
                Endless::NoLimit
            };
            GateDefect::Endless { wait, why }
        };
        walk.fault(defect, first_line, Vec::new());
    } else if !place.is_asked && bound != Bound::None && goes_on_after(walk, around.body, asked, place, following) {
        walk.fault(GateDefect::Toothless { wait, why: Toothless::LoopEndsInSuccess }, first_line, Vec::new());
    }
}

/// `for` over a list of numbers, and `for ((…))`.
pub(super) fn judge_counted(
    walk: &mut Walk<'_>,
    command: &Command,
    body: &List,
    place: Place,
    following: &Following<'_>,
) {
    let tries = match &command.kind {
        CommandKind::Count { .. } => true,
        CommandKind::For { words: Some(words), .. } => counts(words),
        _ => false,
    };
    let Some(probe) = probe_in(walk, body).filter(|_| tries) else { return };
    if !leaves_on_success(walk, body) {
        return;
    }
    let wait = Wait { by: Waiter::Loop(probe.into()), on: None, ends: Ends::Sometime };
    let at = walk.span(command.at);
    let is_certain = !place.is_asked && !place.is_conditional;
    let is_asked = place.is_asked && !place.is_negated;
    let namespace = probed_namespace(body).unwrap_or_default();
    walk.judged.gates.push(Gate { wait: wait.clone(), at, is_certain, is_asked, is_retried: false, namespace });
    let at = walk.span(first_line(command, body));
    conditions::judge_loop(walk, &List::default(), body, at, walk.raw(command.at));
    judge_credentials(walk, [&List::default(), body], &wait, at, following);
    let is_one_word = walk.container.dialect == Dialect::Sh && is_brace_range(command);
    if is_one_word {
        walk.fault(GateDefect::Toothless { wait, why: Toothless::TriesOnce }, at, Vec::new());
    } else if !place.is_asked && goes_on_after(walk, body, false, place, following) {
        walk.fault(GateDefect::Toothless { wait, why: Toothless::LoopEndsInSuccess }, at, Vec::new());
    }
}

/// The namespace that a list looks at.
fn probed_namespace(list: &List) -> Option<ecow::EcoString> {
    let mut found = Vec::new();
    tree::simple_in(list, &mut found);
    found.into_iter().find_map(|simple| waits::namespace(&Line::of(simple)))
}

fn waits_for_unready_nodes(around: &Around<'_>) -> bool {
    let mut found = Vec::new();
    tree::simple_in(around.condition, &mut found);
    around.is_until && found.into_iter().any(|simple| waits::waits_for_unready_nodes(&Line::of(simple)))
}

/// A loop that ends when credentials were fetched, and says that the API server answers; unless what follows asks that.
fn judge_credentials(walk: &mut Walk<'_>, lists: [&List; 2], wait: &Wait, at: source::Span, following: &Following<'_>) {
    let mut found = Vec::new();
    for list in lists {
        tree::simple_in(list, &mut found);
    }
    let lines: Vec<Line<'_>> = found.into_iter().map(Line::of).collect();
    let mut probes = lines.iter().filter(|line| waits::probes(line)).peekable();
    let fetches =
        probes.peek().is_some() && probes.all(|line| line.program() == "talosctl" && line.has(&["kubeconfig"]));
    let claims = |line: &Line<'_>| {
        let text: Vec<String> = line.words.iter().skip(1).map(|(word, _)| word.to_ascii_lowercase()).collect();
        let text = text.join(" ");
        !waits::probes(line)
            && ["kubernetes api", "api server", "apiserver"].iter().any(|api| text.contains(api))
            && ["available", "ready", "reachable", "is up", "responding"].iter().any(|word| text.contains(word))
    };
    let is_asked_later = || {
        let later = List { statements: following.statements.to_vec() };
        let mut found = Vec::new();
        tree::simple_in(&later, &mut found);
        let mut waits = found.into_iter().map(Line::of);
        let mut has_loop = false;
        tree::commands_in(&later, &mut |command| {
            has_loop |=
                matches!(command.kind, CommandKind::Loop { .. } | CommandKind::For { .. } | CommandKind::Count { .. });
        });
        has_loop
            || waits.any(|line| {
                let asks = line.program() == "kubectl" && waits::wait(&line).is_some();
                asks || line.has(&["/readyz", "/livez"]) || waits::runs_probe(&line)
            })
    };
    if fetches && lines.iter().any(claims) && !is_asked_later() {
        let why = Toothless::CredentialsAlone;
        walk.fault(GateDefect::Toothless { wait: wait.clone(), why }, at, Vec::new());
    }
}

/// The words that begin a loop, up to its body.
fn head(walk: &Walk<'_>, around: &Around<'_>) -> source::Span {
    walk.span(first_line(around.command, around.body))
}

fn first_line(command: &Command, body: &List) -> shell::At {
    let end = body.statements.first().map_or(command.at.end, |first| first.at.start);
    shell::At::new(command.at.start, end)
}

/// The first words of a command that asks how something is.
fn probe_in(walk: &Walk<'_>, list: &List) -> Option<String> {
    let mut found = Vec::new();
    tree::simple_in(list, &mut found);
    let lines: Vec<Line<'_>> = found.into_iter().map(Line::of).collect();
    let direct = lines.iter().find(|line| waits::probes(line)).map(Line::name);
    direct.or_else(|| lines.iter().find_map(|line| probing_function(walk, line)))
}

/// A function that asks.
fn probing_function(walk: &Walk<'_>, line: &Line<'_>) -> Option<String> {
    let function = walk.library.get(line.program())?;
    let mut found = Vec::new();
    if let CommandKind::Group(list) | CommandKind::Subshell(list) = &function.body.kind {
        tree::simple_in(list, &mut found);
    }
    found.into_iter().any(|simple| waits::probes(&Line::of(simple))).then(|| line.program().to_owned())
}

fn reads_input(condition: &List) -> bool {
    let mut found = Vec::new();
    tree::simple_in(condition, &mut found);
    found.into_iter().any(|simple| matches!(Line::of(simple).program(), "read" | "mapfile" | "getopts"))
        || condition
            .statements
            .iter()
            .any(|statement| tree::names_read_in(&statement.first).iter().any(|name| name == "#"))
}

/// `while true`, `while :`, `until false`
fn is_forever(around: &Around<'_>) -> bool {
    let [statement] = &around.condition.statements[..] else { return false };
    let [command] = &statement.first.commands[..] else { return false };
    let CommandKind::Simple(simple) = &command.kind else { return false };
    let word = if around.is_until { &["false"][..] } else { &["true", ":"][..] };
    statement.rest.is_empty() && matches!(&simple.words[..], [only] if word.iter().any(|it| only.is_bare_text(it)))
}

/// Whether the condition, or a test in the body, is about something that the body counts, or about the time.
fn bound_of(around: &Around<'_>) -> Bound {
    let set = tree::names_set(around.body);
    let mut found = Bound::None;
    let mut look = |command: &Command, in_body: bool| {
        let names = compared_names(command);
        let is_clock = names.iter().any(|name| name == "SECONDS" || name == "EPOCHSECONDS");
        let is_counted = names.iter().any(|name| set.contains(name)) && (!in_body || compares_numbers(command));
        if is_clock && found == Bound::None {
            found = Bound::Clock;
        } else if is_counted || asks_time(command) {
            found = Bound::Counted;
        }
    };
    tree::commands_in(around.condition, &mut |command| look(command, false));
    tree::commands_in(around.body, &mut |command| look(command, true));
    found
}

/// The parameters that a test compares.
fn compared_names(command: &Command) -> Vec<String> {
    let is_test = match &command.kind {
        CommandKind::Test(_) | CommandKind::Arithmetic(_) => true,
        CommandKind::Simple(simple) => is_bracket(simple),
        _ => false,
    };
    if !is_test || !compares_numbers(command) {
        return Vec::new();
    }
    let pipeline = Pipeline { is_negated: false, commands: vec![command.clone()], at: command.at };
    tree::names_read_in(&pipeline)
}

fn is_bracket(simple: &Simple) -> bool {
    simple.words.first().is_some_and(|word| word.is_bare_text("[") || word.is_bare_text("test"))
}

/// Whether a test is one of numbers that are not taken from a command.
fn compares_numbers(command: &Command) -> bool {
    const SIGNS: [&str; 8] = ["-lt", "-le", "-gt", "-ge", "-eq", "-ne", "<", ">"];
    let words: &[Word] = match &command.kind {
        CommandKind::Arithmetic(_) => return true,
        CommandKind::Test(words) => words,
        CommandKind::Simple(simple) if is_bracket(simple) => &simple.words,
        _ => return false,
    };
    let asks = words.iter().any(|word| {
        let mut found = Vec::new();
        super::line::all_simple(&word.parts, &mut found);
        found.into_iter().any(|simple| waits::probes(&Line::of(simple)))
    });
    !asks && words.iter().any(|word| SIGNS.iter().any(|sign| word.is_bare_text(sign)))
}

/// `[ $(date +%s) -gt … ]`
fn asks_time(command: &Command) -> bool {
    let words: &[Word] = match &command.kind {
        CommandKind::Test(words) => words,
        CommandKind::Simple(simple) if is_bracket(simple) => &simple.words,
        _ => return false,
    };
    words.iter().any(|word| {
        let mut found = Vec::new();
        super::line::all_simple(&word.parts, &mut found);
        found.into_iter().any(|simple| Line::of(simple).program() == "date")
    })
}

/// Whether something in the body may end the loop that is not what it waits for.
fn leaves(walk: &Walk<'_>, around: &Around<'_>, is_asked: bool) -> bool {
    let effect = walk.follower().list(around.body);
    let left =
        Outcomes::LEAVES_LOOP | Outcomes::FAILS | Outcomes::ENDS_WELL | Outcomes::RETURNS | Outcomes::RETURNS_FAILURE;
    // In `while true` the way out is what is waited for.
    if is_asked {
        effect.outcomes.may(left) || effect.outcomes.may(Outcomes::UNKNOWN) && calls_unknown(walk, around.body)
    } else {
        !leaves_on_success(walk, around.body) || effect.outcomes.may(Outcomes::FAILS | Outcomes::RETURNS_FAILURE)
    }
}

/// Whether a list calls something that may be a function of a text that was not found.
fn calls_unknown(walk: &Walk<'_>, list: &List) -> bool {
    let mut found = Vec::new();
    tree::simple_in(list, &mut found);
    let says = |program: &str| {
        ["die", "fail", "abort", "fatal", "exit", "error", "timeout"].iter().any(|it| program.contains(it))
    };
    found.into_iter().map(Line::of).any(|line| walk.library.get(line.program()).is_none() && says(line.program()))
}

/// Whether a body leaves the loop, or the text, once a command that asks succeeds.
fn leaves_on_success(walk: &Walk<'_>, body: &List) -> bool {
    let mut names = Vec::new();
    body.statements.iter().any(|statement| {
        // A variable that holds what was answered.
        let asks = asks(walk, statement, &names);
        if asks {
            names.extend(tree::names_set(&List { statements: vec![statement.clone()] }));
        }
        asks && leaves_somewhere(walk, statement)
    })
}

/// Whether a statement asks, or tests what was answered.
fn asks(walk: &Walk<'_>, statement: &Statement, answers: &[String]) -> bool {
    let list = List { statements: vec![statement.clone()] };
    probe_in(walk, &list).is_some() || tree::names_read(&list).iter().any(|name| answers.contains(name))
}

fn leaves_somewhere(walk: &Walk<'_>, statement: &Statement) -> bool {
    let effect = walk.follower().statements(std::slice::from_ref(statement));
    effect.outcomes.may(Outcomes::LEAVES_LOOP | Outcomes::ENDS_WELL | Outcomes::RETURNS)
}

/// Whether, once the tries are used up, everything goes on as if one had succeeded. Says so only where that is certain.
fn goes_on_after(walk: &Walk<'_>, body: &List, is_asked: bool, place: Place, following: &Following<'_>) -> bool {
    let inside = walk.follower().list(body);
    let may_fail = inside.outcomes.may(Outcomes::FAILS | Outcomes::RETURNS_FAILURE);
    if may_fail || calls_unknown(walk, body) {
        return false;
    }
    let leaves_text = inside.outcomes.may(Outcomes::ENDS_WELL | Outcomes::RETURNS);
    let breaks = is_asked || inside.outcomes.may(Outcomes::LEAVES_LOOP);
    let mut names = tree::names_set(body);
    names.push("?".to_owned());
    let follower = walk.follower();
    let mut level = Some(following);
    while let Some(here) = level {
        if leaves_text && !breaks {
            // What follows is what happens without success.
            let effect = follower.statements(here.statements);
            if effect.acts || effect.may_fail() {
                return false;
            }
        } else {
            for statement in here.statements {
                match after_loop(walk, statement, &names) {
                    After::Tells => {}
                    After::GoesOn => return true,
                    After::Unclear => return false,
                }
            }
        }
        level = here.outer;
    }
    // What follows the call of a function is not known here, and may need what was waited for.
    !(place.is_in_function && walk.container.errexit)
}

/// What a statement after a loop says of how the loop ended.
enum After {
    Tells,
    /// It goes on in any case.
    GoesOn,
    Unclear,
}

fn after_loop(walk: &Walk<'_>, statement: &Statement, names: &[String]) -> After {
    let list = List { statements: vec![statement.clone()] };
    let effect = walk.follower().list(&list);
    if tree::names_read(&list).iter().any(|name| names.contains(name)) {
        // A check of what the loop left: it counts if it may stop anything.
        return if effect.only_tells() { After::Tells } else { After::Unclear };
    }
    if effect.only_tells() && !checks(walk, statement) {
        return After::Tells;
    }
    if effect.outcomes.only(Outcomes::ENDS_WELL | Outcomes::RETURNS) {
        return After::GoesOn;
    }
    // With `set -e` a command that needs what was waited for fails by itself.
    if walk.container.errexit || probe_in(walk, &list).is_some() || effect.may_fail() && !effect.acts {
        return After::Unclear;
    }
    After::GoesOn
}

/// Whether a statement ends the script if what was waited for is not there.
fn checks(walk: &Walk<'_>, statement: &Statement) -> bool {
    let is_caught = statement.rest.iter().any(|(joint, _)| *joint == Joint::Or);
    let [.., last] = &statement.last().commands[..] else { return false };
    let CommandKind::Simple(simple) = &last.kind else {
        return probe_in(walk, &List { statements: vec![statement.clone()] }).is_some();
    };
    let line = Line::of(simple);
    // How an assignment ends is how the command ends whose output it takes.
    let takes = line.words.is_empty() && tree::words_of(simple).any(|word| takes_probe(walk, &word.parts));
    walk.container.errexit && !is_caught && (waits::probes(&line) || takes)
}

/// Whether parts are the output of a command that asks, whose failure is not caught.
fn takes_probe(walk: &Walk<'_>, parts: &[Part]) -> bool {
    parts.iter().any(|part| match &part.kind {
        PartKind::Double(inner) => takes_probe(walk, inner),
        PartKind::Substitution(list) => {
            let [statement] = &list.statements[..] else { return true };
            let is_lost = statement.first.commands.len() > 1 && !walk.container.pipefail;
            statement.rest.is_empty() && !is_lost && probe_in(walk, list).is_some()
        }
        _ => false,
    })
}

/// Whether words are numbers: `1 2 3`, `{1..60}`, `$(seq 1 60)`.
fn counts(words: &[Word]) -> bool {
    match words {
        [word] => is_range(word) || counts_up(word),
        _ => words.len() > 1 && words.iter().all(|word| word.literal().is_some_and(|text| text.parse::<u32>().is_ok())),
    }
}

fn is_range(word: &Word) -> bool {
    said(&word.parts)
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
        .is_some_and(|range| range.contains(".."))
}

fn counts_up(word: &Word) -> bool {
    let [Part { kind: PartKind::Substitution(list), .. }] = &word.parts[..] else { return false };
    let mut found = Vec::new();
    tree::simple_in(list, &mut found);
    matches!(&found[..], [simple] if Line::of(simple).program() == "seq")
}

fn is_brace_range(command: &Command) -> bool {
    matches!(&command.kind, CommandKind::For { words: Some(words), .. } if matches!(&words[..], [word] if is_range(word)))
}

/// Whether a loop starts etcd until that succeeds, and takes no `AlreadyExists` for success.
fn starts_cluster(around: &Around<'_>) -> bool {
    let mut found = Vec::new();
    tree::simple_in(around.condition, &mut found);
    let starts = found.iter().any(|simple| waits::bootstraps(&Line::of(simple)));
    let mut all = found;
    tree::simple_in(around.body, &mut all);
    let knows =
        |simple: &Simple| tree::words_of(simple).any(|word| said(&word.parts).to_lowercase().contains("already"));
    let tests = |list: &List| {
        let mut is_known = false;
        tree::commands_in(list, &mut |command| {
            if let CommandKind::Test(words) = &command.kind {
                is_known |= words.iter().any(|word| said(&word.parts).to_lowercase().contains("already"));
            }
        });
        is_known
    };
    starts && !all.iter().any(|simple| knows(simple)) && !tests(around.condition) && !tests(around.body)
}
