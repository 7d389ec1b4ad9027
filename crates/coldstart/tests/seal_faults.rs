//! `coldstart seal` where something goes wrong: what is told, and what is left.

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
    refused(&["mixed.pem"], "mixed.pem: it is PEM, and something else");
    refused(&["cut.pem"], "cut.pem: the private key can't be read");
    refused(&["k1.pem", "identity.txt"], "identity.txt: there is no private key");
    // A certificate may be one of a chain; that it is left is told.
    desk.seal(&["init", "--adopt", "k1.pem", "k2.crt", "--yes"]).exits(0).says("leave alone k2.crt");
    desk.seal(&["init", "--adopt", "k2.key", "--new-certificate", "--yes"]).exits(0).says(&desk.id("k2"));
}

#[test]
fn names_are_those_that_kubernetes_takes() {
    let desk = Desk::with_key("k1");
    let name = |name: &str, namespace: &str| {
        desk.seal_with(&["secret", "--name", name, "--namespace", namespace, "--from-stdin", "a"], "x")
    };
    for wrong in ["Foo Bar/..", "a_b", "a-", "a.", "a..b", "\u{e4}"] {
        name(wrong, "apps").exits(2).says("is no name for a Secret");
    }
    for wrong in ["Apps", "a.b", "a/b"] {
        name("login", wrong).exits(2).says("is no name for a namespace");
    }
    name("a.b-c.1", "kube-system").exits(0);
}
