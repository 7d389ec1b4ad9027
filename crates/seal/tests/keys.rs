//! Keys: made, brought in from where people keep them, and refused for the right reason.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use coldstart_seal::key::{Certificate, GenerateOptions, KeyError, KeyPair, from_text, generate, with_new_certificate};
use support::{key, run};
use time::{Duration, OffsetDateTime};

fn pem(pair: &KeyPair) -> (String, String) {
    (pair.private_key_pem().expose().to_owned(), pair.certificate().to_pem())
}

#[test]
fn a_new_key_is_as_long_lived_as_asked_and_works() {
    let now = OffsetDateTime::now_utc();
    let pair = generate(&GenerateOptions { bits: 2048, days: 7300, now }).unwrap();
    let certificate = pair.certificate();
    assert_eq!(certificate.bits(), 2048);
    assert_eq!((certificate.not_after() - certificate.not_before()).whole_days(), 7300);
    assert!((now - certificate.not_before()).whole_seconds() <= 1);
    certificate.check_validity(now).unwrap();
    assert!(pair.works());

    let (private_key, certificate) = pem(&pair);
    assert!(private_key.starts_with("-----BEGIN PRIVATE KEY-----\n"));
    assert_eq!(KeyPair::from_pem(&private_key, &certificate).unwrap().fingerprint(), pair.fingerprint());
}

#[test]
fn sizes_and_lifetimes_have_limits() {
    let options = |bits, days| GenerateOptions { bits, days, now: OffsetDateTime::now_utc() };
    assert_eq!(generate(&options(1024, 1)).unwrap_err(), KeyError::BadSize(1024));
    assert_eq!(generate(&options(2048, 0)).unwrap_err(), KeyError::BadLifetime { days: 0 });
    assert_eq!(generate(&options(2048, 99_999)).unwrap_err(), KeyError::BadLifetime { days: 99_999 });
}

#[test]
fn the_clock_decides_what_may_be_sealed_with() {
    let (good, expired) = (key("k1"), key("k3_expired"));
    let now = OffsetDateTime::from_unix_timestamp(1_790_000_000).unwrap();
    good.certificate().check_validity(now).unwrap();
    let refused = expired.certificate().check_validity(now).unwrap_err();
    assert!(
        matches!(refused, KeyError::Expired { .. }) && refused.to_string().contains("expired on 2022-01-01"),
        "{refused}"
    );
    let early = good.certificate().check_validity(now - Duration::days(3650)).unwrap_err();
    assert!(matches!(early, KeyError::NotYetValid { .. }) && early.to_string().contains("2026-01-01"), "{early}");
    // Opening asks nobody for the time.
    assert!(expired.works());
}

#[test]
fn a_lost_certificate_can_be_made_anew() {
    let (private_key, _) = pem(&key("k1"));
    let options = GenerateOptions::at(OffsetDateTime::now_utc());
    let pair = with_new_certificate(&private_key, &options).unwrap();
    assert_eq!(pair.fingerprint(), key("k1").fingerprint());
    assert!(pair.works());
}

#[test]
fn the_fingerprint_is_the_one_that_ssh_and_the_controller_print() {
    let directory = tempfile::tempdir().unwrap();
    let (private_key, _) = pem(&key("k1"));
    let file = directory.path().join("key");
    let public = run(Command::new("openssl").args(["pkey", "-pubout"]), private_key.as_bytes());
    let Ok(public) = public else { return support::skipped("no openssl") };
    std::fs::write(&file, public).unwrap();
    let Ok(ssh) = Command::new("ssh-keygen").args(["-i", "-m", "PKCS8", "-f"]).arg(&file).output() else {
        return support::skipped("no ssh-keygen");
    };
    std::fs::write(&file, ssh.stdout).unwrap();
    let said = run(Command::new("ssh-keygen").args(["-l", "-f"]).arg(&file), b"").unwrap();
    assert!(said.contains(&key("k1").fingerprint().to_string()), "{said} {}", key("k1").fingerprint());
}

#[test]
fn openssl_made_pairs_are_taken_in_both_formats() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    // As seed playbooks and upstream's own document make them.
    let made = Command::new("openssl")
        .args([
            "req",
            "-x509",
            "-nodes",
            "-newkey",
            "rsa:2048",
            "-days",
            "365",
            "-subj",
            "/CN=sealed-secrets",
            "-keyout",
        ])
        .arg(at("key"))
        .arg("-out")
        .arg(at("crt"))
        .output();
    let Ok(made) = made else { return support::skipped("no openssl") };
    assert!(made.status.success());
    let traditional = run(Command::new("openssl").args(["rsa", "-traditional", "-in"]).arg(at("key")), b"").unwrap();
    assert!(traditional.starts_with("-----BEGIN RSA PRIVATE KEY-----"));
    let certificate = std::fs::read_to_string(at("crt")).unwrap();
    let pkcs8 = std::fs::read_to_string(at("key")).unwrap();
    let (one, other) =
        (KeyPair::from_pem(&traditional, &certificate).unwrap(), KeyPair::from_pem(&pkcs8, &certificate).unwrap());
    assert_eq!(one.fingerprint(), other.fingerprint());
    assert!(one.works());
    assert_eq!(one.private_key_pem().expose(), other.private_key_pem().expose());

    let locked =
        run(Command::new("openssl").args(["pkcs8", "-topk8", "-passout", "pass:x"]), pkcs8.as_bytes()).unwrap();
    assert_eq!(KeyPair::from_pem(&locked, &certificate).unwrap_err(), KeyError::EncryptedPrivateKey);
    let ec = run(Command::new("openssl").args(["ecparam", "-genkey", "-name", "prime256v1", "-noout"]), b"").unwrap();
    assert_eq!(KeyPair::from_pem(&ec, &certificate).unwrap_err(), KeyError::NotRsa("elliptic curves".to_owned()));
    let ec8 = run(Command::new("openssl").args(["pkcs8", "-topk8", "-nocrypt"]), ec.as_bytes()).unwrap();
    assert_eq!(KeyPair::from_pem(&ec8, &certificate).unwrap_err(), KeyError::NotRsa("elliptic curves".to_owned()));
    let ed = run(Command::new("openssl").args(["genpkey", "-algorithm", "ed25519"]), b"").unwrap();
    assert_eq!(KeyPair::from_pem(&ed, &certificate).unwrap_err(), KeyError::NotRsa("Ed25519".to_owned()));
}

