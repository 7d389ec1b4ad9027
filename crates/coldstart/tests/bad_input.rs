//! Whatever it is pointed at: a clear message, the right exit code, within limits of time and memory.

mod story;

use std::fs;

use story::{APPS, SYNC, Tree, check, command, run, skipped, sound};

#[test]
fn a_path_that_does_not_exist() {
    let ran = run(&mut command(&["check", "/nowhere/at/all"])).exits(2).says("/nowhere/at/all does not exist");
    assert!(ran.stdout.is_empty());
    assert!(ran.stderr.contains("next: coldstart check"), "{}", ran.stderr);
}

#[test]
fn a_file_instead_of_a_directory() {
    let tree = Tree::new(&[("file.yaml", "a: b\n")]);
    run(command(&["check"]).arg(tree.path().join("file.yaml"))).exits(2).says("is not a directory");
}

#[test]
fn an_empty_directory() {
    check(&Tree::empty(), &[]).exits(3).says("no Flux objects found").says("looked for").says("next: coldstart check");
}

#[test]
fn a_directory_without_flux() {
    let tree = Tree::new(&[("compose.yaml", "services: {}\n"), ("notes.txt", "x")]);
    check(&tree, &[]).exits(3).says("in: 1 YAML file\n");
    tree.write("binary.yaml", &[0, 255]);
    check(&tree, &[]).exits(3).says("not read: binary.yaml is not UTF-8 text");
    run(command(&["graph"]).arg(tree.path())).exits(3).says("next: coldstart graph");
}

/// There is something of Flux, and nothing says where it starts.
#[test]
fn flux_objects_without_an_entry_point() {
    let instance = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata:\n  name: flux\nspec:\n  sync:\n    path: clusters/${NAME}\n";
    let tree = Tree::new(&[("flux.yaml", instance)]);
    let ran = check(&tree, &[]).exits(3).says("no entry point found").says("there is: 1 FluxInstance in 1 YAML file");
    let ran =
        ran.says("tried: ").says("not here: `clusters/${NAME}`, which flux.yaml syncs").says("next: coldstart check");
    assert!(!ran.stderr.contains("no Flux objects"), "{}", ran.stderr);
}

/// Only what the clusters of another repository apply: what is proposed works when it is typed.
#[test]
fn the_applications_of_a_fleet() {
    let release = |name: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata:\n  name: {name}\nspec:\n  interval: 1h\n"
        )
    };
    let (web, store) = (release("web"), release("store"));
    let tree = Tree::new(&[("apps/web/release.yaml", web.as_str()), ("apps/store/release.yaml", store.as_str())]);
    let ran = check(&tree, &[]).exits(3).says("2 HelmRelease in 2 YAML files").says("applications or bases of a fleet");
    ran.says("they can apply: apps/store, apps/web").says("--entry apps/store");
    check(&tree, &["--entry", "apps/store"]).exits(0).says("1 cluster: apps/store");
    check(&tree, &["--entry", "apps/mail"]).exits(2).says("the entry point `apps/mail` is not a directory");
}

#[test]
fn argo_cd_is_not_read() {
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: web\n";
    check(&Tree::new(&[("web.yaml", application)]), &[]).exits(3).says("Argo CD is not read: 1 object of it is here");
}

#[test]
fn a_file_that_is_no_text_is_told_by_its_reason() {
    let tree = sound();
    tree.write("apps/kustomization.yaml", b"resources:\n  - config.yaml\n  - picture.yaml\n");
    tree.write("apps/picture.yaml", &[0x61, 0xff, 0xfe]);
    check(&tree, &[]).exits(1).says("`apps/picture.yaml` is not UTF-8 text");
}

#[test]
fn nothing_to_check_is_still_a_document_for_programs() {
    let ran = check(&Tree::empty(), &["--format", "json"]).exits(3);
    assert_eq!(ran.json()["findings"], serde_json::json!([]));
}

