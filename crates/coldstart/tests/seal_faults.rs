//! `coldstart seal` where something goes wrong: what is told, and what is left.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod sealing;
mod story;

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sealing::{Desk, LOGIN, key};

/// What `kubectl get secret -o yaml` prints of a key.
fn dump(name: &str) -> String {
    let pair = key(name);
    format!(
        "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/tls\nmetadata:\n  name: sealed-secrets-{name}\n  namespace: kube-system\ndata:\n  tls.crt: {}\n  tls.key: {}\n",
        STANDARD.encode(pair.certificate().to_pem()),
        STANDARD.encode(pair.private_key_pem().expose()),
    )
}

impl Desk {
    /// Key and certificate in files of their own.
    fn write_halves(&self, name: &str) {
        let pair = key(name);
        self.write(&format!("{name}.key"), pair.private_key_pem().expose());
        self.write(&format!("{name}.crt"), &pair.certificate().to_pem());
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
}

#[test]
fn every_file_that_is_adopted_gives_its_keys() {
    for [one, two] in [["s1.yaml", "s2.yaml"], ["s1.json", "s2.json"], ["k1.pem", "s2.yaml"], ["s1.json", "k2.pem"]] {
        let desk = Desk::new();
        for name in ["1", "2"] {
            desk.write(&format!("s{name}.yaml"), &dump(&format!("k{name}")));
            desk.write(&format!("s{name}.json"), &desk.as_json(&dump(&format!("k{name}"))));
        }
        desk.seal(&["init", "--adopt", one, two, "--yes"]).exits(0).says(&desk.id("k1")).says(&desk.id("k2"));
        assert_eq!(desk.ring().keys().len(), 2, "{one} {two}");
    }
    let desk = Desk::new();
    desk.write_halves("k1");
    desk.write_halves("k2");
    desk.seal(&["init", "--adopt", "k1.key", "k2.key", "k2.crt", "k1.crt", "--yes"]).exits(0);
    assert_eq!(desk.ring().keys().len(), 2);
}

#[test]
fn a_key_that_can_not_be_adopted_stops_the_adoption_of_all() {
    let desk = Desk::new();
    desk.write_halves("k1");
    desk.write_halves("k2");
    let cut = STANDARD.encode(key("k2").private_key_pem().expose());
    desk.write("list.yaml", &sealing::as_list(&[dump("k1"), dump("k2").replace(&cut, &cut[..400])]));
    desk.write("empty.yaml", &sealing::as_list(&[dump("k1"), dump("k2").replace(&cut, "''")]));
    desk.write("two.json", &[desk.as_json(&dump("k1")), desk.as_json(&dump("k2"))].join("\n"));
    desk.write("mixed.pem", &[desk.read("k1.pem"), dump("k2")].join("\n"));
    desk.write("cut.pem", &[desk.read("k1.pem"), desk.read("k2.key")[..400].to_owned()].join("\n"));
    let refused = |words: &[&str], said: &str| {
        let words = [&["init", "--adopt"], words, &["--yes"]].concat();
        desk.seal(&words).exits(2).says(said).says("nothing was adopted");
        assert!(!desk.path("keys.age").exists(), "{words:?}");
    };
    refused(&["k1.key", "k1.crt", "k2.key"], "k2.key: there is no certificate");
    refused(&["list.yaml"], "list.yaml: Secret kube-system/sealed-secrets-k2: ");
    refused(&["empty.yaml"], "empty.yaml: Secret kube-system/sealed-secrets-k2: there is no private key");
    refused(&["two.json"], "two.json: it can't be read");
    refused(&["mixed.pem"], "mixed.pem: it holds PEM and something else");
    refused(&["cut.pem"], "cut.pem: the private key can't be read");
    refused(&["k1.pem", "identity.txt"], "identity.txt: there is no private key");
    // A certificate may be one of a chain; that it is left is told.
    desk.seal(&["init", "--adopt", "k1.pem", "k2.crt", "--yes"]).exits(0).says("leave alone k2.crt");
    desk.seal(&["init", "--adopt", "k2.key", "--new-certificate", "--yes"]).exits(0).says(&desk.id("k2"));
}

#[test]
fn an_empty_value_is_not_sealed_by_accident() {
    let desk = Desk::with_key("k1");
    let strict = ["--name", "a", "--namespace", "b", "--out", "out.yaml"];
    let refused = |words: &[&str], input: &str, said: &str| {
        desk.seal_with(&[&["secret"], words, &strict].concat(), input).exits(2).says(said);
        assert!(!desk.path("out.yaml").exists(), "{words:?}");
    };
    refused(&["--from-stdin", "token"], "", "standard input is empty");
    refused(&["--from-stdin", "token"], "\n", "standard input is empty");
    refused(&["--from-file", "token=-"], "", "standard input is empty");
    refused(&["--manifest", "-", "--from-stdin", "token"], LOGIN, "standard input can be read once");
    refused(&["--from-file", "a=-", "--from-stdin", "b"], "x", "standard input can be read once");
    // Whoever means it can say so.
    desk.seal(&[&["secret", "--from-file", "token=/dev/null"], &strict[..]].concat()).exits(0);
    assert_eq!(desk.open("out.yaml", "token"), b"");
}

#[test]
fn nothing_of_a_value_is_repeated() {
    let desk = Desk::with_key("k1");
    let strict = ["--name", "a", "--namespace", "b", "--out", "out.yaml"];
    let secret = "TOPSECRETbXktc2VjcmV0LXZhbHVl";
    let refused = |words: &[&str], said: &str| {
        let ran = desk.seal_with(&[&["secret"], words, &strict].concat(), "x").exits(2).says(said);
        assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("TOPSECRET"), "{words:?} {}", ran.stderr);
        assert!(!desk.path("out.yaml").exists(), "{words:?}");
    };
    for (number, line) in
        [secret.to_owned(), format!("{secret}="), format!("{secret}=="), format!("a b {secret}=c")].iter().enumerate()
    {
        let file = format!("{number}.env");
        desk.write(&file, &format!("# ours\nA=b\n{line}\n"));
        refused(&["--from-env-file", &file], &format!("{file}:3: "));
    }
    desk.write("twice.env", "A=b\nA=c\n");
    refused(&["--from-env-file", "twice.env"], "twice.env:2: its key was there before");
    for word in ["--from-env", "--from-file", "--from-stdin", "--structure", "--prompt"] {
        refused(&[word, &format!("pw={secret}")], "");
        refused(&[word, &format!("p w={secret}")], "");
    }
    refused(&["--from-file", secret], "nor is it a file");
    refused(&["--manifest", secret], "the file that is named for --manifest can't be read");
    refused(&["--from-env-file", secret], "the file that is named for --from-env-file can't be read");
}

