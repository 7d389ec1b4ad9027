//! `coldstart seal verify` where much is wrong, and where keys lie in the open.

mod sealing;
mod story;

use sealing::{Desk, LOGIN};
use story::works;

const WRONG_STORE: &str = "nothing opens with any key of the store: it may be the wrong one";

#[test]
fn a_wrong_store_is_told_in_one_line() {
    let desk = Desk::with_key("k1");
    for number in 0..23 {
        let name = format!("login{number}");
        desk.write(&format!("{name}.yaml"), &desk.sealed("k2", &LOGIN.replace("login", &name)));
    }
    let ran = desk.seal(&["verify"]).exits(1).says("error: and 3 more items that do not open").says("23 errors");
    assert!(ran.stdout.lines().last().unwrap().starts_with(WRONG_STORE), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("no key in the store opens it").count(), 20, "{}", ran.stdout);
    let json = desk.seal(&["verify", "--format", "json"]).exits(1).json();
    assert_eq!(json["problems"].as_array().unwrap().iter().filter(|one| one["severity"] == "error").count(), 23);
    // One that opens, or belongs elsewhere, shows that the store is the right one.
    desk.write("good.yaml", &desk.sealed("k1", LOGIN).replacen("  name: login", "  name: logon", 1));
    let ran = desk.seal(&["verify"]).exits(1);
    assert!(!ran.stdout.contains(WRONG_STORE), "{}", ran.stdout);
}

#[test]
fn what_is_wrong_is_told_in_every_form_that_check_has() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k2", LOGIN));
    let log = desk.seal(&["verify", "--format", "sarif"]).exits(1).json();
    let (rules, results) = (&log["runs"][0]["tool"]["driver"]["rules"], &log["runs"][0]["results"]);
    let closed = results.as_array().unwrap().iter().find(|one| one["ruleId"] == "sealed-item-does-not-open").unwrap();
    let rule = closed["ruleIndex"].as_u64().and_then(|index| rules.get(usize::try_from(index).ok()?));
    assert_eq!(rule.unwrap()["id"], "sealed-item-does-not-open");
    let place = &closed["locations"][0]["physicalLocation"];
    assert_eq!(closed["level"], "error");
    assert_eq!(place["artifactLocation"]["uri"], "login.yaml");
    assert!(place["region"]["startLine"].as_u64().is_some_and(|line| line > 1), "{place}");
    let said = desk.seal(&["verify", "--format", "github"]).exits(1);
    assert!(said.stdout.contains("::error file=login.yaml,line="), "{}", said.stdout);
    assert!(said.stdout.contains("title=sealed-item-does-not-open::"), "{}", said.stdout);
    desk.seal(&["verify", "--format", "markdown"]).exits(1).says("sealed-item-does-not-open").says("login.yaml");
}

#[test]
fn one_item_of_another_key_says_nothing_of_the_store() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k2", LOGIN));
    let ran = desk.seal(&["verify"]).exits(1);
    assert!(!ran.stdout.contains(WRONG_STORE), "{}", ran.stdout);
}

#[test]
fn private_keys_that_git_would_take_along_are_told() {
    if !works("git", &["--version"]) {
        return story::skipped("private_keys_that_git_would_take_along_are_told: no git");
    }
    let desk = Desk::new();
    let store = ["--store", "dir:keys"];
    let seal = |words: &[&str]| desk.seal(&[words, &store].concat());
    desk.git(&["init", "--quiet", "--initial-branch=main"]);
    let warning = "is inside a Git work tree and not ignored";
    seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0).says(warning);
    seal(&["backup", "dir:copy", "--yes"]).exits(0).says("copy is inside a Git work tree");
    seal(&["verify"]).exits(0);
    desk.git(&["add", "keys"]);
    seal(&["verify"]).exits(1).says(&format!("keys/{}.key: a private key in the clear, and Git has it", desk.id("k1")));
    desk.git(&["rm", "--quiet", "-r", "--cached", "keys"]);
    desk.write(".gitignore", "/keys/\n*.age\n");
    seal(&["verify"]).exits(0);
    let ran = seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains(warning), "{}", ran.stderr);
}

const STORE: &str = "\
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: vault}
spec:
  provider:
    vault:
      auth:
        tokenSecretRef: {name: login, namespace: apps, key: token}
";

const FETCHED: &str = "\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: fetched, namespace: apps}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: vault}
  target: {name: login}
";

#[test]
fn the_credentials_of_a_secret_store_come_from_somewhere_else() {
    let desk = Desk::with_key("k1");
    desk.write("clusters/home/flux-system/gotk-sync.yaml", story::SYNC);
    desk.write("clusters/home/apps.yaml", story::APPS);
    desk.write("apps/store.yaml", STORE);
    let needs = "secret store vault needs Secret apps/login";
    desk.seal(&["verify"])
        .exits(0)
        .says(&format!("note: apps/store.yaml:8: {needs}, which nothing that Flux applies creates"));
    desk.write("apps/login.yaml", FETCHED);
    desk.seal(&["verify"])
        .exits(1)
        .says(&format!("error: apps/store.yaml:8: {needs}, which is fetched from that same"));
    let seed = "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: apps}\nstringData: {token: op://x}\n";
    desk.write("bootstrap/login.yaml.j2", seed);
    assert!(!desk.seal(&["verify"]).exits(0).stdout.contains(needs), "the bootstrap makes it first");
    desk.write("bootstrap/login.yaml.j2", "");
    desk.write("apps/login.yaml", &FETCHED.replace("name: vault", "name: another"));
    assert!(!desk.seal(&["verify"]).exits(0).stdout.contains(needs));

    desk.write("apps/login.yaml", &desk.sealed("k1", LOGIN));
    desk.seal(&["verify"]).exits(1).says(&format!("{needs} with the key `token`, and it has none of that name"));
    desk.write("apps/login.yaml", &desk.sealed("k1", &LOGIN.replace("password:", "token:")));
    assert!(!desk.seal(&["verify"]).exits(0).stdout.contains(needs));
}
