//! `coldstart seal`: keys, stores, files and clusters brought together. What is known of each is in the crate `seal`;
//! here are words, questions, files and the cluster.

pub(crate) mod arguments;
mod ask;
mod backup;
mod cluster;
mod commit;
mod deploy;
mod failure;
mod files;
mod generate;
mod init;
mod input;
mod reseal;
mod rotate;
mod secret;
mod sops;
mod store;
mod tree;
mod verify;
mod verify_cluster;
mod verify_text;

use std::path::{Path, PathBuf};

use ::seal::key::Certificate;
use ::seal::store::{Kept, Store};
use read::{Repository, SealSettings};
use time::OffsetDateTime;

use crate::exit::Code;
use crate::failure::Failure;
use crate::output;
use arguments::{Place, Seal, SealCommand};
pub(crate) use failure::SealFailure;

const COMMAND: &str = "seal";

pub(crate) fn run(options: &Seal) -> Result<Code, Failure> {
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

/// The repository and what its settings say about sealing.
pub(crate) struct Home<'a> {
    pub(crate) place: &'a Place,
    pub(crate) repository: Repository,
    pub(crate) settings: SealSettings,
}

impl<'a> Home<'a> {
    pub(crate) fn open(place: &'a Place) -> Result<Self, Failure> {
        let repository = Repository::find(&place.path).map_err(|source| Failure::Open { command: COMMAND, source })?;
        let settings = read::settings(&repository).map_err(|source| Failure::Settings { command: COMMAND, source })?;
        Ok(Self { place, repository, settings: settings.seal })
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
            return Err(SealFailure::NoKeys { store: store.describe() });
        }
        Ok((store, kept))
    }

    /// What to seal with: the certificate that was named, that of the settings, or the newest of the store. It must
    /// be good today.
    pub(crate) fn certificate(&self, named: Option<&Path>) -> Result<Certificate, SealFailure> {
        let path = named.map(Path::to_path_buf);
        let path = path.or_else(|| self.settings.certificate.as_ref().map(|path| self.at(Path::new(path))));
        let certificate = if let Some(path) = path {
            let text = std::fs::read_to_string(&path).map_err(SealFailure::file(&path))?;
            Certificate::from_pem(&text).map_err(|source| SealFailure::Key { path, source })?
        } else {
            let (_, kept) = self.keys()?;
            let pem = kept.ring.newest().map(|pair| pair.certificate().to_pem()).unwrap_or_default();
            Certificate::from_pem(&pem)?
        };
        certificate.check_validity(now())?;
        Ok(certificate)
    }
}

pub(crate) fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc()
}

pub(crate) fn say(text: &str) -> Result<(), Failure> {
    Ok(output::print(&format!("{text}\n"))?)
}

/// The failure of a command from one of its parts.
impl From<SealFailure> for Failure {
    fn from(failure: SealFailure) -> Self {
        Self::Seal(Box::new(failure))
    }
}
