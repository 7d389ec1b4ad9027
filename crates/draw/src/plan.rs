//! A plan for people, programs and pictures.

use std::fmt::Write as _;
use std::time::Duration;

use model::say_seconds;
use run::{Action, Layer, Plan, Proof, Step, StepId};
use serde::Serialize;

use crate::clean::clean;
use crate::json::{TOOL, VERSION};
use crate::paint::Paint;
use crate::words::{count, width};

/// Names longer than this do not push the other columns to the right.
const NAME_COLUMNS_MAX: usize = 56;
/// More needs than this are counted.
const NEEDS_NAMED_MAX: usize = 3;

/// Layer by layer: what is done, when it begins at the earliest, what it waits for.
pub fn text(plan: &Plan, cluster: &str, color: bool) -> String {
    let view = View { plan, paint: Paint { color }, expected: plan.expected(|_| false), direct: plan.direct_needs() };
    let mut out = view.header(cluster);
    for layer in Layer::ALL {
        out.push_str(&view.layer(layer));
    }
    out.push_str(&view.critical_path());
    for note in &plan.notes {
        let _ = writeln!(out, "note: {}", clean(note));
    }
    out
}

struct View<'a> {
    plan: &'a Plan,
    paint: Paint,
    expected: Vec<Duration>,
    /// What each step waits for, without what follows from that.
    direct: Vec<Vec<StepId>>,
}

impl View<'_> {
    fn header(&self, cluster: &str) -> String {
        let done = self.expected.iter().max().copied().unwrap_or_default();
        let watched = self.plan.steps.iter().filter(|step| step.action == Action::Watch).count();
        let parts = [
            count(self.plan.steps.len(), "step"),
            format!("{} done here, {watched} by Flux and others", self.plan.steps.len() - watched),
            format!("done after about {}", say_seconds(done.as_secs())),
        ];
        let dot = self.paint.dim(" · ");
        format!("{}  {}\n", self.paint.bold(&clean(cluster)), parts.join(&dot))
    }

    fn layer(&self, layer: Layer) -> String {
        let ids: Vec<StepId> = self.plan.ids().filter(|id| self.plan.step(*id).layer == layer).collect();
        if ids.is_empty() {
            return String::new();
        }
        let widest = ids.iter().map(|id| width(name(self.plan.step(*id)))).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
        let mut out = format!("\n{}{}\n", self.paint.bold(layer.name()), self.paint.dim(&format!(" · {}", ids.len())));
        for id in ids {
            out.push_str(&self.step(id, widest));
        }
        out
    }

    fn step(&self, id: StepId, widest: usize) -> String {
        let step = self.plan.step(id);
        let name = clean(name(step));
        let pad = " ".repeat(widest.saturating_sub(width(&name)));
        let starts = self.expected[id.index()].saturating_sub(step.expected);
        let line = format!(
            "  {}{pad}  {:<15}  {:<18}{}",
            self.paint.name(&name),
            verb(&step.action),
            format!("after {}", say_seconds(starts.as_secs())),
            self.needs(id)
        );
        let mut out = line.trim_end().to_owned() + "\n";
        if let Some(danger) = &step.danger {
            let _ = writeln!(out, "      {} {}", self.paint.poor("careful:"), danger);
        }
        out
    }

    /// The last first: that is what it really waits for.
    fn needs(&self, id: StepId) -> String {
        let mut needs = self.direct[id.index()].clone();
        needs.sort_by_key(|need| std::cmp::Reverse((self.expected[need.index()], *need)));
        let own = self.plan.step(id).layer;
        let called = |need: &StepId| {
            let step = self.plan.step(*need);
            clean(if step.layer == own { name(step) } else { &step.key }).into_owned()
        };
        let named: Vec<String> = needs.iter().take(NEEDS_NAMED_MAX).map(called).collect();
        let more = needs.len().saturating_sub(NEEDS_NAMED_MAX);
        match (named.is_empty(), more) {
            (true, _) => String::new(),
            (_, 0) => format!("{} {}", self.paint.dim("←"), named.join(", ")),
            _ => format!("{} {} and {more} more", self.paint.dim("←"), named.join(", ")),
        }
    }

    fn critical_path(&self) -> String {
        let path = self.plan.critical_path(&self.expected);
        let names: Vec<String> = path.iter().map(|id| clean(&self.plan.step(*id).key).into_owned()).collect();
        format!("\ncritical path {}: {}\n", names.len(), names.join(&self.paint.dim(" → ")))
    }
}

