//! A report made by hand, and the files it points at.

use check::{Also, ClusterSummary, Finding, Location, LocationRole, Report, Severity};
use coldstart_draw::Sources;
use graph::{Consequence, Verdict};
use model::{BlindSpot, ObjectRef};
use yaml::{FileId, Source, Span};

/// Files held in memory.
#[derive(Debug)]
pub(crate) struct Tree(Vec<(&'static str, Source)>);

impl Tree {
    pub(crate) fn new(files: &[(&'static str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (*path, Source::new((*text).to_owned()))).collect())
    }

    /// Where `text` stands first in a file.
    pub(crate) fn find(&self, path: &str, text: &str) -> Span {
        let file = self.0.iter().position(|(known, _)| *known == path).expect("a file of the tree");
        let start = self.0[file].1.text().find(text).expect("text of the file");
        let number = |number: usize| u32::try_from(number).expect("a small file");
        Span::new(FileId(number(file)), number(start), number(start + text.len()))
    }
}

impl Sources for Tree {
    fn path(&self, file: FileId) -> Option<&str> {
        self.0.get(file.0 as usize).map(|(path, _)| *path)
    }

    fn source(&self, file: FileId) -> Option<&Source> {
        self.0.get(file.0 as usize).map(|(_, source)| source)
    }
}

pub(crate) const CLUSTER: &str = "kubernetes/apps/database/cloudnative-pg/app/cluster.yaml";
pub(crate) const RELEASE: &str = "kubernetes/apps/database/cloudnative-pg/app/helmrelease.yaml";
pub(crate) const KS: &str = "kubernetes/apps/security/authentik/ks.yaml";
pub(crate) const HOME: &str = "kubernetes/flux/cluster";

pub(crate) fn tree() -> Tree {
    Tree::new(&[
        (CLUSTER, "apiVersion: postgresql.cnpg.io/v1\nkind: Cluster\nmetadata:\n  name: postgres\n"),
        (RELEASE, "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: cloudnative-pg\n"),
        (
            KS,
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: authentik\nspec:\n  interval: 1h\n  \
             dependsOn:\n    - name: external-secrets\n      namespace: security\n  path: ./kubernetes/apps/security/authentik/app\n  wait: false\n",
        ),
    ])
}

pub(crate) fn location(span: Span, role: LocationRole, label: &str) -> Location {
    Location { span, role, label: label.to_owned() }
}

pub(crate) fn deadlock(tree: &Tree) -> Finding {
    Finding {
        rule: "single-stage-deadlock",
        severity: Severity::Error,
        message: "`database/cloudnative-pg` can never be applied".to_owned(),
        cluster: HOME.to_owned(),
        component: ObjectRef::new("Kustomization", "database", "cloudnative-pg"),
        provider: Some(ObjectRef::new("HelmRelease", "database", "cloudnative-pg")),
        capability: Some("CRD Cluster.postgresql.cnpg.io".to_owned()),
        verdict: Some(Verdict::Deadlocked),
        consequence: Some(Consequence::Deadlock),
        cost: "never converges".to_owned(),
        locations: vec![
            location(tree.find(CLUSTER, "Cluster"), LocationRole::Primary, "needs CRD Cluster.postgresql.cnpg.io"),
            location(
                tree.find(RELEASE, "cloudnative-pg"),
                LocationRole::Offer,
                "which this HelmRelease, in the same Kustomization, would install: one failed dry-run stops both",
            ),
        ],
        fix: Some("move cluster.yaml to a Kustomization of its own that depends on this one".to_owned()),
        notes: Vec::new(),
        also: Vec::new(),
        each: Vec::new(),
    }
}

pub(crate) fn slow(tree: &Tree) -> Finding {
    Finding {
        rule: "ungated-dependency",
        severity: Severity::Warning,
        message: "`security/authentik` waits for `external-secrets`, which is done before it is healthy".to_owned(),
        cluster: HOME.to_owned(),
        component: ObjectRef::new("Kustomization", "security", "authentik"),
        provider: Some(ObjectRef::new("Kustomization", "security", "external-secrets")),
        capability: Some("webhook of external-secrets".to_owned()),
        verdict: Some(Verdict::AppliedOnly),
        consequence: Some(Consequence::Slow { seconds: 3600 }),
        cost: "if the race is lost, waits 1 h (interval; no retryInterval)".to_owned(),
        locations: vec![
            location(tree.find(KS, "external-secrets"), LocationRole::Primary, "waits until this is applied"),
            location(tree.find(KS, "interval: 1h"), LocationRole::Related, "tries again after this"),
            location(Span::GENERATED, LocationRole::Offer, "the webhook is made by the chart of external-secrets"),
        ],
        fix: Some("set `wait: true` on `security/external-secrets`".to_owned()),
        notes: vec!["`retryInterval: 2m` would make it cheap".to_owned()],
        also: vec![Also {
            component: ObjectRef::new("Kustomization", "security", "lldap"),
            provider: Some(ObjectRef::new("Kustomization", "security", "external-secrets")),
            at: tree.find(KS, "name: authentik"),
        }],
        each: Vec::new(),
    }
}

pub(crate) fn info(tree: &Tree) -> Finding {
    Finding {
        rule: "missing-dependency",
        severity: Severity::Info,
        message: "`security/authentik` needs the pod network".to_owned(),
        provider: None,
        consequence: Some(Consequence::Noise),
        notes: Vec::new(),
        fix: None,
        also: Vec::new(),
        cost: "heals by itself within seconds".to_owned(),
        ..slow(tree)
    }
}

pub(crate) fn summary(name: &str) -> ClusterSummary {
    let path = ["cilium", "coredns", "cert-manager", "external-secrets", "authentik"];
    ClusterSummary {
        name: name.to_owned(),
        kustomizations: 96,
        helm_releases: 88,
        resource_sets: 0,
        bootstrap_releases: 0,
        rendered_charts: 0,
        tiers: 7,
        critical_path: path.map(|name| ObjectRef::new("Kustomization", "flux-system", name)).into(),
    }
}

pub(crate) fn blind(what: &str, why: &str, at: Span) -> BlindSpot {
    BlindSpot { what: what.to_owned(), why: why.to_owned(), at, component: None }
}

/// A report of these findings in one cluster, with nothing unseen.
pub(crate) fn of(findings: Vec<Finding>, cluster: &str) -> Report {
    Report { findings, clusters: vec![summary(cluster)], ..Report::default() }
}

pub(crate) fn report(tree: &Tree) -> Report {
    Report {
        findings: vec![deadlock(tree), slow(tree), info(tree)],
        clusters: vec![summary(HOME)],
        blind_spots: vec![
            blind(
                "https://github.com/kubernetes-sigs/gateway-api",
                "would be fetched over the network",
                tree.find(CLUSTER, "kind"),
            ),
            blind("chart cloudnative-pg", "has no chart in this repository", tree.find(RELEASE, "kind")),
            blind("chart authentik", "has no chart in this repository", Span::GENERATED),
        ],
        ..Report::default()
    }
}
