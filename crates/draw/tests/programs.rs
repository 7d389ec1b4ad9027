//! Reports for other programs: SARIF, annotations, comments.

#![expect(clippy::unwrap_used, reason = "a report that can not be made fails")]

mod made;

use coldstart_draw as draw;
use diagnostic::{
    Action, BaselineUse, Changed, Fingerprint, LeftOut, Repair, Repairs, Report, Severity, SinceUse, Told,
};
use draw::markdown::COMMENT_CHARS_MAX;
use made::{deadlock, location, report, slow, statement, tree};
use serde_json::Value;

const SARIF_SCHEMA: &str = include_str!("schema/sarif-schema-2.1.0.json");

/// The schema. Its pattern for languages has a bracket too many, which is no regular expression to a strict reader; nothing
/// here writes a language.
fn schema() -> Value {
    let mut schema: Value = serde_json::from_str(SARIF_SCHEMA).unwrap();
    for definition in ["run", "toolComponent"] {
        let language = &mut schema["definitions"][definition]["properties"]["language"];
        assert!(language.as_object_mut().unwrap().remove("pattern").is_some(), "{definition} has no such pattern");
    }
    schema
}

fn sarif(report: &Report, tree: &made::Tree) -> Value {
    let text = draw::sarif::report(report, tree, Severity::Pedantic, "cluster/", &draw::Edits::default()).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[track_caller]
fn is_sarif(log: &Value) {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let wrong: Vec<String> =
        validator.iter_errors(log).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn sarif_is_what_the_standard_asks_for() {
    let tree = tree();
    let log = sarif(&report(&tree), &tree);
    is_sarif(&log);
    let mut broken = log.clone();
    broken["runs"][0]["results"][0]["level"] = "fatal".into();
    assert!(!jsonschema::is_valid(&schema(), &broken), "the schema takes anything");
    is_sarif(&sarif(&Report::default(), &tree));
}

#[test]
fn a_sarif_result_with_edits_is_what_the_standard_asks_for() {
    let tree = tree();
    let all = report(&tree);
    let finding = &all.findings[0];
    let told = Told {
        fingerprint: Fingerprint::of(finding, &tree),
        rule: finding.rule.id,
        severity: finding.severity,
        cluster: finding.cluster.clone(),
        component: finding.component.clone(),
        statement: finding.statement.clone(),
        at: finding.primary.at.span(),
    };
    let file = |path: &str, before: Option<&str>, after: &str| Changed {
        path: path.to_owned(),
        before: before.map(str::to_owned),
        after: Some(after.to_owned()),
        from: None,
    };
    let files = vec![
        file("gone.yaml", Some("a\nb\n"), "a\n"),
        file("new.yaml", None, "a\n"),
        file("odd #.yaml", Some("a \u{202e}\n"), "b \u{202e} ##[group]\n"),
    ];
    let component = finding.component.clone();
    let actions = vec![Action::Wait { component }];
    let made = Repairs { made: vec![Repair { actions, closes: vec![told], files }], left: Vec::new() };
    let with = draw::Edits::new(&made);
    let text = draw::sarif::report(&all, &tree, Severity::Pedantic, "cluster/", &with).unwrap();
    assert!(!text.contains('\u{202e}') && !text.contains("##"), "{text}");
    let parsed: Value = serde_json::from_str(&text).unwrap();
    is_sarif(&parsed);
    let results = parsed["runs"][0]["results"].as_array().unwrap();
    let closing: Vec<&Value> = results.iter().filter_map(|result| result.get("fixes")).collect();
    assert_eq!(closing.len(), 1);
    let changes = &closing[0][0]["artifactChanges"];
    let uri = |at: usize| changes[at]["artifactLocation"]["uri"].as_str().unwrap();
    assert_eq!([uri(0), uri(1), uri(2)], ["cluster/gone.yaml", "cluster/new.yaml", "cluster/odd%20%23.yaml"]);
    assert_eq!(changes[0]["replacements"][0].get("insertedContent"), None);
    assert_eq!(changes[2]["replacements"][0]["insertedContent"]["text"], "b \u{202e} ##[group]\n");
    assert!(closing[0][0]["description"]["text"].as_str().unwrap().contains("is ready only while everything"));
}

#[test]
fn a_sarif_result_has_its_rule_its_places_and_what_to_do() {
    let tree = tree();
    let log = sarif(&report(&tree), &tree);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), check::rules::all().len());
    for result in run["results"].as_array().unwrap() {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(rule["help"]["markdown"].as_str().unwrap().contains("## Why it matters"), "{rule}");
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        assert!(uri.as_str().unwrap().starts_with("cluster/"), "{uri}");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&run["results"][0]).unwrap());
}

