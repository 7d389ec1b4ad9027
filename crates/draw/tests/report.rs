//! Whole reports, as they are printed.

mod made;

use check::{LocationRole, Report, Severity};
use coldstart_draw as draw;
use draw::text::TextOptions;
use made::{HOME, KS, Tree, deadlock, info, location, report, slow, summary, tree};
use yaml::Span;

const PLAIN: TextOptions =
    TextOptions { color: false, width: None, min_severity: Severity::Warning, blind_spots: false, sample: None };

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
fn a_clean_repository_gets_two_lines() {
    let tree = tree();
    let report = made::of(Vec::new(), HOME);
    insta::assert_snapshot!(draw::text::report(&report, &tree, &PLAIN), @"
    read   flux 96 kustomizations, 88 helmreleases · 1 cluster: kubernetes/flux/cluster

    7 tiers · critical path 5: cilium → coredns → cert-manager → external-secrets → authentik · 0 errors, 0 warnings
    ");
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
    let of = |mut finding: check::Finding, cluster: &str| {
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
fn clusters_in_which_others_are_concerned_are_told_apart() {
    let tree = tree();
    let mut findings = vec![slow(&tree), slow(&tree)];
    findings[1].cluster = "clusters/lab".to_owned();
    let told = |findings: &[check::Finding]| {
        let report = made::of(findings.to_vec(), HOME);
        draw::text::report(&report, &tree, &PLAIN).matches("warning[").count()
    };
    assert_eq!(told(&findings), 1);
    findings[1].also[0].component.name = "another".into();
    assert_eq!(told(&findings), 2);
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
    finding.message = "`\u{1b}[2Jname\u{9b}`".to_owned();
    finding.fix = Some("line\nbreak\u{202e}".to_owned());
    finding.locations = vec![
        location(tree.find(path, "\u{1b}[31mred\u{202e}"), LocationRole::Primary, "la\u{7}bel"),
        location(tree.find(path, "needle"), LocationRole::Need, "in a long line"),
        location(tree.find(path, "faraway"), LocationRole::Offer, "too far to the right"),
    ];
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
    let unknown = Span::new(yaml::FileId(77), 0, 1);
    for span in [Span::GENERATED, beyond, unknown] {
        let mut finding = info(&tree);
        finding.locations = vec![location(span, LocationRole::Primary, "here")];
        let report = made::of(vec![finding], HOME);
        let options = TextOptions { min_severity: Severity::Pedantic, ..PLAIN };
        assert!(draw::text::report(&report, &tree, &options).contains("here"));
    }
}

#[test]
fn json_keeps_its_promise() {
    let tree = tree();
    insta::assert_snapshot!(draw::json::report(&report(&tree), &[], &tree, Severity::Info).unwrap());
}

#[test]
fn json_tells_what_is_of_a_shared_bootstrap_once() {
    let tree = tree();
    let count = |finding: &check::Finding| {
        let there = check::Finding { cluster: "clusters/other".to_owned(), ..finding.clone() };
        let report = made::of(vec![finding.clone(), there], HOME);
        let text = draw::json::report(&report, &[], &tree, Severity::Info).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["summary"]["warnings"], json["findings"].as_array().unwrap().len());
        json["findings"].as_array().unwrap().len()
    };
    let release = |name: &str| model::ObjectRef::new("HelmfileRelease", "kube-system", name);
    let mut finding = slow(&tree);
    assert_eq!(count(&finding), 2, "each cluster has its own Kustomizations");
    finding.component = release("coredns");
    assert_eq!(count(&finding), 2, "who brings it is Flux of each cluster");
    finding.provider = Some(release("cilium"));
    assert_eq!(count(&finding), 1);
}

#[test]
fn json_leaves_out_what_matters_less_and_still_counts_it() {
    let tree = tree();
    let text = draw::json::report(&report(&tree), &[], &tree, Severity::Error).unwrap();
    assert!(!text.contains("ungated-dependency"));
    assert!(text.contains("\"warnings\": 1"));
}

fn strip(text: &str) -> String {
    let mut pieces = text.split("\u{1b}[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        plain.push_str(piece.split_once('m').map_or("", |(_, rest)| rest));
    }
    plain
}
