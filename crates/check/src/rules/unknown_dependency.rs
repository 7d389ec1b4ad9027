//! ## What it finds
//!
//! A `dependsOn` that names nothing: a spelling mistake, the wrong namespace, a name that was changed elsewhere. The name of
//! an object of another kind is a `wrong-kind-dependency`.
//!
//! The same of a release in a helmfile: `needs` that name no release of that file. Nothing is said where a template may decide
//! the names.
//!
//! ## Why it matters at a cold start
//!
//! Flux waits for a dependency that does not exist, for ever. On a running cluster nobody notices, because the old object
//! is still there or the dependent was ready before the change.
//!
//! Helmfile refuses a file with such `needs`, whatever selectors it is called with: the bootstrap ends before it has begun.
//!
//! ## Example
//!
//! ```yaml
//! spec:
//!   dependsOn:
//!     - name: rook-ceph-clutser
//! ```
//!
//! ## Fix
//!
//! Correct the name. The namespace is the dependent's own unless it is written: as `namespace` in `dependsOn`, as
//! `namespace/name` in `needs`.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use graph::{Consequence, Verdict};
use model::{ObjectRef, Tie, TieTarget, edits, nearest};

use crate::context::Context;
use crate::finding::{Finding, Location, LocationRole, Severity};
use crate::rules::wrong_kind_dependency::other_kind;
use crate::words::quoted;

/// The kind of what stands for a release of a helmfile.
const HELMFILE_RELEASE: &str = "HelmfileRelease";

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    let ties = context.cluster.ties.iter().filter(|tie| !context.is_asleep(tie.from));
    ties.filter_map(|tie| match &tie.to {
        TieTarget::Unknown(object)
            if !object.name.contains("${")
                && other_kind(context, object).is_none()
                && !is_unreadable(context, object) =>
        {
            let is_helmfile = object.kind == HELMFILE_RELEASE;
            Some(if is_helmfile { of_helmfile(context, tie, object) } else { finding(context, tie, object) })
        }
        _ => None,
    })
    .collect()
}

/// Whether a file that can't be read names it: the mistake there is told by itself, and then it exists.
fn is_unreadable(context: &Context<'_>, missing: &ObjectRef) -> bool {
    let is_named = |line: &str| {
        // As metadata stands, and not an entry of somebody's `dependsOn`.
        let named = line.strip_prefix("  name:");
        named.is_some_and(|name| name.split_whitespace().last() == Some(&*missing.name))
    };
    context.cluster.broken.iter().filter_map(|broken| context.text(broken.at)).any(|text| text.lines().any(is_named))
}

fn finding(context: &Context<'_>, tie: &Tie, missing: &ObjectRef) -> Finding {
    let component = context.component(tie.from);
    let hint = did_you_mean(context, missing);
    // What could not be seen might hold it.
    let unsure = hint.is_none() && context.elsewhere().is_some();
    let mut notes = Vec::new();
    if unsure {
        notes.push("part of this cluster could not be seen, and may hold it".to_owned());
    }
    Finding {
        rule: "unknown-dependency",
        severity: if unsure { Severity::Warning } else { Severity::Error },
        message: format!("{} waits for {missing}, which does not exist", quoted(component)),
        cluster: context.cluster.name.clone(),
        component: component.object.clone(),
        provider: Some(missing.clone()),
        capability: None,
        verdict: Some(Verdict::Unoffered),
        consequence: Some(Consequence::Deadlock),
        cost: "never converges: blocked for ever, and everything that depends on it".to_owned(),
        locations: vec![Location {
            span: tie.at,
            role: LocationRole::Primary,
            label: "nothing has this name".to_owned(),
        }],
        fix: Some(hint.unwrap_or_else(|| "correct the name, or remove the dependency".to_owned())),
        notes,
        also: Vec::new(),
        each: Vec::new(),
    }
}

fn of_helmfile(context: &Context<'_>, tie: &Tie, missing: &ObjectRef) -> Finding {
    let component = context.component(tie.from);
    let message = format!("{} needs `{}`, which its helmfile does not have", quoted(component), missing.path());
    let cost = "never starts: helmfile refuses the whole file";
    let mut finding =
        Finding::new("unknown-dependency", Severity::Error, &context.cluster.name, &component.object, message, cost)
            .with(LocationRole::Primary, tie.at, "no release of this helmfile has this name".to_owned());
    finding.provider = Some(missing.clone());
    finding.verdict = Some(Verdict::Unoffered);
    finding.consequence = Some(Consequence::Deadlock);
    let hint = release_meant(context, tie, missing).map(|meant| format!("did you mean `{}`?", meant.path()));
    finding.fix = Some(hint.unwrap_or_else(|| "correct the name, or remove it from `needs`".to_owned()));
    finding
}

