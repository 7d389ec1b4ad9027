//! What keeps something from being ready, in the words of the controller that says it.

use model::{MachineRef, MadeKind, ObjectRef, Obstacle, PodTrouble, Subject, Trace, say_seconds};

/// Between an obstacle and the one behind it.
pub(super) const BEHIND: &str = " ← ";
const TURNS: &str = ", which in turn waits for it";

/// An obstacle and all behind it, in one line.
pub fn trace(trace: &Trace) -> String {
    trace_parts(trace).join(BEHIND)
}

/// The same, each by itself; at least one, though it may be empty.
pub(super) fn trace_parts(trace: &Trace) -> Vec<String> {
    let mut said: Vec<String> = trace.chain.iter().map(obstacle).collect();
    if said.is_empty() {
        said.push(String::new());
    }
    if let Some(last) = said.last_mut() {
        last.push_str(turning(trace.turns));
    }
    said
}

/// What follows an obstacle that waits, in the end, for what it blocks.
pub(super) fn turning(turns: bool) -> &'static str {
    if turns { TURNS } else { "" }
}

/// One obstacle.
pub fn obstacle(it: &Obstacle) -> String {
    match it {
        Obstacle::Suspended => "suspended".to_owned(),
        Obstacle::DependencyNotReady { dependency } => {
            format!("DependencyNotReady: dependency '{}' is not ready", dependency.path())
        }
        Obstacle::DependencyNotFound { dependency } => {
            format!("DependencyNotReady: dependency '{}' not found", dependency.path())
        }
        Obstacle::SourceNotFound { source } => format!("ArtifactFailed: Source '{source}' not found"),
        Obstacle::SourceNotReady { source } => format!("SourceNotReady: {source} has no artifact yet"),
        Obstacle::BuildFailed { message } => format!("BuildFailed: {message}"),
        Obstacle::VariablesNotFound { object } => {
            format!("BuildFailed: substitute from '{object}' error: not found")
        }
        Obstacle::UndefinedVariable { name } => format!("BuildFailed: variable not set (strict mode): {name}"),
        Obstacle::KeyNotFound { object } => format!("BuildFailed: cannot get decryption key: {object} not found"),
        Obstacle::UnknownKind { object, api_version } => unknown_kind(object, api_version),
        Obstacle::NamespaceNotFound { object } => {
            format!("{object} dry-run failed: namespaces \"{}\" not found", object.namespace)
        }
        Obstacle::WebhookDown { object, release, has_pods, .. } => {
            let why = if *has_pods { "context deadline exceeded" } else { "no endpoints available" };
            format!("{object} dry-run failed: failed calling webhook of {release}: {why}")
        }
        Obstacle::ValuesNotFound { object } => format!("ValuesError: could not find {object}"),
        Obstacle::NoSealingKey => "no key could decrypt secret".to_owned(),
        Obstacle::Sealed { object } => format!("{object}: no key could decrypt secret"),
        Obstacle::ApiDown => "InstallFailed: connection refused".to_owned(),
        Obstacle::BootstrapTimeout { release } => format!("helmfile: {release}: context deadline exceeded"),
        Obstacle::NotInstalled { release } => format!("release {release} is not installed"),
        Obstacle::FluxNotStarted => "Flux is not installed".to_owned(),
        Obstacle::GitDown { source } => format!("{source}: the Git server does not answer"),
        Obstacle::Said { text } => text.clone(),
        other => health(other),
    }
}

fn unknown_kind(object: &ObjectRef, api_version: &str) -> String {
    format!("{object} dry-run failed: no matches for kind \"{}\" in version \"{api_version}\"", object.kind)
}

