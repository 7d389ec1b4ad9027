//! Commands of scripts, tasks and recipes as steps of the boot, one after the other, and the releases of the helmfiles that they call.

use model::{Boot, BootStep, Brings, Doing, Extent, Fact, ObjectRef, OrderedBy, Proven, StepId, StepOrder};
use source::Span;
use yaml::EcoString;

use super::STEPS_MAX;
use super::knowledge::Knowledge;
use super::shown::{deed, proven};
use crate::gates;
use crate::helmfile::{Helmfile, Release};
use crate::scripts::{Script, Scripts, calls_helmfile, texts};

/// Something that a script does at a place.
struct Moment {
    turn: usize,
    at: Span,
    what: What,
}

enum What {
    Does(Doing),
    Shows(Vec<Proven>),
    RunsHelmfiles,
}

/// Adds the steps of scripts.
pub(super) fn append(boot: &mut Boot, knowledge: Knowledge<'_>, scripts: &Scripts<'_>, helmfiles: &[Helmfile]) {
    let early = scripts.found().iter().filter(|script| script.is_early());
    let mut moments: Vec<(usize, Moment)> = Vec::new();
    for (index, script) in early.enumerate() {
        moments.extend(of_script(boot, scripts, script).into_iter().map(|moment| (index, moment)));
    }
    moments.sort_by_key(|(index, moment)| (moment.turn, *index, moment.at));
    let mut line = Line { boot, last: None };
    let mut has_releases = false;
    for (_, moment) in moments {
        let path = scripts.repository().path(moment.at.file).unwrap_or_default().to_owned();
        match moment.what {
            What::Does(does) => line.push(&path, verb(&does), moment.at, does, Vec::new()),
            What::Shows(proves) => line.push(&path, "wait", moment.at, Doing::Waits, proves),
            What::RunsHelmfiles if !has_releases => {
                has_releases = true;
                releases(&mut line, knowledge, helmfiles);
            }
            What::RunsHelmfiles => {}
        }
    }
}

/// What is known of the commands of one script.
fn of_script(boot: &Boot, scripts: &Scripts<'_>, script: &Script) -> Vec<Moment> {
    let mut moments = Vec::new();
    let turn = |at: usize| script.turn(at);
    for command in script.pipelines.iter().flatten() {
        let Some(first) = command.first() else { continue };
        let Some(turn) = turn(first.at) else { continue };
        let words = texts(command);
        let what = if calls_helmfile(&words) && words.iter().any(|word| matches!(word.as_str(), "apply" | "sync")) {
            What::RunsHelmfiles
        } else if let Some(does) = deed(&words) {
            What::Does(does)
        } else {
            continue;
        };
        moments.push(Moment { turn, at: script.span(first), what });
    }
    for judged in gates::judged(scripts, script) {
        for shown in proven(boot, &judged) {
            let start = usize::try_from(shown.at.start).unwrap_or_default();
            let Some(turn) = turn(start) else { continue };
            moments.push(Moment { turn, at: shown.at, what: What::Shows(vec![shown]) });
        }
    }
    moments
}

/// Steps, each after the one before it.
struct Line<'b> {
    boot: &'b mut Boot,
    last: Option<StepId>,
}

impl Line<'_> {
    fn push(&mut self, path: &str, name: &str, at: Span, does: Doing, proves: Vec<Proven>) {
        if self.boot.steps.len() >= STEPS_MAX {
            return;
        }
        let id = StepId(source::to_u32(self.boot.steps.len()));
        let after = self.last.map(|on| StepOrder { on, at, by: OrderedBy::Sequence });
        let object = ObjectRef::new("Script", path, name);
        self.boot.steps.push(BootStep {
            object,
            at,
            does,
            after: after.into_iter().collect(),
            proves,
            awaits: Vec::new(),
            reaches: None,
        });
        self.last = Some(id);
    }
}

/// The releases of all helmfiles, in the order in which they run.
fn releases(line: &mut Line<'_>, knowledge: Knowledge<'_>, helmfiles: &[Helmfile]) {
    for helmfile in helmfiles {
        for release in helmfile.releases.iter().filter(|release| !release.only_crds) {
            let (does, proves) = installed(knowledge, release);
            line.push(&helmfile.path, &release.name, release.span, does, proves);
        }
    }
}

fn installed(knowledge: Knowledge<'_>, release: &Release) -> (Doing, Vec<Proven>) {
    if Knowledge::starts_gitops(&release.chart_name) {
        return (Doing::StartsGitOps, Vec::new());
    }
    if !knowledge.gives_network(&release.chart_name) {
        return (Doing::Installs { release: release.name.clone(), brings: Brings::Other }, Vec::new());
    }
    let agent = knowledge.agent(&release.chart_name).filter(|_| release.wait == Some(true));
    let proves = agent.map(|_| Proven { fact: Fact::NetworkRuns, of: Extent::Some, at: release.span });
    let name = agent.map_or_else(|| release.name.clone(), |agent| EcoString::from(agent.daemon_set.as_str()));
    let brings = Brings::PodNetwork { unavailable_max: agent.map(|agent| agent.unavailable_max) };
    (Doing::Installs { release: name, brings }, proves.into_iter().collect())
}

/// The command that a step stands for.
fn verb(does: &Doing) -> &'static str {
    match does {
        Doing::MakesMachines => "create machines",
        Doing::ConfiguresMachines => "talosctl apply-config",
        Doing::BootstrapsEtcd => "talosctl bootstrap",
        Doing::FetchesCredentials => "talosctl kubeconfig",
        Doing::Installs { .. } => "install",
        Doing::StoresSealingKey => "store sealing key",
        Doing::StartsGitOps => "flux bootstrap",
        Doing::Waits => "wait",
        Doing::Other => "run",
    }
}
