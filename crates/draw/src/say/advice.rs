//! What to do.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Awaited, GateAdvice, Moved, NewDependency, OrderAdvice, OtherGate, PlainAdvice, Site, Written,
};
use source::{FileId, Sources, Span};

use super::quoted;
use crate::words::first_few;

/// Kinds and files that are named.
const SHOWN_MAX: usize = 4;
/// How a gate judges the resource of a chart.
const BY_EXPRESSION: &str = "`healthChecks` without `wait: true`, and `healthCheckExprs` for the kind";

/// A clause without a capital letter and a full stop.
pub(super) fn advice(advice: &Advice, sources: &dyn Sources) -> String {
    match advice {
        Advice::Type(next) => super::next(next),
        Advice::Plain(advice) => plain(*advice).to_owned(),
        Advice::Order(advice) => order(advice, sources),
        Advice::Gate(advice) => gate(advice, sources),
        Advice::BringNamespace { component, namespace } => {
            format!("create Namespace `{namespace}` in {component} itself, or in something that it depends on")
        }
        Advice::DefineSource { source } => {
            let (kind, name, namespace) = (&source.kind, &source.name, &source.namespace);
            format!("define {kind} `{name}` in namespace `{namespace}`, or correct the reference")
        }
        Advice::KeepFromPruning { object, has_others } => format!(
            "annotate {object} with `kustomize.toolkit.fluxcd.io/prune: disabled`{}",
            if *has_others { ", and do the same for the others" } else { "" }
        ),
        Advice::DidYouMeanFile { path } => format!("did you mean `{path}`?"),
        Advice::MakeBefore { needed } => {
            format!("create {needed} in a Kustomization that this one depends on, or in the bootstrap")
        }
        Advice::MakeBuildSucceed { path } => format!("make `kustomize build {path}` succeed"),
        Advice::MakeIt { needed } => {
            format!("add what creates {needed} to the repository, or create it in the bootstrap")
        }
        Advice::MakeOrSubstituteAlways { needed } => {
            format!(
                "create {needed}, or set `postBuild.substituteStrategy: Always` so that Flux substitutes at least the defaults"
            )
        }
        Advice::MoveNeeds { places } => move_needs(places, sources),
        Advice::MoveResources(moved) => move_resources(moved, sources),
        Advice::Resume { target } => format!("remove `suspend` from {target}, or this dependency"),
        Advice::SetSwitch { switch, chart } => {
            format!("set `{switch}` on {chart}, or let the bootstrap install the CRDs")
        }
        Advice::SetVariable { name } => format!(
            "set `{name}`, give it a default (`${{{name}:=value}}`), or write `$${{{name}}}` where it is not for Flux"
        ),
        Advice::WriteVersion { version } => {
            format!(
                "set version {version} in the bootstrap, or let the bootstrap read it from the file that Flux applies"
            )
        }
    }
}

fn plain(advice: PlainAdvice) -> &'static str {
    match advice {
        PlainAdvice::AddReason => "add ` -- ` and the reason",
        PlainAdvice::CorrectCommand => "correct the path, or remove the command",
        PlainAdvice::CorrectName => "correct the name, or remove the dependency",
        PlainAdvice::CorrectCheck => "correct the name, or remove the entry from `healthChecks`",
        PlainAdvice::CorrectNeeds => "correct the name, or remove it from `needs`",
        PlainAdvice::CorrectPath => "correct the path",
        PlainAdvice::EscapeText => {
            "write `$${` where no variable is meant, or give the object the annotation \
             `kustomize.toolkit.fluxcd.io/substitute: disabled`"
        }
        PlainAdvice::KeepSealingKey => {
            "keep the key outside the cluster and create it in the bootstrap, before the controller starts"
        }
        PlainAdvice::ListFileOrDelete => "list the file in a kustomization.yaml, or delete it",
        PlainAdvice::ListRules => "`coldstart check --explain RULE` lists the rules",
        PlainAdvice::NameSameKind => "name an object of the same kind, or remove the dependency",
        PlainAdvice::ReadValues => "let the bootstrap read the values of the HelmRelease, or make both the same",
        PlainAdvice::RemoveDependencyOnParent => {
            "remove this dependency: a child never starts before its parent has applied it"
        }
        PlainAdvice::RemoveOneEdge => "remove one of these dependencies",
        PlainAdvice::RemoveOrKeep => "remove it, or keep it as a note to the reader",
        PlainAdvice::RenameVariable => {
            "rename it, there and where it is used, or remove it from what `postBuild` reads"
        }
        PlainAdvice::SetReady => "set `ready: true` on the dependency",
        PlainAdvice::SetRetryInterval => {
            "set `retryInterval: 2m`, or add it to all of them with one patch where they are applied"
        }
        PlainAdvice::TakeCommentAway => "remove the comment, or remove this rule from it",
        PlainAdvice::WaitForWhatUsesIt => {
            "add `healthCheckExprs` for its kind, or list a workload that uses it in `healthChecks`"
        }
        PlainAdvice::WriteComment => "write `# coldstart: allow <rule> -- why`",
    }
}

