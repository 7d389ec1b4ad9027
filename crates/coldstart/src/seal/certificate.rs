//! The certificate that `coldstart.yaml` names: whoever has the repository seals with it, so a key of the store must
//! belong to it.

use std::path::Path;

use ::seal::Ring;
use ::seal::key::Certificate;

use super::failure::SealFailure;
use super::verify::Report;
use super::{Home, files, now};

const WRITE: &str = "coldstart seal verify --write, which writes the newest certificate there";

/// How a certificate begins.
const BEGIN: &str = "-----BEGIN CERTIFICATE-----";

/// What is wrong with the file.
struct Wrong {
    what: String,
    /// What is sealed with it is lost, or nothing can be sealed with it at all.
    is_error: bool,
}

pub(crate) fn check(home: &Home<'_>, ring: &Ring, report: &mut Report) {
    let Some(path) = home.settings.certificate.as_deref() else { return };
    let Some(wrong) = wrong(home, path, ring) else { return };
    let next = match ring.newest() {
        _ if may_replace(&home.at(Path::new(path))).is_err() => {
            "name another file as `seal.certificate` in coldstart.yaml"
        }
        None => "coldstart seal restore, or coldstart seal init if there never was a key",
        Some(newest) if newest.certificate().check_validity(now()).is_err() => "coldstart seal rotate",
        Some(_) => WRITE,
    };
    let what = format!("{}\n  next: {next}", wrong.what);
    if wrong.is_error { report.error(path, what) } else { report.note(path, what) }
}

/// Whether a file is a certificate, good or expired.
pub(crate) fn is_one(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| Certificate::from_pem(&text).is_ok())
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
    files::write(&home.at(Path::new(path)), &newest.certificate().to_pem())
}

/// What is there and is no certificate is somebody's, and stays: a private key beside one, too. One that is cut off may go.
pub(crate) fn may_replace(path: &Path) -> Result<(), SealFailure> {
    let is_ours = match std::fs::read(path) {
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
    Err(SealFailure::told(format!(
        "{} is there, and is no certificate: it is not overwritten; nothing was done\n  next: another file for the certificate, with --certificate or `seal.certificate` in coldstart.yaml, or move that one away",
        path.display()
    )))
}

fn wrong(home: &Home<'_>, path: &str, ring: &Ring) -> Option<Wrong> {
    let error = |what: String| Some(Wrong { what, is_error: true });
    let text = match std::fs::read_to_string(home.at(Path::new(path))) {
        Ok(text) => text,
        Err(source) => return error(format!("is the certificate of coldstart.yaml and can't be read: {source}")),
    };
    let certificate = match Certificate::from_pem(&text) {
        Ok(certificate) => certificate,
        Err(source) => return error(format!("is the certificate of coldstart.yaml, and {}", first_line(&source))),
    };
    if let Err(source) = certificate.check_validity(now()) {
        return error(format!("can't be sealed with: {}", first_line(&source)));
    }
    let fingerprint = certificate.fingerprint();
    if !ring.contains(fingerprint) {
        return error(format!(
            "is the certificate of key {}, which is not in the store: what is sealed with it opens with no key of it",
            fingerprint.id()
        ));
    }
    let is_newest = ring.newest().is_some_and(|newest| newest.fingerprint() == fingerprint);
    let what = || format!("is the certificate of key {}, which is not the newest of the store", fingerprint.id());
    (!is_newest).then(|| Wrong { what: what(), is_error: false })
}

/// Errors end with a command to type next; here another one is.
fn first_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
