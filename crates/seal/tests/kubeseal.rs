//! Held against the real kubeseal: what it seals opens here, what is sealed here it opens, and what one refuses the
//! other does too.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::path::PathBuf;
use std::process::Command;

use coldstart_seal::manifest::{SealedSecret, SecretManifest};
use coldstart_seal::{Envelope, Ring, Scope, SecretBytes};
use lab::build::Tool;
use source::FileId;
use support::{key, run, tool};
use time::OffsetDateTime;
use yaml::parse_value;

const VALUES: [(&str, &[u8]); 4] =
    [("password", b"hunter2"), ("empty", b""), ("binary", &[0, 255, 10, 13, 128]), ("json", br#"{"a":"b: c #d"}"#)];

struct Kubeseal {
    program: PathBuf,
    directory: tempfile::TempDir,
}

impl Kubeseal {
    fn find(name: &str) -> Option<Self> {
        let program = tool(name, Tool::Kubeseal)?;
        let directory = tempfile::tempdir().unwrap();
        for name in ["k1", "k2", "k3_expired"] {
            let pair = key(name);
            std::fs::write(directory.path().join(format!("{name}.crt")), pair.certificate().to_pem()).unwrap();
            std::fs::write(directory.path().join(format!("{name}.key")), pair.private_key_pem().expose()).unwrap();
        }
        Some(Self { program, directory })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn seal(&self, certificate: &str, words: &[&str], secret: &str) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        run(command.args(["-o", "yaml", "--cert"]).arg(self.path(certificate)).args(words), secret.as_bytes())
    }

    /// Opens a SealedSecret with these private keys, offline.
    fn open(&self, keys: &[&str], sealed: &str) -> Result<String, String> {
        let keys: Vec<String> = keys.iter().map(|name| self.path(name).display().to_string()).collect();
        let mut command = Command::new(&self.program);
        command.args(["--recovery-unseal", "--recovery-private-key", &keys.join(",")]);
        run(&mut command, sealed.as_bytes())
    }
}

fn secret() -> SecretManifest {
    let mut secret = SecretManifest {
        name: "login".to_owned(),
        namespace: Some("apps".to_owned()),
        kind: Some("Opaque".to_owned()),
        labels: [("app.kubernetes.io/name".to_owned(), "on".to_owned())].into(),
        annotations: [("note".to_owned(), "a: b #c".to_owned())].into(),
        ..SecretManifest::default()
    };
    for (key, value) in VALUES {
        secret.put(key, SecretBytes::copy_of(value)).unwrap();
    }
    secret
}

/// As a file for kubeseal.
fn as_manifest(secret: &SecretManifest) -> String {
    use base64::Engine as _;
    let encode = |value: &SecretBytes| base64::engine::general_purpose::STANDARD.encode(value.expose());
    let data: serde_json::Map<String, serde_json::Value> =
        secret.data.iter().map(|(key, value)| (key.clone(), encode(value).into())).collect();
    serde_json::json!({
        "apiVersion": "v1", "kind": "Secret", "type": secret.kind, "data": data,
        "metadata": {"name": secret.name, "namespace": secret.namespace, "labels": secret.labels, "annotations": secret.annotations},
    })
    .to_string()
}

fn ring(names: &[&str]) -> Ring {
    let mut ring = Ring::default();
    for name in names {
        ring.add(key(name), OffsetDateTime::UNIX_EPOCH).unwrap();
    }
    ring
}

#[test]
fn what_kubeseal_seals_opens_here() {
    let Some(kubeseal) = Kubeseal::find("what_kubeseal_seals_opens_here") else { return };
    let ring = ring(&["k1", "k2"]);
    for (certificate, scope) in
        [("k1.crt", Scope::Strict), ("k1.crt", Scope::NamespaceWide), ("k2.crt", Scope::ClusterWide)]
    {
        let text = kubeseal.seal(certificate, &["--scope", scope.word()], &as_manifest(&secret())).unwrap();
        let sealed = SealedSecret::of(&parse_value(FileId(0), &text).unwrap()).unwrap();
        assert_eq!(sealed.scope, scope);
        assert_eq!(sealed.items.len(), VALUES.len());
        for item in &sealed.items {
            let wanted = VALUES.iter().find(|(key, _)| item.key.as_deref() == Some(key)).unwrap().1;
            let (_, value) = ring.open(&Envelope::from_base64(&item.text).unwrap(), &sealed.label("apps")).unwrap();
            assert_eq!(value.expose(), wanted);
        }
    }
}

#[test]
fn what_is_sealed_here_kubeseal_opens() {
    let Some(kubeseal) = Kubeseal::find("what_is_sealed_here_kubeseal_opens") else { return };
    for (name, scope) in [("k1", Scope::Strict), ("k2", Scope::NamespaceWide), ("k1", Scope::ClusterWide)] {
        let text = secret().to_sealed_yaml(key(name).certificate(), scope).unwrap();
        let opened = kubeseal.open(&["k1.key", "k2.key"], &text).unwrap();
        let opened = SecretManifest::of(&parse_value(FileId(0), &opened).unwrap()).unwrap();
        assert_eq!(opened.data, secret().data);
        assert_eq!(opened.labels, secret().labels);
        assert_eq!(opened.kind, secret().kind);
        assert_eq!(opened.annotations.get("note"), secret().annotations.get("note"));
        assert_eq!(opened.scope(), scope, "re-encryption by the controller keeps the scope");
    }
}

#[test]
fn single_values_go_both_ways() {
    let Some(kubeseal) = Kubeseal::find("single_values_go_both_ways") else { return };
    let raw = kubeseal
        .seal(
            "k1.crt",
            &["--raw", "--scope", "namespace-wide", "--namespace", "apps", "--from-file", "/dev/stdin"],
            "hunter2",
        )
        .unwrap();
    let opened = key("k1").open(&Envelope::from_base64(raw.trim()).unwrap(), &Scope::NamespaceWide.label("apps", ""));
    assert_eq!(opened.unwrap().expose(), b"hunter2");
}

#[test]
fn what_one_refuses_the_other_does() {
    let Some(kubeseal) = Kubeseal::find("what_one_refuses_the_other_does") else { return };
    let good = secret().to_sealed_yaml(key("k1").certificate(), Scope::Strict).unwrap();
    let ring = ring(&["k1"]);
    let ours = |text: &str| {
        let sealed = SealedSecret::of(&parse_value(FileId(0), text).unwrap()).unwrap();
        let label = sealed.label(sealed.namespace.as_deref().unwrap_or_default());
        sealed.trouble.is_empty() && sealed.items.iter().all(|item| item.opened_by(&ring, &label).is_ok())
    };
    let password = good.lines().find(|line| line.trim_start().starts_with("password: ")).unwrap().to_owned();
    let stricter = good.replace(
        "metadata:\n  name: login",
        "metadata:\n  annotations: {sealedsecrets.bitnami.com/cluster-wide: 'true'}\n  name: login",
    );
    let cases = [
        ("as it was", good.clone(), true),
        ("renamed", good.replace("name: login", "name: logon"), false),
        ("moved", good.replace("namespace: apps", "namespace: default"), false),
        ("widened", stricter, false),
        ("cut off", good.replace(&password, &password[..password.len() - 40]), false),
        ("damaged", good.replace(&password, &password.replacen("AQ", "AR", 1)), false),
        ("a key renamed", good.replace("  password: ", "  passwort: "), true),
        ("no base64", good.replace(&password, "    password: '!!'"), false),
    ];
    for (what, text, opens) in cases {
        assert!(text == good || what != "as it was");
        assert_eq!(ours(&text), opens, "{what}, here");
        let theirs = kubeseal.open(&["k1.key"], &text);
        assert_eq!(theirs.is_ok(), opens, "{what}, kubeseal: {theirs:?}");
    }
    assert!(kubeseal.open(&["k2.key"], &good).is_err());
}

#[test]
fn expired_certificates_are_refused_by_both() {
    let Some(kubeseal) = Kubeseal::find("expired_certificates_are_refused_by_both") else { return };
    let refused = kubeseal.seal("k3_expired.crt", &[], &as_manifest(&secret())).unwrap_err();
    assert!(refused.contains("expired"), "{refused}");
    assert!(key("k3_expired").certificate().check_validity(OffsetDateTime::now_utc()).is_err());
}

#[test]
fn the_old_format_of_whole_secrets_opens_and_is_resealed() {
    // `spec.data` of sealed-secrets before 0.6: JSON of the Secret, sealed as one value.
    let mut both = ring(&["k1"]);
    let label = Scope::Strict.label("apps", "login");
    let blob = key("k1").certificate().seal(&label, br#"{"data":{"a":"Yg=="}}"#).unwrap().to_base64();
    let text = format!(
        "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata: {{name: login, namespace: apps}}\nspec:\n  data: {blob}\n"
    );
    let sealed = SealedSecret::of(&parse_value(FileId(0), &text).unwrap()).unwrap();
    assert_eq!(sealed.items[0].key, None);
    assert!(sealed.items[0].opened_by(&both, &label).is_ok());
    both.add(key("k2"), OffsetDateTime::UNIX_EPOCH).unwrap();
    let anew = sealed.items[0].resealed(&both, &label).unwrap().unwrap();
    assert!(key("k2").open(&Envelope::from_base64(&anew).unwrap(), &label).is_some());
}
