//! A live cluster: what is counted, what is wrong with an object, what it waits for, and what could not be seen.

use std::time::Duration;

use health::facts::{ObjectKey, Why};
use health::status::{
    AlarmKind, Automatic, Because, Count, Gap, LayerName, Outcome, Problem, Reason, State, What, WhyNot,
};

use crate::words::{and_more, count, shorten};

/// Messages of others are cut here; the JSON has all of them.
const MESSAGE_CHARS_MAX: usize = 160;
const NAMES_MAX: usize = 4;

pub fn layer(name: LayerName) -> &'static str {
    match name {
        LayerName::Access => "access",
        LayerName::Machines => "machines",
        LayerName::Etcd => "etcd",
        LayerName::Api => "API",
        LayerName::Nodes => "nodes",
        LayerName::Network => "network",
        LayerName::Dns => "DNS",
        LayerName::Secrets => "secrets",
        LayerName::Storage => "storage",
        LayerName::Certificates => "certificates",
        LayerName::GitOps => "GitOps",
        LayerName::Platform => "platform",
        LayerName::Applications => "applications",
    }
}

pub fn state(state: State) -> &'static str {
    match state {
        State::Healthy => "healthy",
        State::Progressing => "progressing",
        State::Degraded => "degraded",
        State::Failed => "failed",
        State::Unknown => "unknown",
        State::Absent => "absent",
    }
}

pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Healthy => "healthy",
        Outcome::Progressing => "progressing",
        Outcome::Degraded => "degraded",
        Outcome::Unknown => "unknown",
    }
}

/// `5 of 5 nodes ready`.
pub fn counted(it: &Count) -> String {
    let (good, of) = (it.good, it.of);
    let what = match it.what {
        What::DefaultClasses if good == 1 => return "1 default StorageClass".to_owned(),
        What::DefaultClasses => return format!("{good} default StorageClasses"),
        What::SealingKeys => return if good == 0 { "no sealing key".to_owned() } else { count(good, "sealing key") },
        What::ReadinessChecks => "readiness checks passed",
        What::Machines => "machines running",
        What::EtcdMembers => "etcd members with a leader",
        What::Leaders => "controllers renew their Lease",
        What::ApiServices => "aggregated APIs available",
        What::Webhooks => "webhooks answered by an endpoint",
        What::Crds => "CRDs established",
        What::Nodes => "nodes ready",
        What::ExpectedNodes => "expected nodes exist",
        What::Agents => "nodes with a ready network agent",
        What::AgentsOfThisBoot => "agents started since the boot of their node",
        What::Operators => "operators ready",
        What::DnsEndpoints => "DNS endpoints ready",
        What::SealedSecrets => "SealedSecrets synced",
        What::SecretStores => "secret stores ready",
        What::ExternalSecrets => "ExternalSecrets synced",
        What::DriversOnNodes => "CSI drivers registered on nodes",
        What::Claims => "PersistentVolumeClaims bound",
        What::Issuers => "issuers ready",
        What::Certificates => "certificates valid",
        What::Controllers => "Flux controllers ready",
        What::Sources => "sources ready",
        What::Kustomizations => "Kustomizations ready",
        What::HelmReleases => "HelmReleases ready",
        What::ResourceSets => "ResourceSets ready",
        What::LoadBalancers => "LoadBalancers with an address",
        What::Gateways => "Gateways programmed",
        What::Workloads => "workloads ready",
        What::Jobs => "Jobs completed",
    };
    format!("{good} of {of} {what}")
}

/// Why a layer is in its state, where no number and no object tells it.
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Proved | Reason::Failing => String::new(),
        Reason::Progressing => "not done yet".to_owned(),
        Reason::NotInstalled => "not part of this cluster".to_owned(),
        Reason::NotAsked => "not asked: Kubernetes does not show it".to_owned(),
        Reason::NothingAnswers => "not seen: the API server does not answer".to_owned(),
        Reason::NotSeen { why } => format!("not seen: {}", self::why(why)),
    }
}

pub fn why(it: &Why) -> String {
    match it {
        Why::NotAsked => "not asked for".to_owned(),
        Why::Forbidden { verb, group, resource, namespace } => {
            let resource = if group.is_empty() { resource.to_string() } else { format!("{resource}.{group}") };
            let place = namespace.as_ref().map_or(String::new(), |it| format!(" in namespace {it}"));
            format!("you may not {verb} {resource}{place}")
        }
        Why::NotServed => "the API server does not serve this kind".to_owned(),
        Why::Stale { api_service } => format!("the server behind APIService {api_service} does not answer"),
        Why::Expired => "the list expired while it was read".to_owned(),
        Why::Unreadable { message } => format!("an object could not be read: {}", short(message)),
        other => why_not(&WhyNot::from(other)),
    }
}

