//! CRDs that a bootstrap fetches by address: scripts and machine configurations name a file of a project's repository,
//! and the address alone tells which kinds it holds. The same goes for what a Kustomization takes from elsewhere. Nothing is
//! fetched here.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use catalogue::Catalogue;
use memchr::memmem;
use source::{FileId, Span};

use crate::naming::{is_ansible, is_document};
use crate::repository::Repository;
use crate::scripts::with_long_lines;
use ::repository::path;

/// What a command says that takes only the CRDs of what it is given.
const FILTER: &str = "CustomResourceDefinition";

/// A kind whose CRD is fetched by its address.
#[derive(Clone, Debug)]
pub(crate) struct FetchedCrd {
    /// `group/Kind` or `group/*`.
    pub(crate) kind: String,
    /// The address.
    pub(crate) at: Span,
}

/// The kinds that addresses name.
pub(crate) fn find(repository: &Repository, catalogue: &Catalogue) -> Vec<FetchedCrd> {
    let mut found: Vec<FetchedCrd> = Vec::new();
    // Once for each directory: two clusters may name the same, each at home.
    let mut seen: BTreeSet<(String, &str)> = BTreeSet::new();
    let candidates: Vec<&str> = repository.paths().filter(|path| is_bootstrap_text(path)).collect();
    for path in candidates {
        let Some(id) = repository.id(path) else { continue };
        let Some(source) = repository.source(id) else { continue };
        let text = source.text();
        // A text for people also names what is not to be applied.
        let is_meant = |at: usize| !is_document(path) || line_before(text, at).contains("kubectl");
        for (at, address) in addresses(text).filter(|(at, _)| is_meant(*at)) {
            for kind in kinds(address, catalogue) {
                if seen.insert((kind.clone(), path::parent(path))) {
                    found.push(FetchedCrd { kind, at: span(id, at, address) });
                }
            }
        }
    }
    found
}

/// The part of a line that stands before a place.
fn line_before(text: &str, at: usize) -> &str {
    &text[text[..at].rfind('\n').map_or(0, |before| before + 1)..at]
}

/// Scripts, task files and machine configurations, and what a text beside them says: what a person runs or boots before GitOps.
fn is_bootstrap_text(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit('.').next().unwrap_or_default();
    let is_script =
        matches!(ending, "sh" | "just") || matches!(name, "justfile" | ".justfile") || name.starts_with("Taskfile");
    let in_place = || {
        path.split('/')
            .any(|part| matches!(part, "talos" | "bootstrap" | "scripts" | ".taskfiles" | "taskfiles" | "hack"))
    };
    let is_written = matches!(ending, "yaml" | "yml" | "j2" | "tpl" | "gotmpl" | "md");
    is_script || is_ansible(path) || (is_written && in_place())
}

/// Every address in a text that speaks of CRDs, or of which a script takes only the CRDs; comments left out.
fn addresses(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let filtered = OnceCell::new();
    let is_filtered = move |at: usize| filtered.get_or_init(|| Filtered::new(text)).takes_crds_at(at);
    // Most texts name no such host: only around one that does are the lines looked at.
    memmem::find_iter(text.as_bytes(), "github").filter_map(move |at| {
        let line = text[..at].rfind('\n').map_or(0, |before| before + 1);
        if text[line..at].trim_start().starts_with('#') {
            return None;
        }
        let ends_before = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '=');
        let ends_after = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ')' | ',');
        let begin = at - text[line..at].rsplit(ends_before).next().map_or(0, str::len);
        let end = text[at..].find(ends_after).map_or(text.len(), |after| at + after);
        let address = &text[begin..end];
        let lower = address.to_ascii_lowercase();
        let is_applied = || text[line..begin].contains("kubectl") && whole_project(address).is_some();
        let speaks = lower.contains("crd") || lower.contains("-install.yaml") || is_applied();
        (speaks || is_filtered(at)).then_some((begin, address))
    })
}

/// A script whose commands filter for CRDs, with lines that continue made one.
struct Filtered {
    text: Option<String>,
}

impl Filtered {
    fn new(text: &str) -> Self {
        let speaks = memmem::find(text.as_bytes(), FILTER.as_bytes()).is_some();
        Self { text: speaks.then(|| with_long_lines(text)) }
    }

