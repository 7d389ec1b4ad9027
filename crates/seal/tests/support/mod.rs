//! Throwaway keys for tests: made for the vectors in `data/`, never to be used for anything else. Generating keys takes
//! long, and is the point of few tests.
#![allow(dead_code, clippy::unwrap_used, reason = "each test uses its own part, and helpers of tests are tests")]

use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use coldstart_seal::SecretBytes;
use coldstart_seal::key::{Certificate, KeyPair};
use serde_json::Value;

pub(crate) fn vectors() -> Value {
    serde_json::from_str(include_str!("../data/sealed-secrets-vectors.json")).unwrap()
}

pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    STANDARD.decode(value.as_str().unwrap()).unwrap()
}

/// `k1` (2048 bits, 2026 to 2035), `k2` (4096 bits, from a month later) or `k3_expired`.
pub(crate) fn key(name: &str) -> KeyPair {
    let key = &vectors()["keys"][name];
    let certificate = Certificate::from_der(bytes(&key["certificate_der_b64"])).unwrap();
    KeyPair::new(SecretBytes::new(bytes(&key["test_key_pkcs8_der_b64"])), certificate).unwrap()
}

/// Runs a program to its end: what it printed, or what it complained of.
pub(crate) fn run(command: &mut Command, input: &[u8]) -> Result<String, String> {
    use std::io::Write as _;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Some end before they have read everything.
    let _early = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// A story that this machine can't tell is named, not passed over in silence.
#[expect(clippy::print_stderr, reason = "the reader of a test run must see it")]
pub(crate) fn skipped(what: &str) {
    eprintln!("SKIPPED: {what}");
}

/// A program of the lab, or a loud word that the test `name` is skipped.
pub(crate) fn tool(name: &str, tool: lab::build::Tool) -> Option<std::path::PathBuf> {
    match lab::build::binary(tool) {
        Ok(path) => Some(path),
        Err(missing) => {
            let required =
                std::env::var_os("COLDSTART_LAB").is_some_and(|value| value == "required" || value == "full");
            assert!(!required, "{name}: {missing}");
            skipped(&format!("{name}: {missing}"));
            None
        }
    }
}