#[test]
fn halves_and_namespaces_of_declared_values_are_kept_apart() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", PAIRS);
    desk.seal(&["generate", "--yes"]).exits(0).says("sealed one/app (3 items)").says("sealed two/app (1 item)");
    desk.seal(&["generate", "--yes"]).exits(0).says("every declared value already exists");
    let whole = desk.read("pairs.yaml");
    let without = |key: &str| {
        let kept: Vec<&str> = whole.lines().filter(|line| !line.starts_with(&format!("    {key}: "))).collect();
        format!("{}\n", kept.join("\n"))
    };
    let public = desk.open("pairs.yaml", "id.pub");
    desk.write("pairs.yaml", &without("id.pub"));
    desk.seal(&["generate", "--yes"]).exits(0).says("pairs.yaml app: id.pub").says("sealed 1 item of one/app");
    assert_eq!(desk.open("pairs.yaml", "id.pub"), public, "the public half of the key that is there");
    desk.write("pairs.yaml", &without("id"));
    desk.seal(&["generate", "--yes"]).exits(2).says("but `id`, its private half, does not").says("next:");
    assert_eq!(desk.read("pairs.yaml"), without("id"));
}

const PAIRS: &str = "\
seal:
  generate:
    - path: pairs.yaml
      name: app
      namespace: one
      values: [{key: id, kind: ssh-ed25519, public-key: id.pub}, {key: password, kind: password}]
    - path: pairs.yaml
      name: app
      namespace: two
      values: [{key: password, kind: password}]
