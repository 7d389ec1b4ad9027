//! Generated repositories with several defects, fixed, and everything that is promised of that held against what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use diagnostic::{Action, Changed, Fingerprint, Repairs, Severity};
use fix::Checked;
use model::{Cluster, ObjectRef, TieTarget};
use read::rendered::{Rendered, render};
use repository::Unsaved;
use yaml::Node;

use crate::proof::{self, checked, saved};

/// What came of one repository.
#[derive(Clone, Debug, Default)]
pub struct Fixed {
    /// Findings, and those that are left, by rule.
    pub found: BTreeMap<&'static str, usize>,
    pub left: BTreeMap<&'static str, usize>,
    /// Repairs and files that were changed.
    pub repairs: usize,
    pub files: usize,
    /// What does not hold.
    pub wrong: Vec<Wrong>,
}

/// A promise that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It could not be read, or be fixed.
    Unread,
    /// It was said to be closed.
    StillFound(String),
    New(String),
    /// A second run has something to do.
    Second(usize),
    /// A line goes that was no part of an edit, or is written otherwise.
    Line {
        path: String,
        line: String,
    },
    /// A new dependency that others imply.
    Implied {
        of: String,
        on: String,
    },
    /// A new dependency on a cycle.
    Cycle {
        of: String,
        on: String,
    },
    /// An object is gone, or built otherwise.
    Built(ObjectRef),
}

/// Fixes a repository with these files, and looks at what came of it.
pub fn fixed(files: &BTreeMap<String, String>) -> io::Result<Fixed> {
    let directory = tempfile::tempdir()?;
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap_or(directory.path()))?;
        fs::write(path, text)?;
    }
    Ok(judged(directory.path()).unwrap_or_else(|| Fixed { wrong: vec![Wrong::Unread], ..Fixed::default() }))
}

fn judged(root: &Path) -> Option<Fixed> {
    let before = checked(root, &Unsaved::default())?;
    let repairs = proof::repairs(root, &Unsaved::default(), &before)?;
    let files: Vec<&Changed> = repairs.made.iter().flat_map(|repair| &repair.files).collect();
    let unsaved = saved(&repairs);
    let after = checked(root, &unsaved)?;
    let mut wrong = findings(&before, &after, &repairs);
    let second = proof::repairs(root, &unsaved, &after)?.made.len();
    wrong.extend((second > 0).then_some(Wrong::Second(second)));
    wrong.extend(files.iter().filter_map(|changed| line(changed, &files)));
    for old in &before.reading.clusters {
        let new = after.reading.clusters.iter().find(|new| new.name == old.name)?;
        wrong.extend(ties(old, new, &repairs));
    }
    wrong.extend(built(&before, &after)?);
    let number = |checked: &Checked| {
        let mut rules = BTreeMap::new();
        for finding in checked.findings.iter().filter(|it| it.severity >= Severity::Info) {
            *rules.entry(finding.rule.id).or_default() += 1;
        }
        rules
    };
    let paths: BTreeSet<&str> = files.iter().map(|changed| changed.path.as_str()).collect();
    let (found, left) = (number(&before), number(&after));
    Some(Fixed { found, left, repairs: repairs.made.len(), files: paths.len(), wrong })
}

/// What was closed is not found, and nothing else is.
fn findings(before: &Checked, after: &Checked, repairs: &Repairs) -> Vec<Wrong> {
    let keys = |checked: &Checked, least: Severity| -> BTreeSet<Fingerprint> {
        let bad = checked.findings.iter().filter(|finding| finding.severity >= least);
        bad.map(|finding| Fingerprint::at(finding, None)).collect()
    };
    let (old, new) = (keys(before, Severity::Pedantic), keys(after, Severity::Warning));
    let closed = repairs.made.iter().flat_map(|repair| &repair.closes);
    let closed = closed.map(|told| Fingerprint { path: String::new(), ..told.fingerprint.clone() });
    let still = closed.filter(|key| new.contains(key)).map(|key| Wrong::StillFound(format!("{key:?}")));
    // What was about objects that moved is about where they are now.
    let moved: BTreeMap<String, String> =
        repairs.made.iter().flat_map(|repair| &repair.actions).filter_map(moved).collect();
    let back = |key: &Fingerprint| {
        let provider = key.provider.as_ref().map(|provider| moved.get(provider).unwrap_or(provider).clone());
        Fingerprint { provider, ..key.clone() }
    };
    let unknown = new.iter().filter(|key| !old.contains(*key) && !old.contains(&back(key)));
    still.chain(unknown.map(|key| Wrong::New(format!("{key:?}")))).collect()
}

/// The Kustomization that objects moved to, and the one that they come from.
fn moved(action: &Action) -> Option<(String, String)> {
    match action {
        Action::Split { component, new, .. } => Some((new.to_string(), component.to_string())),
        _ => None,
    }
}

