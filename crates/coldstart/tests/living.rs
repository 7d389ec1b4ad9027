//! Living with findings: comments that allow, a baseline, only what is new.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::process::Command;

use story::{Tree, broken, check, command, run, skipped, sound, works};

const BROKEN: &str = "clusters/home/broken.yaml";

/// The broken cluster, with words put into the line of the finding, or above it.
fn commented(comment: &str, above: bool) -> Tree {
    let tree = broken();
    let path = tree.path().join(BROKEN);
    let text = fs::read_to_string(&path).unwrap();
    let line = "    - name: egg\n";
    let new = if above { format!("    {comment}\n{line}") } else { format!("    - name: egg {comment}\n") };
    assert!(text.contains(line));
    fs::write(path, text.replacen(line, &new, 1)).unwrap();
    tree
}

#[test]
fn a_comment_with_a_reason_allows_a_finding() {
    let comment = "# coldstart: allow dependency-cycle -- the egg is laid by hand";
    check(&broken(), &[]).exits(1).says("error[dependency-cycle]").says("clusters/home/broken.yaml:8:");
    for above in [false, true] {
        let ran = check(&commented(comment, above), &["--pedantic"]).exits(0).says("1 allowed by comments");
        assert!(!ran.stdout.contains("unused-suppression"), "{}", ran.stdout);
    }
    // At the top it covers the document, and with it this finding.
    let tree = broken();
    let text = fs::read_to_string(tree.path().join(BROKEN)).unwrap();
    tree.write(BROKEN, format!("---\n{comment}\n{text}").as_bytes());
    check(&tree, &[]).exits(0).says("1 allowed by comments");
    // Two lines further down it is about another line.
    tree.write(BROKEN, text.replacen("  interval: 1h\n", &format!("  interval: 1h {comment}\n"), 1).as_bytes());
    check(&tree, &[]).exits(1).says("warning[unused-suppression]: `dependency-cycle` is allowed here");
}

#[test]
fn a_comment_without_a_reason_allows_nothing_and_is_told() {
    let tree = commented("# coldstart: allow dependency-cycle", false);
    check(&tree, &[])
        .exits(1)
        .says("error[dependency-cycle]")
        .says("warning[unused-suppression]: an allow comment does not say why")
        .says("clusters/home/broken.yaml:8:");
}

#[test]
fn a_comment_about_no_rule_is_asked_what_it_means() {
    let tree = commented("# coldstart: allow dependency-cycl, dependency-cycle -- why not", true);
    check(&tree, &[]).exits(0).says("no rule is called `dependency-cycl`: did you mean `dependency-cycle`?");
}

#[test]
fn a_comment_that_allows_nothing_any_more_is_told_but_not_where_only_a_part_was_looked_at() {
    let tree = sound();
    let apps =
        story::APPS.replace("  interval: 10m", "  # coldstart: allow slow-retry -- rarely changed\n  interval: 10m");
    tree.write("clusters/home/apps.yaml", apps.as_bytes());
    check(&tree, &[]).exits(0).says("warning[unused-suppression]").says("clusters/home/apps.yaml:7:");
    let away = story::SYNC.replace("clusters/home", "clusters/away");
    tree.write("clusters/away/flux-system/gotk-sync.yaml", away.as_bytes());
    tree.write("clusters/away/apps.yaml", story::APPS.as_bytes());
    let part = check(&tree, &["--cluster", "away"]).exits(0);
    assert!(!part.stdout.contains("unused-suppression"), "{}", part.stdout);
}

#[test]
fn words_inside_of_a_text_are_no_comment() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config, namespace: default}\ndata:\n  run.sh: |\n    # coldstart: allow slow-retry -- part of a script\n    true\n";
    let tree = sound().with(&[("apps/config.yaml", map)]);
    let ran = check(&tree, &["--pedantic"]).exits(0);
    assert!(!ran.stdout.contains("unused-suppression"), "{}", ran.stdout);
}

#[test]
fn a_baseline_silences_what_it_holds_and_nothing_else() {
    let tree = broken();
    let file = tree.path().join("baseline.json");
    let words = ["--baseline", file.to_str().unwrap()];
    let write = [words[0], words[1], "--write-baseline"];
    check(&tree, &write).exits(0).says("wrote 1 finding of severity warning and above");
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text, BASELINE);
    check(&tree, &words).exits(0).says("1 in the baseline");
    // Lines that move change nothing, nor does the file.
    let broken = fs::read_to_string(tree.path().join(BROKEN)).unwrap();
    fs::remove_file(tree.path().join(BROKEN)).unwrap();
    tree.write("clusters/home/moved.yaml", format!("# new\n# lines\n{broken}").as_bytes());
    check(&tree, &words).exits(0).says("1 in the baseline");
    // Another fault is shown.
    tree.write("clusters/home/third.yaml", broken.replace("hen", "cock").replace("egg", "feather").as_bytes());
    check(&tree, &words).exits(1).says("1 in the baseline").says("cock");
    // What was mended is stale, until the baseline is written anew.
    fs::remove_file(tree.path().join("clusters/home/moved.yaml")).unwrap();
    check(&tree, &words)
        .exits(1)
        .says("stale in the baseline: 1 entry that matches nothing any more: dependency-cycle");
    check(&tree, &write).exits(0);
    assert!(!check(&tree, &words).exits(0).stdout.contains("stale"));
}

