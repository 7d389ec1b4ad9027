//! The journal: what a run did, kept so that the next one knows.
//!
//! One line per event: a checksum, a space, JSON. Every line is on the disk before what follows from it is done. The last
//! line may be torn by whatever ended the writer, and is cut off; a bad line before it means that somebody else wrote here,
//! and nothing is touched. Secrets have no way in: events hold names, hashes and reasons.

#![expect(clippy::disallowed_methods, reason = "the journal is a file: the one that this crate writes")]

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use repository::file::Links;

use crate::event::{Event, Line, Outcome, Where};
use source::shown;

/// The first line of a new journal.
const HEADER: &str = r#"{"journal":"coldstart","version":2}"#;
/// Version 1 has reasons in words. Such a journal is read, and gone on with: an older coldstart stops at the first line of ours.
const HEADERS: [&str; 2] = [HEADER, r#"{"journal":"coldstart","version":1}"#];
/// Nobody has more; a larger file is no journal of ours.
const BYTES_MAX: u64 = 1 << 30;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("{path} is in use: another `coldstart up` is running", path = shown(.path))]
    Busy { path: PathBuf },
    #[error(
        "line {line} is damaged, and more follows: move the journal away, and the next run checks everything again"
    )]
    Damaged { line: usize },
    #[error("it was written by a newer coldstart, or is not a journal: its first line is unknown")]
    Unknown,
    #[error("{path}: {source}", path = shown(.path))]
    File { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Where lines go. One call is one line, and it is safe when the call returns.
pub trait Tape {
    fn append(&mut self, line: &[u8]) -> io::Result<()>;
}

/// Keeps events on a tape.
#[derive(Debug)]
pub struct Journal<T> {
    tape: T,
}

impl<T: Tape> Journal<T> {
    /// A journal on a tape that holds `kept`.
    pub fn new(mut tape: T, kept: &Kept) -> Result<Self, JournalError> {
        if kept.is_new {
            tape.append(framed(HEADER).as_bytes())?;
        }
        Ok(Self { tape })
    }

    /// Keeps an event, if it is one to keep.
    pub fn keep(&mut self, line: &Line) -> Result<(), JournalError> {
        if line.event.is_kept() {
            let json = serde_json::to_string(line).map_err(io::Error::other)?;
            self.tape.append(framed(&json).as_bytes())?;
        }
        Ok(())
    }

    pub fn into_tape(self) -> T {
        self.tape
    }
}

fn checksum(json: &str) -> String {
    format!("{:08x}", crc32fast::hash(json.as_bytes()))
}

fn framed(json: &str) -> String {
    format!("{} {json}\n", checksum(json))
}

/// What a journal held.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    pub lines: Vec<Line>,
    /// How many bytes of it are good; the rest is one torn line.
    pub good: usize,
    is_new: bool,
}

impl Kept {
    pub fn read(bytes: &[u8]) -> Result<Self, JournalError> {
        let mut kept = Self::default();
        let mut number = 0;
        while let Some(length) = bytes[kept.good..].iter().position(|byte| *byte == b'\n') {
            let line = &bytes[kept.good..kept.good + length];
            let is_last = kept.good + length + 1 == bytes.len();
            number += 1;
            match unframed(line) {
                Some(json) if number == 1 && HEADERS.contains(&json) => {}
                Some(_) if number == 1 => return Err(JournalError::Unknown),
                Some(json) => match serde_json::from_str(json) {
                    Ok(line) => kept.lines.push(line),
                    Err(_) => return Err(JournalError::Unknown),
                },
                None if is_last => break,
                None if number == 1 => return Err(JournalError::Unknown),
                None => return Err(JournalError::Damaged { line: number }),
            }
            kept.good += length + 1;
        }
        kept.is_new = kept.good == 0;
        if kept.is_new && !HEADERS.iter().any(|header| framed(header).as_bytes().starts_with(bytes)) {
            return Err(JournalError::Unknown);
        }
        Ok(kept)
    }

    /// The runs it tells of.
    pub fn past(&self) -> Past {
        let mut past = Past::default();
        for (index, line) in self.lines.iter().enumerate() {
            past.add(index, line);
        }
        past
    }
}

fn unframed(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (sum, json) = line.split_once(' ')?;
    // To the letter: a number can be written in more than one way, and only one of them is ours.
    (sum == checksum(json)).then_some(json)
}

/// What earlier runs come to.
#[derive(Clone, Debug, Default)]
pub struct Past {
    pub runs: Vec<Run>,
    /// The hash that each step had when it was last proved.
    pub proved: BTreeMap<String, String>,
    /// Steps that were begun after they were last proved, if ever.
    pub begun: BTreeMap<String, u32>,
}

/// One run in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub number: u32,
    pub world: Where,
    /// When it began, in seconds since 1970; older journals do not tell.
    pub date: Option<u64>,
    /// The lines that tell of it, of all that are kept.
    pub lines: std::ops::Range<usize>,
    /// None if it was cut off.
    pub outcome: Option<Outcome>,
}

