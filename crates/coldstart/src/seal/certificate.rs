//! The certificate that `coldstart.yaml` names: whoever has the repository seals with it, so a key of the store must
//! belong to it.

use std::path::Path;

use ::seal::Ring;
use ::seal::key::Certificate;
use diagnostic::seal::{Cause, KeysFault, SealFault};
use diagnostic::{Next, next};

use repository::file::{self, Links};

use super::failure::{CertificateFailure, SealFailure};
use super::report::{Report, Spot};
use super::{Home, files, now};

/// A chain of certificates is smaller.
const CERTIFICATE_BYTES_MAX: u64 = 1024 * 1024;
/// How a certificate begins.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

pub(crate) fn check(home: &Home<'_>, ring: &Ring, report: &mut Report) {
    let Some(path) = home.settings.certificate.as_deref() else { return };
    let Some(wrong) = wrong(home, path, ring) else { return };
    let next = match ring.newest() {
        _ if may_replace(&home.at(Path::new(path))).is_err() => Next::Edit(next::Edit::CertificateSetting),
        None => Next::Seal(next::Seal::RestoreOrInit),
        Some(newest) if newest.certificate().check_validity(now()).is_err() => Next::Seal(next::Seal::Rotate),
        Some(_) => Next::Seal(next::Seal::VerifyWriteCertificate),
    };
    // What is sealed with one that is only older still opens.
    let is_note = matches!(wrong, KeysFault::CertificateOutdated { .. });
    let (spot, fault) = (Spot::File(path.to_owned()), SealFault::Keys(wrong));
    if is_note { report.note(spot, fault, Some(next)) } else { report.error(spot, fault, Some(next)) }
}

/// Whether a file is a certificate, good or expired.
pub(crate) fn is_one(path: &Path) -> bool {
    files::read(path).is_ok_and(|text| text.is_some_and(|text| Certificate::from_pem(&text).is_ok()))
}

/// The path of the settings, if the newest certificate is to be written there.
pub(crate) fn to_write<'a>(home: &'a Home<'_>, ring: &Ring) -> Option<&'a str> {
    let path = home.settings.certificate.as_deref()?;
    may_replace(&home.at(Path::new(path))).ok()?;
    ring.newest().filter(|newest| newest.certificate().check_validity(now()).is_ok())?;
    wrong(home, path, ring).map(|_| path)
}

pub(crate) fn write(home: &Home<'_>, path: &str, ring: &Ring) -> Result<(), SealFailure> {
    let Some(newest) = ring.newest() else { return Ok(()) };
    files::write_inside(home.root(), &home.at(Path::new(path)), &newest.certificate().to_pem())
}

/// What is there and is no certificate is somebody's, and stays: a private key beside one, too. One that is cut off may go.
pub(crate) fn may_replace(path: &Path) -> Result<(), SealFailure> {
    let is_ours = match file::read(path, Links::Followed, CERTIFICATE_BYTES_MAX) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(error) => return Err(SealFailure::file(path)(error)),
        Ok(bytes) => {
            let text = String::from_utf8_lossy(&bytes);
            let is_certificate = text.trim_start().starts_with(BEGIN) && !text.contains("PRIVATE KEY");
            text.trim().is_empty() || is_certificate
        }
    };
    if is_ours {
        return Ok(());
    }
    Err(CertificateFailure::InTheWay { path: path.to_path_buf() }.into())
}

/// What is wrong with the file.
fn wrong(home: &Home<'_>, path: &str, ring: &Ring) -> Option<KeysFault> {
    let text = match file::read_text(&home.at(Path::new(path)), Links::Followed, CERTIFICATE_BYTES_MAX) {
        Ok(text) => text,
        Err(source) => return Some(KeysFault::CertificateUnreadable { why: Cause::new(source) }),
    };
    let certificate = match Certificate::from_pem(&text) {
        Ok(certificate) => certificate,
        Err(source) => return Some(KeysFault::CertificateBad { why: Cause::new(source) }),
    };
    if let Err(source) = certificate.check_validity(now()) {
        return Some(KeysFault::CertificateUnusable { why: Cause::new(source) });
    }
    let fingerprint = certificate.fingerprint();
    if !ring.contains(fingerprint) {
        return Some(KeysFault::CertificateOfOther { key: fingerprint.id() });
    }
    let is_newest = ring.newest().is_some_and(|newest| newest.fingerprint() == fingerprint);
    (!is_newest).then(|| KeysFault::CertificateOutdated { key: fingerprint.id() })
}
