//! The stand-in behaves as the machine does.

use coldstart_exec as exec;
use exec::{Answer, Environment, ExecError, Input, Limits, Program, Runner as _, Scripted};

#[test]
fn answers_come_in_order_and_calls_are_kept() {
    let runner =
        Scripted::new([Answer::prints("v1\n"), Answer::fails(2, "no such file"), Answer::NotFound, Answer::TimesOut]);
    let git = |word| Program::new("git").argument(word).environment(Environment::nothing().with("A", "1"));
    assert_eq!(runner.run(&git("version")).unwrap().text(), "v1\n");
    assert!(
        matches!(runner.run(&git("x")).unwrap().success(), Err(ExecError::Failed { code: 2, said, .. }) if said == "no such file")
    );
    assert!(matches!(runner.run(&git("y")), Err(ExecError::NotFound { .. })));
    assert!(matches!(runner.run(&git("z")), Err(ExecError::TimedOut { .. })));
    let calls = runner.calls();
    assert_eq!(calls.iter().map(exec::Call::line).collect::<Vec<_>>(), ["git version", "git x", "git y", "git z"]);
    assert!(!calls[0].environment.passes("PATH"));
}

#[test]
fn secrets_are_not_kept() {
    let runner = Scripted::new([Answer::fails(1, "what is AGE-SECRET-KEY-1?")]);
    let finished = runner.run(&Program::new("age").input(Input::Secret(b"AGE-SECRET-KEY-1\n"))).unwrap();
    assert_eq!(finished.said(), "what is [redacted]?");
    let call = &runner.calls()[0];
    assert!(call.is_secret && call.input.is_none());
}

#[test]
fn limits_on_output_hold_here_too() {
    let runner = Scripted::new([Answer::prints("12345"), Answer::prints("12345")]);
    let limits = Limits { output_bytes_max: 4, ..Limits::default() };
    let ran = runner.run(&Program::new("x").limits(limits));
    assert!(matches!(ran, Err(ExecError::TooMuchOutput { bytes_max: 4, .. })), "{ran:?}");
    let mut read = String::new();
    runner.run_reading(&Program::new("x"), &mut |from| from.read_to_string(&mut read).map(drop)).unwrap();
    assert_eq!(read, "12345");
}

#[test]
#[should_panic(expected = "no answer was written down for `git push`")]
fn a_run_that_no_test_foresaw_is_loud() {
    let _ = Scripted::default().run(&Program::new("git").argument("push"));
}
