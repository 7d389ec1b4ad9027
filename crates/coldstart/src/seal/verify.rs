//! `coldstart seal verify`: what will open at the next cold start, and what would quietly go wrong there.

use std::collections::BTreeMap;
use std::path::Path;

use ::seal::Ring;
use ::seal::key::Fingerprint;
use ::seal::manifest::set;
use ::seal::renewal::{Renewal, VALUE};
use ::seal::verify::{Landing, Verdict, item};
use read::{Applied, Repository};
use yaml::{FileId, Limits, Node, Span};

use super::arguments::{Verify, VerifyFormat};
use super::failure::SealFailure;
use super::tree::{self, Found};
use super::{Home, now, say, sops, verify_cluster, verify_text};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::output;

/// Other landings that are tried to say where a value belongs. Each costs a decryption per key.
const PLACES_MAX: usize = 40;
const CHART: &str = "sealed-secrets";

/// Something that is not as it should be, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// `path:line`, an object of the cluster, or a store.
    pub(crate) place: String,
    pub(crate) what: String,
    /// Without it, the next cold start fails; else it is only worth knowing.
    pub(crate) is_error: bool,
}

/// Everything that was looked at.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) secrets: usize,
    pub(crate) items: usize,
    /// How many items each key opens.
    pub(crate) by_key: BTreeMap<Fingerprint, usize>,
    pub(crate) newest: Option<Fingerprint>,
    pub(crate) sops_files: usize,
    pub(crate) problems: Vec<Problem>,
}

impl Report {
    pub(crate) fn error(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { place: place.into(), what: what.into(), is_error: true });
    }

    pub(crate) fn note(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.problems.push(Problem { place: place.into(), what: what.into(), is_error: false });
    }
}

pub(crate) fn run(options: &Verify) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let repository = Repository::open(home.root()).map_err(|source| Failure::Open { command: "seal", source })?;
    let applied = read::applied(
        &repository,
        &["SealedSecret", "HelmRelease", "Deployment", "SecretStore", "ClusterSecretStore", "Secret", "ExternalSecret"],
    );
    let tree::Tree { found, unreadable } = tree::find(&repository, &applied);
    let mut report = Report::default();
    for (place, why) in unreadable {
        report.error(place, format!("holds a SealedSecret and can't be read as YAML: {why}"));
    }
    let ring = if found.is_empty() && !options.cluster {
        home.store()?.read().map_err(SealFailure::from)?.ring
    } else {
        home.keys()?.1.ring
    };
    secrets(&found, &ring, &mut report);
    keys(&ring, &mut report);
    renewal(&repository, &applied, options.write, !found.is_empty(), &mut report)?;
    sops::check(&home, &repository, &mut report)?;
    stores(&repository, &applied, &mut report);
    if options.cluster {
        verify_cluster::check(&home, &ring, &options.target, &mut report)?;
    }
    let text = match options.format {
        VerifyFormat::Text => verify_text::text(&report),
        VerifyFormat::Json => verify_text::json(&report),
    };
    output::print(&text)?;
    let is_fine = !report.problems.iter().any(|problem| problem.is_error);
    Ok(if is_fine { exit::CLEAN } else { exit::ERRORS_FOUND })
}

fn secrets(found: &[Found], ring: &Ring, report: &mut Report) {
    report.newest = ring.newest().map(::seal::key::KeyPair::fingerprint);
    let mut places: Vec<Landing> = found.iter().flat_map(|one| one.landings.iter().cloned()).collect();
    places.sort();
    places.dedup();
    places.truncate(PLACES_MAX);
    let verdicts = read::parallel::map(found, |one| {
        let mut verdicts: Vec<(String, Option<String>, Verdict)> = Vec::new();
        for landing in &one.landings {
            for sealed in &one.sealed.items {
                let verdict = item(&one.sealed, sealed, landing, ring, &places);
                let why = verdict.why(&one.sealed, landing);
                verdicts.push((sealed.key.clone().unwrap_or_else(|| "spec.data".to_owned()), why, verdict));
            }
        }
        verdicts
    });
    for (one, verdicts) in found.iter().zip(verdicts) {
        let place = format!("{}:{}", one.path, one.at.line);
        let name =
            one.landings.first().map_or_else(String::new, |landing| format!("{}/{}", landing.namespace, landing.name));
        report.secrets += 1;
        report.items += one.sealed.items.len();
        for trouble in &one.sealed.trouble {
            report.error(&place, format!("{name}: {}", trouble.what));
        }
        let (own, template) = (one.sealed.scope, one.sealed.template_scope);
        // kubeseal writes both or neither; a narrower template is common in files written by hand, and harmless.
        if template > own {
            report.note(
                &place,
                format!("{name}: its template says {template} and its own metadata {own}: it opens as {own}, and `kubeseal --re-encrypt` would make it {template}"),
            );
        }
        for (key, why, verdict) in verdicts {
            match (why, verdict) {
                (Some(why), _) => report.error(&place, format!("{name}: `{key}`: {why}")),
                (None, Verdict::Opens(by)) => *report.by_key.entry(by).or_default() += 1,
                (None, _) => {}
            }
        }
    }
}

