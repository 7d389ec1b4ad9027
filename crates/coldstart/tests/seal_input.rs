//! `coldstart seal secret`: what it does not take, and that nothing is written then.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, LOGIN};
use story::Ran;

const MEBIBYTE: usize = 1024 * 1024;

fn seal(desk: &Desk, more: &[&str]) -> Ran {
    desk.seal(&[&["secret", "--name", "login", "--namespace", "apps"], more].concat())
}

#[test]
fn an_empty_variable_is_no_value() {
    let desk = Desk::with_key("k1");
    let words = ["secret", "--name", "a", "--namespace", "b", "--from-env", "c=EMPTY", "--out", "a.yaml"];
    desk.run(desk.command(&words).env("EMPTY", ""))
        .exits(2)
        .says("no value for `c`: the environment variable that is named for it is empty")
        .says("--from-file c=/dev/null");
    assert!(!desk.path("a.yaml").exists());
}

#[test]
fn a_word_that_may_be_a_value_is_not_repeated() {
    let desk = Desk::with_key("k1");
    for (words, said) in [
        (&["password=TOPSECRET"][..], "a word of the command line is not understood"),
        (&["--raw=TOPSECRET"], "`--raw` takes no value, and is given one"),
        (&["--from-literal", "password=TOPSECRET"], "there is no --from-literal"),
        (&["--from-literal=password=TOPSECRET"], "there is no --from-literal"),
        (&["--TOPSECRET"], "a word of the command line is not understood"),
        (&["-pTOPSECRET"], "a word of the command line is not understood"),
        (&["--scope", "TOPSECRET"], "the value of `--scope <SCOPE>` is not valid"),
        (&["--nam", "TOPSECRET"], "did you mean `--name`?"),
        (&["--", "TOPSECRET"], "a word of the command line is not understood"),
    ] {
        let ran = seal(&desk, words).exits(2).says(said).says("next: --from-stdin KEY");
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!all.contains("TOPSECRET") && !all.contains("similar argument"), "{words:?} {all}");
    }
    // What holds no value is told as ever.
    desk.seal(&["secret", "--help"]).exits(0).says("--from-stdin <KEY>");
    desk.seal(&["verify", "--nonsense"]).exits(2).says("--nonsense");
}

#[test]
fn numbers_that_are_no_json_are_to_be_quoted() {
    let desk = Desk::with_key("k1");
    for (number, said) in [
        ("0123", "begins with a zero"),
        ("08", "begins with a zero"),
        ("1e400", "that JSON does not have"),
        ("0x1FFFFFFFFFFFFFFFF", "more than 64 bits"),
    ] {
        desk.write("config.yaml", &format!("# ours\na:\n  pin: {number}\n"));
        let ran = seal(&desk, &["--structure", "c=config.yaml"]).exits(2).says("config.yaml:3: ").says(said);
        assert!(ran.stderr.contains("quote it") && !ran.stderr.contains(number), "{}", ran.stderr);
        desk.write("config.yaml", &format!("a:\n  pin: '{number}'\n"));
        seal(&desk, &["--structure", "c=config.yaml"]).exits(0);
    }
    desk.write("config.yaml", "a: 1\nb: [TOPSECRET\nc: 2\n");
    let ran = seal(&desk, &["--structure", "c=config.yaml"]).exits(2).says("it is not YAML or JSON");
    assert!(ran.stderr.contains("config.yaml:") && !ran.stderr.contains("TOPSECRET"), "{}", ran.stderr);
}

#[test]
fn one_name_in_two_places_is_refused() {
    let desk = Desk::with_key("k1");
    let one = desk.sealed("k1", LOGIN);
    let twice = format!("{one}{one}");
    desk.write("twice.yaml", &twice);
    let words = ["--from-file", "a=k1.pem", "--out", "twice.yaml"];
    let second = one.lines().count() + 5;
    seal(&desk, &words)
        .exits(2)
        .says("twice.yaml:5 and ")
        .says(&format!("twice.yaml:{second} are both SealedSecret apps/login"));
    assert_eq!(fs::read_to_string(desk.path("twice.yaml")).unwrap(), twice);
    // Of two namespaces, the one that is meant is found.
    desk.write("twice.yaml", &format!("{}{one}", desk.sealed("k1", &LOGIN.replace("apps", "other"))));
    seal(&desk, &words).exits(0).says("sealed 1 item of apps/login");

    let manifest = |second: &str| format!("{LOGIN}---\n{second}");
    let manifested = |more: &[&str]| desk.seal(&[&["secret", "--manifest", "plain.yaml"], more].concat());
    desk.write("plain.yaml", &manifest(LOGIN));
    manifested(&[]).exits(2).says("plain.yaml:4 and plain.yaml:14 are both Secret apps/login");
    desk.write("plain.yaml", &manifest(&LOGIN.replace("namespace: apps", "namespace: other")));
    manifested(&[]).exits(0);
    manifested(&["--namespace", "third"]).exits(2).says("are both Secret third/login");
}

