//! A finding that is to be closed, and what is to be changed for it.

use std::collections::BTreeSet;

use diagnostic::{Action, Finding, Fingerprint, Told, WhyLeft};
use model::{Cluster, ObjectRef};
use read::Reading;
use source::Span;

use crate::Wish;
use crate::along::{self, Appliers};
use crate::change::Change;
use crate::intent::Intent;

/// One finding.
#[derive(Clone, Debug)]
pub(crate) struct Job<'a> {
    pub(crate) told: Told,
    pub(crate) cluster: &'a Cluster,
    pub(crate) changes: Vec<Change>,
    /// Why it stays, once that is known.
    pub(crate) why: Option<WhyLeft>,
    /// Who applies sooner what is installed only once.
    pub(crate) hastens: Appliers,
    /// Whose installs wait for what it is about, and what is said of them where it can't be edited along.
    pub(crate) awaits: Appliers,
    pub(crate) too_soon: Option<WhyLeft>,
    /// It is edited only along with what is wanted.
    pub(crate) is_along: bool,
}

impl<'a> Job<'a> {
    pub(crate) fn new(reading: &'a Reading, finding: &Finding, wish: &Wish<'_>) -> Option<Self> {
        let cluster = reading.clusters.iter().find(|cluster| cluster.name == finding.cluster)?;
        let mut job = Self {
            told: told(reading, finding),
            cluster,
            changes: Vec::new(),
            why: None,
            hastens: along::hastened(cluster, finding),
            awaits: Appliers::new(),
            too_soon: None,
            is_along: false,
        };
        match (Intent { reading, cluster }).of(finding) {
            Ok(changes) => job.changes = changes,
            Err(why) => job.why = Some(why),
        }
        let is_held = !wish.with_unsafe && job.actions().iter().any(Action::is_unsafe);
        if is_held {
            job.why = Some(WhyLeft::Unsafe { actions: job.actions() });
        }
        Some(job)
    }

    /// The same of a finding about volumes that some of these wait for; nothing where it is about none.
    pub(crate) fn awaited(reading: &'a Reading, finding: &Finding, wish: &Wish<'_>, of: &Appliers) -> Option<Self> {
        let cluster = reading.clusters.iter().find(|cluster| cluster.name == finding.cluster)?;
        let awaits = along::awaited(cluster, finding, of);
        if awaits.is_empty() {
            return None;
        }
        Some(Self { awaits, too_soon: along::too_soon(finding), ..Self::new(reading, finding, wish)? })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.why.is_none()
    }

    /// Whether a patch is to leave dependencies as they are.
    pub(crate) fn is_unlisting(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Unlist { .. }))
    }

    /// Whether it has something applied that was not: a file that nothing listed, or what was suspended.
    pub(crate) fn is_revealing(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::List { .. } | Change::Resume { .. }))
    }

    /// Whether it moves objects to a new component.
    pub(crate) fn is_splitting(&self) -> bool {
        self.changes.iter().any(|change| matches!(change, Change::Split { .. }))
    }

    /// The dependency that it takes away, where it does nothing else.
    pub(crate) fn breaks(&self) -> Option<Span> {
        match self.changes.as_slice() {
            [Change::Undepend { at, .. }] => Some(*at),
            _ => None,
        }
    }

    /// Whether it takes something away, or brings something to light that was not applied before.
    pub(crate) fn is_bold(&self) -> bool {
        let is_bold = |change: &Change| {
            matches!(
                change,
                Change::List { .. }
                    | Change::Split { .. }
                    | Change::BringNamespace { .. }
                    | Change::Undepend { .. }
                    | Change::Unlist { .. }
                    | Change::Rename { .. }
                    | Change::Resume { .. }
                    | Change::Unwait { .. }
            )
        };
        self.changes.iter().any(is_bold)
    }

    /// What is done, for people.
    pub(crate) fn actions(&self) -> Vec<Action> {
        self.changes.iter().map(|change| change.action(self.cluster)).collect()
    }

    /// The objects that it is about, and those that are edited.
    pub(crate) fn objects(&self) -> BTreeSet<String> {
        let object = |id| self.cluster.component(id).object.to_string();
        let mut objects = BTreeSet::from([self.told.component.to_string()]);
        objects.extend(self.told.fingerprint.provider.clone());
        for change in &self.changes {
            objects.insert(object(change.of()));
            if let Change::Depend { on, .. } = change {
                objects.insert(object(*on));
            }
        }
        objects
    }

    /// What it has in common with others of the same cause: who is waited for.
    pub(crate) fn cause(&self) -> String {
        if let Some(Change::Unlist { path, .. }) = self.changes.first() {
            return path.clone();
        }
        let on = self.changes.iter().find_map(|change| match change {
            Change::Depend { on, .. } => Some(self.cluster.component(*on).object.to_string()),
            _ => None,
        });
        let gate = || self.changes.first().map(|change| self.cluster.component(change.of()).object.to_string());
        on.or_else(gate).unwrap_or_default()
    }

    /// Who is to wait for whom.
    pub(crate) fn ties(&self) -> impl Iterator<Item = (ObjectRef, ObjectRef)> {
        let object = |id| self.cluster.component(id).object.clone();
        self.changes.iter().filter_map(move |change| match change {
            Change::Depend { of, on } => Some((object(*of), object(*on))),
            _ => None,
        })
    }
}

fn told(reading: &Reading, finding: &Finding) -> Told {
    Told {
        fingerprint: Fingerprint::of(finding, &reading.repository),
        rule: finding.rule.id,
        severity: finding.severity,
        cluster: finding.cluster.clone(),
        component: finding.component.clone(),
        statement: finding.statement.clone(),
        at: finding.primary.at.span(),
    }
}
