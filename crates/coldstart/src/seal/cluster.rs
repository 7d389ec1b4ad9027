//! The cluster: keys and the controller, as they are there.

use std::time::{Duration, Instant};

use ::seal::deploy::{KEY_LABEL, KEY_LABEL_ACTIVE, KEY_NAME_PREFIX, KEY_NAMESPACE_DEFAULT};
use ::seal::key::{Adopted, from_text};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::KubeConfigOptions;
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Home;
use super::arguments::Target;
use super::failure::{ClusterFailure, RequestFault, SealFailure, Step};

/// Who wrote it, to the API server.
const FIELD_MANAGER: &str = "coldstart";
const POLL_MILLISECONDS: u64 = 250;
/// An image of the controller, whoever's registry it is from.
const IMAGE: &str = "sealed-secrets-controller";

/// The kinds that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Secret,
    Namespace,
    Deployment,
    SealedSecret,
}

impl Kind {
    fn resource(self) -> ApiResource {
        let (group, version, kind, plural) = match self {
            Self::Secret => ("", "v1", "Secret", "secrets"),
            Self::Namespace => ("", "v1", "Namespace", "namespaces"),
            Self::Deployment => ("apps", "v1", "Deployment", "deployments"),
            Self::SealedSecret => ("bitnami.com", "v1alpha1", "SealedSecret", "sealedsecrets"),
        };
        ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), plural)
    }
}

pub(crate) struct Cluster {
    runtime: Runtime,
    client: Client,
    /// Which one, for people.
    pub(crate) name: String,
}