/// Its key without the layer.
fn name(step: &Step) -> &str {
    step.key.split_once('/').map_or(step.key.as_str(), |(_, name)| name)
}

fn verb(action: &Action) -> &'static str {
    match action {
        Action::Terraform { .. } => "terraform apply",
        Action::PowerOn { .. } => "power on",
        Action::MakeSecrets => "make, once",
        Action::Configure { .. } => "configure",
        Action::BootstrapEtcd { .. } => "bootstrap etcd",
        Action::Seed { .. } => "apply",
        Action::Install { .. } => "install",
        Action::StartFlux => "start",
        Action::Watch => "watch",
    }
}

/// The plan as one JSON object with a line end. The structs here are the promise.
pub fn json(plan: &Plan, cluster: &str) -> Result<String, serde_json::Error> {
    let steps = plan.steps.iter().map(|step| StepTwin::new(plan, step)).collect();
    let document = PlanTwin { version: VERSION, tool: TOOL, cluster, notes: &plan.notes, steps };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

#[derive(Serialize)]
struct PlanTwin<'a> {
    version: u32,
    tool: &'static str,
    cluster: &'a str,
    notes: &'a [String],
    steps: Vec<StepTwin<'a>>,
}

#[derive(Serialize)]
struct StepTwin<'a> {
    key: &'a str,
    layer: Layer,
    action: &'a Action,
    proof: &'a Proof,
    needs: Vec<NeedTwin<'a>>,
    timeout_seconds: u64,
    attempts: u32,
    pause_seconds: u64,
    once: bool,
    danger: Option<&'a str>,
    expected_seconds: u64,
    hash: &'a str,
}

#[derive(Serialize)]
struct NeedTwin<'a> {
    step: &'a str,
    why: &'a str,
}

impl<'a> StepTwin<'a> {
    fn new(plan: &'a Plan, step: &'a Step) -> Self {
        let need = |need: &'a run::Need| NeedTwin { step: &plan.step(need.step).key, why: &need.why };
        Self {
            key: &step.key,
            layer: step.layer,
            action: &step.action,
            proof: &step.proof,
            needs: step.needs.iter().map(need).collect(),
            timeout_seconds: step.limits.timeout.as_secs(),
            attempts: step.limits.attempts,
            pause_seconds: step.limits.pause.as_secs(),
            once: step.once,
            danger: step.danger.as_deref(),
            expected_seconds: step.expected.as_secs(),
            hash: &step.hash,
        }
    }
}

/// A flowchart with a box per layer.
pub fn mermaid(plan: &Plan) -> String {
    let mut out = "flowchart TD\n".to_owned();
    for layer in Layer::ALL {
        let ids: Vec<StepId> = plan.ids().filter(|id| plan.step(*id).layer == layer).collect();
        if ids.is_empty() {
            continue;
        }
        let _ = writeln!(out, "  subgraph {0}[\"{0}\"]", layer.name());
        for id in ids {
            let _ = writeln!(out, "    s{}[\"{}\"]", id.0, clean(name(plan.step(id))).replace('"', "#quot;"));
        }
        out.push_str("  end\n");
    }
    for id in plan.ids() {
        for need in &plan.step(id).needs {
            let _ = writeln!(out, "  s{} --> s{}", need.step.0, id.0);
        }
    }
    out
}