#[test]
fn fingerprints_outlive_edits_elsewhere() {
    let tree = tree();
    let of = |report: &Report| -> Vec<Value> {
        let log = sarif(report, &tree);
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        results.into_iter().map(|result| result["partialFingerprints"].clone()).collect()
    };
    let before = of(&report(&tree));
    let mut after = report(&tree);
    for finding in &mut after.findings {
        // Another wording, another severity, another line of the same file, another cluster.
        finding.statement = statement("x", "other words");
        finding.severity = Severity::Warning;
        finding.cluster = "clusters/other".to_owned();
        let span = finding.primary.at.span();
        finding.primary.at = source::Span { start: span.start + 1, ..span }.into();
    }
    assert_eq!(before, of(&after));
    let mut twice = report(&tree);
    twice.findings = vec![deadlock(&tree), deadlock(&tree)];
    let twins = of(&twice);
    assert_ne!(twins[0], twins[1], "two findings are two");
    assert_eq!(twins[0], before[0]);
}

#[test]
fn a_finding_that_no_file_holds_is_still_a_result() {
    let tree = tree();
    let mut report = report(&tree);
    report.findings.truncate(1);
    report.findings[0].primary = location(source::Span::GENERATED, "nowhere");
    report.findings[0].evidence.clear();
    let log = sarif(&report, &tree);
    is_sarif(&log);
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "cluster/kubernetes/flux/cluster");
    let text = draw::github::report(&report, &tree, Severity::Info, "");
    assert!(text.starts_with("::error title=single-stage-deadlock::"), "{text}");
}

#[test]
fn annotations_are_one_line_each() {
    let tree = tree();
    let mut report = report(&tree);
    report.findings[1].statement = statement("100%\n::error::x", "100%");
    report.left_out = left_out();
    insta::assert_snapshot!(draw::github::report(&report, &tree, Severity::Info, "cluster/"));
}

fn left_out() -> LeftOut {
    let stale = Fingerprint::at(&slow(&tree()), Some("gone.yaml"));
    let baseline = BaselineUse { known: 12, stale: vec![stale] };
    let since = SinceUse { revision: "main".to_owned(), known: 4, gone: 2 };
    LeftOut { allowed: 3, by_settings: 1, baseline: Some(baseline), since: Some(since) }
}

#[test]
fn a_comment_has_a_table_and_folded_details() {
    let tree = tree();
    let mut report = report(&tree);
    report.left_out = left_out();
    insta::assert_snapshot!(draw::markdown::report(&report, &tree, Severity::Warning, ""));
}

#[test]
fn a_clean_comment_is_one_line() {
    let tree = tree();
    let comment = draw::markdown::report(&Report::default(), &tree, Severity::Warning, "");
    assert_eq!(comment, "### coldstart: 0 errors, 0 warnings\n");
}

#[test]
fn a_comment_is_never_longer_than_github_takes_and_says_what_it_cut() {
    let tree = tree();
    let mut report = report(&tree);
    let one = slow(&tree);
    for number in 0..500 {
        let mut finding = one.clone();
        finding.statement = statement(&number.to_string(), &"ö".repeat(number));
        report.findings.push(finding);
    }
    let comment = draw::markdown::report(&report, &tree, Severity::Pedantic, "");
    let chars = comment.chars().count();
    assert!(chars <= COMMENT_CHARS_MAX && chars > COMMENT_CHARS_MAX - 5_000, "{chars}");
    let shown = comment.matches("<details>").count();
    assert_eq!(shown, comment.matches("</details>").count());
    assert!(comment.contains(&format!("**{} findings more", 503 - shown)), "{}", &comment[comment.len() - 300..]);
    // One that is too long for itself.
    report.findings[0].statement = statement("x", &"x".repeat(COMMENT_CHARS_MAX));
    assert!(draw::markdown::report(&report, &tree, Severity::Pedantic, "").chars().count() <= COMMENT_CHARS_MAX);
}

#[test]
fn what_was_left_out_is_counted_in_the_text_and_the_json() {
    let tree = tree();
    let mut report = made::of(Vec::new(), made::HOME);
    report.left_out = left_out();
    let options = draw::text::TextOptions {
        color: false,
        width: None,
        min_severity: Severity::Warning,
        blind_spots: false,
        detail: draw::text::Detail::Screens,
        sample: None,
    };
    let text = draw::text::report(&report, &tree, &options);
    assert!(text.contains("0 warnings · 3 allowed by comments · 1 left out by coldstart.yaml · 12 in the baseline · 4 as in main, 2 gone since"), "{text}");
    assert!(
        text.contains("stale in the baseline: 1 entry that matches nothing any more: ungated-dependency"),
        "{text}"
    );
    let json: Value = serde_json::from_str(
        &draw::json::report(&report, &[], &tree, Severity::Warning, &draw::Edits::default()).unwrap(),
    )
    .unwrap();
    assert_eq!(json["summary"]["left_out"]["baseline"]["known"], 12);
    assert_eq!(json["summary"]["left_out"]["since"]["revision"], "main");
}