fn order(advice: &OrderAdvice, sources: &dyn Sources) -> String {
    match advice {
        OrderAdvice::Add(new) => add(new, sources),
        OrderAdvice::AddWithoutBootstrap(new) => {
            format!("none needed when the bootstrap runs; otherwise {}", add(new, sources))
        }
        OrderAdvice::AddOrRetry(new) => {
            format!("{}; or set RetryOnFailure on install and upgrade", add(new, sources))
        }
        OrderAdvice::AddToDependencies { gate, component } => {
            format!("add {gate} to the `dependsOn` of {component}")
        }
        OrderAdvice::ApplierDependsOn { gate, component } => {
            format!("make the object that applies {component} depend on {gate}")
        }
        OrderAdvice::DependOnApplierOf { object } => format!("add a `dependsOn` on the object that applies {object}"),
        OrderAdvice::DependInstead { applier, resource, waits: true } => {
            format!("depend on {applier} instead, which waits for {resource}")
        }
        OrderAdvice::DependInstead { applier, resource, waits: false } => {
            format!("depend on {applier} instead, and have it wait for {resource}: {BY_EXPRESSION}")
        }
        OrderAdvice::DidYouMean { object } => {
            format!("did you mean `{}` (namespace {})?", object.name, object.namespace)
        }
        OrderAdvice::DidYouMeanRelease { release } => format!("did you mean {}?", quoted(release)),
        OrderAdvice::Move { consumer, target } => {
            let namespace = other_namespace(consumer, target);
            format!("move it: `dependsOn: [{{name: {}{namespace}}}]` on {consumer}", target.name)
        }
        OrderAdvice::OtherNamespace { namespace } => {
            format!("it is in another namespace: add `namespace: {namespace}`")
        }
        OrderAdvice::RemoveEntry { waits_by: Some(applier), target } => {
            format!("remove this entry: {applier}, which applies it, already waits for {target}")
        }
        OrderAdvice::RemoveEntry { waits_by: None, target } => {
            format!("remove this entry: it already waits for {target}")
        }
        OrderAdvice::RemoveOneOf { places } => {
            let places: Vec<String> = places.iter().map(|place| line(*place, sources)).collect();
            format!("remove one of these dependencies: {}", places.join(" or "))
        }
        OrderAdvice::RemoveOnly { place } => {
            format!("remove the dependency in {}, the only one of these that can be removed", line(*place, sources))
        }
    }
}

/// `add dependsOn …` in the words of the file.
fn add(new: &NewDependency, sources: &dyn Sources) -> String {
    let NewDependency { consumer, provider, written } = new;
    let name = &provider.name;
    match written {
        Written::Nowhere => format!(
            "move what needs it out of {consumer}: {provider} already waits for that, so a dependency the other way would be a cycle"
        ),
        Written::Needs(gate) => {
            format!("add `needs: [{}]` to {consumer}{}", provider.path(), other_gate(*gate, provider, sources))
        }
        // The list of a patch replaces the one that stands in the object, and may be for objects of other namespaces.
        Written::Patch(patch, gate) => format!(
            "add `{{name: {name}, namespace: {}}}` to the `dependsOn` that a patch in `{}` sets on {consumer}{}",
            provider.namespace,
            file(*patch, sources),
            other_gate(*gate, provider, sources)
        ),
        Written::Own(gate) => {
            let namespace = other_namespace(consumer, provider);
            format!(
                "add `dependsOn: [{{name: {name}{namespace}}}]` to {consumer}{}",
                other_gate(*gate, provider, sources)
            )
        }
    }
}

/// What has to be written of the namespace of another.
fn other_namespace(own: &model::ObjectRef, other: &model::ObjectRef) -> String {
    if own.namespace == other.namespace { String::new() } else { format!(", namespace: {}", other.namespace) }
}

