//! The boot before GitOps for a terminal: its steps in their order, what each comes after, and what it has shown when it is done.
//!
//! Knows how steps are grouped, folded and numbered. Does not know what any of them lacks: that is for `check`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use ecow::EcoString;
use model::{Boot, BootStep, Capability, CapabilityKind, Cluster, Doing, Extent, Fact, Stage, StepId};

use crate::clean::clean;
use crate::paint::Paint;
use crate::say;
use crate::words::{and_more, count, width};

/// From so many on, steps that differ only in what they are called are one line.
const FOLDED_MIN: usize = 4;
/// Of one line.
const NAMES_MAX: usize = 3;
/// Steps that one comes after, by number.
const AFTER_MAX: usize = 4;
/// Texts longer than this do not push the other columns to the right.
const DOES_COLUMNS_MAX: usize = 44;
const NAME_COLUMNS_MAX: usize = 64;
/// Lines of one boot. What is behind them is counted.
const LINES_MAX: usize = 60;

/// A part of the boot, in the order in which people speak of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Preflight,
    Machines,
    Talos,
    Api,
    Network,
    Bootstrap,
    Flux,
}

impl Phase {
    /// A run that applies a directory is done where the last of its steps is.
    pub(crate) fn of(boot: &Boot, step: &BootStep) -> Self {
        let Doing::RunsLayer { directory } = &step.does else { return Self::alone(step) };
        let is_own = |own: &&BootStep| {
            own.object.kind == "Terraform"
                && own.object.namespace == *directory
                && !matches!(own.does, Doing::RunsLayer { .. })
        };
        boot.steps.iter().filter(is_own).map(Self::alone).max().unwrap_or(Self::Bootstrap)
    }

    fn alone(step: &BootStep) -> Self {
        match &step.does {
            Doing::ChecksFirst | Doing::AsksOutside => Self::Preflight,
            Doing::MakesMachines => Self::Machines,
            Doing::PreparesMachines | Doing::ConfiguresMachines | Doing::BootstrapsEtcd => Self::Talos,
            Doing::FetchesCredentials => Self::Api,
            Doing::Installs { .. } if step.does.brings_network() => Self::Network,
            Doing::Installs { .. }
            | Doing::StoresSealingKey
            | Doing::AppliesObjects(_)
            | Doing::RunsLayer { .. }
            | Doing::Other => Self::Bootstrap,
            Doing::StartsGitOps => Self::Flux,
            Doing::Waits => match step.proves.first().map(|proven| proven.fact) {
                Some(Fact::MachineStarted) => Self::Machines,
                Some(Fact::EtcdRuns | Fact::ApiAnswers) => Self::Api,
                Some(Fact::NodesJoined | Fact::NodesReady | Fact::KubeletsRun | Fact::NetworkRuns) => Self::Network,
                Some(Fact::GitOpsRuns) => Self::Flux,
                Some(Fact::StorageRuns | Fact::WorkloadsRun | Fact::ObjectExists) | None => Self::Bootstrap,
            },
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Machines => "machines",
            Self::Talos => "talos",
            Self::Api => "api",
            Self::Network => "network",
            Self::Bootstrap => "bootstrap",
            Self::Flux => "flux",
        }
    }
}

/// The boot of a cluster; nothing where no step of it is known.
pub(crate) fn text(cluster: &Cluster, paint: Paint) -> String {
    let boot = &cluster.facts.boot;
    if boot.steps.is_empty() {
        return String::new();
    }
    let view = View::new(boot, paint);
    let mut out = view.title();
    let mut last = None;
    for (at, line) in view.lines.iter().take(LINES_MAX).enumerate() {
        out.push_str(&view.line(at, line, last));
        last = Some(line.phase);
    }
    if view.lines.len() > LINES_MAX {
        let steps = view.lines.iter().skip(LINES_MAX).map(|line| line.steps.len()).sum();
        let _ = writeln!(out, "  {}", paint.dim(&format!("and {}: see --format json", count(steps, "more step"))));
    }
    out + &view.foundation(cluster)
}

/// Steps that are shown as one.
struct Line {
    phase: Phase,
    steps: Vec<StepId>,
}

struct View<'a> {
    boot: &'a Boot,
    paint: Paint,
    lines: Vec<Line>,
    /// The number of the line that a step is on.
    numbers: BTreeMap<StepId, usize>,
    does_columns: usize,
    name_columns: usize,
}

impl<'a> View<'a> {
    fn new(boot: &'a Boot, paint: Paint) -> Self {
        let lines = folded(boot, &order(boot));
        let numbers = lines.iter().zip(1..).flat_map(|(line, number)| line.steps.iter().map(move |id| (*id, number)));
        let mut view =
            Self { boot, paint, numbers: numbers.collect(), lines: Vec::new(), does_columns: 0, name_columns: 0 };
        let widest = |of: &dyn Fn(&Line) -> String| lines.iter().map(|line| width(&of(line))).max().unwrap_or(0);
        view.does_columns = widest(&|line| view.does(line)).min(DOES_COLUMNS_MAX);
        view.name_columns = widest(&|line| view.name(line)).min(NAME_COLUMNS_MAX);
        Self { lines, ..view }
    }

