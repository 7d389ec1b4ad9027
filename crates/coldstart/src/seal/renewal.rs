//! Whether the releases of a repository let the controller make new keys, and the edits that forbid it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::seal::renewal::{FLAG, Renewal, switch_off};
use diagnostic::seal::{RenewalFault, Renews, SealFault};
use diagnostic::{Next, next};
use read::{Applied, Repository};
use source::Span;
use yaml::Node;

use super::failure::{SealFailure, WriteFailure};
use super::files;
use super::report::{Report, Spot};
use super::verify::Checkout;

const CHART: &str = "sealed-secrets";

/// A release or Deployment of the controller, and what it says.
struct Controller<'a> {
    applied: &'a Applied,
    renewal: Renewal,
}

impl Controller<'_> {
    fn is_release(&self) -> bool {
        self.applied.node.text_at(&["kind"]) == Some("HelmRelease")
    }

    /// Nothing is said here, and more is said in files or objects that are not read.
    fn is_elsewhere(&self) -> bool {
        matches!(self.renewal, Renewal::Unsaid) && self.applied.node.at(&["spec", "valuesFrom"]).is_some()
    }

    fn name(&self) -> Span {
        self.applied.node.at(&["metadata", "name"]).map_or(self.applied.node.span, |name| name.span)
    }

    /// The cluster, the namespace and the name.
    fn identity(&self) -> (String, String, String) {
        let one = self.applied;
        let name = one.node.text_at(&["metadata", "name"]).unwrap_or_default();
        (one.cluster.clone(), one.namespace.to_string(), name.to_owned())
    }

    /// The place that says so; without any, the release itself.
    fn span(&self) -> Span {
        match &self.renewal {
            Renewal::Off(span) | Renewal::UnsaidInArguments(span) | Renewal::Unquoted(span) => *span,
            Renewal::Every(said) => said.span,
            Renewal::Unsaid => self.name(),
        }
    }

    fn renews(&self) -> Renews {
        match &self.renewal {
            Renewal::Off(_) => Renews::Never,
            Renewal::Unsaid => Renews::Unsaid,
            Renewal::UnsaidInArguments(_) => Renews::UnsaidInArguments,
            Renewal::Every(said) => Renews::Every { period: said.every.clone() },
            Renewal::Unquoted(_) => Renews::Unquoted,
        }
    }

    fn can_be_edited(&self, repository: &Repository) -> bool {
        let source = repository.source(self.span().file);
        self.is_release()
            && !self.is_elsewhere()
            && source.is_some_and(|source| switch_off(source.text(), &self.renewal, self.name()).is_ok())
    }
}

fn controllers(applied: &[Applied]) -> impl Iterator<Item = Controller<'_>> {
    applied.iter().filter_map(|one| {
        let node = &one.node;
        let text = |path: &[&str]| node.text_at(path).unwrap_or_default();
        let renewal = match text(&["kind"]) {
            "HelmRelease" => {
                let is_ours = text(&["spec", "chart", "spec", "chart"]).rsplit('/').next() == Some(CHART)
                    || text(&["spec", "chartRef", "name"]).contains(CHART);
                is_ours.then(|| Renewal::of_values(node.at(&["spec", "values"])))
            }
            "Deployment" => of_deployment(node),
            _ => None,
        };
        Some(Controller { applied: one, renewal: renewal? })
    })
}

fn of_deployment(node: &Node) -> Option<Renewal> {
    let mut containers = node.at(&["spec", "template", "spec"])?.items_at("containers").iter();
    let is_ours =
        |one: &&Node| one.text_at(&["image"]).is_some_and(|image| image.contains("sealed-secrets-controller"));
    let ours = containers.find(is_ours)?;
    let words: Vec<Node> = ours.items_at("command").iter().chain(ours.items_at("args")).cloned().collect();
    Some(Renewal::of_arguments(&words))
}

/// The namespace that the release of the controller goes to.
pub(crate) fn release_namespace(root: &Path) -> Option<String> {
    let repository = Repository::open(root).ok()?;
    let applied = read::applied(&repository, &["HelmRelease", "Deployment"]);
    let one = controllers(&applied).next()?.applied;
    let target = one.node.text_at(&["spec", "targetNamespace"]).unwrap_or(&one.namespace);
    Some(target.to_owned())
}