fn other_gate(gate: OtherGate, other: &model::ObjectRef, sources: &dyn Sources) -> String {
    match gate {
        OtherGate::Waits => String::new(),
        OtherGate::NeedsWait => format!(", and set `wait: true` on {other}"),
        OtherGate::NeedsWaitInPatch(patch) => {
            let patch = file(patch, sources);
            format!(", and set `wait: true` in the patch in `{patch}`, which sets it for {other}")
        }
    }
}

fn gate(advice: &GateAdvice, sources: &dyn Sources) -> String {
    match advice {
        GateAdvice::AddExpressions { kind, gate } => format!("add `healthCheckExprs` for {kind} to {gate}"),
        GateAdvice::HaveWait { applier, resource } => {
            format!("have {applier} wait for {resource}: {BY_EXPRESSION}")
        }
        GateAdvice::ListInChecks { gate } => {
            format!("list it in the `healthChecks` of {gate}, or set `wait: true` instead")
        }
        GateAdvice::RemoveDisableWait { gate } => format!("remove `disableWait` from {gate}"),
        GateAdvice::SetReadyAndWait { gate } => {
            format!("set `ready: true` on the dependency and `wait: true` on {gate}")
        }
        GateAdvice::SetWait { gate, patch: Some(patch) } => {
            let patch = file(*patch, sources);
            format!("set `wait: true` in the patch in `{patch}`, which sets it for {gate}")
        }
        GateAdvice::SetWait { gate, patch: None } => format!("set `wait: true` on {gate}"),
        GateAdvice::SetWaitAndReady { gate } => {
            format!("set `wait: true` on {gate} and `ready: true` on the dependency")
        }
        GateAdvice::TakeWaitOff { gate } => {
            format!(
                "remove `wait: true` from {gate}, so that Flux uses its `healthChecks`; list its HelmRelease there too"
            )
        }
    }
}

/// In a cycle without a declared dependency, an object has to move.
fn move_needs(places: &[Site], sources: &dyn Sources) -> String {
    let mut files: Vec<String> = places
        .iter()
        .map(|place| match place {
            Site::File(span) => line(*span, sources),
            Site::Object(object) => object.to_string(),
            Site::Store(name) => name.clone(),
            Site::Nowhere => String::new(),
        })
        .collect();
    files.dedup();
    let files = files.join(" or ");
    format!(
        "move one of these objects to a Kustomization of its own that depends on what provides what it needs: {files}"
    )
}

fn move_resources(moved: &Moved, sources: &dyn Sources) -> String {
    let kinds: Vec<String> = moved.kinds.iter().map(ToString::to_string).collect();
    let checks = if moved.with_checks { ", with its health checks," } else { "" };
    // One file is known for each kind; there may be more of the same.
    let (kinds, files) = (first_few(&kinds, SHOWN_MAX), first_few(&files(&moved.places, sources), SHOWN_MAX));
    let awaited = awaited(&moved.awaited);
    format!("move every {kinds} (first in {files}){checks} to a Kustomization of its own that depends on {awaited}")
}

/// The names of files, each once. Where files of several directories have the same name, only the path tells them apart.
fn files(places: &[Span], sources: &dyn Sources) -> Vec<String> {
    let paths: BTreeSet<&str> = places.iter().filter_map(|place| sources.path(place.file)).collect();
    let names: BTreeSet<&str> = paths.iter().map(|path| path.rsplit('/').next().unwrap_or(path)).collect();
    let shown = if names.len() == paths.len() { names } else { paths };
    shown.into_iter().map(str::to_owned).collect()
}

fn awaited(awaited: &Awaited) -> String {
    match awaited {
        Awaited::Provider => "what provides it".to_owned(),
        Awaited::NewOne { provider } => {
            format!("a second new Kustomization, with `wait: true`, to which you move {provider}")
        }
        Awaited::This { needs_wait: false } => "this one".to_owned(),
        Awaited::This { needs_wait: true } => "this one, and set `wait: true` here".to_owned(),
        Awaited::Other { holder, needs_wait: false } => quoted(holder),
        Awaited::Other { holder, needs_wait: true } => {
            format!("{}, and set `wait: true` there", quoted(holder))
        }
    }
}

/// The file and line of a place: `apps/web.yaml:8`.
fn line(place: Span, sources: &dyn Sources) -> String {
    sources.locate(place).map(|(path, at)| format!("{path}:{}", at.line)).unwrap_or_default()
}

fn file(file: FileId, sources: &dyn Sources) -> &str {
    sources.path(file).unwrap_or_default()
}
