//! `cargo xtask evaluate damage`: commands that write are killed at any moment, and files that they wrote are damaged. Nothing may be
//! lost, nothing done twice, and what is damaged is refused untouched.
//!
//! Every case is kept in a file as soon as it is done: a run that was interrupted goes on where it stopped.

mod journal;
mod keys;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use fixtures::hostile::Dice;
use serde::{Deserialize, Serialize};

use crate::product;
use crate::table::Table;

/// A run that takes longer hangs.
const RUN_SECONDS_MAX: u64 = 60;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Kinds [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "KIND,…")]
    only: Vec<Kind>,
    /// How often something is killed or damaged, of each kind [default: 1638, 174, 400 and 311]
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Where the outcomes of cases go [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    /// `up`, killed
    Up,
    /// `seal rotate` and `seal reseal` in turn, killed
    Rotate,
    /// The journal of `up`, with one bit that is another
    Journal,
    /// A store of sealing keys, cut, overwritten, or with one bit that is another
    Store,
}

impl Kind {
    fn count(self) -> u64 {
        match self {
            Self::Up => 1_638,
            Self::Rotate => 174,
            Self::Journal => 400,
            Self::Store => 311,
        }
    }

    fn says(self) -> &'static str {
        match self {
            Self::Up => "`up` killed",
            Self::Rotate => "`rotate` and `reseal` killed",
            Self::Journal => "a bit of the journal flipped",
            Self::Store => "an age store damaged",
        }
    }
}

/// What came of one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Case {
    version: String,
    kind: Kind,
    number: u64,
    /// How often something was killed or damaged in it.
    struck: u64,
    /// It was refused, and nothing was touched.
    refused: bool,
    fault: Option<String>,
}

/// What a case came to, if it held.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    struck: u64,
    refused: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = product::binary(options.bin.as_deref())?;
    let scratch = options.scratch.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-damage"));
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let mut kept = Kept::open(scratch.join("cases.jsonl"), product::version(&binary)?)?;
    let kinds = if options.only.is_empty() { Kind::value_variants() } else { &options.only };
    for kind in kinds {
        one_kind(*kind, options.count.unwrap_or(kind.count()), &binary, &mut kept)?;
    }
    let mut table = Table::new(["what", "times", "cases", "refused untouched", "faults"]);
    let mut faults = Vec::new();
    for kind in kinds {
        let cases: Vec<&Case> = kept.cases.values().filter(|case| case.kind == *kind).collect();
        let struck: u64 = cases.iter().map(|case| case.struck).sum();
        let refused = cases.iter().filter(|case| case.refused).count();
        let found: Vec<String> = cases.iter().filter_map(|case| case.fault.clone()).collect();
        let figures = [struck.to_string(), cases.len().to_string(), refused.to_string(), found.len().to_string()];
        table.row([kind.says().to_owned()].into_iter().chain(figures));
        faults.extend(found);
    }
    print!("{}", table.render());
    for fault in &faults {
        println!("{fault}");
    }
    ensure!(faults.is_empty(), "{} faults", faults.len());
    Ok(())
}

fn one_kind(kind: Kind, count: u64, binary: &Path, kept: &mut Kept) -> Result<()> {
    let is_it = |case: &&Case| case.kind == kind;
    let mut struck: u64 = kept.cases.values().filter(is_it).map(|case| case.struck).sum();
    let mut number = 0;
    let desk = if struck < count { Some(Desk::new(kind, binary)?) } else { None };
    while let Some(desk) = desk.as_ref().filter(|_| struck < count) {
        if !kept.cases.contains_key(&(kind, number)) {
            let mut dice = Dice::new(number);
            let held = match kind {
                Kind::Up => journal::killed(desk, &mut dice),
                Kind::Journal => journal::flipped(desk, &mut dice),
                Kind::Rotate => keys::killed(desk, number, &mut dice),
                Kind::Store => keys::damaged(desk, number, &mut dice),
            };
            let fault = held.as_ref().err().map(|error| format!("{} {number}: {error:#}", kind.says()));
            let held = held.unwrap_or(Held { struck: 1, refused: false });
            let version = kept.version.clone();
            kept.add(Case { version, kind, number, struck: held.struck, refused: held.refused, fault })?;
            struck += held.struck;
        }
        number += 1;
    }
    Ok(())
}

