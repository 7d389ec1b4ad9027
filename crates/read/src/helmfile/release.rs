//! The releases of one helmfile, with what they inherit from its defaults, templates and bases.

use std::collections::BTreeMap;

use model::{BlindSpot, Unseen, WhyUnseen};
use source::FileId;
use yaml::{EcoString, Node};

use super::choice::Calls;
use super::script_calls::HelmfileCall;
use super::selector::Labels;
use super::templates::Named;
use super::{Release, merged};
use crate::naming::exists;
use crate::object::mentions;
use crate::repository::Repository;
use crate::scripts::Scripts;
use crate::templated_yaml;
use ::repository::path;

/// How many `bases` of `bases` are followed.
pub(super) const BASES_DEPTH_MAX: usize = 8;

/// A release of a helmfile, whether or not it is installed.
pub(super) struct Found {
    pub(super) release: Release,
    /// Empty where none is written; `None` where a template decides.
    pub(super) namespace: Option<EcoString>,
    pub(super) labels: Labels,
    /// Switched off in every call of the helmfile.
    pub(super) is_off: bool,
    /// Values files whose paths a template decides.
    pub(super) unseen: Vec<BlindSpot>,
}

pub(super) fn releases(scripts: &Scripts<'_>, calls: &Calls, file: &str, root: &Node) -> Vec<Found> {
    let mut context = Context::new(scripts, file);
    context.has_other_values = calls.may_set_values(file);
    context.add_bases(file, root, BASES_DEPTH_MAX);
    context.add_layer(file, root.clone());
    let only_crds = context.is_only_for_crds(calls, root);
    let mut found: Vec<Found> =
        root.items_at("releases").iter().filter_map(|release| context.release(release, only_crds)).collect();
    if !calls.may_rename(file) {
        context.note_undefined(root, &mut found);
    }
    found
}

pub(super) struct Context<'all> {
    pub(super) repository: &'all Repository,
    pub(super) scripts: &'all Scripts<'all>,
    pub(super) file: &'all str,
    /// The bases and the helmfile itself: later ones win.
    pub(super) layers: Vec<Node>,
    /// The file of each.
    pub(super) layer_files: Vec<String>,
    /// Every file that `bases` names was read.
    pub(super) has_all_bases: bool,
    /// The blocks that templates open in them.
    pub(super) blocks: BTreeMap<FileId, templated_yaml::Blocks>,
    /// Templates stand for whole lines of them.
    pub(super) has_hidden_lines: bool,
    /// A call of the helmfile gives values of its own.
    pub(super) has_other_values: bool,
}

impl<'all> Context<'all> {
    fn new(scripts: &'all Scripts<'all>, file: &'all str) -> Self {
        let (layers, layer_files) = (Vec::new(), Vec::new());
        Self {
            repository: scripts.repository(),
            scripts,
            file,
            layers,
            layer_files,
            has_all_bases: true,
            blocks: BTreeMap::new(),
            has_hidden_lines: false,
            has_other_values: false,
        }
    }
}

