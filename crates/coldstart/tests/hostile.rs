//! Repositories of strangers: names that are commands, files that are none, and what changes while it is read. Whatever command reads
//! them, in whatever format, prints no raw control character and no line that a log would obey, and waits for nothing.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]
#![cfg(unix)]

mod story;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use story::{APPS, Ran, SYNC, Tree, broken, command, run, skipped, sound, works};

/// Every kind of character on the list, and what logs take for commands.
const NAMES: [&str; 12] = [
    "esc\u{1b}[2J\u{1b}]0;owned\u{7}",
    "csi\u{9b}31m",
    "turn\u{202e}gpj.exe\u{2066}",
    "zero\u{200b}wi\u{200d}dth\u{feff}\u{ad}",
    "line\nbreak",
    "carriage\rreturn",
    "two\u{2028}lines\u{2029}",
    "next\u{85}line",
    "x\n::error file=a::forged",
    "::set-env name=A::b",
    "x ##[command]echo ##vso[task.setvariable variable=a]b",
    "tag\u{e0041}\u{7f}\u{0}",
];

/// As YAML, and as JSON, which is YAML, has it.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if c.is_ascii_graphic() && c != '"' && c != '\\' || c == ' ' {
            out.push(c);
        } else {
            let _ = write!(out, "\\U{:08x}", u32::from(c));
        }
    }
    out.push('"');
    out
}

/// A repository in which everything that can be named is called so.
fn named(name: &str) -> Tree {
    let name_of_file: String = name.chars().filter(|c| !matches!(c, '/' | '\0')).collect();
    let word = quoted(name);
    let kustomization = format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {word}, namespace: {word}}}\nspec:\n  interval: 10m\n  path: {word}\n  prune: true\n  dependsOn: [{{name: {word}}}, {{name: other}}]\n  sourceRef: {{kind: GitRepository, name: {word}}}\n  postBuild: {{substituteFrom: [{{kind: Secret, name: {word}}}]}}\n"
    );
    let release = format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: {word}, namespace: {word}}}\nspec:\n  interval: 1h\n  dependsOn: [{{name: {word}x}}]\n  chart: {{spec: {{chart: {word}, sourceRef: {{kind: HelmRepository, name: {word}}}}}}}\n"
    )
    .replace("\"x", "x\"");
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/apps.yaml", APPS),
        ("clusters/home/named.yaml", &kustomization),
        ("apps/release.yaml", &release),
        (
            "apps/kustomization.yaml",
            &format!("resources: [release.yaml, {word}, missing.yaml]\ncommonLabels: {{a: {word}}}\n"),
        ),
        (
            "talos/talconfig.yaml",
            &format!(
                "clusterName: {word}\nendpoint: https://10.0.0.1:6443\nnodes: [{{hostname: {word}, ipAddress: 10.0.0.2, controlPlane: true}}]\n"
            ),
        ),
        (&format!("apps/{name_of_file}.yaml"), "kind: [\n"),
        (
            &format!("clusters/{name_of_file}/flux-system/gotk-sync.yaml"),
            &SYNC.replace("./clusters/home", &format!("./clusters/{}", "x")),
        ),
    ]);
    std::os::unix::fs::symlink("/nowhere", tree.path().join(format!("apps/{name_of_file}.link.yaml"))).unwrap();
    tree
}

/// One that comes up, with such names where they hinder nothing.
fn gentle(name: &str) -> Tree {
    let word = quoted(name);
    let apps = APPS.replace("name: apps", &format!("name: {word}"));
    let config = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {word}, namespace: default}}\n");
    Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/apps.yaml", &apps),
        ("apps/kustomization.yaml", "resources: [config.yaml]\n"),
        ("apps/config.yaml", &config),
    ])
}

/// What is in an output that no terminal, log or format may get as it is.
#[track_caller]
fn is_clean(ran: &Ran, words: &[&str], name: &str) {
    let is_github = words.contains(&"github");
    for (stream, text) in [("stdout", &ran.stdout), ("stderr", &ran.stderr)] {
        let raw = text.chars().find(|c| *c != '\n' && source::sign_for(*c).is_some());
        assert_eq!(raw, None, "{words:?} with {name:?}: {stream}: {text:?}");
        for line in text.lines() {
            let said = line.trim_start();
            let is_ours = is_github
                && stream == "stdout"
                && ["::error ", "::warning ", "::notice "].iter().any(|one| said.starts_with(one));
            assert!(!said.starts_with("::") || is_ours, "{words:?} with {name:?}: {stream}: {line:?}");
            assert!(!line.contains("##[") && !line.contains("##vso["), "{words:?} with {name:?}: {stream}: {line:?}");
        }
    }
}

