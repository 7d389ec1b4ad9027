//! Which Kubernetes and which APIs a cluster has once it is up: what charts ask for when they are rendered.

use std::collections::{BTreeMap, BTreeSet};

use catalogue::{Catalogue, any_holds};
use ecow::EcoString;
use kustomize::Files as _;
use model::CapabilityKind;
use yaml::{Budget, Node};

use crate::content::collector::Collector;
use crate::content::merging::{chart_address, chart_sources, config_maps, merged_values};
use crate::kinds::is_built_in;
use crate::object::Object;
use crate::repository::Repository;

/// The version that most kinds are served in, for those that no object here shows.
const VERSION_DEFAULT: &str = "v1";

/// The Kubernetes that charts are told of where no file says which one it is: what helm itself would say depends on how it
/// was built.
const KUBE_VERSION_DEFAULT: &str = "v1.35.0";

/// The version of Kubernetes that talhelper or an upgrade controller is told to install, where only one is named.
pub(crate) fn kube_version(collector: &Collector, repository: &Repository) -> String {
    let mut found: BTreeSet<String> = BTreeSet::new();
    for built in &collector.assembled.objects {
        if Object::new(&built.node).kind() == "KubernetesUpgrade" {
            found.extend(built.node.text_at(&["spec", "kubernetes", "version"]).map(str::to_owned));
        }
    }
    for path in repository.paths().filter(|path| path.rsplit('/').next() == Some("talconfig.yaml")) {
        let documents = repository.documents(path);
        let root = documents.and_then(|(_, documents)| documents.first()?.root.as_ref());
        found.extend(root.and_then(|root| root.text_at(&["kubernetesVersion"])).map(str::to_owned));
    }
    let is_written = |version: &String| version.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit());
    let only = found.into_iter().reduce(|_, _| String::new()).filter(is_written);
    only.unwrap_or_else(|| KUBE_VERSION_DEFAULT.to_owned())
}

/// `group/version` and `group/version/Kind` of everything that somebody brings.
pub(crate) fn apis<'n>(
    collector: &Collector,
    catalogue: &Catalogue,
    rendered: impl Iterator<Item = &'n Node>,
    budget: &mut Budget,
) -> Vec<String> {
    let mut served = Served::default();
    collector.assembled.objects.iter().for_each(|built| served.see(&built.node));
    rendered.for_each(|node| served.see(node));
    let offered = collector.assembled.cluster.offers.iter().map(|offer| &offer.capability);
    for capability in offered.filter(|capability| capability.kind == CapabilityKind::Crd) {
        served.kinds.insert(capability.name.clone());
    }
    let (maps, sources) = (config_maps(&collector.assembled.objects), chart_sources(&collector.assembled.objects));
    for (_, release) in &collector.assembled.releases {
        let Some(known) = catalogue.by_chart(&chart_address(release, &sources)) else { continue };
        let values = merged_values(release, &maps, budget).ok().flatten();
        let crds = known.crds.iter().filter(|crds| any_holds(&crds.when, values.as_ref()));
        served.kinds.extend(crds.flat_map(|crds| &crds.kinds).map(|kind| EcoString::from(kind.as_str())));
    }
    served.apis()
}

#[derive(Default)]
struct Served {
    /// What CRDs say themselves.
    apis: BTreeSet<String>,
    /// Versions of a group that objects are written in.
    written: BTreeMap<EcoString, BTreeSet<EcoString>>,
    /// `group/Kind` whose versions nobody told.
    kinds: BTreeSet<EcoString>,
}

impl Served {
    fn see(&mut self, node: &Node) {
        let object = Object::new(node);
        if object.kind() == "CustomResourceDefinition" {
            let group = node.text_at(&["spec", "group"]).unwrap_or_default();
            let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
            let versions = node.at(&["spec", "versions"]).and_then(Node::as_seq).unwrap_or_default();
            for version in versions.iter().filter_map(|version| version.text_at(&["name"])) {
                self.add(group, version, kind);
            }
        } else if let Some((group, version)) = object.api_version().split_once('/')
            && !is_built_in(group)
        {
            self.written.entry(group.into()).or_default().insert(version.into());
            // Flux is there before any chart is rendered.
            if group.ends_with(".fluxcd.io") {
                self.add(group, version, object.kind());
            }
        }
    }

    fn add(&mut self, group: &str, version: &str, kind: &str) {
        self.apis.insert(format!("{group}/{version}"));
        if !kind.is_empty() && kind != "*" {
            self.apis.insert(format!("{group}/{version}/{kind}"));
        }
    }

    fn apis(mut self) -> Vec<String> {
        for name in std::mem::take(&mut self.kinds) {
            let Some((group, kind)) = name.rsplit_once('/') else { continue };
            let written = self.written.get(group).cloned().unwrap_or_else(|| [VERSION_DEFAULT.into()].into());
            for version in written {
                self.add(group, &version, kind);
            }
        }
        self.apis.into_iter().collect()
    }
}
