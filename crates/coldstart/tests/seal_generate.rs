//! `coldstart seal generate`: values that belong together, and the formats that other programs read.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod sealing;
mod story;

use std::fs;
use std::process::Command;

use sealing::Desk;
use story::works;

fn declare(desk: &Desk, values: &str) {
    let head = "seal:\n  generate:\n    - path: app.yaml\n      name: app\n      namespace: db\n      values:\n";
    desk.write("coldstart.yaml", &format!("{head}{values}"));
}

/// The file without one of its items.
fn forget(desk: &Desk, key: &str) {
    let text = fs::read_to_string(desk.path("app.yaml")).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.starts_with(&format!("    {key}: "))).collect();
    assert_eq!(kept.len() + 1, text.lines().count(), "{text}");
    desk.write("app.yaml", &format!("{}\n", kept.join("\n")));
}

#[test]
fn a_template_is_made_again_with_the_value_it_uses() {
    let desk = Desk::with_key("k1");
    declare(
        &desk,
        "        - {key: password, kind: password}
        - {key: token, kind: hex}
        - {key: dsn, kind: template, template: 'postgres://app:${password}@db'}
        - {key: url, kind: template, template: '${dsn}?ssl'}
",
    );
    desk.seal(&["generate", "--yes"]).exits(0).says("app.yaml app: password, token, dsn, url\n");
    let (before, token) = (desk.open("app.yaml", "password"), desk.open("app.yaml", "token"));
    forget(&desk, "password");
    desk.seal(&["generate", "--yes"])
        .exits(0)
        .says("app.yaml app: password, dsn again, which uses password, url again, which uses dsn\n")
        .says("sealed 3 items of db/app");
    let password = desk.open("app.yaml", "password");
    assert_ne!(password, before);
    assert_eq!(desk.open("app.yaml", "dsn"), [b"postgres://app:", &password[..], b"@db"].concat());
    assert_eq!(desk.open("app.yaml", "url"), [b"postgres://app:", &password[..], b"@db?ssl"].concat());
    assert_eq!(desk.open("app.yaml", "token"), token, "what nothing new is in stays");
    desk.seal(&["generate", "--yes"]).exits(0).says("every declared value already exists");
}

#[test]
fn a_key_that_is_declared_twice_is_refused_where_it_stands() {
    let desk = Desk::with_key("k1");
    let refused = |values: &str, said: &str| {
        declare(&desk, values);
        desk.seal(&["generate", "--yes"]).exits(2).says(said).says("next: fix that file");
        assert!(!desk.path("app.yaml").exists());
    };
    refused(
        "        - {key: id, kind: age, public-key: id}\n",
        "coldstart.yaml:7:44: `id` of Secret `app` is declared already, in line 7",
    );
    refused(
        "        - {key: id, kind: age, public-key: pub}\n        - {key: pub, kind: hex}\n",
        "coldstart.yaml:8:17: `pub` of Secret `app` is declared already, in line 7",
    );
    refused(
        "        - {key: a, kind: hex}\n        - {key: a, kind: password}\n",
        "coldstart.yaml:8:17: `a` of Secret `app` is declared already, in line 7",
    );
    let again = "    - {path: app.yaml, name: app, values: [{key: a, kind: hex}]}\n";
    refused(&format!("        - {{key: a, kind: hex}}\n{again}"), "coldstart.yaml:8:50: `a` of Secret `app`");
    declare(&desk, &format!("        - {{key: a, kind: hex}}\n{}", again.replace("app.yaml", "other.yaml")));
    desk.seal(&["generate"]).exits(2).says("--yes");
}

#[test]
fn pairs_are_read_by_the_programs_they_are_for() {
    let desk = Desk::with_key("k1");
    declare(
        &desk,
        "        - {key: ssh, kind: ssh-ed25519, public-key: ssh.pub}
        - {key: rsa, kind: rsa, public-key: rsa.pub}
",
    );
    desk.seal(&["generate", "--yes"]).exits(0);
    for key in ["ssh", "rsa"] {
        fs::write(desk.path(key), desk.open("app.yaml", key)).unwrap();
    }
    let public = |key: &str| String::from_utf8(desk.open("app.yaml", &format!("{key}.pub"))).unwrap();
    let said = |program: &str, words: &[&str]| {
        let ran = Command::new(program).args(words).current_dir(desk.path("")).output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    };
    if works("openssl", &["version"]) {
        assert_eq!(said("openssl", &["pkey", "-in", "rsa", "-pubout"]), public("rsa"));
    } else {
        story::skipped("pairs_are_read_by_the_programs_they_are_for: no openssl");
    }
    // It says nothing of its version, and fails without a question.
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        return story::skipped("pairs_are_read_by_the_programs_they_are_for: no ssh-keygen");
    }
    assert!(works("chmod", &["600", desk.path("ssh").to_str().unwrap()]));
    assert_eq!(said("ssh-keygen", &["-y", "-f", "ssh"]).trim(), public("ssh").trim());
}
