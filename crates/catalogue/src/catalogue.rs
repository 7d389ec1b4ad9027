//! The catalogue as a whole, and how to find something in it.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use yaml::Node;

use crate::decode::{DecodeError, decode};
use crate::provider::Provider;
use crate::providers::Providers;
use crate::schema::Component;

/// What chart artifacts are called when their path, not their name, says what they deploy.
const NAMELESS: [&str; 6] = ["chart", "charts", "helm", "helm-chart", "helm-charts", "helmchart"];
/// Endings that some publishers add to the name of a chart.
const ENDINGS: [&str; 4] = ["-helm-chart", "-helmchart", "-chart", "-helm"];

static EMBEDDED: LazyLock<Catalogue> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/catalogue.json"));
    let components = serde_json::from_str(json).expect("the build script wrote it from these very types");
    Catalogue::new(components)
});

/// All components that are known, in order of their names, a user's own last.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    components: Vec<Component>,
    charts: BTreeMap<String, usize>,
    images: BTreeMap<String, usize>,
    /// By `group/Kind` or `group/*`.
    crds: BTreeMap<String, Vec<usize>>,
    /// With a user's own; nothing where there are none.
    providers: Option<Providers>,
}

impl Catalogue {
    /// What this build knows.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    /// A catalogue of just these components. Where two claim one chart or image, the later one has it.
    pub fn new(components: Vec<Component>) -> Self {
        let mut catalogue = Self { components, ..Self::default() };
        for (at, component) in catalogue.components.iter().enumerate() {
            for chart in &component.charts {
                catalogue.charts.insert(chart.to_ascii_lowercase(), at);
            }
            for image in &component.images {
                catalogue.images.insert(image_path(image), at);
            }
            for kind in component.crds.iter().flat_map(|crds| &crds.kinds) {
                let owners = catalogue.crds.entry(kind.clone()).or_default();
                if owners.last() != Some(&at) {
                    owners.push(at);
                }
            }
        }
        catalogue
    }

    /// This catalogue with a user's own entries: one of a known name replaces what was known under it.
    pub fn with_additions(&self, extra: Vec<Component>) -> Self {
        let replaced = |known: &&Component| !extra.iter().any(|own| own.name == known.name);
        let mut components: Vec<_> = self.components.iter().filter(replaced).cloned().collect();
        components.extend(extra);
        Self { providers: self.providers.clone(), ..Self::new(components) }
    }

    /// This catalogue with a user's own entries about providers of Terraform.
    pub fn with_providers(self, extra: Vec<Provider>) -> Self {
        let providers = (!extra.is_empty()).then(|| self.providers().with_additions(extra));
        Self { providers: providers.or(self.providers), ..self }
    }

    /// What is known of providers of Terraform.
    pub fn providers(&self) -> &Providers {
        self.providers.as_ref().unwrap_or_else(|| Providers::embedded())
    }

    pub fn components(&self) -> &[Component] {
        &self.components
    }

    pub fn by_name(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// The component that a chart deploys. Takes a bare name, a path in a chart repository, or an OCI address.
    pub fn by_chart(&self, chart: &str) -> Option<&Component> {
        let path = untagged(chart.strip_prefix("oci://").unwrap_or(chart)).to_ascii_lowercase();
        let mut segments = path.split('/').filter(|segment| !segment.is_empty()).rev();
        let last = segments.next()?;
        let found = self.chart_named(last);
        if found.is_none() && NAMELESS.contains(&last) {
            return self.chart_named(segments.next()?);
        }
        found
    }

    fn chart_named(&self, name: &str) -> Option<&Component> {
        let bare = || ENDINGS.iter().find_map(|ending| name.strip_suffix(ending));
        let at = self.charts.get(name).or_else(|| self.charts.get(bare()?))?;
        self.components.get(*at)
    }

    /// The component that an image belongs to, whatever registry, tag or digest it is asked for with. A pull-through
    /// mirror may put its own segments in front.
    pub fn by_image(&self, image: &str) -> Option<&Component> {
        let path = image_path(image);
        let mut rest = path.as_str();
        loop {
            if let Some(at) = self.images.get(rest) {
                return self.components.get(*at);
            }
            // The last segment alone says too little: many images are called `operator`.
            let (_, shorter) = rest.split_once('/')?;
            rest = shorter.contains('/').then_some(shorter)?;
        }
    }

    /// The components that bring the CRD of this kind: those that name it, then those that own its whole group.
    pub fn crd_owners(&self, group: &str, kind: &str) -> impl Iterator<Item = &Component> {
        let exact = self.crds.get(&format!("{group}/{kind}"));
        let whole = self.crds.get(&format!("{group}/*"));
        exact.into_iter().chain(whole).flatten().filter_map(|at| self.components.get(*at))
    }
}

impl Component {
    /// Reads an entry that a user wrote.
    pub fn from_node(node: &Node) -> Result<Self, DecodeError> {
        decode(node)
    }
}

/// Charts whose objects are whatever their values say: a name in those is a reference.
const GENERIC_CHARTS: [&str; 3] = ["app-template", "common", "raw"];

/// Whether the objects of a chart, given by its name, are whatever its values say.
pub fn is_generic_chart(name: &str) -> bool {
    GENERIC_CHARTS.contains(&name)
}

/// What a chart is called, by its address: the last part, or the one before where that says nothing (`…/thing/chart`).
pub fn chart_name(address: &str) -> &str {
    let path = untagged(address.strip_prefix("oci://").unwrap_or(address));
    let mut segments = path.split('/').filter(|segment| !segment.is_empty()).rev();
    let last = segments.next().unwrap_or_default();
    let before = segments.next().filter(|_| NAMELESS.contains(&last.to_ascii_lowercase().as_str()));
    before.unwrap_or(last)
}

/// An image reference without registry, tag and digest.
fn image_path(image: &str) -> String {
    let path = untagged(image);
    let path = match path.split_once('/') {
        Some((host, rest)) if host.contains(['.', ':']) || host == "localhost" => rest,
        _ => path,
    };
    path.strip_prefix("library/").unwrap_or(path).to_ascii_lowercase()
}

/// A reference without tag and digest. A colon before the last slash is a registry's port.
fn untagged(reference: &str) -> &str {
    let reference = reference.split_once('@').map_or(reference, |(name, _)| name);
    let name_start = reference.rfind('/').map_or(0, |at| at + 1);
    match reference[name_start..].find(':') {
        Some(at) => &reference[..name_start + at],
        None => reference,
    }
}
