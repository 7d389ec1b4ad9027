//! How programs get into the cache, told with a `go` of our own: a script that does what each story needs.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot set its story up has failed")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

use coldstart_lab::build::{BuildError, BuildEvent, BuildOutcome, Builder, Cache, Go, Missing, Tier, Tool};
use tempfile::TempDir;

/// A cache, a fake `go` and the directory that the script talks to the story through.
struct World {
    directory: TempDir,
}

impl World {
    /// `script` runs with `$W` as the story's directory and, for `go build`, `$out` as the file to write.
    fn new(script: &str) -> Self {
        let world = Self { directory: tempfile::tempdir().unwrap() };
        world.go_is(script);
        world
    }

    /// Installed by another process: a file that this one writes may be open in a child of another test for a moment, and
    /// then cannot be run.
    fn go_is(&self, script: &str) {
        let find_output = r#"out=; for word; do [ "$last" = -o ] && out=$word; last=$word; done"#;
        let start = format!("#!/bin/sh\nW='{}'\necho \"$*\" >> $W/calls", self.path().display());
        let text = self.path().join("go.text");
        fs::write(&text, format!("{start}\n{find_output}\n{script}\n")).unwrap();
        let installed = Command::new("install").args(["-m", "755"]).arg(&text).arg(self.path().join("go")).status();
        assert!(installed.unwrap().success());
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn cache(&self) -> Cache {
        Cache::at(self.path().join("cache"))
    }

    fn builder(&self) -> Builder {
        Builder::new(self.cache(), Go::at(self.path().join("go")))
    }

    fn build(&self, tool: Tool) -> Result<BuildOutcome, BuildError> {
        self.builder().build(tool, &|_| {})
    }

    /// How often `go build` ran.
    fn builds(&self) -> usize {
        let calls = fs::read_to_string(self.path().join("calls")).unwrap_or_default();
        calls.lines().filter(|call| call.starts_with("build ")).count()
    }

    /// Directories of the cache that a reader could take for a finished program, or for one half made.
    fn left_in(&self, directory: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path().join("cache").join(directory)).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect()
    }
}

const WRITE_THE_PROGRAM: &str = r#"echo program > "$out""#;

#[test]
fn a_program_is_built_once_and_then_found() {
    let world = World::new(WRITE_THE_PROGRAM);
    assert_eq!(world.cache().binary(Tool::Etcd), Err(Missing::Tools(vec![Tool::Etcd])));
    assert!(matches!(world.build(Tool::Etcd).unwrap(), BuildOutcome::Built(_)));
    assert_eq!(fs::read_to_string(world.cache().binary(Tool::Etcd).unwrap()).unwrap(), "program\n");
    assert_eq!(world.build(Tool::Etcd).unwrap(), BuildOutcome::Cached);
    assert_eq!(world.builds(), 1);
    assert_eq!(world.left_in("building"), Vec::<PathBuf>::new());
}

#[test]
fn go_is_told_to_obey_the_lock_files() {
    let world = World::new(
        r#"cp go.mod go.sum $W; env > $W/environment; echo "changed by go" >> go.sum; echo program > "$out""#,
    );
    world.build(Tool::Etcd).unwrap();
    let environment = fs::read_to_string(world.path().join("environment")).unwrap();
    for setting in ["GOFLAGS=-mod=readonly", "GOTOOLCHAIN=auto", "CGO_ENABLED=0", "GOWORK=off"] {
        assert!(environment.lines().any(|line| line == setting), "{setting} is not in\n{environment}");
    }
    let seen = |name: &str| fs::read_to_string(world.path().join(name)).unwrap();
    assert_eq!((seen("go.mod").as_str(), seen("go.sum").as_str()), (Tool::Etcd.go_mod(), Tool::Etcd.go_sum()));
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("modules/etcd/go.sum");
    assert_eq!(fs::read_to_string(committed).unwrap(), Tool::Etcd.go_sum());
    assert!(seen("calls").ends_with(&format!("{}\n", Tool::Etcd.package())), "{}", seen("calls"));
}