impl Context<'_> {
    fn add_layer(&mut self, file: &str, root: Node) {
        let text = self.repository.id(file).and_then(|id| Some((id, self.repository.source(id)?.text())));
        if let Some((id, text)) = text {
            self.blocks.insert(id, templated_yaml::Blocks::of(text));
            self.has_hidden_lines |= templated_yaml::has_hidden_lines(text);
        }
        self.layer_files.push(file.to_owned());
        self.layers.push(root);
    }

    /// The files that `bases` names, the most basic first.
    fn add_bases(&mut self, file: &str, root: &Node, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        for base in root.items_at("bases") {
            let base = base.text().and_then(|base| path::join(path::parent(file), base));
            if base.as_ref().is_some_and(|base| self.layer_files.contains(base)) {
                continue;
            }
            let Some((base, root)) = base.and_then(|base| merged(self.repository, &base).map(|root| (base, root)))
            else {
                self.has_all_bases = false;
                continue;
            };
            self.add_bases(&base, &root, depth);
            self.add_layer(&base, root);
        }
    }

    fn release(&self, node: &Node, only_crds: bool) -> Option<Found> {
        let name = node.get("name").filter(|name| name.text().is_some_and(|text| !templated_yaml::is_unknown(text)))?;
        let sources = self.sources(node);
        let field = |key: &str| sources.iter().find_map(|source| source.get(key));
        let known = |key: &str| field(key).and_then(Node::text).filter(|text| !templated_yaml::is_unknown(text));
        let flag = |key: &str| field(key).and_then(Node::as_bool);
        let namespace: EcoString = known("namespace").unwrap_or_default().into();
        let release_name = name.text()?;
        let (chart, version) = match known("chart") {
            Some(chart) => (Some(chart.into()), known("version").map(EcoString::from)),
            None => self.chart_of_flux(&namespace, release_name),
        };
        let chart_name = chart.as_deref().and_then(last_part).unwrap_or(release_name).into();
        let values = sources.iter().flat_map(|source| source.items_at("values"));
        let named = Named { namespace: &namespace, name: release_name };
        let unseen = self.unseen_values(values.clone(), named);
        let needs = field("needs").and_then(Node::as_seq).unwrap_or_default();
        let release = Release {
            name: release_name.into(),
            chart,
            chart_name,
            version_at: field("version").filter(|_| version.is_some() && known("version").is_some()).map(|at| at.span),
            version,
            needs: needs.iter().filter_map(|need| Some((need.text()?.to_owned(), need.span))).collect(),
            undefined_needs: Vec::new(),
            wait: flag("wait").or_else(|| self.default_flag("wait")),
            timeout_seconds: known("timeout").and_then(seconds).or_else(|| self.default_timeout()),
            values_files: values.clone().filter_map(|file| self.place(file, named)).collect(),
            inline_values: values.filter(|values| values.as_map().is_some()).cloned().collect(),
            applies: self.applied_by_hooks(&sources, named),
            absent: if only_crds { Vec::new() } else { self.absent(&sources, named) },
            span: name.span,
            only_crds,
            by_script: false,
            by_terraform: false,
            namespace: namespace.clone(),
        };
        let labels = self.labels(&sources, release_name, known("namespace"), known("chart"));
        let written = field("namespace").map_or(Some(""), |_| known("namespace").filter(|text| is_one_word(text)));
        let namespace = written.map(EcoString::from);
        Some(Found { release, namespace, labels, is_off: self.is_off(&sources), unseen })
    }

    /// The labels of a release: its own, those of its templates and those of all, and three that every release has.
    fn labels(&self, sources: &[&Node], name: &str, namespace: Option<&str>, chart: Option<&str>) -> Labels {
        let mut labels = Labels::default();
        labels.is_open = self.has_hidden_lines;
        let own = sources.iter().filter_map(|source| Some((*source, source.get("labels")?)));
        let common = self.layers.iter().filter_map(|layer| Some((layer, layer.get("commonLabels")?)));
        for (holder, node) in own.chain(common) {
            labels.is_open |= node.as_map().is_none();
            for entry in node.entries() {
                let is_known = !self.is_conditional(holder.span, entry.value.span);
                labels.add(&entry.key, entry.value.text().filter(|_| is_known));
            }
        }
        labels.set("name", Some(name));
        labels.set("namespace", namespace);
        labels.set("chart", chart.and_then(|chart| chart.rsplit('/').next()));
        labels
    }

    /// The release, then the templates it inherits from, nearest first.
    fn sources<'node>(&'node self, release: &'node Node) -> Vec<&'node Node> {
        let inherited = release.items_at("inherit").iter().filter_map(|entry| entry.text_at(&["template"]));
        let default = self.layers.iter().rev().find_map(|layer| layer.get("defaultInherit"));
        let default_names = match default {
            Some(node) if node.as_seq().is_some() => node.as_seq().unwrap_or_default().iter().collect(),
            Some(node) => vec![node],
            None => Vec::new(),
        };
        let defaults = default_names.into_iter().filter_map(|node| node.text().or_else(|| node.text_at(&["template"])));
        let names: Vec<&str> = inherited.chain(defaults).collect();
        let template = |name: &str| self.layers.iter().rev().find_map(|layer| layer.at(&["templates", name]));
        std::iter::once(release).chain(names.into_iter().filter_map(template)).collect()
    }

    fn default_timeout(&self) -> Option<u64> {
        self.layers.iter().rev().find_map(|layer| seconds(layer.text_at(&["helmDefaults", "timeout"])?))
    }

    fn default_flag(&self, key: &str) -> Option<bool> {
        self.layers.iter().rev().find_map(|layer| layer.at(&["helmDefaults", key])?.as_bool())
    }

    /// The path of a values file from the root, if it lies in the repository; else as it is written.
    fn place(&self, file: &Node, release: Named<'_>) -> Option<String> {
        let filled = self.filled(file, release);
        let path = filled.and_then(|filled| path::join(path::parent(self.file), &filled));
        path.filter(|path| exists(self.repository, path)).or_else(|| Some(file.text()?.to_owned()))
    }

    /// Values files of which it can't be told which they are.
    fn unseen_values<'n>(&self, values: impl Iterator<Item = &'n Node>, release: Named<'_>) -> Vec<BlindSpot> {
        let is_unseen =
            |file: &&Node| file.text().is_some_and(templated_yaml::is_unknown) && self.filled(file, release).is_none();
        let spot = |file: &Node| {
            let written = self.repository.source(file.span.file).and_then(|source| source.slice(file.span));
            let what = Unseen::Named(written.unwrap_or_default().trim_matches(['"', '\'']).to_owned());
            BlindSpot { what, why: WhyUnseen::ChosenByTemplate, at: file.span, component: None }
        };
        values.filter(is_unseen).map(spot).collect()
    }

    /// What Flux will use for the release of this name: bootstraps that take the chart from there are common.
    fn chart_of_flux(&self, namespace: &str, name: &str) -> (Option<EcoString>, Option<EcoString>) {
        let place = format!("/{namespace}/{name}/");
        let mut best: Option<(bool, EcoString, Option<EcoString>)> = None;
        for (_, path, documents) in self.repository.yaml_files() {
            let is_at_home = !namespace.is_empty() && path.contains(&place);
            for root in documents.iter().filter_map(|document| document.root.as_ref()) {
                if !is_at_home && root.text_at(&["metadata", "name"]) != Some(name) {
                    continue;
                }
                let Some((chart, version)) = chart_in(root) else { continue };
                if best.as_ref().is_none_or(|(at_home, ..)| is_at_home && !at_home) {
                    best = Some((is_at_home, chart.into(), version.map(EcoString::from)));
                }
            }
        }
        best.map_or((None, None), |(_, chart, version)| (Some(chart), version))
    }

    /// Whether the releases are only rendered for their CRDs. How scripts call the file says it best, its name worst.
    fn is_only_for_crds(&self, calls: &Calls, root: &Node) -> bool {
        match calls.kind_of(self.file) {
            Some(HelmfileCall::TemplatesCrds) => return true,
            Some(HelmfileCall::Installs) => return false,
            None => {}
        }
        let arguments = self.layers.iter().flat_map(|layer| {
            layer
                .at(&["helmDefaults", "args"])
                .into_iter()
                .flat_map(|args| args.as_seq().unwrap_or(std::slice::from_ref(args)))
        });
        if arguments.filter_map(Node::text).any(|argument| argument.contains("--include-crds")) {
            return true;
        }
        let has_filter = mentions(root, "CustomResourceDefinition");
        let name = self.file.rsplit('/').next().unwrap_or_default();
        has_filter || name.contains("crds")
    }
}

