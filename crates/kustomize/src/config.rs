//! Transformer configuration: where in which kinds the names, labels, images and references are.
//!
//! The default is what kustomize has built in; a kustomization adds to it with `configurations` and `crds`. Knows tables,
//! not what transformers do with them.

use foldhash::{HashMap, HashMapExt as _};
use std::sync::{Arc, LazyLock};

use ecow::EcoString;
use yaml::{Cost, Node};

use crate::fieldspec::{FieldError, FieldSpec, merge_specs};
use crate::id::Gvk;
use crate::sort;

#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    pub(crate) name_prefix: Vec<FieldSpec>,
    pub(crate) name_suffix: Vec<FieldSpec>,
    pub(crate) namespace: Vec<FieldSpec>,
    pub(crate) common_labels: Vec<FieldSpec>,
    pub(crate) labels: Vec<FieldSpec>,
    pub(crate) template_labels: Vec<FieldSpec>,
    pub(crate) volume_claim_template_labels: Vec<FieldSpec>,
    pub(crate) common_annotations: Vec<FieldSpec>,
    pub(crate) name_reference: Vec<BackReference>,
    pub(crate) var_reference: Vec<FieldSpec>,
    pub(crate) images: Vec<FieldSpec>,
    pub(crate) replicas: Vec<FieldSpec>,
}

/// For each kind of referrer, the places in [`Config::name_reference`] that speak of it: of the reference, and in it.
pub(crate) type ReferenceIndex = HashMap<EcoString, Vec<(usize, usize)>>;

/// Where objects name others of one kind.
#[derive(Clone, Debug)]
pub(crate) struct BackReference {
    pub(crate) target: Gvk,
    pub(crate) referrers: Vec<FieldSpec>,
}

impl Config {
    /// Shared by every build that configures nothing.
    pub(crate) fn built_in() -> Arc<Self> {
        static BUILT_IN: LazyLock<Arc<Config>> = LazyLock::new(|| {
            let mut config = defaults();
            config.sort();
            Arc::new(config)
        });
        Arc::clone(&BUILT_IN)
    }

    /// Before anything was configured, not even the defaults.
    pub(crate) fn none() -> Arc<Self> {
        static NONE: LazyLock<Arc<Config>> = LazyLock::new(Arc::default);
        Arc::clone(&NONE)
    }

    /// The name references by the kind that holds them. There are some two hundred, and every build asks.
    pub(crate) fn references_by_kind(self: &Arc<Self>) -> Arc<ReferenceIndex> {
        static BUILT_IN: LazyLock<Arc<ReferenceIndex>> = LazyLock::new(|| Arc::new(index(&Config::built_in())));
        if Arc::ptr_eq(self, &Self::built_in()) { Arc::clone(&BUILT_IN) } else { Arc::new(index(self)) }
    }

