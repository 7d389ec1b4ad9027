//! Recall on the hindsight cases: which faults that a person fixed later did the analyser name?
//!
//! Recall can be bought by naming everything, so the number of findings per run is always printed beside it. A finding
//! that nobody fixed later is not thereby wrong: precision is not measured here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::case::{Case, Reference};
use crate::table::Table;

/// Rules that speak of an order that is declared but waits for too little.
const UNGATED_RULES: [&str; 2] = ["ungated-dependency", "falsely-ready-gate"];
pub(crate) const MISSING_RULE: &str = "missing-dependency";

/// A finding in the shape that the scorer reads: `object` should wait for `missing`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Finding {
    pub object: Option<Reference>,
    pub missing: Option<Reference>,
    /// `missing`: no order at all. `ungated`: an order that waits for too little.
    #[serde(rename = "type")]
    pub lack: String,
    pub severity: String,
    pub rule: String,
    /// Direct providers that the advised order brings along.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<Reference>,
    /// The same order between releases, or between their Kustomizations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
}

/// The two ends of an order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Level {
    pub object: Reference,
    pub missing: Reference,
}

impl Finding {
    /// Reads a finding of `coldstart check --format json`.
    pub(crate) fn of_check(finding: &Value) -> Self {
        let text = |key: &str| finding.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let reference = |key: &str| reference_of(finding.get(key)?);
        let rule = text("rule");
        let lack = if UNGATED_RULES.contains(&rule.as_str()) { "ungated" } else { "missing" };
        Self {
            object: reference("component"),
            missing: reference("provider"),
            lack: lack.to_owned(),
            severity: text("severity"),
            rule,
            covers: list(finding, "covers").iter().filter_map(reference_of).collect(),
            levels: list(finding, "levels").iter().filter_map(Level::of_check).collect(),
        }
    }

    /// Every pair that it names: its own, those of what it covers, those of other levels.
    pub(crate) fn pairs(&self) -> Vec<Self> {
        let own = Self { covers: Vec::new(), levels: Vec::new(), ..self.clone() };
        let covered = self.covers.iter().map(|one| Self { missing: Some(one.clone()), ..own.clone() });
        let other = self.levels.iter().map(|Level { object, missing }| Self {
            object: Some(object.clone()),
            missing: Some(missing.clone()),
            ..own.clone()
        });
        std::iter::once(own.clone()).chain(covered).chain(other).collect()
    }

    fn is_ungated(&self) -> bool {
        self.lack == "ungated"
    }
}

impl Level {
    fn of_check(level: &Value) -> Option<Self> {
        Some(Self { object: reference_of(level.get("component")?)?, missing: reference_of(level.get("provider")?)? })
    }
}

fn list<'v>(finding: &'v Value, key: &str) -> &'v [Value] {
    finding.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn reference_of(value: &Value) -> Option<Reference> {
    value.is_object().then(|| serde_json::from_value(value.clone()).ok())?
}

/// What the findings of a run are worth for a case, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// The tree was not run.
    NotRun,
    Nothing,
    /// Something else was found on the object.
    OnObject,
    /// The fault was found between the two Kustomizations that apply the two releases.
    Lifted,
    Hit,
}

impl Outcome {
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::NotRun => "not run",
            Self::Nothing => "nothing on the object",
            Self::OnObject => "other findings on the object",
            Self::Lifted => "lifted to the Kustomizations",
            Self::Hit => "hit",
        }
    }
}

/// Names must be equal; kinds too, where the finding gives one. Namespaces are ignored: most repositories set them with
/// a transformer, and cases infer them.
pub(crate) fn same(wanted: &Reference, got: &Reference) -> bool {
    let kind = got.kind.as_deref().unwrap_or_default();
    got.name == wanted.name && (kind.is_empty() || got.kind == wanted.kind)
}

fn same_option(wanted: &Reference, got: Option<&Reference>) -> bool {
    got.is_some_and(|got| same(wanted, got))
}

pub(crate) fn judge(case: &Case, findings: &[Finding]) -> Outcome {
    let one = if case.is_gate() { judge_gate } else { judge_order };
    findings.iter().flat_map(Finding::pairs).map(|pair| one(case, &pair)).max().unwrap_or(Outcome::Nothing)
}

