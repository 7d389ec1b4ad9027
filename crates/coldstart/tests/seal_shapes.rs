//! `coldstart seal` and the shapes that SealedSecrets come in: lists, several documents, templates, broken ones; and
//! what happens to files when the disk is full.

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, LOGIN, as_list};
use time::{Duration, OffsetDateTime};

#[test]
fn secrets_in_lists_are_verified_merged_and_sealed_anew() {
    let desk = Desk::with_key("k1");
    let item = |name: &str| desk.sealed("k1", &LOGIN.replace("login", name));
    let before = format!("# ours\n{}{}", as_list(&[item("one"), item("two")]), item("three"));
    desk.write("list.yaml", &before);
    desk.seal(&["verify"]).exits(0).says("3 SealedSecrets, 3 items: 3 open");

    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    desk.seal(&["reseal", "--yes"]).exits(0).says("list.yaml (3 items)");
    let after = fs::read_to_string(desk.path("list.yaml")).unwrap();
    let changed: Vec<&str> =
        after.lines().zip(before.lines()).filter(|(new, old)| new != old).map(|(new, _)| new.trim()).collect();
    assert_eq!(changed.len(), 3, "{after}");
    assert!(changed.iter().all(|line| line.starts_with("password: Ag")), "{after}");
    desk.seal(&["verify"]).exits(0).says(&format!("3 items with key {}, the newest", desk.id("k2")));

    let words = ["secret", "--name", "two", "--namespace", "apps", "--from-stdin", "token", "--out", "list.yaml"];
    desk.seal_with(&words, "t0ken").exits(0).says("sealed 1 item of apps/two");
    desk.seal(&["verify"]).exits(0).says("3 SealedSecrets, 4 items: 4 open");

    desk.write("list.yaml", &after.replacen("name: two", "name: deux", 1));
    desk.seal(&["verify"])
        .exits(1)
        .says("apps/deux: `password`: it is sealed for apps/two, but is applied as apps/deux");
}

#[test]
fn many_secrets_go_into_one_file_at_once() {
    let desk = Desk::with_key("k1");
    let secret = |name: &str, key: &str| LOGIN.replace("login", name).replace("password:", &format!("{key}:"));
    desk.write("all.yaml", &desk.sealed("k1", &secret("one", "password")));
    // One that is there, and one that is new.
    desk.write("plain.yaml", &[secret("one", "a"), secret("two", "b")].join("---\n"));
    desk.seal(&["secret", "--manifest", "plain.yaml", "--out", "all.yaml"])
        .exits(0)
        .says("sealed 1 item of apps/one")
        .says("sealed apps/two (1 item)");
    fs::remove_file(desk.path("plain.yaml")).unwrap();
    desk.seal(&["verify"]).exits(0).says("2 SealedSecrets, 3 items: 3 open");
    // If one of them can't be sealed, none is written.
    let before = fs::read(desk.path("all.yaml")).unwrap();
    desk.write("plain.yaml", &format!("{}---\n{}", secret("three", "a"), secret("four", "a b")));
    desk.seal(&["secret", "--manifest", "plain.yaml", "--out", "all.yaml"]).exits(2).says("is not valid in a Secret");
    assert_eq!(fs::read(desk.path("all.yaml")).unwrap(), before);
}

#[test]
fn a_template_says_what_the_secret_looks_like_and_not_what_it_is_called() {
    let desk = Desk::with_key("k1");
    let sealed = desk.sealed("k1", LOGIN);
    let (own, template) = sealed.split_once("  template:").unwrap();
    let elsewhere = template.replace("name: login", "name: other").replace("namespace: apps", "namespace: other");
    desk.write("a.yaml", &format!("{own}  template:{elsewhere}"));
    desk.seal(&["verify"]).exits(0).says("1 open");
    desk.write("a.yaml", &format!("{}  template:{template}", own.replace("  name: login", "  name: other")));
    desk.seal(&["verify"]).exits(1).says("it is sealed for apps/login, but is applied as apps/other");
}