";

#[test]
fn several_runs_at_once_make_one_value() {
    let desk = Desk::with_key("k1");
    // In directories that are not there yet: a run must not see them before what another run writes there.
    for directory in ["db", "db/one/two", "other/three", "four"] {
        desk.write("coldstart.yaml", &PAIRS.replace("pairs.yaml", &format!("{directory}/pairs.yaml")));
        let said: Vec<String> = std::thread::scope(|scope| {
            let run = |_| scope.spawn(|| desk.seal(&["generate", "--yes"]).exits(0).stdout);
            let runs: Vec<_> = (0..4).map(run).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        });
        assert_eq!(said.iter().filter(|said| said.contains(": sealed ")).count(), 1, "{said:?}");
    }
}

#[test]
fn a_fault_in_one_declaration_keeps_all_files_as_they_are() {
    let desk = Desk::with_key("k1");
    let broken =
        "    - {path: two.yaml, name: b, namespace: b, values: [{key: t, kind: template, template: '${no}'}]}\n";
    desk.write("coldstart.yaml", &format!("{PAIRS}{broken}"));
    desk.seal(&["generate", "--yes"]).exits(2).says("names `no`, which is not a value of this Secret");
    assert!(!desk.path("pairs.yaml").exists() && !desk.path("two.yaml").exists());
}

impl Desk {
    /// A repository with a remote, and everything in it.
    fn with_remote(&self) -> tempfile::TempDir {
        let remote = tempfile::tempdir().unwrap();
        let url = remote.path().to_str().unwrap().to_owned();
        assert!(story::works("git", &["init", "--quiet", "--bare", "--initial-branch=main", &url]));
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.git(&["remote", "add", "origin", &url]);
        self.write(".gitignore", "*.age\n*.lock\n*.pem\nidentity.txt\nignored/\n");
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "-m", "first"]);
        remote
    }

    fn push(&self) {
        self.git(&["push", "--quiet", "--set-upstream", "origin", "main"]);
    }

    fn is_pushed(&self) -> bool {
        self.git(&["rev-parse", "HEAD"]) == self.git(&["rev-parse", "origin/main"])
    }
}

#[test]
fn an_interrupted_generation_is_committed_by_the_next_one() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", PAIRS);
    let _remote = desk.with_remote();
    desk.push();
    desk.seal(&["generate", "--yes"]).exits(0);
    desk.seal(&["generate", "--yes", "--commit"])
        .exits(0)
        .says("every declared value already exists")
        .says("committed");
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
    desk.seal(&["generate", "--yes", "--push"]).exits(0).says("pushed what was committed before");
    assert!(desk.is_pushed());
}

#[test]
fn an_interrupted_reseal_is_delivered_by_the_next_one() {
    let desk = Desk::with_key("k1");
    for name in ["one", "two", "three"] {
        desk.write(&format!("apps/{name}.yaml"), &desk.sealed("k1", &LOGIN.replace("login", name)));
    }
    let _remote = desk.with_remote();
    desk.push();
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    // As a run that was killed leaves it: one file is done, and one was about to be.
    desk.write("apps/one.yaml", &desk.sealed("k2", &LOGIN.replace("login", "one")));
    desk.write("apps/.coldstart-wTfcZe", "half of it");
    desk.write("apps/.coldstart-notes", "not ours");
    desk.seal(&["reseal", "--commit", "--yes"])
        .exits(0)
        .says("commit apps/one.yaml, which was sealed again before")
        .says("removed 1 temporary file")
        .says("committed");
    assert_eq!(desk.git(&["status", "--porcelain"]).trim(), "?? apps/.coldstart-notes");
    assert!(!desk.is_pushed());
    desk.seal(&["reseal", "--push", "--yes"]).exits(0).says("newest key already").says("pushed what was committed");
    assert!(desk.is_pushed());
    desk.write("apps/two.yaml", &desk.sealed("k2", &LOGIN.replace("login", "two")));
    desk.seal(&["reseal", "--push", "--yes"]).exits(0).says("commit apps/two.yaml").says("and pushed it");
    assert!(desk.is_pushed());
}

