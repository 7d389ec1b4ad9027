//! Whole reports, as they are printed.

mod made;

use coldstart_draw as draw;
use diagnostic::{Evidence, EvidenceRole, Finding, Fix, GateAdvice, Goal, Location, Report, Severity};
use draw::text::{Detail, TextOptions};
use made::{CLUSTER, HOME, KS, Tree, deadlock, info, location, report, slow, statement, summary, tree};
use model::ObjectRef;
use source::Span;

const PLAIN: TextOptions = TextOptions {
    color: false,
    width: None,
    min_severity: Severity::Warning,
    blind_spots: false,
    detail: Detail::Screens,
    sample: None,
};

#[test]
fn a_report_says_what_was_read_what_is_wrong_and_what_was_not_seen() {
    let tree = tree();
    insta::assert_snapshot!(draw::text::report(&report(&tree), &tree, &PLAIN));
}

#[test]
fn a_narrow_terminal_wraps_what_to_do() {
    let tree = tree();
    let options = TextOptions { width: Some(70), min_severity: Severity::Info, ..PLAIN };
    insta::assert_snapshot!(draw::text::report(&report(&tree), &tree, &options));
}

#[test]
fn blind_spots_are_listed_when_asked_for() {
    let tree = tree();
    let mut report = report(&tree);
    report.findings.clear();
    let options = TextOptions { blind_spots: true, ..PLAIN };
    insta::assert_snapshot!(draw::text::report(&report, &tree, &options));
}

