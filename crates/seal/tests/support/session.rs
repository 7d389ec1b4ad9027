//! A session bus of its own with a real keyring, for tests of whatever talks to the Secret Service. Shared with the tests of the
//! command.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its own part, and helpers of tests are tests")]

use std::process::{Command, Stdio};

/// Starts a keyring that is unlocked, then what it is told. The daemon goes into the background before it answers and
/// before its collection is there: on a busy machine that takes longer than starting a test. Who asks it earlier has the
/// bus start a second one, which is locked.
const SESSION: &str = r#"
printf secret | gnome-keyring-daemon "$@" --unlock --components=secrets >/dev/null 2>&1 || exit 1
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
"#;

/// Set inside of a session that a test made: whoever runs all ignored tests does not want their own keyring written to.
pub(crate) const OWN_SESSION: &str = "COLDSTART_OWN_SESSION";

pub(crate) fn is_own() -> bool {
    std::env::var_os(OWN_SESSION).is_some()
}

pub(crate) fn is_there(program: &str) -> bool {
    Command::new("sh").args(["-c", "command -v \"$1\" >/dev/null", "sh", program]).status().is_ok_and(|s| s.success())
}

/// What a test that needs a keyring does not find here, with the words for whoever reads that it was skipped.
pub(crate) fn missing(name: &str) -> Option<String> {
    let needed = ["dbus-run-session", "dbus-send", "gnome-keyring-daemon", "secret-tool"];
    let missing = needed.into_iter().find(|program| !is_there(program))?;
    Some(format!("{name}: no {missing} (Debian: dbus-daemon, gnome-keyring, libsecret-tools)"))
}

/// Runs an ignored test of this program inside of a session with a keyring that is unlocked.
pub(crate) fn with_keyring(name: &str) {
    with(name, &format!("set --\n{SESSION}"));
}

/// The same with a bus that starts a keyring when somebody asks for it, and that has none yet.
pub(crate) fn with_nothing(name: &str) {
    with(name, "");
}

fn with(name: &str, before: &str) {
    let home = tempfile::tempdir().unwrap();
    let program = std::env::current_exe().unwrap();
    let script = format!("{before}\nexec '{}' '{name}' --exact --ignored --nocapture", program.to_str().unwrap());
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "sh", "-c", &script]);
    command.env(OWN_SESSION, "1").env("HOME", home.path());
    // Nobody sits here: no question of the keyring reaches anybody.
    for variable in ["XDG_DATA_HOME", "XDG_RUNTIME_DIR", "DISPLAY", "WAYLAND_DISPLAY"] {
        command.env_remove(variable);
    }
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Locks the keyring, as a screen that is locked or a time that has passed does.
pub(crate) fn lock() {
    let mut command = Command::new("dbus-send");
    command.args(["--session", "--print-reply", "--dest=org.freedesktop.secrets", "/org/freedesktop/secrets"]);
    command.arg("org.freedesktop.Secret.Service.Lock");
    let output = command.arg("array:objpath:/org/freedesktop/secrets/collection/login").output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("collection/login"), "{output:?}");
}

/// Unlocks it in the way that messages tell, without a desktop.
pub(crate) fn unlock() {
    let status = Command::new("sh").args(["-c", &format!("set -- --replace\n{SESSION}")]).status();
    assert!(status.unwrap().success());
}

/// An item as `secret-tool store` makes it.
pub(crate) fn store_item(attributes: &[&str], text: &str) {
    use std::io::Write as _;
    let mut command = Command::new("secret-tool");
    command.args(["store", "--label=test"]).args(attributes).stdin(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
}
