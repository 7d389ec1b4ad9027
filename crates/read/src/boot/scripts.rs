//! Commands of scripts, tasks and recipes as steps of the boot, one after the other, with the releases of the helmfiles and the runs of
//! Terraform that they call. A script that Terraform starts is run inside of the step that starts it.

use std::collections::{BTreeMap, BTreeSet};

use model::{Boot, BootStep, Brings, Doing, Extent, Fact, ObjectRef, OrderedBy, Proven, StepId, StepOrder};
use source::Span;
use yaml::EcoString;

use super::knowledge::Knowledge;
use super::shown::{deed, proven};
use super::{STEPS_MAX, Sources};
use crate::gates;
use crate::helmfile::Release;
use crate::scripts::{Script, Scripts, calls_helmfile};
use crate::terraform::chain::ProvisionerKind;

/// Something that a script does at a place.
struct Moment {
    turn: usize,
    at: Span,
    what: What,
}

enum What {
    /// What is done, and the command that does it.
    Does(Doing, String),
    Shows(Vec<Proven>),
    /// A release that a command of the script installs.
    Installs(Doing, Vec<Proven>, String),
    RunsHelmfiles,
    /// Another script of the repository, which is run in this place.
    Calls(String),
}

/// Adds the steps of scripts.
pub(super) fn append(boot: &mut Boot, knowledge: Knowledge<'_>, sources: &Sources<'_>) {
    let early = sources.scripts.found().iter().filter(|script| script.is_early());
    let hosts = hosts(boot, sources);
    let mut texts = Texts::default();
    for (index, script) in early.enumerate() {
        let mut moments = of_script(boot, knowledge, sources, script);
        moments.sort_by_key(|moment| (moment.turn, moment.at));
        texts.order.push((index, script.path.clone()));
        texts.moments.insert(script.path.clone(), moments);
    }
    let called = texts.called();
    let mut groups: BTreeMap<Option<StepId>, Vec<(usize, Moment)>> = BTreeMap::new();
    for (index, path) in std::mem::take(&mut texts.order) {
        // What another calls is run where that does so.
        if !called.contains(&path) {
            let own = texts.moments.remove(&path).unwrap_or_default();
            let host = hosts.get(path.as_str()).copied();
            groups.entry(host).or_default().extend(own.into_iter().map(|moment| (index, moment)));
        }
    }
    let mut has_releases = false;
    for (host, mut moments) in groups {
        moments.sort_by_key(|(index, moment)| (moment.turn, *index, moment.at));
        let first = host.map(|host| boot.step(host).after.clone()).unwrap_or_default();
        let mut line = Line { boot, last: None, first, host };
        let mut open: Vec<Moment> = moments.into_iter().rev().map(|(_, moment)| moment).collect();
        while let Some(moment) = open.pop() {
            match moment.what {
                What::Calls(path) => {
                    if let Some(inner) = texts.moments.remove(&path) {
                        if inner.is_empty() {
                            line.push(&path, "run", moment.at, Doing::Other, Vec::new());
                        }
                        open.extend(inner.into_iter().rev());
                    }
                }
                _ => line.take(knowledge, sources, moment, &mut has_releases),
            }
        }
        if let (Some(host), Some(last)) = (host, line.last) {
            let at = boot.step(host).at;
            boot.steps[host.index()].after.push(StepOrder { on: last, at, by: OrderedBy::Sequence });
        }
    }
}

/// What scripts do, by their paths.
#[derive(Default)]
struct Texts {
    moments: BTreeMap<String, Vec<Moment>>,
    /// In the order in which they are found.
    order: Vec<(usize, String)>,
}

impl Texts {
    /// The scripts that others call.
    fn called(&self) -> BTreeSet<String> {
        let called = |(path, moments): (&String, &Vec<Moment>)| {
            let path = path.clone();
            let calls = moments.iter().filter_map(|moment| match &moment.what {
                What::Calls(to) if *to != path => Some(to.clone()),
                _ => None,
            });
            calls.collect::<Vec<_>>()
        };
        self.moments.iter().flat_map(called).filter(|path| self.moments.contains_key(path)).collect()
    }
}

