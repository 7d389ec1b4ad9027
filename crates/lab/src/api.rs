//! Talking to the API server: any kind, blocking.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::core::{GroupVersionKind, discovery::Scope};
use kube::runtime::{WatchStreamExt as _, watcher};
use kube::{Client, Config};
use serde_json::Value;

use crate::{LabError, NotInTime, Object, Until};

/// How long to wait before asking again for a kind that is not served (yet).
const UNKNOWN_KIND_RETRY: Duration = Duration::from_millis(300);
const FIELD_MANAGER: &str = "lab";

/// What the API server said about kinds, by API version and kind.
type Kinds = BTreeMap<(String, String), (ApiResource, Scope)>;

/// A client for one lab's API server.
#[derive(Clone)]
pub(crate) struct Kubernetes {
    pub(crate) client: Client,
    kinds: Arc<Mutex<Kinds>>,
}

impl std::fmt::Debug for Kubernetes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Kubernetes")
    }
}

impl Kubernetes {
    /// Must be called inside the runtime.
    pub(crate) fn connect(port: u16, ca: Vec<u8>, token: &str) -> Result<Self, LabError> {
        let url = format!("https://127.0.0.1:{port}").parse().map_err(|_| LabError::Yaml("a URL".to_owned()))?;
        let mut config = Config::new(url);
        config.root_cert = Some(vec![ca]);
        config.auth_info.token = Some(token.to_owned().into());
        let client = Client::try_from(config).map_err(LabError::api("make a client"))?;
        Ok(Self { client, kinds: Arc::default() })
    }

    pub(crate) async fn is_ready(&self) -> bool {
        let Ok(request) = axum::http::Request::get("/readyz").body(Vec::new()) else { return false };
        self.client.request_text(request).await.is_ok()
    }

