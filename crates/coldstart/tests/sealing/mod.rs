//! A desk to seal at: a tree, an age identity, and keys that were made for tests alone.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::unused_self,
    reason = "each story uses its own part, and a story that can not be set up fails"
)]

pub(crate) mod terminal;

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use age::secrecy::ExposeSecret as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use seal::key::{Certificate, KeyPair};
use seal::manifest::{SealedSecret, SecretManifest};
use seal::store::{Access, AgeFile, Store as _, identities_of};
use seal::{Envelope, Ring, Scope, SecretBytes};
use source::FileId;
use yaml::parse_value;

use crate::story::{Ran, Tree, command, run};

pub(crate) const LOGIN: &str = "\
apiVersion: v1
kind: Secret
metadata:
  name: login
  namespace: apps
  labels: {app: login}
type: Opaque
stringData:
  password: hunter2
";

pub(crate) struct Desk {
    tree: Tree,
    /// Everything that is not the repository: home, temporary files.
    away: Tree,
}

/// Manifests as items of one `kind: List`.
pub(crate) fn as_list(manifests: &[String]) -> String {
    let mut list = "apiVersion: v1\nkind: List\nitems:\n".to_owned();
    for manifest in manifests {
        for (index, line) in manifest.trim_start_matches("---\n").lines().enumerate() {
            list.push_str(if index == 0 { "  - " } else { "    " });
            list.push_str(line);
            list.push('\n');
        }
    }
    list
}

/// A pair of the vectors: throwaway, never to be used for anything else.
pub(crate) fn key(name: &str) -> KeyPair {
    let text = include_str!("../../../seal/tests/data/sealed-secrets-vectors.json");
    let vectors: serde_json::Value = serde_json::from_str(text).unwrap();
    let bytes = |field: &str| STANDARD.decode(vectors["keys"][name][field].as_str().unwrap()).unwrap();
    let certificate = Certificate::from_der(bytes("certificate_der_b64")).unwrap();
    KeyPair::new(SecretBytes::new(bytes("test_key_pkcs8_der_b64")), certificate).unwrap()
}

impl Desk {
    pub(crate) fn new() -> Self {
        let desk = Self { tree: Tree::empty(), away: Tree::empty() };
        let identity = age::x25519::Identity::generate();
        desk.write("identity.txt", identity.to_string().expose_secret());
        for name in ["k1", "k2"] {
            let pair = key(name);
            desk.write(
                &format!("{name}.pem"),
                &format!("{}{}", pair.private_key_pem().expose(), pair.certificate().to_pem()),
            );
        }
        for directory in ["home", "tmp"] {
            fs::create_dir_all(desk.away.path().join(directory)).unwrap();
        }
        desk
    }

    pub(crate) fn with_key(name: &str) -> Self {
        let desk = Self::new();
        desk.seal(&["init", "--adopt", &format!("{name}.pem"), "--yes"]).exits(0);
        desk
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.tree.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        self.tree.write(path, text.as_bytes());
    }

    /// The command in the tree, with nothing of the person who runs the test.
    pub(crate) fn plain_command(&self, words: &[&str]) -> Command {
        let mut command = command(&["seal"]);
        command.args(words).current_dir(self.tree.path());
        for variable in [
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
            "SOPS_AGE_KEY",
            "SOPS_AGE_KEY_FILE",
            "KUBECONFIG",
            "COLDSTART_PASSPHRASE",
            "VAULT_ADDR",
            "VAULT_TOKEN",
            "BAO_ADDR",
            "BAO_TOKEN",
        ] {
            command.env_remove(variable);
        }
        command.env("HOME", self.away.path().join("home")).env("TMPDIR", self.away.path().join("tmp"));
        command
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.plain_command(words);
        if !words.contains(&"--store") {
            command.args(["--store", "age:keys.age"]);
        }
        command.args(["--identity", "identity.txt"]);
        command
    }

