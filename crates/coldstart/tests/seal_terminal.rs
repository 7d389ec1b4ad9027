//! `coldstart seal` at a terminal: what is typed, and what is not shown.
#![cfg(target_os = "linux")]

mod sealing;
mod story;

use sealing::Desk;
use sealing::terminal::{self, Terminal};

const SECRET: [&str; 9] =
    ["secret", "--name", "login", "--namespace", "apps", "--prompt", "password", "--out", "login.yaml"];

fn at(desk: &Desk, words: &[&str]) -> Terminal {
    Terminal::run(&terminal::line(&desk.command(words)), &desk.path(""))
}

#[test]
fn a_value_is_typed_and_not_shown() {
    if !terminal::is_there() {
        return story::skipped("a_value_is_typed_and_not_shown: no script of util-linux, or no stty");
    }
    let desk = Desk::with_key("k1");
    let (screen, code) = at(&desk, &SECRET).meets("value of password: ").types("hunter2 \u{e4}\n").ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(screen.replace("\r\n", "\n").trim(), "value of password: \nlogin.yaml: sealed apps/login (1 item)");
    assert_eq!(desk.open("login.yaml", "password"), "hunter2 \u{e4}".as_bytes());

    // Two questions, one after the other; what is answered with nothing is no value, and nothing is written.
    let two = [&SECRET[..], &["--prompt", "user"]].concat();
    let before = std::fs::read(desk.path("login.yaml")).unwrap();
    let (screen, code) =
        at(&desk, &two).meets("value of password: ").types("other\n").meets("value of user: ").types("\n").ends();
    assert_eq!(code, 2, "{screen}");
    assert!(screen.contains("no value for `user`: the answer is empty") && screen.contains("next: "), "{screen}");
    assert_eq!(std::fs::read(desk.path("login.yaml")).unwrap(), before);
    let (screen, code) =
        at(&desk, &two).meets("value of password: ").types("other\n").meets("value of user: ").types("me\n").ends();
    assert!(code == 0 && !screen.contains("other"), "{screen}");
    assert_eq!(desk.open("login.yaml", "password"), b"other");
    assert_eq!(desk.open("login.yaml", "user"), b"me");
}

/// Somebody who forgot the pipe before the command.
#[test]
fn who_reads_a_value_from_the_terminal_itself_is_told() {
    if !terminal::is_there() {
        return story::skipped(
            "who_reads_a_value_from_the_terminal_itself_is_told: no script of util-linux, or no stty",
        );
    }
    let desk = Desk::with_key("k1");
    let words = ["secret", "--name", "a", "--namespace", "b", "--from-stdin", "c", "--out", "a.yaml"];
    let told = "reading the value of c from this terminal, until Ctrl-D; --prompt c does not show it";
    let (screen, code) = at(&desk, &words).reads(told).types("value\n\u{4}").ends();
    assert_eq!(code, 0, "{screen}");
    assert_eq!(desk.open("a.yaml", "c"), b"value");
}

#[test]
fn nobody_answers_where_nobody_is() {
    let desk = Desk::with_key("k1");
    desk.seal(&SECRET)
        .exits(2)
        .says("no value for password: there is no terminal to ask on")
        .says("next: --from-stdin password");
    assert!(!desk.path("login.yaml").exists());
}

/// Whoever presses Ctrl-C in the middle of a password types on in a shell that shows what is typed.
#[test]
fn a_question_that_is_broken_off_leaves_the_terminal_as_it_was() {
    if !terminal::is_there() {
        return story::skipped(
            "a_question_that_is_broken_off_leaves_the_terminal_as_it_was: no script of util-linux, or no stty",
        );
    }
    let desk = Desk::with_key("k1");
    let line = terminal::line(&desk.command(&SECRET));
    let typed = |keys: &str| {
        let line = format!("sh -c 'trap : INT; {}; echo code=$?; stty -a'", line.replace('\'', "\""));
        let (screen, _) = Terminal::run(&line, &desk.path("")).meets("value of password: ").types(keys).ends();
        for setting in [" echo ", " icanon ", "isig "] {
            assert!(screen.replace(['\r', '\n', ';'], " ").contains(setting), "no{setting}after {keys:?}:\n{screen}");
        }
        assert!(!screen.contains("hun"), "{screen}");
        screen
    };
    let stopped = typed("hun\u{3}");
    assert!(stopped.contains("code=130"), "{stopped}");
    // Ctrl-D where nothing was typed yet.
    let ended = typed("\u{4}");
    assert!(ended.contains("code=2") && ended.contains("no value for password: no answer"), "{ended}");
    assert!(!desk.path("login.yaml").exists());
}

#[test]
fn a_passphrase_that_is_wrong_or_typed_differently_makes_nothing() {
    if !terminal::is_there() {
        return story::skipped(
            "a_passphrase_that_is_wrong_or_typed_differently_makes_nothing: no script of util-linux, or no stty",
        );
    }
    let desk = Desk::new();
    let at = |words: &[&str]| Terminal::run(&terminal::line(&desk.plain_command(words)), &desk.path(""));
    let init = ["init", "--adopt", "k1.pem", "--yes", "--store", "age:phrase.age"];
    let asked = "passphrase of phrase.age: ";
    let (screen, code) =
        at(&init).meets(asked).types("correct horse\n").meets("again: ").types("correct house\n").ends();
    assert!(code == 2 && screen.contains("the two are not the same") && screen.contains("next: "), "{screen}");
    assert!(!desk.path("phrase.age").exists());
    let (screen, code) =
        at(&init).meets(asked).types("correct horse\n").meets("again: ").types("correct horse\n").ends();
    assert!(code == 0 && !screen.contains("horse"), "{screen}");
    let verify = ["verify", "--store", "age:phrase.age"];
    let (screen, code) = at(&verify).meets(asked).types("correct house\n").ends();
    assert!(code == 2 && screen.contains("the passphrase is wrong") && screen.contains("next: "), "{screen}");
    let (screen, code) = at(&verify).meets(asked).types("correct horse\n").ends();
    assert!(code == 0 && screen.contains("0 errors"), "{screen}");
}
