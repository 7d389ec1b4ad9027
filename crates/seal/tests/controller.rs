//! Held against the real controller, in a lab: it opens in every scope what is sealed here, and refuses what we refuse.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::time::Duration;

use coldstart_seal::deploy::{KEY_NAMESPACE_DEFAULT, key_secret};
use coldstart_seal::manifest::{SealedSecret, SecretManifest};
use coldstart_seal::{Ring, Scope, SecretBytes};
use lab::{Lab, Object, Options, Process, Until};
use source::FileId;
use support::key;
use time::OffsetDateTime;
use yaml::parse_value;

const SOON: Duration = Duration::from_secs(40);

fn secret(namespace: &str, name: &str) -> SecretManifest {
    let mut secret =
        SecretManifest { name: name.to_owned(), namespace: Some(namespace.to_owned()), ..SecretManifest::default() };
    secret.put("password", SecretBytes::from("hunter2")).unwrap();
    secret
}

/// What the controller's own endpoint says of a SealedSecret: whether it opens.
fn opens_there(lab: &Lab, sealed: &str) -> bool {
    let url = lab.sealing_certificate_url().replace("/v1/cert.pem", "/v1/verify");
    let json = lab::documents(sealed).unwrap().remove(0).to_string();
    // It answers two requests a second and tells others to come back.
    for _ in 0..40 {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        match agent.post(&url).send(json.as_bytes()).unwrap().status().as_u16() {
            200 => return true,
            429 => std::thread::sleep(Duration::from_millis(300)),
            409 | 500 => return false,
            other => panic!("{other}"),
        }
    }
    panic!("still too many requests");
}

fn opens_here(ring: &Ring, text: &str) -> bool {
    let sealed = SealedSecret::of(&parse_value(FileId(0), text).unwrap()).unwrap();
    let label = sealed.label(sealed.namespace.as_deref().unwrap_or_default());
    sealed.items.iter().all(|item| item.opened_by(ring, &label).is_ok())
}

#[test]
fn the_controller_opens_what_is_sealed_here_and_refuses_what_we_refuse() {
    // The keys of the vectors are old: with renewal, the controller would make one of its own at once.
    let options = Options::named("seal-controller").without_flux();
    let options = options.flag(Process::SealedSecrets, "--key-renew-period=0");
    let Some(lab) = lab::or_skip_with(options) else { return };
    // The keys before the controller: it reads them once, when it starts.
    let mut ring = Ring::default();
    for name in ["k1", "k2"] {
        lab.apply_value(&key_secret(&key(name), KEY_NAMESPACE_DEFAULT)).unwrap();
        ring.add(key(name), OffsetDateTime::UNIX_EPOCH).unwrap();
    }
    lab.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: apps}\n").unwrap();
    lab.start_process(Process::SealedSecrets).unwrap();

    for (name, scope) in [("k1", Scope::Strict), ("k2", Scope::NamespaceWide), ("k1", Scope::ClusterWide)] {
        let sealed = secret("apps", scope.word()).to_sealed_yaml(key(name).certificate(), scope).unwrap();
        lab.apply(&sealed).unwrap();
        let found = lab.wait_for(&Object::secret("apps", scope.word()), &Until::exists(), SOON).unwrap();
        assert_eq!(found["data"]["password"], "aHVudGVyMg==", "{scope}");
    }
    // Wider scopes follow their values to another name, another namespace.
    let renamed = |scope: Scope, namespace: &str| {
        let text = secret("apps", "before").to_sealed_yaml(key("k1").certificate(), scope).unwrap();
        text.replace("name: before", "name: after").replace("namespace: apps", &format!("namespace: {namespace}"))
    };
    let damaged = {
        let text = secret("apps", "before").to_sealed_yaml(key("k1").certificate(), Scope::Strict).unwrap();
        text.replacen("password: AQ", "password: AR", 1)
    };
    let stranger = secret("apps", "before").to_sealed_yaml(key("k3_expired").certificate(), Scope::Strict).unwrap();
    let cases = [
        (
            "strict, as it was",
            secret("apps", "a").to_sealed_yaml(key("k2").certificate(), Scope::Strict).unwrap(),
            true,
        ),
        ("strict, renamed", renamed(Scope::Strict, "apps"), false),
        ("namespace-wide, renamed", renamed(Scope::NamespaceWide, "apps"), true),
        ("namespace-wide, moved", renamed(Scope::NamespaceWide, "default"), false),
        ("cluster-wide, moved", renamed(Scope::ClusterWide, "default"), true),
        ("damaged", damaged, false),
        ("sealed for another cluster", stranger, false),
    ];
    for (what, text, opens) in cases {
        assert_eq!(opens_here(&ring, &text), opens, "{what}, here");
        assert_eq!(opens_there(&lab, &text), opens, "{what}, there");
    }
    // The newest key of the ring is the one that the controller hands out to seal with.
    let served = ureq::get(&lab.sealing_certificate_url()).call().unwrap().body_mut().read_to_string().unwrap();
    let newest = ring.newest().unwrap();
    assert_eq!(coldstart_seal::key::Certificate::from_pem(&served).unwrap().fingerprint(), newest.fingerprint());
}
