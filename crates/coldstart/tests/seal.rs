//! `coldstart seal`, whole commands on small trees, without a cluster.

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, LOGIN, planted_nowhere, release};
use story::works;

#[test]
fn a_key_is_adopted_once_and_never_overwritten() {
    let desk = Desk::new();
    desk.seal(&["init", "--adopt", "k1.pem", "--certificate", "sealing.crt"]).exits(2).says("--yes");
    assert!(!desk.path("keys.age").exists());
    desk.seal(&["init", "--adopt", "k1.pem", "--certificate", "sealing.crt", "--yes"])
        .exits(0)
        .says(&format!("kept key {}", desk.id("k1")))
        .says("wrote the certificate");
    assert!(fs::read_to_string(desk.path("sealing.crt")).unwrap().starts_with("-----BEGIN CERTIFICATE-----"));
    let before = fs::read(desk.path("keys.age")).unwrap();
    desk.seal(&["init", "--yes"]).exits(2).says("holds a key already").says("coldstart seal rotate");
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0).says("nothing to adopt");
    assert_eq!(fs::read(desk.path("keys.age")).unwrap(), before);
    let second = desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0).says(&desk.id("k2"));
    // Kept once, they are lost with their disk.
    assert!(second.stdout.contains("next: coldstart seal backup "), "{}", second.stdout);
}

#[test]
fn a_new_key_is_made_as_asked() {
    let desk = Desk::new();
    desk.seal(&["init", "--bits", "2048", "--days", "7300", "--yes"]).exits(0).says("2048 bits");
    desk.seal(&["init", "--bits", "1024", "--store", "dir:other", "--yes"]).exits(2).says("2048, 3072, 4096 or 8192");
}

#[test]
fn a_value_is_sealed_into_the_tree_and_opens() {
    let desk = Desk::with_key("k1");
    desk.seal_with(
        &["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "password", "--out", "apps/login.yaml"],
        "hunter2\n",
    )
    .exits(0)
    .says("apps/login.yaml: sealed apps/login (1 item)");
    let text = fs::read_to_string(desk.path("apps/login.yaml")).unwrap();
    assert!(text.contains("kind: SealedSecret") && !text.contains("hunter2"), "{text}");
    assert_eq!(desk.open("apps/login.yaml", "password"), b"hunter2");
    desk.seal(&["verify"]).exits(0).says("1 SealedSecret, 1 item: 1 open").says("0 errors");
}

#[test]
fn merging_leaves_other_items_alone() {
    let desk = Desk::with_key("k1");
    desk.write("apps/login.yaml", &desk.sealed("k1", LOGIN));
    let before = fs::read_to_string(desk.path("apps/login.yaml")).unwrap();
    let words =
        ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "token", "--out", "apps/login.yaml"];
    desk.seal_with(&words, "t0ken").exits(0).says("sealed 1 item of apps/login");
    let after = fs::read_to_string(desk.path("apps/login.yaml")).unwrap();
    let added: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(added.len(), 1, "{after}");
    assert!(added[0].starts_with("    token: AQ"), "{after}");
    assert_eq!(desk.open("apps/login.yaml", "token"), b"t0ken");
    assert_eq!(desk.open("apps/login.yaml", "password"), b"hunter2");

    let mixed = [&words[..], &["--scope", "cluster-wide"]].concat();
    desk.seal_with(&mixed, "x").exits(2).says("one SealedSecret has one scope");
    assert_eq!(fs::read_to_string(desk.path("apps/login.yaml")).unwrap(), after);
}

