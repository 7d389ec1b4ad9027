//! `coldstart seal verify` and SOPS files: what should be encrypted and is not, in every format, by names and by rules.

mod sealing;
mod story;

use sealing::Desk;

const SECRET: &str = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData:\n  password: TOPSECRET\n";
const ENCRYPTED: &str = "ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]";

/// Runs `verify` with the identity of the desk; what it says must not hold what is secret.
#[track_caller]
fn verify(desk: &Desk) -> story::Ran {
    let ran = desk.run(desk.command(&["verify"]).env("SOPS_AGE_KEY_FILE", desk.path("identity.txt")));
    assert!(!ran.stdout.contains("TOPSECRET"), "{}", ran.stdout);
    ran
}

#[track_caller]
fn tells(ran: story::Ran, words: &[&str]) {
    words.iter().fold(ran, |ran, words| ran.says(words));
}

fn rules(rules: &str) -> String {
    format!("creation_rules:\n{rules}")
}

#[test]
fn a_secret_that_a_rule_wants_encrypted_is_found_in_the_clear() {
    let desk = Desk::with_key("k1");
    desk.write("secrets/db.yaml", SECRET);
    verify(&desk).exits(0);
    desk.write(".sops.yaml", &rules("  - path_regex: secrets/.*\\.yaml$\n    encrypted_regex: ^(data|stringData)$\n"));
    tells(
        verify(&desk).exits(1),
        &["error: secrets/db.yaml:5: `stringData.password`", "next: sops encrypt --in-place secrets/db.yaml"],
    );
    // Other objects in the same directory are none of its business, nor is what Flux fills in.
    desk.write("secrets/db.yaml", &SECRET.replace("TOPSECRET", "${PASSWORD}"));
    desk.write("secrets/kustomization.yaml", "resources: [db.yaml]\n");
    desk.write("secrets/config.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\n");
    verify(&desk).exits(0);
    // A file that is no object may be meant, and may not.
    desk.write("secrets/values.yaml", "password: TOPSECRET\n");
    verify(&desk).exits(0);
    desk.write(".sops.yaml", &rules("  - path_regex: secrets/.*\\.yaml$\n"));
    verify(&desk).exits(0).says("note: secrets/values.yaml:1: `password` is in the clear");
}

#[test]
fn a_secret_that_flux_fills_in_is_noted_where_a_rule_is_for_a_whole_tree() {
    let desk = Desk::with_key("k1");
    desk.write(".sops.yaml", &rules("  - path_regex: kubernetes/.*\\.yaml$\n"));
    desk.write("kubernetes/db.yaml", SECRET);
    verify(&desk).exits(1).says("error: kubernetes/db.yaml:5: `stringData.password`");
    desk.write("kubernetes/db.yaml", &SECRET.replace("TOPSECRET", "${PASSWORD}\n  host: db"));
    verify(&desk).exits(0).says("note: kubernetes/db.yaml:6: `stringData.host`");
}

#[test]
fn the_first_rule_that_matches_counts_and_its_paths_begin_at_its_file() {
    let desk = Desk::with_key("k1");
    desk.write("home/secrets/db.yaml", SECRET);
    desk.write("home/.sops.yaml", &rules("  - path_regex: ^secrets/\\w+\\.yaml$\n"));
    verify(&desk).exits(1).says("home/secrets/db.yaml:5");
    // Nothing of what the first rule wants encrypted is there.
    let first = "  - path_regex: ^secrets/\n    encrypted_regex: ^token$\n";
    desk.write("home/.sops.yaml", &rules(&format!("{first}  - path_regex: .*\n")));
    verify(&desk).exits(0);
    desk.write("home/.sops.yaml", &rules("  - path_regex: ^home/secrets/\n"));
    verify(&desk).exits(0);
    desk.write("home/.sops.yaml", &rules("  - path_regex: ^secrets/\n    unencrypted_suffix: Data\n"));
    verify(&desk).exits(0);
    desk.write("home/.sops.yaml", "creation_rules: [\n");
    verify(&desk).exits(1).says("error: home/.sops.yaml: can't be read as YAML");
}