/// The step of Terraform that starts a script of the repository, by the path of the script.
fn hosts<'r>(boot: &Boot, sources: &Sources<'r>) -> BTreeMap<&'r str, StepId> {
    let mut found = BTreeMap::new();
    for chain in sources.chains() {
        for block in chain.blocks.iter().filter(|block| block.may_exist()) {
            let own = block.provisioners.iter().filter(|one| !one.on_destroy && one.kind == ProvisionerKind::Local);
            let is_it = |id: &StepId| {
                let object = &boot.step(*id).object;
                object.namespace == chain.root && object.name == block.address
            };
            for path in own.flat_map(|one| &one.starts) {
                if let Some(step) = boot.ids().find(is_it) {
                    found.entry(path.as_str()).or_insert(step);
                }
            }
        }
    }
    found
}

/// What is known of the commands of one script.
fn of_script(boot: &Boot, knowledge: Knowledge<'_>, sources: &Sources<'_>, script: &Script) -> Vec<Moment> {
    let scripts = sources.scripts;
    let mut moments: Vec<Moment> = Vec::new();
    let turn = |at: Span| script.turn(usize::try_from(at.start).unwrap_or_default());
    let mut add = |at: Span, what: What| moments.extend(turn(at).map(|turn| Moment { turn, at, what }));
    for command in gates::commands(scripts, script) {
        let words = &command.words;
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
        if calls_helmfile(words) {
            if has(&["apply", "sync"]) {
                add(command.at, What::RunsHelmfiles);
            }
        } else if let Some(path) = called_by(scripts, script, command.at, words) {
            add(command.at, What::Calls(path));
        } else if let Some(release) = installed_by(sources, script, command.at, words) {
            let (does, proves) = installed(knowledge, release);
            add(command.at, What::Installs(does, proves, release.name.to_string()));
        } else if let Some(does) = deed(words) {
            let name = name(words);
            add(command.at, What::Does(does, name));
        }
    }
    for run in sources.layers.runs.iter().filter(|run| run.script == script.path && !run.is_missing) {
        match run.action.as_str() {
            "apply" => {
                let does = Doing::RunsLayer { directory: run.directory.as_str().into() };
                add(run.at, What::Does(does, "terraform apply".to_owned()));
            }
            "validate" | "plan" => add(run.at, What::Does(Doing::ChecksFirst, format!("terraform {}", run.action))),
            _ => {}
        }
    }
    for judged in gates::judged(scripts, script) {
        let text = |at: Span| scripts.repository().source(at.file)?.slice(at);
        for shown in proven(boot, &judged, &text) {
            add(shown.at, What::Shows(vec![shown]));
        }
    }
    moments
}

/// The script of the repository that a command starts.
fn called_by(scripts: &Scripts<'_>, script: &Script, at: Span, words: &[String]) -> Option<String> {
    let is_script = |word: &&String| matches!(word.rsplit_once('.'), Some((_, "sh" | "bash")));
    let first =
        words.first().filter(|program| !matches!(program.as_str(), "source" | "." | "echo" | "printf" | "log"))?;
    // The name of the program comes without its directory.
    let started = if matches!(first.as_str(), "bash" | "sh" | "exec") {
        words.iter().skip(1).find(|word| !word.starts_with('-'))?
    } else {
        first
    };
    let start = usize::try_from(at.start).ok()?;
    let found = scripts.resolve(script, Some(started).filter(is_script)?, start);
    let [path] = &found[..] else { return None };
    Some(path.clone()).filter(|path| *path != script.path)
}

