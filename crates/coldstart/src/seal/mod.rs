//! `coldstart seal`: keys, stores, files and clusters brought together. What is known of each is in the crate `seal`;
//! here are words, questions, files and the cluster.

#![allow(
    clippy::disallowed_methods,
    reason = "sealing reads keys, values and passphrases from where its user keeps them"
)]

pub(crate) mod arguments;
mod ask;
mod backup;
mod certificate;
mod children;
mod cluster;
mod commit;
mod copies;
mod deploy;
mod failure;
mod files;
mod findings;
mod generate;
mod hidden;
mod init;
mod input;
mod lost;
mod mixed;
mod recipients;
mod renewal;
mod report;
mod reseal;
mod rotate;
mod secret;
mod secret_stores;
mod sops;
mod sops_rules;
mod store;
mod tracked;
mod tree;
mod usage;
mod verify;
mod verify_cluster;
mod verify_text;

use std::path::{Path, PathBuf};

use ::seal::Ring;
use ::seal::key::Certificate;
use ::seal::store::{Kept, Store};
use read::Repository;
use settings::SealSettings;
use time::OffsetDateTime;

use crate::exit::Code;
use crate::failure::Failure;
use crate::output;
use arguments::{KeyPlace, Seal, SealCommand};
use failure::CertificateFailure;
pub(crate) use failure::SealFailure;
pub(crate) use usage::refused;

const COMMAND: &str = "seal";

pub(crate) fn run(options: &Seal) -> Result<Code, Failure> {
    leave_no_core();
    match &options.what {
        SealCommand::Init(options) => init::run(options),
        SealCommand::Secret(options) => secret::run(options),
        SealCommand::Generate(options) => generate::run(options),
        SealCommand::Verify(options) => verify::run(options),
        SealCommand::Reseal(options) => reseal::run(options),
        SealCommand::Rotate(options) => rotate::run(options),
        SealCommand::Deploy(options) => deploy::run(options),
        SealCommand::Backup(options) => backup::backup(options),
        SealCommand::Restore(options) => backup::restore(options),
    }
}

/// Keys are in memory from here on: no crash writes them to a disk.
fn leave_no_core() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _not_permitted = setrlimit(Resource::Core, none);
    }
}

/// The repository and what its settings say about sealing.
pub(crate) struct Home<'a> {
    pub(crate) place: &'a KeyPlace,
    pub(crate) repository: Repository,
    pub(crate) settings: SealSettings,
}

impl<'a> Home<'a> {
    pub(crate) fn open(place: &'a KeyPlace) -> Result<Self, Failure> {
        let repository = Repository::find(&place.path).map_err(SealFailure::Repository)?;
        let settings = read::settings(&repository).map_err(|source| Failure::Settings { command: COMMAND, source })?;
        let home = Self { place, repository, settings: settings.seal };
        if let Some(path) = home.certificate_path() {
            // The settings may be a stranger's: a file elsewhere is for who names it on the command line.
            let is_inside = files::inside(home.root(), &path).is_ok();
            let outside = || CertificateFailure::Outside { path: path.clone(), root: home.root().to_path_buf() };
            is_inside.then_some(()).ok_or_else(|| SealFailure::from(outside()))?;
        }
        Ok(home)
    }

    pub(crate) fn root(&self) -> &Path {
        self.repository.root()
    }

    /// A path that the settings or the command line give from the root of the repository.
    pub(crate) fn at(&self, path: &Path) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn store(&self) -> Result<Box<dyn Store>, SealFailure> {
        store::open(self)
    }

    /// The store and its keys; there must be some.
    pub(crate) fn keys(&self) -> Result<(Box<dyn Store>, Kept), SealFailure> {
        let store = self.store()?;
        let kept = store.read()?;
        if kept.ring.is_empty() {
            return Err(lost::no_keys(self, store.as_ref()));
        }
        Ok((store, kept))
    }

    /// Where the settings want the newest certificate to be.
    pub(crate) fn certificate_path(&self) -> Option<PathBuf> {
        self.settings.certificate.as_ref().map(|path| self.at(Path::new(path)))
    }

    /// What to seal with: the certificate that was named, that of the settings, or the newest of the store. It must
    /// be good today. That of the settings must belong to the store, if that is at hand: nobody named it, and what is
    /// sealed with another one never opens.
    pub(crate) fn certificate(&self, named: Option<&Path>) -> Result<Certificate, SealFailure> {
        if let Some(path) = named {
            let certificate = read_certificate(path)?;
            certificate.check_validity(now())?;
            return Ok(certificate);
        }
        let Some(path) = self.certificate_path() else {
            let (_, kept) = self.keys()?;
            return newest_certificate(&kept.ring);
        };
        if !path.exists() {
            return Err(CertificateFailure::Missing { path }.into());
        }
        let certificate = read_certificate(&path)?;
        let ring = store::at_hand(self).filter(|ring| !ring.is_empty());
        let Some(ring) = ring else {
            certificate.check_validity(now())?;
            return Ok(certificate);
        };
        if !ring.contains(certificate.fingerprint()) {
            return Err(CertificateFailure::OfOtherKey { path, key: certificate.fingerprint().id() }.into());
        }
        let Err(error) = certificate.check_validity(now()) else { return Ok(certificate) };
        if newest_certificate(&ring).is_err() {
            return Err(error.into());
        }
        Err(CertificateFailure::Expired { path, at: certificate.not_after() }.into())
    }
}

fn read_certificate(path: &Path) -> Result<Certificate, SealFailure> {
    let text = files::read(path)?.ok_or_else(|| SealFailure::file(path)(std::io::ErrorKind::NotFound.into()))?;
    Certificate::from_pem(&text).map_err(|source| SealFailure::Key { path: path.to_path_buf(), source })
}

/// The newest of the store, if it is good today.
fn newest_certificate(ring: &Ring) -> Result<Certificate, SealFailure> {
    let pem = ring.newest().map(|pair| pair.certificate().to_pem()).unwrap_or_default();
    let certificate = Certificate::from_pem(&pem)?;
    certificate.check_validity(now())?;
    Ok(certificate)
}

pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

/// One line.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    Ok(output::print(&format!("{}\n", draw::clean(text)))?)
}

/// The failure of a command from one of its parts.
impl From<SealFailure> for Failure {
    fn from(failure: SealFailure) -> Self {
        Self::Seal(Box::new(failure))
    }
}
