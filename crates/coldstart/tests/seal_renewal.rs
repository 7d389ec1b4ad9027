//! `coldstart seal verify` and the renewal of keys by the controller: where it is said, and how `--write` edits that.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, release};

/// A desk whose directory `apps` is applied by these clusters.
fn desk(clusters: &[&str]) -> Desk {
    let desk = Desk::with_key("k1");
    for cluster in clusters {
        let path = |name: &str| format!("clusters/{cluster}/{name}");
        desk.write(&path("flux-system/gotk-sync.yaml"), &story::SYNC.replace("clusters/home", &path("")));
        desk.write(&path("apps.yaml"), story::APPS);
    }
    desk
}

fn text(desk: &Desk, path: &str) -> String {
    fs::read_to_string(desk.path(path)).unwrap()
}

#[test]
fn a_release_of_two_clusters_is_told_once_and_edited_once() {
    let desk = desk(&["home", "away"]);
    let before = release("    keyrenewperiod: 720h\n    fullnameOverride: sealed-secrets-controller\n");
    desk.write("apps/release.yaml", &before);
    let ran = desk.seal(&["verify"]).exits(1).says("1 error,");
    assert_eq!(ran.stdout.matches("every 720h").count(), 1, "{}", ran.stdout);
    let ran = desk.seal(&["verify", "--write", "--yes"]).exits(0);
    assert_eq!(ran.stdout.matches("disabled renewal").count(), 1, "{}", ran.stdout);
    assert_eq!(text(&desk, "apps/release.yaml"), before.replace("720h", "\"0\""));
    desk.seal(&["verify", "--write"]).exits(0).says("0 errors");
}

#[test]
fn an_inline_patch_is_edited_where_it_stands() {
    let desk = desk(&["home", "away"]);
    desk.write("apps/release.yaml", &release("    fullnameOverride: sealed-secrets-controller\n"));
    let before = "\
resources: [release.yaml]
patches:
  - target: {kind: HelmRelease}
    patch: |-
      - op: replace
        path: /spec/values
        value: {keyrenewperiod: 720h}
";
    desk.write("apps/kustomization.yaml", before);
    desk.seal(&["verify", "--write", "--yes"]).exits(0).says("apps/kustomization.yaml:7: disabled renewal");
    assert_eq!(text(&desk, "apps/kustomization.yaml"), before.replace("720h", "\"0\""));
}

#[test]
fn several_places_of_one_file_are_edited_at_once() {
    let desk = desk(&["home"]);
    let one = release("    keyrenewperiod: 720h\n");
    let two = release("    fullnameOverride: a\n").replace("name: sealed-secrets\n", "name: second\n");
    let three = release("    keyrenewperiod: 0 # off\n").replace("name: sealed-secrets\n", "name: third\n");
    desk.write("apps/releases.yaml", &[one.as_str(), &two, &three].join("---\n"));
    desk.seal(&["verify", "--write", "--yes"]).exits(0).says("0 errors");
    let wanted = [
        one.replace("720h", "\"0\""),
        two.replace("    fullname", "    keyrenewperiod: \"0\"\n    fullname"),
        three.replace(": 0 #", ": \"0\" #"),
    ];
    assert_eq!(text(&desk, "apps/releases.yaml"), wanted.join("---\n"));
}

#[test]
fn arguments_are_edited_as_arguments() {
    for (before, after) in [
        (
            "    args: [\"--update-status\",\"--key-renew-period=720h\"]\n",
            "    args: [\"--update-status\",\"--key-renew-period=0\"]\n",
        ),
        (
            "    args:\n      - --key-renew-period=720h # monthly\n      - --update-status\n",
            "    args:\n      - --key-renew-period=0 # monthly\n      - --update-status\n",
        ),
        (
            "    args: [--key-renew-period, 720h, --update-status]\n",
            "    args: [--key-renew-period, \"0\", --update-status]\n",
        ),
        // The last one counts for the controller.
        (
            "    args: [--key-renew-period=0, --key-renew-period=720h]\n",
            "    args: [--key-renew-period=0, --key-renew-period=0]\n",
        ),
        // What replaces the chart's arguments must say it itself: the chart's own value is not looked at.
        (
            "    keyrenewperiod: \"0\"\n    args: [\"--update-status\"]\n",
            "    keyrenewperiod: \"0\"\n    args: [\"--update-status\", \"--key-renew-period=0\"]\n",
        ),
        (
            "    args:\n      - --update-status # why\n    keyrenewperiod: 720h\n",
            "    args:\n      - --update-status # why\n      - \"--key-renew-period=0\"\n    keyrenewperiod: 720h\n",
        ),
    ] {
        let desk = desk(&["home"]);
        desk.write("apps/release.yaml", &release(before));
        desk.seal(&["verify"]).exits(1).says("sets `--key-renew-period=0` there");
        desk.seal(&["verify", "--write", "--yes"]).exits(0).says("disabled renewal");
        assert_eq!(text(&desk, "apps/release.yaml"), release(after));
        desk.seal(&["verify"]).exits(0);
    }
}

#[test]
fn what_can_not_be_edited_stays_as_it_is_and_is_told() {
    let desk = desk(&["home"]);
    let apps = format!("{}  postBuild: {{substitute: {{PERIOD: 720h}}}}\n", story::APPS);
    desk.write("clusters/home/apps.yaml", &apps);
    let before = release("    keyrenewperiod: ${PERIOD}\n");
    desk.write("apps/release.yaml", &before);
    let ran = desk.seal(&["verify", "--write", "--yes"]).exits(1).says("every 720h");
    assert!(ran.stdout.contains("next: set `keyrenewperiod: \"0\"` there by hand"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("switched"), "{}", ran.stdout);
    assert_eq!(text(&desk, "apps/release.yaml"), before);
    assert_eq!(text(&desk, "clusters/home/apps.yaml"), apps);
}

#[test]
fn nothing_is_edited_without_a_yes() {
    let desk = desk(&["home"]);
    let before = release("    keyrenewperiod: 720h\n");
    desk.write("apps/release.yaml", &before);
    let plan = "edit apps/release.yaml:10: set `keyrenewperiod: \"0\"`";
    desk.seal(&["verify", "--write"]).exits(2).says(plan).says("--yes");
    let ran = desk.seal(&["verify", "--write", "--format", "json"]).exits(2).says(plan);
    assert_eq!(ran.stdout, "");
    assert_eq!(text(&desk, "apps/release.yaml"), before);

    let ran = desk.seal(&["verify", "--write", "--yes", "--format", "json"]).exits(0);
    assert_eq!(ran.json()["changed"][0], "apps/release.yaml:10: disabled renewal");
    assert_eq!(text(&desk, "apps/release.yaml"), before.replace("720h", "\"0\""));
    let ran = desk.seal(&["verify", "--write", "--format", "json"]).exits(0);
    assert_eq!(ran.json()["changed"].as_array().unwrap().len(), 0);
}
