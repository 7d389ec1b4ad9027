//! Keys and certificates in the place of marks: bytes alone do not come upon any. They are those of the crate's vectors, made for
//! tests alone.

use std::fmt::Display;
use std::sync::LazyLock;

const VECTORS: &str = include_str!("../crates/seal/tests/data/sealed-secrets-vectors.json");
/// A text that is filled with more than this is only slow.
const TEXT_BYTES_MAX: usize = 64 * 1024;

struct Planted {
    /// What stands for what.
    marks: Vec<(String, String)>,
    /// Lines of private keys.
    secrets: Vec<String>,
}

static PLANTED: LazyLock<Planted> = LazyLock::new(|| {
    let vectors: serde_json::Value = serde_json::from_str(VECTORS).expect("the vectors are JSON");
    let (mut marks, mut secrets, mut ring) = (Vec::new(), Vec::new(), Vec::new());
    for (index, name) in ["k1", "k2"].into_iter().enumerate() {
        let field = |field: &str| vectors["keys"][name][field].as_str().expect("a vector has its fields").to_owned();
        let key = pem("PRIVATE KEY", &field("test_key_pkcs8_der_b64"));
        let certificate = pem("CERTIFICATE", &field("certificate_der_b64"));
        secrets.extend(key.lines().filter(|line| line.len() == 64).map(str::to_owned));
        ring.push(serde_json::json!({"added": "2026-01-02T03:04:05Z", "certificate": certificate, "private_key": key}));
        for (mark, text) in [(format!("KEY{index}"), key), (format!("CRT{index}"), certificate)] {
            let escaped = serde_json::Value::String(text.clone()).to_string();
            marks.push((format!("@B{mark}@"), base64(text.as_bytes())));
            marks.push((format!("@J{mark}@"), escaped));
            marks.push((format!("@{mark}@"), text));
        }
    }
    let ring = serde_json::json!({"version": 1, "keys": ring}).to_string();
    marks.push(("@RING@".to_owned(), serde_json::Value::String(ring).to_string()));
    Planted { marks, secrets }
});

fn pem(what: &str, base64: &str) -> String {
    let lines: Vec<&str> = base64.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {what}-----\n{}\n-----END {what}-----\n", lines.join("\n"))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |chunk: &[u8], at: usize| {
        let bits = chunk.iter().chain([0, 0].iter()).take(3).fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        if at > chunk.len() { '=' } else { char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]) }
    };
    bytes.chunks(3).flat_map(|chunk| (0..4).map(move |at| digit(chunk, at))).collect()
}

/// The text with what its marks stand for.
pub fn fill(text: &str) -> String {
    let mut text = text.to_owned();
    for (mark, planted) in &PLANTED.marks {
        if text.contains(mark.as_str()) {
            text = text.replace(mark.as_str(), planted);
        }
        if text.len() > TEXT_BYTES_MAX {
            break;
        }
    }
    text
}

/// No error says anything of a private key.
pub fn is_not_repeated(error: &impl Display) {
    let said = error.to_string();
    assert!(!PLANTED.secrets.iter().any(|secret| said.contains(secret.as_str())));
}
