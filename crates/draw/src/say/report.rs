//! The words of `coldstart report`.

use diagnostic::{Advice, BootAdvice, LayerAdvice, Severity, WaitAdvice};
use report::{Check, KeyFileRole, NodeRecovery, ResetMachine, RuleSubject};
use run::Layer;

use crate::report::prose::{code, prose};
use crate::shell::word;

/// What a layer is called in a heading.
pub fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Keys => "Preflight, keys and credentials",
        Layer::Machines => "Machines",
        Layer::Talos => "Talos",
        Layer::Api => "Kubernetes API",
        Layer::Seeds => "Objects applied as they are",
        Layer::Network => "Pod network",
        Layer::Bootstrap => "Bootstrap",
        Layer::Flux => "Flux",
        Layer::GitOps => "What Flux applies",
        Layer::Configuration => "Configuration of services",
        Layer::Outside => "From outside",
    }
}

/// How soon a gap should be closed.
pub fn priority(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "HIGH",
        Severity::Warning => "MEDIUM",
        Severity::Info => "LOW",
        Severity::Pedantic => "VERY LOW",
    }
}

/// What may come of a change that a person makes in the boot.
pub fn risk(advice: &Advice) -> &'static str {
    match advice {
        Advice::Wait(WaitAdvice::AcceptStarted) => "low: only a second run differs",
        Advice::Wait(_) | Advice::Boot(BootAdvice::WaitForNodes { .. } | BootAdvice::WaitForDaemonSet { .. }) => {
            "low: it only waits; the boot stops there instead of going on"
        }
        Advice::Boot(BootAdvice::GateStorage { .. }) => "low: what depends on it waits longer",
        Advice::Boot(BootAdvice::MoveAfter { .. } | BootAdvice::OrderBefore { .. }) => {
            "low: only the order of the next boot changes"
        }
        Advice::Boot(BootAdvice::UseOwnAddress { .. }) => "low: only the next boot connects to it",
        Advice::Layer(
            LayerAdvice::SplitRun { .. }
            | LayerAdvice::MoveAfterGitOps { .. }
            | LayerAdvice::BreakCircle
            | LayerAdvice::ApplyLater { .. },
        ) => "medium: what moves to another run has to move in the state, too, or it is made again",
        Advice::Layer(LayerAdvice::KeepElsewhere) => "medium: what reads it has to find it in its new place",
        Advice::Layer(LayerAdvice::Push { .. }) => "low: Flux applies what is pushed",
        _ => "low: only the next run sees it",
    }
}

/// The command that applies a resource of Terraform again, or all of a directory.
pub fn applied_again(directory: &str, address: &str, uses_tofu: bool) -> String {
    let program = if uses_tofu { "tofu" } else { "terraform" };
    let target = if address.is_empty() { String::new() } else { format!(" -target={}", word(address)) };
    format!("{program} -chdir={} apply{target}", word(directory))
}

/// What Talos runs by itself in a layer.
pub fn talos_parts(layer: Layer) -> Option<&'static str> {
    match layer {
        Layer::Talos => Some("Talos, with containerd and the kubelet,"),
        Layer::Api => Some("etcd, kube-apiserver, kube-controller-manager and kube-scheduler"),
        _ => None,
    }
}

/// How one node is brought back, as Markdown.
pub fn node_recovery(recovery: &NodeRecovery) -> String {
    match recovery {
        NodeRecovery::Reboot { addresses } => {
            let node = addresses.first().map_or("NODE", String::as_str);
            format!(
                "a node that stays NotReady: `talosctl --nodes {node} service kubelet`, then `talosctl --nodes {node} reboot`, \
                 with the address of that node"
            )
        }
        NodeRecovery::Reset { provider, machines } => {
            let each: Vec<String> = machines.iter().filter_map(|machine| reset(provider, machine)).collect();
            let commands = match (each.is_empty(), provider.as_str()) {
                (false, _) => crate::words::first_few(&each, RESETS_MAX),
                (true, "proxmox") => "`qm reset VMID` on the host that runs it".to_owned(),
                (true, _) => "`hcloud server reset NAME`".to_owned(),
            };
            format!("a machine that does not answer: {commands}")
        }
    }
}

/// Machines whose command is told.
const RESETS_MAX: usize = 12;