/// `is_used` says whether there is anything that a controller has to open.
pub(crate) fn check(look: &Checkout, is_used: bool, report: &mut Report) {
    let repository = &look.repository;
    let mut seen = false;
    for one in controllers(&look.applied) {
        seen = true;
        if one.renewal.is_off() {
            continue;
        }
        let (spot, wanted) = (Spot::at(repository, one.span()), one.renewal.wanted());
        if one.is_elsewhere() {
            report.note(spot, SealFault::Renewal(RenewalFault::SaidElsewhere(one.renews())), None);
            continue;
        }
        let next = if !one.is_release() {
            Next::Edit(next::Edit::AddArgument { flag: FLAG })
        } else if one.can_be_edited(repository) {
            Next::Seal(next::Seal::VerifyWrite { wanted })
        } else {
            Next::Edit(next::Edit::SetByHand { wanted })
        };
        report.error(spot, SealFault::Renewal(RenewalFault::MakesKeys(one.renews())), Some(next));
    }
    if !seen && is_used {
        report.note(Spot::Repository, SealFault::Renewal(RenewalFault::NoRelease), None);
    }
}

/// An edit of one place, for all releases that it speaks for.
pub(crate) struct Edit {
    renewal: Renewal,
    name: Span,
    place: String,
    releases: BTreeSet<(String, String, String)>,
}

impl Edit {
    pub(crate) fn describe(&self) -> String {
        format!("edit {}: set `{}`\n", self.place, self.renewal.wanted())
    }
}

/// What can be edited, by place: several clusters may apply one file.
pub(crate) fn edits(look: &Checkout) -> BTreeMap<Span, Edit> {
    let mut edits: BTreeMap<Span, Edit> = BTreeMap::new();
    for one in controllers(&look.applied) {
        if one.renewal.is_off() || !one.can_be_edited(&look.repository) {
            continue;
        }
        let (span, identity) = (one.span(), one.identity());
        let place = Spot::at(&look.repository, span).text();
        let new = Edit { renewal: one.renewal.clone(), name: one.name(), place, releases: BTreeSet::new() };
        edits.entry(span).or_insert(new).releases.insert(identity);
    }
    edits
}

/// Makes the edits, file by file. Within a file from its end, so that the places before stay where they are.
pub(crate) fn perform(look: &Checkout, edits: &BTreeMap<Span, Edit>) -> Result<(), SealFailure> {
    let mut by_file: BTreeMap<source::FileId, Vec<&Edit>> = BTreeMap::new();
    for (span, edit) in edits.iter().rev() {
        by_file.entry(span.file).or_default().push(edit);
    }
    for (file, edits) in by_file {
        let path = look.repository.path(file).ok_or(WriteFailure::ReleaseInNoFile)?;
        let read = look.repository.source(file).map(source::Source::text);
        let root = look.repository.root();
        files::change(root, &root.join(path), |before| {
            // The places are those of the text that was read.
            let text = before.filter(|before| Some(before.as_str()) == read);
            let mut text = text.ok_or_else(|| WriteFailure::Changed { path: path.to_owned() })?;
            for edit in &edits {
                let fault = |source| WriteFailure::Renewal { place: edit.place.clone(), source };
                text = switch_off(&text, &edit.renewal, edit.name).map_err(fault)?;
            }
            Ok((Some(text), ()))
        })?;
    }
    Ok(())
}

/// What came of the edits, as a new look at the files shows it.
pub(crate) fn told(look: &Checkout, edits: &BTreeMap<Span, Edit>) -> Vec<String> {
    let still = controllers(&look.applied).filter(|one| !one.renewal.is_off());
    let still: BTreeSet<_> = still.map(|one| one.identity()).collect();
    let told = |edit: &Edit| {
        if edit.releases.is_disjoint(&still) {
            format!("{}: disabled renewal", edit.place)
        } else {
            format!("{}: set `{}`, but something else still overrides it", edit.place, edit.renewal.wanted())
        }
    };
    edits.values().map(told).collect()
}