#[test]
fn every_format_that_is_named_as_a_sops_file_is_looked_at() {
    let desk = Desk::with_key("k1");
    desk.write("x.sops.json", "{\"password\": \"TOPSECRET\"}\n");
    desk.write("y.sops.env", "PASSWORD=TOPSECRET\n");
    desk.write("z.sops.ini", "[a]\npassword = TOPSECRET\n");
    desk.write("broken.sops.yaml", "stringData:\n  a: [\n");
    desk.write("cut.sops.json", "{\"password\": \"TOPSECRET\", \"sops\": {");
    desk.write("empty.sops.yaml", "# nothing yet\n");
    desk.write(".sops.pub.asc", "a key\n");
    let ran = verify(&desk).exits(1).says("5 errors");
    tells(
        ran,
        &[
            "x.sops.json: is named as a SOPS file and is not encrypted",
            "next: sops encrypt --in-place x.sops.json",
            "y.sops.env: is named as a SOPS file and is not encrypted",
            "z.sops.ini: is named as a SOPS file and is not encrypted",
            "broken.sops.yaml:",
            "is a SOPS file and can't be read as YAML",
            "cut.sops.json:",
            "is a SOPS file and can't be read as JSON",
        ],
    );
}

#[test]
fn values_beside_the_metadata_are_encrypted_as_it_says() {
    let desk = Desk::with_key("k1");
    let file = desk.sops(&desk.recipient(), ENCRYPTED);
    let metadata = &file[file.find("sops:\n").unwrap()..];
    let all = metadata.replace("  encrypted_regex: ^(data|stringData)$\n", "");
    let values = |text: &str, metadata: &str| desk.write("values.sops.yaml", &format!("{text}{metadata}"));
    values(&format!("user: {ENCRYPTED}\npassword: TOPSECRET\n"), &all);
    verify(&desk).exits(1).says("error: values.sops.yaml:2: `password` is in the clear in a SOPS file");
    // Booleans and numbers are encrypted, too; nothing and the empty text stay.
    values("on: true\nport: 80\n", &all);
    verify(&desk).exits(1).says("`on` is in the clear in a SOPS file, and 1 more");
    values(&format!("a: {ENCRYPTED}\nb: ''\nc: null\nd: []\ne_unencrypted: yes\nf: ['{ENCRYPTED}']\n"), &all);
    verify(&desk).exits(0).says("1 SOPS file");
    values("user: me\n", &all.replace("  version", "  unencrypted_regex: ^user$\n  version"));
    verify(&desk).exits(0);
    values("user: me\n", &all.replace("  version", "  encrypted_suffix: word\n  version"));
    verify(&desk).exits(0);
    values("password: TOPSECRET\n", &all.replace("  version", "  encrypted_suffix: word\n  version"));
    verify(&desk).exits(1);
}

#[test]
fn encrypted_files_of_other_formats_are_opened() {
    let desk = Desk::with_key("k1");
    let file = desk.sops(&desk.recipient(), ENCRYPTED);
    desk.write("a.sops.json", &desk.as_json(&file));
    let root = yaml::parse_value(source::FileId(0), &file).unwrap();
    let armored = root.at(&["sops"]).unwrap().items_at("age")[0].text_at(&["enc"]).unwrap().replace('\n', "\\n");
    let recipient = desk.recipient();
    let lines = |prefix: &str| {
        format!(
            "{prefix}age__list_0__map_enc={armored}\n{prefix}age__list_0__map_recipient={recipient}\n{prefix}mac=ENC[x]\n{prefix}version=3.9.0\n"
        )
    };
    desk.write("b.sops.env", &format!("A={ENCRYPTED}\n{}", lines("sops_")));
    desk.write("c.sops.ini", &format!("[one]\nA = {ENCRYPTED}\n[sops]\n{}", lines("")));
    let ran = verify(&desk).exits(0).says("3 SOPS files").says("0 errors, 0 notes");
    assert!(!ran.stdout.contains("was not opened"), "{}", ran.stdout);
    desk.write("b.sops.env", &format!("A={ENCRYPTED}\nB=TOPSECRET\n{}", lines("sops_")));
    verify(&desk).exits(1).says("error: b.sops.env:2: `B` is in the clear in a SOPS file");
}

#[test]
fn that_no_identity_is_at_hand_is_said_once() {
    let desk = Desk::with_key("k1");
    for name in ["a", "b", "c"] {
        desk.write(&format!("{name}.sops.yaml"), &desk.sops(&desk.recipient(), ENCRYPTED));
    }
    desk.seal(&["init", "--adopt", "k1.pem", "--store", "dir:../plain", "--yes"]).exits(0);
    let ran = desk.run(&mut desk.plain_command(&["verify", "--store", "dir:../plain"])).exits(0);
    assert_eq!(ran.stdout.matches("no age identity").count(), 1, "{}", ran.stdout);
    tells(ran, &["a.sops.yaml and 2 more: ", "3 SOPS files", "0 errors, 1 note"]);
}
