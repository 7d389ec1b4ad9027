//! `coldstart seal` with keys in a real keyring, in a Vault that a server of ours plays, and from where Terraform and `secret-tool` have
//! them.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

#[path = "../../seal/tests/support/played_vault.rs"]
mod played_vault;
mod sealing;
#[cfg(target_os = "linux")]
#[path = "../../seal/tests/support/session.rs"]
mod session;
mod story;

use std::sync::{Arc, Mutex};

use played_vault::{Engine, TOKEN, serve};
use sealing::{Desk, LOGIN, key};
use serde_json::{Value, json};
use story::Ran;

const PASSWORD: [&str; 9] =
    ["secret", "--name", "login", "--namespace", "apps", "--from-env", "password=LOGIN", "--out", "login.yaml"];

/// A Vault, and a desk that knows where it is.
struct Vault {
    desk: Desk,
    engine: Arc<Mutex<Engine>>,
    url: String,
}

impl Vault {
    fn new() -> Self {
        let engine = Arc::new(Mutex::new(Engine::default()));
        Self { desk: Desk::new(), url: serve(Arc::clone(&engine)), engine }
    }

    #[track_caller]
    fn seal_as(&self, token: &str, words: &[&str]) -> Ran {
        let mut command = self.desk.plain_command(words);
        if !words.contains(&"--store") {
            command.args(["--store", "vault:secret/clusters/home"]);
        }
        self.desk.run(command.env("VAULT_ADDR", &self.url).env("VAULT_TOKEN", token).env("LOGIN", "hunter2"))
    }

    #[track_caller]
    fn seal(&self, words: &[&str]) -> Ran {
        self.seal_as(TOKEN, words)
    }

    fn versions(&self) -> Vec<Value> {
        self.engine.lock().unwrap().versions.clone()
    }
}

#[test]
fn keys_live_in_vault_and_come_back_from_a_backup() {
    let vault = Vault::new();
    let (store, id) = (format!("the Vault path secret/clusters/home at {}", vault.url), vault.desk.id("k1"));
    let made = vault.seal(&["init", "--adopt", "k1.pem", "--certificate", "sealing.crt", "--yes"]).exits(0);
    made.says(&format!("keep it in {store}\n"))
        .says(&format!("kept key {id}"))
        .says("wrote the certificate to sealing.crt");
    assert_eq!(vault.versions().len(), 1);
    vault.seal(&PASSWORD).exits(0).says("login.yaml: sealed apps/login (1 item)");
    vault.seal(&["verify"]).exits(0).says("1 SealedSecret, 1 item: 1 open");

    let backup = ["backup", "age:copy.age", "--backup-identity", "identity.txt", "--yes"];
    let copied = vault.seal(&backup).exits(0);
    assert_eq!(
        copied.stdout,
        format!(
            "copy key {id}\nfrom {store}\nto the age file copy.age\nverified: the age file copy.age gives back the key, and it opens what it seals\n"
        )
    );
    // The server is lost, and the path begins anew.
    *vault.engine.lock().unwrap() = Engine::default();
    vault.seal(&["verify"]).exits(2).says("the store holds no key").says("next: coldstart seal restore STORE");
    vault.seal(&["init", "--yes"]).exits(2).says("there was one: login.yaml was sealed with one");
    vault
        .seal(&["restore", "age:copy.age", "--backup-identity", "identity.txt", "--yes"])
        .exits(0)
        .says(&format!("verified: {store} gives back the key"));
    vault.seal(&["verify"]).exits(0).says("1 item: 1 open");
    // A new key is a new version beside the old key.
    vault.seal(&["rotate", "--offline", "--bits", "2048", "--yes"]).exits(0).says("sealed 1 file again");
    assert_eq!(vault.versions().len(), 2);
    vault.seal(&["verify"]).exits(0).says("1 item: 1 open");
}