#[cfg(unix)]
#[test]
fn a_directory_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let tree = sound();
    let closed = tree.path().join("clusters");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        skipped("this user may read everything: closed directories are not tested");
    } else {
        run(command(&["check"]).arg(&closed)).exits(2).says("cannot read");
        // A closed directory below is not seen, which is said; here it held everything.
        check(&tree, &[]).exits(3).says("not read: ");
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_binary_file_with_the_name_of_a_manifest() {
    let tree = sound();
    tree.write("apps/binary.yaml", &[0, 159, 146, 150, 0, 255]);
    tree.write("apps/nul.yaml", b"a: b\0c\n");
    check(&tree, &[]).exits(0);
}

#[test]
fn a_yaml_file_of_200_megabytes() {
    let tree = sound();
    let file = fs::File::create(tree.path().join("apps/big.yaml")).unwrap();
    file.set_len(200 * 1024 * 1024).unwrap();
    check(&tree, &[]).exits(0);
}

#[test]
fn an_alias_bomb() {
    let level =
        |level: u32| format!("a{}: &a{} [{}]\n", level + 1, level + 1, vec![format!("*a{level}"); 10].join(", "));
    let bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned() + &(0..40).map(level).collect::<String>();
    let configured = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb, namespace: default}\n";
    let tree = sound().with(&[
        ("apps/bomb.yaml", &bomb),
        ("apps/config.yaml", &format!("{configured}bomb:\n  {}", bomb.replace('\n', "\n  "))),
    ]);
    let ran = check(&tree, &[]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
}

#[test]
fn nesting_that_has_no_end() {
    let tree = sound().with(&[("apps/deep.yaml", &"[".repeat(200_000)), ("apps/deeper.yaml", &"- ".repeat(200_000))]);
    let ran = check(&tree, &[]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_symlink_loop() {
    let tree = sound();
    std::os::unix::fs::symlink("..", tree.path().join("apps/up")).unwrap();
    std::os::unix::fs::symlink("self", tree.path().join("apps/self")).unwrap();
    std::os::unix::fs::symlink("gone", tree.path().join("apps/dangling.yaml")).unwrap();
    check(&tree, &[]).exits(0);
}

#[cfg(unix)]
#[test]
fn a_pipe_with_the_name_of_a_manifest_does_not_block() {
    let tree = sound();
    let pipe = tree.path().join("apps/pipe.yaml");
    if std::process::Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()) {
        check(&tree, &[]).exits(0);
    } else {
        skipped("no mkfifo: pipes are not tested");
    }
}

#[test]
fn a_cycle_of_bases() {
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/apps.yaml", APPS),
        ("apps/kustomization.yaml", "resources: [../base]\n"),
        ("base/kustomization.yaml", "resources: [../apps]\n"),
    ]);
    let ran = check(&tree, &["--blind-spots", "--pedantic"]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
}

#[test]
fn a_path_that_leaves_the_repository() {
    let outside = Tree::new(&[("secret.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: treasure}\n")]);
    let up = "../".repeat(30);
    let file = format!("{up}{}/secret.yaml", outside.path().display()).replace("//", "/");
    let tree = Tree::new(&[
        ("clusters/home/flux-system/gotk-sync.yaml", SYNC),
        ("clusters/home/apps.yaml", &APPS.replace("./apps", "./../../../../etc")),
        ("clusters/home/more.yaml", &APPS.replace("name: apps", "name: more")),
        ("apps/kustomization.yaml", &format!("resources:\n  - {file}\n  - /etc/hostname\n")),
    ]);
    let ran = check(&tree, &["--blind-spots", "--pedantic"]);
    assert!(matches!(ran.code, 0 | 1), "{ran:?}");
    assert!(!ran.stdout.contains("treasure"), "{}", ran.stdout);
}

#[test]
fn one_bad_document_does_not_hide_the_rest() {
    let tree = sound()
        .with(&[("clusters/home/bad.yaml", &format!("a: [\n---\n{}", APPS.replace("name: apps", "name: more")))]);
    let ran = run(command(&["graph"]).arg(tree.path())).exits(0);
    assert!(ran.stdout.contains("flux-system/apps"), "{}", ran.stdout);
}

#[test]
fn times_that_no_clock_can_tell() {
    let tree = sound();
    let apps = APPS.replace("interval: 10m", "interval: 99999999999999999999h\n  timeout: 2562047h");
    tree.write("clusters/home/apps.yaml", apps.as_bytes());
    for arguments in [&["plan"][..], &["simulate", "--seeds", "3"], &["up", "--simulate", "--speed", "0"]] {
        let state = Tree::empty();
        let ran = run(command(arguments).arg(tree.path()).env("XDG_STATE_HOME", state.path()));
        assert!(ran.code < 2, "{arguments:?}: {}", ran.stderr);
    }
}
