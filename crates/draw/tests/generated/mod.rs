//! Clusters of any size, with everything that a picture shows: orders that hold and that are missing, weak gates, a cycle, and names that
//! are made to do harm.

use std::collections::BTreeSet;

use diagnostic::{Advice, Finding, Fix, GateAdvice, Goal, Location, OrderFault, RaceCost, Remark, Severity};
use model::{
    Arrival, Behaviour, BootstrapStep, Capability, Cluster, Component, ComponentId, Consequence, Gate, Need, ObjectRef,
    Offer, Patience, Phase, Purpose, Retry, Role, Stage, Tie, TieTarget, Verdict, WaitsFor,
};
use source::{FileId, Source, Sources, Span};

/// Names that do harm where they are taken for markup, and one that is too long.
pub(crate) fn harmful() -> [String; 5] {
    [
        "<img src=x onerror=\"window.harm=1\">".to_owned(),
        "O'Neil & \"sons\"".to_owned(),
        "</script><b>bold</b>".to_owned(),
        "two\nlines".to_owned(),
        "long-".repeat(60),
    ]
}

const FIRST: u32 = 4;

/// One component of the bootstrap, one that applies all others, and applications that depend on earlier ones.
pub(crate) fn cluster(components: u32) -> Cluster {
    let bootstrap = Component {
        stage: Stage::Bootstrap,
        ..component(Role::Bootstrap(BootstrapStep::Release), "cilium", None, Gate::Healthy)
    };
    let mut cluster = Cluster {
        name: "home".to_owned(),
        components: vec![
            bootstrap,
            component(Role::Kustomization, "cluster", None, Gate::Applied),
            component(Role::Kustomization, "operators", Some(1), Gate::Healthy),
            component(Role::Kustomization, "storage", Some(1), Gate::Applied),
        ],
        ..Cluster::default()
    };
    let harmful = harmful();
    for number in FIRST..components {
        let at = (components - number) as usize - 1;
        let name = harmful.get(at).cloned().unwrap_or_else(|| format!("app-{number}"));
        let gate = if number % 5 == 0 { Gate::Applied } else { Gate::Healthy };
        cluster.components.push(component(Role::Kustomization, &name, Some(1), gate));
    }
    for by in [2, 3] {
        cluster.offers.push(offer(by));
    }
    for number in FIRST..components {
        order(&mut cluster, number);
    }
    // Two that wait for each other, and one that waits for nothing there is.
    cluster.ties.push(tie(components - 7, components - 8));
    cluster.ties.push(tie(components - 8, components - 7));
    cluster
        .ties
        .push(Tie { to: TieTarget::Unknown(ObjectRef::new("Kustomization", "flux-system", "gone")), ..tie(5, 0) });
    cluster
}

/// A box for every component, and one for what was not found.
pub(crate) fn boxes(components: u32) -> i64 {
    i64::from(components) + 1
}

fn order(cluster: &mut Cluster, number: u32) {
    // Every fourth does not wait for what installs its kind; of the others some wait for a weak gate.
    cluster.needs.push(need(number, 2 + number % 2));
    match number % 4 {
        0 | 1 if number != 17 => cluster.ties.push(tie(number, 2 + number % 2)),
        2 if number > 10 => cluster.ties.push(tie(number, number - number % 7 - 1)),
        _ => {}
    }
    if number == 17 {
        cluster.ties.push(tie(17, 2));
    }
    if number > 20 && number.is_multiple_of(3) && number % 90 > 20 {
        cluster.ties.push(tie(number, number - 9));
    }
}

fn kind(by: u32) -> Capability {
    Capability::crd("example.org", if by == 2 { "Database" } else { "Bucket" })
}

fn offer(by: u32) -> Offer {
    let object = ObjectRef::new("CustomResourceDefinition", "", "things.example.org");
    Offer {
        by: ComponentId(by),
        capability: kind(by),
        arrival: Arrival::Healthy,
        object,
        at: Span::GENERATED,
        is_guess: false,
    }
}

fn need(of: u32, by: u32) -> Need {
    Need {
        of: ComponentId(of),
        capability: kind(by),
        phase: Phase::Apply,
        soft: false,
        object: ObjectRef::new("Database", "apps", "main"),
        at: Span::new(FileId(0), 5, 9),
        why: Purpose::Apply,
        optional: false,
    }
}

fn tie(from: u32, to: u32) -> Tie {
    let to = TieTarget::Component(ComponentId(to));
    Tie { from: ComponentId(from), to, at: Span::new(FileId(0), 5, 9), waits_for: WaitsFor::Done }
}

fn component(role: Role, name: &str, parent: Option<u32>, gate: Gate) -> Component {
    Component {
        object: ObjectRef::new(role.noun(), "flux-system", name),
        role,
        behaviour: Behaviour::RECONCILED_IN_STAGES,
        stage: Stage::GitOps,
        at: Span::new(FileId(0), 0, 4),
        parent: parent.map(ComponentId),
        gate,
        gate_at: Span::GENERATED,
        suspended: None,
        patience: Patience {
            timeout_seconds: 300,
            attempts: 1,
            pause_seconds: 0,
            retry: Retry::Every(3600),
            retry_at: Span::GENERATED,
            retry_field: Some(model::RetryField::Interval),
        },
        startup_seconds: 40,
        known_as: None,
        path: None,
        ties_at: Span::GENERATED,
        objects: 1,
        ignored_checks: Vec::new(),
        expressions: BTreeSet::new(),
        resource: None,
        target_namespace: None,
    }
}

/// One finding per seventeenth component, with a line and a fix.
pub(crate) fn findings(cluster: &Cluster) -> Vec<Finding> {
    let rule = check::rules::find("missing-dependency").expect("a rule");
    let provider = cluster.components[2].object.clone();
    let one = |component: &Component| {
        let statement = OrderFault::NotOrdered {
            component: component.object.clone(),
            provider: provider.clone(),
            needed: vec![kind(2)],
        };
        let primary = Location::new(Span::new(FileId(0), 5, 9), Remark::DoesNotWait);
        let advice = GateAdvice::SetWait { gate: provider.clone(), patch: None };
        Finding::new(rule, Severity::Warning, &cluster.name, &component.object, statement, primary)
            .with_provider(&provider)
            .with_verdict(Verdict::Unordered)
            .with_consequence(Consequence::Slow { seconds: 3600 })
            .with_cost(RaceCost::WaitsInterval { seconds: 3600 })
            .with_fix(Fix::by_hand(Advice::from(advice), Goal::Waits { component: provider.clone() }))
    };
    cluster.components.iter().skip(17).step_by(17).map(one).collect()
}

/// One file, for every place.
pub(crate) struct Files;

impl Sources for Files {
    fn path(&self, _: FileId) -> Option<&str> {
        Some("apps/<b>ks</b>.yaml")
    }

    fn source(&self, _: FileId) -> Option<&Source> {
        static SOURCE: std::sync::LazyLock<Source> =
            std::sync::LazyLock::new(|| Source::new("name\nwait: <b>false</b>\n".to_owned()));
        Some(&SOURCE)
    }
}
