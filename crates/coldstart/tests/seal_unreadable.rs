//! `coldstart seal verify` and `reseal` where something can't be read: it is told by name, never passed over.

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, LOGIN};

/// Broken in one way each, by the name of its file.
fn broken(desk: &Desk) -> Vec<(&'static str, Vec<u8>)> {
    let sealed = desk.sealed("k1", LOGIN);
    let templated = format!("{sealed}    data: {{url: \"http://{{{{ .password }}}}\"}}\n");
    let cut = format!("{templated} bad: [\n");
    let json = desk.as_json(&sealed);
    let quoted = sealed.replace("kind: SealedSecret", "kind: \"SealedSecret\"");
    let mut latin = format!("# caf?\n{sealed}").into_bytes();
    latin[5] = 0xe9;
    let doubled = sealed.replace("    password: ", "    password: AAAA\n    password: ");
    vec![
        ("templated.yaml", cut.into_bytes()),
        ("cut.json", json.as_bytes()[..json.len() - 40].to_vec()),
        ("quoted.yaml", format!("{quoted} bad: [\n").into_bytes()),
        ("latin.yaml", latin),
        ("doubled.yaml", doubled.into_bytes()),
    ]
}

#[test]
fn what_may_hold_a_sealed_secret_and_can_not_be_read_is_an_error() {
    let desk = Desk::with_key("k1");
    for (path, bytes) in broken(&desk) {
        fs::write(desk.path(path), bytes).unwrap();
        desk.seal(&["verify"]).exits(1).says(&format!("error: {path}:")).says("may hold a SealedSecret");
        let ran = desk.seal(&["reseal", "--yes"]).exits(2).says(path).says("nothing was written");
        assert!(!ran.stdout.contains("already"), "{}", ran.stdout);
        fs::remove_file(desk.path(path)).unwrap();
    }
    desk.seal(&["verify"]).exits(0);
}

#[test]
fn a_template_of_a_secret_is_no_trouble() {
    let desk = Desk::with_key("k1");
    let sealed = desk.sealed("k1", LOGIN);
    desk.write("a.yaml", &format!("{sealed}    data: {{url: \"http://{{{{ .password }}}}\"}}\n"));
    desk.seal(&["verify"]).exits(0).says("1 open");
}

#[test]
fn templates_of_other_tools_are_named_and_not_judged() {
    let desk = Desk::with_key("k1");
    let template = "apiVersion: bitnami.com/v1alpha1\nkind: SealedSecret\nmetadata:\n  name: {{ .Values.name }}\n";
    desk.write("skeleton/secret.yaml", template);
    desk.seal(&["verify"]).exits(0).says("note: skeleton/secret.yaml:").says("template of another tool");
    desk.seal(&["reseal"]).exits(0).says("skeleton/secret.yaml").says("everything else is sealed");
    // Those of a chart are known to be none of ours.
    fs::remove_file(desk.path("skeleton/secret.yaml")).unwrap();
    desk.write("chart/Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n");
    desk.write("chart/templates/secret.yaml", template);
    let ran = desk.seal(&["verify"]).exits(0);
    assert!(!ran.stdout.contains("templates/"), "{}", ran.stdout);
    desk.seal(&["reseal"]).exits(0).says("everything is sealed with the newest key already");
}

#[test]
fn an_item_that_lands_twice_is_counted_once() {
    let desk = Desk::with_key("k1");
    desk.write("clusters/home/flux-system/gotk-sync.yaml", story::SYNC);
    let apps = |name: &str| {
        let apps = story::APPS.replace("name: apps", &format!("name: {name}"));
        format!("{apps}  targetNamespace: {name}\n")
    };
    desk.write("clusters/home/one.yaml", &apps("one"));
    desk.write("clusters/home/two.yaml", &apps("two"));
    let wide = desk.sealed_wide("k1", LOGIN);
    desk.write("apps/login.yaml", &wide);
    desk.seal(&["verify"]).exits(0).says("1 SealedSecret, 1 item: 1 open").says("1 item with key");
    let json = desk.seal(&["verify", "--format", "json"]).exits(0).json();
    assert_eq!((&json["items"], &json["keys"][0]["items"]), (&1.into(), &1.into()));

    // It opens in one of them: that is not enough.
    desk.write("apps/login.yaml", &desk.sealed("k1", &LOGIN.replace("namespace: apps", "namespace: one")));
    desk.seal(&["verify"]).exits(1).says("1 item: 0 open").says("two/login: `password`: it is sealed for one/login");
}

#[test]
fn the_certificate_of_the_settings_belongs_to_a_key_of_the_store() {
    let desk = Desk::with_key("k1");
    desk.write("coldstart.yaml", "seal: {certificate: certificates/sealing.crt}\n");
    let wrong = |told: &str| {
        desk.seal(&["verify"]).exits(1).says("error: certificates/sealing.crt: ").says(told).says("verify --write");
        desk.seal(&["verify", "--write"]).exits(2).says("write the newest certificate to certificates/sealing.crt");
    };
    wrong("can't be read");
    desk.seal(&["verify", "--write", "--yes"]).exits(0).says("wrote the newest certificate");
    let written = fs::read_to_string(desk.path("certificates/sealing.crt")).unwrap();
    assert_eq!(written, desk.certificate("k1"));
    desk.write("certificates/sealing.crt", &desk.certificate("k2"));
    wrong("which is not in the store");
    desk.write("certificates/sealing.crt", &desk.certificate("k3_expired"));
    wrong("expired on 2022-01-01");
    desk.write("certificates/sealing.crt", "-----BEGIN CERTIFICATE-----\nnothing");
    wrong("is the certificate of coldstart.yaml");

    desk.seal(&["init", "--adopt", "k2.pem", "--yes", "--certificate", "elsewhere.crt"]).exits(0);
    let older = if desk.ring().newest().unwrap().id() == desk.id("k1") { "k2" } else { "k1" };
    desk.write("certificates/sealing.crt", &desk.certificate(older));
    desk.seal(&["verify"]).exits(0).says("note: certificates/sealing.crt: ").says("not the newest of the store");
}
