//! A report made by hand, and the files it points at.

use std::io;

use diagnostic::{
    Advice, Also, Awaited, ClusterSummary, EvidenceRole, Finding, Fix, GateAdvice, GateFault, Goal, InstallFault,
    Label, Level, Location, Moved, NeverCost, Note, OrderFault, Outlook, RaceCost, Remark, Report, Rule, Severity,
    Statement,
};
use model::{
    BlindSpot, BuildFault, Capability, CapabilityKind, Cause, Consequence, ObjectRef, Role, Unseen, Verdict, WhyUnseen,
};
use source::{FileId, Source, Sources, Span};

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

/// Names of files as labels: texts from outside, whatever they hold.
pub(crate) fn location(span: Span, label: &str) -> Location {
    Location::new(span, Label::Broken { fault: fault(label) })
}

/// What a builder says, whatever that is.
fn fault(words: &str) -> BuildFault {
    BuildFault::Kustomize(Cause::new(io::Error::other(words.to_owned())))
}

/// A statement that consists of a name and what a builder says of it.
pub(crate) fn statement(name: &str, reason: &str) -> Statement {
    let component = ObjectRef::new("Kustomization", "", name);
    InstallFault::CantBeBuilt { component, fault: fault(reason), count: 1 }.into()
}

fn rule(id: &str) -> &'static Rule {
    check::rules::find(id).expect("a rule")
}

pub(crate) fn deadlock(tree: &Tree) -> Finding {
    let component = ObjectRef::new("Kustomization", "database", "cloudnative-pg");
    let crd = Capability::crd("postgresql.cnpg.io", "Cluster");
    let installer = Some(ObjectRef::new("HelmRelease", "database", "cloudnative-pg"));
    let statement = InstallFault::NeverApplied { component: component.clone(), kind: "Cluster".into(), installer };
    let at = tree.find(CLUSTER, "Cluster");
    let primary = Location::new(at, Label::NeedsWhich { needed: crd.clone() });
    let moved = Moved {
        kinds: vec!["Cluster".into()],
        places: vec![at],
        with_checks: false,
        awaited: Awaited::This { needs_wait: false },
    };
    Finding::new(rule("single-stage-deadlock"), Severity::Error, HOME, &component, statement, primary)
        .with_provider(&ObjectRef::new("HelmRelease", "database", "cloudnative-pg"))
        .with_subject(crd)
        .with_verdict(Verdict::Deadlocked)
        .with_consequence(Consequence::Deadlock)
        .with_cost(NeverCost::Converges)
        .with_evidence(
            EvidenceRole::Offer,
            tree.find(RELEASE, "cloudnative-pg"),
            Label::WouldInstall { role: Role::HelmRelease, is_beside: true },
        )
        .with_fix(Fix::by_hand(Advice::MoveResources(moved), Goal::Gone))
}

fn webhook() -> Capability {
    Capability::cluster(CapabilityKind::Webhook, "external-secrets")
}

pub(crate) fn slow(tree: &Tree) -> Finding {
    let component = ObjectRef::new("Kustomization", "security", "authentik");
    let gate = ObjectRef::new("Kustomization", "security", "external-secrets");
    let statement = GateFault::DependsOnWeakGate {
        component: component.clone(),
        count: 1,
        gate: gate.clone(),
        needed: vec![webhook()],
    };
    let primary = Location::new(tree.find(KS, "external-secrets"), Remark::WaitsUntilExists);
    let advice = GateAdvice::SetWait { gate: gate.clone(), patch: None };
    let mut finding = Finding::new(rule("ungated-dependency"), Severity::Warning, HOME, &component, statement, primary)
        .with_provider(&gate)
        .with_subject(webhook())
        .with_verdict(Verdict::AppliedOnly)
        .with_consequence(Consequence::Slow { seconds: 3600 })
        .with_cost(RaceCost::WaitsInterval { seconds: 3600 })
        .with_evidence(EvidenceRole::Related, tree.find(KS, "interval: 1h"), Remark::NoRetryInterval)
        .with_evidence(EvidenceRole::Offer, Span::GENERATED, Label::Brings { by: gate.clone() })
        .with_fix(Fix::by_hand(advice, Goal::Waits { component: gate.clone() }))
        .with_note(Note::IsMutual);
    finding.covers = vec![ObjectRef::new("Kustomization", "cert-manager", "cert-manager")];
    finding.levels = vec![Level {
        component: ObjectRef::new("HelmRelease", "security", "authentik"),
        provider: ObjectRef::new("HelmRelease", "security", "external-secrets"),
    }];
    finding.also = vec![Also {
        component: ObjectRef::new("Kustomization", "security", "lldap"),
        provider: Some(gate),
        at: tree.find(KS, "name: authentik").into(),
        severity: Severity::Warning,
        cost: Some(RaceCost::WaitsInterval { seconds: 600 }.into()),
        consequence: Some(Consequence::Slow { seconds: 600 }),
    }];
    finding
}

pub(crate) fn info(tree: &Tree) -> Finding {
    let slow = slow(tree);
    let network = Capability::cluster(CapabilityKind::PodNetwork, "");
    let provider = ObjectRef::new("Kustomization", "kube-system", "cilium");
    let statement = OrderFault::NotOrdered { component: slow.component.clone(), provider, needed: vec![network] };
    Finding {
        rule: rule("missing-dependency"),
        severity: Severity::Info,
        statement: statement.into(),
        provider: None,
        consequence: Some(Consequence::Noise),
        notes: Vec::new(),
        fix: None,
        also: Vec::new(),
        cost: Some(RaceCost::Seconds.into()),
        ..slow
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
        outlook: Outlook { components: 184, blocked: 0, seconds: 774 },
    }
}

pub(crate) fn blind(what: Unseen, why: WhyUnseen, at: Span) -> BlindSpot {
    BlindSpot { what, why, at, component: None }
}

/// A release of a chart that is not known.
fn unknown_chart(chart: &str, at: Span) -> BlindSpot {
    let object = ObjectRef::new("HelmRelease", "apps", chart);
    blind(Unseen::Release { object, chart: chart.into() }, WhyUnseen::UnknownChart, at)
}

/// A report of these findings in one cluster, with nothing unseen.
pub(crate) fn of(findings: Vec<Finding>, cluster: &str) -> Report {
    Report { findings, clusters: vec![summary(cluster)], rules: check::rules::all(), ..Report::default() }
}

pub(crate) fn report(tree: &Tree) -> Report {
    Report {
        findings: vec![Finding { blocks: 41, ..deadlock(tree) }, slow(tree), info(tree)],
        clusters: vec![ClusterSummary {
            outlook: Outlook { components: 184, blocked: 41, seconds: 774 },
            ..summary(HOME)
        }],
        rules: check::rules::all(),
        blind_spots: vec![
            blind(
                Unseen::Address("https://github.com/kubernetes-sigs/gateway-api".to_owned()),
                WhyUnseen::Fetched,
                tree.find(CLUSTER, "kind"),
            ),
            unknown_chart("cloudnative-pg", tree.find(RELEASE, "kind")),
            unknown_chart("authentik", Span::GENERATED),
        ],
        ..Report::default()
    }
}
