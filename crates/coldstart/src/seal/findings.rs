//! What `coldstart seal verify` found, as the findings that every renderer speaks.

use ::seal::rules;
use diagnostic::seal::{Credential, SealFault, SealedFault};
use diagnostic::{Finding, Fix, Goal, Location, Site};
use model::ObjectRef;
use read::Repository;
use source::Span;

use super::report::{Problem, Report, Spot};

/// What stands for the repository where no cluster of it is meant.
const CLUSTER: &str = ".";

/// Every problem as a finding, in the order of the report.
pub(crate) fn findings(report: &Report, repository: &Repository) -> diagnostic::Report {
    let findings = report.problems.iter().map(|problem| finding(problem, repository)).collect();
    diagnostic::Report { findings, rules: &rules::ALL, ..diagnostic::Report::default() }
}

fn finding(problem: &Problem, repository: &Repository) -> Finding {
    let (rule, statement) = (rules::of(&problem.fault), problem.fault.clone());
    let primary = Location { at: site(&problem.spot, repository), label: None };
    let finding = Finding::new(rule, problem.severity, CLUSTER, &component(problem), statement, primary);
    match &problem.next {
        Some(next) => finding.with_fix(Fix::by_hand(next.clone(), Goal::Gone)),
        None => finding,
    }
}

fn site(spot: &Spot, repository: &Repository) -> Site {
    match spot {
        Spot::Line { span, .. } => Site::File(*span),
        Spot::File(path) => {
            let file = repository.id(path);
            file.map_or(Site::Nowhere, |file| Site::File(Span { file, start: 0, end: 0 }))
        }
        Spot::Object(object) => Site::Object(object.clone()),
        Spot::OwnStore => Site::Store(spot.text()),
        Spot::Store(store) => Site::Store(store.clone()),
        Spot::Repository | Spot::Cluster => Site::Nowhere,
    }
}

/// What it is about.
fn component(problem: &Problem) -> ObjectRef {
    match (&problem.fault, &problem.spot) {
        (SealFault::Sealed(fault), spot) => match fault {
            SealedFault::DoesNotOpen { landing: object, .. }
            | SealedFault::Malformed { object, .. }
            | SealedFault::TooLarge { object, .. }
            | SealedFault::TemplateScope { object, .. } => named("SealedSecret", object),
            SealedFault::Unreadable { .. } | SealedFault::NotLookedAt { .. } => ObjectRef::new("", "", spot.text()),
        },
        (SealFault::Credential(Credential { secret, .. }), _) => named("Secret", secret),
        (_, Spot::Object(object)) => object.clone(),
        (_, spot) => ObjectRef::new("", "", spot.text()),
    }
}

/// `namespace/name`, taken apart.
fn named(kind: &str, path: &str) -> ObjectRef {
    let (namespace, name) = path.split_once('/').unwrap_or(("", path));
    ObjectRef::new(kind, namespace, name)
}