/// The object lacked a gate: hit when a finding says so of it, or of the order that some dependent declares on it.
fn judge_gate(case: &Case, finding: &Finding) -> Outcome {
    let is_gate = |missing: &Reference| missing.kind.as_deref() == Some("Gate");
    let of_dependent = finding.is_ungated()
        && finding.missing.as_ref().is_some_and(|missing| {
            let kind = missing.kind.clone().filter(|kind| kind != "Gate");
            same(&case.object, &Reference { kind, ..missing.clone() })
        });
    let of_object = same_option(&case.object, finding.object.as_ref())
        && finding.missing.as_ref().map_or(finding.is_ungated(), is_gate);
    if of_dependent || of_object { Outcome::Hit } else { Outcome::Nothing }
}

fn judge_order(case: &Case, finding: &Finding) -> Outcome {
    let (object, missing) = (finding.object.as_ref(), finding.missing.as_ref());
    let on_object = same_option(&case.object, object);
    if on_object && case.added.iter().any(|added| same_option(added, missing)) {
        return Outcome::Hit;
    }
    if let (Some(below), Some(above)) = (&case.object_kustomization, &case.added_kustomization)
        && same_option(below, object)
        && same_option(above, missing)
    {
        return Outcome::Lifted;
    }
    if on_object { Outcome::OnObject } else { Outcome::Nothing }
}

/// Counts over a group of cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub cases: u32,
    pub hits: u32,
    pub lifted: u32,
    pub on_object: u32,
    weight: f64,
    weight_hit: f64,
}

impl Tally {
    fn add(&mut self, case: &Case, outcome: Outcome) {
        self.cases += 1;
        self.weight += case.weight;
        match outcome {
            Outcome::Hit => {
                self.hits += 1;
                self.weight_hit += case.weight;
            }
            Outcome::Lifted => self.lifted += 1,
            Outcome::OnObject => self.on_object += 1,
            Outcome::Nothing | Outcome::NotRun => {}
        }
    }

    pub(crate) fn recall(&self) -> f64 {
        f64::from(self.hits) / f64::from(self.cases)
    }

    /// Each human decision (same commit, same dependency) counts once: the figure to quote.
    pub(crate) fn weighted(&self) -> f64 {
        self.weight_hit / self.weight
    }

    pub(crate) fn with_lifted(&self) -> f64 {
        f64::from(self.hits + self.lifted) / f64::from(self.cases)
    }
}

/// The tallies of a whole evaluation, by group and label.
#[derive(Debug, Default)]
pub(crate) struct Scores {
    groups: BTreeMap<(&'static str, String), Tally>,
}

impl Scores {
    pub(crate) fn add(&mut self, case: &Case, outcome: Outcome) {
        let labels = [
            ("all", String::new()),
            ("kind", case.kind.clone()),
            ("tier", case.tier.to_string()),
            ("tool", case.tool.clone()),
            ("class", case.evidence_class.clone()),
            ("repo", case.repo.clone()),
        ];
        for label in labels {
            self.groups.entry(label).or_default().add(case, outcome);
        }
    }

    pub(crate) fn get(&self, group: &'static str, label: &str) -> Option<&Tally> {
        self.groups.get(&(group, label.to_owned()))
    }

    pub(crate) fn table(&self) -> Table {
        let mut table = Table::new(["", "cases", "hits", "recall", "weighted", "+lifted", "obj only"]);
        for group in ["all", "kind", "tier", "tool", "class", "repo"] {
            if group != "all" {
                table.gap();
            }
            let mut rows: Vec<_> = self.groups.iter().filter(|((of, _), _)| *of == group).collect();
            if group == "class" || group == "repo" {
                rows.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.cases));
            }
            for ((_, label), tally) in rows {
                table.row(row(format!("{group} {label}").trim_end(), tally));
            }
        }
        table
    }
}

fn row(label: &str, tally: &Tally) -> [String; 7] {
    [
        label.to_owned(),
        tally.cases.to_string(),
        tally.hits.to_string(),
        percent(tally.recall()),
        percent(tally.weighted()),
        percent(tally.with_lifted()),
        tally.on_object.to_string(),
    ]
}

pub(crate) fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.1}%", 100.0 * share) } else { "-".to_owned() }
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