    fn title(&self) -> String {
        let nodes = &self.boot.nodes;
        let mut parts = vec![count(self.boot.steps.len(), "step")];
        if !nodes.is_empty() {
            let control_planes = nodes.iter().filter(|node| node.is_control_plane).count();
            parts.push(format!("{}, {}", count(nodes.len(), "machine"), count(control_planes, "control plane")));
        }
        parts.push("← comes after".to_owned());
        let title = format!(" · {}", parts.join(" · "));
        format!("\n{}{}\n", self.paint.bold("before GitOps"), self.paint.dim(&title))
    }

    fn line(&self, at: usize, line: &Line, last: Option<Phase>) -> String {
        let phase = if last == Some(line.phase) { "" } else { line.phase.name() };
        let mut out = format!(
            "  {}  {}  {}  {}",
            self.paint.dim(&format!("{phase:<9}")),
            self.paint.dim(&format!("{:>2}", at + 1)),
            pad(&clean(&self.does(line)), self.does_columns),
            self.paint.name(&pad(&clean(&self.name(line)), self.name_columns)),
        );
        if let Some(after) = self.after(at, line) {
            let _ = write!(out, "  {} {after}", self.paint.dim("←"));
        }
        let mut out = out.trim_end().to_owned() + "\n";
        for shown in self.shows(line) {
            let _ = writeln!(out, "{:17}{} {}", "", self.paint.dim("shows"), shown);
        }
        out
    }

    fn does(&self, line: &Line) -> String {
        let step = self.first(line);
        let what = |id: &StepId| match &self.boot.step(*id).does {
            Doing::Installs { release, .. } => release.to_string(),
            _ => self.boot.step(*id).object.name.to_string(),
        };
        match (&step.does, line.steps.len()) {
            (Doing::Installs { .. }, many @ FOLDED_MIN..) => {
                let names: Vec<String> = line.steps.iter().take(NAMES_MAX).map(what).collect();
                format!("installs {}{}", names.join(", "), and_more(NAMES_MAX, many))
            }
            (does, 1) => say::boot::briefly(does),
            (does, many) => format!("{} ({many} steps)", say::boot::briefly(does)),
        }
    }

    /// Where it is written: the script, the helmfile, or the resource with the directory of its run.
    fn name(&self, line: &Line) -> String {
        let object = &self.first(line).object;
        if line.steps.len() > 1 || object.kind == "Script" { object.namespace.to_string() } else { object.path() }
    }

    fn first(&self, line: &Line) -> &'a BootStep {
        self.boot.step(line.steps[0])
    }

    /// The lines that it comes after, without those that another of them comes after.
    fn after(&self, at: usize, line: &Line) -> Option<String> {
        let all = line.steps.iter().flat_map(|id| &self.boot.step(*id).after).map(|order| order.on);
        let before: BTreeSet<StepId> = all.filter(|id| !line.steps.contains(id)).collect();
        let far: BTreeSet<StepId> = before.iter().flat_map(|id| behind(self.boot, *id)).collect();
        let near = before.iter().filter(|id| !far.contains(id));
        let numbers: BTreeSet<usize> = near.map(|id| self.numbers[id]).filter(|number| *number != at + 1).collect();
        let shown: Vec<String> = numbers.iter().take(AFTER_MAX).map(usize::to_string).collect();
        (!shown.is_empty()).then(|| format!("{}{}", shown.join(", "), and_more(AFTER_MAX, numbers.len())))
    }

    fn shows(&self, line: &Line) -> Vec<String> {
        let proves = self.first(line).proves.iter();
        let told = proves.map(|proven| {
            let said = say::boot::shown(proven.fact, proven.of);
            if proven.of == Extent::Unchecked { self.paint.poor(&said) } else { said }
        });
        let mut seen = BTreeSet::new();
        told.filter(|said| seen.insert(said.clone())).collect()
    }

    /// What nothing runs without and no step of a file installs by name, with what brings it.
    fn foundation(&self, cluster: &Cluster) -> String {
        let number = |does: &Doing| {
            self.lines.iter().zip(1..).find(|(line, _)| self.first(line).does == *does).map(|(_, number)| number)
        };
        let mut rows = Vec::new();
        if let Some(number) = number(&Doing::ConfiguresMachines) {
            rows.push(("container runtime", format!("containerd of Talos, on each machine after {number}")));
        }
        if let Some(number) = number(&Doing::BootstrapsEtcd) {
            let programs = "kube-apiserver, kube-controller-manager, kube-scheduler";
            rows.push(("control plane", format!("{programs}, which Talos starts after {number}")));
        }
        rows.extend(first_of(cluster, CapabilityKind::ClusterDns).map(|name| ("service discovery", name)));
        let parts = graph::early_parts(cluster);
        let is_flux = |id: &model::ComponentId| parts[id.index()] == Some(graph::EarlyPart::Flux);
        let flux: Vec<String> =
            cluster.ids().filter(is_flux).map(|id| cluster.component(id).object.to_string()).collect();
        if !flux.is_empty() {
            rows.push(("Flux's controllers", controllers(&cluster.facts.flux_controllers, &flux)));
        }
        let row = |(what, by): (&str, String)| format!("  {} {}\n", self.paint.dim(&format!("{what:<19}")), clean(&by));
        if rows.is_empty() { String::new() } else { format!("\n{}", rows.into_iter().map(row).collect::<String>()) }
    }
}