/// The release that a command installs with helm itself: its name stands in the command.
fn installed_by<'r>(sources: &Sources<'r>, script: &Script, at: Span, words: &[String]) -> Option<&'r Release> {
    if words.first().map(String::as_str) != Some("helm") {
        return None;
    }
    let releases = sources.helmfiles.iter().filter(|helmfile| helmfile.path == script.path);
    let mut own = releases.flat_map(|helmfile| &helmfile.releases).filter(|release| !release.only_crds);
    let line = |at: Span| sources.repository.source(at.file).map(|source| source.position(at).line);
    own.find(|release| {
        release.span.file == at.file && line(release.span) >= line(at) && words.iter().any(|it| *it == *release.name)
    })
}

/// The program of a command and what it is to do.
fn name(words: &[String]) -> String {
    let is_plain = |word: &&String| word.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-');
    let bare = words.iter().skip(1).filter(|word| !word.starts_with('-')).take_while(is_plain).take(2);
    let program = words.first().map(String::as_str).into_iter();
    program.chain(bare.map(String::as_str)).collect::<Vec<_>>().join(" ")
}

/// Steps, each after the one before it.
struct Line<'b> {
    boot: &'b mut Boot,
    last: Option<StepId>,
    /// What the first of them comes after.
    first: Vec<StepOrder>,
    /// The step of Terraform that starts them.
    host: Option<StepId>,
}

impl Line<'_> {
    fn take(&mut self, knowledge: Knowledge<'_>, sources: &Sources<'_>, moment: Moment, has_releases: &mut bool) {
        let path = sources.repository.path(moment.at.file).unwrap_or_default().to_owned();
        match moment.what {
            What::Does(Doing::ChecksFirst, _) if !self.is_before_all() => {}
            What::Does(does, _) if self.repeats(&path, moment.at, &does) => {}
            What::Does(Doing::RunsLayer { directory }, name) => self.run(&path, &name, moment.at, &directory),
            What::Does(does, name) => self.push(&path, &name, moment.at, does, Vec::new()),
            What::Shows(proves) if self.is_known(&path, &proves) => {}
            What::Shows(proves) => self.push(&path, "wait", moment.at, Doing::Waits, proves),
            What::Installs(does, proves, name) => self.push(&path, &name, moment.at, does, proves),
            What::RunsHelmfiles if !*has_releases => {
                *has_releases = true;
                self.releases(knowledge, sources);
            }
            What::RunsHelmfiles | What::Calls(_) => {}
        }
    }

    /// Whether nothing has been done yet, but for looking.
    fn is_before_all(&self) -> bool {
        self.last.is_none_or(|last| self.boot.step(last).does == Doing::ChecksFirst)
    }

    /// Whether the step before it does the same by the same script: two commands for one thing.
    fn repeats(&self, path: &str, at: Span, does: &Doing) -> bool {
        let is_one = matches!(
            does,
            Doing::AppliesObjects(_) | Doing::PreparesMachines | Doing::ConfiguresMachines | Doing::ChecksFirst
        );
        let is_it = |last: StepId| {
            let last = self.boot.step(last);
            last.does == *does && last.object.namespace == path && (*does != Doing::ChecksFirst || last.at == at)
        };
        is_one && self.last.is_some_and(is_it)
    }

    /// That the API answers is told once: every later command that asks it shows that, too.
    fn is_known(&self, path: &str, proves: &[Proven]) -> bool {
        let asks = |does: &Doing| {
            matches!(does, Doing::Installs { .. } | Doing::StartsGitOps | Doing::AppliesObjects(_) | Doing::Waits)
        };
        let is_own = |step: &&BootStep| step.object.kind == "Script" && step.object.namespace == path;
        proves.iter().all(|proven| proven.fact == Fact::ApiAnswers)
            && self.boot.steps.iter().filter(is_own).any(|step| asks(&step.does))
    }

    /// The run of a directory ends after all of its steps, and these begin after what came before.
    fn run(&mut self, path: &str, name: &str, at: Span, directory: &EcoString) {
        let is_own = |boot: &Boot, id: StepId| {
            let object = &boot.step(id).object;
            object.kind == "Terraform" && object.namespace == *directory
        };
        let own: Vec<StepId> = self.boot.ids().filter(|id| is_own(self.boot, *id)).collect();
        let is_started_by = self.host.is_some_and(|host| is_own(self.boot, host));
        let before = self.last.map(|last| behind(self.boot, last)).unwrap_or_default();
        let is_new = !is_started_by && !own.iter().any(|id| before.contains(id));
        if is_new && let Some(last) = self.last {
            for id in &own {
                let step = &mut self.boot.steps[id.index()];
                if !step.after.iter().any(|order| own.contains(&order.on)) {
                    step.after.push(StepOrder { on: last, at, by: OrderedBy::Sequence });
                }
            }
        }
        self.push(path, name, at, Doing::RunsLayer { directory: directory.clone() }, Vec::new());
        if is_new && let Some(id) = self.last {
            let followed: Vec<StepId> =
                own.iter().flat_map(|id| &self.boot.step(*id).after).map(|order| order.on).collect();
            let ends = own.iter().filter(|id| !followed.contains(id));
            let after = ends.map(|on| StepOrder { on: *on, at, by: OrderedBy::Sequence });
            self.boot.steps[id.index()].after.extend(after);
        }
    }

    fn push(&mut self, path: &str, name: &str, at: Span, does: Doing, proves: Vec<Proven>) {
        if self.boot.steps.len() >= STEPS_MAX {
            return;
        }
        let id = StepId(source::to_u32(self.boot.steps.len()));
        let after = match self.last {
            Some(on) => vec![StepOrder { on, at, by: OrderedBy::Sequence }],
            None => self.first.clone(),
        };
        let object = ObjectRef::new("Script", path, name);
        self.boot.steps.push(BootStep { object, at, does, after, proves, awaits: Vec::new(), reaches: None });
        self.last = Some(id);
    }

    /// The releases of all helmfiles, in the order in which they run. Those that scripts install stand where these do so.
    fn releases(&mut self, knowledge: Knowledge<'_>, sources: &Sources<'_>) {
        for helmfile in sources.helmfiles {
            for release in helmfile.releases.iter().filter(|release| !release.only_crds && !release.by_script) {
                let (does, proves) = installed(knowledge, release);
                self.push(&helmfile.path, &release.name, release.span, does, proves);
            }
        }
    }
}

