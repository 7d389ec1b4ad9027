//! The GitHub Action and the pre-commit hook, as their runners would run them: the commands are taken from their files.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]
#![cfg(unix)]

mod story;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use source::FileId;
use story::{Ran, Tree, binary, broken, command, run, skipped, sound, works};
use yaml::Node;

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

fn node(name: &str) -> Node {
    yaml::parse_value(FileId(0), &file(name)).unwrap()
}

/// A run of the action: its inputs, and what its steps leave behind.
struct Action {
    file: Node,
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    temporary: Tree,
    /// Where programs are looked for; as it is, if nothing.
    path: Option<String>,
}

impl Action {
    fn with(inputs: &[(&str, &str)]) -> Self {
        let action = node("action.yml");
        let mut all = BTreeMap::new();
        for entry in action.get("inputs").unwrap().entries() {
            let default = entry.value.get("default").unwrap().text().unwrap_or_default();
            assert!(entry.value.get("description").is_some(), "{} is not described", entry.key);
            all.insert(entry.key.to_string(), default.to_owned());
        }
        for (name, value) in inputs {
            assert!(all.insert((*name).to_owned(), (*value).to_owned()).is_some(), "there is no input {name}");
        }
        Self { file: action, inputs: all, outputs: BTreeMap::new(), temporary: Tree::empty(), path: None }
    }

    /// Runs all steps in a checkout; the first that fails ends it.
    fn run(&mut self, checkout: &Path) -> Ran {
        let action = self.file.clone();
        let mut last = None;
        for step in action.at(&["runs", "steps"]).unwrap().as_seq().unwrap() {
            let ran = self.step(step, checkout);
            let failed = ran.code != 0;
            last = Some(ran);
            if failed {
                break;
            }
        }
        last.unwrap()
    }

    fn step(&mut self, step: &Node, checkout: &Path) -> Ran {
        let script = step.get("run").unwrap().text().unwrap();
        // A runner puts expressions into scripts as they are: in the environment they can't become commands.
        assert!(!script.contains("${{"), "an expression in a script: {script}");
        assert_eq!(step.get("shell").unwrap().text(), Some("bash"));
        let (script_file, output) = (self.temporary.path().join("step.sh"), self.temporary.path().join("output"));
        fs::write(&script_file, script).unwrap();
        fs::write(&output, "").unwrap();
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail"]).arg(script_file).current_dir(checkout);
        command.env("GITHUB_OUTPUT", &output).env("RUNNER_TEMP", self.temporary.path()).stdin(Stdio::null());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        for entry in step.get("env").unwrap().entries() {
            command.env(entry.key.as_str(), self.value(entry.value.text().unwrap()));
        }
        let ran = run(&mut command);
        let id = step.get("id").unwrap().text().unwrap();
        for (name, value) in fs::read_to_string(output).unwrap().lines().filter_map(|line| line.split_once('=')) {
            self.outputs.insert(format!("steps.{id}.outputs.{name}"), value.to_owned());
        }
        ran
    }

    fn value(&self, text: &str) -> String {
        let Some(inner) = text.strip_prefix("${{ ").and_then(|text| text.strip_suffix(" }}")) else {
            return text.to_owned();
        };
        match inner.strip_prefix("inputs.") {
            Some(name) => self.inputs[name].clone(),
            None => self.outputs.get(inner).cloned().unwrap_or_default(),
        }
    }

    /// What the action gives to the steps after it.
    fn output(&self, name: &str) -> String {
        self.value(self.file.at(&["outputs", name, "value"]).unwrap().text().unwrap())
    }
}

fn ours() -> String {
    binary().to_str().unwrap().to_owned()
}

fn has_bash() -> bool {
    let has = works("bash", &["--version"]);
    if !has {
        skipped("bash is not here");
    }
    has
}

#[test]
fn the_action_annotates_and_fails_on_errors_only() {
    if !has_bash() {
        return;
    }
    let mut action = Action::with(&[("binary", &ours())]);
    action.run(broken().path()).exits(1).says("::error file=clusters/home/broken.yaml,line=8,col=13");
    assert_eq!(action.output("exit-code"), "1");
    let mut action = Action::with(&[("binary", &ours())]);
    action.run(sound().path()).exits(0).says("coldstart: 0 errors");
    assert_eq!(action.output("exit-code"), "0");
}