#[test]
fn what_would_fail_after_a_key_is_made_is_told_before() {
    let desk = Desk::with_key("k1");
    desk.write("file", "no directory");
    let keys = || desk.ring().keys().len();
    let rotate = ["rotate", "--offline", "--bits", "2048", "--yes"];
    desk.write("coldstart.yaml", "seal: {backup: 'dir:file/second'}\n");
    desk.seal(&rotate).exits(2).says("file/second can't be");
    desk.write("coldstart.yaml", "seal: {certificate: file/sealing.crt}\n");
    desk.seal(&rotate).exits(2).says("file/sealing.crt");
    desk.write("coldstart.yaml", "seal: {backup: 'age:./keys.age'}\n");
    desk.seal(&rotate).exits(2).says("both stores are the same one");
    fs::remove_file(desk.path("coldstart.yaml")).unwrap();
    desk.seal(&[&rotate[..], &["--commit"]].concat()).exits(2).says("nothing was done").says("git init");
    assert_eq!(keys(), 1, "no key was made");

    desk.write("coldstart.yaml", "seal: {certificate: pki/sealing.crt}\n");
    desk.seal(&rotate).exits(0);
    assert_eq!(keys(), 2);
    assert!(desk.path("pki/sealing.crt").exists());

    for more in [["--certificate", "file/x.crt"], ["--backup", "dir:file/second"], ["--backup", "age:file/x.age"]] {
        let words = [&["init", "--bits", "2048", "--store", "age:new.age", "--yes"], &more[..]].concat();
        desk.seal(&words).exits(2);
        assert!(!desk.path("new.age").exists(), "{more:?}");
    }
    desk.seal(&["init", "--bits", "2048", "--store", "age:new.age", "--certificate", "sub/dir/x.crt", "--yes"])
        .exits(0);
    assert!(desk.path("sub/dir/x.crt").exists());
}

#[test]
fn a_rotation_that_failed_goes_on_with_its_key() {
    let desk = Desk::with_key("k1");
    desk.write("one.yaml", &desk.sealed("k1", LOGIN));
    let _remote = desk.with_remote();
    desk.write(".git/hooks/pre-commit", "#!/bin/sh\necho 'not today' >&2\nexit 1\n");
    assert!(story::works("chmod", &["755", desk.path(".git/hooks/pre-commit").to_str().unwrap()]));
    let rotate = ["rotate", "--offline", "--bits", "2048", "--yes", "--commit"];
    desk.seal(&rotate)
        .exits(2)
        .says("not today")
        .says("written, but not committed: one.yaml")
        .says("next: git add -- one.yaml")
        .says("run coldstart seal rotate again to continue with it");
    assert_eq!(desk.ring().keys().len(), 2);
    fs::remove_file(desk.path(".git/hooks/pre-commit")).unwrap();
    desk.seal(&rotate).exits(0).says("continue with key").says("committed");
    assert_eq!(desk.ring().keys().len(), 2, "the same key");
    assert_eq!(desk.git(&["status", "--porcelain"]), "");
    desk.seal(&rotate).exits(0).says("make a key");
    assert_eq!(desk.ring().keys().len(), 3, "a rotation that came to its end is followed by another one");
}

