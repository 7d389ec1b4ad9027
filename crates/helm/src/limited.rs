//! A program with some input, a limit of time and a limit of output.

use std::io::{self, Read, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Nobody reads a longer complaint.
const COMPLAINT_BYTES_MAX: u64 = 64 * 1024;
const LOOK_EVERY: Duration = Duration::from_millis(2);

pub(crate) enum Ended {
    Well(String),
    /// With what it complained about.
    Badly(String),
    TooSlow,
    TooLarge,
}

/// Runs a command to its end, or until it has used up its time, or has said more than it may.
pub(crate) fn run(mut command: Command, input: &[u8], time: Duration, bytes_max: u64) -> io::Result<Ended> {
    let deadline = Instant::now() + time;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        // A program that does not read its input has its reasons.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let output = gather(scope, stdout, bytes_max);
        let complaint = gather(scope, stderr, COMPLAINT_BYTES_MAX);
        let ended = wait(&mut child, &output, deadline, bytes_max);
        if !matches!(ended, Ok(Ended::Well(_) | Ended::Badly(_))) {
            // It may have ended by itself meanwhile.
            let _ = child.kill();
        }
        child.wait()?;
        match ended? {
            Ended::Badly(_) => Ok(Ended::Badly(text(complaint.recv().unwrap_or_default()))),
            other => Ok(other),
        }
    })
}

/// Reads on a thread of its own, one byte more than allowed at most, and gives everything at the end.
fn gather<'s, R: Read + Send + 's>(
    scope: &'s thread::Scope<'s, '_>,
    from: Option<R>,
    bytes_max: u64,
) -> mpsc::Receiver<Vec<u8>> {
    let (give, take) = mpsc::channel();
    scope.spawn(move || {
        let mut bytes = Vec::new();
        // What was read until then is what there is.
        let _ = from.map(|from| from.take(bytes_max + 1).read_to_end(&mut bytes));
        let _ = give.send(bytes);
    });
    take
}

fn wait(child: &mut Child, output: &mpsc::Receiver<Vec<u8>>, deadline: Instant, bytes_max: u64) -> io::Result<Ended> {
    let left = deadline.saturating_duration_since(Instant::now());
    let Ok(bytes) = output.recv_timeout(left) else { return Ok(Ended::TooSlow) };
    if bytes.len() as u64 > bytes_max {
        return Ok(Ended::TooLarge);
    }
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(Ended::Well(text(bytes))),
            Some(_) => return Ok(Ended::Badly(String::new())),
            None if Instant::now() >= deadline => return Ok(Ended::TooSlow),
            None => thread::sleep(LOOK_EVERY),
        }
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::{Ended, run};
    use std::process::Command;
    use std::time::{Duration, Instant};

    fn shell(script: &str, input: &[u8], milliseconds: u64, bytes_max: u64) -> Ended {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        run(command, input, Duration::from_millis(milliseconds), bytes_max).unwrap()
    }

    #[test]
    fn input_goes_in_and_output_comes_out() {
        let large = vec![b'a'; 1024 * 1024];
        let Ended::Well(text) = shell("cat", &large, 10_000, 2 * 1024 * 1024) else { panic!("it should end well") };
        assert_eq!(text.len(), large.len());
        assert!(matches!(shell("exec 0<&-; echo deaf", &large, 10_000, 1024), Ended::Well(text) if text == "deaf\n"));
    }

    #[test]
    fn what_fails_says_why() {
        assert!(matches!(shell("echo no >&2; exit 3", b"", 10_000, 1024), Ended::Badly(said) if said == "no\n"));
    }

    #[test]
    fn time_and_output_are_limited() {
        let start = Instant::now();
        assert!(matches!(shell("exec sleep 20", b"", 100, 1024), Ended::TooSlow));
        assert!(matches!(shell("exec 1>&-; exec sleep 20", b"", 100, 1024), Ended::TooSlow));
        assert!(matches!(shell("exec yes", b"", 10_000, 1024), Ended::TooLarge));
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
