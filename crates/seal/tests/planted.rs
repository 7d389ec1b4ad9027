//! Nothing that holds a secret shows it when it is printed for debugging.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use coldstart_seal::manifest::{SecretManifest, to_json};
use coldstart_seal::store::{Access, AgeFile, Passphrase, Store as _, Vault, VaultAddress, VaultAnswer};
use coldstart_seal::{Envelope, Ring, SecretBytes, env_values};
use source::FileId;
use support::key;
use time::OffsetDateTime;
use yaml::parse_value;

const PLANTED: &str = "planted-value-93d1";

#[test]
fn nothing_that_is_debugged_shows_a_secret() {
    let manifest =
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a, namespace: b}}\nstringData: {{c: {PLANTED}}}\n");
    let root = parse_value(FileId(0), &manifest).unwrap();
    let secret = SecretManifest::of(&root).unwrap();
    let mut ring = Ring::default();
    ring.add(key("k1"), OffsetDateTime::UNIX_EPOCH).unwrap();
    let pair = &ring.keys()[0].pair;
    let sealed = pair.certificate().seal(b"b/a", PLANTED.as_bytes()).unwrap();
    let address = VaultAddress {
        url: "https://vault.example".to_owned(),
        token: SecretBytes::from(PLANTED),
        namespace: None,
        authority: None,
    };
    let directory = tempfile::tempdir().unwrap();
    let program = Access::Program { identities: SecretBytes::from(PLANTED), recipients: Vec::new() };
    let phrase = Access::Passphrase(Passphrase::new(|_| Ok(SecretBytes::from(PLANTED))));
    let store = AgeFile::new(directory.path().join("keys.age"), phrase);
    let nothing = store.read().unwrap();
    coldstart_seal::store::keep(&store, &ring, &nothing).unwrap();
    let said = [
        format!("{secret:?} {:?}", to_json(&root)),
        format!("{ring:?} {:?} {:?}", pair, pair.private_key_pem()),
        format!("{sealed:?} {:?}", pair.open(&sealed, b"b/a")),
        format!("{address:?} {:?}", Vault::new(address.clone(), "secret/keys")),
        format!("{program:?} {store:?} {:?}", store.read()),
        format!("{:?}", Envelope::from_base64(PLANTED)),
        format!("{:?}", VaultAnswer::new(200, format!("{{\"data\": \"{PLANTED}\"}}").as_bytes())),
        format!("{:?} {:?}", env_values(PLANTED), env_values(&format!("A={PLANTED}"))),
    ];
    let encoded: Vec<String> = PLANTED.bytes().map(|byte| byte.to_string()).collect();
    let pem = pair.private_key_pem();
    let lines = pem.expose().lines().filter(|line| !line.starts_with('-'));
    for secret in lines.chain([PLANTED, &encoded.join(", ")]) {
        for text in &said {
            assert!(!text.contains(secret), "{secret} is in {text}");
        }
    }
}
