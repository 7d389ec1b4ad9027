//! What clusters are made of: charts that the catalogue knows, what stands behind them, and what applications make of them.

/// A release, the custom resources behind it, and what an application that uses it has.
#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) name: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) chart: &'static str,
    /// Of its release.
    pub(crate) values: &'static str,
    /// In how many clusters of a hundred it is; half as many applications use it.
    pub(crate) percent: u64,
    /// What its own Kustomization depends on.
    pub(crate) after: &'static [&'static str],
    /// What stands behind it, in a Kustomization of its own.
    pub(crate) objects: &'static str,
    pub(crate) config_after: &'static [&'static str],
    /// What an application has of it: a file and its text.
    pub(crate) uses: &'static [(&'static str, &'static str)],
    /// Into the container of that application.
    pub(crate) app_values: &'static str,
}

const NONE: Operator = Operator {
    name: "",
    namespace: "",
    chart: "",
    values: "",
    percent: 50,
    after: &[],
    objects: "",
    config_after: &[],
    uses: &[],
    app_values: "",
};

pub(crate) const OPERATORS: &[Operator] = &[
    Operator {
        name: "cert-manager",
        namespace: "cert-manager",
        chart: "cert-manager",
        values: "    crds:\n      enabled: true\n",
        percent: 70,
        objects: ISSUER,
        uses: &[("certificate.yaml", CERTIFICATE)],
        ..NONE
    },
    Operator {
        name: "local-path-provisioner",
        namespace: "storage",
        chart: "local-path-provisioner",
        percent: 70,
        uses: &[("claim.yaml", CLAIM)],
        app_values: "VOLUME",
        ..NONE
    },
    Operator {
        name: "external-secrets",
        namespace: "external-secrets",
        chart: "external-secrets",
        percent: 60,
        objects: STORE,
        uses: &[("externalsecret.yaml", EXTERNAL_SECRET)],
        app_values: "            envFrom:\n              - secretRef:\n                  name: NAME-external\n",
        ..NONE
    },
    Operator {
        name: "sealed-secrets",
        namespace: "kube-system",
        chart: "sealed-secrets",
        percent: 60,
        uses: &[("sealedsecret.yaml", SEALED_SECRET)],
        app_values: "            env:\n              PASSWORD:\n                valueFrom:\n                  secretKeyRef:\n                    \
                     name: NAME-sealed\n                    key: password\n",
        ..NONE
    },
    Operator {
        name: "metallb",
        namespace: "metallb-system",
        chart: "metallb",
        percent: 40,
        objects: ADDRESSES,
        ..NONE
    },
    Operator {
        name: "cloudnative-pg",
        namespace: "database",
        chart: "cloudnative-pg",
        percent: 40,
        objects: POSTGRES,
        config_after: &["local-path-provisioner"],
        after: &["local-path-provisioner"],
        ..NONE
    },
    Operator {
        name: "dragonfly-operator",
        namespace: "database",
        chart: "dragonfly-operator",
        percent: 40,
        objects: DRAGONFLY,
        ..NONE
    },
    Operator {
        name: "mariadb-operator",
        namespace: "database",
        chart: "mariadb-operator",
        values: "    crds:\n      enabled: true\n",
        percent: 30,
        objects: MARIADB,
        config_after: &["local-path-provisioner"],
        after: &["local-path-provisioner"],
        ..NONE
    },
    Operator {
        name: "grafana-operator",
        namespace: "observability",
        chart: "grafana-operator",
        percent: 30,
        objects: GRAFANA,
        ..NONE
    },
    Operator {
        name: "trust-manager",
        namespace: "cert-manager",
        chart: "trust-manager",
        percent: 25,
        after: &["cert-manager"],
        objects: BUNDLE,
        ..NONE
    },
    Operator {
        name: "snapshot-controller",
        namespace: "kube-system",
        chart: "snapshot-controller",
        percent: 30,
        ..NONE
    },
    Operator {
        name: "volsync",
        namespace: "storage",
        chart: "volsync",
        percent: 25,
        after: &["snapshot-controller"],
        ..NONE
    },
    Operator { name: "reloader", namespace: "kube-system", chart: "reloader", ..NONE },
    Operator { name: "metrics-server", namespace: "kube-system", chart: "metrics-server", ..NONE },
];

const ISSUER: &str = "\
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata:
  name: internal
spec:
  selfSigned: {}
";

const CERTIFICATE: &str = "\
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata:
  name: NAME
spec:
  secretName: NAME-tls
  dnsNames: [NAME.example.org]
  issuerRef:
    kind: ClusterIssuer
    name: internal
";

const CLAIM: &str = "\
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: NAME
spec:
  accessModes: [ReadWriteOnce]
  resources:
    requests:
      storage: 5Gi
  storageClassName: local-path
";

/// A store that ExternalSecrets are copied from.
pub const STORE: &str = "\
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata:
  name: vault
spec:
  provider:
    vault:
      server: https://vault.example.org
      path: secret
";

const EXTERNAL_SECRET: &str = "\
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata:
  name: NAME
spec:
  secretStoreRef:
    kind: ClusterSecretStore
    name: vault
  target:
    name: NAME-external
  dataFrom:
    - extract:
        key: NAME
";

const SEALED_SECRET: &str = "\
---
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata:
  name: NAME-sealed
spec:
  encryptedData:
    password: not-a-real-ciphertext
  template:
    metadata:
      name: NAME-sealed
";

const ADDRESSES: &str = "\
---
apiVersion: metallb.io/v1beta1
kind: IPAddressPool
metadata:
  name: pool
spec:
  addresses: [192.0.2.10-192.0.2.50]
---
apiVersion: metallb.io/v1beta1
kind: L2Advertisement
metadata:
  name: pool
spec:
  ipAddressPools: [pool]
";

const POSTGRES: &str = "\
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata:
  name: postgres
spec:
  instances: 1
  storage:
    size: 5Gi
    storageClass: local-path
";

const DRAGONFLY: &str = "\
---
apiVersion: dragonflydb.io/v1alpha1
kind: Dragonfly
metadata:
  name: cache
spec:
  replicas: 1
";

const MARIADB: &str = "\
---
apiVersion: k8s.mariadb.com/v1alpha1
kind: MariaDB
metadata:
  name: maria
spec:
  rootPasswordSecretKeyRef:
    name: maria-root
    key: password
    generate: true
  storage:
    size: 5Gi
    storageClassName: local-path
";

const GRAFANA: &str = "\
---
apiVersion: grafana.integreatly.org/v1beta1
kind: Grafana
metadata:
  name: grafana
spec:
  config:
    log:
      mode: console
";

const BUNDLE: &str = "\
---
apiVersion: trust.cert-manager.io/v1alpha1
kind: Bundle
metadata:
  name: internal
spec:
  sources:
    - useDefaultCAs: true
  target:
    configMap:
      key: ca.pem
";