/// The chart and version that an OCIRepository or HelmRelease names.
fn chart_in(object: &Node) -> Option<(&str, Option<&str>)> {
    match object.text_at(&["kind"])? {
        "OCIRepository" => {
            let version =
                object.text_at(&["spec", "ref", "tag"]).or_else(|| object.text_at(&["spec", "ref", "semver"]));
            Some((object.text_at(&["spec", "url"])?, version))
        }
        "HelmRelease" => {
            let spec = object.at(&["spec", "chart", "spec"])?;
            Some((spec.text_at(&["chart"])?, spec.text_at(&["version"])))
        }
        _ => None,
    }
}

/// `oci://registry/charts/cilium` and `cilium/cilium` are both `cilium`.
pub(crate) fn last_part(chart: &str) -> Option<&str> {
    let chart = chart.trim_end_matches('/');
    let last = chart.rsplit('/').next()?;
    let name = last.split(['?', '@']).next().unwrap_or(last);
    let name = name.rsplit_once(':').map_or(name, |(name, _)| name);
    Some(name).filter(|name| !name.is_empty() && *name != "." && *name != "..")
}

/// Both sides of a condition in one line are two words.
pub(super) fn is_one_word(text: &str) -> bool {
    !text.contains(char::is_whitespace)
}
fn seconds(text: &str) -> Option<u64> {
    text.parse().ok().filter(|seconds| *seconds <= model::DURATION_SECONDS_MAX)
}
