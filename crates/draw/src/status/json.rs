//! The status for programs. The structs here are what is promised: they change only with [`VERSION`].

use health::facts::ObjectKey;
use health::status::{Count, Evidence, Layer, Problem, Root, Status};
use serde::Serialize;

use super::command;
use crate::clean_json;
use crate::json::TOOL;
use crate::say::{self, health as words};

/// Raised when a field changes its meaning or goes away; new fields do not raise it.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct StatusTwin<'a> {
    version: u32,
    tool: &'static str,
    outcome: &'static str,
    seen: Option<String>,
    layers: Vec<LayerTwin<'a>>,
    roots: Vec<RootTwin<'a>>,
    not_seen: Vec<GapTwin<'a>>,
}

#[derive(Serialize)]
struct LayerTwin<'a> {
    name: String,
    state: &'static str,
    reason: String,
    counts: &'a [Count],
    failing: Vec<FailingTwin<'a>>,
}

#[derive(Serialize)]
struct FailingTwin<'a> {
    object: &'a ObjectKey,
    state: &'static str,
    problem: &'a Problem,
    message: String,
}

#[derive(Serialize)]
struct RootTwin<'a> {
    id: Option<&'static str>,
    layer: String,
    object: &'a ObjectKey,
    reason: String,
    problem: &'a Problem,
    evidence: &'a [Evidence],
    blocks: Vec<BlockedTwin<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cycle: Vec<StepTwin<'a>>,
    remedy: RemedyTwin,
}

#[derive(Serialize)]
struct BlockedTwin<'a> {
    object: &'a ObjectKey,
    by: &'a ObjectKey,
    because: &'static str,
}

#[derive(Serialize)]
struct StepTwin<'a> {
    object: &'a ObjectKey,
    because: &'static str,
}

#[derive(Serialize)]
struct RemedyTwin {
    cause: Option<&'static str>,
    remedy: Option<&'static str>,
    guard: Option<&'static str>,
    proof: Option<&'static str>,
    automatic: health::status::Automatic,
    command: String,
}

#[derive(Serialize)]
struct GapTwin<'a> {
    kind: &'a str,
    reason: String,
}

/// The name of a layer as programs read it.
fn layer_name(name: health::status::LayerName) -> String {
    words::layer(name).to_lowercase()
}

fn layer(it: &Layer) -> LayerTwin<'_> {
    let failing = it.failing.iter().map(|failing| FailingTwin {
        object: &failing.object,
        state: words::state(failing.state),
        problem: &failing.problem,
        message: words::problem(&failing.problem),
    });
    LayerTwin {
        name: layer_name(it.name),
        state: words::state(it.state),
        reason: super::layer_line(it),
        counts: &it.counts,
        failing: failing.collect(),
    }
}

fn root(it: &Root) -> RootTwin<'_> {
    let cure = it.cause.map(say::cure);
    let blocks = it.blocks.iter().map(|blocked| BlockedTwin {
        object: &blocked.object,
        by: &blocked.by,
        because: words::because(blocked.because),
    });
    let cycle = it.cycle.iter().map(|step| StepTwin { object: &step.object, because: words::because(step.because) });
    RootTwin {
        id: it.id,
        layer: layer_name(it.layer),
        object: &it.object,
        reason: words::problem(&it.problem),
        problem: &it.problem,
        evidence: &it.evidence,
        blocks: blocks.collect(),
        cycle: cycle.collect(),
        remedy: RemedyTwin {
            cause: cure.map(|it| it.cause),
            remedy: cure.map(|it| it.remedy),
            guard: cure.map(|it| it.guard).filter(|guard| !guard.is_empty()),
            proof: cure.map(|it| it.proof),
            automatic: it.remedy.automatic,
            command: command(it),
        },
    }
}

pub fn json(status: &Status) -> String {
    let twin = StatusTwin {
        version: VERSION,
        tool: TOOL,
        outcome: words::outcome(status.outcome),
        seen: status.seen.map(|at| at.to_string()),
        layers: status.layers.iter().map(layer).collect(),
        roots: status.roots.iter().map(root).collect(),
        not_seen: status.gaps.iter().map(|gap| GapTwin { kind: &gap.kind, reason: words::why(&gap.why) }).collect(),
    };
    let mut json = clean_json(serde_json::to_string_pretty(&twin).unwrap_or_default());
    json.push('\n');
    json
}
