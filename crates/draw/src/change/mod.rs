//! What a change of the files does to the order of a cluster: orders and verdicts, findings, times, services. As text, as a comment on
//! a pull request, as a page, for programs, and as a picture of the part that changes.
//!
//! Knows how to compare two readings of a cluster, and how that looks. Does not know where they come from.

mod compare;
mod html;
mod json;
mod markdown;
mod part;
mod text;

use std::collections::BTreeSet;

use graph::Analysis;
use model::{Cluster, ComponentId, ObjectRef};

use crate::picture::{Alarms, Tone};

pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use part::picture;
pub use text::text;

/// A cluster at one of the two revisions.
#[derive(Debug)]
pub struct Side<'a> {
    pub cluster: &'a Cluster,
    pub analysis: &'a Analysis,
    pub alarms: Alarms,
    /// The services that must not be disrupted.
    pub critical: BTreeSet<ComponentId>,
    /// What is made of the files that change.
    pub touched: BTreeSet<ComponentId>,
}

/// What is different about one cluster.
#[derive(Debug)]
pub struct Change<'a> {
    pub name: String,
    pub before: Option<Side<'a>>,
    pub after: Option<Side<'a>>,
    /// Components that come, and that go.
    pub come: Vec<ObjectRef>,
    pub go: Vec<ObjectRef>,
    /// The worst first.
    pub orders: Vec<OrderChange>,
    /// Which came up before, and are in a cycle now, or behind one.
    pub stuck: Vec<ObjectRef>,
    /// The other way round.
    pub freed: Vec<ObjectRef>,
    /// Which would be ready at another time than before, with both times; the largest difference first.
    pub moved: Vec<(ObjectRef, u64, u64)>,
    pub onto_path: Vec<ObjectRef>,
    pub off_path: Vec<ObjectRef>,
    /// Services that must not be disrupted, and are made of the files that change.
    pub critical: Vec<ObjectRef>,
    pub new_findings: Vec<Told>,
    pub gone_findings: Vec<Told>,
}

/// What is different about the order of two components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderChange {
    pub first: ObjectRef,
    pub then: ObjectRef,
    pub before: Option<Tone>,
    pub after: Option<Tone>,
    /// Both are there before and after: it is the order alone that changes.
    pub is_alone: bool,
}

/// A finding, in the words of its revision.
#[derive(Clone, Debug)]
pub struct Told {
    pub rule: &'static str,
    pub severity: &'static str,
    pub message: String,
    pub cost: String,
    pub fix: Option<String>,
    /// `path:line`; empty where no file holds it.
    pub place: String,
}

/// Whether it is good news.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum News {
    Worse,
    Lost,
    Other,
    Better,
}

impl OrderChange {
    pub(crate) fn news(&self) -> News {
        let is_bad = |tone: Option<Tone>| tone.is_some_and(|tone| tone > Tone::Soon);
        match (self.before, self.after) {
            (before, after) if is_bad(after) && after > before => News::Worse,
            (before, after) if is_bad(before) && !is_bad(after) => News::Better,
            (before, after) if is_bad(before) && after < before => News::Better,
            (Some(Tone::Declared | Tone::Guaranteed), None | Some(Tone::Soon)) if self.is_alone => News::Lost,
            _ => News::Other,
        }
    }
}

/// How one of the revisions stands, in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    pub seconds: u64,
    pub components: usize,
    pub guaranteed: usize,
    pub declared: usize,
    pub applied_only: usize,
    pub falsely_ready: usize,
    pub missing: usize,
    pub cycles: usize,
}

impl Change<'_> {
    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        let lists = [&self.come, &self.go, &self.stuck, &self.freed, &self.onto_path, &self.off_path, &self.critical];
        lists.iter().all(|list| list.is_empty())
            && self.orders.is_empty()
            && self.moved.is_empty()
            && self.new_findings.is_empty()
            && self.gone_findings.is_empty()
    }

    /// Of both revisions. Nothing where the cluster is not there.
    pub(crate) fn figures(&self) -> (Option<Figures>, Option<Figures>) {
        let of = |side: &Option<Side<'_>>| side.as_ref().map(compare::figures);
        (of(&self.before), of(&self.after))
    }
}
