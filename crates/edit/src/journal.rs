//! What files held before many of them are changed, for the run after one that was killed.
//!
//! The journal is written and synced before the first file is changed, and goes when the last one is. As long as the program
//! that wrote it lives, it is locked.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use source::shown;

use crate::changes::Change;
use crate::file::{Readers, create_locked, is_unchanged, replace_for_good, sync_directory, without_waiting};
use crate::path::{directory_of, make_private_directory, remove_empty_parents, resolved};

/// The first line of a journal. Another number is another format.
const HEAD: &str = "coldstart changes 2";
/// What is read of a journal; a larger one is not ours.
const BYTES_MAX: u64 = 1024 * 1024 * 1024;

/// Why a journal could not be followed. It stays.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// The program that wrote it still runs.
    #[error("another program changes these files: {} is locked", shown(.0))]
    Busy(PathBuf),
    /// It is not one, or of another version.
    #[error("{} is not a journal of this version", shown(.0))]
    Foreign(PathBuf),
    /// Files hold neither what they held before nor what was to be there.
    #[error("{} was changed since", shown(.0))]
    Changed(PathBuf),
    /// The system can't do it.
    #[error("{} can't be restored: {source}", shown(.path))]
    Io {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Where a journal is kept, and the directory that it tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal {
    file: PathBuf,
    root: PathBuf,
}

impl Journal {
    /// One in this file, of files below this directory.
    pub fn new(file: &Path, root: &Path) -> Self {
        Self { file: file.to_path_buf(), root: resolved(root) }
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Whether a run that was to change files did not come to its end, or is still at it.
    pub fn is_open(&self) -> bool {
        self.file.exists()
    }

    /// Writes down what these files hold and are to hold, for good.
    pub(crate) fn begin(&self, changes: &[Change]) -> io::Result<Begun<'_>> {
        make_private_directory(directory_of(&self.file))?;
        let lock = create_locked(&self.file, &written(&self.root, changes), Readers::Owner)?;
        Ok(Begun { file: &self.file, _lock: lock })
    }

    /// Gives files back what they held, if the run that was to change them was killed. Says which; none where there is no
    /// journal, or nothing was changed yet. Nothing is restored where one of them was changed since.
    pub fn undo(&self) -> Result<Vec<PathBuf>, UndoError> {
        let Some((_lock, changes)) = self.open()? else { return Ok(Vec::new()) };
        let mut restored = Vec::new();
        for noted in &changes {
            let change = &noted.change;
            let is = |held: &Option<Vec<u8>>| is_unchanged(&change.path, held.as_deref()).map_err(io(&change.path));
            match (is(&change.before)?, is(&change.after)?) {
                (true, _) => {}
                (false, true) => restored.push(noted),
                (false, false) => return Err(UndoError::Changed(change.path.clone())),
            }
        }
        for noted in &restored {
            restore(noted).map_err(io(&noted.change.path))?;
        }
        for Noted { change, .. } in &changes {
            // What the run that was killed had ready.
            crate::remove_stale(directory_of(&change.path));
            remove_empty_parents(&change.path, &self.root);
        }
        fs::remove_file(&self.file).map_err(io(&self.file))?;
        Ok(restored.into_iter().map(|noted| noted.change.path.clone()).collect())
    }

    /// What is written down, and the file, locked; nothing where there is none.
    fn open(&self) -> Result<Option<(File, Vec<Noted>)>, UndoError> {
        let mut file = match without_waiting(File::options().read(true)).open(&self.file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(io(&self.file))?,
        };
        if let Err(fs::TryLockError::WouldBlock) = file.try_lock() {
            return Err(UndoError::Busy(self.file.clone()));
        }
        let mut bytes = Vec::new();
        (&mut file).take(BYTES_MAX).read_to_end(&mut bytes).map_err(io(&self.file))?;
        let changes = read(&bytes, &self.root).ok_or_else(|| UndoError::Foreign(self.file.clone()))?;
        Ok(Some((file, changes)))
    }
}

/// One that is being kept, locked until it ends.
pub(crate) struct Begun<'j> {
    file: &'j Path,
    _lock: File,
}

impl Begun<'_> {
    /// All files are changed, or none is.
    pub(crate) fn end(self) {
        let _gone = fs::remove_file(self.file);
        sync_directory(directory_of(self.file));
    }
}

fn io(path: &Path) -> impl FnOnce(io::Error) -> UndoError + use<> {
    let path = path.to_path_buf();
    move |source| UndoError::Io { path, source }
}