const CALLS: [&[&str]; 27] = [
    &["check", "--pedantic", "--blind-spots"],
    &["check", "--verbose", "--each"],
    &["check", "--pedantic", "--format", "json"],
    &["check", "--pedantic", "--format", "sarif"],
    &["check", "--pedantic", "--format", "github"],
    &["check", "--pedantic", "--format", "markdown"],
    &["check", "--pedantic", "--format", "svg"],
    &["graph"],
    &["graph", "--format", "json"],
    &["impact", "--critical"],
    &["impact", "--critical", "--format", "markdown"],
    &["report"],
    &["report", "--format", "json"],
    &["plan", "--format", "mermaid"],
    &["up", "--simulate", "--yes", "--timeline", "timeline.svg"],
    &["log", "--format", "json"],
    &["plan"],
    &["plan", "--format", "json"],
    &["simulate", "--seeds", "1"],
    &["simulate", "--seeds", "1", "--format", "json"],
    &["init", "--print"],
    &["up", "--simulate", "--yes"],
    &["log"],
    &["check", "--cluster", "nowhere"],
    &["check", "--entry", "nowhere"],
    &["plan", "--cluster", "home"],
    &["up", "--simulate", "--yes", "--cluster", "home", "--format", "json"],
];

#[test]
fn no_name_of_a_repository_is_more_than_a_name() {
    let state = Tree::empty();
    for name in NAMES {
        for tree in [named(name), gentle(name)] {
            for words in CALLS {
                let mut command = command(words);
                command.current_dir(tree.path()).env("XDG_STATE_HOME", state.path());
                let ran = run(&mut command);
                assert!((0..=3).contains(&ran.code), "{words:?}: {ran:?}");
                is_clean(&ran, words, name);
            }
            let picture = fs::read_to_string(tree.path().join("timeline.svg")).unwrap_or_default();
            assert!(!picture.chars().any(|c| c != '\n' && source::sign_for(c).is_some()), "{name:?}: {picture}");
        }
    }
}

#[test]
fn no_error_message_ends_a_line_early() {
    for name in NAMES {
        let word = quoted(name);
        for settings in [
            format!("{word}: 1\n"),
            format!("check: {{min-severity: {word}}}\n"),
            format!("check: {{rules: {{{word}: off}}}}\n"),
            format!("check: {{baseline: {word}}}\n"),
            format!("world: {word}\n"),
            format!("up: {{keys: [{word}]}}\n"),
            format!("up: {{control-planes: [{word}, {word}]}}\n"),
            format!("seal: {{store: {word}}}\n"),
            format!("seal: {{certificate: {word}}}\n"),
            format!("seal: {{generate: [{{path: {word}, name: {word}, values: [{{key: {word}, kind: {word}}}]}}]}}\n"),
        ] {
            let tree = broken().with(&[("coldstart.yaml", &settings)]);
            for words in
                [&["check"][..], &["plan"], &["seal", "verify", "--store", "dir:keys"], &["seal", "generate", "--yes"]]
            {
                let ran = run(command(words).current_dir(tree.path()).env("HOME", tree.path()));
                is_clean(&ran, words, &settings);
            }
        }
        let tree = broken();
        for words in [
            ["check", "--since", name],
            ["check", "--cluster", name],
            ["check", "--explain", name],
            ["check", "--baseline", name],
        ] {
            if !name.contains('\0') {
                is_clean(&run(command(&words).current_dir(tree.path())), &words, name);
            }
        }
    }
}

fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// A pipe in the place of a file keeps nobody waiting, wherever it is. The story's own limit of time tells.
#[test]
fn what_is_not_a_file_is_not_waited_for() {
    if !works("mkfifo", &["--version"]) {
        skipped("mkfifo is not here");
        return;
    }
    let places = [
        ".git",
        ".git/index",
        ".git/info/exclude",
        ".git/commondir",
        ".gitignore",
        "apps/pipe.yaml",
        "coldstart.yaml",
        "baseline.json",
        ".sourceignore",
    ];
    for place in places {
        let tree = broken();
        if place.starts_with(".git/") {
            // An ignored path is what the index is read for.
            let tree = tree.path();
            for directory in [".git/info", ".git/objects", ".git/refs", "ignored"] {
                fs::create_dir_all(tree.join(directory)).unwrap();
            }
            fs::write(tree.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
            fs::write(tree.join(".gitignore"), "ignored\n").unwrap();
            fs::write(tree.join("ignored/a.yaml"), "").unwrap();
        }
        fifo(&tree.path().join(place));
        for words in
            [&["check"][..], &["check", "--baseline", "baseline.json"], &["graph"], &["plan"], &["init", "--print"]]
        {
            let ran = run(command(words).current_dir(tree.path()));
            assert!((0..=3).contains(&ran.code), "{place}: {words:?}: {ran:?}");
        }
    }
    let (tree, state) = (sound(), Tree::empty());
    let up = |words: &[&str]| run(command(words).current_dir(tree.path()).args(["--state"]).arg(state.path()));
    let _ = up(&["up", "--simulate", "--yes"]);
    let journal = fs::read_dir(state.path()).unwrap().flatten().next().unwrap().path().join("journal");
    let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&journal).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "a journal is for its owner");
    fs::remove_file(&journal).unwrap();
    fifo(&journal);
    for words in [&["up", "--simulate", "--yes"][..], &["up", "--simulate", "--yes", "--fresh"], &["log"]] {
        assert_eq!(up(words).code, 2, "{words:?}");
    }
}

/// The settings may be a stranger's.
#[test]
fn a_baseline_of_the_settings_is_a_file_of_the_repository() {
    let elsewhere = Tree::empty();
    let tree = broken();
    let outside = elsewhere.path().join("baseline.json");
    std::os::unix::fs::symlink(elsewhere.path(), tree.path().join("led")).unwrap();
    for said in [outside.to_str().unwrap(), "led/baseline.json", "../baseline.json"] {
        tree.write("coldstart.yaml", format!("check: {{baseline: '{said}'}}\n").as_bytes());
        for words in [&["check"][..], &["check", "--write-baseline"]] {
            run(command(words).current_dir(tree.path())).exits(2).says("which is not in the repository").says("next:");
        }
    }
    assert!(!outside.exists());
    run(command(&["check", "--write-baseline", "--baseline"]).arg(&outside).current_dir(tree.path())).exits(0);
    assert!(outside.exists());
}

