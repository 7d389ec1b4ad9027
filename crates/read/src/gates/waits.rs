//! Which commands wait, and for what.

use ecow::EcoString;
use model::{Awaited, Ends, Wait, Waiter, Which};

use super::line::{Line, seconds};
use crate::scripts::UNKNOWN;

/// How long `kubectl wait` waits.
const KUBECTL_WAIT_SECONDS: u32 = 30;
/// How long helm, flux and cilium wait.
const FIVE_MINUTES: u32 = 300;
/// How long `talosctl health` waits.
const TALOSCTL_HEALTH_SECONDS: u32 = 1200;
/// Flags of kubectl that are followed by a value.
const KUBECTL_VALUES: [&str; 18] = [
    "-n",
    "--namespace",
    "--context",
    "--kubeconfig",
    "-l",
    "--selector",
    "--for",
    "--timeout",
    "-f",
    "--filename",
    "-o",
    "--output",
    "--field-selector",
    "-s",
    "--server",
    "--request-timeout",
    "--revision",
    "--cluster",
];

/// What a command waits for; nothing if it does not.
pub(super) fn wait(line: &Line<'_>) -> Option<Wait> {
    let has = |words: &[&str]| line.has(words);
    let within = |flags: &[&str], default: u32| match line.value(flags).map(seconds) {
        Some(Some(seconds)) => Ends::After { seconds },
        Some(None) => Ends::Sometime,
        None => Ends::After { seconds: default },
    };
    let plain = |by, ends| Some(Wait { by, on: None, ends });
    match line.program() {
        "kubectl" | "oc" => kubectl(line),
        "talosctl" if has(&["health"]) => {
            plain(Waiter::TalosctlHealth, within(&["--wait-timeout"], TALOSCTL_HEALTH_SECONDS))
        }
        "cilium" if has(&["status"]) && has(&["--wait"]) => {
            plain(Waiter::CiliumStatus, within(&["--wait-duration"], FIVE_MINUTES))
        }
        "flux" if has(&["check"]) && !has(&["--pre"]) || has(&["bootstrap", "install"]) && !has(&["--export"]) => {
            plain(Waiter::Flux, within(&["--timeout"], FIVE_MINUTES))
        }
        "helm" if has(&["install", "upgrade"]) && waits_for_release(line) => {
            plain(Waiter::Helm, within(&["--timeout"], FIVE_MINUTES))
        }
        "helmfile" if has(&["sync", "apply"]) => plain(Waiter::Helmfile, Ends::Sometime),
        _ => None,
    }
}

/// Whether helm does not end before the release is ready.
fn waits_for_release(line: &Line<'_>) -> bool {
    let is_on = |word: &str| matches!(word, "--wait" | "--wait=true" | "--atomic" | "--rollback-on-failure");
    line.words.iter().any(|(word, _)| is_on(word))
}

/// The words of kubectl that say what it does.
pub(super) fn kubectl_words<'line>(line: &'line Line<'_>) -> Vec<&'line str> {
    line.bare(&KUBECTL_VALUES)
}

fn kubectl(line: &Line<'_>) -> Option<Wait> {
    let words = kubectl_words(line);
    let (by, objects, ends) = match words[..] {
        ["wait", ref objects @ ..] => (Waiter::KubectlWait, objects, KUBECTL_WAIT_SECONDS),
        ["rollout", "status", ref objects @ ..] => (Waiter::RolloutStatus, objects, 0),
        _ => return None,
    };
    let ends = match line.value(&["--timeout"]).map(seconds) {
        Some(Some(0)) if by == Waiter::RolloutStatus => Ends::Never,
        Some(Some(seconds)) => Ends::After { seconds },
        Some(None) => Ends::Sometime,
        // A Deployment that makes no progress fails after ten minutes, nothing else does.
        None if by == Waiter::RolloutStatus => Ends::Sometime,
        None => Ends::After { seconds: ends },
    };
    Some(Wait { by, on: Some(awaited(line, objects)), ends })
}

fn awaited(line: &Line<'_>, objects: &[&str]) -> Awaited {
    let known = |text: &str| EcoString::from(text.replace(UNKNOWN, "*"));
    let first = objects.first().copied().unwrap_or_default();
    let kind = first.split_once('/').map_or(first, |(kind, _)| kind);
    let names = objects.iter().enumerate().filter_map(|(at, word)| match word.split_once('/') {
        Some((_, name)) => Some(known(name)),
        None => (at > 0).then(|| known(word)),
    });
    let names: Vec<EcoString> = names.collect();
    let which = match line.value(&["-l", "--selector"]) {
        Some(selector) => Which::Selected(known(selector)),
        None if names.is_empty() && line.has(&["--all", "--all=true"]) => Which::All,
        None => Which::Named(names),
    };
    let of = |flags: &[&str]| known(line.value(flags).unwrap_or_default());
    Awaited { kind: known(kind), namespace: of(&["-n", "--namespace"]), condition: of(&["--for"]), which }
}

/// Whether a command asks how something is, and fails or says less while it is not there.
pub(super) fn probes(line: &Line<'_>) -> bool {
    match line.program() {
        "kubectl" | "oc" | "talosctl" | "curl" | "nc" | "ncat" | "helm" | "flux" | "cilium" | "wget" | "ping"
        | "talhelper" | "argocd" | "etcdctl" | "vault" | "helmfile" | "aws" | "gcloud" | "az" | "hcloud" | "topf"
        | "k3s" | "kubeadm" | "dig" | "nslookup" | "ssh" => true,
        // `bash -c '…'` around one.
        "bash" | "sh" => runs_probe(line),
        _ => false,
    }
}

/// Whether a shell is given a text that asks.
pub(super) fn runs_probe(line: &Line<'_>) -> bool {
    let asks = |word: &str| {
        ["kubectl ", "talosctl ", "curl ", "nc ", "helm ", "flux "].iter().any(|program| word.contains(program))
    };
    matches!(line.program(), "bash" | "sh") && line.words.iter().any(|(word, _)| asks(word))
}

/// Whether a command lists nodes, one on a line.
pub(super) fn lists_nodes(line: &Line<'_>) -> bool {
    let is_table = line.value(&["-o", "--output"]).is_none_or(|format| format == "wide") && !line.has(&["-owide"]);
    let words = kubectl_words(line);
    line.program() == "kubectl" && is_table && matches!(words[..], ["get", "node" | "nodes" | "no", ..])
}

/// Whether a command waits until all nodes are there and none of them is Ready.
pub(super) fn waits_for_unready_nodes(line: &Line<'_>) -> bool {
    let wait = wait(line).and_then(|wait| wait.on);
    wait.is_some_and(|on| {
        matches!(on.kind.as_str(), "node" | "nodes" | "no")
            && on.which == Which::All
            && on.condition.eq_ignore_ascii_case("condition=ready=false")
    })
}

/// The namespace that a command of kubectl says.
pub(super) fn namespace(line: &Line<'_>) -> Option<EcoString> {
    let said = line.value(&["-n", "--namespace"]).filter(|_| matches!(line.program(), "kubectl" | "oc"))?;
    Some(said.replace(UNKNOWN, "*").into())
}

/// Whether a command starts etcd on a node of Talos, or prints what does: of a cluster that has it, it always fails.
pub(super) fn bootstraps(line: &Line<'_>) -> bool {
    match line.program() {
        "talosctl" => {
            line.bare(&["-n", "--nodes", "-e", "--endpoints", "--talosconfig", "--context"]).first()
                == Some(&"bootstrap")
        }
        "talhelper" => line.has(&["gencommand"]) && line.has(&["bootstrap"]),
        _ => false,
    }
}