#[test]
fn the_scope_is_that_of_its_own_annotations() {
    let desk = Desk::with_key("k1");
    let wide = desk.sealed_wide("k1", LOGIN);
    let (own, template) = wide.split_once("  template:").unwrap();
    let without = |text: &str| text.replace("sealedsecrets.bitnami.com/cluster-wide", "example.org/note");
    desk.write("a.yaml", &format!("{own}  template:{}", without(template)));
    let ran = desk.seal(&["verify"]).exits(0).says("1 open");
    assert!(!ran.stdout.contains("template"), "{}", ran.stdout);
    desk.write("a.yaml", &format!("{}  template:{template}", without(own)));
    desk.seal(&["verify"])
        .exits(1)
        .says("it is sealed cluster-wide, but its own metadata says strict")
        .says("`kubeseal --re-encrypt` would make it cluster-wide");
}

#[test]
fn what_is_cut_off_or_doubled_is_told() {
    let desk = Desk::with_key("k1");
    let sealed = desk.sealed("k1", LOGIN);
    let value = sealed.lines().find_map(|line| line.strip_prefix("    password: ")).unwrap();
    desk.write("half.yaml", &sealed.replace(value, &value[..value.len() / 8 * 4]));
    desk.write("tail.yaml", &sealed.replace(value, &value[..value.len() / 4 * 4 - 4]));
    desk.write("both.yaml", &sealed.replace("spec:\n", &format!("spec:\n  data: {value}\n")));
    let ran = desk.seal(&["verify"]).exits(1);
    for words in [
        "half.yaml:5: apps/login: `password`: it is cut off",
        "tail.yaml:5: apps/login: `password`: it is cut off or was changed",
        "both.yaml:5: apps/login: it has both `spec.encryptedData` and the old `spec.data`",
    ] {
        assert!(ran.stdout.contains(words), "{words}\n{}", ran.stdout);
    }
}

/// A certificate of the right shape with a key of the wrong kind. Its private key was thrown away.
const ELLIPTIC: &str = "\
-----BEGIN CERTIFICATE-----
MIIBfjCCASOgAwIBAgIUDtY+dJVpZxdYUbCOgSjWKNHPdMMwCgYIKoZIzj0EAwIw
EzERMA8GA1UEAwwIZWxsaXB0aWMwIBcNMjYxMTE2MDgzNjU2WhgPMjEyNjEwMjMw
ODM2NTZaMBMxETAPBgNVBAMMCGVsbGlwdGljMFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAENlTWcyB3NKpaXi7UKy/vTb8Ikcnta9xDX3CjB/fXNo41cvkYxYh/rUyE
qUvU9JGAcOR5IrRLc7Z2x6h8C1KroaNTMFEwHQYDVR0OBBYEFChk9vEwPJyBcOtT
qqliucxN50Q6MB8GA1UdIwQYMBaAFChk9vEwPJyBcOtTqqliucxN50Q6MA8GA1Ud
EwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhAPCEcPI1QaWrsrteVBUIi21V
2yv/og1vQ89HzlD36+w4AiEAu+t9csEis3iuXsl4Ad7t8t9HoVvy4InVo0meILjJ
CQk=
-----END CERTIFICATE-----
";