#[test]
fn a_vault_that_gives_nothing_says_what_to_type() {
    let vault = Vault::new();
    let init = ["init", "--adopt", "k1.pem", "--yes"];
    vault
        .seal_as("hvs.other", &init)
        .exits(2)
        .says("the token has no permission (permission denied)")
        .says("next: vault token lookup");
    vault.engine.lock().unwrap().sealed = true;
    vault.seal(&init).exits(2).says("the server is sealed").says("next: vault status");
    vault.engine.lock().unwrap().sealed = false;
    vault.seal(&[&init[..], &["--store", "vault:other/a"]].concat()).exits(2).says("next: vault secrets list");
    vault
        .seal(&[&init[..], &["--store", "vault:secret"]].concat())
        .exits(2)
        .says("`vault:secret` is not MOUNT/PATH")
        .says("next: ");
    assert!(vault.versions().is_empty(), "nothing was written");
    vault.engine.lock().unwrap().versions = vec![json!({"password": "planted"})];
    let foreign = vault.seal(&init).exits(2).says("it was not written by coldstart").says("next: ");
    assert!(!foreign.stderr.contains("planted"), "{}", foreign.stderr);
    let desk = &vault.desk;
    let store = ["--store", "vault:secret/clusters/home"];
    let nowhere = || desk.plain_command(&[&init[..], &store].concat());
    desk.run(&mut nowhere()).exits(2).says("no address of a Vault server").says("next: export VAULT_ADDR");
    desk.run(nowhere().env("VAULT_ADDR", &vault.url)).exits(2).says("no token").says("next: vault login");
    let mut closed = nowhere();
    closed.env("VAULT_ADDR", "http://127.0.0.1:9").env("VAULT_TOKEN", TOKEN);
    desk.run(&mut closed).exits(2).says("can't be read").says("next: vault status");
}

/// What `terraform output -json` prints, with outputs of other things.
fn output(name: &str) -> Value {
    let pair = key(name);
    json!({
        "endpoint": {"sensitive": false, "type": "string", "value": "https://10.0.3.1:6443"},
        "sealed_secrets_private_key": {"sensitive": true, "type": "string", "value": pair.private_key_pem().expose()},
        "sealed_secrets_certificate": {"sensitive": true, "type": "string", "value": pair.certificate().to_pem()},
    })
}

/// A state as Terraform keeps it: the pair of a name, and a key that is for something else.
fn state(names: &[&str]) -> Value {
    let mut resources = vec![json!({"type": "random_password", "instances": [{"attributes": {"result": "x"}}]})];
    for name in names {
        let pair = key(name);
        resources.push(json!({"type": "tls_self_signed_cert", "name": name, "instances": [
            {"attributes": {"cert_pem": pair.certificate().to_pem(), "private_key_pem": pair.private_key_pem().expose()}}]}));
    }
    json!({"version": 4, "terraform_version": "1.9.5", "resources": resources})
}

#[test]
fn keys_are_adopted_from_terraforms_output_and_state() {
    let desk = Desk::new();
    let id = desk.id("k1");
    let adopted = desk.seal_with(&["init", "--adopt", "-", "--yes"], &output("k1").to_string()).exits(0);
    adopted
        .says(&format!("adopt key {id}"))
        .says("from sealed_secrets_certificate.value")
        .says(&format!("kept key {id}"));
    desk.seal_with(&["init", "--adopt", "-", "--yes"], &output("k1").to_string()).exits(0).says("nothing to adopt");

    desk.write("terraform.tfstate", &state(&["k2"]).to_string());
    desk.seal(&["init", "--adopt", "terraform.tfstate", "--yes"])
        .exits(0)
        .says("from resources[1].instances[0].attributes.cert_pem")
        .says(&format!("kept key {}", desk.id("k2")));
    assert_eq!(desk.ring().keys().len(), 2);
}