/// The command that resets one virtual machine, where all of it is known.
fn reset(provider: &str, machine: &ResetMachine) -> Option<String> {
    let name = prose(&machine.name);
    if provider != "proxmox" {
        return Some(code(&format!("hcloud server reset {}", word(&machine.name))));
    }
    let command = code(&format!("qm reset {}", word(machine.id.as_ref()?)));
    let host = machine.host.as_ref().map(|host| format!(" on {}", code(host))).unwrap_or_default();
    Some(format!("{command}{host} ({name})"))
}

/// What a rule is about: `the pod network`, `CRD x`, `3 secret stores`.
pub fn subject(subject: &RuleSubject) -> String {
    if let Some(name) = &subject.name {
        return name.clone();
    }
    // `webhook of`, `the controller of`: the noun without what follows it.
    let kind = subject.kind.trim_start_matches("the ").trim_end_matches(" of");
    crate::words::count(subject.count, if kind.is_empty() { "object" } else { kind })
}

/// What a file is for.
pub fn key_file(role: KeyFileRole) -> &'static str {
    match role {
        KeyFileRole::Settings => "Settings of coldstart",
        KeyFileRole::Machines => "Machines",
        KeyFileRole::Terraform => "Terraform",
        KeyFileRole::Bootstrap => "Bootstrap",
        KeyFileRole::Values => "Values of the bootstrap",
        KeyFileRole::EntryPoint => "Entry point of Flux",
        KeyFileRole::Applications => "Root of the applications",
        KeyFileRole::Sources => "Sources",
    }
}

/// What is looked at, and the command that shows it.
pub fn check(check: &Check) -> (String, String) {
    let said = |what: &str, command: String| (what.to_owned(), command);
    match check {
        Check::Talos { addresses } => {
            said("Talos: services, etcd, and that all machines have joined", format!("talosctl --nodes {} health", word(&addresses.join(","))))
        }
        Check::Nodes => said("Kubernetes: every node is Ready", "kubectl get nodes -o wide".to_owned()),
        Check::Network { daemon_set } => (
            "Pod network: the agent runs on every node".to_owned(),
            format!("kubectl -n kube-system rollout status {} --timeout=300s", word(&format!("daemonset/{daemon_set}"))),
        ),
        Check::Dns => said(
            "DNS: a pod finds names",
            "kubectl run dns-test --image=busybox --restart=Never --rm -i -- nslookup kubernetes.default".to_owned(),
        ),
        Check::Release { namespace, name } => (
            format!("{namespace}/{name}: its pods run"),
            format!("kubectl -n {} get pods -l {}", word(namespace), word(&format!("app.kubernetes.io/instance={name}"))),
        ),
        Check::Flux => said("Flux: its controllers and sources", "flux check && flux get sources all -A".to_owned()),
        Check::Kustomizations { namespaces } => match namespaces.as_slice() {
            [only] => said("Flux: what it applies", format!("flux get kustomizations -n {}", word(only))),
            _ => said("Flux: what it applies", "flux get kustomizations -A".to_owned()),
        },
        Check::NotReady => said(
            "Flux: what is not ready",
            "flux get kustomizations -A --status-selector ready=false; flux get helmreleases -A --status-selector ready=false"
                .to_owned(),
        ),
        Check::StorageClasses { names } => {
            said("Storage: the classes", format!("kubectl get storageclass {}", words(names)))
        }
        Check::CsiDrivers => said("Storage: every node has its drivers", "kubectl get csinode".to_owned()),
        Check::Objects { kind, namespace, names } => {
            let of = if namespace.is_empty() { String::new() } else { format!("-n {} ", word(namespace)) };
            (format!("{kind}: {}", names.join(", ")), format!("kubectl {of}get {} {}", word(&kind.to_lowercase()), words(names)))
        }
        Check::Outside { url } => said("From outside", format!("curl --fail {}", word(url))),
    }
}

fn words(names: &[String]) -> String {
    names.iter().map(|name| word(name)).collect::<Vec<_>>().join(" ")
}

/// What a directory of Terraform is for.
pub fn terraform(purpose: &str) -> &'static str {
    match purpose {
        "keys" => "credentials and keys that outlive the cluster",
        "machines" => "makes the machines",
        "cluster" => "installs into the new cluster",
        "services" => "configures services of the cluster",
        "flux" => "applied by Flux",
        "start" => "starts GitOps",
        "leftover" => "nothing runs it: another directory makes the same machines",
        _ => "not clear",
    }
}
