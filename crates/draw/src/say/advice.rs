//! What to do.

use std::collections::BTreeSet;

use diagnostic::{
    Advice, Awaited, Entry, Fix, GateAdvice, Hop, Judging, Moved, NewDependency, OrderAdvice, OtherGate, Place,
    PlainAdvice, Site, Written,
};
use model::HealthExpression;
use source::{FileId, Sources, Span};

use super::{entry, label, quoted};
use crate::words::first_few;

/// Kinds and files that are named.
const SHOWN_MAX: usize = 4;

/// How a gate judges the resource of a chart.
fn by_expression(by: Option<&HealthExpression>) -> String {
    let how = by.map(|by| format!(": `{}`", by.current)).unwrap_or_default();
    format!("`healthChecks` without `wait: true`, and `healthCheckExprs` for the kind{how}")
}

/// `healthCheckExprs` for Dragonfly: `status.phase == 'ready'`.
fn expressions(judging: &Judging) -> String {
    let how = judging.by.as_ref().map(|by| format!(": `{}`", by.current)).unwrap_or_default();
    format!("`healthCheckExprs` for {}{how}", judging.kind)
}

/// A clause without a capital letter and a full stop.
pub(super) fn advice(fix: &Fix, sources: &dyn Sources) -> String {
    match &fix.advice {
        Advice::Type(next) => super::next(next),
        Advice::Plain(advice) => plain(*advice).to_owned(),
        Advice::Wait(advice) => super::step::advice(advice),
        Advice::Boot(advice) => super::boot::advice(advice),
        Advice::Layer(advice) => super::layer::advice(advice),
        Advice::Order(advice) => order(advice, &fix.entries, sources),
        Advice::Gate(advice) => gate(advice, sources),
        Advice::BringNamespace { component, namespace } => {
            format!("create Namespace `{namespace}` in {component} itself, or in something that it depends on")
        }
        Advice::BringBefore { component, needed } => {
            format!("create {needed} in the bootstrap, before Flux starts, or let {component} do without it")
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
        Advice::MoveRelease { component, release, has_no_retry } => {
            let or = if *has_no_retry { format!("; or set `retryInterval: 2m` on {component}") } else { String::new() };
            format!(
                "`dependsOn` of {component} can't name a HelmRelease: move {release} to a Kustomization of its own with \
                 `wait: true`, and make {component} depend on that one{or}"
            )
        }
        Advice::MoveResources(moved) => move_resources(moved, sources),
        Advice::Resume { target } => format!("remove `suspend` from {target}, or this dependency"),
        Advice::SetRetryInterval { .. } => {
            "set `retryInterval: 2m`, or add it to all of them with one patch where they are applied".to_owned()
        }
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
        PlainAdvice::RemoveMoreThanOne => {
            "remove more than one of these dependencies: the components wait for each other in several ways, and each is a cycle"
        }
        PlainAdvice::RemoveOneEdge => "remove one of these dependencies",
        PlainAdvice::RemoveOrKeep => "remove it, or keep it as a note to the reader",
        PlainAdvice::RenameVariable => {
            "rename it, there and where it is used, or remove it from what `postBuild` reads"
        }
        PlainAdvice::SetDecryption => "set `spec.decryption` on the Kustomization, with the Secret that holds the key",
        PlainAdvice::SetReady => "set `ready: true` on the dependency",
        PlainAdvice::TakeCommentAway => "remove the comment, or remove this rule from it",
        PlainAdvice::WaitForWhatUsesIt => {
            "add `healthCheckExprs` for its kind, or list a workload that uses it in `healthChecks`"
        }
        PlainAdvice::WriteComment => "write `# coldstart: allow <rule> -- why`",
    }
}

fn order(advice: &OrderAdvice, entries: &[Entry], sources: &dyn Sources) -> String {
    match advice {
        OrderAdvice::Add(new) => add(new, entries, sources),
        OrderAdvice::AddWithoutBootstrap(new) => {
            format!("none needed when the bootstrap runs; otherwise {}", add(new, entries, sources))
        }
        OrderAdvice::AddOrRetry(new) => {
            format!("{}; or set RetryOnFailure on install and upgrade", add(new, entries, sources))
        }
        OrderAdvice::AddToDependencies { gate, component } => {
            format!("add {gate} to the `dependsOn` of {component}")
        }
        OrderAdvice::ApplierDependsOn { gate, component } => {
            format!("make the object that applies {component} depend on {gate}")
        }
        OrderAdvice::DependOnApplierOf { object } => format!("add a `dependsOn` on the object that applies {object}"),
        OrderAdvice::DependInstead { applier, resource, waits: true, .. } => {
            format!("depend on {applier} instead, which waits for {resource}")
        }
        OrderAdvice::DependInstead { applier, resource, waits: false, by } => {
            format!("depend on {applier} instead, and have it wait for {resource}: {}", by_expression(by.as_ref()))
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
        OrderAdvice::RemoveThis { place } => {
            format!("remove the dependency in {}: without any other of these, a cycle is left", line(*place, sources))
        }
        OrderAdvice::RemoveOnly { place } => {
            format!("remove the dependency in {}, the only one of these that can be removed", line(*place, sources))
        }
    }
}

/// `add dependsOn …` in the words of the file.
fn add(new: &NewDependency, entries: &[Entry], sources: &dyn Sources) -> String {
    let NewDependency { consumer, provider, written } = new;
    match written {
        Written::Nowhere { back } if back.is_empty() => {
            format!("coldstart found no single edit that makes {consumer} wait for {provider}")
        }
        Written::Nowhere { back } => format!(
            "no single edit fixes this: {consumer} can't wait for {provider}, that would be a cycle{}",
            because(back)
        ),
        Written::Apart { places, gate, back } => format!(
            "move what needs it ({}) to a Kustomization of its own that depends on {provider}{}: on {consumer} itself that would be a cycle{}",
            sites(places, sources),
            other_gate(gate, provider, sources),
            because(back)
        ),
        Written::Instead { place, gate } => format!(
            "remove the dependency in {}, which nothing that coldstart read needs, and {}{}",
            line(*place, sources),
            item(new, entries, sources),
            other_gate(gate, provider, sources)
        ),
        Written::Needs(gate) | Written::Own(gate) | Written::Patch(_, gate) => {
            format!("{}{}", item(new, entries, sources), other_gate(gate, provider, sources))
        }
    }
}

/// `add ITEM to LIST`, after which line where there is a list.
fn item(new: &NewDependency, entries: &[Entry], sources: &dyn Sources) -> String {
    let NewDependency { consumer, provider, written } = new;
    let list = match written {
        Written::Needs(_) => "needs",
        _ => "dependsOn",
    };
    let of = match written {
        Written::Patch(patch, _) => {
            format!("the `{list}` that a patch in `{}` sets on {consumer}", file(*patch, sources))
        }
        _ => format!("the `{list}` of {consumer}"),
    };
    let Some(entry) = entries.first() else { return format!("add {provider} to {of}") };
    let text = entry::inline(entry);
    let place = entry::line(entry, sources).map(|(path, line)| format!("{path}:{line}")).unwrap_or_default();
    match entry.place {
        Some(Place::After { .. }) => format!("add `{text}` to {of}, after {place}"),
        Some(Place::Inside { .. }) => format!("add `{text}` to {of}, in {place}"),
        Some(Place::Key { .. }) => format!("add `{text}` to {consumer}"),
        None => format!("add `{text}` to {of}"),
    }
}

/// How one already waits for the other.
fn because(back: &[Hop]) -> String {
    if back.is_empty() { String::new() } else { format!(" ({})", label::hops(back)) }
}

fn sites(places: &[Site], sources: &dyn Sources) -> String {
    let mut places: Vec<String> = places.iter().map(|place| site(place, sources)).collect();
    places.dedup();
    first_few(&places, SHOWN_MAX)
}

/// What has to be written of the namespace of another.
fn other_namespace(own: &model::ObjectRef, other: &model::ObjectRef) -> String {
    if own.namespace == other.namespace { String::new() } else { format!(", namespace: {}", other.namespace) }
}

fn other_gate(gate: &OtherGate, other: &model::ObjectRef, sources: &dyn Sources) -> String {
    let with = |judging: &Option<Judging>| {
        judging.as_ref().map(|judging| format!(" and {}", expressions(judging))).unwrap_or_default()
    };
    match gate {
        OtherGate::Waits => String::new(),
        OtherGate::NeedsWait { patch: None, judging } => {
            format!(", and set `wait: true`{} on {other}", with(judging))
        }
        OtherGate::NeedsWait { patch: Some(patch), judging } => {
            let patch = file(*patch, sources);
            format!(", and set `wait: true`{} in the patch in `{patch}`, which sets it for {other}", with(judging))
        }
        OtherGate::NeedsCheck { object, judging, waits_now } => {
            let with = judging.as_ref().map(|judging| format!(", with {}", expressions(judging))).unwrap_or_default();
            let instead = if *waits_now { " instead of `wait: true`, beside what it applies" } else { "" };
            format!(", and list {object} in the `healthChecks` of {other}{instead}{with}")
        }
        OtherGate::NeedsExpression(judging) => format!(", and add {} to {other}", expressions(judging)),
    }
}

fn gate(advice: &GateAdvice, sources: &dyn Sources) -> String {
    match advice {
        GateAdvice::AddExpressions { judging, gate } => format!("add {} to {gate}", expressions(judging)),
        GateAdvice::HaveWait { applier, resource, by } => {
            format!("have {applier} wait for {resource}: {}", by_expression(by.as_ref()))
        }
        GateAdvice::ListOnly { gate, object, back } => {
            format!(
                "list {object} in the `healthChecks` of {gate}: `wait: true` there would be a cycle{}",
                because(back)
            )
        }
        GateAdvice::NoGate { gate, back } => {
            format!(
                "no single edit fixes this: {gate} can't wait for more, because that would be a cycle{}",
                because(back)
            )
        }
        GateAdvice::ListInChecks { gate, .. } => {
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
    let mut files: Vec<String> = places.iter().map(|place| site(place, sources)).collect();
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

fn site(place: &Site, sources: &dyn Sources) -> String {
    match place {
        Site::File(span) => line(*span, sources),
        Site::Object(object) => object.to_string(),
        Site::Store(name) => name.clone(),
        Site::Nowhere => String::new(),
    }
}

fn file(file: FileId, sources: &dyn Sources) -> &str {
    sources.path(file).unwrap_or_default()
}