/// A line that goes though no field in it is edited, or one that comes with another end than its neighbours have.
fn line(changed: &Changed, files: &[&Changed]) -> Option<Wrong> {
    let wrong = |line: &str| Some(Wrong::Line { path: changed.path.clone(), line: line.to_owned() });
    let (Some(before), Some(after)) = (&changed.before, &changed.after) else {
        let is_moved = |other: &Changed| other.before.is_none() && other.after == changed.before;
        let is_right = changed.before.is_none() || files.iter().any(|other| is_moved(other));
        return if is_right { None } else { wrong("the whole file") };
    };
    let is_windows = before.contains("\r\n");
    let mut rest = after.split_inclusive('\n');
    for line in before.lines().map(|line| line.trim_end_matches('\r')) {
        let mut ahead = rest.clone();
        let is_there = ahead.any(|new| new.trim_end_matches(['\n', '\r']) == line);
        match (is_there, is_edited(line)) {
            (true, _) => rest = ahead,
            (false, true) => {}
            (false, false) => return wrong(line),
        }
    }
    let is_other = |line: &&str| line.ends_with('\n') && line.ends_with("\r\n") != is_windows;
    after.split_inclusive('\n').find(is_other).and_then(wrong)
}

/// Lines that edits take away or write again: dependencies, `wait`, health checks, entries of lists.
fn is_edited(line: &str) -> bool {
    let line = line.trim_start();
    ["dependsOn:", "wait:", "- ", "name:", "namespace:", "kind:", "apiVersion:"].iter().any(|it| line.starts_with(it))
}

type Edge = (ObjectRef, ObjectRef);

fn edges(cluster: &Cluster) -> BTreeSet<Edge> {
    let object = |id| cluster.component(id).object.clone();
    let edge = |tie: &model::Tie| match &tie.to {
        TieTarget::Component(to) => Some((object(tie.from), object(*to))),
        TieTarget::Unknown(_) => None,
    };
    cluster.ties.iter().filter_map(edge).collect()
}

/// New dependencies that others imply, or that are on a cycle.
fn ties(old: &Cluster, new: &Cluster, repairs: &Repairs) -> Vec<Wrong> {
    // One that follows what moved says no more than it did.
    let followed: BTreeSet<Edge> =
        repairs.made.iter().flat_map(|repair| &repair.actions).filter_map(followed).collect();
    // A name that was corrected is what its writer meant, implied or not.
    let unknown = old.ties.iter().filter(|tie| matches!(tie.to, TieTarget::Unknown(_)));
    let corrected: BTreeSet<ObjectRef> = unknown.map(|tie| old.component(tie.from).object.clone()).collect();
    let (old, new) = (edges(old), edges(new));
    let mut wrong = Vec::new();
    let is_added = |edge: &&Edge| !corrected.contains(&edge.0) && !followed.contains(edge);
    for (of, on) in new.difference(&old).filter(is_added) {
        let mut others = new.clone();
        others.remove(&(of.clone(), on.clone()));
        if reaches(&others, of, on) {
            wrong.push(Wrong::Implied { of: of.to_string(), on: on.to_string() });
        }
        if reaches(&new, on, of) {
            wrong.push(Wrong::Cycle { of: of.to_string(), on: on.to_string() });
        }
    }
    wrong
}

fn followed(action: &Action) -> Option<Edge> {
    match action {
        Action::DependInstead { component, to, .. } => Some((component.clone(), to.clone())),
        _ => None,
    }
}

fn reaches(edges: &BTreeSet<Edge>, from: &ObjectRef, to: &ObjectRef) -> bool {
    let mut seen = BTreeSet::new();
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        for (_, next) in edges.iter().filter(|(of, _)| of == at) {
            if next == to {
                return true;
            }
            if seen.insert(next) {
                work.push(next);
            }
        }
    }
    false
}

/// Objects that are gone or built otherwise; what Flux is told is edited, and left out.
fn built(before: &Checked, after: &Checked) -> Option<Vec<Wrong>> {
    let (old, _) = render(&before.reading.repository).ok()?;
    let (new, _) = render(&after.reading.repository).ok()?;
    let mut wrong = Vec::new();
    for old in &old {
        let new = new.iter().find(|new| new.name == old.name).map(objects).unwrap_or_default();
        let different = objects(old).into_iter().filter(|(object, nodes)| new.get(*object) != Some(nodes));
        wrong.extend(different.map(|(object, _)| Wrong::Built(object.clone())));
    }
    Some(wrong)
}

fn objects(rendered: &Rendered) -> BTreeMap<&ObjectRef, Vec<&Node>> {
    const EDITED: [&str; 3] = ["Kustomization", "HelmRelease", "ResourceSet"];
    let mut objects: BTreeMap<&ObjectRef, Vec<&Node>> = BTreeMap::new();
    for (object, node) in rendered.appliers.iter().flat_map(|applier| &applier.objects) {
        if !EDITED.contains(&object.kind.as_str()) {
            objects.entry(object).or_default().push(node);
        }
    }
    objects
}