impl Cluster {
    /// The cluster of the kubeconfig, or of one of its contexts.
    pub(crate) fn connect(context: Option<&str>) -> Result<Self, SealFailure> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ClusterFailure::Runtime)?;
        let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
        let (client, name) = runtime.block_on(async {
            // One provider of TLS in the whole program; told before the first connection.
            let _told_already = rustls::crypto::aws_lc_rs::default_provider().install_default();
            let config = Config::from_kubeconfig(&options).await;
            let config = config.map_err(|error| ClusterFailure::Kubeconfig { said: with_causes(&error) })?;
            let name = config.cluster_url.to_string();
            Ok::<_, SealFailure>((Client::try_from(config).map_err(ClusterFailure::Client)?, name))
        })?;
        Ok(Self { runtime, client, name })
    }

    fn api(&self, kind: Kind, namespace: Option<&str>) -> Api<DynamicObject> {
        match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &kind.resource()),
            None => Api::all_with(self.client.clone(), &kind.resource()),
        }
    }

    pub(crate) fn get(&self, kind: Kind, namespace: Option<&str>, name: &str) -> Result<Option<Value>, SealFailure> {
        let found = self.runtime.block_on(self.api(kind, namespace).get_opt(name));
        let found = found.map_err(|error| self.failed(Step::Get { kind, name: name.to_owned() }, error))?;
        Ok(found.map(|found| serde_json::to_value(found).unwrap_or(Value::Null)))
    }

    pub(crate) fn list(&self, kind: Kind, namespace: &str, labels: Option<&str>) -> Result<Vec<Value>, SealFailure> {
        let parameters = labels.map_or_else(ListParams::default, |labels| ListParams::default().labels(labels));
        let found = self.runtime.block_on(self.api(kind, Some(namespace)).list(&parameters));
        let found = found.map_err(|error| self.failed(Step::List { kind, namespace: namespace.to_owned() }, error))?;
        Ok(found.items.into_iter().map(|item| serde_json::to_value(item).unwrap_or(Value::Null)).collect())
    }

    /// Creates an object; one that is there already is an error.
    pub(crate) fn create(&self, kind: Kind, namespace: Option<&str>, object: Value) -> Result<(), SealFailure> {
        let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        // What serde says of an object may quote it.
        let object = serde_json::from_value(object).map_err(|_| ClusterFailure::NotAnObject)?;
        let parameters = PostParams { field_manager: Some(FIELD_MANAGER.to_owned()), ..PostParams::default() };
        let created = self.runtime.block_on(self.api(kind, namespace).create(&parameters, &object));
        created.map(drop).map_err(|error| self.failed(Step::Create { kind, name }, error))
    }

    pub(crate) fn delete(&self, kind: Kind, namespace: &str, name: &str) -> Result<(), SealFailure> {
        let deleted = self.runtime.block_on(self.api(kind, Some(namespace)).delete(name, &DeleteParams::background()));
        match deleted {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            other => other.map(drop).map_err(|error| self.failed(Step::Delete { kind, name: name.to_owned() }, error)),
        }
    }

    /// The words of an API server about a request. They name objects and rights; what a Secret holds they do not
    /// repeat, but for those about fields it did not understand: so only reason and message of plain refusals are told.
    fn failed(&self, step: Step, error: kube::Error) -> SealFailure {
        let why = match error {
            kube::Error::Api(status) if status.code == 422 || status.code == 400 => {
                RequestFault::Refused { reason: status.reason }
            }
            kube::Error::Api(status) => RequestFault::Said { message: status.message },
            other => RequestFault::Silent { cluster: self.name.clone(), said: with_causes(&other) },
        };
        ClusterFailure::Request { step, why }.into()
    }

    /// Waits until the answer is something.
    pub(crate) fn wait<T>(
        &self,
        seconds: u64,
        mut look: impl FnMut(&Self) -> Result<Option<T>, SealFailure>,
    ) -> Result<Option<T>, SealFailure> {
        let started = Instant::now();
        loop {
            if let Some(found) = look(self)? {
                return Ok(Some(found));
            }
            if started.elapsed() > Duration::from_secs(seconds) {
                return Ok(None);
            }
            std::thread::sleep(Duration::from_millis(POLL_MILLISECONDS));
        }
    }

    /// The Secrets that the controller takes for keys: those with the label, and the one of the old name.
    pub(crate) fn key_secrets(&self, namespace: &str) -> Result<Vec<Value>, SealFailure> {
        let mut secrets = self.list(Kind::Secret, namespace, Some(&format!("{KEY_LABEL}={KEY_LABEL_ACTIVE}")))?;
        let old = self.get(Kind::Secret, Some(namespace), KEY_NAME_PREFIX)?;
        let is_known = |name: &Value| secrets.iter().any(|secret| secret["metadata"]["name"] == *name);
        if let Some(old) = old.filter(|old| !is_known(&old["metadata"]["name"])) {
            secrets.push(old);
        }
        Ok(secrets)
    }

    /// Every key of the cluster. One that can't be read stops this: the controller would not start with it either.
    pub(crate) fn keys(&self, namespace: &str) -> Result<Vec<Adopted>, SealFailure> {
        let mut keys = Vec::new();
        for secret in self.key_secrets(namespace)? {
            let name = secret["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let bad = |source| ClusterFailure::BadKey { namespace: namespace.to_owned(), name, source };
            keys.extend(pairs_of(&secret).map_err(bad)?);
        }
        if keys.is_empty() {
            return Err(ClusterFailure::NoKeys { namespace: namespace.to_owned() }.into());
        }
        Ok(keys)
    }

    /// The Deployment of the controller, known by its image.
    pub(crate) fn controller(&self, namespace: &str, name: Option<&str>) -> Result<Option<Value>, SealFailure> {
        if let Some(name) = name {
            return self.get(Kind::Deployment, Some(namespace), name);
        }
        let is_controller = |deployment: &Value| {
            containers(deployment).any(|one| one["image"].as_str().is_some_and(|image| image.contains(IMAGE)))
        };
        Ok(self.list(Kind::Deployment, namespace, None)?.into_iter().find(is_controller))
    }

    /// What `kubectl rollout restart` does.
    pub(crate) fn restart(&self, deployment: &Value, at: &str) -> Result<(), SealFailure> {
        let text = |field: &str| deployment["metadata"][field].as_str().unwrap_or_default();
        let annotations = json!({"kubectl.kubernetes.io/restartedAt": at});
        let patch = json!({"spec": {"template": {"metadata": {"annotations": annotations}}}});
        let api = self.api(Kind::Deployment, Some(text("namespace")));
        let patched = self.runtime.block_on(api.patch(text("name"), &PatchParams::default(), &Patch::Merge(&patch)));
        patched.map(drop).map_err(|error| self.failed(Step::RestartController, error))
    }
}

/// The pairs in a Secret of the cluster.
pub(crate) fn pairs_of(secret: &Value) -> Result<Vec<Adopted>, ::seal::key::KeyError> {
    let mut plain = secret.clone();
    plain["kind"] = "Secret".into();
    if let Some(metadata) = plain["metadata"].as_object_mut() {
        metadata.retain(|key, _| key == "name" || key == "namespace");
    }
    from_text(&zeroize::Zeroizing::new(plain.to_string()))
}

pub(crate) fn containers(deployment: &Value) -> impl Iterator<Item = &Value> {
    deployment.pointer("/spec/template/spec/containers").and_then(Value::as_array).into_iter().flatten()
}

/// What happened, and what was behind it.
fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

/// Where the controller is: as said, or as the release in the repository says, or where kubeseal looks.
pub(crate) fn controller_namespace(home: &Home<'_>, target: &Target) -> String {
    let said = target.controller_namespace.clone().or_else(|| home.settings.controller.namespace.clone());
    said.or_else(|| super::renewal::release_namespace(home.root())).unwrap_or_else(|| KEY_NAMESPACE_DEFAULT.to_owned())
}