/// All steps that come before one.
fn behind(boot: &Boot, step: StepId) -> Vec<StepId> {
    let (mut seen, mut open) = (vec![step], vec![step]);
    while let Some(at) = open.pop() {
        for order in &boot.step(at).after {
            if !seen.contains(&order.on) {
                seen.push(order.on);
                open.push(order.on);
            }
        }
    }
    seen
}

fn installed(knowledge: Knowledge<'_>, release: &Release) -> (Doing, Vec<Proven>) {
    let is_waited_for = release.wait == Some(true);
    let runs = |fact: Fact, of: Extent| Proven { fact, of, at: release.span };
    if Knowledge::starts_gitops(&release.chart_name) {
        return (Doing::StartsGitOps, Vec::new());
    }
    if !knowledge.gives_network(&release.chart_name) {
        let proves = is_waited_for.then(|| runs(Fact::WorkloadsRun, Extent::Existing)).into_iter().collect();
        return (Doing::Installs { release: release.name.clone(), brings: Brings::Other }, proves);
    }
    let agent = knowledge.agent(&release.chart_name).filter(|_| is_waited_for);
    let proves = agent.map(|_| runs(Fact::NetworkRuns, Extent::Some));
    let name = agent.map_or_else(|| release.name.clone(), |agent| EcoString::from(agent.daemon_set.as_str()));
    let brings = Brings::PodNetwork { unavailable_max: agent.map(|agent| agent.unavailable_max) };
    (Doing::Installs { release: name, brings }, proves.into_iter().collect())
}