#[test]
fn the_action_writes_sarif_for_the_next_step() {
    if !has_bash() {
        return;
    }
    let tree = Tree::empty();
    let inner = broken();
    assert!(Command::new("cp").arg("-R").arg(inner.path()).arg(tree.path().join("infra")).status().unwrap().success());
    let inputs = [
        ("binary", &*ours()),
        ("path", "infra"),
        ("format", "sarif"),
        ("output", "coldstart.sarif"),
        ("min-severity", "error"),
    ];
    let mut action = Action::with(&inputs);
    action.run(tree.path()).exits(1);
    assert_eq!(action.output("output"), "coldstart.sarif");
    let log: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(tree.path().join("coldstart.sarif")).unwrap()).unwrap();
    let result = &log["runs"][0]["results"][0];
    let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!((&result["level"], uri), (&"error".into(), &"infra/clusters/home/broken.yaml".into()));
}

#[test]
fn inputs_of_the_action_are_words_and_never_commands() {
    if !has_bash() {
        return;
    }
    let tree = broken();
    for value in ["$(touch ran)", "`touch ran`", "x; touch ran", "--help"] {
        for name in ["path", "min-severity", "baseline", "since"] {
            let ran = Action::with(&[("binary", &ours()), (name, value)]).run(tree.path());
            assert_eq!(ran.code, 2, "{name}: {value}: {ran:?}");
        }
    }
    assert!(!tree.path().join("ran").exists());
}

#[test]
fn the_action_installs_a_release_and_trusts_only_its_checksum() {
    let target = "x86_64-unknown-linux-musl";
    if !has_bash() || !works("curl", &["--version"]) || !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        skipped("curl is not here, or another machine");
        return;
    }
    let releases = Tree::empty();
    let (name, here) = (format!("coldstart-{target}"), releases.path().join("download/v9.9.9"));
    fs::create_dir_all(here.join(&name)).unwrap();
    fs::copy(binary(), here.join(&name).join("coldstart")).unwrap();
    let pack = format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > {name}.tar.gz.sha256");
    assert!(Command::new("bash").args(["-c", &pack]).current_dir(&here).status().unwrap().success());
    let from = format!("file://{}", releases.path().display());
    let inputs = [("version", "v9.9.9"), ("releases", from.as_str()), ("attestation", "skip")];
    Action::with(&inputs).run(broken().path()).exits(1).says("::error file=clusters/home/broken.yaml");
    fs::write(here.join(format!("{name}.tar.gz.sha256")), format!("{}  {name}.tar.gz\n", "0".repeat(64))).unwrap();
    let ran = Action::with(&inputs).run(broken().path());
    assert!(ran.code != 0 && !ran.stdout.contains("::error file"), "{ran:?}");
}

