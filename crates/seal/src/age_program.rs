//! The `age` program, for what the library can't do: post-quantum identities and recipients (age 1.3 or later).
//!
//! Secrets go to it through a pipe, never as an argument or in a file; what it is given as a file is encrypted.

use std::io::{self, Read as _, Write as _};
use std::process::{Command, Stdio};

use tempfile::NamedTempFile;

use crate::{RING_BYTES_MAX, SecretBytes};

const AGE: &str = "age";
const AGE_KEYGEN: &str = "age-keygen";
/// How post-quantum identities begin.
pub const POST_QUANTUM_IDENTITY: &str = "AGE-SECRET-KEY-PQ-1";
/// How post-quantum recipients begin.
pub const POST_QUANTUM_RECIPIENT: &str = "age1pq1";
/// Enough for a sentence of why.
const SAID_BYTES_MAX: u64 = 4 * 1024;

/// Why the program did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AgeProgramError {
    #[error("a post-quantum identity needs the program `{0}` (age 1.3 or later), which is not on PATH")]
    Missing(&'static str),
    #[error("none of the identities opens it")]
    NoMatch,
    #[error("`{AGE}` did not open it (post-quantum identities need age 1.3 or later)")]
    NotOpened,
    /// What it says is only repeated where no secret was given to it but the text to encrypt.
    #[error("`{program}` did not do it: {said}")]
    Failed { program: &'static str, said: String },
}

/// Whether one of the lines is an identity that only the program can use.
pub fn is_post_quantum(identities: &SecretBytes) -> bool {
    let text = identities.expose_text().unwrap_or_default();
    text.lines().any(|line| line.trim().starts_with(POST_QUANTUM_IDENTITY))
}

/// Opens an age file with the identities of an identity file.
pub fn decrypt(encrypted: &[u8], identities: &SecretBytes) -> Result<SecretBytes, AgeProgramError> {
    let failed = |error: io::Error| AgeProgramError::Failed { program: AGE, said: error.to_string() };
    let mut file = NamedTempFile::new().map_err(failed)?;
    file.write_all(encrypted).map_err(failed)?;
    let mut command = Command::new(AGE);
    command.args(["--decrypt", "--identity", "-"]).arg(file.path());
    let ran = run(&mut command, AGE, identities)?;
    match ran {
        Ran { is_fine: true, out, .. } => Ok(out),
        Ran { said, .. } if said.contains("no identity matched") => Err(AgeProgramError::NoMatch),
        Ran { .. } => Err(AgeProgramError::NotOpened),
    }
}

/// Encrypts to recipients, armored.
pub fn encrypt(plain: &SecretBytes, recipients: &[String]) -> Result<Vec<u8>, AgeProgramError> {
    let mut command = Command::new(AGE);
    command.args(["--encrypt", "--armor"]);
    for one in recipients {
        command.args(["--recipient", one]);
    }
    let ran = run(&mut command, AGE, plain)?;
    if ran.is_fine {
        return Ok(ran.out.expose().to_vec());
    }
    Err(AgeProgramError::Failed { program: AGE, said: first_line(&ran.said) })
}

/// The recipients of identities. Where some are post-quantum only those: age mixes them with no others.
pub fn recipients(identities: &SecretBytes) -> Result<Vec<String>, AgeProgramError> {
    let ran = run(Command::new(AGE_KEYGEN).arg("-y"), AGE_KEYGEN, identities)?;
    let text = ran.out.expose_text().unwrap_or_default();
    let all: Vec<String> =
        text.lines().map(str::trim).filter(|line| line.starts_with("age1")).map(str::to_owned).collect();
    if !ran.is_fine || all.is_empty() {
        let said = "it gives no recipients (post-quantum identities need age 1.3 or later)".to_owned();
        return Err(AgeProgramError::Failed { program: AGE_KEYGEN, said });
    }
    let is_post_quantum = |one: &String| one.starts_with(POST_QUANTUM_RECIPIENT);
    let only: Vec<String> = all.iter().filter(|one| is_post_quantum(one)).cloned().collect();
    Ok(if only.is_empty() { all } else { only })
}

fn first_line(said: &str) -> String {
    said.lines().next().unwrap_or("it says nothing").trim_start_matches("age: ").to_owned()
}

struct Ran {
    is_fine: bool,
    out: SecretBytes,
    said: String,
}

fn run(command: &mut Command, program: &'static str, input: &SecretBytes) -> Result<Ran, AgeProgramError> {
    let failed = |error: io::Error| AgeProgramError::Failed { program, said: error.to_string() };
    // Other variables may hold secrets that are none of its business.
    command
        .env_clear()
        .envs(["PATH", "HOME", "TMPDIR"].iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => AgeProgramError::Missing(program),
        _ => failed(error),
    })?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (out, said) = std::thread::scope(|scope| {
        let (stdin, stdout, stderr) = pipes;
        // It may end before it has read everything: then its exit code says so.
        scope.spawn(move || stdin.map(|mut pipe| pipe.write_all(input.expose())));
        let said = scope.spawn(move || {
            let mut said = String::new();
            let _unreadable = stderr.map(|pipe| pipe.take(SAID_BYTES_MAX).read_to_string(&mut said));
            said
        });
        let out =
            stdout.map_or_else(|| Ok(SecretBytes::new(Vec::new())), |pipe| SecretBytes::read(pipe, RING_BYTES_MAX));
        (out, said.join().unwrap_or_default())
    });
    let is_fine = child.wait().map_err(failed)?.success();
    Ok(Ran { is_fine, out: out.map_err(failed)?, said })
}