const BASELINE: &str = r#"{
  "version": 1,
  "findings": [
    {
      "rule": "dependency-cycle",
      "cluster": "clusters/home",
      "component": "Kustomization flux-system/hen",
      "provider": "Kustomization flux-system/egg",
      "path": "clusters/home/broken.yaml"
    }
  ]
}
"#;

#[test]
fn the_baseline_of_the_settings_is_found_from_anywhere() {
    let tree = broken().with(&[("coldstart.yaml", "check: {baseline: .github/baseline.json}\n")]);
    check(&tree, &[]).exits(2).says(".github/baseline.json: cannot be read").says("--write-baseline");
    fs::create_dir(tree.path().join(".github")).unwrap();
    check(&tree, &["--write-baseline"]).exits(0);
    check(&tree, &[]).exits(0).says("1 in the baseline");
    tree.write(".github/baseline.json", b"{\"version\": 7, \"findings\": []}");
    check(&tree, &[]).exits(2).says("is a baseline of version 7");
    tree.write(".github/baseline.json", b"[]");
    check(&tree, &[]).exits(2).says("is not a baseline");
    check(&broken(), &["--write-baseline"]).exits(2).says("needs a file");
}

#[test]
fn what_is_no_baseline_is_not_written_over() {
    let tree = broken();
    let write = |name: &str| {
        let file = tree.path().join(name);
        check(&tree, &["--baseline", file.to_str().unwrap(), "--write-baseline"])
    };
    let before = fs::read(tree.path().join(BROKEN)).unwrap();
    let ran = write(BROKEN).exits(2).says("broken.yaml: is not a baseline").says("next: coldstart check --baseline");
    assert!(ran.stderr.contains("<another file>") && ran.stderr.contains("delete this one"), "{}", ran.stderr);
    assert_eq!(fs::read(tree.path().join(BROKEN)).unwrap(), before);
    tree.write("notes.json", b"{\"a\": 1}");
    write("notes.json").exits(2).says("is not a baseline");
    tree.write("terraform.tfstate", b"{\"version\": 4, \"resources\": []}");
    write("terraform.tfstate").exits(2).says("is not a baseline");
    tree.write("picture.png", &[0, 255]);
    write("picture.png").exits(2).says("cannot be read");
    // Nobody misses an empty file, and a baseline of whatever version is there to be written anew.
    tree.write("empty.json", b"");
    write("empty.json").exits(0);
    tree.write("later.json", b"{\"version\": 7, \"findings\": []}");
    write("later.json").exits(0);
    assert_eq!(fs::read_to_string(tree.path().join("later.json")).unwrap(), BASELINE);
}

#[test]
fn what_to_do_about_a_baseline_that_can_not_be_used_does_no_harm() {
    let tree = broken();
    let manifest = tree.path().join(BROKEN);
    let ran = check(&tree, &["--baseline", manifest.to_str().unwrap()]).exits(2).says("is not a baseline");
    let same = format!("--baseline {} --write-baseline", manifest.display());
    assert!(!ran.stderr.contains(&same), "{}", ran.stderr);
    let missing = tree.path().join("missing.json");
    let next = format!("next: coldstart check --baseline {} --write-baseline", missing.display());
    check(&tree, &["--baseline", missing.to_str().unwrap()]).exits(2).says(&next);
}

/// A Git repository, or nothing where there is no git.
struct History(Tree);

impl History {
    fn of(tree: Tree) -> Option<Self> {
        if !works("git", &["--version"]) {
            skipped("git is not here");
            return None;
        }
        let history = Self(tree);
        history.git(&["init", "--quiet", "--initial-branch=main"]);
        history.commit("first");
        Some(history)
    }

    fn git(&self, words: &[&str]) {
        let who = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").arg("-C").arg(self.0.path()).args(who).args(words).status().unwrap();
        assert!(done.success(), "git {words:?}");
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--no-verify", "--message", message]);
    }
}

