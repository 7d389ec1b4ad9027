//! The order of one cluster for a terminal: the boot before GitOps where files tell it, then tier by tier, with what everything waits
//! for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use graph::Analysis;
use model::{Cluster, Component, ComponentId, Gate, Role, TieTarget, WaitsFor, say_seconds};

use crate::clean::clean;
use crate::graph_boot;
use crate::paint::Paint;
use crate::words::{count, width};

/// Names longer than this do not push the other columns to the right.
const NAME_COLUMNS_MAX: usize = 48;

/// The boot before GitOps, the tiers, the critical path and the deadlocks.
pub fn tiers(cluster: &Cluster, analysis: &Analysis, color: bool) -> String {
    let view = View { cluster, analysis, paint: Paint { color }, columns: Columns::of(cluster), ties: ties(cluster) };
    let boot = graph_boot::text(cluster, view.paint);
    let mut out = view.header() + &boot;
    // Where there is nothing but steps, there are no tiers.
    if boot.is_empty() || !cluster.components.is_empty() {
        out.push_str(if boot.is_empty() { "" } else { "\n" });
        out.push_str(&view.legend());
    }
    for (tier, components) in analysis.schedule.tiers.iter().enumerate() {
        out.push_str(&view.tier(tier, components));
    }
    out.push_str(&view.critical_path());
    out.push_str(&view.deadlocks());
    out
}

/// How large the cluster is, how long it takes, and what never comes up.
pub fn headline(cluster: &Cluster, analysis: &Analysis, color: bool) -> String {
    let view = View { cluster, analysis, paint: Paint { color }, columns: Columns::of(cluster), ties: BTreeMap::new() };
    view.header() + &view.deadlocks()
}

struct View<'a> {
    cluster: &'a Cluster,
    analysis: &'a Analysis,
    paint: Paint,
    columns: Columns,
    /// Indices of ties by where they begin.
    ties: BTreeMap<ComponentId, Vec<usize>>,
}

/// How wide the columns are.
struct Columns {
    kind: usize,
    name: usize,
}

impl Columns {
    fn of(cluster: &Cluster) -> Self {
        let widest = |of: fn(&Component) -> usize| cluster.components.iter().map(of).max().unwrap_or(0);
        Self {
            kind: widest(|component| width(&component.object.kind)),
            name: (widest(|component| width(&component.object.path())) + NESTED_COLUMNS).min(NAME_COLUMNS_MAX),
        }
    }
}

fn ties(cluster: &Cluster) -> BTreeMap<ComponentId, Vec<usize>> {
    let mut ties: BTreeMap<ComponentId, Vec<usize>> = BTreeMap::new();
    for (index, tie) in cluster.ties.iter().enumerate() {
        ties.entry(tie.from).or_default().push(index);
    }
    ties
}