    #[track_caller]
    pub(crate) fn seal(&self, words: &[&str]) -> Ran {
        run(&mut self.command(words))
    }

    #[track_caller]
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        run(command)
    }

    /// With something on standard input.
    #[track_caller]
    pub(crate) fn seal_with(&self, words: &[&str], input: &str) -> Ran {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        run(self.command(words).stdin(Stdio::from(file)))
    }

    pub(crate) fn id(&self, name: &str) -> String {
        key(name).id()
    }

    pub(crate) fn certificate(&self, name: &str) -> String {
        key(name).certificate().to_pem()
    }

    pub(crate) fn recipient(&self) -> String {
        let text = fs::read_to_string(self.path("identity.txt")).unwrap();
        identities_of(&text).ok().unwrap()[0].to_public().to_string()
    }

    pub(crate) fn ring(&self) -> Ring {
        let text = fs::read_to_string(self.path("identity.txt")).unwrap();
        let access = Access::Identities { identities: identities_of(&text).ok().unwrap(), recipients: Vec::new() };
        AgeFile::new(self.path("keys.age"), access).read().unwrap().ring
    }

    pub(crate) fn sealed(&self, name: &str, secret: &str) -> String {
        let secret = SecretManifest::of(&parse_value(FileId(0), secret).unwrap()).unwrap();
        secret.to_sealed_yaml(key(name).certificate(), Scope::Strict).unwrap()
    }

    pub(crate) fn sealed_wide(&self, name: &str, secret: &str) -> String {
        let secret = SecretManifest::of(&parse_value(FileId(0), secret).unwrap()).unwrap();
        secret.to_sealed_yaml(key(name).certificate(), Scope::ClusterWide).unwrap()
    }

    pub(crate) fn as_json(&self, text: &str) -> String {
        seal::manifest::to_json(&parse_value(FileId(0), text).unwrap()).expose().to_owned()
    }

    /// One item of a file, opened with the keys of the store.
    #[track_caller]
    pub(crate) fn open(&self, path: &str, wanted: &str) -> Vec<u8> {
        let text = fs::read_to_string(self.path(path)).unwrap();
        let sealed = SealedSecret::of(&parse_value(FileId(0), &text).unwrap()).unwrap();
        let item = sealed.items.iter().find(|item| item.key.as_deref() == Some(wanted)).unwrap();
        let label = sealed.label(sealed.namespace.as_deref().unwrap_or_default());
        self.ring().open(&Envelope::from_base64(&item.text).unwrap(), &label).unwrap().1.expose().to_vec()
    }

    pub(crate) fn git(&self, words: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(words).current_dir(self.tree.path());
        let output = git.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        if words.first() == Some(&"init") {
            for (key, value) in [("user.name", "t"), ("user.email", "t@example.org")] {
                self.git(&["config", key, value]);
            }
        }
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A SOPS file to this recipient, whose one value is as given.
    pub(crate) fn sops(&self, recipient: &str, value: &str) -> String {
        let recipient: age::x25519::Recipient = recipient.parse().unwrap();
        let encryptor = age::Encryptor::with_recipients(std::iter::once(&recipient as &dyn age::Recipient)).unwrap();
        let mut armored = Vec::new();
        let armor = age::armor::ArmoredWriter::wrap_output(&mut armored, age::armor::Format::AsciiArmor).unwrap();
        let mut writer = encryptor.wrap_output(armor).unwrap();
        writer.write_all(&[7; 32]).unwrap();
        writer.finish().unwrap().finish().unwrap();
        let armored = String::from_utf8(armored).unwrap().trim_end().replace('\n', "\n        ");
        format!(
            "apiVersion: v1\nkind: Secret\nstringData:\n  a: {value}\nsops:\n  mac: ENC[x]\n  encrypted_regex: ^(data|stringData)$\n  version: 3.12.0\n  age:\n    - recipient: {recipient}\n      enc: |\n        {armored}\n"
        )
    }
}

