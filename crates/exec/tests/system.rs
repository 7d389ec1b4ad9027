//! Real programs, run by a shell.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic, too")]

use std::io::{BufRead as _, BufReader, Read as _};
use std::time::{Duration, Instant};

use coldstart_exec as exec;
use exec::{Ending, Environment, ExecError, Finished, Group, Input, Limits, Program, Runner as _, Stream, System};

fn shell(script: &str) -> Program<'static> {
    Program::new("sh").arguments(["-c", script]).limits(limits(10_000, 1024))
}

fn limits(milliseconds: u64, output_bytes_max: u64) -> Limits {
    Limits { time: Some(Duration::from_millis(milliseconds)), output_bytes_max, ..Limits::default() }
}

fn run(program: &Program<'_>) -> Finished {
    System.run(program).unwrap()
}

/// Whether a process is there and not just waiting to be asked how it ended.
fn is_alive(id: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat"));
    status.is_ok_and(|status| !status.contains(") Z "))
}

#[test]
fn input_goes_in_and_output_comes_out() {
    let large = vec![b'a'; 1024 * 1024];
    let cat = shell("cat").input(Input::Bytes(&large)).limits(limits(10_000, 2 * 1024 * 1024));
    assert_eq!(run(&cat).output, large);
    assert_eq!(run(&shell("exec 0<&-; echo deaf").input(Input::Bytes(&large))).text(), "deaf\n");
    assert_eq!(run(&shell("cat")).text(), "", "without input, it is at its end at once");
}

#[test]
fn what_fails_says_why() {
    let finished = run(&shell("echo no >&2; exit 3"));
    assert_eq!((finished.ending, finished.said()), (Ending::Code(3), "no\n"));
    let error = finished.success().unwrap_err();
    assert!(matches!(&error, ExecError::Failed { code: 3, said, .. } if said == "no\n"));
    assert_eq!(error.to_string(), "`sh` ended with code 3: no");
    let killed = run(&shell("kill -KILL $$")).success();
    assert!(matches!(killed, Err(ExecError::Killed { signal: 9, .. })), "{killed:?}");
}

#[test]
fn what_is_not_there_is_not_found() {
    let missing = System.run(&Program::new("no-such-program-anywhere"));
    assert!(matches!(missing, Err(ExecError::NotFound { .. })), "{missing:?}");
    let directory = System.run(&Program::new("/"));
    assert!(matches!(directory, Err(ExecError::NotStarted { .. })), "{directory:?}");
}

#[test]
fn time_and_output_are_limited() {
    let start = Instant::now();
    for script in ["exec sleep 20", "exec 1>&-; exec sleep 20"] {
        let ran = System.run(&shell(script).limits(limits(100, 1024)));
        assert!(matches!(ran, Err(ExecError::TimedOut { after, .. }) if after.as_millis() == 100), "{ran:?}");
    }
    let ran = System.run(&shell("exec yes"));
    assert!(matches!(ran, Err(ExecError::TooMuchOutput { bytes_max: 1024, .. })), "{ran:?}");
    assert_eq!(run(&shell("printf 1234").limits(limits(10_000, 4))).text(), "1234", "the limit itself is allowed");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_long_complaint_is_cut_and_stops_nothing() {
    let complaint_bytes_max = 10;
    let program =
        shell("yes no | head -n 100000 >&2; echo done").limits(Limits { complaint_bytes_max, ..limits(10_000, 64) });
    let finished = run(&program);
    assert_eq!((&*finished.text(), finished.said()), ("done\n", "no\nno\nno\nn"));
}

#[test]
fn a_limit_ends_all_of_a_group() {
    let start = Instant::now();
    // What it starts holds its output open, and would keep a reader waiting.
    let program = shell("sleep 300 & echo $!; wait").group(Group::Own).limits(limits(200, 1024));
    let mut first = String::new();
    let ran = System.run_reading(&program, &mut |from| {
        let mut lines = BufReader::new(from);
        lines.read_line(&mut first)?;
        lines.read_to_end(&mut Vec::new()).map(drop)
    });
    assert!(matches!(ran, Err(ExecError::TimedOut { .. })), "{ran:?}");
    assert!(start.elapsed() < Duration::from_mins(1));
    let deadline = Instant::now() + Duration::from_secs(10);
    while is_alive(first.trim()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!is_alive(first.trim()), "{first} is still there");
}

#[test]
fn a_reader_that_fails_ends_the_program() {
    let start = Instant::now();
    let ran = System.run_reading(&shell("exec sleep 20"), &mut |_| Err(std::io::Error::other("enough")));
    assert!(matches!(ran, Err(ExecError::Unread { source, .. }) if source.to_string() == "enough"));
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn only_what_is_passed_on_is_seen() {
    let print = |environment| run(&Program::new("/usr/bin/env").environment(environment)).text().into_owned();
    assert_eq!(print(Environment::nothing()), "");
    assert_eq!(print(Environment::nothing().with("A", "1").with("B", "2")), "A=1\nB=2\n");
    let names =
        |text: &str| text.lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect::<Vec<_>>();
    assert_eq!(names(&print(Environment::only(["PATH", "NOT_SET_ANYWHERE"]))), ["PATH"]);
    let others = names(&print(Environment::all_but(["PATH"]).with("A", "1")));
    assert!(!others.contains(&"PATH".to_owned()) && others.contains(&"A".to_owned()), "{others:?}");
    assert!(names(&print(Environment::everything())).contains(&"PATH".to_owned()));
}

#[test]
fn streams_that_are_dropped_are_empty() {
    let finished = run(&shell("echo out; echo err >&2").output(Stream::Dropped).complaint(Stream::Dropped));
    assert_eq!((&*finished.text(), finished.said(), finished.is_success()), ("", "", true));
}

#[test]
fn a_secret_that_comes_back_is_not_repeated() {
    let program = shell("cat >&2; exit 1").input(Input::Secret(b"AGE-SECRET-KEY-1QQQ\n"));
    assert_eq!(run(&program).said(), "[redacted]\n");
}

#[test]
fn it_starts_where_it_is_told() {
    assert_eq!(run(&shell("pwd").directory("/")).text(), "/\n");
}

/// A program that it started in a session of its own is not ended with it, and holds its pipes.
#[test]
#[cfg(target_os = "linux")]
fn a_limit_holds_though_a_grandchild_keeps_the_output() {
    let started = std::time::Instant::now();
    let limits = Limits { time: Some(Duration::from_millis(500)), ..Limits::default() };
    let script = "setsid sleep 20 & echo said; wait";
    let program = Program::new("sh").arguments(["-c", script]).limits(limits).group(Group::Own);
    let ran = System.run(&program);
    assert!(matches!(ran, Err(ExecError::TimedOut { .. })), "{ran:?}");
    let program = Program::new("sh").arguments(["-c", "setsid sleep 20 >/dev/null & echo said"]).limits(limits);
    let finished = System.run(&program).unwrap();
    assert_eq!(finished.text(), "said\n");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}