/// A desk with a rotation that was interrupted before its commit, and the text of the file before it.
fn interrupted() -> (Desk, tempfile::TempDir, String) {
    let desk = Desk::with_key("k1");
    let before = desk.sealed("k1", LOGIN);
    desk.write("one.yaml", &before);
    let remote = desk.with_remote();
    desk.write(".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
    assert!(story::works("chmod", &["755", desk.path(".git/hooks/pre-commit").to_str().unwrap()]));
    desk.seal(&["rotate", "--offline", "--bits", "2048", "--yes", "--commit"]).exits(2);
    fs::remove_file(desk.path(".git/hooks/pre-commit")).unwrap();
    (desk, remote, before)
}

#[test]
fn a_rotation_that_somebody_else_finished_is_followed_by_a_new_one() {
    let (desk, _remote, _) = interrupted();
    desk.git(&["commit", "--quiet", "--message", "by hand", "one.yaml"]);
    desk.seal(&["rotate", "--offline", "--bits", "3072", "--yes", "--commit"]).exits(0).says("make a key of 3072 bits");
    assert_eq!(desk.ring().keys().len(), 3);

    // With `reseal`, too: a file that is sealed with an older key later is no rest of it.
    let (desk, _remote, before) = interrupted();
    desk.write("one.yaml", &before);
    desk.seal(&["reseal", "--yes"]).exits(0);
    desk.write("one.yaml", &before);
    desk.seal(&["rotate", "--offline", "--bits", "2048", "--yes"]).exits(0).says("make a key of 2048 bits");
    assert_eq!(desk.ring().keys().len(), 3);
}

#[test]
fn a_rotation_goes_on_with_the_key_it_has_and_no_other() {
    let (desk, _remote, before) = interrupted();
    desk.write("one.yaml", &before);
    let rotate = |more: &[&str]| desk.seal(&[&["rotate", "--offline", "--yes"], more].concat());
    for more in [["--bits", "4096"], ["--days", "30"]] {
        rotate(&more).exits(2).says("has 2048 bits and 3650 days").says("next: the same without --bits and --days");
    }
    assert_eq!(desk.ring().keys().len(), 2);
    rotate(&[]).exits(0).says("continue with key").says("sealed 1 file again");
    assert_eq!(desk.ring().keys().len(), 2);
}

#[test]
fn a_key_of_the_future_is_no_obstacle() {
    let desk = Desk::with_key("k1");
    let later = time::OffsetDateTime::now_utc() + time::Duration::days(5000);
    let pair = seal::key::generate(&seal::key::GenerateOptions { bits: 2048, days: 10, now: later }).unwrap();
    desk.write("later.pem", &format!("{}{}", pair.private_key_pem().expose(), pair.certificate().to_pem()));
    desk.seal(&["init", "--adopt", "later.pem", "--yes"]).exits(0).says("is not valid yet");
    desk.seal_with(&["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "a.yaml"], "x")
        .exits(0);
    desk.seal(&["verify"]).exits(0).says(&format!("1 item with key {}", desk.id("k1")));
    desk.seal(&["reseal", "--yes"]).exits(0).says("newest key already");
    desk.seal(&["rotate", "--offline", "--bits", "2048", "--yes"]).exits(0).says("sealed 1 file again");
    // Alone in a store, it can't be sealed with; but it can be followed.
    let store = ["--store", "age:alone.age"];
    desk.seal(&[&["init", "--adopt", "later.pem", "--yes"], &store[..]].concat()).exits(0);
    let tree = tempfile::tempdir().unwrap();
    let path = ["--path", tree.path().to_str().unwrap()];
    desk.seal(&[&["rotate", "--offline", "--bits", "2048", "--yes"], &store[..], &path].concat()).exits(0);
}

#[test]
fn the_certificate_of_the_settings_belongs_to_the_store() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", "seal: {certificate: pki/sealing.crt}\n");
    let words = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "a.yaml"];
    desk.seal_with(&words, "x").exits(2).says("pki/sealing.crt does not exist").says("next: coldstart seal init");
    desk.seal(&["init", "--yes"]).exits(0).says("make no key").says("wrote the certificate");
    assert_eq!(desk.read("pki/sealing.crt"), desk.certificate("k1"));
    desk.seal_with(&words, "x").exits(0);
    desk.seal(&["init", "--yes"]).exits(2).says("holds a key already");

    desk.write("pki/sealing.crt", &desk.certificate("k2"));
    desk.seal_with(&words, "y").exits(2).says("which is not in the store").says("next: coldstart seal init");
    desk.seal_with(&[&words[..], &["--certificate", "pki/sealing.crt"]].concat(), "y").exits(0);
    // Whoever has no store at hand seals with what there is.
    desk.run(desk.plain_command(&words[..]).stdin(fs::File::open(desk.path("coldstart.yaml")).unwrap())).exits(0);

    let old = key("k3_expired");
    desk.write("old.pem", &format!("{}{}", old.private_key_pem().expose(), old.certificate().to_pem()));
    desk.seal(&["init", "--adopt", "old.pem", "--yes"]).exits(0);
    desk.write("pki/sealing.crt", &desk.certificate("k3_expired"));
    desk.seal_with(&words, "z").exits(2).says("the store has a valid one").says("next: coldstart seal init");
    desk.seal(&["init", "--yes"]).exits(0);
    desk.seal_with(&words, "z").exits(0);
}

#[test]
fn merging_heeds_what_is_asked() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k1", LOGIN));
    desk.write("more.yaml", &LOGIN.replace("{app: login}", "{app: login, tier: front}").replace("password", "token"));
    let merge =
        |more: &[&str]| desk.seal(&[&["secret", "--manifest", "more.yaml", "--out", "login.yaml"], more].concat());
    merge(&["--type", "kubernetes.io/basic-auth"]).exits(0);
    let after = desk.read("login.yaml");
    assert!(after.contains("    type: kubernetes.io/basic-auth\n") && !after.contains("type: Opaque"), "{after}");
    assert!(after.contains("tier: front") && after.contains("app: login"), "{after}");
    assert_eq!(desk.open("login.yaml", "token"), b"hunter2");
    assert_eq!(desk.open("login.yaml", "password"), b"hunter2");

    desk.write("wide.yaml", &desk.sealed_wide("k1", LOGIN));
    let before = desk.read("wide.yaml");
    let narrow = LOGIN
        .replace("  labels: {app: login}\n", "  annotations: {sealedsecrets.bitnami.com/namespace-wide: 'true'}\n");
    desk.write("narrow.yaml", &narrow);
    desk.seal(&["secret", "--manifest", "narrow.yaml", "--out", "wide.yaml"])
        .exits(2)
        .says("one SealedSecret has one scope");
    assert_eq!(desk.read("wide.yaml"), before);

    desk.write("two.yaml", &format!("{LOGIN}---\n{}", LOGIN.replace("login", "second")));
    desk.seal(&["secret", "--manifest", "two.yaml", "--name", "third"]).exits(2).says("--name can't name them all");
    desk.write("value.txt", "x");
    let twice =
        ["secret", "--name", "a", "--namespace", "b", "--from-file", "c=value.txt", "--from-file", "c=value.txt"];
    desk.seal(&twice).exits(2).says("two values for `c`");
    desk.seal(&["secret", "--manifest", "narrow.yaml", "--from-file", "password=value.txt"])
        .exits(2)
        .says("two values");
}

