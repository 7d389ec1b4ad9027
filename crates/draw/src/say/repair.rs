//! What `fix` changes, why, what it does to a running cluster, and why something stays.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use diagnostic::{Action, Handover, Left, Repair, Told, Unedited, Unsplit, WhyLeft};
use model::ObjectRef;
use source::Sources;

use super::statement;
use crate::words::{count, first_few};

/// Objects with it are not deleted when they go from the build of a Kustomization.
const KEPT: &str = "kustomize.toolkit.fluxcd.io/prune: disabled";
/// Names in one sentence.
const NAMED_MAX: usize = 3;

/// What a repair does, as the first line of a commit: `Make Kustomization apps/web wait for Kustomization infra/dns`.
pub fn repair(repair: &Repair) -> String {
    let mut waiting: Vec<&ObjectRef> = Vec::new();
    let mut awaited: BTreeSet<&ObjectRef> = BTreeSet::new();
    let mut others: Vec<&Action> = Vec::new();
    for action in &repair.actions {
        match action {
            Action::Depend { component, on } => {
                waiting.push(component);
                awaited.insert(on);
            }
            other => others.push(other),
        }
    }
    if let Some(split) = others.iter().find(|action| matches!(action, Action::Split { .. })) {
        return action(split);
    }
    match (waiting.as_slice(), awaited.first()) {
        ([], _) | (_, None) => first_of(&others),
        (_, Some(on)) if awaited.len() == 1 => {
            let waits_too = matches!(others.as_slice(), [Action::Wait { component }] if component == *on);
            let rest = if waits_too {
                ", and that for what it applies".to_owned()
            } else if others.is_empty() {
                String::new()
            } else {
                format!(", and {}", lower(&first_of(&others)))
            };
            format!("Make {} wait for {on}{rest}", named(&waiting))
        }
        _ => format!("Declare {}", count(waiting.len(), "missing dependency").replace("dependencys", "dependencies")),
    }
}

/// What a repair does, and what it does to a cluster that runs, where that is more than the order of reconciliations.
pub(crate) fn and_risk(made: &Repair) -> String {
    let risks = if made.is_unsafe() { risks(made) } else { Vec::new() };
    std::iter::once(repair(made)).chain(risks).collect::<Vec<_>>().join(": ")
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn first_of(actions: &[&Action]) -> String {
    let Some(first) = actions.first() else { return "Change nothing".to_owned() };
    let more = actions.len() - 1;
    if more == 0 { action(first) } else { format!("{}, and {}", action(first), count(more, "more edit")) }
}

/// `Kustomization apps/web`, `3 Kustomizations`.
fn named(objects: &[&ObjectRef]) -> String {
    match objects {
        [one] => one.to_string(),
        [first, ..] if objects.iter().all(|object| object.kind == first.kind) => count(objects.len(), &first.kind),
        _ => count(objects.len(), "component"),
    }
}

/// The message of a commit: what it does, and why.
pub fn commit_message(made: &Repair) -> String {
    const REASONS_MAX: usize = 12;
    let reasons = made.closes.iter().take(REASONS_MAX).map(|one| format!("- {} ({})", told(one), one.rule));
    let more = made.closes.len().saturating_sub(REASONS_MAX);
    let more = (more > 0).then(|| format!("- and {more} more"));
    let body: Vec<String> = reasons.chain(more).collect();
    format!("{}\n\n{}\n", repair(made).replace('`', ""), body.join("\n"))
}

/// One thing that is done, as a command.
pub fn action(action: &Action) -> String {
    match action {
        Action::Depend { component, on } => format!("Make {component} wait for {on}"),
        Action::Undepend { component, on } => format!("Remove the dependency of {component} on `{on}`"),
        Action::Unlist { path, components } => {
            format!("Keep the `dependsOn` of {} that a patch in `{path}` replaces", count(*components, "component"))
        }
        Action::Rename { component, from, to } => format!("Correct `{from}` to `{to}` in {component}"),
        Action::DependInstead { component, from, to } => format!("Make {component} wait for {to} instead of {from}"),
        Action::Wait { component } => format!("Set `wait: true` on {component}"),
        Action::Unwait { component } => format!("Set `wait: false` on {component}, so that its `healthChecks` count"),
        Action::Resume { component } => format!("Resume {component}"),
        Action::AwaitReady { component } => format!("Set `ready: true` on a dependency of {component}"),
        Action::Check { component, object } => format!("List {object} in the `healthChecks` of {component}"),
        Action::Judge { component, kind } => format!("Add `healthCheckExprs` for {kind} to {component}"),
        Action::RetryOnFailure { component } => format!("Retry a failed install or upgrade of {component}"),
        Action::RetryInterval { component } => format!("Retry a failed {component} after two minutes"),
        Action::HelmWaits { component } => format!("Set `disableWait: false` on {component}"),
        Action::BringNamespace { component, namespace } => format!("Create Namespace `{namespace}` in {component}"),
        Action::List { file, by } => format!("List `{file}` in `{by}`"),
        Action::Split { component, new, kinds, .. } => {
            let kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
            format!("Move {} of {component} to the new {new}", first_few(&kinds, NAMED_MAX))
        }
    }
}

/// What all of it does to a cluster that runs, each sentence once.
pub fn risks(repair: &Repair) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut waiting: Vec<String> = Vec::new();
    let mut is_bootstrap = false;
    for action in &repair.actions {
        match action {
            Action::Depend { component, .. } => {
                is_bootstrap |= !matches!(component.kind.as_str(), "Kustomization" | "HelmRelease" | "ResourceSet");
                waiting.push(component.to_string());
            }
            other => told.push(risk(other)),
        }
    }
    if !waiting.is_empty() {
        let names = first_few(&waiting, NAMED_MAX);
        let effect = if is_bootstrap {
            format!("none before the next bootstrap, which then installs {names} after the dependency")
        } else {
            format!("nothing restarts; from then on Flux reconciles {names} only while the dependency is ready")
        };
        told.insert(0, effect);
    }
    told.dedup();
    told
}