/// What all cases of a kind begin with.
struct Desk {
    binary: PathBuf,
    scratch: tempfile::TempDir,
    /// How long the command takes that is killed.
    takes: Duration,
}

impl Desk {
    fn new(kind: Kind, binary: &Path) -> Result<Self> {
        let scratch = tempfile::tempdir()?;
        let mut desk = Self { binary: binary.to_owned(), scratch, takes: Duration::ZERO };
        desk.takes = match kind {
            Kind::Up | Kind::Journal => journal::prepare(&desk)?,
            Kind::Rotate | Kind::Store => keys::prepare(&desk)?,
        };
        Ok(desk)
    }

    /// Where it is all made, and where every case takes place: what is kept of a run goes by its path.
    fn place(&self) -> PathBuf {
        self.scratch.path().join("desk")
    }

    /// Keeps what is there for every case.
    fn keep(&self) -> Result<()> {
        copy(&self.place(), &self.scratch.path().join("kept"))
    }

    /// Everything as it was kept.
    fn copy(&self) -> Result<PathBuf> {
        let place = self.place();
        fs::remove_dir_all(&place)?;
        copy(&self.scratch.path().join("kept"), &place)?;
        Ok(place)
    }

    fn command(&self, directory: &Path, words: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command.args(words).current_dir(directory).env("HOME", self.scratch.path()).stdin(Stdio::null());
        command.env_remove("COLDSTART_PASSPHRASE").env_remove("KUBECONFIG");
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn run(&self, directory: &Path, words: &[&str]) -> Result<ExitStatus> {
        let mut child = self.command(directory, words).spawn()?;
        let began = Instant::now();
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if began.elapsed() > Duration::from_secs(RUN_SECONDS_MAX) {
                child.kill()?;
                child.wait()?;
                anyhow::bail!("`{}` takes more than {RUN_SECONDS_MAX} s", words.join(" "));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs a command for a while, and kills it; false where it was done before.
    fn kill(&self, directory: &Path, words: &[&str], dice: &mut Dice) -> Result<bool> {
        let after = self.takes / 1_000 * u32::try_from(dice.below(1_000))?;
        let mut child = self.command(directory, words).spawn()?;
        std::thread::sleep(after);
        let is_done = child.try_wait()?.is_some();
        child.kill()?;
        child.wait()?;
        Ok(!is_done)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    fs::set_permissions(to, fs::metadata(from)?.permissions())?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

/// Flips one bit, and says in which byte.
fn flip(dice: &mut Dice, bytes: &mut [u8]) -> usize {
    let at = dice.below(bytes.len());
    bytes[at] ^= 1 << dice.below(8);
    at
}

/// The cases of one program, kept in a file of one line each.
struct Kept {
    file: PathBuf,
    version: String,
    cases: BTreeMap<(Kind, u64), Case>,
}

impl Kept {
    fn open(file: PathBuf, version: String) -> Result<Self> {
        let text = if file.exists() { fs::read_to_string(&file)? } else { String::new() };
        let mut cases = BTreeMap::new();
        for line in text.lines() {
            let case: Case = serde_json::from_str(line).with_context(|| format!("{}: {line}", file.display()))?;
            if case.version == version {
                cases.insert((case.kind, case.number), case);
            }
        }
        Ok(Self { file, version, cases })
    }

    fn add(&mut self, case: Case) -> Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        writeln!(file, "{}", serde_json::to_string(&case)?)?;
        self.cases.insert((case.kind, case.number), case);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_done_is_not_done_again_for_the_same_program() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("cases.jsonl");
        let mut kept = Kept::open(file.clone(), "coldstart 0".to_owned()).unwrap();
        let version = kept.version.clone();
        kept.add(Case { version, kind: Kind::Up, number: 3, struck: 2, refused: false, fault: None }).unwrap();
        assert_eq!(Kept::open(file.clone(), "coldstart 0".to_owned()).unwrap().cases.len(), 1);
        assert!(Kept::open(file, "coldstart 1".to_owned()).unwrap().cases.is_empty());
    }

    #[test]
    fn a_flip_changes_one_bit() {
        let mut bytes = [0; 40];
        flip(&mut Dice::new(7), &mut bytes);
        assert_eq!(bytes.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
