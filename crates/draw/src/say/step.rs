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
        GateDefect::TooEarly { wait, why, start: Some(start) } => {
            format!(
                "{}; it waits for what only GitOps brings, before `{start}` starts that",
                toothless(&step, wait, *why)
            )
        }
        GateDefect::TooEarly { wait, why, start: None } => {
            format!(
                "{}; it fails at once where GitOps has not created what it waits for by then",
                toothless(&step, wait, *why)
            )
        }
        GateDefect::SkipsFile { file } => {
            format!("{step} goes on without `{file}`, which does not exist: it only prints a message")
        }
        GateDefect::DeadHandler { wait } => format!(
            "{step} ends where {} fails, as `set -e` has it: what looks at that failure is never run",
            waiting(wait)
        ),
        GateDefect::Endless { wait, why: Endless::MixedNodes } => format!(
            "{step} repeats {} without a limit until no node is Ready, which never is so once one of several is",
            waiting(wait)
        ),
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
        GateDefect::Rerun { wait, .. } => {
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
        Toothless::OnlyLastCounts | Toothless::EmptyFile => {
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
        Toothless::AnyHttpCode | Toothless::AnyHttpCodeOnPurpose => {
            format!("{step} accepts any HTTP status from {waits}, also one that says not ready")
        }
        Toothless::LastOfGenerated => {
            format!(
                "{step} runs what {waits} prints with a shell that goes on after a failure: only its last command counts"
            )
        }
        Toothless::CredentialsAlone => {
            format!("{step} ends its wait for the API server when {waits} succeeds, which it does before that answers")
        }
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
        WaitCost::EmptyFile => "the file is left empty, and what reads it next takes it for the sealed one",
        WaitCost::NotConfigured => "a machine without its configuration never joins, and the boot goes on without it",
        WaitCost::NotApplied => "what is in it is missing in the cluster, and the boot reports success",
        WaitCost::TimeIsUp => "it waits until its time is up, every time, and the boot stops there",
        WaitCost::EndsUnsaid => "the boot stops there, and what the command said is not shown",
        WaitCost::NeverEndsMixed => {
            "run again after the pod network came up on some nodes and not on others, it waits until you stop it"
        }
        WaitCost::EndsAtOnce => "the command fails at once, and the boot stops there or goes on without it",
        WaitCost::NeverEnds => "if what it waits for does not come, it waits until you stop it",
        WaitCost::NeverEndsUnanswered => {
            "if the first call takes effect and its answer is lost, it repeats the command without end; a second run stops \
             earlier, because machines that are configured do not answer `--insecure`"
        }
        WaitCost::NeverEndsAgain => "run again after a failure further down, it repeats the command without end",
    }
}

/// A clause without a capital letter and a full stop.
pub(super) fn advice(advice: &WaitAdvice) -> String {
    match advice {
        WaitAdvice::Teeth(why) => teeth(*why).to_owned(),
        WaitAdvice::Limit(Endless::NoClock) => "count the attempts, or run the script with bash".to_owned(),
        WaitAdvice::Limit(Endless::MixedNodes) => {
            "wait for each node by name until it exists (`kubectl wait --for=create node/...`), with a `--timeout`".to_owned()
        }
        WaitAdvice::TeethLater => {
            "wait until it exists first (`kubectl wait --for=create ...` with a `--timeout`), then begin the script with \
             `set -eu`"
                .to_owned()
        }
        WaitAdvice::MoveAfter(start) => {
            format!("move it after `{start}`, and only then let its failure stop the boot: here it would stop every one")
        }
        WaitAdvice::AddFile => {
            "add the file, or remove it from the list, and end the script where one of the list is missing".to_owned()
        }
        WaitAdvice::HandleThere => {
            "write `if out=$(command); then ...; else ...; fi`, or append `|| true` and look at what it said".to_owned()
        }
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
        Toothless::AnyHttpCodeOnPurpose => {
            "accept the statuses that are meant (200, and 401 or 403 from a server that refuses the request), not 500 and 503"
        }
        Toothless::LastOfGenerated => "run it with `bash -e`, so that the first failure ends it",
        Toothless::CredentialsAlone => {
            "wait for the API server after that: repeat `kubectl get --raw /readyz`, with a limit"
        }
        Toothless::EmptyFile => {
            "begin the script with `set -eu`, and write to another file first: `kubeseal ... > new && mv new sealed.yaml`"
        }
        Toothless::AllThatExist => "compare with the number that the cluster is to have, or wait for each by name",
        Toothless::Piped => "`set -o pipefail`, or do not pipe it",
        Toothless::TriesOnce => "use `$(seq 1 60)`, or run the script with bash",
    }
}