#[test]
fn certificates_of_another_kind_or_time_seal_nothing() {
    let desk = Desk::with_key("k1");
    let soon = OffsetDateTime::now_utc() + Duration::days(10);
    let future = seal::key::generate(&seal::key::GenerateOptions { bits: 2048, days: 30, now: soon }).unwrap();
    desk.write("future.crt", &future.certificate().to_pem());
    desk.write("elliptic.crt", ELLIPTIC);
    desk.write("expired.crt", &desk.certificate("k3_expired"));
    desk.write("cut.crt", &ELLIPTIC[..200]);
    for (certificate, told) in [
        ("future.crt", "is good only from"),
        ("elliptic.crt", "it is a key for elliptic curves, and SealedSecrets know only RSA"),
        ("expired.crt", "expired on 2022-01-01"),
        ("cut.crt", "cut.crt"),
    ] {
        let words = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "out.yaml"];
        let words = [&words[..], &["--certificate", certificate]].concat();
        desk.seal_with(&words, "x").exits(2).says(told);
    }
    assert!(!desk.path("out.yaml").exists());
    desk.seal(&["init", "--adopt", "elliptic.crt", "--yes"]).exits(2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_files_as_they_were() {
    use std::process::Command;
    let desk = Desk::with_key("k1");
    desk.write("small/one.yaml", &desk.sealed("k1", LOGIN));
    let before = fs::read(desk.path("small/one.yaml")).unwrap();
    // A file system of 32 KiB over that directory, if this machine lets us have one.
    let mounted =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=32k", "none"]).arg(desk.path("small")).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return story::skipped("a_full_disk_leaves_files_as_they_were: no right to mount");
    }
    fs::write(desk.path("small/one.yaml"), &before).unwrap();
    let _filled = fs::write(desk.path("small/large"), vec![1_u8; 1024 * 1024]);
    let words = ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a", "--out", "small/one.yaml"];
    let merged = desk.seal_with(&words, "x");
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    let resealed = desk.seal(&["reseal", "--yes"]);
    let after = fs::read(desk.path("small/one.yaml")).unwrap();
    let left: Vec<_> = fs::read_dir(desk.path("small")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    Command::new("umount").arg(desk.path("small")).status().unwrap();
    merged.exits(2).says("small/one.yaml").says("No space left on device");
    resealed.exits(2).says("No space left on device");
    assert_eq!(before, after);
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn post_quantum_identities_without_their_programs_are_told() {
    let desk = Desk::with_key("k1");
    desk.write("pq.txt", "# made by age-keygen -pq\nAGE-SECRET-KEY-PQ-1QQQQ\n");
    let nowhere = desk.path("nowhere");
    let words = ["init", "--adopt", "k1.pem", "--yes", "--store", "age:pq.age", "--identity", "pq.txt"];
    desk.run(desk.plain_command(&words).env("PATH", &nowhere))
        .exits(2)
        .says("needs the program `age-keygen` (age 1.3 or later), which is not on PATH");
    assert!(!desk.path("pq.age").exists());

    let file = desk.sops(&desk.recipient(), "ENC[AES256_GCM,data:x]").replace(&desk.recipient(), "age1pq1qqqq");
    desk.write("a.sops.yaml", &file);
    let mut verify = desk.command(&["verify"]);
    verify.env("SOPS_AGE_KEY_FILE", desk.path("pq.txt")).env("PATH", &nowhere);
    desk.run(&mut verify).exits(0).says("note: a.sops.yaml: was not opened: this needs sops 3.12 or age 1.3");
}

#[test]
fn post_quantum_files_are_opened_by_the_real_programs() {
    use std::process::Command;
    let desk = Desk::with_key("k1");
    let output = |command: &mut Command| {
        let ran = command.output().ok()?;
        ran.status.success().then(|| String::from_utf8(ran.stdout).unwrap())
    };
    let keygen = || output(Command::new("age-keygen").arg("-pq"));
    let (Some(mine), Some(other)) = (keygen(), keygen()) else {
        return story::skipped("post_quantum_files_are_opened_by_the_real_programs: no age 1.3");
    };
    let recipient = mine.lines().find_map(|line| line.strip_prefix("# public key: ")).unwrap().to_owned();
    desk.write("mine.txt", &mine);
    desk.write("other.txt", &other);
    let words = ["init", "--adopt", "k1.pem", "--yes", "--store", "age:pq.age", "--identity", "mine.txt"];
    desk.run(&mut desk.plain_command(&words)).exits(0);
    let verify = |identity: &str| {
        let mut command = desk.plain_command(&["verify", "--store", "age:pq.age", "--identity", "mine.txt"]);
        desk.run(command.env("SOPS_AGE_KEY_FILE", desk.path(identity)))
    };
    desk.write("login.yaml", &desk.sealed("k1", LOGIN));
    desk.write("plain.yaml", "kind: Secret\nstringData:\n  a: hunter2\n");
    let mut sops = Command::new("sops");
    sops.args(["encrypt", "--age", &recipient, "--encrypted-regex", "^stringData$", "plain.yaml"]);
    let Some(encrypted) = output(sops.current_dir(desk.path(""))) else {
        return story::skipped("post_quantum_files_are_opened_by_the_real_programs: no sops 3.12");
    };
    fs::remove_file(desk.path("plain.yaml")).unwrap();
    desk.write("a.sops.yaml", &encrypted);
    verify("mine.txt").exits(0).says("1 open").says("1 SOPS file").says("0 errors");
    verify("other.txt").exits(1).says("a.sops.yaml: is not opened by the available age identity");
}
