//! The examples: one that comes up as it should, and one with faults planted in it, told in a table.

mod story;

use std::path::{Path, PathBuf};

use coldstart_check::Policy;
use diagnostic::{Finding, Report, Severity};
use read::Reading;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn check(name: &str) -> (Reading, Report) {
    let reading = read::read(&example(name)).expect("an example that can be read");
    let policy = Policy::of(&reading.settings).expect("settings that are understood");
    let mut report = coldstart_check::run(&reading, None);
    coldstart_check::settle(&mut report, &reading, &policy);
    (reading, report)
}

fn list(reading: &Reading, findings: &[&Finding]) -> String {
    let lines: Vec<String> = findings.iter().map(|finding| format!("\n  {}", story::say(reading, finding))).collect();
    lines.concat()
}

#[test]
fn the_sound_example_is_quiet() {
    let (reading, report) = check("homelab");
    let loud: Vec<&Finding> = report.findings.iter().filter(|finding| finding.severity >= Severity::Warning).collect();
    assert!(loud.is_empty(), "examples/homelab comes up as it should, and yet:{}", list(&reading, &loud));
}

/// What Flux applies of a directory below the root is one cluster; the rest of the repository is not seen, and no reason for alarm.
#[test]
fn a_part_of_the_sound_example_is_quiet() {
    for (part, name) in [("homelab/kubernetes/apps", "."), ("homelab/kubernetes", "flux/cluster")] {
        let (reading, report) = check(part);
        let names: Vec<&str> = reading.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
        assert_eq!(names, [name], "{part}");
        let loud = report.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
        let loud: Vec<&Finding> = loud.collect();
        assert!(loud.is_empty(), "{part}:{}", list(&reading, &loud));
    }
}

/// A row of the table: where a fault is, and the rule that finds it.
struct Planted {
    place: String,
    rule: String,
}

/// The rows below "What was planted": fault, place, rule and cost, each place and rule in backticks.
fn planted(readme: &str) -> Vec<Planted> {
    let (_, below) = readme.split_once("## What was planted").expect("a chapter on what was planted");
    let rows = below.lines().filter(|line| line.starts_with('|')).skip(2);
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
        let [_, place, rule, _] = cells[..] else { panic!("not a row of four: {row}") };
        let root =
            if ["bootstrap/", "terraform/"].iter().any(|own| place.starts_with(own)) { "" } else { "kubernetes/apps/" };
        Planted { place: format!("{root}{place}"), rule: rule.to_owned() }
    })
    .collect()
}

#[test]
fn every_planted_fault_is_found_where_the_table_says_and_nothing_else_is() {
    let readme = std::fs::read_to_string(example("homelab-broken").join("README.md")).expect("a table");
    let planted = planted(&readme);
    assert!(planted.len() >= 16, "the table has only {} rows", planted.len());
    let (reading, report) = check("homelab-broken");
    let is_it = |finding: &Finding, fault: &Planted| {
        finding.rule.id == fault.rule && story::place(&reading, finding) == fault.place
    };
    let missed: Vec<String> = planted
        .iter()
        .filter(|fault| !report.findings.iter().any(|finding| is_it(finding, fault)))
        .map(|fault| {
            let near: Vec<&Finding> = report.findings.iter().filter(|finding| finding.rule.id == fault.rule).collect();
            format!("\n{} at {}; of this rule there is:{}", fault.rule, fault.place, list(&reading, &near))
        })
        .collect();
    let more: Vec<&Finding> = report
        .findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Warning && !planted.iter().any(|fault| is_it(finding, fault)))
        .collect();
    assert!(
        missed.is_empty() && more.is_empty(),
        "not found:{}\nfound, and not planted:{}",
        missed.concat(),
        list(&reading, &more)
    );
}

#[test]
fn every_rule_is_planted_at_least_once() {
    let readme = std::fs::read_to_string(example("homelab-broken").join("README.md")).expect("a table");
    let planted = planted(&readme);
    let missing: Vec<&str> = coldstart_check::rules::all()
        .iter()
        .map(|rule| rule.id)
        .filter(|id| !planted.iter().any(|fault| fault.rule == *id))
        .collect();
    assert!(missing.is_empty(), "no fault is planted for {missing:?}");
}
