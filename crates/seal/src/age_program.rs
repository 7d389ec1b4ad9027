//! The `age` program, for what the library can't do: post-quantum identities and recipients (age 1.3 or later).
//!
//! Secrets go to it through a pipe, never as an argument or in a file; what it is given as a file is encrypted.

#![expect(clippy::disallowed_methods, reason = "the program is given what it opens as a file")]

use std::io::{self, Write as _};

use exec::{Environment, ExecError, Input, Limits, Program, Runner as _, System};
use tempfile::NamedTempFile;

use crate::{RING_BYTES_MAX, SecretBytes};
use source::clean;

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
    #[error("`{AGE_KEYGEN}` failed: it gives no recipients (post-quantum identities need age 1.3 or later)")]
    NoRecipients,
    /// What it says is only repeated where no secret was given to it but the text to encrypt.
    #[error("`{program}` failed: {said}", said = clean(.said))]
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
    let program = Program::new(AGE).arguments(["--decrypt", "--identity", "-"]).argument(file.path());
    let ran = run(program, AGE, identities)?;
    match ran {
        Ran { is_fine: true, out, .. } => Ok(out),
        Ran { said, .. } if said.contains("no identity matched") => Err(AgeProgramError::NoMatch),
        Ran { .. } => Err(AgeProgramError::NotOpened),
    }
}

/// Encrypts to recipients, armored.
pub fn encrypt(plain: &SecretBytes, recipients: &[String]) -> Result<Vec<u8>, AgeProgramError> {
    let recipients = recipients.iter().flat_map(|one| ["--recipient", one]);
    let ran = run(Program::new(AGE).arguments(["--encrypt", "--armor"]).arguments(recipients), AGE, plain)?;
    if ran.is_fine {
        return Ok(ran.out.expose().to_vec());
    }
    Err(AgeProgramError::Failed { program: AGE, said: first_line(&ran.said) })
}

/// The recipients of identities. Where some are post-quantum only those: age mixes them with no others.
pub fn recipients(identities: &SecretBytes) -> Result<Vec<String>, AgeProgramError> {
    let ran = run(Program::new(AGE_KEYGEN).argument("-y"), AGE_KEYGEN, identities)?;
    let text = ran.out.expose_text().unwrap_or_default();
    let all: Vec<String> =
        text.lines().map(str::trim).filter(|line| line.starts_with("age1")).map(str::to_owned).collect();
    if !ran.is_fine || all.is_empty() {
        return Err(AgeProgramError::NoRecipients);
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

fn run<'a>(program: Program<'a>, name: &'static str, input: &'a SecretBytes) -> Result<Ran, AgeProgramError> {
    let limits = Limits { complaint_bytes_max: SAID_BYTES_MAX, ..Limits::default() };
    // Other variables may hold secrets that are none of its business.
    let environment = Environment::only(["PATH", "HOME", "TMPDIR"]);
    let program = program.environment(environment).limits(limits).input(Input::Secret(input.expose()));
    let mut out = SecretBytes::new(Vec::new());
    let finished = System.run_reading(&program, &mut |from| {
        out = SecretBytes::read(from, RING_BYTES_MAX)?;
        Ok(())
    });
    match finished {
        Ok(finished) => Ok(Ran { is_fine: finished.is_success(), out, said: finished.said().to_owned() }),
        Err(ExecError::NotFound { .. }) => Err(AgeProgramError::Missing(name)),
        Err(ExecError::NotStarted { source, .. } | ExecError::Unread { source, .. }) => {
            Err(AgeProgramError::Failed { program: name, said: source.to_string() })
        }
        Err(error) => Err(AgeProgramError::Failed { program: name, said: error.to_string() }),
    }
}
