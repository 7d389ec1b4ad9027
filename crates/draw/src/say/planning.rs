//! What a plan has to say of its steps.

use std::collections::BTreeMap;

use model::ObjectRef;
use run::{Action, ByHand, Danger, NeedReason, Note, Proof, Seed, Step};

use super::failing::left_out;
use crate::shell::word;
use crate::words::count;

/// More objects of one kind than this are counted.
const HELD_NAMED_MAX: usize = 3;

/// What a plan's reader should know beside its steps.
pub(crate) fn note(it: &Note) -> String {
    match it {
        Note::MachinesNotDescribed => {
            "machines are not described: the plan begins with the Kubernetes API; `coldstart init` proposes a coldstart.yaml that describes them"
                .to_owned()
        }
        Note::MachinesFromFiles { from } => {
            format!("machines, their addresses and those of the API server are read from {from}; `up` in coldstart.yaml overrides them")
        }
        Note::LeftOut { why, steps: 1 } => format!("1 step is left out: {}", left_out(why)),
        Note::LeftOut { why, steps } => format!("{steps} steps are left out: {}", left_out(why)),
    }
}

/// Why a step comes after another.
pub(crate) fn need(why: &NeedReason) -> String {
    let said = match why {
        NeedReason::Credentials => "credentials",
        NeedReason::MadeFromSecrets => "its configuration is made from them",
        NeedReason::FirstControlPlane => "etcd starts on the first control plane",
        NeedReason::KeptInEtcd => "the API server keeps everything in etcd",
        NeedReason::ElectedThroughApi => "the virtual address is elected through the API",
        NeedReason::BehindAddress => "every control plane must be reachable through it",
        NeedReason::MachineAnswers => "the machine must answer",
        NeedReason::MakesMachines => "Terraform makes the machines",
        NeedReason::TerraformDoes => "Terraform does it",
        NeedReason::AfterRun => "it is run after it",
        NeedReason::ReadsState => "reads its Terraform state",
        NeedReason::FluxRuns => "Flux must run",
        NeedReason::FluxApplies => "Flux applies it",
        NeedReason::KubernetesApi => "the Kubernetes API",
        NeedReason::PodNetwork => "the pod network",
        NeedReason::FluxBuildsOnIt => "Flux builds on it as soon as it runs",
        NeedReason::AppliedBy => "applies it",
        NeedReason::WaitsForApplied => "waits for what it applies",
        NeedReason::WaitsForListed => "its health checks name it",
        NeedReason::Declared => "declared",
        NeedReason::Offered(capability) => return capability.to_string(),
        NeedReason::SpeaksToApi => "uses its API",
        NeedReason::WayIn => "requests from outside pass through it",
        NeedReason::WholeCluster => "the whole cluster must be up",
    };
    said.to_owned()
}

/// What could be lost by doing a step.
pub(crate) fn danger(it: Danger) -> &'static str {
    match it {
        Danger::NewSecrets => "machines with the old secrets reject clients that have the new ones",
        Danger::SecondCluster => "a second bootstrap makes a second, empty cluster",
        Danger::InstallsOnDisk => "a machine that gets a configuration installs Talos on its disk",
    }
}

/// What shows that a step is done: a clause that continues "done when".
pub(crate) fn proof(it: &Proof) -> String {
    match it {
        Proof::NothingToApply { directory } => format!("{directory} has nothing left to apply"),
        Proof::Maintenance { machine } => format!("{machine} answers on the Talos API"),
        Proof::SecretsKept => "the machine secrets are stored".to_owned(),
        Proof::FluxRuns => "Flux runs and has its source".to_owned(),
        Proof::TalosRuns { machine } => format!("{machine} runs Talos with its configuration"),
        Proof::EtcdMembers { members: 1 } => "etcd has a leader".to_owned(),
        Proof::EtcdMembers { members } => format!("etcd has a leader and {members} members"),
        Proof::ApiAnswers { endpoint } => format!("the Kubernetes API answers at {endpoint}"),
        Proof::Seeded { component, .. } => format!("all objects of {component} exist"),
        Proof::ReleaseHealthy { release } => format!("the workloads of {release} are healthy"),
        Proof::Ready { kind, namespace, name } => format!("{kind} {namespace}/{name} is ready"),
        Proof::Answers { url } => format!("{url} answers"),
    }
}