    /// Whether the command at a place is filtered for CRDs: in its own line, or in the one that reads the variable it fills.
    fn takes_crds_at(&self, at: usize) -> bool {
        let Some(text) = self.text.as_deref() else { return false };
        let begin = text[..at].rfind('\n').map_or(0, |before| before + 1);
        let line = text[begin..].lines().next().unwrap_or_default();
        let command = &line[at - begin..];
        if command.contains(FILTER) {
            return true;
        }
        let Some(name) = filled_variable(&line[..at - begin]) else { return false };
        let reads = |line: &str| {
            [format!("${{{name}}}"), format!("${name}\""), format!("${name} ")].iter().any(|it| line.contains(it))
        };
        text[begin..]
            .lines()
            .skip(1)
            .any(|line| !line.trim_start().starts_with('#') && line.contains(FILTER) && reads(line))
    }
}

/// The name in `name=$(command`, where that command is still open.
fn filled_variable(before: &str) -> Option<&str> {
    let (name, command) = before.split_once("=$(").or_else(|| before.split_once("=\"$("))?;
    let name = name.rsplit([' ', '\t']).next().filter(|name| !name.is_empty())?;
    (!command.contains(')')).then_some(name)
}

/// The kinds whose CRDs a file or directory at this address holds, as far as the address tells.
pub(crate) fn kinds(address: &str, catalogue: &Catalogue) -> Vec<String> {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let path = path.split(['?', '#']).next().unwrap_or(path);
    let file = path.rsplit('/').next().unwrap_or(path);
    if let Some(group) = group_of_file(file) {
        return vec![format!("{group}/*")];
    }
    let mut parts = path.split('/').skip(1);
    let (Some(owner), Some(name)) = (parts.next(), parts.next()) else { return Vec::new() };
    if name == "gateway-api" {
        return vec!["gateway.networking.k8s.io/*".to_owned()];
    }
    let home = format!("github.com/{owner}/{}", name.trim_end_matches(".git"));
    let is_it = |component: &&catalogue::Component| {
        component.name.starts_with(name) || component.sources.iter().any(|source| source.contains(&home))
    };
    let of_project = catalogue.components().iter().filter(is_it).flat_map(|component| &component.crds);
    of_project.flat_map(|crds| crds.kinds.iter().cloned()).collect()
}

/// The project that an address installs as a whole: `NAME.yaml` of a release of `github.com/OWNER/NAME`.
pub(crate) fn whole_project(address: &str) -> Option<&str> {
    let mut parts = address.split_once("://github.com/")?.1.split('/').skip(1);
    let name = parts.next()?;
    let is_release = parts.next() == Some("releases");
    let file = parts.last()?.strip_suffix(".yaml")?;
    (is_release && file == name).then_some(name)
}

/// Whether an address holds CRDs though nothing around it says so: a file that is named as CRDs are, a whole installation, or a
/// directory that is built.
pub(crate) fn holds_crds(address: &str) -> bool {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    let mut parts = path.rsplit('/');
    let file = parts.next().unwrap_or_default();
    let stem = file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml")).unwrap_or_default();
    let is_whole = ["install", "manifest", "operator", "bundle", "release"].iter().any(|word| stem.contains(word));
    // `longhorn/longhorn/v1/deploy/longhorn.yaml`
    let is_project = !stem.is_empty() && parts.any(|part| part == stem);
    group_of_file(file).is_some() || is_whole || is_project || stem.is_empty()
}

/// `group_plural.yaml`, as controller-gen names files, or `plural.group.yaml`, as the object itself is named.
fn group_of_file(file: &str) -> Option<&str> {
    let stem = file.strip_suffix(".yaml").or_else(|| file.strip_suffix(".yml"))?;
    let is_group = |text: &str| {
        text.contains('.')
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'-'))
    };
    if let Some((group, _)) = stem.split_once('_').filter(|(group, _)| is_group(group)) {
        return Some(group);
    }
    stem.split_once('.').map(|(_, group)| group).filter(|group| is_group(group))
}