#[test]
fn a_clean_repository_gets_three_lines() {
    let tree = tree();
    let report = made::of(Vec::new(), HOME);
    insta::assert_snapshot!(draw::text::report(&report, &tree, &PLAIN), @"
    Rebuilt today: comes up, in about 13 min (estimate).
    read   flux 96 kustomizations, 88 helmreleases · 1 cluster: kubernetes/flux/cluster

    7 tiers · critical path 5: cilium → coredns → cert-manager → external-secrets → authentik · 0 errors, 0 warnings
    ");
}

#[test]
fn what_stops_most_comes_first_and_two_screens_are_enough() {
    let tree = tree();
    let mut report = made::of(Vec::new(), HOME);
    for number in 0..40 {
        let mut finding = slow(&tree);
        finding.component.name = format!("app-{number}").into();
        report.findings.push(finding);
    }
    report.findings.push(deadlock(&tree));
    report.findings.push(Finding { blocks: 41, ..deadlock(&tree) });
    report.clusters[0].outlook.blocked = 41;
    let text = draw::text::report(&report, &tree, &PLAIN);
    assert!(text.starts_with("Rebuilt today: does not come up. 2 causes block 41 of 184 components."), "{text}");
    let (first, rest) = text.split_once("error[").and_then(|(_, rest)| rest.split_once("error[")).unwrap();
    assert!(first.contains("blocks 40 other components"), "{text}");
    assert!(!rest.contains("blocks 40 other components"), "{text}");
    assert!(text.lines().count() <= 82, "{} lines:\n{text}", text.lines().count());
    assert!(text.contains("more (coldstart check -v)"), "{text}");
    let all = draw::text::report(&report, &tree, &TextOptions { detail: Detail::Everything, ..PLAIN });
    assert_eq!(all.matches("\nwarning[ungated-dependency]: ").count(), 40, "{all}");
    let brief = draw::text::report(&report, &tree, &TextOptions { detail: Detail::Headline, ..PLAIN });
    assert_eq!(brief.lines().count(), 2, "{brief}");
}

#[test]
fn the_same_in_files_of_other_clusters_is_one_cause() {
    let tree = tree();
    let mut report = made::of(vec![slow(&tree), slow(&tree)], HOME);
    report.clusters.push(summary("clusters/lab"));
    report.findings[1].cluster = "clusters/lab".to_owned();
    report.findings[1].primary = location(tree.find(CLUSTER, "kind"), "x");
    let text = draw::text::report(&report, &tree, &PLAIN);
    assert_eq!(text.matches("warning[").count(), 1, "{text}");
    assert!(text.contains("note: the same in kubernetes/"), "{text}");
    assert!(text.contains("0 errors, 1 warning"), "{text}");
}

#[test]
fn a_sample_says_what_it_left_out() {
    let tree = tree();
    let mut report = report(&tree);
    report.findings.insert(1, deadlock(&tree));
    let text = draw::text::report(&report, &tree, &TextOptions { sample: Some(2), ..PLAIN });
    assert_eq!(text.matches("error[single-stage-deadlock]").count(), 1, "{text}");
    assert!(text.contains("warning[ungated-dependency]") && text.contains("… and 1 more"), "{text}");
    assert!(text.contains("2 errors, 1 warning"), "{text}");
}

#[test]
fn what_several_clusters_share_is_told_once() {
    let tree = tree();
    let of = |mut finding: diagnostic::Finding, cluster: &str| {
        finding.cluster = cluster.to_owned();
        finding
    };
    let report = Report {
        findings: vec![
            of(deadlock(&tree), "clusters/home"),
            of(deadlock(&tree), "clusters/lab"),
            of(slow(&tree), "clusters/lab"),
        ],
        clusters: ["clusters/home", "clusters/lab", "clusters/old"].map(summary).into(),
        ..Report::default()
    };
    insta::assert_snapshot!(draw::text::report(&report, &tree, &PLAIN));
}

#[test]
fn clusters_in_which_others_are_concerned_share_a_cause_and_programs_are_told_of_each() {
    let tree = tree();
    let mut findings = vec![slow(&tree), slow(&tree)];
    findings[1].cluster = "clusters/lab".to_owned();
    let told = |findings: &[diagnostic::Finding]| {
        let report = made::of(findings.to_vec(), HOME);
        draw::text::report(&report, &tree, &PLAIN).matches("warning[").count()
    };
    assert_eq!(told(&findings), 1);
    findings[1].also[0].component.name = "another".into();
    assert_eq!(told(&findings), 1);
    let json =
        draw::json::report(&made::of(findings, HOME), &[], &tree, Severity::Warning, &draw::Edits::default()).unwrap();
    assert_eq!(json.matches("\"rule\": \"ungated-dependency\"").count(), 2, "{json}");
}

#[test]
fn colours_say_nothing_that_words_do_not() {
    let tree = tree();
    let plain = draw::text::report(&report(&tree), &tree, &PLAIN);
    let colored = draw::text::report(&report(&tree), &tree, &TextOptions { color: true, ..PLAIN });
    assert_ne!(plain, colored);
    assert_eq!(plain, strip(&colored));
}

#[test]
fn hostile_names_and_endless_lines_do_no_harm() {
    let (before, after, far) = ("a".repeat(300), "b".repeat(5000), "c".repeat(5000));
    let text = format!("evil: \u{1b}[31mred\u{202e}\r\n{before}needle{after}\n{far}faraway\n");
    let tree = Tree::new(&[("bad\u{1b}]0;x\u{7}.yaml", &text)]);
    let path = "bad\u{1b}]0;x\u{7}.yaml";
    let mut finding = slow(&made::tree());
    finding.statement = statement("\u{1b}[2Jname\u{9b}", "line\nbreak\u{202e}");
    finding.primary = location(tree.find(path, "\u{1b}[31mred\u{202e}"), "la\u{7}bel");
    finding.evidence = vec![
        evidence(tree.find(path, "needle"), EvidenceRole::Need, "in a long line"),
        evidence(tree.find(path, "faraway"), EvidenceRole::Offer, "too far to the right"),
    ];
    let gate = ObjectRef::new("Kustomization", "se\u{1b}c", "line\nbreak\u{202e}");
    let advice = GateAdvice::SetWait { gate: gate.clone(), patch: None };
    finding.fix = Some(Fix::by_hand(advice, Goal::Waits { component: gate }));
    let report = made::of(vec![finding], "\u{1b}c");
    let drawn = draw::text::report(&report, &tree, &PLAIN);
    assert!(!drawn.contains(|c: char| c.is_control() && c != '\n'), "{drawn:?}");
    assert!(!drawn.contains('\u{202e}'), "{drawn:?}");
    assert!(drawn.lines().all(|line| line.chars().count() < 250), "{drawn}");
    insta::assert_snapshot!(drawn);
}

#[test]
fn places_that_no_file_holds_do_not_break_a_diagnostic() {
    let tree = tree();
    let beyond = Span { end: 90_000, start: 80_000, ..tree.find(KS, "kind") };
    let unknown = Span::new(source::FileId(77), 0, 1);
    for span in [Span::GENERATED, beyond, unknown] {
        let mut finding = info(&tree);
        finding.primary = location(span, "here");
        finding.evidence.clear();
        let report = made::of(vec![finding], HOME);
        let options = TextOptions { min_severity: Severity::Pedantic, ..PLAIN };
        assert!(draw::text::report(&report, &tree, &options).contains("here"));
    }
}

#[test]
fn json_keeps_its_promise() {
    let tree = tree();
    insta::assert_snapshot!(
        draw::json::report(&report(&tree), &[], &tree, Severity::Info, &draw::Edits::default()).unwrap()
    );
}

#[test]
fn json_tells_what_is_of_a_shared_bootstrap_once() {
    let tree = tree();
    let count = |finding: &diagnostic::Finding| {
        let there = diagnostic::Finding { cluster: "clusters/other".to_owned(), ..finding.clone() };
        let report = made::of(vec![finding.clone(), there], HOME);
        let text = draw::json::report(&report, &[], &tree, Severity::Info, &draw::Edits::default()).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["summary"]["warnings"], json["findings"].as_array().unwrap().len());
        json["findings"].as_array().unwrap().len()
    };
    let release = |name: &str| model::ObjectRef::new("HelmfileRelease", "kube-system", name);
    let mut finding = slow(&tree);
    assert_eq!(count(&finding), 2, "each cluster has its own Kustomizations");
    finding.component = release("coredns");
    finding.stage = model::Stage::Bootstrap;
    assert_eq!(count(&finding), 2, "who brings it is Flux of each cluster");
    finding.provider = Some(release("cilium"));
    finding.provider_stage = model::Stage::Bootstrap;
    assert_eq!(count(&finding), 1);
}

#[test]
fn json_leaves_out_what_matters_less_and_still_counts_it() {
    let tree = tree();
    let text = draw::json::report(&report(&tree), &[], &tree, Severity::Error, &draw::Edits::default()).unwrap();
    assert!(!text.contains("ungated-dependency"));
    assert!(text.contains("\"warnings\": 1"));
}

fn evidence(span: Span, role: EvidenceRole, label: &str) -> Evidence {
    let Location { at, label } = location(span, label);
    Evidence { role, at, label }
}

fn strip(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}
