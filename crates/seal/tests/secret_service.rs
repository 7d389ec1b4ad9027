//! The Secret Service store against a real keyring daemon, in a session bus of its own.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::process::Command;

use coldstart_seal::key::from_text;
use coldstart_seal::store::{Keyring, StoreError, keep, secret_tool_items};
use support::{key, run, skipped};
use time::OffsetDateTime;

/// Starts a keyring that is unlocked, then what it is told. The daemon goes into the background before it answers and
/// before its collection is there: on a busy machine that takes longer than starting a test. Who asks it earlier has the
/// bus start a second one, which is locked.
const SESSION: &str = r#"
printf secret | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1 || exit 1
answers() {
  dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:org.freedesktop.secrets 2>/dev/null | grep -q 'boolean true'
}
is_unlocked() {
  dbus-send --session --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets/collection/login \
    org.freedesktop.DBus.Properties.Get string:org.freedesktop.Secret.Collection string:Locked 2>/dev/null \
    | grep -q 'boolean false'
}
tries=0
until { answers && is_unlocked; } || [ "$tries" -ge 100 ]; do
  tries=$((tries + 1))
  sleep 0.1
done
exec "$@"
"#;

fn is_there(program: &str) -> bool {
    Command::new("sh").args(["-c", "command -v \"$1\" >/dev/null", "sh", program]).status().is_ok_and(|s| s.success())
}

/// Set inside of a session that a test made: whoever runs all ignored tests does not want their own keyring written to.
const OWN_SESSION: &str = "COLDSTART_OWN_SESSION";

/// Runs one of the ignored tests below inside of a session.
fn in_a_session(name: &str) {
    if let Some(missing) = ["dbus-run-session", "gnome-keyring-daemon"].into_iter().find(|program| !is_there(program)) {
        return skipped(&format!("{name}: no {missing} (Debian: dbus-daemon, gnome-keyring)"));
    }
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", SESSION, "sh"]).arg(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture"]);
    command.env(OWN_SESSION, "1").env("HOME", home.path()).env_remove("XDG_DATA_HOME").env_remove("XDG_RUNTIME_DIR");
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn the_secret_service_keeps_keys() {
    in_a_session("inside::keys_are_kept_with_history");
}

#[test]
fn items_of_secret_tool_are_adopted() {
    if !is_there("secret-tool") {
        return skipped("items_of_secret_tool_are_adopted: no secret-tool (Debian: libsecret-tools)");
    }
    in_a_session("inside::items_of_secret_tool");
}

#[test]
fn without_a_bus_the_reason_is_told() {
    if !is_there("dbus-run-session") {
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
    command.env(OWN_SESSION, "1").env("HOME", home.path());
    let said = run(&mut command, b"").unwrap_or_else(|said| panic!("{said}"));
    assert!(said.contains("1 passed"), "{said}");
}

/// Only good inside of a session.
mod inside {
    use super::{Command, Keyring, OffsetDateTime, StoreError, from_text, keep, key, run, secret_tool_items};
    use coldstart_seal::store::Store as _;

    fn is_own_session() -> bool {
        std::env::var_os(super::OWN_SESSION).is_some()
    }

    fn store(name: &str) -> Keyring {
        Keyring::new(name, std::env::temp_dir().join(format!("coldstart-keyring-{}.lock", std::process::id())))
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn keys_are_kept_with_history() {
        if !is_own_session() {
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
        if !is_own_session() {
            return;
        }
        assert!(secret_tool_items().unwrap().is_none());
        let pair = key("k1");
        let put = |name: &str, text: &str| {
            let mut command = Command::new("secret-tool");
            command.args(["store", "--label=test", "service", "sealed-secrets", "key", name]);
            run(&mut command, text.as_bytes()).unwrap();
        };
        put("private_key", pair.private_key_pem().expose());
        put("public_key", &pair.certificate().to_pem());
        let text = secret_tool_items().unwrap().unwrap();
        let found = from_text(text.expose_text().unwrap()).unwrap();
        assert_eq!(found[0].pair.fingerprint(), pair.fingerprint());
    }

    #[test]
    #[ignore = "run by another test, in a session of its own"]
    fn nobody_answers() {
        if !is_own_session() {
            return;
        }
        let told = store("home").read().unwrap_err();
        assert!(told.to_string().contains("the Secret Service"), "{told}");
    }
}
