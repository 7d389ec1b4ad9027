//! What a script of the boot does, and what it has shown when it ends.
//!
//! A command that waits shows nothing where its failure stops nothing.

use model::{Awaited, Boot, Brings, Doing, Extent, Fact, GateDefect, Proven, Seeded, Toothless, Wait, Waiter, Which};
use source::Span;
use yaml::EcoString;

use super::Sources;
use super::knowledge::Knowledge;
use crate::gates::{self, Judged};
use crate::repository::Repository;
use crate::scripts::{UNKNOWN, calls_helmfile};
use crate::terraform::chain::{Block, Provisioner, ProvisionerKind};

/// What commands in texts may lead to.
pub(super) struct Texts<'r> {
    repository: &'r Repository,
    /// A release of the helmfiles starts GitOps.
    helmfiles_start: bool,
}

impl<'r> Texts<'r> {
    pub(super) fn new(sources: &Sources<'r>) -> Self {
        let mut releases = sources.helmfiles.iter().flat_map(|helmfile| &helmfile.releases);
        let helmfiles_start =
            releases.any(|release| !release.only_crds && Knowledge::starts_gitops(&release.chart_name));
        Self { repository: sources.repository, helmfiles_start }
    }

    /// What the commands of a text are there for, the most telling first.
    fn deed(&self, text: &str) -> Option<Doing> {
        let of = |words: &[String]| {
            let syncs = calls_helmfile(words) && words.iter().any(|word| matches!(word.as_str(), "apply" | "sync"));
            if syncs { self.helmfiles_start.then_some(Doing::StartsGitOps) } else { deed(words) }
        };
        gates::commands_of_text(text).iter().filter_map(|words| of(words)).min_by_key(rank)
    }

    /// What a script of the repository does that another starts.
    fn started(&self, path: &str) -> Option<Doing> {
        self.deed(self.repository.source(self.repository.id(path)?)?.text())
    }
}

/// How much a deed tells of the step that does it, among others.
fn rank(does: &Doing) -> u8 {
    match does {
        Doing::StartsGitOps => 0,
        Doing::BootstrapsEtcd => 1,
        Doing::Installs { .. } => 2,
        Doing::StoresSealingKey => 3,
        _ => 4,
    }
}

/// What a block does through its provisioners. Nothing where none of them is part of the boot.
pub(super) fn by_provisioners(boot: &Boot, block: &Block, texts: &Texts<'_>) -> Option<(Doing, Vec<Proven>)> {
    let of_boot = || block.provisioners.iter().filter(|one| !one.on_destroy && one.kind == ProvisionerKind::Local);
    let of = |one: &Provisioner| {
        proven(boot, &gates::of_provisioner(texts.repository, one), &|_| Some(one.script.text.as_str()))
    };
    let proves: Vec<Proven> = of_boot().flat_map(of).collect();
    let scripts = || of_boot().flat_map(|one| &one.starts).filter_map(|path| texts.started(path));
    let own = of_boot().filter_map(|one| texts.deed(&one.script.text));
    let waits = !proves.is_empty();
    // Beside a wait, what else it looks at or applies tells less.
    let is_telling = |does: &Doing| match does {
        Doing::ChecksFirst | Doing::PreparesMachines => false,
        Doing::AppliesObjects(_) => !waits,
        _ => true,
    };
    let does = own.chain(scripts()).filter(is_telling).min_by_key(rank);
    Some((does.or_else(|| waits.then_some(Doing::Waits))?, proves))
}

