//! What a repository of a stranger can't make `coldstart seal` do: write outside of it, or give keys to others.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]
#![cfg(unix)]

mod sealing;
mod story;

use std::fs;
use std::os::unix::fs::symlink;

use age::secrecy::ExposeSecret as _;
use sealing::{Desk, LOGIN};
use story::{Ran, works};

fn secret(desk: &Desk, out: &str) -> Ran {
    let words = ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a", "--out", out];
    desk.seal_with(&words, "hunter2")
}

fn declare(desk: &Desk, path: &str) {
    let declared = format!("{{path: '{path}', name: a, namespace: b, values: [{{key: c, kind: hex}}]}}");
    desk.write("coldstart.yaml", &format!("seal: {{generate: [{declared}]}}\n"));
}

#[test]
fn no_link_leads_a_file_out_of_the_repository() {
    let desk = Desk::with_key("k1");
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("victim.yaml");
    fs::write(&outside, "kept: true\n").unwrap();
    symlink(&outside, desk.path("a.yaml")).unwrap();
    desk.write(".git/hooks/post-checkout", "kept: true\n");
    symlink(".git/hooks/post-checkout", desk.path("hook.yaml")).unwrap();
    symlink("a.yaml", desk.path("twice.yaml")).unwrap();
    for (out, leads) in [("a.yaml", "victim.yaml"), ("twice.yaml", "victim.yaml"), ("hook.yaml", "post-checkout")] {
        secret(&desk, out).exits(2).says("is a link to").says(leads).says("is not in the repository").says("next:");
        declare(&desk, out);
        desk.seal(&["generate", "--yes"]).exits(2).says(leads).says("is not in the repository");
        fs::remove_file(desk.path("coldstart.yaml")).unwrap();
    }
    assert_eq!(fs::read_to_string(&outside).unwrap(), "kept: true\n");
    assert_eq!(fs::read_to_string(desk.path(".git/hooks/post-checkout")).unwrap(), "kept: true\n");
}

#[test]
fn the_plan_shows_where_a_link_leads() {
    let desk = Desk::with_key("k1");
    desk.write("real/a.yaml", "");
    symlink("real/a.yaml", desk.path("a.yaml")).unwrap();
    declare(&desk, "a.yaml");
    desk.seal(&["generate", "--yes"]).exits(0).says("  a.yaml, a link to real/a.yaml, a: c\n");
    assert!(fs::symlink_metadata(desk.path("a.yaml")).unwrap().is_symlink());
    secret(&desk, "a.yaml").exits(0).says("a.yaml, a link to real/a.yaml,: ");
}

#[test]
fn the_certificate_of_the_settings_is_a_file_of_the_repository() {
    let desk = Desk::with_key("k1");
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("sealing.crt");
    symlink(elsewhere.path(), desk.path("led")).unwrap();
    for said in [outside.to_str().unwrap(), "../sealing.crt", "led/sealing.crt", ".git/sealing.crt"] {
        desk.write("coldstart.yaml", &format!("seal: {{certificate: '{said}'}}\n"));
        for words in [&["init", "--yes"][..], &["rotate", "--offline", "--yes"], &["verify", "--write", "--yes"]] {
            desk.seal(words).exits(2).says("`seal.certificate`").says("is not in the repository").says("next:");
        }
    }
    assert!(!outside.exists());
    // Who names it on the command line means it.
    fs::remove_file(desk.path("coldstart.yaml")).unwrap();
    desk.seal(&["init", "--certificate", outside.to_str().unwrap(), "--yes"]).exits(0);
    assert!(outside.exists());
}

/// A recipient, and its identity in a file.
fn stranger(desk: &Desk, name: &str) -> String {
    let identity = age::x25519::Identity::generate();
    desk.write(name, identity.to_string().expose_secret());
    identity.to_public().to_string()
}

/// How many keys an identity can open.
fn opens(desk: &Desk, identity: &str) -> Option<usize> {
    let text = fs::read_to_string(desk.path(identity)).unwrap();
    let identities = seal::store::identities_of(&text).ok()?;
    let access = seal::store::Access::Identities { identities, recipients: Vec::new() };
    let store = seal::store::AgeFile::new(desk.path("keys.age"), access);
    seal::store::Store::read(&store).ok().map(|kept| kept.ring.keys().len())
}

