//! A plan for people, programs and pictures.

use std::fmt::Write as _;
use std::time::Duration;

use model::say_seconds;
use run::{Action, Layer, Plan, Proof, Step, StepId, StepNeed};
use serde::Serialize;

use crate::clean::{clean, clean_json};
use crate::json::{ObjectTwin, TOOL, VERSION};
use crate::paint::Paint;
use crate::say;
use crate::words::{count, width};

/// Names longer than this do not push the other columns to the right.
const NAME_COLUMNS_MAX: usize = 56;
const DONE_COLUMNS: usize = "59 min 59 s".len();
/// More needs than this are counted.
const NEEDS_NAMED_MAX: usize = 3;

/// Layer by layer: what is done, when it begins at the earliest, what it waits for.
pub fn text(plan: &Plan, cluster: &str, color: bool) -> String {
    let view = View { plan, paint: Paint { color }, expected: plan.expected(|_| false), direct: plan.direct_needs() };
    let mut out = headline(plan, cluster, color);
    for layer in Layer::ALL {
        out.push_str(&view.layer(layer));
    }
    out.push_str(&view.critical_path());
    for note in &plan.notes {
        let _ = writeln!(out, "note: {}", clean(&say::note(note)));
    }
    out
}

/// How many steps there are, and how long they take.
pub fn headline(plan: &Plan, cluster: &str, color: bool) -> String {
    let paint = Paint { color };
    let done = plan.expected(|_| false).into_iter().max().unwrap_or_default();
    let watched = plan.steps.iter().filter(|step| step.action == Action::Watch).count();
    let parts = [
        count(plan.steps.len(), "step"),
        format!("{} done here, {watched} by Flux and others", plan.steps.len() - watched),
        format!("estimated {}", say_seconds(done.as_secs())),
    ];
    format!("{}  {}\n", paint.bold(&clean(cluster)), parts.join(&paint.dim(" · ")))
}

struct View<'a> {
    plan: &'a Plan,
    paint: Paint,
    expected: Vec<Duration>,
    /// What each step waits for, without what follows from that.
    direct: Vec<Vec<StepId>>,
}

impl View<'_> {
    fn layer(&self, layer: Layer) -> String {
        let ids: Vec<StepId> = self.plan.ids().filter(|id| self.plan.step(*id).layer == layer).collect();
        if ids.is_empty() {
            return String::new();
        }
        let widest = ids.iter().map(|id| width(name(self.plan.step(*id)))).max().unwrap_or(0).min(NAME_COLUMNS_MAX);
        let by_flux = if layer == Layer::GitOps { " · Flux does these; watch them with: flux get all -A" } else { "" };
        let title = self.paint.dim(&format!(" · {}{by_flux}", ids.len()));
        let mut out = format!("\n{}{title}\n", self.paint.bold(layer.name()));
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
            "  {}{pad}  {:<15}  {:<18} {:<12}{}",
            self.paint.name(&name),
            verb(step),
            format!("after {}", say_seconds(starts.as_secs())),
            say_seconds(step.expected.as_secs()),
            self.needs(id)
        );
        let mut out = line.trim_end().to_owned() + "\n";
        if let Some(danger) = step.danger {
            let _ = writeln!(out, "      {} {}", self.paint.poor("careful:"), say::danger(danger));
        }
        if step.layer != Layer::GitOps {
            out.push_str(&self.by_hand(step));
        }
        out
    }

    /// What it stands for, what is in it, and what proves it.
    fn by_hand(&self, step: &Step) -> String {
        let mut out = String::new();
        if let Some(holds) = say::held(&step.by_hand.holds) {
            let _ = writeln!(out, "      {} {}", self.paint.dim("holds:"), clean(&holds));
        }
        for command in say::commands(step) {
            let _ = writeln!(out, "      {} {}", self.paint.dim("$"), clean(&command));
        }
        let _ = writeln!(out, "      {} {}", self.paint.dim("done when"), clean(&say::proof(&step.proof)));
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
        let took = path.last().map(|last| self.expected[last.index()]).unwrap_or_default();
        let title = format!(" · {}, estimated {}", count(path.len(), "step"), say_seconds(took.as_secs()));
        let mut out = format!("\n{}{}\n", self.paint.bold("critical path"), self.paint.dim(&title));
        for (at, id) in path.iter().enumerate() {
            let done = say_seconds(self.expected[id.index()].as_secs());
            let arrow = if at == 0 { " " } else { "→" };
            let key = self.paint.name(&clean(&self.plan.step(*id).key));
            let _ = writeln!(out, "  {} {key}", self.paint.dim(&format!("{done:>DONE_COLUMNS$} {arrow}")));
        }
        out
    }
}

/// Its key without the layer.
fn name(step: &Step) -> &str {
    step.key.split_once('/').map_or(step.key.as_str(), |(_, name)| name)
}

fn verb(step: &Step) -> &'static str {
    match step.action {
        Action::Terraform { .. } if step.by_hand.uses_tofu => "tofu apply",
        Action::Terraform { .. } => "terraform apply",
        Action::PowerOn { .. } => "power on",
        Action::MakeSecrets => "make, once",
        Action::RestoreSecrets { .. } => "restore",
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
    let done = plan.expected(|_| false);
    let steps = plan.steps.iter().zip(&done).map(|(step, done)| StepTwin::new(plan, step, *done)).collect();
    let estimated_seconds = done.iter().max().copied().unwrap_or_default().as_secs();
    let critical = plan.critical_path(&done);
    let document = PlanTwin {
        version: VERSION,
        tool: TOOL,
        cluster,
        estimated_seconds,
        critical_path: critical.iter().map(|id| plan.step(*id).key.as_str()).collect(),
        notes: plan.notes.iter().map(say::note).collect(),
        steps,
    };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

#[derive(Serialize)]
struct PlanTwin<'a> {
    version: u32,
    tool: &'static str,
    cluster: &'a str,
    estimated_seconds: u64,
    critical_path: Vec<&'a str>,
    notes: Vec<String>,
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
    danger: Option<&'static str>,
    expected_seconds: u64,
    done_seconds: u64,
    address: Option<&'a str>,
    commands: Vec<String>,
    done_when: String,
    holds: Vec<ObjectTwin<'a>>,
    hash: &'a str,
}

#[derive(Serialize)]
struct NeedTwin<'a> {
    step: &'a str,
    why: String,
}

impl<'a> StepTwin<'a> {
    fn new(plan: &'a Plan, step: &'a Step, done: Duration) -> Self {
        let need = |need: &'a StepNeed| NeedTwin { step: &plan.step(need.step).key, why: say::need(&need.why) };
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
            danger: step.danger.map(say::danger),
            expected_seconds: step.expected.as_secs(),
            done_seconds: done.as_secs(),
            address: step.by_hand.address.as_deref(),
            commands: say::commands(step),
            done_when: say::proof(&step.proof),
            holds: step.by_hand.holds.iter().map(ObjectTwin::new).collect(),
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
    // What follows from other edges is left out: Mermaid draws no more than 500.
    for (id, needs) in plan.ids().zip(plan.direct_needs()) {
        for need in needs {
            let _ = writeln!(out, "  s{} --> s{}", need.0, id.0);
        }
    }
    out
}