/// Of what is looked at until it is healthy.
fn health(it: &Obstacle) -> String {
    let seconds = |seconds: u32| say_seconds(u64::from(seconds));
    match it {
        Obstacle::HealthTimeout { on } => format!("HealthCheckFailed: timeout waiting for: [{}]", subject(on)),
        Obstacle::HealthStalled { on } => {
            format!("HealthCheckFailed: failed early due to stalled resources: [{}]", subject(on))
        }
        Obstacle::HealthChecks { on, timeout_seconds } => format!(
            "Progressing: running health checks with a timeout of {}: [{}]",
            seconds(*timeout_seconds),
            subject(on)
        ),
        Obstacle::InstallTimeout { on } => {
            format!("InstallFailed: {} not ready: context deadline exceeded", subject(on))
        }
        Obstacle::Installs { on, timeout_seconds } => {
            format!("Progressing: running Helm with a timeout of {}: [{}]", seconds(*timeout_seconds), subject(on))
        }
        Obstacle::LooksAgain { dependency, every_seconds } => format!(
            "DependencyNotReady: dependency '{}' is ready by now; Flux checks every {}",
            dependency.path(),
            seconds(*every_seconds)
        ),
        Obstacle::LooksSoon { every_seconds } => {
            format!("Progressing: everything is healthy; Flux checks every {}", seconds(*every_seconds))
        }
        Obstacle::Reconciles => "Progressing: reconciliation in progress".to_owned(),
        Obstacle::NoNodes => "no node has joined yet".to_owned(),
        Obstacle::NotThere { subject: it } => format!("{} not found", subject(it)),
        Obstacle::NotReady { subject: it } => format!("{} is not ready yet", subject(it)),
        Obstacle::WaitsFor { subject: it, on } => format!("{} waits for {}", subject(it), subject(on)),
        Obstacle::Stuck { subject: it, trouble, node } => format!("{}: {}", subject(it), stuck(*trouble, node)),
        Obstacle::Unplaced { subject: it } => format!("{}: there is no node to run on", subject(it)),
        Obstacle::Starts { subject: it, takes_seconds } => {
            format!("{}: its pods start, which takes {}", subject(it), seconds(*takes_seconds))
        }
        Obstacle::Crashes { subject: it } => {
            format!("{}: its pods crashed and restart after a back-off", subject(it))
        }
        Obstacle::UnderWay { subject: it } => format!("{}: its controller is still working on it", subject(it)),
        Obstacle::IsSuspended { subject: it } => format!("{} is suspended", subject(it)),
        other => below_kubernetes(other),
    }
}

fn below_kubernetes(it: &Obstacle) -> String {
    let name = |machine: &MachineRef| named(machine, "machine");
    match it {
        Obstacle::NoQuorum => "etcd: no quorum, so there is no API server".to_owned(),
        Obstacle::NoMachine { number } => format!("there is no machine {number}"),
        Obstacle::NoAnswer { machine } => format!("{} does not answer", name(machine)),
        Obstacle::NotConfigured { machine } => format!("{} has no configuration yet", name(machine)),
        Obstacle::OtherSecrets { machine } => {
            format!("{}: x509: certificate signed by unknown authority: it has other secrets", name(machine))
        }
        Obstacle::NoSecrets => "no machine secrets were generated".to_owned(),
        Obstacle::NoControlPlane { machine } => format!("{} is not a control plane", name(machine)),
        Obstacle::EtcdNotBootstrapped => "etcd waits to be bootstrapped".to_owned(),
        Obstacle::EtcdSplit => "etcd was bootstrapped on two machines".to_owned(),
        Obstacle::NoApi => "the API server does not answer: connection refused".to_owned(),
        Obstacle::NotJoined { machine } => format!("{} has not joined as a node", name(machine)),
        Obstacle::KubeletWaits { machine } => {
            format!("the kubelet of {} waits for a volume, so it does not join", name(machine))
        }
        Obstacle::NoAgent { machine } => {
            format!("no agent of the pod network runs on {}, so it is not Ready", name(machine))
        }
        Obstacle::NoNetwork => "the pod network is not installed".to_owned(),
        Obstacle::StepStopped { step, lacks } => format!("{step} fails: {}", obstacle(lacks)),
        _ => String::new(),
    }
}

/// What keeps pods from starting, after their name.
fn stuck(trouble: PodTrouble, node: &MachineRef) -> String {
    let node = named(node, "node");
    match trouble {
        PodTrouble::VolumesNotMounted => format!("the kubelet of {node} can't mount volumes"),
        PodTrouble::NoNetworkAgent => format!("no network agent runs on {node}"),
        PodTrouble::ImageNotPulled => "ImagePullBackOff: its image can't be pulled".to_owned(),
        PodTrouble::NodeGone => format!("its node is gone ({node})"),
        PodTrouble::NodeSlow => format!("its node is slow ({node})"),
        PodTrouble::SlowStart => "it is slow to start".to_owned(),
    }
}

/// A machine by its name, or by what it is and its number.
fn named(machine: &MachineRef, what: &str) -> String {
    machine.name.as_ref().map_or_else(|| format!("{what} {}", machine.number), ToString::to_string)
}

/// What people call it: an object by its kind and name, what no API server has by plain words.
fn subject(it: &Subject) -> String {
    match it {
        Subject::Object(object) => object.to_string(),
        Subject::WebhookOf { release } => format!("the webhook of {release}"),
        Subject::JoinedNode => "a node that has joined".to_owned(),
        Subject::Given { capability, name } => {
            let what = capability.as_str().replace('-', " ").replace("dns", "DNS");
            if name.is_empty() { format!("the {what}") } else { format!("the {what} {name}") }
        }
        Subject::Made { what, of } => format!("the {} of {of}", made(*what)),
    }
}

fn made(what: MadeKind) -> &'static str {
    match what {
        MadeKind::Artifacts => "artifacts",
        MadeKind::Claims => "claims",
        MadeKind::Kinds => "kinds",
        MadeKind::Webhook => "webhook",
    }
}