fn risk(action: &Action) -> String {
    match action {
        Action::Depend { component, .. } => format!("Flux reconciles {component} only while the dependency is ready"),
        Action::Undepend { component, on } => format!("{component} no longer waits for `{on}`"),
        Action::Unlist { components, .. } => format!(
            "{} wait for what their own files say; what the patch names, the Kustomization that applies them waits for",
            count(*components, "component")
        ),
        Action::Rename { component, to, .. } => {
            format!("{component} waits for `{to}`; until now it waits for nothing that exists")
        }
        Action::DependInstead { component, from, to } => {
            format!("Flux reconciles {component} only while {to} is ready, which waits for {from}")
        }
        Action::Wait { component } => format!(
            "{component} is ready only while everything that it applies is healthy: if something in it is not healthy now, \
             all that depends on it waits until it is"
        ),
        Action::Unwait { component } => format!(
            "{component} is ready as soon as the objects in its `healthChecks` are healthy, and no longer waits for all that it applies"
        ),
        Action::Resume { component } => format!(
            "Flux reconciles {component} again, and applies what its files say now: find out first why it is suspended"
        ),
        Action::AwaitReady { component } => {
            format!("{component} waits until the dependency is ready, not only until it exists")
        }
        Action::Check { component, object } => format!(
            "{component} is ready only while {object} is healthy: if it is not healthy now, all that depends on {component} waits until it is"
        ),
        Action::Judge { component, kind } => format!(
            "{component} is ready only while the expression holds for every {kind}: if it does not hold now, all that depends on \
             {component} waits until it does"
        ),
        Action::RetryOnFailure { component } => {
            format!("helm-controller retries {component} after a failure instead of stopping")
        }
        Action::RetryInterval { component } => {
            format!("Flux retries {component} sooner after a failure; nothing else changes")
        }
        Action::HelmWaits { component } => {
            format!(
                "helm-controller waits until the objects of {component} are ready; an upgrade that never gets there fails"
            )
        }
        Action::BringNamespace { component, namespace } => format!(
            "{component} applies Namespace `{namespace}` too; Flux does not delete it when the file goes (`prune: disabled`)"
        ),
        Action::List { file, .. } => format!("Flux applies the objects of `{file}`"),
        Action::Split { component, new, handover, .. } => handed_over(component, new, *handover),
    }
}

fn handed_over(component: &ObjectRef, new: &ObjectRef, handover: Handover) -> String {
    let deleted = match handover {
        Handover::Kept => {
            return format!(
                "{new} takes over the moved objects, and {component} does not delete them: they are not pruned"
            );
        }
        Handover::Deleted => format!("when Flux reconciles {component}, it deletes the moved objects"),
        Handover::Race => {
            format!("when Flux reconciles {component} before {new}, it deletes the moved objects")
        }
    };
    format!(
        "on a cluster that runs, {deleted}, and {new} creates them again: what their operator deletes with them, such as the data of \
         a database, is lost. To keep them, first add the annotation `{KEPT}` to them, let Flux apply that, and then make this edit"
    )
}

/// A finding in one line.
pub fn told(told: &Told) -> String {
    statement::statement(&told.statement)
}