#[test]
fn files_are_written_as_what_they_are() {
    let desk = Desk::with_key("k1");
    let out = |name: &str, out: &str| {
        let words = ["secret", "--name", name, "--namespace", "apps", "--from-stdin", "a", "--out", out];
        desk.seal_with(&words, "hunter2")
    };
    out("one", "new.json").exits(0);
    let json: serde_json::Value = serde_json::from_str(&desk.read("new.json")).unwrap();
    assert_eq!(json["kind"], "SealedSecret");
    assert_eq!(desk.open("new.json", "a"), b"hunter2");
    out("two", "new.json").exits(2).says("JSON, which holds one object");
    out("one", "new.json").exits(0);
    serde_json::from_str::<serde_json::Value>(&desk.read("new.json")).unwrap();
    desk.write("two.yaml", &format!("{LOGIN}---\n{}", LOGIN.replace("login", "second")));
    desk.seal(&["secret", "--manifest", "two.yaml", "--out", "list.json"]).exits(0);
    let json: serde_json::Value = serde_json::from_str(&desk.read("list.json")).unwrap();
    assert_eq!(json["items"][1]["metadata"]["name"], "second");

    // What fails leaves no directory behind.
    out("Not A Name", "deep/er/a.yaml").exits(2);
    assert!(!desk.path("deep").exists());
    out("one", "/dev/full").exits(2).says("is not a regular file");
    desk.write("apps/other.yaml", "");
    out("one", "apps").exits(2).says("is a directory");
}