/// What one command is there for.
pub(super) fn deed(words: &[String]) -> Option<Doing> {
    let mut words = words.iter().map(String::as_str).skip_while(|word| word.contains('=') || *word == "sudo");
    let program = words.next()?;
    let rest: Vec<&str> = words.collect();
    let verb = rest.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    match (program, verb) {
        ("flux", "bootstrap" | "install") if !rest.contains(&"--export") => Some(Doing::StartsGitOps),
        ("cilium", "install") => {
            let brings = Brings::PodNetwork { unavailable_max: None };
            Some(Doing::Installs { release: "cilium".into(), brings })
        }
        ("talosctl", _) | ("talhelper", "gencommand") if rest.contains(&"bootstrap") => Some(Doing::BootstrapsEtcd),
        ("talosctl", _) if rest.contains(&"apply-config") => Some(Doing::ConfiguresMachines),
        ("talosctl", _) | ("talhelper", "gencommand") if rest.contains(&"kubeconfig") => {
            Some(Doing::FetchesCredentials)
        }
        ("talhelper", "gencommand") if rest.contains(&"apply") => Some(Doing::ConfiguresMachines),
        ("talhelper", "genconfig") => Some(Doing::PreparesMachines),
        ("talosctl", "gen") if rest.contains(&"config") => Some(Doing::PreparesMachines),
        ("kubectl", _) => applied(&rest),
        ("sops", "exec-file") if rest.iter().any(|word| word.contains("kubectl") && word.contains(" apply")) => {
            Some(Doing::AppliesObjects(Seeded::Secrets))
        }
        ("git", "diff-index") | ("pre-commit", "run") => Some(Doing::ChecksFirst),
        ("git", "status") if rest.contains(&"--porcelain") => Some(Doing::ChecksFirst),
        ("git", "diff") if rest.contains(&"--quiet") || rest.contains(&"--exit-code") => Some(Doing::ChecksFirst),
        _ => None,
    }
}

/// What kubectl puts into the cluster.
fn applied(rest: &[&str]) -> Option<Doing> {
    let has = |word: &str| rest.contains(&word);
    if rest.iter().any(|word| word.starts_with("--dry-run")) && !has("namespace") {
        return None;
    }
    let file = || rest.iter().skip_while(|word| !matches!(**word, "-f" | "--filename" | "-k" | "--kustomize")).nth(1);
    let said = |word: &str| file().is_some_and(|file| file.to_ascii_lowercase().contains(word));
    let verb = rest.iter().find(|word| matches!(**word, "apply" | "create" | "replace"))?;
    let creates = *verb == "create";
    let seeded = if creates && (has("namespace") || has("ns")) {
        Seeded::Namespaces
    } else if creates && has("secret") {
        Seeded::Secrets
    } else if creates && has("configmap") {
        Seeded::Objects
    } else if has("-") {
        // What comes from another command is told by that one.
        return None;
    } else if said("namespace") {
        Seeded::Namespaces
    } else if said("secret") {
        Seeded::Secrets
    } else if said("crd") {
        Seeded::Crds
    } else {
        Seeded::Objects
    };
    Some(Doing::AppliesObjects(seeded))
}

/// What a text has shown when it has ended well.
pub(super) fn proven<'t>(boot: &Boot, judged: &Judged, text: &dyn Fn(Span) -> Option<&'t str>) -> Vec<Proven> {
    let hollow: Vec<&Wait> = judged.faults.iter().filter_map(|fault| hollow(&fault.defect)).collect();
    let mut found = Vec::new();
    let mut in_hollow_loop = false;
    for gate in &judged.gates {
        if !gate.is_retried {
            in_hollow_loop = matches!(gate.wait.by, Waiter::Loop(_)) && hollow.contains(&&gate.wait);
        }
        let is_hollow = hollow.contains(&&gate.wait);
        if gate.is_asked && !is_hollow {
            continue;
        }
        // Whether a condition holds is not known: what is run only then shows no more than that something has answered.
        let may_run = gate.is_certain || !gate.is_asked;
        // What counts nodes that are NotReady, too, still counts all that have joined.
        let counts = may_run && (!is_hollow || matches_not_ready(judged, &gate.wait));
        if counts
            && matches!(gate.wait.by, Waiter::Loop(_))
            && text(gate.at).is_some_and(|text| counts_nodes(boot, text))
        {
            found.push(Proven { fact: Fact::NodesJoined, of: Extent::Expected, at: gate.at });
            continue;
        }
        let is_tight = !in_hollow_loop && !is_hollow;
        let stops = |fact: Fact| is_tight && (gate.is_certain || may_run && fact == Fact::ApiAnswers);
        let all = facts(boot, &gate.wait, gate.at).into_iter();
        found.extend(all.map(|proven| if stops(proven.fact) { proven } else { idle(&proven) }));
    }
    found
}

fn matches_not_ready(judged: &Judged, wait: &Wait) -> bool {
    let is_it = |defect: &GateDefect| match defect {
        GateDefect::Toothless { wait: own, why: Toothless::MatchesNotReady } => own == wait,
        _ => false,
    };
    judged.faults.iter().any(|fault| is_it(&fault.defect))
}