#[test]
fn only_what_a_change_brought_is_shown() {
    let Some(history) = History::of(broken()) else { return };
    let tree = &history.0;
    check(tree, &["--since", "HEAD"]).exits(0).says("1 as in HEAD");
    let broken = fs::read_to_string(tree.path().join(BROKEN)).unwrap();
    tree.write("clusters/home/third.yaml", broken.replace("hen", "cock").replace("egg", "feather").as_bytes());
    // Not committed, yet there: what is on disk is compared with what is stored.
    let ran = check(tree, &["--since", "main"]).exits(1).says("cock").says("1 as in main");
    assert_eq!(ran.stdout.matches("error[").count(), 1, "{}", ran.stdout);
    history.commit("second");
    check(tree, &["--since", "HEAD"]).exits(0).says("2 as in HEAD");
    check(tree, &["--since", "HEAD~1"]).exits(1).says("cock");
    fs::remove_file(tree.path().join(BROKEN)).unwrap();
    check(tree, &["--since", "HEAD~1"]).exits(1).says("0 as in HEAD~1, 1 gone since");
    let json = check(tree, &["--since", "HEAD", "--format", "json"]).json();
    assert_eq!(json["summary"]["left_out"]["since"]["known"], 1);
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn what_the_baseline_holds_has_not_gone_since() {
    let Some(history) = History::of(broken()) else { return };
    let tree = &history.0;
    let file = tree.path().join("baseline.json");
    let words = ["--baseline", file.to_str().unwrap(), "--since", "HEAD"];
    check(tree, &[words[0], words[1], "--write-baseline"]).exits(0);
    let ran = check(tree, &words).exits(0).says("1 in the baseline").says("0 as in HEAD");
    assert!(!ran.stdout.contains("gone since"), "{}", ran.stdout);
    // What is new is shown, and what only the revision had has gone.
    let broken = fs::read_to_string(tree.path().join(BROKEN)).unwrap();
    let other = broken.replace("hen", "cock").replace("egg", "feather");
    tree.write("clusters/home/third.yaml", other.as_bytes());
    check(tree, &words).exits(1).says("cock").says("1 in the baseline");
    history.commit("second");
    fs::remove_file(tree.path().join("clusters/home/third.yaml")).unwrap();
    check(tree, &words).exits(0).says("0 as in HEAD, 1 gone since");
    // What was mended is stale in the baseline, which says so by itself.
    fs::remove_file(tree.path().join(BROKEN)).unwrap();
    check(tree, &words).exits(0).says("0 as in HEAD, 1 gone since").says("stale in the baseline: 1 entry");
}

#[test]
fn what_was_not_looked_at_has_not_gone_since() {
    let away = story::SYNC.replace("clusters/home", "clusters/away");
    let tree =
        broken().with(&[("clusters/away/flux-system/gotk-sync.yaml", &away), ("clusters/away/apps.yaml", story::APPS)]);
    let Some(history) = History::of(tree) else { return };
    let ran = check(&history.0, &["--cluster", "away", "--since", "HEAD"]).exits(0).says("0 as in HEAD");
    assert!(!ran.stdout.contains("gone since"), "{}", ran.stdout);
}

#[test]
fn a_cluster_in_a_directory_of_a_larger_repository_has_a_history_too() {
    let tree = Tree::empty();
    let inner = broken();
    for path in [
        "clusters/home/flux-system/gotk-sync.yaml",
        "clusters/home/apps.yaml",
        "apps/kustomization.yaml",
        "apps/config.yaml",
        BROKEN,
    ] {
        tree.write(&format!("infra/{path}"), &fs::read(inner.path().join(path)).unwrap());
    }
    let Some(history) = History::of(tree) else { return };
    let infra = history.0.path().join("infra");
    run(command(&["check", "--since", "HEAD"]).arg(&infra)).exits(0).says("1 as in HEAD");
    run(command(&["check", "--since", "HEAD"]).current_dir(&infra)).exits(0).says("1 as in HEAD");
    // Before the directory was there, nothing was wrong in it.
    history.git(&["mv", "infra", "cluster"]);
    run(command(&["check", "--since", "HEAD"]).arg(history.0.path().join("cluster"))).exits(1).says("0 as in HEAD");
}

#[test]
fn settings_of_today_judge_both() {
    let Some(history) = History::of(broken().with(&[("coldstart.yaml", "chek: oops\n")])) else { return };
    check(&history.0, &["--since", "HEAD"]).exits(2).says("unknown field `chek`");
    history.0.write("coldstart.yaml", b"check: {min-severity: error}\n");
    check(&history.0, &["--since", "HEAD"]).exits(0).says("1 as in HEAD");
}

#[test]
fn a_revision_that_is_not_there_is_told_apart_from_a_clone_that_is_too_small() {
    check(&broken(), &["--since", "HEAD"]).exits(2).says("is not in a Git repository");
    let Some(history) = History::of(broken()) else { return };
    check(&history.0, &["--since", "mian"]).exits(2).says("cannot compare with `mian`: no such revision");
    check(&history.0, &["--since=--output=x"]).exits(2).says("no such revision");
    history.git(&["commit", "--quiet", "--no-verify", "--allow-empty", "--message", "second"]);
    let clone = Tree::empty();
    let from = format!("file://{}", history.0.path().display());
    let words = ["clone", "--quiet", "--depth=1", &from, "."];
    assert!(Command::new("git").args(words).current_dir(clone.path()).status().unwrap().success());
    check(&clone, &["--since", "HEAD~1"]).exits(2).says("shallow").says("fetch-depth: 0");
    let mut lonely = command(&["check", "--since", "HEAD"]);
    run(lonely.arg(history.0.path()).env("PATH", clone.path())).exits(2).says("`git` can't be started");
}

#[test]
fn nothing_that_the_repository_configured_is_run() {
    let trap = "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\ncat\n";
    let attributes = "* filter=trap diff=trap ident export-subst\n";
    let Some(history) = History::of(broken().with(&[(".gitattributes", attributes)])) else { return };
    let tree = &history.0;
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("trap.sh");
    fs::write(&script, trap).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        for hook in ["post-checkout", "post-index-change", "reference-transaction"] {
            fs::copy(&script, tree.path().join(".git/hooks").join(hook)).unwrap();
        }
    }
    let script = script.to_str().unwrap();
    for key in [
        "filter.trap.smudge",
        "filter.trap.clean",
        "filter.trap.process",
        "diff.trap.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "uploadpack.packObjectsHook",
        "credential.helper",
    ] {
        history.git(&["config", key, script]);
    }
    // A promise of another repository to have what is missing here.
    for (key, value) in [
        ("remote.origin.url", "ext::sh -c touch% /nowhere"),
        ("remote.origin.promisor", "true"),
        ("extensions.partialClone", "origin"),
    ] {
        history.git(&["config", key, value]);
    }
    check(tree, &["--since", "HEAD"]).exits(0).says("1 as in HEAD");
    assert!(!directory.path().join("ran").exists(), "a program of the repository was run");
    assert!(!tree.path().join(".git/hooks/ran").exists(), "a hook was run");
}

