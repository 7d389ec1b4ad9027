//! The healthy cluster: nodes, a network agent, DNS, Flux, and one of everything that is looked at.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::build::{self, FLUX, SYSTEM};
use super::scene::{SOON, Scene};
use crate::{Lab, LabError, Object, Options, Process, Until};

const NODES: [&str; 3] = ["node one", "node two", "node three"];
/// Group, version, kind, plural, and whether they are in no namespace.
const CRDS: [(&str, &str, &str, &str, bool); 7] = [
    ("cert-manager.io", "v1", "Certificate", "certificates", false),
    ("cert-manager.io", "v1", "ClusterIssuer", "clusterissuers", true),
    ("external-secrets.io", "v1", "ExternalSecret", "externalsecrets", false),
    ("external-secrets.io", "v1", "ClusterSecretStore", "clustersecretstores", true),
    ("gateway.networking.k8s.io", "v1", "Gateway", "gateways", false),
    ("gateway.networking.k8s.io", "v1", "GatewayClass", "gatewayclasses", true),
    ("gadgets.example.com", "v1", "Gadget", "gadgets", false),
];

impl<'a> Scene<'a> {
    /// What a lab needs so that cases show what they would show in a cluster.
    pub fn options(name: &str) -> Options {
        Options::named(name)
            // Otherwise the API server asks webhooks at an address that nothing in a lab has.
            .flag(Process::ApiServer, "--enable-aggregator-routing=true")
            .flag(Process::ControllerManager, "--leader-elect=true")
            .flag(Process::Scheduler, "--leader-elect=true")
    }

    /// Puts a healthy cluster into an empty lab.
    pub fn healthy(lab: &'a Lab, seed: u64) -> Result<Self, LabError> {
        let scene = Self::new(lab, seed);
        for part in NODES {
            lab.add_node(&scene.name(part), &["worker"], &[], &[])?;
        }
        for (group, version, kind, plural, is_global) in CRDS {
            lab.apply_value(&build::crd(group, version, kind, plural, is_global))?;
        }
        for name in [scene.home(), scene.name("platform"), "kube-system".to_owned()] {
            lab.apply_value(&build::namespace(&name))?;
        }
        scene.set_tree(scene.files())?;
        for object in scene.system().iter().chain(&scene.played()).chain(&scene.delivery()) {
            scene.put(object)?;
        }
        scene.wait_until_ready()?;
        Ok(scene)
    }

    pub(super) fn nodes(&self) -> Vec<String> {
        NODES.iter().map(|part| self.name(part)).collect()
    }

    /// The namespace of everything that is neither Kubernetes' nor an application's.
    pub(super) fn platform(&self) -> String {
        self.name("platform")
    }

    pub(super) fn driver(&self) -> String {
        format!("{}.csi.example.org", self.name("driver"))
    }

    /// Kustomizations in the order in which they wait for each other.
    pub(super) fn chain(&self) -> [String; 3] {
        ["infrastructure", "configuration", "applications"].map(|part| self.name(part))
    }

    fn files(&self) -> BTreeMap<String, String> {
        let home = self.home();
        let web = build::deployment(&home, &self.name("web"), ("app", &self.name("web")));
        let files = [
            ("infrastructure/it.yaml", build::config_map(&home, &self.name("settings"))),
            ("configuration/it.yaml", build::config_map(&home, &self.name("more settings"))),
            ("applications/web.yaml", web),
        ];
        files.into_iter().map(|(path, value)| (path.to_owned(), value.to_string())).collect()
    }

    /// What runs in every cluster.
    fn system(&self) -> Vec<Value> {
        let platform = self.platform();
        let dns = ("k8s-app", "kube-dns");
        let mut all = vec![
            build::daemon_set(SYSTEM, "cilium", ("k8s-app", "cilium"), "quay.io/cilium/cilium:v1.18.2"),
            build::deployment(SYSTEM, "coredns", dns),
            build::service(SYSTEM, "kube-dns", dns),
        ];
        for name in ["source-controller", "kustomize-controller", "helm-controller"] {
            all.push(build::deployment(FLUX, name, ("app", name)));
        }
        for (name, part) in [
            ("cert-manager", "cert-manager"),
            ("cert-manager-webhook", "webhook"),
            ("sealed-secrets-controller", "sealed-secrets"),
            ("external-secrets", "external-secrets"),
        ] {
            all.push(build::deployment(&platform, name, ("app.kubernetes.io/name", part)));
        }
        all.push(build::service(&platform, "cert-manager-webhook", ("app.kubernetes.io/name", "webhook")));
        let hooks = (&*platform, "cert-manager-webhook");
        all.push(build::webhooks(self.lab, "cert-manager-webhook", hooks, "gadgets.example.com", "Fail"));
        let registrar = "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.15.0";
        let plugin = self.name("driver");
        all.push(build::daemon_set(&platform, &plugin, ("app", &plugin), registrar));
        all.extend(self.nodes().iter().map(|node| build::csi_node(node, Some(&self.driver()))));
        all.push(json!({"apiVersion": build::STORAGE, "kind": "CSIDriver", "metadata": {"name": self.driver()},
            "spec": {"attachRequired": true}}));
        all.push(build::storage_class(&self.name("class"), &self.driver(), "WaitForFirstConsumer"));
        all
    }

