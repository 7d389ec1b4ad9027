//! Admission webhooks.

use ecow::EcoString;
use serde::{Deserialize, Serialize};

use super::meta::WireMeta;
use super::wire::nullable;
use super::{Fact, Kind, Labels, Meta};

/// A Service that the API server calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServiceRef {
    pub namespace: EcoString,
    pub name: EcoString,
}

/// What the API server does when a webhook does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Failure {
    #[default]
    Fail,
    Ignore,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rule {
    #[serde(deserialize_with = "nullable")]
    pub operations: Vec<EcoString>,
    #[serde(rename = "apiGroups", deserialize_with = "nullable")]
    pub groups: Vec<EcoString>,
    #[serde(deserialize_with = "nullable")]
    pub resources: Vec<EcoString>,
}

/// One webhook of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hook {
    pub name: EcoString,
    pub failure: Failure,
    /// None: a URL outside of the cluster.
    pub service: Option<ServiceRef>,
    /// Bytes of `caBundle`: none where nothing was injected.
    pub ca_bytes: usize,
    pub timeout_seconds: Option<i64>,
    pub rules: Vec<Rule>,
    /// Whether a selector keeps some namespaces or objects out.
    pub selective: bool,
    /// Namespaces that its selector excludes or includes by their name.
    pub namespaces_not: Vec<EcoString>,
    pub namespaces_only: Vec<EcoString>,
    pub match_labels: Labels,
}

impl Hook {
    /// Whether creating a resource goes through it, as far as its rules say.
    pub fn sees(&self, group: &str, resource: &str) -> bool {
        let has = |list: &[EcoString], one: &str| list.iter().any(|item| item == "*" || item == one);
        let creates = |list: &[EcoString]| list.iter().any(|item| item == "*" || item == "CREATE");
        let names = |list: &[EcoString]| list.iter().any(|item| item == "*" || item == "*/*" || item == resource);
        self.rules.iter().any(|rule| has(&rule.groups, group) && names(&rule.resources) && creates(&rule.operations))
    }

    /// Whether objects of this namespace may go through it.
    pub fn sees_namespace(&self, namespace: &str) -> bool {
        !self.namespaces_not.iter().any(|name| name == namespace)
            && (self.namespaces_only.is_empty() || self.namespaces_only.iter().any(|name| name == namespace))
    }
}

/// A ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhooks {
    pub meta: Meta,
    pub mutating: bool,
    pub hooks: Vec<Hook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct WireWebhooks {
    metadata: WireMeta,
    #[serde(deserialize_with = "nullable")]
    webhooks: Vec<WireHook>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireHook {
    name: EcoString,
    failure_policy: Option<Failure>,
    client_config: WireClient,
    timeout_seconds: Option<i64>,
    #[serde(deserialize_with = "nullable")]
    rules: Vec<Rule>,
    #[serde(deserialize_with = "nullable")]
    namespace_selector: WireSelector,
    #[serde(deserialize_with = "nullable")]
    object_selector: WireSelector,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireClient {
    service: Option<ServiceRef>,
    #[serde(deserialize_with = "nullable")]
    ca_bundle: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WireSelector {
    match_labels: Labels,
    #[serde(deserialize_with = "nullable")]
    match_expressions: Vec<WireExpression>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireExpression {
    key: EcoString,
    operator: EcoString,
    #[serde(deserialize_with = "nullable")]
    values: Vec<EcoString>,
}

impl WireSelector {
    fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    fn names(&self, operator: &str) -> Vec<EcoString> {
        let named = self.match_expressions.iter();
        let named = named.filter(|it| it.operator == operator && it.key == "kubernetes.io/metadata.name");
        named.flat_map(|it| it.values.iter().cloned()).collect()
    }
}

impl Fact for Webhooks {
    type Wire = WireWebhooks;

    fn from_wire(wire: WireWebhooks, kind: &Kind) -> Self {
        let hook = |hook: WireHook| Hook {
            failure: hook.failure_policy.unwrap_or_default(),
            selective: !hook.namespace_selector.is_empty() || !hook.object_selector.is_empty(),
            namespaces_not: hook.namespace_selector.names("NotIn"),
            namespaces_only: hook.namespace_selector.names("In"),
            match_labels: hook.namespace_selector.match_labels,
            name: hook.name,
            service: hook.client_config.service,
            ca_bytes: hook.client_config.ca_bundle.len(),
            timeout_seconds: hook.timeout_seconds,
            rules: hook.rules,
        };
        Self {
            meta: wire.metadata.into(),
            mutating: kind.kind == "MutatingWebhookConfiguration",
            hooks: wire.webhooks.into_iter().map(hook).collect(),
        }
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }
}
