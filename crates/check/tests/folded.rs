//! One finding that speaks for many: who is named, and what stays by itself.

mod story;

use std::collections::BTreeMap;

use diagnostic::{EvidenceRole, Finding, Report, Severity};
use fixtures::Shelf;
use read::Reading;

/// Rules that speak for many of whom each has its own line to edit.
const EDITED_BY_EACH: [&str; 1] = ["late-store"];

/// The repository of a shape, read.
fn read(name: &str) -> Reading {
    story::read(&story::story(Shelf::Shapes, name))
}

fn check(name: &str) -> Report {
    coldstart_check::run(&read(name), None)
}

/// Every pair a report speaks of, by rule and severity.
fn pairs(report: &Report) -> Vec<String> {
    let one = |finding: &Finding, component: &model::ObjectRef, provider: Option<&model::ObjectRef>| {
        let provider = provider.map(ToString::to_string).unwrap_or_default();
        format!("{} {} {}: {component} ← {provider}", finding.cluster, finding.severity, finding.rule.id)
    };
    let mut pairs: Vec<String> = Vec::new();
    for finding in &report.findings {
        pairs.push(one(finding, &finding.component, finding.provider.as_ref()));
        pairs.extend(finding.also.iter().map(|also| one(finding, &also.component, also.provider.as_ref())));
    }
    pairs.sort();
    pairs
}

#[test]
fn folding_loses_no_pair_and_adds_none() {
    for shape in story::stories(Shelf::Shapes).into_iter().map(|story| story.name) {
        let each = check(&shape);
        let (before, count) = (pairs(&each), each.findings.len());
        let folded = each.folded();
        assert_eq!(pairs(&folded), before, "{shape}");
        assert!(folded.findings.len() <= count, "{shape}");
    }
}

#[test]
fn programs_get_a_finding_for_everybody_who_has_a_line_to_edit() {
    for shape in story::stories(Shelf::Shapes).into_iter().map(|story| story.name) {
        let report = check(&shape);
        let before = pairs(&report);
        let each = report.each();
        assert_eq!(pairs(&each), before, "{shape}");
        let folded = |finding: &&Finding| EDITED_BY_EACH.contains(&finding.rule.id) && !finding.also.is_empty();
        assert_eq!(each.findings.iter().filter(folded).count(), 0, "{shape}");
    }
}

#[test]
fn everybody_has_their_own_message_fix_and_evidence() {
    let mut seen = 0;
    for shape in story::stories(Shelf::Shapes).into_iter().map(|story| story.name) {
        let reading = read(&shape);
        let each = coldstart_check::run(&reading, None).each();
        for finding in each.findings.iter().filter(|finding| EDITED_BY_EACH.contains(&finding.rule.id)) {
            seen += 1;
            let said = draw::say::finding(finding, &reading.repository);
            let own = finding.component.to_string();
            assert!(said.message.starts_with(&format!("`{}`", finding.component.path())), "{shape}: {own}");
            assert!(!said.message.contains(" more "), "{shape}: {}", said.message);
            assert!(said.fix.as_ref().unwrap().contains(&own), "{shape}: {own}: {:?}", said.fix);
            let need = &finding.evidence[0];
            assert_eq!(need.role, EvidenceRole::Need, "{shape}: {own}");
            let others =
                each.findings.iter().filter(|other| other.rule == finding.rule && other.component != finding.component);
            let of_another = |other: &&Finding| other.cluster == finding.cluster && other.evidence[0].at == need.at;
            assert_eq!(others.filter(of_another).count(), 0, "{shape}: {own} shows the need of another");
        }
    }
    assert!(seen > 3, "only {seen} such findings");
}

/// A pair at warning or above: what is wrong, and with whose absence.
fn loud_pairs(report: &Report) -> BTreeMap<(String, &'static str, Severity, String), usize> {
    let mut pairs = BTreeMap::new();
    for finding in report.findings.iter().filter(|it| it.severity >= Severity::Warning) {
        let provider = finding.provider.as_ref().map(ToString::to_string).unwrap_or_default();
        *pairs.entry((finding.cluster.clone(), finding.rule.id, finding.severity, provider)).or_default() += 1;
    }
    pairs
}

#[test]
fn what_is_at_warning_or_above_stays_by_itself_unless_three_share_a_provider() {
    let mut folded_pairs = 0;
    for shape in story::stories(Shelf::Shapes).into_iter().map(|story| story.name) {
        let each = check(&shape);
        let before = loud_pairs(&each);
        let after = loud_pairs(&each.folded());
        for (pair, told) in after {
            let many = before[&pair];
            assert!(told == many || (told == 1 && many >= 3), "{shape}: {pair:?}: {many} told as {told}");
            folded_pairs += usize::from(told < many);
        }
    }
    assert!(folded_pairs > 0, "no shape has three warnings about one provider");
}

#[test]
fn a_finding_that_speaks_for_others_says_so_in_its_first_line() {
    let reading = read("three-hourly-users-of-one-operator");
    let folded = coldstart_check::run(&reading, None).folded();
    let mut loud = folded.findings.iter().filter(|it| it.severity == Severity::Warning);
    let (Some(finding), None) = (loud.next(), loud.next()) else { panic!("{:#?}", folded.findings) };
    let message = draw::say::finding(finding, &reading.repository).message;
    assert!(message.ends_with("nothing makes it wait for `flux-system/operator` (2 more like it)"), "{message}");
    let names: Vec<&str> = finding.also.iter().map(|also| also.component.name.as_str()).collect();
    assert_eq!(names, ["bills", "orders"]);
}

#[test]
fn those_that_miss_one_provider_are_one_finding_that_names_the_others() {
    let reading = read("layers-without-order");
    let each = coldstart_check::run(&reading, None);
    let notes = |finding: &Finding| draw::say::finding(finding, &reading.repository).notes;
    let before = each.findings.iter().filter(|finding| finding.severity == Severity::Info).count();
    let folded = each.folded();
    let speaking: Vec<&Finding> = folded
        .findings
        .iter()
        .filter(|finding| notes(finding).iter().any(|note| note.starts_with("same for")))
        .collect();
    let after = folded.findings.iter().filter(|finding| finding.severity == Severity::Info).count();
    assert!(!speaking.is_empty() && after < before, "{before} findings at info became {after}");
    for finding in speaking {
        assert!(!finding.also.is_empty(), "{finding:?}");
    }
}