#[test]
fn of_several_pairs_of_a_state_one_is_picked() {
    let desk = Desk::new();
    desk.write("terraform.tfstate", &state(&["k1", "k2"]).to_string());
    let adopt = ["init", "--adopt", "terraform.tfstate", "--yes"];
    let several = desk.seal(&adopt).exits(2).says("there are several pairs in it").says("next: ");
    let place = "resources[2].instances[0].attributes.cert_pem";
    let several = several.says(&format!("{} {place}", desk.id("k2")));
    assert!(!several.stderr.contains("PRIVATE KEY"), "{}", several.stderr);
    assert!(!desk.path("keys.age").exists());
    desk.seal(&[&adopt[..], &["--pick", "nothing"]].concat())
        .exits(2)
        .says("no pair is called `nothing`")
        .says("next: ");
    desk.seal(&[&adopt[..], &["--pick", place]].concat()).exits(0).says(&format!("kept key {}", desk.id("k2")));
    assert_eq!(desk.ring().keys().len(), 1);

    // Cut off on the way, as by a program that failed; and nothing at all.
    let whole = output("k1").to_string();
    let cut = desk.seal_with(&["init", "--adopt", "-", "--yes"], &whole[..whole.len() - 40]).exits(2);
    let cut = cut.says("standard input: it can't be read as YAML or JSON").says("next: ");
    assert!(!cut.stderr.contains(&whole[400..440]), "{}", cut.stderr);
    desk.seal_with(&["init", "--adopt", "-", "--yes"], "{}")
        .exits(2)
        .says("there is no private key in it")
        .says("next: ");
    assert_eq!(desk.ring().keys().len(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn keys_live_in_a_keyring() {
    in_a_session("inside::keyring_from_the_first_key_to_a_restore");
}

#[cfg(target_os = "linux")]
#[test]
fn items_of_secret_tool_become_keys() {
    in_a_session("inside::adoption_of_items");
}

#[cfg(target_os = "linux")]
#[test]
fn a_locked_keyring_loses_nothing() {
    in_a_session("inside::locked");
}

#[cfg(target_os = "linux")]
fn in_a_session(name: &str) {
    match session::missing(name) {
        Some(why) => story::skipped(&why),
        None => session::with_keyring(name),
    }
}

/// Only good inside of a session.
#[cfg(target_os = "linux")]
mod inside {
    use std::fs;
    use std::process::Command;

    use super::{Desk, LOGIN, PASSWORD, Ran, key, session};

    const STORE: &str = "the Secret Service (item `home`)";

    #[track_caller]
    fn seal(desk: &Desk, words: &[&str]) -> Ran {
        let mut command = desk.plain_command(words);
        if !words.contains(&"--store") {
            command.args(["--store", "keyring:home"]);
        }
        desk.run(command.env("LOGIN", "hunter2"))
    }

    fn clear(attributes: &[&str]) {
        assert!(Command::new("secret-tool").arg("clear").args(attributes).status().unwrap().success());
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn keyring_from_the_first_key_to_a_restore() {
        if !session::is_own() {
            return;
        }
        let desk = Desk::new();
        let id = desk.id("k1");
        let made = seal(&desk, &["init", "--adopt", "k1.pem", "--yes"]).exits(0);
        assert_eq!(
            made.stdout,
            format!(
                "adopt key {id} (2048 bits, 2026-01-01 to 2035-12-30)\nkeep it in {STORE}\nkept key {id} (2048 bits, 2026-01-01 to 2035-12-30) in {STORE}\n\
                 next: coldstart seal backup age:<file on another disk>, because a store that is lost is lost for good\n"
            )
        );
        seal(&desk, &["init", "--yes"]).exits(2).says(&format!("{STORE} holds a key already")).says("next: ");
        seal(&desk, &PASSWORD).exits(0).says("login.yaml: sealed apps/login (1 item)");
        seal(&desk, &["verify"]).exits(0).says("1 SealedSecret, 1 item: 1 open");

        let backup = ["backup", "age:copy.age", "--backup-identity", "identity.txt", "--yes"];
        seal(&desk, &backup).exits(0).says("verified: the age file copy.age gives back the key");
        seal(&desk, &["backup", "keyring:home", "--yes"]).exits(2).says("both stores are the same one").says("next: ");
        // Two keyrings of one person are two stores.
        seal(&desk, &["backup", "keyring:other", "--yes"]).exits(0).says("(item `other`) gives back the key");

        clear(&["service", "coldstart", "username", "sealing-keys/home"]);
        seal(&desk, &["verify"]).exits(2).says("the store holds no key").says("next: coldstart seal restore STORE");
        seal(&desk, &["restore", "age:copy.age", "--backup-identity", "identity.txt", "--yes"])
            .exits(0)
            .says(&format!("verified: {STORE} gives back the key"));
        seal(&desk, &["verify"]).exits(0).says("1 item: 1 open");
        seal(&desk, &["rotate", "--offline", "--bits", "2048", "--yes"]).exits(0).says("sealed 1 file again");
        seal(&desk, &["verify"]).exits(0).says("1 item: 1 open");

        // What somebody else wrote over it is told, and not repeated.
        session::store_item(&["service", "coldstart", "username", "sealing-keys/home"], "planted");
        let told = seal(&desk, &["verify"]).exits(2).says("is damaged").says("next: ");
        assert!(!told.stderr.contains("planted"), "{}", told.stderr);
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn adoption_of_items() {
        if !session::is_own() {
            return;
        }
        let desk = Desk::new();
        let pair = key("k1");
        let adopt = ["init", "--adopt-secret-tool", "--yes"];
        let of = |key| ["service", "sealed-secrets", "key", key];
        let missing = "has no items `service sealed-secrets key private_key` and `public_key`";
        desk.seal(&adopt).exits(2).says(missing).says("next: secret-tool search --all service sealed-secrets");
        session::store_item(&of("private_key"), pair.private_key_pem().expose());
        desk.seal(&adopt).exits(2).says(missing);
        // A certificate of another key beside it.
        session::store_item(&of("public_key"), &key("k2").certificate().to_pem());
        desk.seal(&adopt).exits(2).says("the certificate belongs to another private key").says("next: ");
        assert!(!desk.path("keys.age").exists());
        session::store_item(&of("public_key"), &pair.certificate().to_pem());
        desk.seal(&adopt).exits(0).says(&format!("kept key {}", desk.id("k1")));
        desk.seal(&adopt).exits(0).says("nothing to adopt");
        desk.write("login.yaml", &desk.sealed("k1", LOGIN));
        desk.seal(&["verify"]).exits(0).says("1 item: 1 open");
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn locked() {
        if !session::is_own() {
            return;
        }
        let desk = Desk::new();
        seal(&desk, &["init", "--adopt", "k1.pem", "--yes"]).exits(0);
        seal(&desk, &PASSWORD).exits(0);
        let before = fs::read(desk.path("login.yaml")).unwrap();

        session::lock();
        // Each ends by itself, well within the limit that every run of a story has.
        for words in [
            &["verify"][..],
            &["reseal", "--yes"],
            &["rotate", "--offline", "--bits", "2048", "--yes"],
            &["init", "--adopt", "k2.pem", "--yes"],
            &["init", "--adopt", "k2.pem", "--yes", "--store", "keyring:new"],
            &["init", "--adopt", "k2.pem", "--yes", "--store", "dir:keys", "--backup", "keyring:home"],
            &["backup", "dir:copy", "--yes"],
            &["restore", "keyring:home", "--store", "dir:keys", "--yes"],
            &PASSWORD,
        ] {
            seal(&desk, words)
                .exits(2)
                .says("is locked: it was not unlocked")
                .says("next: unlock it, then the same command again")
                .says("--store age:FILE");
        }
        desk.seal(&["init", "--adopt-secret-tool", "--yes"])
            .exits(2)
            .says("it was not unlocked")
            .says("next: unlock it");
        assert_eq!(fs::read(desk.path("login.yaml")).unwrap(), before);
        assert!(!desk.path("copy").exists() && !desk.path("keys").exists() && !desk.path("keys.age").exists());

        session::unlock();
        seal(&desk, &["verify"]).exits(0).says("1 item: 1 open");
        seal(&desk, &["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    }
}