#[cfg(unix)]
#[test]
fn links_of_an_earlier_revision_are_links() {
    let tree = broken();
    std::os::unix::fs::symlink("../../apps", tree.path().join("clusters/home/apps-link")).unwrap();
    std::os::unix::fs::symlink("/etc", tree.path().join("outside")).unwrap();
    let Some(history) = History::of(tree) else { return };
    check(&history.0, &["--since", "HEAD"]).exits(0).says("1 as in HEAD");
}

#[test]
fn completions_and_manual_pages_come_from_the_same_words() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        run(&mut command(&["completions", shell])).exits(0).says("write-baseline");
    }
    run(&mut command(&["completions", "tcsh"])).exits(2);
    run(&mut command(&["man"])).exits(0).says(".TH coldstart 1");
    let directory = Tree::empty();
    run(command(&["man", "--out"]).arg(directory.path().join("man"))).exits(0);
    let mut pages: Vec<String> = fs::read_dir(directory.path().join("man"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    pages.sort();
    let sealing = ["backup", "deploy", "generate", "init", "reseal", "restore", "rotate", "secret", "verify"];
    let mut expected: Vec<String> = sealing.iter().map(|what| format!("coldstart-seal-{what}.1")).collect();
    let others = [
        "check",
        "completions",
        "fix",
        "graph",
        "impact",
        "init",
        "log",
        "man",
        "plan",
        "report",
        "seal",
        "simulate",
        "status",
        "up",
        "version",
    ];
    expected.extend(others.iter().map(|what| format!("coldstart-{what}.1")));
    expected.push("coldstart.1".to_owned());
    expected.sort();
    assert_eq!(pages, expected);
    let page = fs::read_to_string(directory.path().join("man/coldstart-check.1")).unwrap();
    assert!(page.contains("\\-\\-since") && page.contains("Exit codes:"), "{page}");
}

#[test]
fn formats_for_programs_name_paths_from_where_they_are_run() {
    let tree = broken();
    let above = tree.path().parent().unwrap();
    let name = tree.path().file_name().unwrap().to_str().unwrap();
    let file = format!("file={name}/clusters/home/broken.yaml,line=8,col=13");
    let words = ["check", "--format", "github"];
    run(command(&words).arg(name).current_dir(above)).exits(1).says(&file);
    run(command(&words).arg(tree.path()).current_dir(above)).exits(1).says(&file);
    run(command(&words).current_dir(tree.path())).exits(1).says("file=clusters/home/broken.yaml,line=8,col=13");
    run(command(&["check", "--format", "markdown"]).arg(name).current_dir(above))
        .exits(1)
        .says("### coldstart: 1 error");
    let empty = Tree::empty();
    let log = check(&empty, &["--format", "sarif"]).exits(3).json();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 0);
}