#[test]
fn a_failure_shows_the_end_of_the_log_and_leaves_no_program() {
    let world = World::new(r#"echo half > "$out"; seq 1 40; echo "no such package" >&2; exit 3"#);
    let error = world.build(Tool::Etcd).unwrap_err();
    let BuildError::Compile { tail, log, .. } = &error else { panic!("{error}") };
    assert!(tail.starts_with("27\n") && tail.ends_with("40\nno such package"), "{tail}");
    assert!(fs::read_to_string(log).unwrap().starts_with("1\n2\n"));
    assert!(error.to_string().contains(&log.display().to_string()), "{error}");
    assert!(world.cache().binary(Tool::Etcd).is_err());
    world.go_is(WRITE_THE_PROGRAM);
    assert!(matches!(world.build(Tool::Etcd).unwrap(), BuildOutcome::Built(_)));
}

#[test]
fn one_failure_does_not_stop_the_others() {
    let world = World::new(r#"case "$out" in */kustomize) exit 1 ;; esac; echo program > "$out""#);
    let events = Mutex::new(Vec::new());
    let listen = |event: BuildEvent<'_>| events.lock().unwrap().push(format!("{event:?}"));
    let tools = [Tool::Kustomize, Tool::Etcd, Tool::KubeScheduler, Tool::KubeApiserver];
    let built = world.builder().build_all(&tools, 2, &listen);
    assert_eq!(built.iter().map(|(tool, _)| *tool).collect::<Vec<_>>(), tools);
    assert_eq!(built.iter().map(|(_, result)| result.is_ok()).collect::<Vec<_>>(), [false, true, true, true]);
    let events = events.into_inner().unwrap();
    assert_eq!(events.iter().filter(|event| event.starts_with("Started")).count(), 4, "{events:?}");
    assert_eq!(events.iter().filter(|event| event.starts_with("Failed(Kustomize")).count(), 1, "{events:?}");
    let at = |wanted: &str| events.iter().position(|event| event.starts_with(wanted)).unwrap();
    assert!(at("Finished(KubeScheduler") < at("Started(KubeApiserver"), "a family is built in turn: {events:?}");
}

#[test]
fn an_interrupted_build_is_taken_up_by_the_next() {
    let world = World::new(WRITE_THE_PROGRAM);
    world.build(Tool::Etcd).unwrap();
    let place = world.cache().binary(Tool::Etcd).unwrap().parent().unwrap().to_owned();
    // As a killed build leaves it: half a result in the scratch directory, nothing in its place.
    fs::remove_dir_all(&place).unwrap();
    let scratch = world.path().join("cache/building").join(place.file_name().unwrap());
    fs::create_dir_all(scratch.join("result")).unwrap();
    fs::write(scratch.join("result/etcd"), "half").unwrap();
    assert!(world.cache().binary(Tool::Etcd).is_err(), "half a program is not a program");
    world.build(Tool::Etcd).unwrap();
    assert_eq!(fs::read_to_string(place.join("etcd")).unwrap(), "program\n");
    assert_eq!(world.left_in("building"), Vec::<PathBuf>::new());
}

#[test]
fn nothing_is_in_its_place_before_it_is_whole() {
    let world = World::new(r#"echo half > "$out"; ls "$W/cache" > $W/seen; echo whole > "$out""#);
    world.build(Tool::Etcd).unwrap();
    let seen = fs::read_to_string(world.path().join("seen")).unwrap();
    assert_eq!(seen.lines().collect::<Vec<_>>(), ["building", "logs"]);
}

#[test]
fn two_builders_of_one_cache_do_the_work_once() {
    let script = r#"touch $W/running; while [ ! -e $W/go-on ]; do sleep 0.02; done; echo program > "$out""#;
    let world = World::new(script);
    let (send, waits) = mpsc::channel();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| world.build(Tool::Etcd));
        while !world.path().join("running").exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let world = &world;
        let second = scope.spawn(move || {
            let tell = |event: BuildEvent<'_>| {
                if matches!(event, BuildEvent::Waiting(_)) {
                    send.send(()).unwrap();
                }
            };
            world.builder().build(Tool::Etcd, &tell)
        });
        waits.recv_timeout(Duration::from_secs(30)).unwrap();
        fs::write(world.path().join("go-on"), "").unwrap();
        assert!(matches!(first.join().unwrap().unwrap(), BuildOutcome::Built(_)));
        assert_eq!(second.join().unwrap().unwrap(), BuildOutcome::Cached);
    });
    assert_eq!(world.builds(), 1);
}

/// A `go` whose `mod download` gives a module with CRDs, notes and test data.
const WITH_A_MODULE: &str = r#"
if [ "$1" = mod ]; then
  m=$W/module; mkdir -p $m/config/crd/bases/testdata
  echo crd > $m/config/crd/bases/a.yaml; echo text > $m/config/crd/bases/README.md; echo test > $m/config/crd/bases/testdata/b.yaml
  chmod a-w $m/config/crd/bases/a.yaml
  echo "{\"Path\": \"$4\", \"Dir\": \"$m\"}"
else
  echo program > "$out"
fi"#;

#[test]
fn yaml_files_of_the_module_are_kept_beside_the_program() {
    let world = World::new(WITH_A_MODULE);
    world.build(Tool::HelmController).unwrap();
    let bases = world.cache().files(Tool::HelmController).unwrap().join("config/crd/bases");
    let files: Vec<_> = fs::read_dir(&bases).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["a.yaml"], "no notes, no test data");
    assert_eq!(fs::read_to_string(bases.join("a.yaml")).unwrap(), "crd\n");
}

#[test]
fn a_module_without_its_files_is_a_failure() {
    let world = World::new(
        r#"mkdir -p $W/module/config/crd/bases; if [ "$1" = mod ]; then echo "{\"Dir\": \"$W/module\"}"; else echo program > "$out"; fi"#,
    );
    let error = world.build(Tool::HelmController).unwrap_err().to_string();
    assert!(error.contains("has no YAML files in config/crd/bases"), "{error}");
    assert!(world.cache().binary(Tool::HelmController).is_err());
}

#[test]
fn a_module_that_cannot_be_had_says_why() {
    let world = World::new(r#"echo '{"Path": "x", "Error": "not available"}'; exit 1"#);
    let go = Go::at(world.path().join("go"));
    let error = go.module_directory(Tool::Kwok).unwrap_err().to_string();
    assert_eq!(error, "`go mod download sigs.k8s.io/kwok` failed: not available");
}

#[test]
fn a_tier_is_ready_when_all_of_it_is_there() {
    let world = World::new(&WITH_A_MODULE.replace("config/crd/bases", "kustomize/stage"));
    world.build(Tool::Etcd).unwrap();
    let Err(Missing::Tools(missing)) = world.cache().ready(Tier::Small) else { panic!("ten tools are missing") };
    assert_eq!(missing.len(), Tier::Small.tools().count() - 1);
    assert!(!missing.contains(&Tool::Etcd));
}