/// Keys that can't be sealed with any more, or soon.
fn keys(ring: &Ring, report: &mut Report) {
    const SOON_DAYS: i64 = 60;
    let Some(newest) = ring.newest() else { return };
    let certificate = newest.certificate();
    let days = (certificate.not_after() - now()).whole_days();
    match certificate.check_validity(now()) {
        Err(error) => report.error("the store", format!("the newest key: {}", error.to_string().replace("\n  ", "; "))),
        Ok(()) if days < SOON_DAYS => {
            report.note(
                "the store",
                format!(
                    "the certificate of the newest key {} expires in {days} days; next: coldstart seal rotate",
                    newest.id()
                ),
            );
        }
        Ok(()) => {}
    }
    let old: usize =
        report.by_key.iter().filter(|(key, _)| **key != newest.fingerprint()).map(|(_, items)| items).sum();
    if old > 0 {
        report.note("the store", format!("{old} items are sealed with older keys; next: coldstart seal reseal"));
    }
}

/// Releases and Deployments of the controller.
fn controllers(applied: &[Applied]) -> impl Iterator<Item = (&Applied, Renewal)> {
    applied.iter().filter_map(|one| {
        let node = &one.node;
        let text = |path: &[&str]| node.text_at(path).unwrap_or_default();
        let renewal = match text(&["kind"]) {
            "HelmRelease" => {
                let is_ours = text(&["spec", "chart", "spec", "chart"]).rsplit('/').next() == Some(CHART)
                    || text(&["spec", "chartRef", "name"]).contains(CHART);
                is_ours.then(|| Renewal::of_values(node.at(&["spec", "values"])))
            }
            "Deployment" => {
                let containers = node.at(&["spec", "template", "spec"]).map(|spec| spec.items_at("containers"));
                let mut containers = containers.unwrap_or_default().iter();
                let ours = containers.find(|one| {
                    one.text_at(&["image"]).is_some_and(|image| image.contains("sealed-secrets-controller"))
                });
                ours.map(|one| {
                    let words: Vec<Node> =
                        one.items_at("command").iter().chain(one.items_at("args")).cloned().collect();
                    Renewal::of_arguments(&words)
                })
            }
            _ => None,
        };
        Some((one, renewal?))
    })
}

/// The namespace that the release of the controller goes to.
pub(crate) fn release_namespace(root: &Path) -> Option<String> {
    let repository = Repository::open(root).ok()?;
    let applied = read::applied(&repository, &["HelmRelease", "Deployment"]);
    let (one, _) = controllers(&applied).next()?;
    let target = one.node.text_at(&["spec", "targetNamespace"]).unwrap_or(&one.namespace);
    Some(target.to_owned())
}

fn renewal(
    repository: &Repository,
    applied: &[Applied],
    write: bool,
    is_used: bool,
    report: &mut Report,
) -> Result<(), Failure> {
    let mut seen = false;
    for (one, renewal) in controllers(applied) {
        seen = true;
        let at = one.node.at(&["metadata", "name"]).map_or(one.node.span, |name| name.span);
        let from_elsewhere = renewal == Renewal::Unsaid && one.node.at(&["spec", "valuesFrom"]).is_some();
        let (what, span) = match &renewal {
            Renewal::Off(_) => continue,
            Renewal::Unsaid => {
                ("the controller makes a new key every 30 days, and at once when a key is older".to_owned(), at)
            }
            Renewal::Every(every, span) => (format!("the controller makes a new key every {every}"), *span),
            Renewal::Unquoted(span) => {
                (format!("`{VALUE}: 0` without quotes is nothing to the chart: the controller makes new keys"), *span)
            }
        };
        let place = place(repository, span);
        let is_release = one.node.text_at(&["kind"]) == Some("HelmRelease");
        if write && is_release && !from_elsewhere {
            switch_off(repository, &one.node, &renewal)?;
            say(&format!("{place}: switched renewal off"))?;
            continue;
        }
        let lost = "a key that is in no store, so the next rebuild loses what is sealed with it";
        if from_elsewhere {
            report.note(place, format!("whether {what} is in values from elsewhere, which were not read"));
        } else if is_release {
            report.error(
                place,
                format!("{what}: {lost}\n  next: coldstart seal verify --write sets `{VALUE}: \"0\"` there"),
            );
        } else {
            report.error(place, format!("{what}: {lost}\n  next: add `{}=0` to its arguments", ::seal::renewal::FLAG));
        }
    }
    if !seen && is_used {
        report.note(
            "the repository",
            "no release of the controller was found, so whether it makes new keys by itself is not known",
        );
    }
    Ok(())
}