#[test]
fn a_planted_recipient_gets_no_key_unless_it_is_named() {
    let desk = Desk::with_key("k1");
    let planted = stranger(&desk, "planted.txt");
    desk.write("coldstart.yaml", &format!("seal:\n  recipients: [{planted}]\n"));
    desk.write("sealed.yaml", &desk.sealed("k1", LOGIN));
    desk.seal(&["verify"]).exits(1).says(&planted).says("can't open the store yet");
    desk.seal(&["verify", "--format", "sarif"]).exits(1).says("\"ruleId\": \"store-recipients\"");
    for words in [
        &["rotate", "--offline", "--yes"][..],
        &["init", "--adopt", "k2.pem", "--yes"],
        &["backup", "age:copy.age", "--yes"],
    ] {
        desk.seal(words).exits(2).says(&planted).says("--yes does not accept it").says("--new-recipient age1");
    }
    assert_eq!(desk.ring().keys().len(), 1);
    assert_eq!(opens(&desk, "planted.txt"), None);
    desk.seal(&["init", "--adopt", "k2.pem", "--yes", "--new-recipient", &planted])
        .exits(0)
        .says(&format!("let the new recipient {planted} open the age file keys.age from now on"));
    assert_eq!(opens(&desk, "planted.txt"), Some(2));
    // The store's own record has it now: nothing is new any more.
    desk.seal(&["verify"]).exits(0).never_says(&planted);
    desk.seal(&["backup", "age:copy.age", "--yes"]).exits(2).says("copy.age").says(&planted);
}

#[test]
fn a_recipient_is_removed_with_a_new_key() {
    let desk = Desk::with_key("k1");
    let planted = stranger(&desk, "planted.txt");
    desk.write("coldstart.yaml", &format!("seal:\n  recipients: [{planted}]\n"));
    desk.seal(&["init", "--adopt", "k2.pem", "--yes", "--new-recipient", &planted]).exits(0);
    let remove = ["rotate", "--offline", "--yes", "--bits", "2048", "--remove-recipient", &planted];
    desk.seal(&remove).exits(2).says("still names").says("next: remove its line");
    desk.write("coldstart.yaml", "seal: {}\n");
    // Removing the line alone takes nothing away, and is told.
    desk.seal(&["verify"]).exits(0).says(&planted).says("can open it").says("--remove-recipient");
    let own = desk.recipient();
    desk.seal(&["rotate", "--offline", "--yes", "--remove-recipient", &own]).exits(2).says("your own identity");
    desk.seal(&["rotate", "--offline", "--yes", "--remove-recipient", "age1nobody"]).exits(2).says("not encrypted to");
    desk.seal(&remove).exits(0).says(&format!("remove the recipient {planted}"));
    assert_eq!((desk.ring().keys().len(), opens(&desk, "planted.txt")), (3, None));
    assert_eq!(desk.ring().recipients, [own]);
    desk.seal(&["verify"]).exits(0).never_says(&planted);
}

