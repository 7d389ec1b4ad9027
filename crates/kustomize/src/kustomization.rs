//! The kustomization file: which fields there are, and what was written in them.
//!
//! Fields are kept as they were written, spans and all, and each transformer reads its own. Knows the file, not the build.

use source::Span;
use yaml::{Map, Node, Value};

use crate::schema;
use crate::{BuildError, Failure};

/// The names of kustomize's file, in the order of its own search.
pub const FILE_NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

#[derive(Clone, Debug)]
pub(crate) struct Kustomization {
    pub(crate) span: Span,
    pub(crate) is_component: bool,
    pub(crate) resources: Vec<Node>,
    pub(crate) components: Vec<Node>,
    pub(crate) configurations: Vec<Node>,
    pub(crate) crds: Vec<Node>,
    pub(crate) generators: Vec<Node>,
    pub(crate) transformers: Vec<Node>,
    pub(crate) namespace: Option<Node>,
    pub(crate) name_prefix: Option<Node>,
    pub(crate) name_suffix: Option<Node>,
    pub(crate) common_labels: Option<Node>,
    pub(crate) labels: Vec<Node>,
    pub(crate) common_annotations: Option<Node>,
    pub(crate) patches: Vec<Node>,
    pub(crate) patches_strategic_merge: Vec<Node>,
    pub(crate) patches_json6902: Vec<Node>,
    pub(crate) images: Vec<Node>,
    pub(crate) replicas: Vec<Node>,
    pub(crate) replacements: Vec<Node>,
    pub(crate) vars: Vec<Node>,
    pub(crate) config_maps: Vec<Node>,
    pub(crate) secrets: Vec<Node>,
    pub(crate) generator_options: Option<Node>,
    pub(crate) helm_charts: Vec<Node>,
    pub(crate) sort_options: Option<Node>,
    pub(crate) build_metadata: Vec<Node>,
    pub(crate) openapi: Option<Node>,
}

/// Whether nothing stands in a kustomization but what it is.
pub(crate) fn says_nothing(root: &Node) -> bool {
    root.as_map().is_some() && root.entries().iter().all(|entry| is_type_field(&entry.key) || is_empty(&entry.value))
}

impl Kustomization {
    /// Reads the file's mapping. What is wrong with it is added to `failures`; the rest is still read.
    pub(crate) fn read(root: &Node, failures: &mut Vec<Failure>) -> Self {
        let root = with_exact_names(root);
        schema::check(&root, failures);
        let kustomization = Self::fields(&root);
        kustomization.check_type(&root, failures);
        if says_nothing(&root) {
            failures.push(Failure { error: BuildError::EmptyKustomization, span: root.span });
        }
        kustomization
    }

    /// One that says nothing, for directories that have none.
    pub(crate) fn empty() -> Self {
        Self::fields(&Node::map(Map::new(), Span::GENERATED))
    }

    fn fields(root: &Node) -> Self {
        let list = |key: &str| root.items_at(key).iter().filter(|item| !item.is_null()).cloned().collect::<Vec<_>>();
        let both = |first: &str, second: &str| {
            let mut items = list(first);
            items.extend(list(second));
            items
        };
        let text = |key: &str| root.get(key).filter(|node| node.text().is_some_and(|text| !text.is_empty())).cloned();
        let map = |key: &str| root.get(key).filter(|node| node.as_map().is_some()).cloned();
        Self {
            span: root.span,
            is_component: root.text_at(&["kind"]) == Some("Component"),
            resources: both("resources", "bases"),
            components: list("components"),
            configurations: list("configurations"),
            crds: list("crds"),
            generators: list("generators"),
            transformers: list("transformers"),
            namespace: text("namespace"),
            name_prefix: text("namePrefix"),
            name_suffix: text("nameSuffix"),
            common_labels: map("commonLabels"),
            labels: list("labels"),
            common_annotations: map("commonAnnotations"),
            patches: list("patches"),
            patches_strategic_merge: list("patchesStrategicMerge"),
            patches_json6902: list("patchesJson6902"),
            images: both("images", "imageTags"),
            replicas: list("replicas"),
            replacements: list("replacements"),
            vars: list("vars"),
            config_maps: list("configMapGenerator"),
            secrets: list("secretGenerator"),
            generator_options: map("generatorOptions"),
            helm_charts: both("helmCharts", "helmChartInflationGenerator"),
            sort_options: map("sortOptions"),
            build_metadata: list("buildMetadata"),
            openapi: map("openapi"),
        }
    }

    fn check_type(&self, root: &Node, failures: &mut Vec<Failure>) {
        let text = |key: &str| root.text_at(&[key]).unwrap_or_default();
        let span = |key: &str| root.get(key).map_or(root.span, |node| node.span);
        if !matches!(text("kind"), "" | "Kustomization" | "Component") {
            let error = BuildError::WrongKind { kind: text("kind").to_owned() };
            failures.push(Failure { error, span: span("kind") });
        }
        let version = if self.is_component { "v1alpha1" } else { "v1beta1" };
        let wanted = format!("kustomize.config.k8s.io/{version}");
        if !text("apiVersion").is_empty() && text("apiVersion") != wanted {
            let error = BuildError::WrongVersion { version: text("apiVersion").to_owned(), wanted };
            failures.push(Failure { error, span: span("apiVersion") });
        }
    }
}

fn is_type_field(key: &str) -> bool {
    matches!(key, "apiVersion" | "kind")
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Scalar(scalar) => node.is_null() || scalar.text.is_empty(),
        // An empty list in Go is not the same as none, and kustomize looks at just that.
        Value::Map(_) | Value::Seq(_) => false,
    }
}

/// Go reads `Namespace:` as `namespace:`.
fn with_exact_names(root: &Node) -> Node {
    let exact =
        |key: &str| schema::FIELDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(name, _)| *name);
    let is_off = |key: &str| exact(key).is_some_and(|name| name != key);
    if !root.entries().iter().any(|entry| is_off(&entry.key)) {
        return root.clone();
    }
    let mut map = Map::new();
    for entry in root.entries() {
        map.insert(exact(&entry.key).unwrap_or(&entry.key), entry.key_span, entry.value.clone());
    }
    Node::map(map, root.span)
}
