//! Which store is meant.

use std::path::{Path, PathBuf};

use ::seal::store::{
    Access, AgeFile, Directory, Keyring, Passphrase, Patience, Store, Vault, VaultAddress, identities_of,
};
use ::seal::{Ring, SecretBytes, age_program};

use super::failure::{SealFailure, StoreFailure};
use super::{Home, ask};
use crate::{home, output};

const DEFAULT_NAME: &str = "sealing-keys.age";
const IDENTITY_BYTES_MAX: usize = 64 * 1024;

/// The words of a store, taken apart.
#[derive(Debug, PartialEq, Eq)]
enum Location {
    Age(PathBuf),
    Directory(PathBuf),
    Keyring(String),
    Vault(String),
}

impl Location {
    /// `base` is where relative paths begin.
    fn parse(text: &str, base: &Path) -> Result<Self, SealFailure> {
        let wrong = || StoreFailure::Form { text: text.to_owned() };
        let (kind, rest) = text.split_once(':').filter(|(_, rest)| !rest.is_empty()).ok_or_else(wrong)?;
        let path = || base.join(expand(rest));
        match kind {
            "age" => Ok(Self::Age(path())),
            "dir" => Ok(Self::Directory(path())),
            "keyring" => Ok(Self::Keyring(rest.to_owned())),
            "vault" => Ok(Self::Vault(rest.to_owned())),
            _ => Err(wrong().into()),
        }
    }
}

/// How an age store is opened.
pub(crate) struct Unlock<'a> {
    pub(crate) identity: Option<&'a Path>,
    pub(crate) passphrase_file: Option<&'a Path>,
}

/// The store of the command line, of the settings, or the default one.
pub(crate) fn open(home: &Home<'_>) -> Result<Box<dyn Store>, SealFailure> {
    let place = home.place;
    let unlock = Unlock { identity: place.identity.as_deref(), passphrase_file: place.passphrase_file.as_deref() };
    build(location(home)?, &unlock, home)
}

fn location(home: &Home<'_>) -> Result<Location, SealFailure> {
    match (&home.place.store, &home.settings.store) {
        (Some(said), _) => Location::parse(said, Path::new("")),
        (None, Some(said)) => Location::parse(&said.text, home.root()),
        (None, None) => Ok(Location::Age(data_directory()?.join(DEFAULT_NAME))),
    }
}

/// The keys of the store, if they can be had without asking anybody.
pub(crate) fn at_hand(home: &Home<'_>) -> Option<Ring> {
    let is_known = match location(home).ok()? {
        Location::Age(_) => opens_age(home),
        Location::Keyring(name) => keyring(name).ok()?.is_unlocked(),
        Location::Directory(_) | Location::Vault(_) => true,
    };
    is_known.then(|| open(home).ok()?.read().ok()).flatten().map(|kept| kept.ring)
}

/// Whether an age file can be opened without a question.
fn opens_age(home: &Home<'_>) -> bool {
    let place = home.place;
    place.identity.is_some() || place.passphrase_file.is_some() || std::env::var_os(ask::PASSPHRASE_VARIABLE).is_some()
}

/// The second store of the settings, if it is on this machine and can be read without asking anybody.
pub(crate) fn second_at_hand(home: &Home<'_>) -> Option<Box<dyn Store>> {
    let is_at_hand = match Location::parse(&home.settings.backup.as_ref()?.text, home.root()).ok()? {
        Location::Directory(_) => true,
        Location::Age(_) => opens_age(home),
        Location::Keyring(_) | Location::Vault(_) => false,
    };
    is_at_hand.then(|| second(home, None, None).ok().flatten()).flatten()
}

/// Another store by its words, or the one that the settings name as backup.
pub(crate) fn second(
    home: &Home<'_>,
    said: Option<&str>,
    identity: Option<&Path>,
) -> Result<Option<Box<dyn Store>>, SealFailure> {
    let location = match (said, &home.settings.backup) {
        (Some(said), _) => Location::parse(said, Path::new(""))?,
        (None, Some(said)) => Location::parse(&said.text, home.root())?,
        (None, None) => return Ok(None),
    };
    let place = home.place;
    let identity = identity.or(place.identity.as_deref());
    let unlock = Unlock { identity, passphrase_file: place.passphrase_file.as_deref() };
    build(location, &unlock, home).map(Some)
}