/// Why a finding stays.
pub fn why_left(left: &Left, sources: &dyn Sources) -> String {
    let place = |at| sources.locate(at).map(|(path, at)| format!("{path}:{}", at.line)).unwrap_or_default();
    match &left.why {
        WhyLeft::NoEdit => "a person has to decide what is meant".to_owned(),
        WhyLeft::Unsafe { actions } => {
            let told = actions.iter().find(|action| action.is_unsafe()).map(action).unwrap_or_default();
            format!("needs --unsafe: {}", lower(&told))
        }
        WhyLeft::NotInFile { component } => format!("{component} is not written in a file: a tool creates it"),
        WhyLeft::Unedited { at, how } => unedited(*how, &place(*at)),
        WhyLeft::Unsplit { component, how } => unsplit(component, how, &place),
        WhyLeft::Cycle => "together with the other edits it would be a cycle".to_owned(),
        WhyLeft::StillFound => "checked again with the edit, it is still found".to_owned(),
        WhyLeft::FindsOther { rule, component } => {
            format!("checked again with the edit, there is a new finding: {rule} of {component}")
        }
        WhyLeft::TooSoon { needed, gate } => format!(
            "with the edit, installs start sooner and need {needed} then, which they do not wait for: that has to be edited as well, at {gate}"
        ),
    }
}

fn unedited(how: Unedited, place: &str) -> String {
    match how {
        Unedited::Shared { by } => format!("{place} is for {by} components, and not all of them need it"),
        Unedited::Anchor => format!("{place} is an anchor or an alias, and an edit would change other places too"),
        Unedited::InText => format!("{place} is a JSON patch, or YAML inside of a text, and has to be edited by hand"),
        Unedited::Template => format!("{place} is a template"),
        Unedited::Unexpected => format!("{place} is written in a way that is not edited"),
        Unedited::TooMuch => {
            format!("{place} is not edited in the same run as so much else: fix one part after the other with --path")
        }
        Unedited::Encoding => format!("{place} is in a UTF-16 file, and only UTF-8 is edited"),
        Unedited::NotYaml => format!("{place} would not be YAML any more"),
    }
}

fn unsplit(component: &ObjectRef, how: &Unsplit, place: &dyn Fn(source::Span) -> String) -> String {
    match how {
        Unsplit::WithProvider => {
            format!(
                "{component} can't wait for a new Kustomization: what installs the CRD has to be moved as well, by hand"
            )
        }
        Unsplit::Mixed { path } => format!("{path} also holds objects that stay in {component}"),
        Unsplit::Elsewhere { path } => {
            format!("{path} is not listed in the directory of {component} alone")
        }
        Unsplit::Patched { at } => {
            format!("{} may change the objects to move, and has to be divided by hand", place(*at))
        }
        Unsplit::Taken { name } => format!("the name for the new Kustomization or its directory exists: `{name}`"),
        Unsplit::Scanned { by } => {
            format!("{by} would apply the new directory as well: it applies everything beside it")
        }
        Unsplit::BuiltOtherwise { object } => {
            format!("in a Kustomization of its own, {object} would not be built as it is now")
        }
    }
}

/// Digits of the name of a commit that are shown.
const COMMIT_DIGITS: usize = 12;

/// What was left of a run that was stopped, and is gone.
pub fn undone(files: usize) -> String {
    match files {
        0 => "an earlier run was stopped before it changed a file".to_owned(),
        _ => format!("an earlier run was stopped while it wrote: {} restored", count(files, "file")),
    }
}

/// What a run left that was stopped while it made commits.
pub fn stopped_commits(start: &str, commits: usize) -> String {
    let short: String = start.chars().take(COMMIT_DIGITS).collect();
    match commits {
        0 => "an earlier `coldstart fix --commit` was stopped before its first commit".to_owned(),
        _ => format!(
            "an earlier `coldstart fix --commit` was stopped after {}: `git reset --keep {short}` goes back, `coldstart fix --commit` makes the rest",
            count(commits, "commit")
        ),
    }
}

/// How many were and how many were not, and what to type next.
pub fn repairs_summary(closed: usize, left: usize, held: usize, repairs: usize, is_written: bool) -> String {
    let mut out = match (closed, left) {
        (0, 0) => return "nothing to fix\n".to_owned(),
        (0, _) => format!("no edit closes {}\n", count(left, "finding")),
        (_, 0) => format!("{} by {}\n", closes(closed, is_written), count(repairs, "fix").replace("fixs", "fixes")),
        _ => format!(
            "{} by {}; {} left\n",
            closes(closed, is_written),
            count(repairs, "fix").replace("fixs", "fixes"),
            count(left, "finding")
        ),
    };
    if held > 0 {
        let held = count(held, "finding");
        let _ = writeln!(out, "{held} only with --unsafe: a running cluster behaves differently after it");
    }
    if closed > 0 && !is_written {
        out.push_str("nothing was written: --write makes these edits\n");
    }
    out
}

fn closes(closed: usize, is_written: bool) -> String {
    let findings = count(closed, "finding");
    if is_written { format!("{findings} fixed") } else { format!("{findings} would be fixed") }
}