/// Everything below a directory.
fn files(directory: &std::path::Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

const VALUE: &str = "planted-value-7f3a9c";
const PASSPHRASE: &str = "planted-passphrase-51be";
const IDENTITY: &str = "planted1dentity";
const TOKEN: &str = "planted-token-c04d";

/// Runs every command with planted secrets, in good and in bad circumstances, and looks for them in all that is said,
/// in all that is left on disk, and in the arguments of the programs that are started.
pub(crate) fn planted_nowhere() {
    let desk = Desk::new();
    let spy = desk.away.path().join("bin");
    fs::create_dir_all(&spy).unwrap();
    let log = desk.away.path().join("started.log");
    let script = format!("#!/bin/sh\n{{ echo \"$0 $*\"; env; }} >>'{}'\necho 0000000\n", log.display());
    // As a repository answers in which nothing is under way and nothing ignored.
    let git = format!(
        "{}case \"$*\" in *_HEAD*|*check-ignore*) exit 1;; *show-toplevel*) echo '{}'; exit 0;; esac\necho 0000000\n",
        script.replace("echo 0000000\n", ""),
        desk.tree.path().display()
    );
    fs::write(spy.join("git"), &git).unwrap();
    fs::write(spy.join("sops"), &script).unwrap();
    fs::write(spy.join("age"), &script).unwrap();
    fs::write(spy.join("age-keygen"), &script).unwrap();
    #[cfg(unix)]
    for name in ["git", "sops", "age", "age-keygen"] {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(spy.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", spy.display(), std::env::var("PATH").unwrap());
    let mut said = String::new();
    let mut go = |words: &[&str], input: &str| {
        let mut command = desk.plain_command(words);
        command.args(["--store", "dir:keys"]).env("PATH", &path);
        command.env("VAULT_TOKEN", TOKEN).env("BAO_TOKEN", TOKEN).env("SOPS_AGE_KEY", TOKEN);
        // Only whoever is told that a variable is a value can keep it back.
        if words.contains(&"k=PLANTED") {
            command.env("PLANTED", VALUE);
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(input.as_bytes()).unwrap();
        std::io::Seek::rewind(&mut file).unwrap();
        let ran = run(command.stdin(Stdio::from(file)));
        said.push_str(&ran.stdout);
        said.push_str(&ran.stderr);
    };
    let manifest = LOGIN.replace("hunter2", VALUE);
    let broken = format!("{manifest}  bad: [{VALUE}\n");
    let not_base64 = LOGIN.replace("stringData:\n  password: hunter2", &format!("data:\n  password: '{VALUE}!'"));
    let strict = ["--name", "a", "--namespace", "b"];
    go(&["init", "--adopt", "k1.pem", "--yes"], "");
    go(&["init", "--adopt", "k2.pem", "--yes"], "");
    go(&[&["secret", "--from-stdin", "k", "--out", "a.yaml", "--commit"], &strict[..]].concat(), VALUE);
    go(&[&["secret", "--from-env", "k=PLANTED", "--out", "e.yaml", "--commit"], &strict[..]].concat(), "");
    go(&[&["secret", "--from-stdin", "k", "--raw"], &strict[..]].concat(), VALUE);
    go(&["secret", "--manifest", "-"], &manifest);
    go(&["secret", "--manifest", "-"], &broken);
    go(&["secret", "--manifest", "-"], &not_base64);
    go(&["secret", "--manifest", "-"], VALUE);
    go(&[&["secret", "--from-stdin", "bad key", "--out", "a.yaml"], &strict[..]].concat(), VALUE);
    go(&[&["secret", "--from-env", VALUE, "--out", "a.yaml"], &strict[..]].concat(), "");
    go(&[&["secret", "--from-stdin", "k", "--out", "a.yaml", "--scope", "cluster-wide"], &strict[..]].concat(), VALUE);
    go(
        &["init", "--adopt", "-", "--yes"],
        &format!("-----BEGIN PRIVATE KEY-----\n{VALUE}\n-----END PRIVATE KEY-----\n"),
    );
    go(&["init", "--adopt", "-", "--yes"], &format!("{{\"a\": \"{VALUE}\""));
    go(&["reseal", "--yes", "--commit"], "");
    go(&["verify"], "");
    go(&["backup", "age:copy.age", "--yes", "--backup-identity", "identity.txt"], "");
    // Identities that go to programs.
    let identity = format!("AGE-SECRET-KEY-PQ-1{}", IDENTITY.to_uppercase());
    desk.write("pq.txt", &identity);
    go(&["backup", "age:pq.age", "--yes", "--backup-identity", "pq.txt"], "");
    // A passphrase in the environment, right and wrong, and one whose store is read before Git is started.
    let words = ["init", "--adopt", "k1.pem", "--yes", "--store", "age:phrase.age"];
    let more = ["secret", "--manifest", "plain.yaml", "--out", "b.yaml", "--commit", "--store", "age:phrase.age"];
    desk.write("plain.yaml", &manifest);
    for words in [&words[..], &more[..]] {
        let mut command = desk.plain_command(words);
        let ran = run(command.env("COLDSTART_PASSPHRASE", PASSPHRASE).env("PATH", &path)).exits(0);
        said.push_str(&ran.stdout);
        said.push_str(&ran.stderr);
    }
    fs::remove_file(desk.path("plain.yaml")).unwrap();
    for (words, passphrase) in
        [(["backup", "age:locked.age", "--yes"], PASSPHRASE), (["restore", "age:locked.age", "--yes"], "other-planted")]
    {
        let mut command = desk.plain_command(&words);
        let ran = run(command.args(["--store", "dir:keys"]).env("COLDSTART_PASSPHRASE", passphrase).env("PATH", &path));
        said.push_str(&ran.stdout);
        said.push_str(&ran.stderr);
    }
    let started = fs::read_to_string(&log).unwrap_or_default();
    assert!(started.contains("commit"), "git was started: {started}");
    assert!(started.contains("age-keygen -y"), "age was started: {started}");

    let key_lines: Vec<String> = ["k1", "k2"]
        .iter()
        .flat_map(|name| key(name).private_key_pem().expose().lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| !line.starts_with('-'))
        .collect();
    let planted: Vec<&str> = [VALUE, PASSPHRASE, TOKEN, &identity, "other-planted"]
        .into_iter()
        .chain(key_lines.iter().map(String::as_str))
        .collect();
    let encoded = STANDARD.encode(VALUE);
    for secret in planted.iter().copied().chain([encoded.as_str()]) {
        // The one command line that held a value was our own: it is told, and not repeated.
        assert!(!said.contains(secret), "{secret} was said:\n{said}");
        assert!(!started.contains(secret), "{secret} was handed on:\n{started}");
    }
    let mut left = Vec::new();
    files(desk.tree.path(), &mut left);
    files(desk.away.path(), &mut left);
    let is_ours = |path: &PathBuf| {
        // What the story itself put there, and the store whose purpose it is.
        let name = path.strip_prefix(desk.tree.path()).unwrap_or(path).to_string_lossy().into_owned();
        !(name == "k1.pem" || name == "k2.pem" || name == "pq.txt" || name.starts_with("keys/"))
    };
    for path in left.iter().filter(|path| is_ours(path)) {
        let bytes = fs::read(path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for secret in &planted {
            assert!(!text.contains(secret), "{secret} is in {}", path.display());
        }
    }
}

/// A release of the controller with these values, as they stand below `spec.values`.
pub(crate) fn release(values: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: sealed-secrets
  namespace: kube-system
spec:
  interval: 1h
  chart: {{spec: {{chart: sealed-secrets, sourceRef: {{kind: HelmRepository, name: sealed-secrets}}}}}}
  values:
{values}"
    )
}
