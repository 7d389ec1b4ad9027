//! A Flux Kustomization, its fields read with the places they stand at.

use std::collections::BTreeSet;

use ecow::EcoString;
use kustomize::Overlay;
use model::{Gate, ObjectRef, Patience, Retry, RetryField, WaitsFor, parse_duration};
use source::Span;
use yaml::Node;

use crate::object::{Object, owned};

/// What a `dependsOn` entry names.
#[derive(Clone, Debug)]
pub(crate) struct Dependency {
    pub(crate) object: ObjectRef,
    pub(crate) at: Span,
    pub(crate) waits_for: WaitsFor,
}

#[derive(Clone, Debug)]
pub(crate) struct SourceRef {
    pub(crate) object: ObjectRef,
    pub(crate) at: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct Kustomization {
    pub(crate) object: ObjectRef,
    pub(crate) at: Span,
    pub(crate) path: EcoString,
    pub(crate) path_at: Span,
    pub(crate) source: Option<SourceRef>,
    pub(crate) depends_on: Vec<Dependency>,
    pub(crate) ties_at: Span,
    pub(crate) gate: Gate,
    pub(crate) gate_at: Span,
    /// `healthChecks` that count, each with its place.
    pub(crate) checks: Vec<(ObjectRef, Span)>,
    /// `healthChecks` that `wait: true` switches off.
    pub(crate) ignored_checks: Vec<(ObjectRef, Span)>,
    /// Kinds with an expression of their own that looks at the status; the empty text stands for any.
    pub(crate) expressions: BTreeSet<EcoString>,
    pub(crate) suspended: Option<Span>,
    pub(crate) patience: Patience,
    pub(crate) overlay: Overlay,
    pub(crate) common_metadata: Option<Node>,
    pub(crate) post_build: Option<Node>,
    pub(crate) decryption_secret: Option<Node>,
    /// It decrypts what SOPS encrypted, or no file says what it does.
    pub(crate) may_decrypt: bool,
    /// Flux applies it to another cluster.
    pub(crate) is_remote: bool,
    pub(crate) kube_config_secret: Option<Node>,
}

impl Kustomization {
    /// Reads an object of kind Kustomization; `namespace` is where it lands if it does not say itself.
    pub(crate) fn read(node: &Node, namespace: &str) -> Self {
        let object = Object::new(node);
        let reference = object.reference(namespace);
        let spec = node.get("spec");
        let spec_at = node.as_map().and_then(|map| map.entry("spec")).map_or(node.span, |entry| entry.key_span);
        let field = |name: &str| spec.and_then(|spec| spec.get(name));
        let (gate, gate_at) = gate(node, &reference.namespace, spec_at);
        let waits = gate == Gate::Healthy;
        Self {
            at: object.name_span(),
            path: owned(field("path")),
            path_at: field("path").map_or(spec_at, |path| path.span),
            source: field("sourceRef").map(|source| source_ref(source, &reference.namespace)),
            depends_on: dependencies(field("dependsOn"), "Kustomization", &reference.namespace),
            ties_at: key_span(spec, "dependsOn").unwrap_or(spec_at),
            gate,
            gate_at,
            checks: if waits { Vec::new() } else { health_checks(node, &reference.namespace) },
            ignored_checks: if waits { health_checks(node, &reference.namespace) } else { Vec::new() },
            expressions: expressions(field("healthCheckExprs")),
            suspended: field("suspend").filter(|suspend| suspend.as_bool() == Some(true)).map(|suspend| suspend.span),
            patience: patience(spec, spec_at),
            overlay: overlay(spec),
            common_metadata: field("commonMetadata").cloned(),
            post_build: field("postBuild").cloned(),
            decryption_secret: field("decryption")
                .and_then(|decryption| decryption.at(&["secretRef", "name"]))
                .cloned(),
            may_decrypt: field("decryption").is_some(),
            is_remote: field("kubeConfig").is_some(),
            kube_config_secret: field("kubeConfig").and_then(|config| config.at(&["secretRef", "name"])).cloned(),
            object: reference,
        }
    }
}

/// The place of a key in a mapping.
pub(crate) fn key_span(map: Option<&Node>, key: &str) -> Option<Span> {
    Some(map?.as_map()?.entry(key)?.key_span)
}

pub(crate) fn source_ref(node: &Node, namespace: &str) -> SourceRef {
    let own = node.get("namespace").and_then(Node::text).unwrap_or(namespace);
    let name = node.get("name");
    SourceRef {
        object: ObjectRef::new(owned(node.get("kind")), own, owned(name)),
        at: name.map_or(node.span, |name| name.span),
    }
}

/// `dependsOn`. A field `kind` (to come) names another kind; `readyExpr` replaces the built-in check.
pub(crate) fn dependencies(list: Option<&Node>, kind: &str, namespace: &str) -> Vec<Dependency> {
    let items = list.and_then(Node::as_seq).unwrap_or_default();
    items
        .iter()
        .filter_map(|item| {
            let name = item.get("name")?;
            let kind = item.get("kind").and_then(Node::text).unwrap_or(kind);
            let own = item.get("namespace").and_then(Node::text).filter(|own| !own.is_empty()).unwrap_or(namespace);
            let waits_for = match (item.get("readyExpr"), item.get("ready").and_then(Node::as_bool)) {
                // Only the status says how far the other has come.
                (Some(expression), _) if expression.text().is_some_and(|text| !text.contains("status")) => {
                    WaitsFor::Exists
                }
                (Some(_), _) => WaitsFor::Opaque,
                (None, Some(false)) => WaitsFor::Exists,
                _ => WaitsFor::Done,
            };
            Some(Dependency { object: ObjectRef::new(kind, own, name.text()?), at: name.span, waits_for })
        })
        .collect()
}

/// `wait: true` waits for all and ignores `healthChecks`; `healthCheckExprs` alone do nothing.
fn gate(node: &Node, namespace: &str, spec_at: Span) -> (Gate, Span) {
    let spec = node.get("spec");
    let wait = spec.and_then(|spec| spec.get("wait"));
    if let Some(wait) = wait.filter(|wait| wait.as_bool() == Some(true)) {
        return (Gate::Healthy, wait.span);
    }
    let listed = health_checks(node, namespace);
    if !listed.is_empty() {
        let at = key_span(spec, "healthChecks").unwrap_or(spec_at);
        return (Gate::Listed(listed.into_iter().map(|(object, _)| object).collect()), at);
    }
    // Where a patch gives a key that was there another value, it is the value that tells who decides.
    let key = key_span(spec, "wait").unwrap_or(spec_at);
    let at = wait.map(|wait| wait.span).filter(|value| value.file != key.file).unwrap_or(key);
    let expressions = spec.and_then(|spec| spec.get("healthCheckExprs")).and_then(Node::as_seq).unwrap_or_default();
    match key_span(spec, "healthCheckExprs").filter(|_| !expressions.is_empty()) {
        Some(exprs) => (Gate::LooksHealthy(exprs), exprs),
        None => (Gate::Applied, at),
    }
}

/// Kinds that `healthCheckExprs` judge. Without a kind an entry is for all of its group; one that does not ask for the
/// status is true from the start.
fn expressions(list: Option<&Node>) -> BTreeSet<EcoString> {
    let items = list.and_then(Node::as_seq).unwrap_or_default();
    let asks = |item: &&Node| item.text_at(&["current"]).is_some_and(|current| current.contains("status"));
    items.iter().filter(asks).map(|item| owned(item.get("kind"))).collect()
}

fn health_checks(node: &Node, namespace: &str) -> Vec<(ObjectRef, Span)> {
    let checks = node.at(&["spec", "healthChecks"]).and_then(Node::as_seq).unwrap_or_default();
    checks
        .iter()
        .filter_map(|check| {
            let own = check.get("namespace").and_then(Node::text).unwrap_or(namespace);
            let kind = check.get("kind")?.text()?;
            let group = check
                .get("apiVersion")
                .and_then(Node::text)
                .and_then(|version| version.split_once('/'))
                .map_or("", |it| it.0);
            let own = if crate::kinds::is_cluster_scoped(group, kind) { "" } else { own };
            Some((ObjectRef::new(kind, own, check.get("name")?.text()?), check.span))
        })
        .collect()
}

fn patience(spec: Option<&Node>, spec_at: Span) -> Patience {
    const TIMEOUT_SECONDS_MIN: u64 = 30;
    const INTERVAL_SECONDS_DEFAULT: u64 = 600;
    let seconds = |name: &str| spec.and_then(|spec| spec.get(name)).and_then(Node::text).and_then(parse_duration);
    let interval = seconds("interval").unwrap_or(INTERVAL_SECONDS_DEFAULT);
    let retry = seconds("retryInterval");
    let field = if retry.is_some() { RetryField::RetryInterval } else { RetryField::Interval };
    Patience {
        timeout_seconds: seconds("timeout")
            .unwrap_or_else(|| interval.saturating_sub(TIMEOUT_SECONDS_MIN))
            .max(TIMEOUT_SECONDS_MIN),
        attempts: 1,
        pause_seconds: 0,
        retry: Retry::Every(retry.unwrap_or(interval)),
        retry_at: spec.and_then(|spec| spec.get(field.name())).map_or(spec_at, |field| field.span),
        retry_field: Some(field),
    }
}

fn overlay(spec: Option<&Node>) -> Overlay {
    let field = |name: &str| spec.and_then(|spec| spec.get(name));
    let list = |name: &str| field(name).and_then(Node::as_seq).map(<[Node]>::to_vec).unwrap_or_default();
    let text = |name: &str| field(name).filter(|node| node.text().is_some_and(|text| !text.is_empty())).cloned();
    Overlay {
        namespace: text("targetNamespace"),
        name_prefix: text("namePrefix"),
        name_suffix: text("nameSuffix"),
        components: list("components"),
        ignore_missing_components: field("ignoreMissingComponents").and_then(Node::as_bool).unwrap_or(false),
        patches: list("patches"),
        images: list("images"),
        // Decided where it is built: which sources are this repository is not said here.
        source: None,
    }
}