/// A `gh` that says of every archive what it is told to, and writes down what it was asked.
fn attested(answer: i32) -> Tree {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = Tree::empty();
    bin.write("gh", format!("#!/bin/sh\necho \"$*\" >\"$(dirname \"$0\")/asked\"\nexit {answer}\n").as_bytes());
    fs::set_permissions(bin.path().join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

#[test]
fn the_action_runs_no_release_that_is_not_attested() {
    let target = "x86_64-unknown-linux-musl";
    if !has_bash() || !works("curl", &["--version"]) || !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        skipped("curl is not here, or another machine");
        return;
    }
    let releases = Tree::empty();
    let name = format!("coldstart-{target}");
    let here = releases.path().join("download/v9.9.9");
    fs::create_dir_all(here.join(&name)).unwrap();
    fs::copy(binary(), here.join(&name).join("coldstart")).unwrap();
    let pack = format!("tar -czf {name}.tar.gz {name} && sha256sum {name}.tar.gz > {name}.tar.gz.sha256");
    assert!(Command::new("bash").args(["-c", &pack]).current_dir(&here).status().unwrap().success());
    let from = format!("file://{}", releases.path().display());
    for (answer, code, said) in [(0, 1, "::error file=clusters/home/broken.yaml"), (1, 2, "is not attested")] {
        let gh = attested(answer);
        let mut action = Action::with(&[("version", "v9.9.9"), ("releases", from.as_str())]);
        action.path = Some(format!("{}:{}", gh.path().display(), std::env::var("PATH").unwrap()));
        action.run(broken().path()).exits(code).says(said);
        let asked = fs::read_to_string(gh.path().join("asked")).unwrap();
        assert!(asked.contains(&format!("attestation verify {name}.tar.gz --repo coldstart-dev/coldstart")), "{asked}");
    }
    let wrong = [("version", "v9.9.9"), ("releases", from.as_str()), ("attestation", "of course")];
    Action::with(&wrong).run(broken().path()).exits(2).says("attestation is required or skip");
}

/// A `gh` that prints the markers that it has, and keeps what is posted.
fn github() -> Tree {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = Tree::empty();
    let script = "\
#!/bin/sh
here=$(dirname \"$0\")
echo \"$GH_TOKEN $*\" >>\"$here/asked\"
case \"$*\" in
  *--paginate*) cat \"$here/markers\" ;;
  *--method\\ POST*reviews*)
    while [ \"$1\" != --input ]; do shift; done
    cp \"$2\" \"$here/review.json\" ;;
  *) exit 1 ;;
esac
";
    bin.write("gh", script.as_bytes());
    bin.write("markers", b"");
    fs::set_permissions(bin.path().join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

fn git(directory: &Path, words: &[&str]) -> String {
    let settings = ["-c", "user.name=a", "-c", "user.email=a@example.invalid", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(directory).args(settings).args(words).output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A `gh` that has a comment or none, and keeps what is posted or edited.
fn comments() -> Tree {
    use std::os::unix::fs::PermissionsExt as _;
    let bin = Tree::empty();
    let script = "\
#!/bin/sh
here=$(dirname \"$0\")
echo \"$GH_TOKEN $*\" >>\"$here/asked\"
case \"$*\" in
  *--paginate*) cat \"$here/posted\" ;;
  *--method\\ P*comments*)
    while [ \"$1\" != --field ]; do shift; done
    cp \"${2#body=@}\" \"$here/body\" ;;
  *) exit 1 ;;
esac
";
    bin.write("gh", script.as_bytes());
    bin.write("posted", b"");
    fs::set_permissions(bin.path().join("gh"), fs::Permissions::from_mode(0o755)).unwrap();
    bin
}

/// A pull request that brings a Kustomization with a typo in its dependency; the checkout is its merge with a base that moved on.
fn pull_request() -> (Tree, String, String) {
    let tree = sound();
    git(tree.path(), &["init", "--quiet", "--initial-branch=main"]);
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=base"]);
    git(tree.path(), &["checkout", "--quiet", "-b", "change"]);
    let late = fs::read_to_string(tree.path().join("clusters/home/apps.yaml")).unwrap();
    let late = late.replace("name: apps", "name: late").replace("spec:\n", "spec:\n  dependsOn:\n    - name: appz\n");
    tree.write("clusters/home/late.yaml", late.as_bytes());
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=change"]);
    let head = git(tree.path(), &["rev-parse", "HEAD"]);
    git(tree.path(), &["checkout", "--quiet", "main"]);
    tree.write("README.md", b"more\n");
    git(tree.path(), &["add", "."]);
    git(tree.path(), &["commit", "--quiet", "--message=more"]);
    let base = git(tree.path(), &["rev-parse", "HEAD"]);
    git(tree.path(), &["merge", "--quiet", "--no-edit", "change"]);
    (tree, base, head)
}

fn suggesting(gh: &Tree, base: &str, head: &str, event: &str) -> Action {
    on_a_pull_request("suggest", gh, (base, head), event)
}

fn on_a_pull_request(what: &str, gh: &Tree, (base, head): (&str, &str), event: &str) -> Action {
    let mut action = Action::with(&[("binary", &ours()), (what, "true")]);
    action.path = Some(format!("{}:{}", gh.path().display(), std::env::var("PATH").unwrap()));
    for (name, value) in [
        ("github.event_name", event),
        ("github.repository", "o/r"),
        ("github.event.pull_request.number", "7"),
        ("github.event.pull_request.base.sha", base),
        ("github.event.pull_request.head.sha", head),
        ("github.token", "token"),
    ] {
        action.outputs.insert(name.to_owned(), value.to_owned());
    }
    action
}

#[test]
fn the_action_suggests_each_edit_once() {
    if !has_bash() {
        return;
    }
    let (tree, base, head) = pull_request();
    let gh = github();
    suggesting(&gh, &base, &head, "pull_request")
        .run(tree.path())
        .exits(1)
        .says("::error file=clusters/home/late.yaml");
    let text = fs::read_to_string(gh.path().join("review.json")).unwrap();
    let review: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&review["event"], &review["commit_id"]), (&"COMMENT".into(), &head.clone().into()));
    let comment = &review["comments"][0];
    assert_eq!((&comment["path"], &comment["side"]), (&"clusters/home/late.yaml".into(), &"RIGHT".into()));
    let body = comment["body"].as_str().unwrap();
    assert!(body.contains("```suggestion\n    - name: apps\n```\n"), "{body}");
    let asked = fs::read_to_string(gh.path().join("asked")).unwrap();
    assert!(asked.lines().all(|line| line.starts_with("token api ") && line.contains("repos/o/r/pulls/7/")), "{asked}");
    assert_eq!(git(tree.path(), &["worktree", "list"]).lines().count(), 1);
    // The next run finds its marker among the comments.
    let marker = body.rsplit_once("<!-- coldstart:").unwrap().1.split(' ').next().unwrap();
    gh.write("markers", format!("{marker}\n").as_bytes());
    fs::remove_file(gh.path().join("review.json")).unwrap();
    suggesting(&gh, &base, &head, "pull_request").run(tree.path()).exits(1);
    assert!(!gh.path().join("review.json").exists());
}

#[test]
fn the_action_keeps_one_comment_with_what_the_change_does() {
    if !has_bash() {
        return;
    }
    let (tree, base, head) = pull_request();
    let gh = comments();
    let commenting = |head: &str| on_a_pull_request("comment", &gh, (&base, head), "pull_request");
    let asked = || {
        let asked = fs::read_to_string(gh.path().join("asked")).unwrap();
        fs::remove_file(gh.path().join("asked")).unwrap();
        asked
    };
    commenting(&head).run(tree.path()).exits(1).says("::error file=clusters/home/late.yaml");
    let body = fs::read_to_string(gh.path().join("body")).unwrap();
    assert!(body.starts_with("<!-- coldstart:order:"), "{body}");
    for part in [
        "what this does to the order",
        "```mermaid\nflowchart LR\n",
        "Kustomization flux-system/late",
        "1 finding more",
    ] {
        assert!(body.contains(part), "{part} in {body}");
    }
    let first = asked();
    assert!(first.contains("--method POST repos/o/r/issues/7/comments --field body=@"), "{first}");
    assert!(first.lines().all(|line| line.starts_with("token api ")), "{first}");
    // The next run finds its comment, and edits that, also where nothing changes any more.
    gh.write("posted", b"4711\n4712\n");
    commenting(&base).run(tree.path()).exits(1);
    let second = asked();
    assert!(second.contains("--method PATCH repos/o/r/issues/comments/4711 --field body=@"), "{second}");
    assert!(!second.contains("POST") && !second.contains("4712"), "{second}");
    let body = fs::read_to_string(gh.path().join("body")).unwrap();
    assert!(body.contains("nothing changes about the order"), "{body}");
    // What changes nothing gets no comment.
    gh.write("posted", b"");
    fs::remove_file(gh.path().join("body")).unwrap();
    commenting(&base).run(tree.path()).exits(1);
    assert!(!asked().contains("--method") && !gh.path().join("body").exists());
    // Whatever goes wrong, the check decides.
    on_a_pull_request("comment", &gh, (&base, &"0".repeat(40)), "pull_request").run(tree.path()).exits(1);
    on_a_pull_request("comment", &gh, (&base, &head), "push").run(tree.path()).exits(1).says("::error file=");
    assert!(!gh.path().join("body").exists());
}

#[test]
fn without_a_pull_request_or_a_right_the_action_still_checks() {
    if !has_bash() {
        return;
    }
    let (tree, base, head) = pull_request();
    let gh = github();
    suggesting(&gh, &base, &head, "push").run(tree.path()).exits(1).says("::error file=");
    assert!(!gh.path().join("asked").exists());
    suggesting(&gh, &base, &"0".repeat(40), "pull_request").run(tree.path()).exits(1).says("::error file=");
    assert!(!gh.path().join("asked").exists());
    fs::remove_file(gh.path().join("markers")).unwrap();
    suggesting(&gh, &base, &head, "pull_request").run(tree.path()).exits(1).says("::error file=");
    assert!(!gh.path().join("review.json").exists());
}

/// A tag of somebody else's can be moved; a digest can't.
#[test]
fn everything_that_others_make_is_pinned_by_digest() {
    let workflows = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.github/workflows");
    for entry in fs::read_dir(workflows).unwrap().flatten() {
        let text = fs::read_to_string(entry.path()).unwrap();
        for line in text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: ")) {
            let (digest, version) =
                line.split_once('@').unwrap().1.split_once(" # v").unwrap_or_else(|| panic!("{line}"));
            assert!(
                digest.len() == 40 && digest.chars().all(|c| c.is_ascii_hexdigit()) && !version.is_empty(),
                "{line}"
            );
        }
        assert!(text.contains("\npermissions: {}\n"), "{}: every job says what it may", entry.path().display());
    }
    for line in file("Containerfile").lines().filter_map(|line| line.strip_prefix("FROM ")) {
        assert!(line == "scratch" || line.contains("@sha256:"), "{line}");
    }
}

#[test]
fn the_hook_runs_a_command_that_there_is() {
    let hooks = node(".pre-commit-hooks.yaml");
    for hook in hooks.as_seq().unwrap() {
        let entry = hook.get("entry").unwrap().text().unwrap();
        let words: Vec<&str> = entry.split(' ').collect();
        assert_eq!((words[0], hook.get("pass_filenames").unwrap().as_bool()), ("coldstart", Some(false)));
        run(command(&words[1..]).current_dir(sound().path())).exits(0);
        run(command(&words[1..]).current_dir(broken().path())).exits(1);
    }
}