    /// What operators report of their objects.
    fn played(&self) -> Vec<Value> {
        let (home, platform) = (self.home(), self.platform());
        let mut key = build::secret(&platform, &self.name("sealing key"));
        key["metadata"]["labels"] = json!({"sealedsecrets.bitnami.com/sealed-secrets-key": "active"});
        let issuer = self.name("issuer");
        vec![
            key,
            build::sealed_secret(&home, &self.name("sealed one")),
            build::sealed_secret(&home, &self.name("sealed two")),
            build::secret(&home, &self.name("sealed one")),
            build::secret(&home, &self.name("sealed two")),
            build::secret_store(&self.name("store")),
            build::external_secret(&home, &self.name("external"), &self.name("store")),
            build::cluster_issuer(&issuer),
            build::certificate(&home, &self.name("certificate"), &issuer),
            json!({"apiVersion": build::GATEWAY, "kind": "GatewayClass", "metadata": {"name": self.name("gateway class")},
                "spec": {"controllerName": "example.org/it"},
                "status": {"conditions": [build::condition("Accepted", "True", "Accepted", "")]}}),
            json!({"apiVersion": build::GATEWAY, "kind": "Gateway",
                "metadata": {"name": self.name("gateway"), "namespace": home},
                "spec": {"gatewayClassName": self.name("gateway class")},
                "status": {"addresses": [{"value": "192.0.2.7"}],
                    "conditions": [build::condition("Programmed", "True", "Programmed", "")]}}),
        ]
    }

    /// What Flux is told to do, and an application that it does not know.
    fn delivery(&self) -> Vec<Value> {
        let home = self.home();
        let [first, second, third] = self.chain();
        let app = build::deployment(&home, &self.name("app"), ("app", &self.name("app")));
        let mut all = vec![
            build::claim(&home, &self.name("claim"), None),
            build::mounts(app, &self.name("claim")),
            build::deployment(&home, &self.name("other"), ("app", &self.name("other"))),
            build::git_repository(&self.lab.git().url(), "cluster"),
            build::kustomization(&first, "infrastructure", &[]),
            build::kustomization(&second, "configuration", &[&first]),
            build::kustomization(&third, "applications", &[&second]),
        ];
        if self.lab.is_running(Process::HelmController) {
            all.extend(super::releases::healthy(self));
        }
        all
    }

    fn wait_until_ready(&self) -> Result<(), LabError> {
        if self.lab.is_running(Process::HelmController) {
            let release = Object::helm_release(&self.home(), &self.name("release"));
            self.lab.wait_for(&release, &Until::ready(), SOON)?;
        }
        for name in self.chain() {
            self.lab.wait_for(&build::the(&name), &Until::ready(), SOON)?;
        }
        for deployment in self.lab.list("apps/v1", "Deployment", None)? {
            if let Some(object) = Object::of(&with_type(&deployment, "Deployment")) {
                self.lab.wait_for(&object, &Until::ready(), SOON)?;
            }
        }
        self.lab.wait_for(&Object::daemon_set(SYSTEM, "cilium"), &Until::ready(), SOON)?;
        Ok(())
    }

    /// The chart of releases: one Deployment, whose pods take as long as the values say.
    pub(super) fn offer_chart(&self) -> Result<(), LabError> {
        let io = |error| LabError::io("write a chart")(error);
        let directory = tempfile::tempdir().map_err(io)?;
        std::fs::create_dir(directory.path().join("templates")).map_err(io)?;
        let files = [
            ("Chart.yaml", "apiVersion: v2\nname: app\nversion: 1.0.0\n"),
            ("values.yaml", "delay: 0s\n"),
            ("templates/app.yaml", CHART),
        ];
        for (name, text) in files {
            std::fs::write(directory.path().join(name), text).map_err(io)?;
        }
        self.lab.charts().add(directory.path(), "app", "1.0.0")
    }
}

const CHART: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}}
spec:
  selector: {matchLabels: {app: {{ .Release.Name }}}}
  template:
    metadata:
      labels: {app: {{ .Release.Name }}}
      annotations: {lab.coldstart.dev/ready-after: {{ .Values.delay | quote }}}
    spec:
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: 'registry.example.org/main:1'}]
";

/// Items of a list are told without their type.
fn with_type(item: &Value, kind: &str) -> Value {
    let mut item = item.clone();
    item["apiVersion"] = "apps/v1".into();
    item["kind"] = kind.into();
    item
}
