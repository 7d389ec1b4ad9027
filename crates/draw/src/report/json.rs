//! For programs. As in the report of `check`, the structs here are the promise.

use report::{Document, Section};
use serde::Serialize;
use serde_json::{Value, json};
use source::Sources;

use crate::clean::clean_json;
use crate::json::{TOOL, VERSION};
use crate::say;

/// The documents of all clusters as one JSON object with a line end.
pub fn json(documents: &[Document<'_>], sources: &dyn Sources) -> Result<String, serde_json::Error> {
    let clusters: Result<Vec<ClusterTwin<'_>>, _> = documents.iter().map(|it| ClusterTwin::new(it, sources)).collect();
    let document = DocumentTwin { version: VERSION, tool: TOOL, clusters: clusters? };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct DocumentTwin<'a> {
    version: u32,
    tool: &'static str,
    clusters: Vec<ClusterTwin<'a>>,
}

#[derive(Serialize)]
struct ClusterTwin<'a> {
    name: &'a str,
    sections: Vec<SectionTwin>,
}

/// One section: what it is called, and its content, which differs from one to the next.
#[derive(Serialize)]
struct SectionTwin {
    section: &'static str,
    content: Value,
}

impl<'a> ClusterTwin<'a> {
    fn new(document: &'a Document<'a>, sources: &dyn Sources) -> Result<Self, serde_json::Error> {
        let sections: Result<Vec<SectionTwin>, _> =
            document.sections.iter().map(|it| section(document, it, sources)).collect();
        Ok(Self { name: &document.cluster.name, sections: sections? })
    }
}

fn section(document: &Document<'_>, it: &Section<'_>, sources: &dyn Sources) -> Result<SectionTwin, serde_json::Error> {
    let (name, content) = match it {
        Section::Summary(it) => ("summary", serde_json::to_value(it)?),
        Section::Stages(it) => ("stages", stages(it, sources)),
        Section::NotRun(it) => ("not-run", gaps(it, sources)),
        Section::Changes(it) => ("changes", changes(it, sources)?),
        Section::Tiers(it) => ("tiers", serde_json::to_value(it)?),
        Section::Tree(it) => ("tree", serde_json::to_value(it)?),
        Section::Layers(it) => ("layers", layers(it)),
        Section::Apis(it) => ("apis", serde_json::to_value(it)?),
        Section::Rules { hard, soft } => ("rules", json!({ "hard": hard, "soft": soft })),
        Section::Critical(it) => ("critical", critical(document, it)),
        Section::Cycles { found, across, broken } => {
            ("cycles", json!({ "found": found, "across_tools": across, "by_bootstrap": broken }))
        }
        Section::KeyFiles(it) => ("key-files", serde_json::to_value(it)?),
        Section::Versions(it) => ("versions", serde_json::to_value(it)?),
        Section::Timeline(it) => ("timeline", serde_json::to_value(it)?),
        Section::After(it) => ("after", serde_json::to_value(it)?),
        Section::Reliability(it) => ("reliability", reliability(it)),
        Section::Verification(it) => ("verification", verification(it)),
    };
    Ok(SectionTwin { section: name, content })
}

/// As `fix` says them, and beside that what a person has to do.
fn changes(it: &report::Changes<'_>, sources: &dyn Sources) -> Result<Value, serde_json::Error> {
    let mut value: Value = serde_json::from_str(&crate::repairs::json(it.repairs, sources)?)?;
    let one = |one: &report::ByHandChange<'_>| {
        let finding = one.finding;
        let at = sources.locate(finding.primary.at.span());
        json!({
            "rule": finding.rule.id,
            "severity": finding.severity.word(),
            "priority": say::report::priority(finding.severity),
            "step": finding.component,
            "fix": say::finding(finding, sources).fix,
            "risk": finding.fix.as_ref().map(|fix| say::report::risk(&fix.advice)),
            "at": at.map(|(path, at)| json!({ "path": path, "line": at.line })),
        })
    };
    if let Some(all) = value.as_object_mut() {
        all.insert("by_hand".to_owned(), it.by_hand.iter().map(one).collect());
    }
    Ok(value)
}

fn gaps(gaps: &[report::Gap<'_>], sources: &dyn Sources) -> Value {
    let gap = |gap: &report::Gap<'_>| {
        let said = say::finding(gap.finding, sources);
        let at = sources.locate(gap.finding.primary.at.span());
        json!({
            "rule": gap.finding.rule.id,
            "severity": gap.finding.severity.word(),
            "component": gap.finding.component,
            "message": said.message,
            "cost": said.cost,
            "fix": said.fix,
            "change": gap.change,
            "at": at.map(|(path, at)| json!({ "path": path, "line": at.line })),
        })
    };
    gaps.iter().map(gap).collect()
}

fn stages(stages: &[report::Stage<'_>], sources: &dyn Sources) -> Value {
    let step = |it: &report::BootStage| {
        let shows = it.shows.iter().map(|(fact, of)| say::boot::shown(*fact, *of));
        json!({
            "step": it.step,
            "does": say::boot::doing(&it.does),
            "after": it.after,
            "shows": shows.collect::<Vec<_>>(),
            "shows_else": it.shows.is_empty().then(|| say::boot::done(&it.does)),
            "at": it.at,
        })
    };
    let stage = |stage: &report::Stage<'_>| {
        let happens = stage.happens.iter().map(
            |step| json!({ "step": step.key, "done_when": say::proof(&step.proof), "commands": say::commands(step) }),
        );
        json!({
            "stage": stage.layer,
            "happens": happens.collect::<Vec<_>>(),
            "machines": stage.machines,
            "address": stage.address,
            "credentials": stage.credentials,
            "steps": stage.steps.iter().map(step).collect::<Vec<_>>(),
            "guarantees": stage.guarantees,
            "guaranteed_by_containment": stage.by_containment,
            "gaps": gaps(&stage.gaps, sources),
        })
    };
    stages.iter().map(stage).collect()
}

fn layers(parts: &[report::LayerPart<'_>]) -> Value {
    let one = |part: &report::LayerPart<'_>| {
        let mut recovery: Vec<String> = part.steps.iter().flat_map(|step| say::commands(step)).collect();
        if recovery.is_empty() {
            let again = |(at, what): &(String, String)| say::report::applied_again(at, what, part.uses_tofu);
            recovery.extend(part.resources.iter().map(again));
        }
        json!({ "layer": part.layer, "members": part.members, "after": part.after, "recovery": recovery, "nodes": part.nodes })
    };
    parts.iter().map(one).collect()
}

fn critical(document: &Document<'_>, all: &[(graph::Critical, graph::Impact)]) -> Value {
    let one = |(service, impact): &(graph::Critical, graph::Impact)| {
        json!({
            "component": document.cluster.component(service.id).object,
            "at_once": service.at_once,
            "pod_start": service.pod_start,
            "reconcile": service.reconcile,
            "cold_start": service.cold_start,
            "takes_down": crate::impact::taken_down(document.cluster, impact),
        })
    };
    all.iter().map(one).collect()
}

fn reliability(boots: &report::Boots) -> Value {
    let share = |share: report::Share| json!({ "boots": share.boots, "converged": share.converged, "median_seconds": share.median_seconds });
    json!({ "now": share(boots.now), "after": boots.after.map(share) })
}

fn verification(checks: &[report::Check]) -> Value {
    let one = |check: &report::Check| {
        let (what, command) = say::report::check(check);
        json!({ "what": what, "command": command })
    };
    checks.iter().map(one).collect()
}
