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
fn a_word_that_may_be_a_value_is_not_repeated() {
    let desk = Desk::with_key("k1");
    for (words, said) in [
        (&["password=TOPSECRET"][..], "a word of the command line is not understood"),
        (&["--raw=TOPSECRET"], "`--raw` takes no value, and is given one"),
        (&["--from-literal", "password=TOPSECRET"], "there is no --from-literal"),
        (&["--from-literal=password=TOPSECRET"], "there is no --from-literal"),
        (&["--TOPSECRET"], "a word of the command line is not understood"),
        (&["-pTOPSECRET"], "a word of the command line is not understood"),
        (&["--scope", "TOPSECRET"], "what is given for `--scope <SCOPE>` is not what it takes"),
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