/// The release of the same helmfile that somebody may have meant.
fn release_meant<'a>(context: &'a Context<'_>, tie: &Tie, missing: &ObjectRef) -> Option<&'a ObjectRef> {
    let file = context.component(tie.from).at.file;
    let others = context.cluster.ids().filter(|id| *id != tie.from).map(|id| context.component(id));
    let beside = others.filter(|other| other.at.file == file && other.object.kind.starts_with("Helmfile"));
    let objects: Vec<&ObjectRef> = beside.map(|other| &other.object).collect();
    let name = nearest(&missing.name, objects.iter().map(|object| object.name.as_str()))?;
    objects.into_iter().find(|object| object.name == name)
}

/// The same name elsewhere, else the nearest spelling, else whatever is called by the same words.
fn did_you_mean(context: &Context<'_>, missing: &ObjectRef) -> Option<String> {
    let components = context.cluster.components.iter().map(|component| &component.object);
    let objects: Vec<&ObjectRef> = components.filter(|object| object.kind == missing.kind).collect();
    if let Some(other) = objects.iter().find(|object| object.name == missing.name) {
        return Some(format!("it is in another namespace: add `namespace: {}`", other.namespace));
    }
    let meant =
        near(missing, &objects).or_else(|| same_words(missing, &objects)).or_else(|| ending(missing, &objects))?;
    Some(format!("did you mean `{}` (namespace {})?", meant.name, meant.namespace))
}

/// A slip of the keyboard.
fn near<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let slips_max = (missing.name.len() / 4).clamp(1, 4);
    let spelled = objects.iter().map(|object| (edits(&missing.name, &object.name), *object));
    spelled.min().filter(|(slips, _)| *slips <= slips_max).map(|(_, object)| object)
}

/// What has most words of the name, in any order: `cluster-apps-rook-ceph-cluster` for `storage-rook-ceph-cluster`. Where several
/// have as many, nobody can tell.
fn same_words<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let words = |name: &str| name.split('-').map(str::to_owned).collect::<BTreeSet<String>>();
    let wanted = words(&missing.name);
    let ranked = objects.iter().map(|object| {
        let has = words(&object.name);
        let shared = has.intersection(&wanted).count();
        ((shared, Reverse(has.len() - shared)), *object)
    });
    let mut ranked: Vec<_> = ranked.filter(|((shared, _), _)| shared * 2 > wanted.len()).collect();
    ranked.sort_by_key(|(rank, _)| Reverse(*rank));
    match ranked.as_slice() {
        [first, second, ..] if first.0 == second.0 => None,
        [first, ..] => Some(first.1),
        [] => None,
    }
}

/// What is left of the name without the prefix that somebody thought it had.
fn ending<'a>(missing: &ObjectRef, objects: &[&'a ObjectRef]) -> Option<&'a ObjectRef> {
    let ends = |object: &&&'a ObjectRef| missing.name.ends_with(&format!("-{}", object.name));
    objects.iter().filter(ends).max_by_key(|object| object.name.len()).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meant(missing: &str, names: &[&str]) -> Option<String> {
        let object = |name: &str| ObjectRef::new("Kustomization", "flux-system", name);
        let objects: Vec<ObjectRef> = names.iter().map(|name| object(name)).collect();
        let (missing, objects) = (object(missing), objects.iter().collect::<Vec<_>>());
        let found = near(&missing, &objects).or_else(|| same_words(&missing, &objects));
        found.or_else(|| ending(&missing, &objects)).map(|it| it.name.to_string())
    }

    #[test]
    fn names_are_meant_by_their_spelling_or_by_their_words() {
        for (missing, names, expected) in [
            ("mostquitto", ["mosquitto", "mosaic"].as_slice(), Some("mosquitto")),
            (
                "external-secrets-stores",
                &["external-secrets", "cluster-apps-external-secrets-stores"],
                Some("cluster-apps-external-secrets-stores"),
            ),
            (
                "storage-rook-ceph-cluster",
                &["cluster", "cluster-apps-rook-ceph-cluster"],
                Some("cluster-apps-rook-ceph-cluster"),
            ),
            ("ceph-cephfs", &["ceph-csi-cephfs", "ceph-csi-rbd"], Some("ceph-csi-cephfs")),
            (
                "infrastructure-storage-rook-ceph-cluster",
                &["rook-ceph-cluster", "rook-ceph"],
                Some("rook-ceph-cluster"),
            ),
            ("apps-redis", &["redis", "minio"], Some("redis")),
            ("cluster", &["cluster-apps", "cluster-core"], None),
            ("certificates", &["monitoring", "storage"], None),
        ] {
            assert_eq!(meant(missing, names).as_deref(), expected, "{missing}");
        }
    }
}