#[test]
fn what_is_not_a_file_is_not_waited_for() {
    if !works("mkfifo", &["--version"]) {
        return;
    }
    let fifo = |desk: &Desk, name: &str| {
        assert!(std::process::Command::new("mkfifo").arg(desk.path(name)).status().unwrap().success());
    };
    let desk = Desk::with_key("k1");
    fifo(&desk, "pipe.yaml");
    secret(&desk, "pipe.yaml").exits(2).says("is not a regular file");
    desk.write("coldstart.yaml", "seal: {certificate: pipe.crt}\n");
    fifo(&desk, "pipe.crt");
    for words in [&["verify"][..], &["init", "--yes"], &["rotate", "--offline", "--yes"]] {
        let ran = desk.seal(words);
        assert!(ran.code == 1 || ran.code == 2, "{ran:?}");
    }
    fs::remove_file(desk.path("coldstart.yaml")).unwrap();
    fifo(&desk, ".coldstart-aaaaaa");
    fs::remove_file(desk.path("keys.age.lock")).unwrap();
    fifo(&desk, "keys.age.lock");
    desk.write("sealed.yaml", &desk.sealed("k1", LOGIN));
    let ran = desk.seal(&["init", "--adopt", "k2.pem", "--yes"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    desk.seal(&["reseal", "--yes"]).exits(0);
}

/// A program that a repository configures is its owner's to run, and not `verify`'s.
#[test]
fn verify_runs_nothing_that_a_repository_configures() {
    let desk = Desk::with_key("k1");
    desk.git(&["init", "--quiet"]);
    desk.seal(&["init", "--adopt", "k2.pem", "--yes", "--store", "dir:plain"]).exits(0);
    let script = desk.path("watch.sh");
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", desk.path("ran").display())).unwrap();
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    desk.git(&["config", "core.fsmonitor", script.to_str().unwrap()]);
    desk.seal(&["verify", "--store", "dir:plain"]);
    assert!(!desk.path("ran").exists());
}

#[test]
fn a_stale_lock_of_git_is_found_before_a_key_is_made() {
    let desk = Desk::with_key("k1");
    desk.git(&["init", "--quiet"]);
    desk.write("sealed.yaml", &desk.sealed("k1", LOGIN));
    desk.git(&["add", "sealed.yaml"]);
    desk.git(&["commit", "--quiet", "--message", "x"]);
    desk.write(".git/index.lock", "");
    desk.seal(&["rotate", "--offline", "--yes", "--commit", "--bits", "2048"])
        .exits(2)
        .says("index.lock")
        .says("nothing was done")
        .says("next:");
    assert_eq!(desk.ring().keys().len(), 1);
}

/// Each item that does not open costs a decryption with every key, and to find out where it belongs a hundred more. The story's own
/// limit of time tells.
#[test]
fn many_items_that_do_not_open_and_many_keys_are_told_soon() {
    use seal::store::{Directory, Revision, Store as _};
    let desk = Desk::new();
    let now = time::OffsetDateTime::now_utc();
    let mut ring = seal::Ring::default();
    for day in 0..8 {
        let begins = now - time::Duration::days(10 - day);
        let wanted = seal::key::GenerateOptions { bits: 2048, ..seal::key::GenerateOptions::at(begins) };
        ring.add(seal::key::generate(&wanted).unwrap(), begins).unwrap();
    }
    Directory::new(desk.path("keys")).write(&ring, &Revision::Nothing).unwrap();
    let of = |key: &seal::key::KeyPair, number: usize| {
        let login = LOGIN.replace("name: login", &format!("name: login-{number}"));
        let node = yaml::parse_value(source::FileId(0), &login).unwrap();
        let secret = seal::manifest::SecretManifest::of(&node).unwrap();
        secret.to_sealed_yaml(key.certificate(), seal::Scope::Strict).unwrap()
    };
    let foreign = sealing::key("k1");
    let closed: String = (0..1500).map(|number| of(&foreign, number)).collect();
    desk.write("a-closed.yaml", &closed);
    let newest = ring.newest().unwrap();
    desk.write("b-open.yaml", &of(newest, 9000));
    let ran = desk.seal(&["verify", "--store", "dir:keys", "--format", "json"]).exits(1);
    let not_tried = ran.stdout.matches("the others were not tried").count();
    assert!(not_tried > 1000, "{not_tried}");
    assert!(!ran.stdout.contains("login-9000"), "what opens is still found");
    // The same of one SealedSecret with as many items.
    let items: Vec<String> = (0..600).map(|number| format!("item-{number}: secret")).collect();
    let items = items.join(", ");
    let many =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: many, namespace: apps}}\nstringData: {{{items}}}\n");
    let node = yaml::parse_value(source::FileId(0), &many).unwrap();
    let secret = seal::manifest::SecretManifest::of(&node).unwrap();
    desk.write("a-closed.yaml", &secret.to_sealed_yaml(foreign.certificate(), seal::Scope::Strict).unwrap());
    let ran = desk.seal(&["verify", "--store", "dir:keys", "--format", "json"]).exits(1);
    let not_tried = ran.stdout.matches("the others were not tried").count();
    assert!((400..600).contains(&not_tried), "{not_tried}");
}

#[test]
fn reseal_stops_at_what_verify_calls_malformed() {
    let desk = Desk::with_key("k1");
    desk.write("good.yaml", &desk.sealed("k1", LOGIN));
    let bad = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {name: a, namespace: b}\nspec: {encryptedData: {a: [1]}}\n";
    desk.write("bad.yaml", bad);
    desk.seal(&["verify"]).exits(1).says("a value of `encryptedData` is not text");
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    for words in [&["reseal", "--yes"][..], &["rotate", "--offline", "--yes", "--bits", "2048"]] {
        desk.seal(words)
            .exits(2)
            .says("bad.yaml:3: a value of `encryptedData` is not text")
            .says("next: coldstart seal verify");
    }
    assert_eq!(desk.ring().keys().len(), 2, "no key was made");
}