/// The commands that a person would type for a step, as far as files tell. `CONFIG` stands for a file that only that person knows.
pub(crate) fn commands(step: &Step) -> Vec<String> {
    let hand = &step.by_hand;
    let node = |machine: &str| word(hand.address.as_deref().unwrap_or(machine));
    let one = |command: String| vec![command];
    match &step.action {
        Action::Terraform { directory } => {
            let program = if hand.uses_tofu { "tofu" } else { "terraform" };
            one(format!("{program} -chdir={} apply", word(directory)))
        }
        Action::MakeSecrets => one("talosctl gen secrets".to_owned()),
        Action::RestoreSecrets { file } if is_encrypted(file) => one(format!("sops --decrypt {}", word(file))),
        Action::RestoreSecrets { .. }
        | Action::PowerOn { .. }
        | Action::Seed { seed: Seed::ResourcesAfter { .. } | Seed::Foundation | Seed::SealingKey, .. } => Vec::new(),
        Action::Configure { machine } => {
            one(format!("talosctl apply-config --insecure --nodes {} --file CONFIG", node(machine)))
        }
        Action::BootstrapEtcd { machine } => {
            let node = node(machine);
            one(format!("talosctl bootstrap --nodes {node} --endpoints {node}"))
        }
        Action::Seed { seed: Seed::Resources, .. } => {
            let files = hand.files.iter().filter(|file| !is_template(file)).map(|file| applied(hand, file));
            let built = hand.directories.iter().map(|it| format!("kubectl apply --server-side -k {}", word(it)));
            files.chain(built).collect()
        }
        Action::Seed { seed: Seed::Crds, .. } => {
            let template = "template --include-crds | kubectl apply --server-side -f -";
            selected(hand).map(|helmfile| format!("{helmfile} {template}")).into_iter().collect()
        }
        Action::Install { .. } if hand.resource.is_some() => resource(hand).into_iter().collect(),
        Action::Install { .. } => selected(hand).map(|helmfile| format!("{helmfile} sync")).into_iter().collect(),
        Action::StartFlux => one("flux check".to_owned()),
        Action::Watch => {
            let fetched =
                hand.kubeconfig_of.as_deref().map(|node| format!("talosctl kubeconfig --nodes {}", word(node)));
            fetched.into_iter().chain(watched(step)).collect()
        }
    }
}

fn watched(step: &Step) -> Option<String> {
    match &step.proof {
        Proof::ApiAnswers { .. } => Some(match &step.by_hand.address {
            Some(address) => format!("kubectl --server {} get --raw /readyz", word(&format!("https://{address}"))),
            None => "kubectl get --raw /readyz".to_owned(),
        }),
        Proof::Ready { kind, namespace, name } => {
            let object = word(&format!("{}/{name}", kind.to_lowercase()));
            Some(format!("kubectl -n {} wait --for=condition=Ready {object}", word(namespace)))
        }
        Proof::TalosRuns { machine } | Proof::Maintenance { machine } => {
            let node = word(step.by_hand.address.as_deref().unwrap_or(machine));
            Some(format!("talosctl version --nodes {node} --endpoints {node}"))
        }
        Proof::EtcdMembers { .. } => {
            let node = step.by_hand.address.as_deref().map(word)?;
            Some(format!("talosctl etcd status --nodes {node} --endpoints {node}"))
        }
        Proof::FluxRuns => Some("flux check".to_owned()),
        Proof::Answers { url } => Some(format!("curl --fail {}", word(url))),
        _ => None,
    }
}

/// SOPS files are called so, that `.sops.yaml` may tell them.
fn is_encrypted(file: &str) -> bool {
    file.contains(".sops.")
}

/// A template has to be rendered first, by what only the repository knows.
fn is_template(file: &str) -> bool {
    [".j2", ".tpl", ".tmpl", ".gotmpl"].iter().any(|end| file.ends_with(end))
}

fn applied(hand: &ByHand, file: &str) -> String {
    let namespace = hand.namespaces.get(file).map(|it| format!("--namespace {} ", word(it))).unwrap_or_default();
    if is_encrypted(file) {
        format!("sops --decrypt {} | kubectl {namespace}apply --server-side -f -", word(file))
    } else {
        format!("kubectl {namespace}apply --server-side -f {}", word(file))
    }
}

/// The resource of Terraform that installs a release, by itself.
fn resource(hand: &ByHand) -> Option<String> {
    let (directory, address) = hand.resource.as_ref()?;
    let program = if hand.uses_tofu { "tofu" } else { "terraform" };
    Some(format!("{program} -chdir={} apply -target={}", word(directory), word(address)))
}

/// Only a helmfile can be told which release is meant; a script does all that is in it.
fn selected(hand: &ByHand) -> Option<String> {
    let ObjectRef { namespace, name, .. } = hand.release.as_ref()?;
    let is_helmfile = |file: &&String| [".yaml", ".yml", ".gotmpl"].iter().any(|ending| file.ends_with(ending));
    let file = hand.files.iter().find(is_helmfile)?;
    let selector = word(&format!("name={name},namespace={namespace}"));
    Some(format!("helmfile --file {} --selector {selector}", word(file)))
}

/// Objects by kind: the first few by name, the rest counted.
pub(crate) fn held(objects: &[ObjectRef]) -> Option<String> {
    let mut by_kind: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for object in objects {
        by_kind.entry(object.kind.as_str()).or_default().push(object.path());
    }
    let kind = |(kind, names): (&str, Vec<String>)| {
        if names.len() > HELD_NAMED_MAX { count(names.len(), kind) } else { format!("{kind} {}", names.join(", ")) }
    };
    let kinds: Vec<String> = by_kind.into_iter().map(kind).collect();
    (!kinds.is_empty()).then(|| kinds.join("; "))
}