fn build(location: Location, unlock: &Unlock<'_>, home: &Home<'_>) -> Result<Box<dyn Store>, SealFailure> {
    Ok(match location {
        Location::Age(path) => {
            let access = access(&path, unlock, &home.settings.recipients)?;
            Box::new(AgeFile::new(path, access))
        }
        Location::Directory(path) => Box::new(Directory::new(path)),
        Location::Keyring(name) => Box::new(keyring(name)?),
        Location::Vault(place) => {
            Box::new(Vault::new(vault_address()?, &place).ok_or(StoreFailure::VaultForm { place })?)
        }
    })
}

fn access(path: &Path, unlock: &Unlock<'_>, recipients: &[String]) -> Result<Access, SealFailure> {
    if let Some(file) = unlock.identity {
        let text = std::fs::File::open(file).and_then(|open| SecretBytes::read(open, IDENTITY_BYTES_MAX));
        let text = text.map_err(SealFailure::file(file))?;
        if age_program::is_post_quantum(&text) {
            return Ok(Access::Program { identities: text, recipients: recipients.to_vec() });
        }
        let identities = identities_of(text.expose_text().unwrap_or_default());
        let bad = |source| StoreFailure::BadIdentity { path: file.to_path_buf(), source };
        let identities = identities.map_err(bad)?;
        return Ok(Access::Identities { identities, recipients: recipients.to_vec() });
    }
    if !recipients.is_empty() {
        return Err(StoreFailure::RecipientsWithPassphrase { path: path.to_path_buf() }.into());
    }
    let (name, file) = (path.display().to_string(), unlock.passphrase_file.map(Path::to_path_buf));
    Ok(Access::Passphrase(Passphrase::new(move |is_new| ask::passphrase(&name, file.as_deref(), is_new))))
}

fn keyring(name: String) -> Result<Keyring, SealFailure> {
    let lock = data_directory()?.join(format!("{}.lock", name.replace(['/', '\\'], "-")));
    Ok(Keyring::new(name, lock).with_patience(patience()))
}

/// Whoever waits for a keyring is told so.
pub(crate) fn patience() -> Patience {
    Patience { notice: |left| output::remark(&draw::say::waiting_for_keyring(left)), ..Patience::default() }
}

/// As the `vault` and `bao` programs find their server.
fn vault_address() -> Result<VaultAddress, SealFailure> {
    let either = |name: &str| {
        let of = |prefix: &str| std::env::var(format!("{prefix}_{name}")).ok().filter(|text| !text.is_empty());
        of("VAULT").or_else(|| of("BAO"))
    };
    let url = either("ADDR").ok_or(StoreFailure::NoVaultAddress)?;
    let token = match either("TOKEN") {
        Some(token) => SecretBytes::from(token),
        None => home::directory()
            .and_then(|home| std::fs::File::open(home.join(".vault-token")).ok())
            .and_then(|file| SecretBytes::read(file, IDENTITY_BYTES_MAX).ok())
            .ok_or(StoreFailure::NoVaultToken)?
            .without_line_end(),
    };
    let authority = match either("CACERT") {
        Some(path) => Some(std::fs::read_to_string(&path).map_err(SealFailure::file(path))?),
        None => None,
    };
    Ok(VaultAddress { url, token, namespace: either("NAMESPACE"), authority })
}

/// Where data of a person is kept.
pub(crate) fn data_directory() -> Result<PathBuf, SealFailure> {
    home::ours("XDG_DATA_HOME", ".local/share").ok_or_else(|| StoreFailure::NoHome.into())
}

/// `~/` at the start.
fn expand(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), home::directory()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Location;

    #[test]
    fn stores_have_a_kind_and_a_place() {
        let parse = |text: &str| Location::parse(text, Path::new("/repo"));
        assert_eq!(parse("age:keys.age").unwrap(), Location::Age(PathBuf::from("/repo/keys.age")));
        assert_eq!(parse("dir:/keys").unwrap(), Location::Directory(PathBuf::from("/keys")));
        assert_eq!(parse("vault:secret/a/b").unwrap(), Location::Vault("secret/a/b".to_owned()));
        for wrong in ["keys.age", "age:", "s3:bucket", ""] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