#[test]
fn values_come_from_everywhere_but_the_command_line() {
    let desk = Desk::with_key("k1");
    desk.write("value.txt", "from a file\n");
    desk.write("values.env", "# ours\nA=a=b\nQUOTED=\"kept\"\n");
    desk.write("config.yaml", "clusters:\n  - url: https://pve\n    token: '0123'\n");
    let words = [
        "secret",
        "--name",
        "all",
        "--namespace",
        "apps",
        "--from-file",
        "file=value.txt",
        "--from-env-file",
        "values.env",
        "--from-env",
        "variable=PLANTED",
        "--structure",
        "config=config.yaml",
        "--out",
        "all.yaml",
        "--scope",
        "namespace-wide",
    ];
    desk.run(desk.command(&words).env("PLANTED", "from a variable")).exits(0);
    assert_eq!(desk.open("all.yaml", "file"), b"from a file\n");
    assert_eq!(desk.open("all.yaml", "A"), b"a=b");
    assert_eq!(desk.open("all.yaml", "QUOTED"), b"\"kept\"");
    assert_eq!(desk.open("all.yaml", "variable"), b"from a variable");
    assert_eq!(desk.open("all.yaml", "config"), br#"{"clusters":[{"url":"https://pve","token":"0123"}]}"#);
    let text = fs::read_to_string(desk.path("all.yaml")).unwrap();
    assert!(text.contains("sealedsecrets.bitnami.com/namespace-wide: \"true\""), "{text}");
    desk.seal(&["secret", "--name", "a", "--from-literal", "a=b"]).exits(2);
}

#[test]
fn a_manifest_is_sealed_with_what_it_says() {
    let desk = Desk::with_key("k1");
    desk.write("plain.yaml", LOGIN);
    let ran = desk.seal(&["secret", "--manifest", "plain.yaml"]).exits(0);
    assert!(ran.stdout.contains("app: login") && ran.stdout.contains("type: Opaque"), "{}", ran.stdout);
    let raw = desk.seal_with(&["secret", "--raw", "--scope", "cluster-wide", "--from-stdin", "a"], "hunter2").exits(0);
    assert!(raw.stdout.starts_with("AQ") && raw.stdout.lines().count() == 1, "{}", raw.stdout);
}

#[test]
fn declared_values_are_made_once() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", GENERATE);
    desk.seal(&["generate", "--yes"]).exits(0).says("sealed db/app (3 items)");
    let (password, dsn) = (desk.open("db/secret.yaml", "password"), desk.open("db/secret.yaml", "dsn"));
    assert_eq!(password.len(), 20);
    assert_eq!(dsn, [b"postgres://app:".as_slice(), &password, b"@db/app"].concat());
    let before = fs::read_to_string(desk.path("db/secret.yaml")).unwrap();
    desk.seal(&["generate", "--yes"]).exits(0).says("every declared value already exists");
    assert_eq!(fs::read_to_string(desk.path("db/secret.yaml")).unwrap(), before);

    // A value that is declared later is made from those that are there.
    let more = format!("{GENERATE}        - {{key: url, kind: template, template: '${{dsn}}?ssl'}}\n");
    desk.write("coldstart.yaml", &more);
    desk.seal(&["generate", "--yes"]).exits(0).says("sealed 1 item of db/app");
    assert_eq!(desk.open("db/secret.yaml", "url"), [&dsn[..], b"?ssl"].concat());
    desk.write("coldstart.yaml", "seal: {generate: [{path: a, name: b, values: [{key: c, kind: pasword}]}]}\n");
    desk.seal(&["generate"]).exits(2).says("coldstart.yaml:1:").says("`pasword` is not one of");
}

const GENERATE: &str = "\
seal:
  generate:
    - path: db/secret.yaml
      name: app
      namespace: db
      values:
        - {key: password, kind: password, length: 20}
        - {key: token, kind: hex}
        - {key: dsn, kind: template, template: 'postgres://app:${password}@db/app'}
";

#[test]
fn verify_tells_what_will_not_open_and_why() {
    let desk = Desk::with_key("k1");
    let good = desk.sealed("k1", LOGIN);
    desk.write("good.yaml", &good);
    desk.write("renamed.yaml", &good.replace("name: login", "name: logon"));
    desk.write("foreign.yaml", &desk.sealed("k2", LOGIN));
    desk.write(
        "unscoped.yaml",
        &desk.sealed_wide("k1", LOGIN).replace("sealedsecrets.bitnami.com/cluster-wide", "note"),
    );
    desk.write("broken.yaml", &good.replace("password: AQ", "password: '!!AQ").replace("=\n", "='\n"));
    desk.write("empty.yaml", "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a, namespace: b}\nspec: {encryptedData: []}\n");
    let ran = desk.seal(&["verify"]).exits(1);
    for words in [
        "renamed.yaml:5: apps/logon: `password`: it is sealed for apps/login, but is applied as apps/logon",
        "foreign.yaml:5: apps/login: `password`: no key in the store opens it: it was sealed for another key of 4096 bits, or for another name or namespace",
        "it is sealed cluster-wide, but its own metadata says strict (wanted: sealedsecrets.bitnami.com/cluster-wide)",
        "broken.yaml",
        "empty.yaml:3: b/a: `spec.encryptedData` is not a mapping",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("good.yaml"), "{}", ran.stdout);
    let json = desk.seal(&["verify", "--format", "json"]).exits(1).json();
    assert_eq!(json["sealed_secrets"], 6);
    assert_eq!(json["keys"][0]["id"], desk.id("k1"));
}