/// Files become links to a file outside, and files again, while they are read.
#[test]
fn nothing_outside_is_read_through_a_file_that_becomes_a_link() {
    let (tree, elsewhere) = (broken(), Tree::empty());
    let secret = "kind: ConfigMap-of-the-outside";
    elsewhere.write("outside.yaml", format!("{secret}: [\n").as_bytes());
    let victim = tree.path().join("apps/victim.yaml");
    let (link, file) = (tree.path().join("apps/link.tmp"), tree.path().join("apps/file.tmp"));
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::write(&file, "kind: [\n").unwrap();
                fs::rename(&file, &victim).unwrap();
                std::os::unix::fs::symlink(elsewhere.path().join("outside.yaml"), &link).unwrap();
                fs::rename(&link, &victim).unwrap();
            }
        });
        for _ in 0..40 {
            let ran = run(command(&["check", "--verbose", "--blind-spots", "--pedantic"]).current_dir(tree.path()));
            assert!(!ran.stdout.contains("ConfigMap-of-the-outside"), "{ran:?}");
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

#[test]
fn an_earlier_revision_is_removed_when_a_signal_ends_the_run() {
    if !works("git", &["--version"]) {
        skipped("git is not here");
        return;
    }
    let (tree, temporary, bin) = (broken(), Tree::empty(), Tree::empty());
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words).current_dir(tree.path());
        assert!(git.status().unwrap().success());
    };
    git(&["init", "--quiet"]);
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message", "x"]);
    // A git that takes its time over the files, so that there is a moment to stop it.
    let real = String::from_utf8(Command::new("sh").args(["-c", "command -v git"]).output().unwrap().stdout).unwrap();
    bin.write(
        "git",
        format!("#!/bin/sh\ncase \"$*\" in *cat-file*--batch*) sleep 5;; esac\nexec {} \"$@\"\n", real.trim())
            .as_bytes(),
    );
    fs::set_permissions(bin.path().join("git"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", bin.path().display(), std::env::var("PATH").unwrap());
    let mut check = command(&["check", "--since", "HEAD"]);
    check.current_dir(tree.path()).env("PATH", path).env("TMPDIR", temporary.path());
    let mut child = check.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    let count = || fs::read_dir(temporary.path()).unwrap().count();
    for _ in 0..200 {
        if count() > 0 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(count(), 1, "it is being laid out");
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(count(), 0, "nothing is left");
}

/// Work that multiplies from small files, in sizes that a test has time for. `cargo xtask evaluate hostile` has the large ones.
#[test]
fn work_that_multiplies_comes_to_an_end() {
    for shape in fixtures::hostile::multiplying::SHAPES {
        let tree = Tree::empty();
        fixtures::hostile::multiplying::build(shape.name, shape.small, tree.path()).unwrap();
        for words in [&["check", "--pedantic", "--blind-spots"][..], &["graph"], &["plan"], &["init", "--print"]] {
            let ran = run(command(words).current_dir(tree.path()));
            assert!((0..=3).contains(&ran.code), "{}: {words:?}: {ran:?}", shape.name);
        }
    }
}

/// What takes too much is a blind spot with its place, and the rest of the report is there.
#[test]
fn what_takes_too_much_is_a_blind_spot_and_nothing_else_is_lost() {
    for (name, place, why) in [
        ("copies", "apps/patch.yaml:", "would take more than 10 million nodes or 96 MiB to build"),
        (
            "replaced-into-itself",
            "apps/kustomization.yaml:",
            "would take more than 10 million nodes or 96 MiB to build",
        ),
        ("deep-paths", "apps/", "would make an object that nests deeper than 300 levels"),
        ("fan-of-links", "", "behind symbolic links: the rest was not read"),
    ] {
        let shape = fixtures::hostile::multiplying::SHAPES.iter().find(|shape| shape.name == name).unwrap();
        let tree = Tree::empty();
        fixtures::hostile::multiplying::build(name, shape.small.max(12), tree.path()).unwrap();
        tree.write("cluster/other.yaml", OTHER.as_bytes());
        let ran = run(command(&["check", "--blind-spots"]).current_dir(tree.path()));
        let ran = ran.says(why).says(place).says("`flux-system/other` can't be built").exits(1);
        // Behind the links that are followed, one object is there again and again.
        let is_doubled = name == "fan-of-links";
        assert_eq!(ran.stdout.contains("`flux-system/apps` can't be built"), is_doubled, "{name}: {ran:?}");
    }
}

/// A Kustomization with a fault of its own.
const OTHER: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: other, namespace: flux-system}\nspec:\n  interval: 10m\n  path: ./nowhere\n  prune: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n";

/// A script that is too large to be read is a blind spot.
#[test]
fn a_script_that_is_too_large_is_told() {
    let tree = broken();
    tree.write("bootstrap.sh", "kubectl apply -f nothing.yaml\n".repeat(40_000).as_bytes());
    run(command(&["check", "--blind-spots"]).current_dir(tree.path()))
        .says("bootstrap.sh")
        .says("is larger than 1 MiB");
}

/// A sample of what `cargo xtask evaluate hostile` does at large.
#[test]
fn repositories_that_were_made_to_break_it_do_not() {
    const OUTSIDE: &str = "only-the-outside-has-this";
    for (name, _) in fixtures::hostile::BUILDERS {
        for seed in [1, 2] {
            let (tree, away) = (Tree::empty(), Tree::empty());
            away.write("outside.yaml", format!("{OUTSIDE}: [\n").as_bytes());
            fixtures::hostile::build(name, seed, tree.path(), &away.path().join("outside.yaml")).unwrap();
            for words in [
                &["check", "--pedantic", "--blind-spots"][..],
                &["check", "--pedantic", "--format", "github"],
                &["check", "--pedantic", "--format", "sarif"],
                &["graph"],
                &["plan"],
                &["init", "--print"],
            ] {
                let ran = run(command(words).current_dir(tree.path()).env("HOME", away.path()));
                assert!((0..=3).contains(&ran.code), "{name} {seed}: {words:?}: {ran:?}");
                is_clean(&ran, words, name);
                assert!(
                    !ran.stdout.contains(OUTSIDE) && !ran.stderr.contains(OUTSIDE),
                    "{name} {seed}: {words:?}: {ran:?}"
                );
            }
        }
    }
}