pub(crate) fn place(repository: &Repository, span: Span) -> String {
    repository.locate(span).map_or_else(|| "the repository".to_owned(), |(path, at)| format!("{path}:{}", at.line))
}

/// Edits the file that says so, or the release's own where nothing does.
fn switch_off(repository: &Repository, release: &Node, renewal: &Renewal) -> Result<(), SealFailure> {
    let name = release.at(&["metadata", "name"]).ok_or_else(|| SealFailure::told("a release without a name"))?;
    let span = match renewal {
        Renewal::Every(_, span) | Renewal::Unquoted(span) => *span,
        Renewal::Off(_) | Renewal::Unsaid => name.span,
    };
    let path = repository.path(span.file).ok_or_else(|| SealFailure::told("the release is in no file"))?;
    let path = repository.root().join(path);
    tree::change(&path, |before| {
        let text = before.ok_or_else(|| SealFailure::told(format!("{} is gone", path.display())))?;
        let fault = |source| SealFailure::Edit { path: path.clone(), source };
        let after = if span == name.span {
            let document = document_of(&text, name.span).ok_or_else(|| SealFailure::told("the release is gone"))?;
            set(&text, document, &["spec", "values", VALUE], "\"0\"").map_err(fault)?
        } else {
            let (start, end) = (span.start as usize, span.end as usize);
            let mut after = text.clone();
            if after.get(start..end).is_none() {
                return Err(SealFailure::told(format!("{} was changed meanwhile", path.display())));
            }
            after.replace_range(start..end, "\"0\"");
            after
        };
        Ok((Some(after), ()))
    })
}

/// The document that holds a place.
fn document_of(text: &str, span: Span) -> Option<usize> {
    let documents = yaml::parse(FileId(0), text, Limits::default());
    let holds = |node: &Node| node.span.start <= span.start && span.end <= node.span.end;
    documents.iter().position(|document| document.root.as_ref().is_some_and(holds))
}

/// The credentials of secret stores: Secrets that must be there before External Secrets can fetch any other.
fn stores(repository: &Repository, applied: &[Applied], report: &mut Report) {
    let made: Vec<(String, String)> = applied
        .iter()
        .filter_map(|one| {
            let node = &one.node;
            let name = match node.text_at(&["kind"])? {
                "Secret" | "SealedSecret" => node.text_at(&["metadata", "name"])?,
                "ExternalSecret" => {
                    node.text_at(&["spec", "target", "name"]).or_else(|| node.text_at(&["metadata", "name"]))?
                }
                _ => return None,
            };
            Some((one.namespace.to_string(), name.to_owned()))
        })
        .collect();
    let is_store = |one: &&Applied| matches!(one.node.text_at(&["kind"]), Some("SecretStore" | "ClusterSecretStore"));
    for store in applied.iter().filter(is_store) {
        let mut wanted = Vec::new();
        references(&store.node, &mut wanted);
        for (name, namespace, span) in wanted {
            let namespace = namespace.unwrap_or_else(|| store.namespace.to_string());
            if !made.contains(&(namespace.clone(), name.clone())) {
                let own = store.node.text_at(&["metadata", "name"]).unwrap_or_default();
                report.note(
                    place(repository, span),
                    format!("secret store {own} needs Secret {namespace}/{name}, which nothing that Flux applies makes: the bootstrap must"),
                );
            }
        }
    }
}

/// Every `…SecretRef` or `secretRef` with a name, and its namespace.
fn references(node: &Node, found: &mut Vec<(String, Option<String>, Span)>) {
    for entry in node.entries() {
        let is_reference = entry.key.to_ascii_lowercase().ends_with("secretref");
        match entry.value.get("name").filter(|_| is_reference) {
            Some(name) => {
                let namespace = entry.value.text_at(&["namespace"]).map(str::to_owned);
                found.extend(name.text().map(|text| (text.to_owned(), namespace, name.span)));
            }
            None => references(&entry.value, found),
        }
    }
    for item in node.as_seq().unwrap_or_default() {
        references(item, found);
    }
}