/// What is written down of one file.
#[derive(Debug, PartialEq, Eq)]
struct Noted {
    change: Change,
    /// Its permissions, if it was there and the system has such.
    mode: Option<u32>,
}

#[cfg(unix)]
fn mode(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).ok().map(|there| there.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_: &Path) -> Option<u32> {
    None
}

fn restore(Noted { change, mode }: &Noted) -> io::Result<()> {
    let Some(before) = &change.before else { return fs::remove_file(&change.path) };
    fs::create_dir_all(directory_of(&change.path))?;
    // What is not there yet is for its owner alone until it has the permissions that it had.
    replace_for_good(&change.path, before, if mode.is_some() { Readers::Owner } else { Readers::Usual })?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        fs::set_permissions(&change.path, std::os::unix::fs::PermissionsExt::from_mode(*mode))?;
    }
    Ok(())
}

/// Each file in a line with the length of its path, of what it holds the lengths before and after, and its permissions, and then the
/// bytes themselves.
fn written(root: &Path, changes: &[Change]) -> Vec<u8> {
    let mut out = format!("{HEAD}\n").into_bytes();
    for change in changes {
        let path = change.path.strip_prefix(root).unwrap_or(&change.path).as_os_str().as_encoded_bytes();
        let length = |bytes: Option<&Vec<u8>>| bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.len().to_string());
        let (before, after) = (length(change.before.as_ref()), length(change.after.as_ref()));
        let mode = mode(&change.path).map_or_else(|| "-".to_owned(), |mode| mode.to_string());
        out.extend(format!("{} {before} {after} {mode}\n", path.len()).bytes());
        out.extend(path);
        out.extend(change.before.iter().chain(&change.after).flatten());
        out.push(b'\n');
    }
    out.extend(b"end\n");
    out
}

/// Nothing where it is not whole, or names what is not below the root.
fn read(bytes: &[u8], root: &Path) -> Option<Vec<Noted>> {
    let mut rest = bytes.strip_prefix(HEAD.as_bytes())?.strip_prefix(b"\n")?;
    let mut changes = Vec::new();
    while rest != b"end\n" {
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = std::str::from_utf8(&rest[..end]).ok()?;
        rest = &rest[end + 1..];
        let mut numbers =
            line.split(' ').map(|word| if word == "-" { Some(None) } else { word.parse::<usize>().ok().map(Some) });
        let (path, before, after, mode) = (numbers.next()??, numbers.next()?, numbers.next()?, numbers.next()??);
        let mode = mode.map(u32::try_from).transpose().ok()?;
        let mut take = |length: Option<usize>| -> Option<Option<Vec<u8>>> {
            let Some(length) = length else { return Some(None) };
            let (taken, left) = rest.split_at_checked(length)?;
            rest = left;
            Some(Some(taken.to_vec()))
        };
        let path = String::from_utf8(take(path)??).ok()?;
        let (before, after) = (take(before?)?, take(after?)?);
        rest = rest.strip_prefix(b"\n")?;
        let path = crate::below(root, &root.join(path)).ok()??;
        changes.push(Noted { change: Change { path, before, after, from: None }, mode });
    }
    Some(changes)
}

#[cfg(test)]
mod tests {
    use super::{read, written};
    use crate::changes::Change;
    use std::path::Path;

    fn changes(root: &Path) -> Vec<Change> {
        let change = |path: &str, before: Option<&str>, after: Option<&str>| Change {
            path: root.join(path),
            before: before.map(|text| text.as_bytes().to_vec()),
            after: after.map(|text| text.as_bytes().to_vec()),
            from: None,
        };
        vec![
            change("a b.yaml", Some("1\n2 3\n"), Some("")),
            change("new/c", None, Some("end\n")),
            change("gone", Some("- -\n"), None),
        ]
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let root = std::env::temp_dir().canonicalize().unwrap();
        let bytes = written(&root, &changes(&root));
        let read_again = read(&bytes, &root).map(|noted| noted.into_iter().map(|one| one.change).collect());
        assert_eq!(read_again, Some(changes(&root)));
        for end in 0..bytes.len() {
            assert_eq!(read(&bytes[..end], &root), None, "cut at {end}");
        }
    }

    #[test]
    fn nothing_outside_of_the_root_is_restored() {
        let root = std::env::temp_dir().canonicalize().unwrap();
        let outside = vec![Change { path: "/etc/hosts".into(), before: None, after: None, from: None }];
        assert_eq!(read(&written(&root, &outside), &root), None);
        let above = vec![Change { path: "../x".into(), before: None, after: None, from: None }];
        assert_eq!(read(&written(&root, &above), &root), None);
    }
}