/// Whether a loop compares the number of nodes with the number that the cluster is to have.
fn counts_nodes(boot: &Boot, text: &str) -> bool {
    let expected = boot.nodes.len();
    let counts = |line: &str| {
        let number = line.split("-eq ").nth(1).map(|rest| rest.trim_start().trim_start_matches(['"', '\\']));
        let number = number.map(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default());
        line.contains("kubectl get node") && number.and_then(|number| number.parse().ok()) == Some(expected)
    };
    expected > 0 && text.lines().any(counts)
}

/// The same where the wait may fail without stopping anything, or may not be run.
fn idle(proven: &Proven) -> Proven {
    Proven { of: Extent::Unchecked, ..proven.clone() }
}

/// What waits and shows nothing.
fn hollow(defect: &GateDefect) -> Option<&Wait> {
    match defect {
        GateDefect::Toothless { wait, .. } => Some(wait),
        _ => None,
    }
}

fn facts(boot: &Boot, wait: &Wait, at: Span) -> Vec<Proven> {
    let all = |facts: &[(Fact, Extent)]| facts.iter().map(|(fact, of)| Proven { fact: *fact, of: *of, at }).collect();
    match (&wait.by, &wait.on) {
        (Waiter::TalosctlHealth, _) => {
            let mut found = vec![(Fact::EtcdRuns, Extent::Existing), (Fact::KubeletsRun, Extent::ControlPlanes)];
            found.push((Fact::NodesJoined, Extent::Existing));
            all(&found)
        }
        (Waiter::CiliumStatus, _) => all(&[(Fact::NetworkRuns, Extent::Existing)]),
        (Waiter::Flux, _) => all(&[(Fact::GitOpsRuns, Extent::Existing)]),
        (Waiter::KubectlWait | Waiter::RolloutStatus, Some(awaited)) => all(&of_objects(boot, awaited)),
        // It ends only once a question to the API server was answered.
        (Waiter::Loop(command) | Waiter::Command(command), _) if asks_api(command) => {
            all(&[(Fact::ApiAnswers, Extent::Existing)])
        }
        _ => Vec::new(),
    }
}

/// Whether a command fails unless the API server answers.
fn asks_api(command: &str) -> bool {
    let mut words = command.split(' ');
    words.next() == Some("kubectl")
        && matches!(words.next(), Some("get" | "cluster-info" | "version" | "auth" | "api-resources" | "api-versions"))
}

/// What is shown when objects of a kind are as they were waited for.
fn of_objects(boot: &Boot, awaited: &Awaited) -> Vec<(Fact, Extent)> {
    let kind = awaited.kind.as_str();
    let condition = awaited.condition.to_ascii_lowercase();
    let speaks_of = |word: &str| match &awaited.which {
        Which::Named(names) => names.iter().any(|name| name.contains(word)),
        Which::Selected(selector) => selector.contains(word),
        Which::All => false,
    } || awaited.namespace.contains(word);
    match kind {
        "node" | "nodes" | "no" if condition == "condition=ready=false" => {
            vec![(Fact::NodesJoined, extent(boot, &awaited.which))]
        }
        "node" | "nodes" | "no" if matches!(condition.as_str(), "condition=ready" | "condition=ready=true") => {
            vec![(Fact::NodesReady, extent(boot, &awaited.which))]
        }
        _ if condition == "delete" => Vec::new(),
        _ if speaks_of("csi") => vec![(Fact::StorageRuns, Extent::Existing)],
        _ if ["cilium", "calico", "flannel"].iter().any(|name| speaks_of(name)) && !speaks_of("operator") => {
            vec![(Fact::NetworkRuns, Extent::Existing)]
        }
        _ if awaited.namespace == "flux-system" => vec![(Fact::GitOpsRuns, Extent::Existing)],
        _ => Vec::new(),
    }
}

/// Of how many nodes something is waited for.
fn extent(boot: &Boot, which: &Which) -> Extent {
    match which {
        Which::All => Extent::Existing,
        Which::Selected(_) => Extent::Some,
        Which::Named(names) => {
            let last = |name: &EcoString| name.rsplit('/').next().unwrap_or(name).to_owned();
            let given: Vec<String> = names.iter().map(last).collect();
            let is_open = |name: &String| name.contains([UNKNOWN, '*', '$']);
            let covers_all = boot.nodes.iter().all(|node| given.iter().any(|name| *name == node.name));
            if given.iter().any(is_open) || covers_all { Extent::Expected } else { Extent::Some }
        }
    }
}
