//! A Flux HelmRelease, its fields read with the places they stand at.

use ecow::EcoString;
use model::{Gate, ObjectRef, Patience, Retry, RetryField, parse_duration};
use source::Span;
use yaml::Node;

use crate::flux::kustomization::{Dependency, SourceRef, dependencies, key_span, source_ref};
use crate::object::{Object, owned};

#[derive(Clone, Debug)]
pub(crate) struct HelmRelease {
    pub(crate) object: ObjectRef,
    pub(crate) at: Span,
    pub(crate) chart: ChartSource,
    pub(crate) depends_on: Vec<Dependency>,
    pub(crate) ties_at: Span,
    pub(crate) gate: Gate,
    pub(crate) gate_at: Span,
    pub(crate) suspended: Option<Span>,
    pub(crate) patience: Patience,
    pub(crate) values: Option<Node>,
    pub(crate) values_from: Vec<ValuesFrom>,
    pub(crate) release_name: EcoString,
    /// Where the chart's objects land.
    pub(crate) target_namespace: EcoString,
    /// `install.createNamespace`.
    pub(crate) creates_namespace: bool,
    /// `install.crds: Skip`.
    pub(crate) skips_crds: Option<Span>,
    pub(crate) kube_config_secret: Option<Node>,
    /// It is installed in another cluster.
    pub(crate) is_remote: bool,
    node: Node,
}

/// Where the chart comes from.
#[derive(Clone, Debug)]
pub(crate) struct ChartSource {
    /// `spec.chart.spec.chart`: a name, or a path in a Git source. Empty with `chartRef`.
    pub(crate) chart: EcoString,
    pub(crate) source: Option<SourceRef>,
    /// `spec.chart.spec.version`.
    pub(crate) version: Option<Node>,
    /// Files in the source that stand in for the chart's own values.
    pub(crate) values_files: Vec<EcoString>,
    pub(crate) at: Span,
}

#[derive(Clone, Debug)]
pub(crate) struct ValuesFrom {
    pub(crate) kind: EcoString,
    pub(crate) name: EcoString,
    pub(crate) key: EcoString,
    pub(crate) target_path: EcoString,
    pub(crate) optional: bool,
    pub(crate) at: Span,
}

impl HelmRelease {
    pub(crate) fn read(node: &Node, namespace: &str) -> Self {
        let object = Object::new(node);
        let reference = object.reference(namespace);
        let spec = node.get("spec");
        let spec_at = key_span(Some(node), "spec").unwrap_or(node.span);
        let field = |name: &str| spec.and_then(|spec| spec.get(name));
        let target_namespace = field("targetNamespace").and_then(Node::text).unwrap_or(&reference.namespace).into();
        let disabled = node.at(&["spec", "install", "disableWait"]).filter(|disable| disable.as_bool() == Some(true));
        Self {
            at: object.name_span(),
            chart: chart_source(node, &reference.namespace),
            depends_on: dependencies(field("dependsOn"), "HelmRelease", &reference.namespace),
            ties_at: key_span(spec, "dependsOn").unwrap_or(spec_at),
            gate: if disabled.is_some() { Gate::Applied } else { Gate::Healthy },
            gate_at: disabled.map_or(spec_at, |disable| disable.span),
            suspended: field("suspend").filter(|suspend| suspend.as_bool() == Some(true)).map(|suspend| suspend.span),
            patience: patience(node, spec_at, false),
            node: node.clone(),
            values: field("values").cloned(),
            values_from: values_from(field("valuesFrom")),
            release_name: release_name(node, &reference),
            target_namespace,
            creates_namespace: node
                .at(&["spec", "install", "createNamespace"])
                .and_then(Node::as_bool)
                .unwrap_or(false),
            skips_crds: node
                .at(&["spec", "install", "crds"])
                .filter(|crds| crds.text() == Some("Skip"))
                .map(|crds| crds.span),
            is_remote: field("kubeConfig").is_some(),
            kube_config_secret: field("kubeConfig").and_then(|config| config.at(&["secretRef", "name"])).cloned(),
            object: reference,
        }
    }
}

impl HelmRelease {
    /// Its patience under a controller with the gate `DefaultToRetryOnFailure`.
    pub(crate) fn patience_with_retries(&self) -> Patience {
        patience(&self.node, self.at, true)
    }
}