#[test]
fn a_file_that_nobody_reads_is_refused() {
    let desk = Desk::with_key("k1");
    for name in ["login.yaml.bak", "login", "login.txt"] {
        seal(&desk, &["--prompt", "a", "--out", name])
            .exits(2)
            .says("*.yaml, *.yml and *.json")
            .says(&format!("{name}.yaml"));
        assert!(!desk.path(name).exists());
    }
    desk.write(
        "coldstart.yaml",
        "seal: {generate: [{path: a.txt, name: b, namespace: c, values: [{key: d, kind: hex}]}]}\n",
    );
    desk.seal(&["generate", "--yes"]).exits(2).says("*.yaml, *.yml and *.json");
}

#[test]
fn nothing_is_written_outside_of_the_repository() {
    let desk = Desk::with_key("k1");
    desk.write(".git/config", "");
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("a.yaml");
    for out in
        ["../escaped-coldstart.yaml", "new/../../escaped-coldstart.yaml", ".git/a.yaml", outside.to_str().unwrap()]
    {
        seal(&desk, &["--from-file", "a=k1.pem", "--out", out]).exits(2).says("is not in the repository").says("next:");
        assert!(!desk.path(out).exists(), "{out}");
        let declared = format!("{{path: '{out}', name: a, namespace: b, values: [{{key: c, kind: hex}}]}}");
        desk.write("coldstart.yaml", &format!("seal: {{generate: [{declared}]}}\n"));
        desk.seal(&["generate", "--yes"]).exits(2).says("is not in the repository");
        fs::remove_file(desk.path("coldstart.yaml")).unwrap();
        assert!(!desk.path(out).exists(), "{out}");
    }
    seal(&desk, &["--from-file", "a=k1.pem", "--out", desk.path("new/a.yaml").to_str().unwrap()]).exits(0);
}

#[test]
fn a_secret_that_no_api_server_takes_is_refused_and_reported() {
    let desk = Desk::with_key("k1");
    desk.write("most.bin", &"x".repeat(MEBIBYTE));
    desk.write("more.bin", &"x".repeat(MEBIBYTE + 1));
    seal(&desk, &["--from-file", "a=more.bin", "--out", "a.yaml"])
        .exits(2)
        .says("its values have 1048577 bytes together")
        .says("no Secret larger than 1048576");
    assert!(!desk.path("a.yaml").exists());
    seal(&desk, &["--from-file", "a=most.bin", "--out", "a.yaml"]).exits(0);
    desk.seal(&["verify"]).exits(0);
    // With what is there already, and in its place.
    desk.write("one.txt", "1");
    seal(&desk, &["--from-file", "b=one.txt", "--out", "a.yaml"]).exits(2).says("1048577 bytes");
    seal(&desk, &["--from-file", "a=most.bin", "--out", "a.yaml"]).exits(0);
    // As kubeseal would write it.
    let text = fs::read_to_string(desk.path("a.yaml")).unwrap();
    let item = text.lines().find(|line| line.starts_with("    a: ")).unwrap();
    desk.write("a.yaml", &text.replace(item, &format!("{item}\n{}", item.replace("    a: ", "    b: "))));
    desk.seal(&["verify"]).exits(1).says("apps/login: its values have 2097152 bytes together");
}

#[test]
fn recipients_beside_a_passphrase_are_refused() {
    let desk = Desk::new();
    desk.write("coldstart.yaml", &format!("seal: {{recipients: [{}]}}\n", desk.recipient()));
    let mut words = desk.plain_command(&["init", "--adopt", "k1.pem", "--yes", "--store", "age:phrase.age"]);
    desk.run(words.env("COLDSTART_PASSPHRASE", "correct horse"))
        .exits(2)
        .says("`seal.recipients`")
        .says("next: the same with --identity FILE for the recipients, or remove `seal.recipients`");
    assert!(!desk.path("phrase.age").exists());
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0);
    // Nor as the second store.
    let mut words =
        desk.plain_command(&["init", "--adopt", "k1.pem", "--yes", "--store", "dir:keys", "--backup", "age:b.age"]);
    desk.run(words.env("COLDSTART_PASSPHRASE", "correct horse")).exits(2).says("`seal.recipients`");
    assert!(!desk.path("keys").exists());
}

