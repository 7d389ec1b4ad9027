//! For programs. As in the report, the structs here are the promise.

use model::ObjectRef;
use serde::Serialize;

use super::{Change, Figures, News, OrderChange, Told};
use crate::clean::clean_json;
use crate::json::{ObjectTwin, TOOL, VERSION};

/// All clusters, also those of which nothing changes, as one JSON object with a line end.
pub fn json(changes: &[Change<'_>]) -> Result<String, serde_json::Error> {
    let document =
        DocumentTwin { version: VERSION, tool: TOOL, changes: changes.iter().map(ChangeTwin::new).collect() };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    changes: Vec<ChangeTwin<'a>>,
}

#[derive(Serialize)]
struct ChangeTwin<'a> {
    cluster: &'a str,
    /// Null where the cluster is not there.
    before: Option<FiguresTwin>,
    after: Option<FiguresTwin>,
    come: Vec<ObjectTwin<'a>>,
    go: Vec<ObjectTwin<'a>>,
    orders: Vec<OrderTwin<'a>>,
    stuck: Vec<ObjectTwin<'a>>,
    freed: Vec<ObjectTwin<'a>>,
    moved: Vec<MovedTwin<'a>>,
    onto_critical_path: Vec<ObjectTwin<'a>>,
    off_critical_path: Vec<ObjectTwin<'a>>,
    critical_services: Vec<ObjectTwin<'a>>,
    new_findings: Vec<FindingTwin<'a>>,
    gone_findings: Vec<FindingTwin<'a>>,
}

#[derive(Serialize)]
struct FiguresTwin {
    seconds: u64,
    components: usize,
    guaranteed: usize,
    declared: usize,
    applied_only: usize,
    falsely_ready: usize,
    missing: usize,
    cycles: usize,
}

#[derive(Serialize)]
struct OrderTwin<'a> {
    first: ObjectTwin<'a>,
    then: ObjectTwin<'a>,
    /// Null where there is no order.
    before: Option<&'static str>,
    after: Option<&'static str>,
    /// `worse`, `lost`, `better` or `other`.
    news: &'static str,
}

#[derive(Serialize)]
struct MovedTwin<'a> {
    component: ObjectTwin<'a>,
    before_seconds: u64,
    after_seconds: u64,
}

#[derive(Serialize)]
struct FindingTwin<'a> {
    rule: &'static str,
    severity: &'static str,
    message: &'a str,
    cost: &'a str,
    fix: Option<&'a str>,
    /// `path:line`.
    at: Option<&'a str>,
}

fn twins(objects: &[ObjectRef]) -> Vec<ObjectTwin<'_>> {
    objects.iter().map(ObjectTwin::new).collect()
}

impl<'a> ChangeTwin<'a> {
    fn new(change: &'a Change<'a>) -> Self {
        let (before, after) = change.figures();
        Self {
            cluster: &change.name,
            before: before.map(FiguresTwin::new),
            after: after.map(FiguresTwin::new),
            come: twins(&change.come),
            go: twins(&change.go),
            orders: change.orders.iter().map(OrderTwin::new).collect(),
            stuck: twins(&change.stuck),
            freed: twins(&change.freed),
            moved: change.moved.iter().map(MovedTwin::new).collect(),
            onto_critical_path: twins(&change.onto_path),
            off_critical_path: twins(&change.off_path),
            critical_services: twins(&change.critical),
            new_findings: change.new_findings.iter().map(FindingTwin::new).collect(),
            gone_findings: change.gone_findings.iter().map(FindingTwin::new).collect(),
        }
    }
}

impl FiguresTwin {
    fn new(it: Figures) -> Self {
        let Figures { seconds, components, guaranteed, declared, applied_only, falsely_ready, missing, cycles } = it;
        Self { seconds, components, guaranteed, declared, applied_only, falsely_ready, missing, cycles }
    }
}

impl<'a> OrderTwin<'a> {
    fn new(it: &'a OrderChange) -> Self {
        Self {
            first: ObjectTwin::new(&it.first),
            then: ObjectTwin::new(&it.then),
            before: it.before.map(crate::picture::Tone::class),
            after: it.after.map(crate::picture::Tone::class),
            news: match it.news() {
                News::Worse => "worse",
                News::Lost => "lost",
                News::Other => "other",
                News::Better => "better",
            },
        }
    }
}

impl<'a> MovedTwin<'a> {
    fn new((object, before, after): &'a (ObjectRef, u64, u64)) -> Self {
        Self { component: ObjectTwin::new(object), before_seconds: *before, after_seconds: *after }
    }
}

impl<'a> FindingTwin<'a> {
    fn new(it: &'a Told) -> Self {
        Self {
            rule: it.rule,
            severity: it.severity,
            message: &it.message,
            cost: &it.cost,
            fix: it.fix.as_deref(),
            at: Some(it.place.as_str()).filter(|place| !place.is_empty()),
        }
    }
}