/// The name helm-controller gives the release: its own, else the target namespace before the object's name.
fn release_name(node: &Node, reference: &ObjectRef) -> EcoString {
    if let Some(name) = node.text_at(&["spec", "releaseName"]) {
        return name.into();
    }
    match node.text_at(&["spec", "targetNamespace"]) {
        Some(target) if !target.is_empty() => ecow::eco_format!("{target}-{}", reference.name),
        _ => reference.name.clone(),
    }
}

fn chart_source(node: &Node, namespace: &str) -> ChartSource {
    if let Some(reference) = node.at(&["spec", "chartRef"]) {
        return ChartSource {
            chart: EcoString::new(),
            source: Some(source_ref(reference, namespace)),
            version: None,
            values_files: Vec::new(),
            at: reference.get("name").map_or(reference.span, |name| name.span),
        };
    }
    let spec = node.at(&["spec", "chart", "spec"]);
    let chart = spec.and_then(|spec| spec.get("chart"));
    ChartSource {
        chart: owned(chart),
        version: spec.and_then(|spec| spec.get("version")).cloned(),
        values_files: values_files(spec),
        source: spec.and_then(|spec| spec.get("sourceRef")).map(|source| source_ref(source, namespace)),
        at: chart.map_or(node.span, |chart| chart.span),
    }
}

fn values_files(spec: Option<&Node>) -> Vec<EcoString> {
    let files = spec.map(|spec| spec.items_at("valuesFiles")).unwrap_or_default();
    files.iter().map(|file| owned(Some(file))).collect()
}

fn values_from(list: Option<&Node>) -> Vec<ValuesFrom> {
    let items = list.and_then(Node::as_seq).unwrap_or_default();
    items
        .iter()
        .map(|item| ValuesFrom {
            kind: owned(item.get("kind")),
            name: owned(item.get("name")),
            key: item.get("valuesKey").and_then(Node::text).unwrap_or("values.yaml").into(),
            target_path: owned(item.get("targetPath")),
            optional: item.get("optional").and_then(Node::as_bool).unwrap_or(false),
            at: item.get("name").map_or(item.span, |name| name.span),
        })
        .collect()
}

/// A failed first install ends in a stall unless somebody asked for retries, on install and on upgrade: the second try of
/// a stored release is an upgrade.
fn patience(node: &Node, spec_at: Span, retries_by_default: bool) -> Patience {
    const TIMEOUT_SECONDS_DEFAULT: u64 = 300;
    const RETRY_SECONDS_DEFAULT: u64 = 300;
    const REMEDIATION_SECONDS: u64 = 30;
    let at = |path: &[&str]| node.at(path);
    let timeout =
        at(&["spec", "install", "timeout"]).or(at(&["spec", "timeout"])).and_then(Node::text).and_then(parse_duration);
    let strategy = |action: &str| match at(&["spec", action, "strategy", "name"]).and_then(Node::text) {
        Some(name) => name == "RetryOnFailure",
        None => retries_by_default,
    };
    let retries = |action: &str| at(&["spec", action, "remediation", "retries"]).and_then(Node::as_int).unwrap_or(0);
    let interval = at(&["spec", "install", "strategy", "retryInterval"]).and_then(Node::text).and_then(parse_duration);
    let remembered = |retries: i64| u64::try_from(retries).unwrap_or(0);
    // The pause before the try that is an upgrade; remediation goes on at once.
    let pause_seconds =
        if strategy("install") && !strategy("upgrade") { interval.unwrap_or(RETRY_SECONDS_DEFAULT) } else { 0 };
    let (retry, attempts) = match (strategy("install"), strategy("upgrade")) {
        (true, true) => (Retry::Every(interval.unwrap_or(RETRY_SECONDS_DEFAULT)), 1),
        (true, false) if retries("upgrade") < 0 => (Retry::Every(REMEDIATION_SECONDS), 1),
        (true, false) => (Retry::Never, 2 + remembered(retries("upgrade"))),
        (false, _) if retries("install") < 0 => (Retry::Every(REMEDIATION_SECONDS), 1),
        (false, _) => (Retry::Never, 1 + remembered(retries("install"))),
    };
    let written = at(&["spec", "install", "strategy"]).or(at(&["spec", "install", "remediation"]));
    Patience {
        timeout_seconds: timeout.unwrap_or(TIMEOUT_SECONDS_DEFAULT),
        attempts,
        pause_seconds,
        retry,
        retry_at: written.map_or(spec_at, |written| written.span),
        retry_field: Some(if strategy("install") {
            RetryField::InstallStrategy
        } else {
            RetryField::InstallRemediation
        }),
    }
}
