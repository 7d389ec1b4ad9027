//! Stories of pictures and pages: of a change, of a run, of many boots, and of the whole document.

#![expect(clippy::unwrap_used, reason = "a story that can not be told fails")]

mod story;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use story::{APPS, Tree, command, run, sound};

fn homelab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab")
}

fn git(directory: &Path, words: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
    assert!(Command::new("git").arg("-C").arg(directory).args(identity).args(words).output().unwrap().status.success());
}

/// A repository whose last commit brings a Kustomization that depends on one that is not there.
fn changed() -> Tree {
    let tree = sound();
    git(tree.path(), &["init", "--quiet", "--initial-branch", "main"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message", "first"]);
    let late = APPS
        .replace("name: apps", "name: late")
        .replace("spec:\n", "spec:\n  dependsOn:\n    - name: apps\n    - name: gone\n");
    tree.write("clusters/home/late.yaml", late.as_bytes());
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message", "second"]);
    tree
}

/// A page lets in nothing from outside, and has no address to ask.
fn is_self_contained(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.contains("default-src 'none'"), "no policy");
    for asks in ["src=\"http", "href=\"http", "url(http", "@import", "<link", "<iframe"] {
        assert!(!page.contains(asks), "it asks for something: {asks}");
    }
}

#[test]
fn what_a_change_does_to_the_order_is_told_in_every_format() {
    let tree = changed();
    let ask = |range: &str, format: &str| {
        run(command(&["graph", "--diff", range, "--format", format, "--exit-code"]).arg(tree.path()))
    };
    ask("HEAD~1..HEAD", "text").exits(1).says("1 finding more").says("new: flux-system/late");
    let markdown = ask("HEAD~1..HEAD", "markdown").exits(1).says("### coldstart: what this does to the order");
    markdown.says("```mermaid\nflowchart LR\n");
    let json = ask("HEAD~1..HEAD", "json").exits(1).json();
    let change = &json["changes"][0];
    assert_eq!(change["come"][0]["name"], "late", "{change}");
    assert_eq!(change["new_findings"][0]["rule"], "unknown-dependency", "{change}");
    let orders: Vec<&Value> = change["orders"].as_array().unwrap().iter().collect();
    assert!(orders.iter().any(|order| order["first"]["name"] == "gone" && order["news"] == "worse"), "{orders:?}");
    assert!(
        orders.iter().any(|order| order["first"]["name"] == "apps" && order["then"]["name"] == "late"),
        "{orders:?}"
    );
    is_self_contained(&ask("HEAD~1..HEAD", "html").exits(1).stdout);
    ask("HEAD~1..HEAD", "svg").exits(1).says(" comes\"><title>");
    ask("HEAD~1..HEAD", "mermaid").exits(1).says("|new: missing|");
    ask("HEAD~1..HEAD", "dot").exits(1).says("digraph coldstart");
    // The other way round everything goes, and nothing changes from a commit to itself.
    ask("HEAD..HEAD", "text").exits(0).says("nothing changes about the order");
    git(tree.path(), &["revert", "--no-edit", "HEAD"]);
    let gone = ask("HEAD~1..HEAD", "json").exits(1).json();
    assert_eq!(gone["changes"][0]["go"][0]["name"], "late");
    assert_eq!(gone["changes"][0]["gone_findings"].as_array().unwrap().len(), 1);
    assert_eq!(gone["changes"][0]["new_findings"].as_array().unwrap().len(), 0);
}

#[test]
fn what_can_not_be_compared_is_said() {
    let tree = changed();
    let ask = |words: &[&str]| run(command(&["graph"]).args(words).arg(tree.path()));
    ask(&["--diff", "nothing..HEAD"]).exits(2).says("cannot compare with `nothing`");
    ask(&["--format", "markdown"]).exits(2).says("--format markdown is for --diff");
    ask(&["--diff", "HEAD~1..HEAD", "--only", "missing"]).exits(2);
    ask(&["--exit-code"]).exits(2);
    run(command(&["graph", "--diff", "a..b"]).arg(sound().path())).exits(2);
}

#[test]
fn a_run_is_a_page_and_a_trace_and_its_journal_tells_the_same() {
    let state = tempfile::tempdir().unwrap();
    let file = |name: &str| state.path().join(name);
    let journal = file("runs");
    let up = |timeline: &Path| {
        let mut up = command(&["up", "--quiet", "--speed", "0", "--timeline"]);
        up.arg(timeline).arg(homelab()).arg("--state").arg(&journal);
        up
    };
    run(&mut up(&file("run.html"))).exits(0);
    let page = fs::read_to_string(file("run.html")).unwrap();
    is_self_contained(&page);
    assert!(page.contains("\"critical\":true") && page.contains("network/kube-system/cilium"), "no critical path");
    let log = |timeline: &Path| {
        run(command(&["log", "--run", "1", "--timeline"]).arg(timeline).arg(homelab()).arg("--state").arg(&journal))
            .exits(0);
        fs::read_to_string(timeline).unwrap()
    };
    // The journal has the date as well.
    let again = log(&file("again.html"));
    assert!(again.contains("\"began\":") && !page.contains("\"began\":"));
    let trace: Value = serde_json::from_str(&log(&file("run.json"))).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let spans: Vec<&Value> = events.iter().filter(|event| event["ph"] == "X").collect();
    assert!(spans.len() > 100 && trace["otherData"]["simulated"] == true, "{} spans", spans.len());
    no_overlap(&spans);
}

/// Viewers of traces draw spans of one track over each other otherwise.
fn no_overlap(spans: &[&Value]) {
    let number = |span: &Value, name: &str| span[name].as_u64().unwrap();
    for (at, one) in spans.iter().enumerate() {
        for other in &spans[at + 1..] {
            let is_same = one["pid"] == other["pid"] && one["tid"] == other["tid"];
            let ends = number(one, "ts") + number(one, "dur");
            assert!(!is_same || ends <= number(other, "ts"), "{one} overlaps {other}");
        }
    }
}

#[test]
fn many_boots_are_bands() {
    let directory = tempfile::tempdir().unwrap();
    let simulate = |name: &str| {
        let file = directory.path().join(name);
        let mut words = command(&["simulate", "--quiet", "--seeds", "20", "--timeline"]);
        (run(words.arg(&file).arg(homelab())), file)
    };
    let (ran, page) = simulate("boots.html");
    ran.exits(0).says("20 simulated boots");
    let page = fs::read_to_string(page).unwrap();
    is_self_contained(&page);
    assert!(page.contains("\"share\":\"20 of 20\"") && page.contains("\"many\":true"), "no bands");
    let (_, again) = simulate("again.html");
    assert_eq!(fs::read_to_string(again).unwrap(), page, "the same boots are the same page");
    let (_, trace) = simulate("boots.json");
    let trace: Value = serde_json::from_str(&fs::read_to_string(trace).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    assert!(events.iter().any(|event| event["args"]["p95"].is_string()), "{events:?}");
    let (ran, svg) = simulate("boots.svg");
    ran.exits(2).says("neither .html nor .json");
    assert!(!svg.exists());
}

#[test]
fn the_document_is_a_page_with_pictures() {
    for example in ["homelab", "homelab-broken"] {
        let page = run(command(&["report", "--format", "html"]).arg(homelab().with_file_name(example))).exits(0).stdout;
        is_self_contained(&page);
        assert!(!page.contains("<script") && !page.contains("script-src"), "it has a script");
        let ids: Vec<&str> = page.split(" id=\"part-").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(ids.len() > 8, "{ids:?}");
        assert!(ids.iter().all(|id| page.contains(&format!("href=\"#part-{id}\""))), "{ids:?}");
        assert!(page.contains("<figure>\n<svg ") && page.contains("<th scope=\"col\">"), "no pictures");
        assert!(!page.contains("```") && !page.contains("| |") && !page.contains("**"), "Markdown is left over");
    }
}