/// Each by name where files tell, and what installs them.
fn controllers(names: &[EcoString], by: &[String]) -> String {
    let by = format!("{}{}", by[..by.len().min(NAMES_MAX)].join(", "), and_more(NAMES_MAX, by.len()));
    let [first, others @ ..] = names else { return by };
    let then = if others.is_empty() { String::new() } else { format!(", then {}", others.join(", ")) };
    format!("{first}{then}, by {by}")
}

/// The component that brings it first.
fn first_of(cluster: &Cluster, kind: CapabilityKind) -> Option<String> {
    let brings = |capability: &Capability| capability.kind == kind;
    let offers = cluster.offers.iter().filter(|offer| brings(&offer.capability));
    let first = offers.min_by_key(|offer| (cluster.component(offer.by).stage != Stage::Bootstrap, offer.by))?;
    Some(cluster.component(first.by).object.to_string())
}

/// Everything that a step comes after, however indirectly, without itself.
fn behind(boot: &Boot, step: StepId) -> BTreeSet<StepId> {
    let (mut found, mut open) = (BTreeSet::new(), vec![step]);
    while let Some(at) = open.pop() {
        open.extend(boot.step(at).after.iter().map(|order| order.on).filter(|on| *on != step && found.insert(*on)));
    }
    found
}

/// Each after all that it comes after; of those that could be next, by phase. What is in a cycle comes last.
fn order(boot: &Boot) -> Vec<StepId> {
    let before: Vec<BTreeSet<StepId>> =
        boot.steps.iter().map(|step| step.after.iter().map(|order| order.on).collect()).collect();
    let mut unmet: Vec<usize> = before.iter().map(BTreeSet::len).collect();
    let mut dependents: Vec<Vec<StepId>> = vec![Vec::new(); boot.steps.len()];
    for (id, before) in boot.ids().zip(&before) {
        for on in before {
            dependents[on.index()].push(id);
        }
    }
    let key = |id: StepId| (Phase::of(boot, boot.step(id)), id);
    let mut next: BTreeSet<(Phase, StepId)> = boot.ids().filter(|id| unmet[id.index()] == 0).map(key).collect();
    let mut found = Vec::with_capacity(boot.steps.len());
    while let Some((_, id)) = next.pop_first() {
        found.push(id);
        for dependent in &dependents[id.index()] {
            unmet[dependent.index()] -= 1;
            if unmet[dependent.index()] == 0 {
                next.insert(key(*dependent));
            }
        }
    }
    found.extend(boot.ids().filter(|id| unmet[id.index()] > 0));
    found
}

/// Neighbours of one phase that do the same in one place and show nothing are one line, where there are enough of them.
fn folded(boot: &Boot, order: &[StepId]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut run: Vec<StepId> = Vec::new();
    let mut close = |run: &mut Vec<StepId>| {
        let phase = |id: &StepId| Phase::of(boot, boot.step(*id));
        if run.len() >= FOLDED_MIN {
            lines.extend(run.first().map(phase).map(|phase| Line { phase, steps: run.clone() }));
        } else {
            lines.extend(run.iter().map(|id| Line { phase: phase(id), steps: vec![*id] }));
        }
        run.clear();
    };
    for id in order {
        if run.last().is_some_and(|last| !are_alike(boot.step(*last), boot.step(*id))) {
            close(&mut run);
        }
        run.push(*id);
    }
    close(&mut run);
    lines
}

fn are_alike(one: &BootStep, other: &BootStep) -> bool {
    let shows = |step: &BootStep| step.proves.iter().map(|proven| (proven.fact, proven.of)).collect::<Vec<_>>();
    let is_plain = |step: &BootStep| !step.does.brings_network() && step.does != Doing::StartsGitOps;
    std::mem::discriminant(&one.does) == std::mem::discriminant(&other.does)
        && is_plain(one)
        && is_plain(other)
        && one.is_of_run(other)
        && shows(one) == shows(other)
}

/// Fills up with spaces to a width in characters.
fn pad(text: &str, columns: usize) -> String {
    let fill = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(fill))
}