#[test]
fn pairs_that_do_not_belong_together_are_refused() {
    let ((key1, crt1), (_, crt2)) = (pem(&key("k1")), pem(&key("k2")));
    assert!(matches!(KeyPair::from_pem(&key1, &crt2), Err(KeyError::Mismatch { .. })));
    assert_eq!(KeyPair::from_pem(&crt1, &crt1).unwrap_err(), KeyError::NoPrivateKey);
    assert_eq!(Certificate::from_pem(&key1).unwrap_err(), KeyError::NoCertificate);
    assert_eq!(Certificate::from_pem("").unwrap_err(), KeyError::NoCertificate);
    let cut = crt1.replacen("MII", "MIA", 1);
    assert!(matches!(Certificate::from_pem(&cut), Err(KeyError::BadCertificate(_))));
}

#[test]
fn a_dump_of_kubectl_gives_every_key_of_the_cluster() {
    let secret = |name: &str, pair: &KeyPair| {
        let (key, crt) = pem(pair);
        format!(
            r#"{{"apiVersion":"v1","kind":"Secret","type":"kubernetes.io/tls","metadata":{{"namespace":"kube-system","name":"{name}"}},
            "data":{{"tls.crt":"{}","tls.key":"{}"}}}}"#,
            STANDARD.encode(crt),
            STANDARD.encode(key)
        )
    };
    let (one, two) = (secret("sealed-secrets-keyab", &key("k1")), secret("sealed-secrets-keycd", &key("k2")));
    let list = format!(r#"{{"apiVersion":"v1","kind":"List","items":[{one},{two}]}}"#);
    let found = from_text(&list).unwrap();
    let places: Vec<&str> = found.iter().map(|one| one.place.as_str()).collect();
    assert_eq!(places, ["Secret kube-system/sealed-secrets-keyab", "Secret kube-system/sealed-secrets-keycd"]);
    assert_eq!(found[1].pair.fingerprint(), key("k2").fingerprint());
    // As YAML documents.
    assert_eq!(from_text(&format!("{one}\n---\n{two}\n")).unwrap().len(), 2);
}

#[test]
fn terraform_output_and_state_give_the_pair_among_everything_else() {
    let (private_key, certificate) = pem(&key("k1"));
    let output = serde_json::json!({
        "endpoint": {"sensitive": false, "type": "string", "value": "https://10.0.3.1:6443"},
        "sealed_secrets_private_key": {"sensitive": true, "type": "string", "value": private_key},
        "sealed_secrets_certificate": {"sensitive": true, "type": "string", "value": certificate},
    });
    let found = from_text(&output.to_string()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place, "sealed_secrets_certificate.value");
    let state = serde_json::json!({"version": 4, "resources": [
        {"type": "random_password", "instances": [{"attributes": {"result": "x"}}]},
        {"type": "tls_private_key", "instances": [{"attributes": {"algorithm": "RSA", "private_key_pem": private_key}}]},
        {"type": "tls_self_signed_cert", "instances": [{"attributes": {"cert_pem": certificate, "private_key_pem": private_key}}]},
    ]});
    let found = from_text(&state.to_string()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].pair.fingerprint(), key("k1").fingerprint());
}

#[test]
fn texts_without_a_pair_say_what_is_missing() {
    let (private_key, certificate) = pem(&key("k1"));
    assert_eq!(from_text(&private_key).unwrap_err(), KeyError::NoCertificate);
    assert_eq!(from_text(&certificate).unwrap_err(), KeyError::NoPrivateKey);
    assert_eq!(from_text("kind: ConfigMap\n").unwrap_err(), KeyError::NoPrivateKey);
    let (_, other) = pem(&key("k2"));
    assert!(matches!(from_text(&format!("{private_key}{other}")), Err(KeyError::Mismatch { .. })));
}

#[test]
fn no_error_and_no_debug_holds_any_part_of_a_key() {
    let pair = key("k1");
    let (private_key, certificate) = pem(&pair);
    let part = private_key.lines().nth(3).unwrap().to_owned();
    let damaged = private_key.replacen(&part[..8], "AAAAAAAA", 1);
    let errors = [
        KeyPair::from_pem(&damaged, &certificate).err(),
        KeyPair::from_pem(&private_key, &pem(&key("k2")).1).err(),
        from_text(&private_key).err(),
    ];
    let said = format!("{pair:?} {:?} {errors:?}", pair.private_key_pem());
    for line in private_key.lines().chain(damaged.lines()).filter(|line| !line.starts_with('-')) {
        assert!(!said.contains(line), "{said}");
    }
}
