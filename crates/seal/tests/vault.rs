//! The Vault store against the documented contract of a key-value engine of version 2, played by a server of our own:
//! paths, headers, bodies and status codes are those of the API's documentation. The ignored test tells the same story to a real
//! server that may be thrown away, with an engine of version 2 at `secret`: it is sealed in the end.
//! `VAULT_ADDR=http://… VAULT_TOKEN=… cargo test -p coldstart-seal --test vault -- --ignored`

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "support/played_vault.rs"]
mod played_vault;
mod support;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

use coldstart_seal::SecretBytes;
use coldstart_seal::store::{Store as _, StoreError, Vault, VaultAddress, keep};
use diagnostic::Next;
use diagnostic::next::Program;
use played_vault::{Engine, TOKEN, serve};
use serde_json::json;
use support::key;
use time::OffsetDateTime;

fn vault(url: &str, token: &str) -> Vault {
    vault_at(url, token, "secret/clusters/home")
}

fn vault_at(url: &str, token: &str, place: &str) -> Vault {
    let address =
        VaultAddress { url: url.to_owned(), token: SecretBytes::from(token), namespace: None, authority: None };
    Vault::new(address, place).unwrap()
}

/// Two keys are kept one after the other, and whoever has not seen the first is told.
fn told_of_another_writer(store: &Vault) {
    let (early, mut ring) = (store.read().unwrap(), store.read().unwrap().ring);
    assert!(ring.is_empty());
    ring.add(key("k1"), OffsetDateTime::now_utc()).unwrap();
    keep(store, &ring, &early).unwrap();
    ring.add(key("k2"), OffsetDateTime::now_utc()).unwrap();
    let told = keep(store, &ring, &early).unwrap_err();
    assert!(matches!(told, StoreError::Changed { .. }), "{told}");
    keep(store, &ring, &store.read().unwrap()).unwrap();
    assert_eq!(store.read().unwrap().ring.keys().len(), 2);
}

/// A path that was never written is empty; an engine that is not there is an error, not an empty store.
fn told_of_a_missing_engine(url: &str, token: &str) {
    assert!(vault_at(url, token, "secret/clusters/other").read().unwrap().ring.is_empty());
    let missing = vault_at(url, token, "other/clusters/home").read().unwrap_err();
    assert!(missing.to_string().contains("there is no such engine"), "{missing}");
}

#[test]
fn vault_keeps_versions_and_tells_the_second_writer() {
    let engine = Arc::new(Mutex::new(Engine::default()));
    let store = vault(&serve(Arc::clone(&engine)), TOKEN);
    told_of_another_writer(&store);
    let engine = engine.lock().unwrap();
    assert_eq!(engine.versions.len(), 2);
    assert!(engine.asked.iter().all(|asked| asked.ends_with(" /v1/secret/data/clusters/home")), "{:?}", engine.asked);
}

#[test]
fn refusals_say_why_and_not_what() {
    let engine = Arc::new(Mutex::new(Engine::default()));
    let url = serve(Arc::clone(&engine));
    told_of_a_missing_engine(&url, TOKEN);
    let denied = vault(&url, "hvs.other-token").read().unwrap_err();
    assert!(denied.to_string().contains("the token has no permission"), "{denied}");
    engine.lock().unwrap().sealed = true;
    let sealed = vault(&url, TOKEN).read().unwrap_err();
    assert!(sealed.to_string().contains("the server is sealed"), "{sealed}");
    assert_eq!(sealed.next(), Next::Program(Program::VaultStatus));
    *engine.lock().unwrap() = Engine { deleted: true, versions: vec![json!({})], ..Engine::default() };
    let deleted = vault(&url, TOKEN).read().unwrap_err();
    let (mount, path) = ("secret".to_owned(), "clusters/home".to_owned());
    assert_eq!(deleted.next(), Next::Program(Program::VaultUndelete { mount, version: 1, path }));
    *engine.lock().unwrap() = Engine { versions: vec![json!({"password": "planted"})], ..Engine::default() };
    let foreign = vault(&url, TOKEN).read().unwrap_err();
    let away = vault("http://127.0.0.1:1", TOKEN).read().unwrap_err();
    let said = format!("{denied:?}{sealed:?}{deleted:?}{foreign}{foreign:?}{away}{away:?}{:?}", vault(&url, TOKEN));
    assert!(!said.contains("planted") && !said.contains("hvs."), "{said}");
}

/// A request that the store itself never makes.
fn ask(url: &str, token: &str, what: &str) {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("{what} HTTP/1.1\r\nHost: {host}\r\nX-Vault-Token: {token}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 2"), "{what}: {answer}");
}

#[test]
#[ignore = "needs a real server that may be thrown away"]
fn a_real_server_says_what_the_played_one_says() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let (url, token) = (variable("VAULT_ADDR"), variable("VAULT_TOKEN"));
    told_of_a_missing_engine(&url, &token);
    let store = vault(&url, &token);
    told_of_another_writer(&store);
    let denied = vault(&url, "hvs.other-token").read().unwrap_err();
    assert!(denied.to_string().contains("the token has no permission"), "{denied}");
    ask(&url, &token, "DELETE /v1/secret/data/clusters/home");
    let deleted = store.read().unwrap_err();
    let (mount, path) = ("secret".to_owned(), "clusters/home".to_owned());
    assert_eq!(deleted.next(), Next::Program(Program::VaultUndelete { mount, version: 2, path }), "{deleted}");
    ask(&url, &token, "PUT /v1/sys/seal");
    let sealed = store.read().unwrap_err();
    assert!(sealed.to_string().contains("the server is sealed"), "{sealed}");
    assert_eq!(sealed.next(), Next::Program(Program::VaultStatus));
}

#[test]
fn places_are_a_mount_and_a_path() {
    let address =
        || VaultAddress { url: String::new(), token: SecretBytes::from("t"), namespace: None, authority: None };
    for bad in ["", "secret", "secret/", "secret/../sys", "se cret/a", "secret/a?b"] {
        assert!(Vault::new(address(), bad).is_none(), "{bad}");
    }
}