    async fn kind(&self, api_version: &str, kind: &str) -> Result<(ApiResource, Scope), kube::Error> {
        let key = (api_version.to_owned(), kind.to_owned());
        if let Some(known) = self.kinds.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.clone());
        }
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let wanted = GroupVersionKind::gvk(group, version, kind);
        let (resource, capabilities) = kube::discovery::pinned_kind(&self.client, &wanted).await?;
        let found = (resource, capabilities.scope);
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner).insert(key, found.clone());
        Ok(found)
    }

    async fn api(&self, object: &Object) -> Result<Api<DynamicObject>, kube::Error> {
        let (resource, scope) = self.kind(&object.api_version, &object.kind).await?;
        Ok(match scope {
            Scope::Cluster => Api::all_with(self.client.clone(), &resource),
            Scope::Namespaced => {
                let namespace = object.namespace.as_deref().unwrap_or("default");
                Api::namespaced_with(self.client.clone(), namespace, &resource)
            }
        })
    }

    /// All objects of a kind, everywhere. What a watch needs.
    pub(crate) async fn everywhere(&self, api_version: &str, kind: &str) -> Result<Api<DynamicObject>, kube::Error> {
        let (resource, _scope) = self.kind(api_version, kind).await?;
        Ok(Api::all_with(self.client.clone(), &resource))
    }

    /// Server-side apply of every document, in order. A CRD is waited for, so its objects may follow it.
    pub(crate) async fn apply(&self, documents: &[Value]) -> Result<Vec<Object>, LabError> {
        let mut applied = Vec::new();
        for document in documents {
            let kind = document["kind"].as_str().unwrap_or("without a kind").to_owned();
            let object =
                Object::of(document).ok_or(LabError::Incomplete { kind, what: "apiVersion, kind or metadata.name" })?;
            let step = || format!("apply {object}");
            let api = self.api(&object).await.map_err(LabError::api(step()))?;
            let parameters = PatchParams::apply(FIELD_MANAGER).force();
            api.patch(&object.name, &parameters, &Patch::Apply(document)).await.map_err(LabError::api(step()))?;
            if object.kind == "CustomResourceDefinition" {
                self.wait(&object, &Until::condition("Established", "True"), Duration::from_secs(20)).await?;
            }
            applied.push(object);
        }
        Ok(applied)
    }

    pub(crate) async fn create(&self, document: &Value) -> Result<(), LabError> {
        let kind = document["kind"].as_str().unwrap_or("without a kind").to_owned();
        let object = Object::of(document).ok_or(LabError::Incomplete { kind, what: "apiVersion, kind or name" })?;
        let step = || format!("create {object}");
        let api = self.api(&object).await.map_err(LabError::api(step()))?;
        let body = serde_json::from_value(document.clone()).map_err(|error| LabError::Yaml(error.to_string()))?;
        api.create(&PostParams::default(), &body).await.map(drop).map_err(LabError::api(step()))
    }

    pub(crate) async fn patch(
        &self,
        object: &Object,
        patch: &Value,
        subresource: Option<&str>,
    ) -> Result<(), LabError> {
        let step = || format!("patch {object}");
        let api = self.api(object).await.map_err(LabError::api(step()))?;
        let (parameters, patch) = (PatchParams::default(), Patch::Merge(patch));
        match subresource {
            Some("status") => api.patch_status(&object.name, &parameters, &patch).await,
            Some(other) => api.patch_subresource(other, &object.name, &parameters, &patch).await,
            None => api.patch(&object.name, &parameters, &patch).await,
        }
        .map(drop)
        .map_err(LabError::api(step()))
    }

    pub(crate) async fn get(&self, object: &Object) -> Result<Option<Value>, LabError> {
        let step = || format!("get {object}");
        let api = self.api(object).await.map_err(LabError::api(step()))?;
        let found = api.get_opt(&object.name).await.map_err(LabError::api(step()))?;
        Ok(found.as_ref().map(plain))
    }

    pub(crate) async fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Value>, LabError> {
        let step = || format!("list {kind}");
        let (resource, _scope) = self.kind(api_version, kind).await.map_err(LabError::api(step()))?;
        let api: Api<DynamicObject> = match namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, &resource),
            None => Api::all_with(self.client.clone(), &resource),
        };
        let found = api.list(&ListParams::default()).await.map_err(LabError::api(step()))?;
        Ok(found.items.iter().map(|item| typed(item, api_version, kind)).collect())
    }

    pub(crate) async fn delete(&self, object: &Object) -> Result<(), LabError> {
        let step = || format!("delete {object}");
        let api = self.api(object).await.map_err(LabError::api(step()))?;
        match api.delete(&object.name, &DeleteParams::background()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            other => other.map(drop).map_err(LabError::api(step())),
        }
    }

    /// Watches one object until the condition holds. Survives an API server that is away and a kind that is not there
    /// yet: both are only reasons.
    pub(crate) async fn wait(&self, object: &Object, until: &Until, timeout: Duration) -> Result<Value, NotInTime> {
        let start = Instant::now();
        let mut last_reason = "nothing was seen yet".to_owned();
        let watch = async {
            loop {
                let api = match self.api(object).await {
                    Ok(api) => api,
                    Err(error) => {
                        last_reason = format!("cannot look: {error}");
                        if until.test(None).is_ok() && matches!(error, kube::Error::Discovery(_)) {
                            return Value::Null;
                        }
                        tokio::time::sleep(UNKNOWN_KIND_RETRY).await;
                        continue;
                    }
                };
                let mut changes = watcher::watch_object(api, &object.name).default_backoff().boxed();
                while let Some(change) = changes.next().await {
                    let seen = match change {
                        Ok(seen) => seen.as_ref().map(|seen| typed(seen, &object.api_version, &object.kind)),
                        Err(error) => {
                            last_reason = format!("cannot look: {error}");
                            continue;
                        }
                    };
                    match until.test(seen.as_ref()) {
                        Ok(()) => return seen.unwrap_or(Value::Null),
                        Err(reason) => last_reason = reason,
                    }
                }
            }
        };
        let outcome = tokio::time::timeout(timeout, watch).await;
        outcome.map_err(|_| NotInTime {
            object: Box::new(object.clone()),
            wanted: until.wanted().to_owned(),
            last_reason,
            after: start.elapsed(),
        })
    }
}

/// A dynamic object as plain JSON.
pub(crate) fn plain(object: &DynamicObject) -> Value {
    serde_json::to_value(object).unwrap_or(Value::Null)
}

/// The same with its type, which lists leave out because it is the same for every item.
pub(crate) fn typed(object: &DynamicObject, api_version: &str, kind: &str) -> Value {
    let mut value = plain(object);
    value["apiVersion"] = api_version.into();
    value["kind"] = kind.into();
    value
}

/// The documents of a YAML text; empty ones are left out.
pub(crate) fn documents(yaml: &str) -> Result<Vec<Value>, LabError> {
    let all: Vec<Value> = serde_saphyr::from_multiple(yaml).map_err(|error| LabError::Yaml(error.to_string()))?;
    Ok(all.into_iter().filter(|document| !document.is_null()).collect())
}