fn span(file: FileId, at: usize, address: &str) -> Span {
    let start = source::to_u32(at);
    Span::new(file, start, start.saturating_add(u32::try_from(address.len()).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{addresses, holds_crds, kinds, whole_project};
    use catalogue::Catalogue;

    #[test]
    fn an_address_tells_which_kinds_it_holds() {
        let of = |address: &str| kinds(address, Catalogue::embedded());
        assert_eq!(
            of("https://raw.githubusercontent.com/o/r/v1/crd/monitoring.coreos.com_probes.yaml"),
            ["monitoring.coreos.com/*"]
        );
        assert_eq!(
            of("https://raw.githubusercontent.com/o/r/v1/crd/dnsendpoints.externaldns.k8s.io.yaml"),
            ["externaldns.k8s.io/*"]
        );
        assert_eq!(
            of("https://github.com/kubernetes-sigs/gateway-api/releases/download/v1/standard-install.yaml"),
            ["gateway.networking.k8s.io/*"]
        );
        let whole = of(
            "https://github.com/prometheus-operator/prometheus-operator/releases/download/v1/stripped-down-crds.yaml",
        );
        assert!(whole.contains(&"monitoring.coreos.com/ServiceMonitor".to_owned()), "{whole:?}");
        assert!(of("https://github.com/unknown/thing/crds.yaml").is_empty());
    }

    #[test]
    fn an_address_tells_which_project_it_installs() {
        let of = "https://github.com/cert-manager/cert-manager/releases/download/v1.14.5/cert-manager.yaml";
        assert_eq!(whole_project(of), Some("cert-manager"));
        for other in [
            "https://github.com/cert-manager/cert-manager/releases/download/v1.14.5/cert-manager.crds.yaml",
            "https://github.com/cert-manager/cert-manager/blob/main/cert-manager.yaml",
            "https://example.org/cert-manager.yaml",
        ] {
            assert_eq!(whole_project(other), None, "{other}");
        }
        let script = "kubectl apply -f https://github.com/o/thing/releases/download/v1/thing.yaml\ncurl https://github.com/o/thing/releases/download/v1/thing.yaml\n";
        assert_eq!(addresses(script).count(), 1);
    }

    #[test]
    fn files_hold_crds_that_are_named_as_such_or_whole_installations() {
        for (address, holds) in [
            ("https://github.com/kyverno/kyverno/releases/download/v1/kyverno.io_clusterpolicies.yaml", true),
            ("https://raw.githubusercontent.com/longhorn/longhorn/v1/deploy/longhorn.yaml", true),
            ("https://github.com/o/r/releases/latest/download/install.yaml", true),
            ("https://github.com/o/r//config/default?ref=v1", true),
            ("https://raw.githubusercontent.com/o/r/v1/dashboards/overview.yaml", false),
        ] {
            assert_eq!(holds_crds(address), holds, "{address}");
        }
    }

    #[test]
    fn comments_and_other_addresses_are_passed_over() {
        let text = "# https://github.com/a/b/crds.yaml\nkubectl apply -f \"https://github.com/a/b/crds.yaml\"\ncurl https://github.com/a/b/x\n";
        let found: Vec<(usize, &str)> = addresses(text).collect();
        assert_eq!(found, [(text.find("\"https").unwrap() + 1, "https://github.com/a/b/crds.yaml")]);
        // A space that takes more than one byte.
        let found: Vec<(usize, &str)> = addresses("see\u{a0}https://github.com/a/b/crds.yaml").collect();
        assert_eq!(found, [(5, "https://github.com/a/b/crds.yaml")]);
    }

    #[test]
    fn an_address_of_which_a_script_takes_only_the_crds_counts() {
        let count = |text: &str| addresses(text).count();
        let filter = "yq 'select(.kind == \"CustomResourceDefinition\")'";
        assert_eq!(
            count(&format!("kustomize build \"https://github.com/a/b/?ref=1\" |\n  {filter} | kubectl apply -f -\n")),
            1
        );
        let by_variable = format!(
            "if ! all=$(kustomize build \"https://github.com/a/b/?ref=${{v}}\"); then exit 1; fi\ncrds=$(echo \"${{all}}\" | {filter})\n"
        );
        assert_eq!(count(&by_variable), 1);
        assert_eq!(count(&by_variable.replace("${all}", "${other}")), 0);
        assert_eq!(count(&format!("curl https://github.com/a/b\nhelm template x | {filter}\n")), 0);
    }
}