/// Two clusters in one repository, and the store of the wrong one.
#[test]
fn items_for_different_keys_in_one_sealed_secret_are_told() {
    let desk = Desk::with_key("k1");
    desk.write("login.yaml", &desk.sealed("k2", LOGIN));
    desk.write("token", "t");
    let add = ["--from-file", "token", "--out", "login.yaml"];
    seal(&desk, &add)
        .exits(0)
        .says("login.yaml: sealed 1 item of apps/login")
        .says("no key of the store opens `password` of login")
        .says("next: coldstart seal verify");
    // Whoever lost a key seals one after the other anew, and then all is well.
    desk.write("password", "p");
    let whole = seal(&desk, &["--from-file", "password", "--out", "login.yaml"]).exits(0);
    assert_eq!(whole.stderr, "");
    let same = seal(&desk, &add).exits(0);
    assert_eq!(same.stderr, "");
}

/// Whoever seals a manifest "in place" means that the Secret goes away; it would stay, and be committed.
#[test]
fn a_secret_in_the_clear_does_not_stay_beside_the_sealed_one() {
    let desk = Desk::with_key("k1");
    desk.git(&["init"]);
    let list = sealing::as_list(&[LOGIN.to_owned()]);
    for text in [LOGIN, &LOGIN.replace("  namespace: apps\n", ""), &list] {
        desk.write("login.yaml", text);
        desk.seal(&["secret", "--manifest", "login.yaml", "--namespace", "apps", "--out", "login.yaml", "--commit"])
            .exits(2)
            .says("Secret apps/login is there in the clear")
            .says("nothing was written")
            .says("next: the same with another --out");
        assert_eq!(fs::read_to_string(desk.path("login.yaml")).unwrap(), text);
    }
    // One of another name, and one that SOPS encrypts, are none of its business.
    desk.write("other.yaml", &LOGIN.replace("name: login", "name: other"));
    desk.seal(&["secret", "--manifest", "login.yaml", "--out", "other.yaml"]).exits(0);
    desk.write("sops.yaml", &format!("{LOGIN}sops: {{mac: x}}\n"));
    desk.seal(&["secret", "--manifest", "login.yaml", "--out", "sops.yaml"]).exits(0);
}

/// The command in a shell at a terminal of its own, where somebody types `answer`.
fn at_a_terminal(desk: &Desk, before: &str, words: &[&str], answer: &str) -> String {
    let command = desk.plain_command(words);
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy());
    let line: Vec<String> = std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
    let mut script = std::process::Command::new("script");
    script.args(["--quiet", "--return", "--command", &format!("{before} | {}", line.join(" ")), "/dev/null"]);
    script.current_dir(desk.path("")).env("HOME", desk.path("home")).env_remove("COLDSTART_PASSPHRASE");
    let mut input = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut input, answer.as_bytes()).unwrap();
    std::io::Seek::rewind(&mut input).unwrap();
    let output = script.stdin(input).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
fn who_pipes_something_in_is_asked_at_the_terminal() {
    if !story::works("script", &["--quiet", "--return", "--command", "true", "/dev/null"]) {
        return story::skipped("who_pipes_something_in_is_asked_at_the_terminal: no script of util-linux");
    }
    let desk = Desk::new();
    let said = at_a_terminal(&desk, "cat k1.pem", &["init", "--adopt", "-", "--store", "dir:keys"], "y\n");
    assert!(said.contains("go ahead?") && said.contains("kept key"), "{said}");

    desk.write("phrase", "correct horse\n");
    let store = ["--store", "age:phrase.age"];
    let init = ["init", "--adopt", "k1.pem", "--yes", "--passphrase-file", "phrase"];
    desk.run(&mut desk.plain_command(&[&init[..], &store].concat())).exits(0);
    let secret = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "a.yaml"];
    let said = at_a_terminal(&desk, "echo value", &[&secret[..], &store].concat(), "correct horse\n");
    assert!(said.contains("passphrase of") && said.contains("a.yaml: sealed b/a"), "{said}");
}