pub fn why_not(it: &WhyNot) -> String {
    match it {
        WhyNot::Refused => "the connection was refused".to_owned(),
        WhyNot::Hanging { seconds } => format!("connected, and no answer for {seconds} s"),
        WhyNot::Dropped { seconds } => format!("no connection within {seconds} s"),
        WhyNot::Broken => "the connection broke off".to_owned(),
        WhyNot::NoSuchHost => "the name of the server does not resolve".to_owned(),
        WhyNot::Unauthorized => "the API server does not accept your credentials (401)".to_owned(),
        WhyNot::Forbidden => "the API server forbids it (403)".to_owned(),
        WhyNot::CertificateExpired { at: Some(at) } => format!("your client certificate expired at {at}"),
        WhyNot::CertificateExpired { at: None } => "your client certificate expired".to_owned(),
        WhyNot::Untrusted => "the certificate of the server is not trusted".to_owned(),
        WhyNot::Throttled => "the API server answers 429: too many requests".to_owned(),
        WhyNot::Answered { status, message } => format!("the server answers {status}: {}", short(message)),
        WhyNot::Other => "it could not be read".to_owned(),
    }
}

pub fn gap(gap: &Gap) -> String {
    format!("{} not seen: {}", gap.kind, why(&gap.why))
}

fn short(message: &str) -> String {
    shorten(message.trim(), MESSAGE_CHARS_MAX)
}

/// `reason: message`, of which either may be absent.
fn told(reason: &str, message: &str) -> String {
    match (reason, message) {
        ("", "") => String::new(),
        ("", message) => format!(": {}", short(message)),
        (reason, "") => format!(" ({reason})"),
        (reason, message) => format!(" ({reason}): {}", short(message)),
    }
}

fn names(nodes: &[ecow::EcoString]) -> String {
    let shown: Vec<&str> = nodes.iter().take(NAMES_MAX).map(ecow::EcoString::as_str).collect();
    format!("{}{}", shown.join(", "), and_more(NAMES_MAX, nodes.len()))
}

/// What is wrong, as it stands after the object's name.
pub fn problem(it: &Problem) -> String {
    match it {
        Problem::NoAnswer { why } => format!("does not answer: {}", why_not(why)),
        Problem::CheckFails { check } => format!("its readiness check {check} fails"),
        Problem::Missing => "does not exist".to_owned(),
        Problem::DeletionStuck { finalizers } => format!("is being deleted, and finalizers keep it: {finalizers}"),
        Problem::NotReady { reason, message } => format!("is not ready{}", told(reason, message)),
        Problem::Stalled { reason, message } => format!("has stalled and does not retry{}", told(reason, message)),
        Problem::NotReconciled { .. } => "was not reconciled by its controller".to_owned(),
        Problem::Suspended => "is suspended".to_owned(),
        Problem::Behind { applied, source } => format!("is at {applied}, not at {source}"),
        Problem::DependencyMissing { on } => format!("depends on {on}, which does not exist"),
        Problem::DependencyCycle => "is part of a cycle of `dependsOn`".to_owned(),
        _ => low(it).or_else(|| middle(it)).unwrap_or_else(|| pods(it)),
    }
}

/// Machines, etcd, the API and nodes.
fn low(it: &Problem) -> Option<String> {
    Some(match it {
        Problem::MachineNotReady { stage, unmet, why } if unmet.is_empty() && why.is_empty() => {
            format!("is in stage {stage}")
        }
        Problem::MachineNotReady { stage, unmet, why } => format!("is in stage {stage}: {unmet}: {}", short(why)),
        Problem::ServiceNotHealthy { service, state, message } => {
            format!("its service {service} is {state}{}", told("", message))
        }
        Problem::VolumeNotReady { volume, phase, message } => {
            format!("its volume {volume} is {phase}{}", told("", message))
        }
        Problem::TimeNotSynced => "its clock is not synchronised".to_owned(),
        Problem::EtcdAlarm { alarm: AlarmKind::NoSpace } => "raised the alarm NOSPACE".to_owned(),
        Problem::EtcdAlarm { alarm: AlarmKind::Corrupt } => "raised the alarm CORRUPT".to_owned(),
        Problem::EtcdNoQuorum { reachable, members } => format!("has no quorum: {reachable} of {members} members"),
        Problem::LeaseNotRenewed { holder } if holder.is_empty() => "has no holder".to_owned(),
        Problem::LeaseNotRenewed { holder } => format!("is not renewed by {holder}"),
        Problem::ApiServiceUnavailable { reason, message } => format!("is not available{}", told(reason, message)),
        Problem::WebhookWithoutEndpoints { webhook, service, ready, of } => {
            format!("webhook {webhook} fails requests: its Service {service} has {ready} of {of} endpoints ready")
        }
        Problem::WebhookWithoutCa { webhook } => format!("webhook {webhook} has no CA to be trusted by"),
        Problem::NamespaceStuck { reason, message } => format!("can't be deleted{}", told(reason, message)),
        Problem::CrdNotEstablished { reason } => format!("is not established{}", told(reason, "")),
        Problem::RequestPending { user } => format!("of {user} was not approved"),
        Problem::NodeNotReady { reason, message } => format!("is not ready{}", told(reason, message)),
        Problem::NodeSilent { ready: true } => {
            "does not renew its Lease; its Ready condition is from before".to_owned()
        }
        Problem::NodeSilent { ready: false } => "does not renew its Lease".to_owned(),
        Problem::NodeUninitialized => "waits for its cloud controller: the taint uninitialized stays".to_owned(),
        Problem::NodeCordoned => "is cordoned".to_owned(),
        Problem::NodePressure { condition } => format!("reports {condition}"),
        _ => return None,
    })
}

