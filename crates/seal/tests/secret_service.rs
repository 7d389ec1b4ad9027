//! The Secret Service store against a real keyring daemon, in a session bus of its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

#[path = "support/session.rs"]
mod session;
mod support;

use std::process::Command;

use coldstart_seal::key::from_text;
use coldstart_seal::store::{Keyring, Patience, StoreError, keep, secret_tool_items};
use support::{key, run, skipped};
use time::OffsetDateTime;

/// Runs one of the ignored tests below inside of a session.
fn inside_of(run: fn(&str), name: &str) {
    match session::missing(name) {
        Some(why) => skipped(&why),
        None => run(name),
    }
}

#[test]
fn the_secret_service_keeps_keys() {
    inside_of(session::with_keyring, "inside::keys_are_kept_with_history");
}

#[test]
fn items_of_secret_tool_are_adopted() {
    inside_of(session::with_keyring, "inside::items_of_secret_tool");
}

#[test]
fn a_locked_keyring_is_told_from_an_empty_one() {
    inside_of(session::with_keyring, "inside::locked_and_not_empty");
}

#[test]
fn a_question_that_nobody_answers_ends() {
    inside_of(session::with_keyring, "inside::nobody_answers_the_question");
}

#[test]
fn a_service_without_a_keyring_is_told() {
    inside_of(session::with_nothing, "inside::no_keyring_yet");
}

#[test]
fn without_a_bus_the_reason_is_told() {
    if !session::is_there("dbus-run-session") {
        return skipped("without_a_bus_the_reason_is_told: no dbus-run-session");
    }
    // A bus, and no keyring behind it.
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("dbus-run-session");
    let config = home.path().join("bus.conf");
    // No services are started by this bus, whatever is installed.
    std::fs::write(
        &config,
        "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><policy context=\"default\"><allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>",
    )
    .unwrap();
    command.arg(format!("--config-file={}", config.display())).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["inside::nobody_answers", "--exact", "--ignored", "--nocapture"]);
    command.env(session::OWN_SESSION, "1").env("HOME", home.path());
    let said = run(&mut command, b"").unwrap_or_else(|said| panic!("{said}"));
    assert!(said.contains("1 passed"), "{said}");
}

/// Only good inside of a session.
mod inside {
    use std::time::{Duration, Instant};

    use super::{Keyring, OffsetDateTime, Patience, StoreError, from_text, keep, key, secret_tool_items, session};
    use coldstart_seal::store::Store as _;
    use diagnostic::{Next, next};

    const SECONDS_MAX: u64 = 10;