#[test]
fn verify_knows_where_kustomize_puts_things() {
    let desk = Desk::with_key("k1");
    for (path, text) in
        [("clusters/home/flux-system/gotk-sync.yaml", story::SYNC), ("clusters/home/apps.yaml", story::APPS)]
    {
        desk.write(path, text);
    }
    let without = desk.sealed("k1", LOGIN);
    desk.write("broken.yaml", &without.replace("  namespace: apps\n", ""));
    desk.seal(&["verify"]).exits(1).says("broken.yaml:").says("can't be read as YAML");
    std::fs::remove_file(desk.path("broken.yaml")).unwrap();
    let without = without.replace("\n  namespace: apps\n", "\n");
    desk.write("apps/login.yaml", &without);
    desk.write("apps/kustomization.yaml", "namespace: apps\nresources: [login.yaml]\n");
    desk.seal(&["verify"]).exits(0).says("1 open");
    desk.write("apps/kustomization.yaml", "namespace: elsewhere\nresources: [login.yaml]\n");
    desk.seal(&["verify"]).exits(1).says("but is applied as elsewhere/login");
    desk.write("apps/kustomization.yaml", "namespace: apps\nnamePrefix: x-\nresources: [login.yaml]\n");
    desk.seal(&["verify"]).exits(1).says("but is applied as apps/x-login");
}