    /// One file of `configurations`.
    pub(crate) fn read(node: &Node) -> Self {
        let specs = |key: &str| node.items_at(key).iter().map(FieldSpec::read).collect::<Vec<_>>();
        Self {
            name_prefix: specs("namePrefix"),
            name_suffix: specs("nameSuffix"),
            namespace: specs("namespace"),
            common_labels: specs("commonLabels"),
            labels: specs("labels"),
            template_labels: specs("templateLabels"),
            volume_claim_template_labels: specs("volumeClaimTemplateLabels"),
            common_annotations: specs("commonAnnotations"),
            name_reference: node.items_at("nameReference").iter().map(BackReference::read).collect(),
            var_reference: specs("varReference"),
            images: specs("images"),
            replicas: specs("replicas"),
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<(), FieldError> {
        merge_specs(&mut self.name_prefix, &other.name_prefix)?;
        merge_specs(&mut self.name_suffix, &other.name_suffix)?;
        merge_specs(&mut self.namespace, &other.namespace)?;
        merge_specs(&mut self.common_labels, &other.common_labels)?;
        merge_specs(&mut self.labels, &other.labels)?;
        merge_specs(&mut self.template_labels, &other.template_labels)?;
        merge_specs(&mut self.volume_claim_template_labels, &other.volume_claim_template_labels)?;
        merge_specs(&mut self.common_annotations, &other.common_annotations)?;
        merge_specs(&mut self.var_reference, &other.var_reference)?;
        merge_specs(&mut self.images, &other.images)?;
        merge_specs(&mut self.replicas, &other.replicas)?;
        other.name_reference.iter().try_for_each(|reference| self.merge_reference(reference))?;
        self.sort();
        Ok(())
    }

    /// Every one of another is held against every one that is there.
    pub(crate) fn cost_of_merge(&self, other: &Self) -> Cost {
        let (own, others) = (self.specs().count(), other.specs().count());
        Cost::made(others, 0).and(Cost::seen(own / 8).times(others))
    }

    /// Whether a path makes objects nest deeper than any file may.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.specs().any(FieldSpec::is_too_deep)
    }

    fn specs(&self) -> impl Iterator<Item = &FieldSpec> {
        let lists = [
            &self.name_prefix,
            &self.name_suffix,
            &self.namespace,
            &self.common_labels,
            &self.labels,
            &self.template_labels,
            &self.volume_claim_template_labels,
            &self.common_annotations,
            &self.var_reference,
            &self.images,
            &self.replicas,
        ];
        let references = self.name_reference.iter().map(|reference| &reference.referrers);
        lists.into_iter().chain(references).flatten()
    }

    /// The order decides which specs count as covered by others in the next merge.
    fn sort(&mut self) {
        for specs in [
            &mut self.name_prefix,
            &mut self.name_suffix,
            &mut self.namespace,
            &mut self.common_labels,
            &mut self.labels,
            &mut self.template_labels,
            &mut self.volume_claim_template_labels,
            &mut self.common_annotations,
            &mut self.var_reference,
            &mut self.images,
            &mut self.replicas,
        ] {
            specs.sort_by(|one, other| sort::compare_kinds(&one.gvk, &other.gvk));
        }
        self.name_reference.sort_by(|one, other| sort::compare_kinds(&one.target, &other.target));
    }

    fn merge_reference(&mut self, reference: &BackReference) -> Result<(), FieldError> {
        if let Some(known) = self.name_reference.iter_mut().find(|known| known.target == reference.target) {
            return merge_specs(&mut known.referrers, &reference.referrers);
        }
        self.name_reference.push(reference.clone());
        Ok(())
    }
}

impl BackReference {
    fn read(node: &Node) -> Self {
        let referrers = node.items_at("fieldSpecs").iter().map(FieldSpec::read).collect();
        Self { target: FieldSpec::read(node).gvk, referrers }
    }
}

fn index(config: &Config) -> ReferenceIndex {
    let mut index = ReferenceIndex::new();
    for (at, reference) in config.name_reference.iter().enumerate() {
        for (place, spec) in reference.referrers.iter().enumerate() {
            index.entry(spec.gvk.kind.clone()).or_default().push((at, place));
        }
    }
    index
}

/// `kind`, `group/kind` or `group/version/kind`, with nothing for any.
fn gvk(text: &str) -> Gvk {
    let mut parts = text.rsplit('/');
    let kind = parts.next().unwrap_or_default().into();
    let (second, third) = (parts.next(), parts.next());
    match (third, second) {
        (Some(group), Some(version)) => Gvk { group: group.into(), version: version.into(), kind },
        (None, Some(group)) => Gvk { group: group.into(), kind, ..Gvk::default() },
        _ => Gvk { kind, ..Gvk::default() },
    }
}

fn spec(kind: &str, path: &str, create: bool) -> FieldSpec {
    FieldSpec::new(gvk(kind), path, create)
}

fn defaults() -> Config {
    let template_labels = metadata_fields("labels", "apps/StatefulSet");
    let volume_claim_template_labels =
        vec![spec("apps/StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels", true)];
    let mut common_labels = selector_fields();
    common_labels.extend(template_labels.iter().cloned());
    common_labels.extend(volume_claim_template_labels.iter().cloned());
    Config {
        name_prefix: vec![spec("", "metadata/name", false)],
        name_suffix: vec![spec("", "metadata/name", false)],
        namespace: vec![
            spec("Namespace", "metadata/name", true),
            spec("apiregistration.k8s.io/APIService", "spec/service/namespace", true),
            spec(
                "apiextensions.k8s.io/CustomResourceDefinition",
                "spec/conversion/webhook/clientConfig/service/namespace",
                false,
            ),
        ],
        common_labels,
        labels: Vec::new(),
        template_labels,
        volume_claim_template_labels,
        common_annotations: metadata_fields("annotations", "StatefulSet"),
        name_reference: name_references(),
        var_reference: var_references(),
        images: image_fields(),
        replicas: ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
            .map(|kind| spec(kind, "spec/replicas", true))
            .to_vec(),
    }
}

fn image_fields() -> Vec<FieldSpec> {
    let paths = ["containers[]/image", "initContainers[]/image", "volumes[]/image/reference"];
    let pods = ["spec", "spec/template/spec"];
    pods.iter().flat_map(|pod| paths.map(|path| spec("", &format!("{pod}/{path}"), true))).collect()
}

/// An object's own metadata and that of the pods and jobs it makes.
fn metadata_fields(field: &str, stateful_set: &str) -> Vec<FieldSpec> {
    let mut specs = vec![spec("", &format!("metadata/{field}"), true)];
    let template = format!("spec/template/metadata/{field}");
    for kind in ["/v1/ReplicationController", "Deployment", "ReplicaSet", "DaemonSet", stateful_set, "batch/Job"] {
        specs.push(spec(kind, &template, true));
    }
    specs.push(spec("batch/CronJob", &format!("spec/jobTemplate/metadata/{field}"), true));
    specs.push(spec("batch/CronJob", &format!("spec/jobTemplate/spec/template/metadata/{field}"), true));
    specs
}

fn selector_fields() -> Vec<FieldSpec> {
    let mut specs = vec![
        spec("/v1/Service", "spec/selector", true),
        spec("/v1/ReplicationController", "spec/selector", true),
        spec("Deployment", "spec/selector/matchLabels", true),
        spec("ReplicaSet", "spec/selector/matchLabels", true),
        spec("DaemonSet", "spec/selector/matchLabels", true),
        spec("apps/StatefulSet", "spec/selector/matchLabels", true),
        spec("batch/Job", "spec/selector/matchLabels", false),
        spec("batch/CronJob", "spec/jobTemplate/spec/selector/matchLabels", false),
        spec("policy/PodDisruptionBudget", "spec/selector/matchLabels", false),
        spec("networking.k8s.io/NetworkPolicy", "spec/podSelector/matchLabels", false),
        spec("networking.k8s.io/NetworkPolicy", "spec/ingress/from/podSelector/matchLabels", false),
        spec("networking.k8s.io/NetworkPolicy", "spec/egress/to/podSelector/matchLabels", false),
    ];
    for kind in ["apps/Deployment", "apps/StatefulSet"] {
        for affinity in ["podAffinity", "podAntiAffinity"] {
            let base = format!("spec/template/spec/affinity/{affinity}");
            let preferred = "preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels";
            let required = "requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels";
            specs.push(spec(kind, &format!("{base}/{preferred}"), false));
            specs.push(spec(kind, &format!("{base}/{required}"), false));
        }
        specs.push(spec(kind, "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels", false));
    }
    specs
}

/// Kinds that hold a pod, with the path to it.
const POD_HOLDERS: [(&str, &str); 8] = [
    ("/v1/Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// The same for references to service accounts, claims and priority classes: another list in kustomize, for no reason.
const POD_HOLDERS_BY_NAME: [(&str, &str); 7] = [
    ("Pod", "spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
];

fn name_references() -> Vec<BackReference> {
    let mut references: Vec<BackReference> = ["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"]
        .map(|kind| reference(kind, vec![spec("HorizontalPodAutoscaler", "spec/scaleTargetRef/name", false)]))
        .to_vec();
    references.push(reference("/v1/ConfigMap", config_map_referrers()));
    references.push(reference("/v1/Secret", secret_referrers()));
    references.push(reference("/v1/Service", fields(&SERVICE_REFERRERS)));
    references.push(reference("rbac.authorization.k8s.io/Role", fields(&ROLE_REFERRERS[..1])));
    references.push(reference("rbac.authorization.k8s.io/ClusterRole", fields(&ROLE_REFERRERS)));
    references.push(reference("/v1/ServiceAccount", {
        let mut specs = fields(&SUBJECT_REFERRERS);
        specs.extend(in_pods(&POD_HOLDERS_BY_NAME, &["serviceAccountName"]));
        specs
    }));
    let claims = in_pods(&POD_HOLDERS_BY_NAME, &["volumes/persistentVolumeClaim/claimName"]);
    references.push(reference("/v1/PersistentVolumeClaim", claims));
    references.push(reference("/v1/PersistentVolume", fields(&VOLUME_REFERRERS)));
    references.push(reference("storage.k8s.io/v1/StorageClass", fields(&STORAGE_CLASS_REFERRERS)));
    let priorities = in_pods(&POD_HOLDERS_BY_NAME, &["priorityClassName"]);
    references.push(reference("scheduling.k8s.io/v1/PriorityClass", priorities));
    references.push(reference("admissionregistration.k8s.io/ValidatingAdmissionPolicy", fields(&POLICY_REFERRERS)));
    references
}

const SERVICE_REFERRERS: [(&str, &str); 8] = [
    ("apps/StatefulSet", "spec/serviceName"),
    ("Ingress", "spec/rules/http/paths/backend/serviceName"),
    ("Ingress", "spec/backend/serviceName"),
    ("Ingress", "spec/rules/http/paths/backend/service/name"),
    ("Ingress", "spec/defaultBackend/service/name"),
    ("apiregistration.k8s.io/APIService", "spec/service/name"),
    ("admissionregistration.k8s.io/ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
    ("admissionregistration.k8s.io/MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
];

const ROLE_REFERRERS: [(&str, &str); 2] = [
    ("rbac.authorization.k8s.io/RoleBinding", "roleRef/name"),
    ("rbac.authorization.k8s.io/ClusterRoleBinding", "roleRef/name"),
];

const SUBJECT_REFERRERS: [(&str, &str); 2] = [
    ("rbac.authorization.k8s.io/RoleBinding", "subjects"),
    ("rbac.authorization.k8s.io/ClusterRoleBinding", "subjects"),
];

const VOLUME_REFERRERS: [(&str, &str); 2] =
    [("PersistentVolumeClaim", "spec/volumeName"), ("ClusterRole", "rules/resourceNames")];

const STORAGE_CLASS_REFERRERS: [(&str, &str); 3] = [
    ("PersistentVolume", "spec/storageClassName"),
    ("PersistentVolumeClaim", "spec/storageClassName"),
    ("StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
];

const POLICY_REFERRERS: [(&str, &str); 1] =
    [("admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding", "spec/policyName")];

const CONFIG_MAP_REFERRERS: [(&str, &str); 4] = [
    ("Node", "spec/configSource/configMap"),
    ("Role", "rules/resourceNames"),
    ("ClusterRole", "rules/resourceNames"),
    ("Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/fastcgi-params-configmap"),
];

const SECRET_REFERRERS: [(&str, &str); 13] = [
    ("Ingress", "spec/tls/secretName"),
    ("Ingress", r"metadata/annotations/ingress.kubernetes.io\/auth-secret"),
    ("Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-secret"),
    ("Ingress", r"metadata/annotations/nginx.ingress.kubernetes.io\/auth-tls-secret"),
    ("ServiceAccount", "imagePullSecrets/name"),
    ("StorageClass", "parameters/secretName"),
    ("StorageClass", "parameters/adminSecretName"),
    ("StorageClass", "parameters/userSecretName"),
    ("StorageClass", "parameters/secretRef"),
    ("Role", "rules/resourceNames"),
    ("ClusterRole", "rules/resourceNames"),
    ("serving.knative.dev/v1/Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
    ("PersistentVolume", "spec/azureFile/secretName"),
];

fn config_map_referrers() -> Vec<FieldSpec> {
    let paths = [
        "volumes/configMap/name",
        "containers/env/valueFrom/configMapKeyRef/name",
        "initContainers/env/valueFrom/configMapKeyRef/name",
        "containers/envFrom/configMapRef/name",
        "initContainers/envFrom/configMapRef/name",
        "volumes/projected/sources/configMap/name",
    ];
    let mut specs = in_pods(&POD_HOLDERS, &paths);
    specs.extend(fields(&CONFIG_MAP_REFERRERS));
    specs
}

fn secret_referrers() -> Vec<FieldSpec> {
    let paths = [
        "volumes/secret/secretName",
        "containers/env/valueFrom/secretKeyRef/name",
        "initContainers/env/valueFrom/secretKeyRef/name",
        "containers/envFrom/secretRef/name",
        "initContainers/envFrom/secretRef/name",
        "imagePullSecrets/name",
        "volumes/projected/sources/secret/name",
    ];
    let mut specs = in_pods(&POD_HOLDERS, &paths);
    specs.extend(fields(&SECRET_REFERRERS));
    specs
}

fn var_references() -> Vec<FieldSpec> {
    let in_container = ["args", "command", "env/value", "volumeMounts/mountPath"];
    let lists = ["containers", "initContainers"];
    let mut paths: Vec<String> = Vec::new();
    for list in lists {
        paths.extend(in_container.map(|path| format!("{list}/{path}")));
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let holders = POD_HOLDERS.iter().filter(|(kind, _)| *kind != "PodTemplate");
    let holders: Vec<_> = holders.map(|(kind, path)| (kind.trim_start_matches("/v1/"), *path)).collect();
    let mut specs = in_pods(&holders, &paths);
    let of_pods = holders.iter().filter(|(kind, _)| !matches!(*kind, "CronJob" | "StatefulSet"));
    specs.extend(of_pods.map(|(kind, path)| spec(kind, &format!("{path}/volumes/nfs/server"), false)));
    specs.extend(fields(&[
        // These two are not where the volumes are, but where kustomize looks.
        ("CronJob", "spec/jobTemplate/spec/template/volumes/nfs/server"),
        ("StatefulSet", "spec/volumeClaimTemplates/spec/nfs/server"),
        ("Deployment", "spec/template/metadata/annotations"),
        ("Ingress", "spec/rules/host"),
        ("Ingress", "spec/tls/hosts"),
        ("Ingress", "spec/tls/secretName"),
        ("PersistentVolume", "spec/nfs/server"),
        ("Service", "spec/ports/port"),
        ("Service", "spec/ports/targetPort"),
        ("", "metadata/labels"),
        ("", "metadata/annotations"),
    ]));
    specs
}

fn in_pods(holders: &[(&str, &str)], paths: &[&str]) -> Vec<FieldSpec> {
    let spec_at = |(kind, pod): &(&str, &str), path: &&str| spec(kind, &format!("{pod}/{path}"), false);
    holders.iter().flat_map(|holder| paths.iter().map(move |path| spec_at(holder, path))).collect()
}

fn fields(list: &[(&str, &str)]) -> Vec<FieldSpec> {
    list.iter().map(|(kind, path)| spec(kind, path, false)).collect()
}

fn reference(target: &str, referrers: Vec<FieldSpec>) -> BackReference {
    BackReference { target: gvk(target), referrers }
}