    fn store(name: &str) -> Keyring {
        Keyring::new(name, std::env::temp_dir().join(format!("coldstart-keyring-{}.lock", std::process::id())))
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn keys_are_kept_with_history() {
        if !session::is_own() {
            return;
        }
        let store = store("home");
        for name in ["k1", "k2"] {
            let before = store.read().unwrap();
            let mut ring = store.read().unwrap().ring;
            ring.add(key(name), OffsetDateTime::now_utc()).unwrap();
            keep(&store, &ring, &before).unwrap();
            let told = store.write(&ring, &before.revision).unwrap_err();
            assert!(matches!(told, StoreError::Changed { .. }), "{told}");
        }
        assert_eq!(store.read().unwrap().ring.keys().len(), 2);
        assert!(self::store("other").read().unwrap().ring.is_empty());
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn items_of_secret_tool() {
        if !session::is_own() {
            return;
        }
        assert!(secret_tool_items(&Patience::default()).unwrap().is_none());
        let pair = key("k1");
        let of = |key| ["service", "sealed-secrets", "key", key];
        session::store_item(&of("private_key"), pair.private_key_pem().expose());
        assert!(secret_tool_items(&Patience::default()).unwrap().is_none(), "one of two is none");
        session::store_item(&of("public_key"), &pair.certificate().to_pem());
        let text = secret_tool_items(&Patience::default()).unwrap().unwrap();
        let found = from_text(text.expose_text().unwrap()).unwrap();
        assert_eq!(found[0].pair.fingerprint(), pair.fingerprint());
    }

    /// What is kept is there, and so is the way to it: in no time where nobody can be asked.
    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn locked_and_not_empty() {
        if !session::is_own() {
            return;
        }
        let store = store("home");
        let nothing = store.read().unwrap();
        let mut ring = store.read().unwrap().ring;
        ring.add(key("k1"), OffsetDateTime::now_utc()).unwrap();
        keep(&store, &ring, &nothing).unwrap();
        let before = store.read().unwrap();
        let pair = key("k1");
        let of = |key| ["service", "sealed-secrets", "key", key];
        session::store_item(&of("private_key"), pair.private_key_pem().expose());
        session::store_item(&of("public_key"), &pair.certificate().to_pem());

        session::lock();
        let started = Instant::now();
        ring.add(key("k2"), OffsetDateTime::now_utc()).unwrap();
        // An item that is not there can't be told from one that is not shown.
        let told = [
            store.read().unwrap_err(),
            store.probe().unwrap_err(),
            store.write(&ring, &before.revision).unwrap_err(),
            self::store("other").read().unwrap_err(),
            self::store("other").write(&ring, &nothing.revision).unwrap_err(),
        ];
        for told in told {
            assert!(matches!(told, StoreError::Locked { .. }), "{told:?}");
            assert_eq!(told.next(), Next::Store(next::Store::UnlockKeyring));
            let told = told.to_string();
            assert!(told.contains("is locked: it was not unlocked"), "{told}");
        }
        let told = secret_tool_items(&Patience::default()).unwrap_err();
        assert_eq!(told.next(), Some(Next::Store(next::Store::UnlockKeyring)));
        assert!(told.to_string().contains("it was not unlocked"), "{told}");
        assert!(started.elapsed() < Duration::from_secs(SECONDS_MAX), "{:?}", started.elapsed());

        session::unlock();
        let after = store.read().unwrap();
        assert_eq!(after.revision, before.revision, "it is as it was");
        assert!(self::store("other").read().unwrap().ring.is_empty());
        keep(&store, &ring, &after).unwrap();
    }

    /// A desktop that shows the question to nobody.
    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn nobody_answers_the_question() {
        if !session::is_own() {
            return;
        }
        let patience = Patience { at_most: Duration::from_secs(3), notice: |left| NOTICED.lock().unwrap().push(left) };
        let store = store("home").with_patience(patience);
        let nothing = store.read().unwrap();
        let mut ring = store.read().unwrap().ring;
        ring.add(key("k1"), OffsetDateTime::now_utc()).unwrap();
        keep(&store, &ring, &nothing).unwrap();
        let before = store.read().unwrap();
        assert!(NOTICED.lock().unwrap().is_empty(), "nobody had to wait");
        assert!(store.is_unlocked());
        session::lock();
        // Whoever has this name gets the questions, and this one lets them lie.
        let prompter = zbus::blocking::connection::Builder::session().unwrap();
        let prompter = prompter.name("org.gnome.keyring.SystemPrompter").unwrap().build().unwrap();
        let started = Instant::now();
        assert!(!store.is_unlocked());
        assert!(NOTICED.lock().unwrap().is_empty(), "that asks nobody");
        ring.add(key("k2"), OffsetDateTime::now_utc()).unwrap();
        for told in [store.read().unwrap_err(), store.write(&ring, &before.revision).unwrap_err()] {
            assert!(matches!(told, StoreError::Silent { .. }), "{told:?}");
            assert_eq!(told.next(), Next::Store(next::Store::UnlockKeyring));
            let told = told.to_string();
            assert!(told.contains("does not answer: no answer for 3 s"), "{told}");
        }
        let told = secret_tool_items(&patience).unwrap_err();
        assert!(told.to_string().contains("no answer for 3 s"), "{told}");
        assert!(started.elapsed() < Duration::from_secs(3 * SECONDS_MAX), "{:?}", started.elapsed());
        let noticed = NOTICED.lock().unwrap().clone();
        assert_eq!(noticed.first().map(Duration::as_secs), Some(1), "{noticed:?}");
        drop(prompter);
        session::unlock();
        assert_eq!(store.read().unwrap().revision, before.revision, "it is as it was");
    }

    static NOTICED: std::sync::Mutex<Vec<Duration>> = std::sync::Mutex::new(Vec::new());

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn no_keyring_yet() {
        if !session::is_own() {
            return;
        }
        let told = store("home").read().unwrap_err();
        assert_eq!(told.next(), Next::Store(next::Store::SessionOrOther));
        assert!(told.to_string().contains("there is no keyring in it yet"), "{told}");
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn nobody_answers() {
        if !session::is_own() {
            return;
        }
        let told = store("home").read().unwrap_err();
        assert!(told.to_string().contains("the Secret Service"), "{told}");
    }
}
