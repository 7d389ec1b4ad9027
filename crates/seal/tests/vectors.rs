//! Values that upstream's own code sealed, and damaged ones that it refuses.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use coldstart_seal::{Envelope, Ring, Scope};
use support::{bytes, key, vectors};
use time::OffsetDateTime;

fn ring() -> Ring {
    let mut ring = Ring::default();
    for name in ["k1", "k2", "k3_expired"] {
        ring.add(key(name), OffsetDateTime::UNIX_EPOCH).unwrap();
    }
    ring
}

#[test]
fn all_vectors_of_upstream_come_out_as_they_do_there() {
    let (ring, vectors) = (ring(), vectors());
    let (mut opened, mut refused) = (0, 0);
    for vector in vectors["vectors"].as_array().unwrap() {
        let text = |field: &str| vector[field].as_str().unwrap();
        let hex = text("LabelHex");
        let label: Vec<u8> =
            (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
        let id = text("ID");
        if !id.starts_with("no-separator") {
            let scope: Scope = text("Scope").parse().unwrap();
            assert_eq!(scope.label(text("Namespace"), text("Name")), label, "{id}");
        }
        let result = Envelope::from_base64(text("SealedB64")).and_then(|sealed| {
            let (pair, value) = ring.open(&sealed, &label)?;
            Ok((pair.fingerprint(), value))
        });
        if text("Expect") == "ok" {
            let (by, value) = result.unwrap_or_else(|error| panic!("{id}: {error}"));
            assert_eq!(value.expose(), bytes(&vector["PlaintextB64"]), "{id}");
            assert_eq!(by, key(text("Key")).fingerprint(), "{id}");
            opened += 1;
        } else {
            assert!(result.is_err(), "{id} was opened");
            refused += 1;
        }
    }
    assert_eq!((opened, refused), (7, 9));
}

#[test]
fn what_is_sealed_opens_with_its_own_key_and_label_only() {
    let (small, large) = (key("k1"), key("k2"));
    for value in [b"".as_slice(), b"hunter2", &vec![0; 70_000]] {
        for scope in Scope::ALL {
            let label = scope.label("ns", "name");
            let text = large.certificate().seal(&label, value).unwrap().to_base64();
            assert!(text.starts_with("Ag"), "the length of a key of 4096 bits");
            let sealed = Envelope::from_base64(&text).unwrap();
            assert_eq!(sealed.key_bits(), 4096);
            assert_eq!(large.open(&sealed, &label).unwrap().expose(), value);
            assert!(small.open(&sealed, &label).is_none());
            assert!(large.open(&sealed, b"ns/other").is_none());
        }
    }
}

#[test]
fn the_same_value_never_looks_the_same() {
    let pair = key("k1");
    let seal = || pair.certificate().seal(b"ns/name", b"hunter2").unwrap().to_base64();
    assert_ne!(seal(), seal());
}

#[test]
fn damage_anywhere_is_refused() {
    let pair = key("k1");
    let label = b"ns/name";
    let whole = base64_bytes(&pair.certificate().seal(label, b"hunter2").unwrap().to_base64());
    for at in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x20;
        let opened = Envelope::from_bytes(damaged).ok().and_then(|sealed| pair.open(&sealed, label));
        assert!(opened.is_none(), "byte {at}");
    }
    for length in 0..whole.len() {
        let opened = Envelope::from_bytes(whole[..length].to_vec()).ok().and_then(|sealed| pair.open(&sealed, label));
        assert!(opened.is_none(), "{length} bytes");
    }
}

fn base64_bytes(text: &str) -> Vec<u8> {
    bytes(&serde_json::Value::from(text))
}