impl View<'_> {
    fn header(&self) -> String {
        let of = |role: Role| self.cluster.components.iter().filter(|component| component.role == role).count();
        let parts = [
            count(of(Role::Kustomization), "kustomization"),
            count(of(Role::HelmRelease), "helmrelease"),
            count(self.analysis.schedule.tiers.len(), "tier"),
            format!("estimated to be done {} after the Kubernetes API answers", say_seconds(self.done_seconds())),
        ];
        let dot = self.paint.dim(" · ");
        format!("{}  {}\n", self.paint.bold(&clean(&self.cluster.name)), parts.join(&dot))
    }

    fn done_seconds(&self) -> u64 {
        self.analysis.schedule.all_done(self.cluster)
    }

    /// What the columns are.
    fn legend(&self) -> String {
        let (kind, name) = (pad("", self.columns.kind), pad("", self.columns.name));
        let gate = pad("done means", GATE_COLUMNS);
        self.paint.dim(&format!("  {kind}  {name}  {gate}  {:>DONE_COLUMNS$}  ← waits for", "done after")) + "\n"
    }

    fn tier(&self, tier: usize, components: &[ComponentId]) -> String {
        let title = if tier == 0 { "waits for nothing" } else { "waits for the tiers above" };
        let title = format!(" · {}, {title}", count(components.len(), "component"));
        let mut out = format!("\n{}{}\n", self.paint.bold(&format!("tier {tier}")), self.paint.dim(&title));
        for (id, nested) in self.nested(components) {
            out.push_str(&self.component(id, nested));
        }
        out
    }

    /// The components of a tier by when they start, releases directly below what applies them.
    fn nested(&self, components: &[ComponentId]) -> Vec<(ComponentId, bool)> {
        let is_inside = |id: &ComponentId| {
            let component = self.cluster.component(*id);
            component.role == Role::HelmRelease && component.parent.is_some_and(|parent| components.contains(&parent))
        };
        let mut sorted = components.to_vec();
        sorted.sort_by_key(|id| {
            let start = self.analysis.schedule.start(*id);
            (start.is_none(), start, &self.cluster.component(*id).object)
        });
        let (inside, outside): (Vec<ComponentId>, Vec<ComponentId>) = sorted.into_iter().partition(is_inside);
        let mut children: BTreeMap<Option<ComponentId>, Vec<ComponentId>> = BTreeMap::new();
        for id in inside {
            children.entry(self.cluster.component(id).parent).or_default().push(id);
        }
        let with_children = |id: ComponentId| {
            let below = children.get(&Some(id)).into_iter().flatten().map(|child| (*child, true));
            std::iter::once((id, false)).chain(below).collect::<Vec<_>>()
        };
        outside.into_iter().flat_map(with_children).collect()
    }

    fn component(&self, id: ComponentId, nested: bool) -> String {
        let component = self.cluster.component(id);
        let kind = clean(&component.object.kind).into_owned();
        let name = if nested { format!("└ {}", component.object.path()) } else { component.object.path() };
        let done = self.done(id);
        let mut line = format!(
            "  {}  {}  {}  {}",
            self.paint.dim(&pad(&kind, self.columns.kind)),
            self.paint.name(&pad(&clean(&name), self.columns.name)),
            self.gate(component),
            self.paint.dim(&format!("{done:>DONE_COLUMNS$}")),
        );
        let waits = self.waits(id);
        if !waits.is_empty() {
            let _ = write!(line, "  {} {}", self.paint.dim("←"), waits.join(", "));
        }
        line.push('\n');
        line
    }

    /// What is behind a deadlock has no time.
    fn done(&self, id: ComponentId) -> String {
        self.analysis.schedule.done(id).map_or_else(|| "never".to_owned(), say_seconds)
    }

    fn gate(&self, component: &Component) -> String {
        let word = pad(gate_word(component), GATE_COLUMNS);
        match component.gate {
            _ if component.suspended.is_some() => self.paint.bad(&word),
            Gate::Healthy => self.paint.good(&word),
            Gate::Listed(_) | Gate::Applied => word,
            Gate::LooksHealthy(_) => self.paint.poor(&word),
        }
    }

    /// What a component is tied to, with what the tie waits for where that is less than done.
    fn waits(&self, id: ComponentId) -> Vec<String> {
        let ties = self.ties.get(&id).map_or(&[][..], Vec::as_slice);
        ties.iter()
            .map(|index| {
                let tie = &self.cluster.ties[*index];
                let name = match &tie.to {
                    TieTarget::Component(to) => clean(&self.short_name(id, *to)).into_owned(),
                    TieTarget::Unknown(object) => self.paint.bad(&format!("{} (not found)", clean(&object.path()))),
                };
                match tie.waits_for {
                    WaitsFor::Done => name,
                    other => format!("{name} ({})", waits_word(other)),
                }
            })
            .collect()
    }

    /// The name alone where the namespace is the same.
    fn short_name(&self, from: ComponentId, to: ComponentId) -> String {
        let (from, to) = (&self.cluster.component(from).object, &self.cluster.component(to).object);
        if from.namespace == to.namespace { to.name.to_string() } else { to.path() }
    }

    fn critical_path(&self) -> String {
        let path = self.steps();
        let whole = &self.analysis.schedule.critical_path;
        let Some(took) = whole.last().and_then(|last| self.analysis.schedule.done(*last)) else {
            return String::new();
        };
        let title = format!(" · {}, about {}", count(path.len(), "step"), say_seconds(took));
        let mut out = format!("\n{}{}\n", self.paint.bold("critical path"), self.paint.dim(&title));
        for (step, id) in path.iter().enumerate() {
            let object = &self.cluster.component(*id).object;
            let done = self.done(*id);
            let arrow = if step == 0 { " " } else { "→" };
            let (done, kind) = (format!("{done:>DONE_COLUMNS$} {arrow}"), clean(&object.kind));
            let name = self.paint.name(&clean(&object.path()));
            let _ = writeln!(out, "  {} {name} {}", self.paint.dim(&done), self.paint.dim(&kind));
        }
        out
    }

    /// The critical path without those that are only done because the release they apply is.
    fn steps(&self) -> Vec<ComponentId> {
        let path = &self.analysis.schedule.critical_path;
        let is_echo = |index: usize, id: ComponentId| {
            let before = index.checked_sub(1).and_then(|before| path.get(before));
            before.is_some_and(|before| self.cluster.component(*before).parent == Some(id))
        };
        path.iter().enumerate().filter(|(index, id)| !is_echo(*index, **id)).map(|(_, id)| *id).collect()
    }

    fn deadlocks(&self) -> String {
        let mut out = String::new();
        for deadlock in self.analysis.cycles() {
            let components = deadlock.components(&self.analysis.events);
            let mut names: Vec<String> = components
                .iter()
                .map(|id| clean(&self.cluster.component(*id).object.to_string()).into_owned())
                .collect();
            names.extend(names.first().cloned());
            let _ = writeln!(out, "\n{} {}", self.paint.bad("deadlock"), names.join(" → "));
        }
        out
    }
}

const GATE_COLUMNS: usize = "looks-healthy".len();
const DONE_COLUMNS: usize = "59 min 59 s".len();
/// The sign before what is applied by the line above.
const NESTED_COLUMNS: usize = 2;

/// What being done proves, in a word.
pub(crate) fn gate_word(component: &Component) -> &'static str {
    match component.gate {
        _ if component.suspended.is_some() => "suspended",
        Gate::Healthy => "healthy",
        Gate::Listed(_) => "listed",
        Gate::Applied => "applied",
        Gate::LooksHealthy(_) => "looks-healthy",
    }
}

pub(crate) fn waits_word(waits: WaitsFor) -> &'static str {
    match waits {
        WaitsFor::Done => "done",
        WaitsFor::Exists => "exists",
        WaitsFor::Opaque => "expression",
    }
}

/// Fills up with spaces to a width in characters.
fn pad(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(fill))
}