/// The network, secrets, storage and certificates.
fn middle(it: &Problem) -> Option<String> {
    Some(match it {
        Problem::AgentMissing { nodes } => format!("has no pod on {}: {}", count(nodes.len(), "node"), names(nodes)),
        Problem::AgentBeforeBoot { nodes } => {
            format!("has not started since the boot of {}: {}", count(nodes.len(), "node"), names(nodes))
        }
        Problem::NobodyWanted => "is wanted on no node: its node selector matches none".to_owned(),
        Problem::AgentTaintStays => "keeps the taint agent-not-ready although its agent is ready".to_owned(),
        Problem::NoAgent => "no DaemonSet gives pods a network".to_owned(),
        Problem::NoReadyEndpoints { of: 0 } => "has no endpoint".to_owned(),
        Problem::NoReadyEndpoints { of } => format!("has 0 of {} ready", count(*of, "endpoint")),
        Problem::NoSealingKey => "does not exist: no Secret has a sealing key".to_owned(),
        Problem::SealingKeyOpensNothing { sealed } => format!("opens none of {}", count(*sealed, "SealedSecret")),
        Problem::CannotUnseal { message } => format!("can't be decrypted{}", told("", message)),
        Problem::ClaimPending { class } if class.is_empty() => "is not bound".to_owned(),
        Problem::ClaimPending { class } => format!("is not bound; its class is {class}"),
        Problem::ClaimLost => "has lost its volume".to_owned(),
        Problem::DriverNotRegistered { nodes, .. } => {
            format!("is not registered on {}: {}", count(nodes.len(), "node"), names(nodes))
        }
        Problem::NoDefaultClass => "names no StorageClass, and none is the default".to_owned(),
        Problem::AttachFailed { message } => format!("is not attached{}", told("", message)),
        Problem::CertificateExpired { at } => format!("expired at {at}"),
        Problem::NoAddress { reason } => format!("has no address{}", told(reason, "")),
        Problem::CephUnhealthy { health, details } => format!("reports {health}: {details}"),
        _ => return None,
    })
}

/// Pods and what makes them.
fn pods(it: &Problem) -> String {
    match it {
        Problem::Unschedulable { message } => format!("fits on no node{}", told("", message)),
        Problem::Waiting { container, reason, message } if container.is_empty() => {
            format!("does not start{}", told(reason, message))
        }
        Problem::Waiting { container, reason, message } => {
            format!("container {container} does not start{}", told(reason, message))
        }
        Problem::Crashing { container, exit_code, reason, message } => {
            let code = if *exit_code == 0 { String::new() } else { format!(" with exit code {exit_code}") };
            format!("container {container} crashes{code}{}", told(reason, message))
        }
        Problem::PodNotReady => "runs and is not ready".to_owned(),
        Problem::NotScheduled => "was not looked at by the scheduler".to_owned(),
        Problem::CannotCreatePods { reason, message } => format!("can't create pods{}", told(reason, message)),
        Problem::TooFew { have, want } => format!("has {have} of {want} pods ready"),
        Problem::JobFailed { reason, message } => format!("has failed{}", told(reason, message)),
        _ => String::new(),
    }
}

/// What makes an object wait for another one, as it stands between the two names.
pub fn because(it: Because) -> &'static str {
    match it {
        Because::DependsOn => "depends on",
        Because::Source => "gets its artifact from",
        Because::Inventory => "applied",
        Because::HealthCheck => "waits for the health of",
        Because::Owns => "owns",
        Because::Names => "names",
        Because::Kind => "needs the kind of",
        Because::Admission => "is admitted by",
        Because::Node => "runs on",
        Because::NodeNetwork => "gets its network from",
        Because::Backend => "is served by",
        Because::Lookup => "failed to look up a name at",
        Because::Resolves => "resolves names at",
        Because::Controller => "is handled by",
        Because::Makes => "is made by",
        Because::Driver => "needs the driver",
    }
}

pub fn automatic(it: Automatic) -> &'static str {
    match it {
        Automatic::Always => "safe to repeat",
        Automatic::Guarded => "only if",
        Automatic::Ask => "you decide",
        Automatic::Never => "never by a program",
    }
}

/// An object as sentences name it.
pub fn object(key: &ObjectKey) -> String {
    key.to_string()
}

/// `1 h 5 min`.
pub fn age(age: Duration) -> String {
    model::say_seconds(age.as_secs())
}