impl Past {
    fn add(&mut self, index: usize, line: &Line) {
        match &line.event {
            Event::Began { run, world, date, .. } => {
                let lines = index..index + 1;
                self.runs.push(Run { number: *run, world: world.clone(), date: *date, lines, outcome: None });
            }
            Event::Ended { outcome } => {
                if let Some(run) = self.runs.last_mut() {
                    run.outcome = Some(*outcome);
                }
            }
            Event::Started { step, attempt } => {
                self.begun.insert(step.clone(), *attempt);
            }
            Event::Proved { step, hash, .. } => {
                self.begun.remove(step);
                self.proved.insert(step.clone(), hash.clone());
            }
            _ => {}
        }
        if let Some(run) = self.runs.last_mut() {
            run.lines.end = index + 1;
        }
    }

    pub fn next_run(&self) -> u32 {
        self.runs.last().map_or(1, |run| run.number.saturating_add(1))
    }
}

/// A file, locked as long as it is open.
#[derive(Debug)]
pub struct FileTape {
    file: File,
}

impl FileTape {
    /// Opens a journal to go on with it; the directory is made if it is not there. A torn last line is cut off.
    pub fn open(path: &Path) -> Result<(Self, Kept), JournalError> {
        let at = |source| JournalError::File { path: path.to_owned(), source };
        if let Some(directory) = path.parent() {
            edit::make_private_directory(directory).map_err(at)?;
        }
        let mut file = edit::open_to_append(path, true).map_err(at)?;
        lock(&file, path)?;
        let kept = Kept::read(&read_all(&mut file).map_err(at)?)?;
        file.set_len(kept.good as u64).map_err(at)?;
        file.sync_all().map_err(at)?;
        if let Some(directory) = path.parent().filter(|_| kept.is_new) {
            File::open(directory).and_then(|directory| directory.sync_all()).map_err(at)?;
        }
        Ok((Self { file }, kept))
    }

    /// Keeps an old journal beside the new one that is to come; one that is in use stays where it is.
    pub fn put_away(path: &Path) -> Result<(), JournalError> {
        let at = |source| JournalError::File { path: path.to_owned(), source };
        let old = match edit::open_to_append(path, false) {
            Ok(old) => old,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => return Err(at(source)),
        };
        lock(&old, path)?;
        let last = Self::earlier(path)?.last().map_or(0, |(number, _)| *number);
        let name = path.with_extension(last.saturating_add(1).to_string());
        fs::rename(path, name).map_err(at)
    }

    /// The journals that were put away, with their numbers, the oldest first.
    pub fn earlier(path: &Path) -> Result<Vec<(u32, PathBuf)>, JournalError> {
        let at = |source| JournalError::File { path: path.to_owned(), source };
        let (Some(directory), Some(name)) = (path.parent(), path.file_stem()) else { return Ok(Vec::new()) };
        let entries = match fs::read_dir(directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(at(source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(at)?.path();
            let number = path.extension().and_then(|number| number.to_str()).and_then(|number| number.parse().ok());
            found.extend(number.filter(|_| path.file_stem() == Some(name)).map(|number| (number, path)));
        }
        found.sort();
        Ok(found)
    }

    /// Removes the journals that were put away, but for the newest; says how many.
    pub fn prune(path: &Path, kept: usize) -> Result<usize, JournalError> {
        let earlier = Self::earlier(path)?;
        let old = &earlier[..earlier.len().saturating_sub(kept)];
        for (_, path) in old {
            fs::remove_file(path).map_err(|source| JournalError::File { path: path.clone(), source })?;
        }
        Ok(old.len())
    }

    /// Whether somebody goes on with it at this moment.
    pub fn is_in_use(path: &Path) -> bool {
        open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Reads a journal without touching it; none is an empty one.
    pub fn peek(path: &Path) -> Result<Kept, JournalError> {
        match open(path).and_then(|mut file| read_all(&mut file)) {
            Ok(bytes) => Kept::read(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Kept::default()),
            Err(source) => Err(JournalError::File { path: path.to_owned(), source }),
        }
    }
}

/// To be read, without waiting for anything.
fn open(path: &Path) -> io::Result<File> {
    repository::file::open(path, Links::Followed)
}

fn lock(file: &File, path: &Path) -> Result<(), JournalError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => JournalError::Busy { path: path.to_owned() },
        TryLockError::Error(source) => JournalError::File { path: path.to_owned(), source },
    })
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 1 GiB"));
    }
    Ok(bytes)
}

impl Tape for FileTape {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.write_all(line)?;
        self.file.sync_data()
    }
}

/// A tape in memory. It can be made to break: what a crash at that write leaves behind.
#[derive(Clone, Debug, Default)]
pub struct MemoryTape {
    pub bytes: Vec<u8>,
    /// After so many lines, the next is torn after so many bytes and the writer dies.
    pub breaks_after: Option<(usize, usize)>,
    lines: usize,
}

impl MemoryTape {
    pub fn holding(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }
}

impl Tape for MemoryTape {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if let Some((lines, torn)) = self.breaks_after
            && self.lines >= lines
        {
            self.bytes.extend_from_slice(&line[..torn.min(line.len())]);
            return Err(io::Error::other("the writer died"));
        }
        self.lines += 1;
        self.bytes.extend_from_slice(line);
        Ok(())
    }
}
