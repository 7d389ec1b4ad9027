//! What a step of the boot before GitOps gets wrong.

use diagnostic::{WaitAdvice, WaitCost};
use model::{Awaited, Defect, Endless, Ends, GateDefect, ObjectRef, Toothless, Wait, Waiter, Which, say_seconds};

/// One line, names in backticks.
pub(super) fn defect(step: &ObjectRef, defect: &Defect) -> String {
    match defect {
        Defect::Gate(gate) => gate_defect(step, gate),
        Defect::Layer(layer) => super::layer::defect(step, layer),
    }
}

fn gate_defect(step: &ObjectRef, defect: &GateDefect) -> String {
    let step = super::quoted(step);
    match defect {
        GateDefect::Toothless { wait, why } => toothless(&step, wait, *why),
        GateDefect::Endless { wait, why: Endless::NoClock } => {
            format!(
                "{step} limits {} by `SECONDS`, which only bash counts: with another `sh` it never ends",
                waiting(wait)
            )
        }
        GateDefect::Endless { wait, why: Endless::NoLimit | Endless::Unwatched } => {
            format!("{step} repeats {} without a limit", waiting(wait))
        }
        GateDefect::BeforeExists { wait } => {
            format!("{step} runs {} before these objects exist", waiting(wait))
        }
        GateDefect::MissingNamespace { wait } => {
            let namespace = wait.on.as_ref().map_or("", |on| on.namespace.as_str());
            format!(
                "{step} runs {} in the namespace `{namespace}`, which nothing in this repository creates",
                waiting(wait)
            )
        }
        GateDefect::Rerun { wait } => {
            format!(
                "{step} repeats {} until it succeeds, which it never does once etcd was bootstrapped",
                waiting(wait)
            )
        }
    }
}

fn toothless(step: &str, wait: &Wait, why: Toothless) -> String {
    let waits = waiting(wait);
    match why {
        Toothless::OnlyLastCounts => {
            format!("{step} goes on when {waits} fails: without `set -e` only its last command counts")
        }
        Toothless::OrTrue => format!("{step} goes on when {waits} fails: what follows `||` always succeeds"),
        Toothless::Ignored => format!("{step} goes on when {waits} fails: its failure is ignored"),
        Toothless::BeforeAnd => {
            format!("{step} goes on when {waits} fails: `set -e` does not look at what stands before `&&`")
        }
        Toothless::HandlerGoesOn if matches!(wait.by, Waiter::Command(_)) => {
            format!("{step} goes on when {waits} fails: the function that should end it does not exit")
        }
        Toothless::HandlerGoesOn => format!("{step} goes on when {waits} fails: it only prints a message"),
        Toothless::MatchesNotReady => format!("{step} searches for `Ready`, which `NotReady` contains, too"),
        Toothless::LoopEndsInSuccess => {
            format!("{step} goes on when every attempt of {waits} has failed")
        }
        Toothless::AnyHttpCode => format!("{step} accepts any HTTP status from {waits}, also one that says not ready"),
        Toothless::AllThatExist => {
            format!("{step} compares what is ready with what exists: an object that is missing is not waited for")
        }
        Toothless::Piped => {
            format!("{step} goes on when {waits} fails: without `pipefail` only the end of a pipeline counts")
        }
        Toothless::TriesOnce => {
            format!("{step} runs {waits} once where `sh` is not bash: `{{1..n}}` is one word there")
        }
    }
}

/// A command that waits, by its name and what it waits for.
fn waiting(wait: &Wait) -> String {
    let name = match &wait.by {
        Waiter::KubectlWait => "kubectl wait",
        Waiter::RolloutStatus => "kubectl rollout status",
        Waiter::TalosctlHealth => "talosctl health",
        Waiter::CiliumStatus => "cilium status --wait",
        Waiter::Flux => "flux",
        Waiter::Helm => "helm --wait",
        Waiter::Helmfile => "helmfile",
        Waiter::Loop(command) | Waiter::Command(command) => command.as_str(),
    };
    let on = wait.on.as_ref().map(awaited).unwrap_or_default();
    let limit = match (&wait.by, wait.ends) {
        (Waiter::Loop(_), Ends::After { seconds }) => format!(" ({})", say_seconds(u64::from(seconds))),
        _ => String::new(),
    };
    format!("`{name}{on}`{limit}")
}

fn awaited(on: &Awaited) -> String {
    let which = match &on.which {
        Which::Named(names) => match &names[..] {
            [] => String::new(),
            [name] => format!("/{name}"),
            [name, rest @ ..] => format!("/{name} and {} more", rest.len()),
        },
        Which::Selected(selector) => format!(" -l {selector}"),
        Which::All => " --all".to_owned(),
    };
    if on.kind.is_empty() { String::new() } else { format!(" {}{which}", on.kind) }
}

/// A clause without a capital letter and a full stop.
pub(super) fn cost(cost: WaitCost) -> &'static str {
    match cost {
        WaitCost::GoesOn => "what follows starts without it, and the boot reports success",
        WaitCost::EndsAtOnce => "the command fails at once, and the boot stops there or goes on without it",
        WaitCost::NeverEnds => "if what it waits for does not come, it waits until you stop it",
        WaitCost::NeverEndsAgain => "run again after a failure further down, it repeats the command without end",
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn advice(advice: &WaitAdvice) -> String {
    match advice {
        WaitAdvice::Teeth(why) => teeth(*why).to_owned(),
        WaitAdvice::Limit(Endless::NoClock) => "count the attempts, or run the script with bash".to_owned(),
        WaitAdvice::Limit(Endless::NoLimit | Endless::Unwatched) => {
            "count the attempts and `exit 1` after the last one, or run the loop under `timeout`".to_owned()
        }
        WaitAdvice::UntilThere => {
            "wait for what creates them (`kubectl rollout status`), or use `kubectl wait --for=create` first".to_owned()
        }
        WaitAdvice::MakeNamespace(namespace) => {
            format!("create the namespace `{namespace}` in an earlier step, or correct its name")
        }
        WaitAdvice::AcceptStarted => {
            "end the loop on `AlreadyExists`, too, or skip it where etcd is running already".to_owned()
        }
    }
}

fn teeth(why: Toothless) -> &'static str {
    match why {
        Toothless::OnlyLastCounts => "begin the script with `set -eu`, or append `|| exit 1`",
        Toothless::OrTrue | Toothless::Ignored => "let its failure end the step, or remove the command",
        Toothless::BeforeAnd => "write the two commands on lines of their own",
        Toothless::HandlerGoesOn => "let the handler `exit 1`",
        Toothless::MatchesNotReady => "use `kubectl wait --for=condition=Ready`, or `grep -w Ready`",
        Toothless::LoopEndsInSuccess => "`exit 1` after the loop unless an attempt has succeeded",
        Toothless::AnyHttpCode => "accept only the status that means ready, or use `curl --fail`",
        Toothless::AllThatExist => "compare with the number that the cluster is to have, or wait for each by name",
        Toothless::Piped => "`set -o pipefail`, or do not pipe it",
        Toothless::TriesOnce => "use `$(seq 1 60)`, or run the script with bash",
    }
}
