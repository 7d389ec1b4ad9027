//! Where keys and certificates go beside their store: a second store, and a file for people who seal without either.
//! Both are tried before a key is made: one that could not be copied would be one more each time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ::seal::Ring;
use ::seal::store::Store;
use diagnostic::{Next, next};
use source::shown;

use super::failure::{KeysFailure, SealFailure};
use super::recipients::Change;
use super::{Home, backup, certificate, files, read_certificate, say, store, tracked};
use crate::failure::Failure;

pub(crate) struct Copies {
    second: Option<Box<dyn Store>>,
    /// Whether somebody names the second store in this very run, and so means it as it is now.
    is_named: bool,
    certificate: Option<PathBuf>,
    /// Where the certificate must stay below; nothing for one that is named on the command line.
    root: Option<PathBuf>,
}

impl Copies {
    /// `backup` and `identity` are what the command line says of the second store.
    pub(crate) fn open(
        home: &Home<'_>,
        of: &dyn Store,
        (backup, identity): (Option<&str>, Option<&Path>),
        written: Option<PathBuf>,
    ) -> Result<Self, SealFailure> {
        of.probe()?;
        tracked::warn(of);
        let second = store::second(home, backup, identity)?;
        if let Some(second) = &second {
            backup::two_stores(of, second.as_ref())?;
            second.read()?;
            second.probe()?;
            tracked::warn(second.as_ref());
        }
        if let Some(path) = &written {
            edit::probe(path).map_err(SealFailure::file(path))?;
            certificate::may_replace(path)?;
        }
        let root = (written == home.certificate_path()).then(|| home.root().to_path_buf());
        Ok(Self { second, is_named: backup.is_some(), certificate: written, root })
    }

    pub(crate) fn second(&self) -> Option<&dyn Store> {
        self.second.as_deref()
    }

    /// Where the certificate goes.
    pub(crate) fn certificate(&self) -> Option<&Path> {
        self.certificate.as_deref()
    }

    /// Whether the second store has every key already.
    pub(crate) fn second_is_complete(&self, ring: &Ring) -> Result<bool, SealFailure> {
        self.second.as_ref().map_or(Ok(true), |second| Ok(second.read()?.ring.holds_all_of(ring)))
    }

    /// Whether the certificate's file is that of the newest key already.
    pub(crate) fn certificate_is_complete(&self, ring: &Ring) -> bool {
        let (Some(path), Some(newest)) = (&self.certificate, ring.newest()) else { return true };
        read_certificate(path).is_ok_and(|there| there == *newest.certificate())
    }

    /// A second store of the settings that is empty beside a first one with keys is most likely not the one that is meant: a disk that
    /// is not mounted leaves an empty directory, and keys there would be a backup for nobody. One that is named now is meant.
    pub(crate) fn has_history(&self) -> Result<(), SealFailure> {
        let Some(second) = self.second.as_ref().filter(|_| !self.is_named) else { return Ok(()) };
        if !second.read()?.ring.is_empty() {
            return Ok(());
        }
        Err(KeysFailure::SecondIsEmpty { store: second.describe() }.into())
    }

    pub(crate) fn describe_second(&self) -> String {
        self.second.as_ref().map(|second| format!("and in {}\n", second.describe())).unwrap_or_default()
    }

    pub(crate) fn describe_certificate(&self) -> String {
        let mut text = String::new();
        if let Some(path) = &self.certificate {
            let _ = writeln!(text, "write the newest certificate to {}", shown(path));
        }
        text
    }

    /// Whom this store and the second one let in when they are written.
    pub(crate) fn recipients(
        &self,
        own: (&dyn Store, &Ring),
        accepted: (&[String], bool),
        removed: &[String],
    ) -> Result<Change, SealFailure> {
        let second = self.second.as_ref().map(|second| Ok::<_, SealFailure>((second.as_ref(), second.read()?.ring)));
        let second = second.transpose()?;
        let second = second.as_ref().map(|(store, ring)| (*store, ring));
        let stores: Vec<(&dyn Store, &Ring)> = [own].into_iter().chain(second).collect();
        Change::of(&stores, accepted, removed)
    }

    pub(crate) fn back_up(&self, ring: &Ring, recipients: &Change) -> Result<(), Failure> {
        let Some(second) = &self.second else { return Ok(()) };
        backup::copy(ring, second.as_ref(), recipients)?;
        say(&format!("and in {}", second.describe()))
    }

    /// A key that is kept once is lost with its disk.
    pub(crate) fn suggest_second(&self) -> Result<(), Failure> {
        if self.second.is_some() {
            return Ok(());
        }
        say(&format!("next: {}", draw::say::next(&Next::Seal(next::Seal::BackupSomewhere))))
    }

    /// Writes the certificate, and says where it is.
    pub(crate) fn write_certificate(&self, ring: &Ring) -> Result<Option<&Path>, SealFailure> {
        let (Some(path), Some(newest)) = (&self.certificate, ring.newest()) else { return Ok(None) };
        match &self.root {
            Some(root) => files::write_inside(root, path, &newest.certificate().to_pem())?,
            None => files::write(path, &newest.certificate().to_pem())?,
        }
        Ok(Some(path))
    }
}