#[test]
fn renewal_is_found_in_the_release_and_switched_off_there() {
    let desk = Desk::with_key("k1");
    for (path, text) in
        [("clusters/home/flux-system/gotk-sync.yaml", story::SYNC), ("clusters/home/apps.yaml", story::APPS)]
    {
        desk.write(path, text);
    }
    let values = "    image:\n      repository: example.org/sealed-secrets-controller # a mirror\n";
    let before = format!("# the controller\n{}", release(values));
    desk.write("apps/release.yaml", &before);
    desk.seal(&["verify"]).exits(1).says("apps/release.yaml:5").says("every 30 days").says("verify --write");
    desk.seal(&["verify", "--write", "--yes"]).exits(0).says("disabled renewal");
    let after = fs::read_to_string(desk.path("apps/release.yaml")).unwrap();
    assert_eq!(after, before.replace("    image:\n", "    keyrenewperiod: \"0\"\n    image:\n"));
    desk.seal(&["verify"]).exits(0);
    desk.write("apps/release.yaml", &after.replace("\"0\"", "0"));
    desk.seal(&["verify"]).exits(1).says("without quotes is ignored by the chart");
    desk.seal(&["verify", "--write", "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(desk.path("apps/release.yaml")).unwrap(), after);
}

#[test]
fn everything_is_sealed_anew_with_the_smallest_difference() {
    let desk = Desk::with_key("k1");
    let (one, two) = (desk.sealed("k1", LOGIN), desk.sealed_wide("k1", &LOGIN.replace("login", "second")));
    desk.write("one.yaml", &format!("# ours\n{one}"));
    desk.write("two.json", &desk.as_json(&two));
    desk.write("done.yaml", &desk.sealed("k2", &LOGIN.replace("login", "done")));
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    let done = fs::read(desk.path("done.yaml")).unwrap();
    desk.seal(&["reseal"]).exits(2).says("one.yaml (1 item)").says("two.json (1 item)");
    desk.seal(&["reseal", "--yes"]).exits(0).says(&format!("seal 2 items again with key {}", desk.id("k2")));
    assert_eq!(fs::read(desk.path("done.yaml")).unwrap(), done, "what is new stays as it is");
    let after = fs::read_to_string(desk.path("one.yaml")).unwrap();
    let changed =
        after.lines().zip(format!("# ours\n{one}").lines().map(str::to_owned)).filter(|(new, old)| new != old).count();
    assert_eq!(changed, 1, "{after}");
    assert!(after.contains("    password: Ag"), "{after}");
    assert_eq!(desk.open("one.yaml", "password"), b"hunter2");
    assert_eq!(desk.open("two.json", "password"), b"hunter2");
    desk.seal(&["reseal", "--yes"]).exits(0).says("sealed with the newest key already");
}

#[test]
fn what_no_key_opens_stops_a_reseal_before_it_begins() {
    let desk = Desk::with_key("k1");
    desk.write("a.yaml", &desk.sealed("k1", LOGIN));
    desk.write("b.yaml", &desk.sealed("k3_expired", &LOGIN.replace("login", "lost")));
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    let before = fs::read(desk.path("a.yaml")).unwrap();
    desk.seal(&["reseal", "--yes"]).exits(2).says("password of b.yaml").says("nothing was written");
    assert_eq!(fs::read(desk.path("a.yaml")).unwrap(), before);
}

#[test]
fn a_rotation_keeps_the_old_key_and_seals_everything_with_the_new() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", "seal: {certificate: sealing.crt, backup: 'dir:second'}\n");
    desk.write("one.yaml", &desk.sealed("k1", LOGIN));
    desk.seal(&["backup", "--yes"]).exits(0);
    desk.seal(&["rotate", "--offline", "--bits", "2048", "--yes"])
        .exits(0)
        .says("and in the directory")
        .says("sealed 1 file again")
        .says("coldstart seal deploy");
    assert_eq!(desk.ring().keys().len(), 2);
    desk.seal(&["verify"]).exits(0).says("1 item with key").says(", the newest");
    desk.seal(&["backup"]).exits(0).says("already has all 2 keys");
    let served = fs::read_to_string(desk.path("sealing.crt")).unwrap();
    assert_eq!(served, desk.ring().newest().unwrap().certificate().to_pem());
}

#[test]
fn a_backup_brings_a_lost_store_back() {
    let desk = Desk::with_key("k1");
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    desk.write("one.yaml", &desk.sealed("k1", LOGIN));
    desk.seal(&["backup"]).exits(2).says("there is no other store");
    desk.seal(&["backup", "dir:copy"]).exits(2).says("copy key").says("--yes");
    desk.seal(&["backup", "dir:copy", "--yes"]).exits(0).says("gives back all 2 keys");
    fs::remove_file(desk.path("keys.age")).unwrap();
    desk.seal(&["verify"]).exits(2).says("one.yaml was sealed with one").says("coldstart seal restore STORE");
    desk.seal(&["restore", "dir:copy", "--yes"]).exits(0).says("verified");
    desk.seal(&["verify"]).exits(0).says("1 open");
    // A copy that was damaged is not taken for one.
    let key = desk.path(&format!("copy/{}.key", desk.id("k1")));
    fs::write(&key, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n").unwrap();
    desk.seal(&["backup", "dir:copy", "--yes"]).exits(2).says("can't be read");
}

#[test]
fn a_commit_holds_just_the_file() {
    if !works("git", &["--version"]) {
        return story::skipped("a_commit_holds_just_the_file: no git");
    }
    let desk = Desk::with_key("k1");
    let remote = tempfile::tempdir().unwrap();
    desk.git(&["init", "--quiet", "--initial-branch=main"]);
    let url = remote.path().to_str().unwrap().to_owned();
    assert!(works("git", &["init", "--quiet", "--bare", "--initial-branch=main", &url]));
    desk.git(&["remote", "add", "origin", &url]);
    desk.write("first.txt", "1");
    desk.git(&["add", "first.txt"]);
    desk.git(&["commit", "--quiet", "-m", "first"]);
    desk.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    desk.write("staged.txt", "not mine");
    desk.git(&["add", "staged.txt"]);
    let words =
        ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a", "--out", "login.yaml", "--push"];
    desk.seal_with(&words, "hunter2").exits(0).says("and pushed it");
    assert_eq!(desk.git(&["show", "--name-only", "--format=%s", "HEAD"]).trim(), "Seal apps/login\n\nlogin.yaml");
    assert_eq!(desk.git(&["diff", "--cached", "--name-only"]).trim(), "staged.txt");
    assert_eq!(desk.git(&["rev-parse", "HEAD"]), desk.git(&["rev-parse", "origin/main"]));
}

#[cfg(unix)]
#[test]
fn a_hook_that_refuses_without_a_word_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    if !works("git", &["--version"]) {
        return story::skipped("a_hook_that_refuses_without_a_word_is_told: no git");
    }
    let desk = Desk::with_key("k1");
    desk.git(&["init", "--quiet", "--initial-branch=main"]);
    let hook = desk.path(".git/hooks/pre-commit");
    desk.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    let words =
        ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a", "--out", "login.yaml", "--commit"];
    desk.seal_with(&words, "hunter2")
        .exits(2)
        .says("commit failed: it does not say why; a hook may have refused it")
        .says("written, but not committed: login.yaml")
        .says("next: git add -- login.yaml && git commit --only -- login.yaml");
}

#[test]
fn bad_input_is_told_and_nothing_is_written() {
    let desk = Desk::with_key("k1");
    desk.write("expired.crt", &desk.certificate("k3_expired"));
    let words = |more: &[&'static str]| {
        [&["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "out.yaml"], more].concat()
    };
    desk.seal_with(&words(&["--certificate", "expired.crt"]), "x").exits(2).says("expired on 2022-01-01").says("next:");
    desk.seal_with(&words(&["--certificate", "k1.pem.missing"]), "x").exits(2).says("k1.pem.missing");
    desk.seal_with(&["secret", "--from-stdin", "c", "--out", "out.yaml"], "x").exits(2).says("it has no name");
    desk.seal_with(&["secret", "--name", "a", "--from-stdin", "c", "--out", "out.yaml"], "x")
        .exits(2)
        .says("--namespace NAME");
    desk.seal_with(&["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c d", "--out", "out.yaml"], "x")
        .exits(2)
        .says("is not valid in a Secret");
    assert!(!desk.path("out.yaml").exists());
    desk.write("bad.yaml", "a: [");
    desk.seal_with(&["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "bad.yaml"], "x")
        .exits(2)
        .says("is not valid YAML; nothing was written");
    assert_eq!(fs::read_to_string(desk.path("bad.yaml")).unwrap(), "a: [");
    desk.seal(&["verify", "--store", "s3:bucket"]).exits(2).says("next: --store with one of age:FILE");
    desk.write("keys.age", "not age");
    desk.seal(&["verify"]).exits(2).says("it is not an age file, or is damaged");
    desk.run(desk.plain_command(&["verify", "--store", "age:keys.age"]).env_remove("COLDSTART_PASSPHRASE")).exits(2);
}

#[test]
fn two_writers_of_one_file_lose_nothing() {
    let desk = Desk::with_key("k1");
    std::thread::scope(|scope| {
        for key in ["a", "b", "c", "d"] {
            let desk = &desk;
            scope.spawn(move || {
                let words =
                    ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", key, "--out", "login.yaml"];
                desk.seal_with(&words, key).exits(0);
            });
        }
    });
    for key in ["a", "b", "c", "d"] {
        assert_eq!(desk.open("login.yaml", key), key.as_bytes());
    }
}

#[test]
fn sops_files_are_encrypted_to_whom_they_should_be() {
    let desk = Desk::with_key("k1");
    let other = age::x25519::Identity::generate().to_public().to_string();
    desk.write(
        ".sops.yaml",
        &format!("creation_rules:\n  - path_regex: .*\\.sops\\.yaml$\n    age: {}\n", desk.recipient()),
    );
    desk.write("fine.sops.yaml", &desk.sops(&desk.recipient(), "ENC[AES256_GCM,data:x]"));
    let verify = || desk.run(desk.command(&["verify"]).env("SOPS_AGE_KEY_FILE", desk.path("identity.txt")));
    verify().exits(0).says("1 SOPS file");
    desk.write("clear.sops.yaml", "kind: Secret\nstringData: {a: hunter2}\n");
    desk.write("partly.sops.yaml", &desk.sops(&desk.recipient(), "hunter2"));
    desk.write("other.sops.yaml", &desk.sops(&other, "ENC[AES256_GCM,data:x]"));
    let ran = verify().exits(1);
    for words in [
        "clear.sops.yaml: is named as a SOPS file and is not encrypted",
        "partly.sops.yaml:4: `stringData.a` is in the clear",
        "other.sops.yaml: is not encrypted to age1",
        "other.sops.yaml: is encrypted to age1",
        "other.sops.yaml: is not opened by the available age identity",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("hunter2"), "{}", ran.stdout);
}

#[test]
fn planted_secrets_are_nowhere() {
    planted_nowhere();
}