#[test]
#[cfg(unix)]
fn a_link_stays_a_link() {
    let desk = Desk::with_key("k1");
    desk.write("real/login.yaml", &desk.sealed("k1", LOGIN));
    std::os::unix::fs::symlink("real/login.yaml", desk.path("login.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere.yaml", desk.path("lost.yaml")).unwrap();
    let out = |out: &str| {
        let words = ["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a", "--out", out];
        desk.seal_with(&words, "hunter2")
    };
    out("login.yaml").exits(0);
    assert!(fs::symlink_metadata(desk.path("login.yaml")).unwrap().is_symlink());
    assert_eq!(desk.open("real/login.yaml", "a"), b"hunter2");
    out("lost.yaml").exits(2).says("is a link to a file that does not exist");
    // Of a store, too.
    fs::rename(desk.path("keys.age"), desk.path("real/keys.age")).unwrap();
    std::os::unix::fs::symlink("real/keys.age", desk.path("keys.age")).unwrap();
    desk.seal(&["backup", "age:real/keys.age", "--yes"]).exits(2).says("both stores are the same one");
    desk.seal(&["backup", "age:./real/../keys.age", "--yes"]).exits(2).says("both stores are the same one");
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    assert!(fs::symlink_metadata(desk.path("keys.age")).unwrap().is_symlink());
    assert_eq!(desk.ring().keys().len(), 2);
}

#[test]
fn a_commit_that_can_not_be_made_is_told_with_what_to_type() {
    let desk = Desk::with_key("k1");
    let words = |more: &[&'static str]| {
        [&["secret", "--name", "login", "--namespace", "apps", "--from-stdin", "a"], more].concat()
    };
    desk.seal_with(&words(&["--commit"]), "x").exits(2).says("there is no file to commit");
    desk.seal_with(&words(&["--raw", "--push"]), "x").exits(2).says("there is no file to commit");
    desk.seal_with(&words(&["--out", "a.yaml", "--commit"]), "x")
        .exits(2)
        .says("nothing was done")
        .says("next: git init");
    assert!(!desk.path("a.yaml").exists());
    let _remote = desk.with_remote();
    desk.seal_with(&words(&["--out", "ignored/a.yaml", "--commit"]), "x")
        .exits(2)
        .says("ignored/a.yaml is ignored, and would be in no commit")
        .says("nothing was done")
        .says("git add --force -- ignored/a.yaml");
    assert!(!desk.path("ignored").exists());
    let push = words(&["--out", "a.yaml", "--push"]);
    desk.seal_with(&push, "x")
        .exits(2)
        .says("branch main has no upstream")
        .says("nothing was done")
        .says("next: git push --set-upstream origin main, then the same again");
    desk.push();
    desk.git(&["checkout", "--quiet", "--detach"]);
    desk.seal_with(&push, "x").exits(2).says("HEAD is detached").says("next: git switch BRANCH");
    desk.git(&["checkout", "--quiet", "main"]);
    let elsewhere = tempfile::tempdir().unwrap();
    let out = elsewhere.path().join("a.yaml");
    let outside = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--commit", "--out"];
    desk.seal_with(&[&outside[..], &[out.to_str().unwrap()]].concat(), "x").exits(2).says("nothing was");
    assert!(!out.exists());
    let first = desk.git(&["rev-parse", "HEAD"]);
    desk.write(".git/MERGE_HEAD", &first);
    desk.seal_with(&push, "x").exits(2).says("a merge is under way").says("next: git merge --continue or --abort");
    assert!(!desk.path("a.yaml").exists());
    fs::remove_file(desk.path(".git/MERGE_HEAD")).unwrap();
    desk.seal_with(&push, "x").exits(0).says("and pushed it");
    assert!(desk.is_pushed());
}

#[test]
fn a_push_that_comes_second_is_told_to_pull_first() {
    let desk = Desk::with_key("k1");
    let remote = desk.with_remote();
    desk.push();
    let other = tempfile::tempdir().unwrap();
    let (url, there) = (remote.path().to_str().unwrap(), other.path().to_str().unwrap());
    assert!(story::works("git", &["clone", "--quiet", url, there]));
    let theirs = ["-C", there, "-c", "user.name=t", "-c", "user.email=t@example.org"];
    assert!(story::works("git", &[&theirs[..], &["commit", "--quiet", "--allow-empty", "-m", "theirs"]].concat()));
    assert!(story::works("git", &[&theirs[..], &["push", "--quiet"]].concat()));
    let words = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "a.yaml", "--push"];
    desk.seal_with(&words, "x").exits(2).says("but not pushed").says("next: git pull --rebase && git push");
}

#[test]
fn stores_that_give_no_key_say_what_to_do() {
    let desk = Desk::with_key("k1");
    desk.seal(&["restore", "dir:nothing", "--yes"])
        .exits(2)
        .says("nothing to restore")
        .says("coldstart seal restore STORE");
    desk.seal(&["backup", "dir:copy", "--yes"]).exits(0);
    let whole = desk.read("keys.age");
    desk.write("keys.age", &whole[..whole.len() / 2]);
    desk.seal(&["verify"]).exits(2).says("damaged").says("next: move it away, then coldstart seal restore STORE");
    fs::remove_file(desk.path("keys.age")).unwrap();
    desk.seal(&["restore", "dir:copy", "--yes"]).exits(0);
}

#[test]
fn line_ends_of_a_file_stay() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k1", LOGIN).replace('\n', "\r\n"));
    for name in ["login", "another"] {
        let words = ["secret", "--name", name, "--namespace", "apps", "--from-stdin", "a", "--out", "login.yaml"];
        desk.seal_with(&words, "x").exits(0);
    }
    let text = desk.read("login.yaml");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    desk.seal(&["verify"]).exits(0).says("2 SealedSecrets, 3 items: 3 open");
}

#[test]
fn names_are_those_that_kubernetes_takes() {
    let desk = Desk::with_key("k1");
    let name = |name: &str, namespace: &str| {
        desk.seal_with(&["secret", "--name", name, "--namespace", namespace, "--from-stdin", "a"], "x")
    };
    for wrong in ["Foo Bar/..", "a_b", "a-", "a.", "a..b", "\u{e4}"] {
        name(wrong, "apps").exits(2).says("is not a valid Secret name");
    }
    for wrong in ["Apps", "a.b", "a/b"] {
        name("login", wrong).exits(2).says("is not a valid namespace name");
    }
    name("a.b-c.1", "kube-system").exits(0);
}

#[test]
fn every_failure_says_what_to_type_next() {
    let desk = Desk::with_key("k1");
    desk.seal(&["verify", "--path", "/nonexist"]).exits(2).says("next: the same with --path");
    desk.seal(&["deploy", "--yes"]).exits(2).says("next: export KUBECONFIG=FILE");
    desk.write(
        "dead.yaml",
        "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: 'http://127.0.0.1:9'}}]\ncontexts: [{name: a, context: {cluster: a, user: a}}]\nusers: [{name: a, user: {}}]\n",
    );
    desk.run(desk.command(&["deploy", "--yes"]).env("KUBECONFIG", desk.path("dead.yaml")))
        .exits(2)
        .says("http://127.0.0.1:9/ does not answer")
        .says("next: kubectl cluster-info");
}
