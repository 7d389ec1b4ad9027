//! What to type next, for failures that the crate `seal` tells: it knows what is wrong, and no command line.

use std::io::ErrorKind;

use ::seal::generated::GenerateError;
use ::seal::key::KeyError;
use ::seal::manifest::{EditError, SecretError};
use ::seal::store::{LockError, StoreError};
use ::seal::{OpenError, RingError};

use super::failure::SealFailure;

const MARK: &str = "\n  next: ";
const RESTORE: &str = "move it away, then coldstart seal restore STORE; or coldstart seal backup, if it is the backup";
const AGAIN: &str = "mend it, then the same command again";

/// The failure for people, with a next command, said by itself or by us.
pub(crate) fn with_next(failure: &SealFailure) -> String {
    let told = failure.to_string();
    match next(failure) {
        Some(next) if !told.contains(MARK) => format!("{told}{MARK}{next}"),
        _ => told,
    }
}

/// Puts a remark behind what is wrong, and before what to do about it.
pub(crate) fn remarked(told: &str, remark: &str) -> String {
    let (what, next) = told.split_at(told.find(MARK).unwrap_or(told.len()));
    format!("{what}\n  {remark}{next}")
}

fn next(failure: &SealFailure) -> Option<&'static str> {
    Some(match failure {
        // They say it themselves.
        SealFailure::Told(_) | SealFailure::NoKeys { .. } => return None,
        SealFailure::Store(error) => store(error),
        SealFailure::Key { source: KeyError::NoCertificate | KeyError::BadCertificate(_), .. } => {
            "the same with the certificate's own file; coldstart seal init --certificate FILE writes it from the store"
        }
        SealFailure::Key { source, .. } | SealFailure::NewKey(source) => key(source),
        SealFailure::Ring(error) => ring(error),
        SealFailure::Secret { source, .. } => secret(source),
        SealFailure::Edit { source, .. } => edit(*source),
        SealFailure::File { source, .. } | SealFailure::Lock(LockError::Io { source, .. }) => file(source.kind()),
        SealFailure::Lock(LockError::Held(_)) => "the same command again",
        SealFailure::Open { source, .. } => open(source),
        SealFailure::Generate { source, .. } => generate(source),
        SealFailure::Cluster(_) => "kubectl cluster-info, and kubectl auth whoami for what this context may",
        SealFailure::Git(_) => "git status, then the same command again",
    })
}

fn store(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unreadable { .. } => "see that it is there and readable, or name another store",
        StoreError::Unwritable { .. } => "see that it can be written, or name another store",
        StoreError::Locked { .. } => {
            "the same command again with what opens it: --identity FILE, --passphrase-file FILE or COLDSTART_PASSPHRASE"
        }
        StoreError::Damaged { source, .. } => ring(source),
        StoreError::NotProved { .. } => {
            "coldstart seal verify; do not count on it before that is clean, and keep every other store"
        }
        StoreError::WouldLose { .. } | StoreError::Silent { .. } | StoreError::Changed { .. } => {
            "the same command again"
        }
        StoreError::Open { .. } => "chmod, for its owner alone",
    }
}

fn ring(error: &RingError) -> &'static str {
    match error {
        RingError::Version(_) => "the same with a coldstart of the version that wrote it, or a later one",
        RingError::Duplicate(_) => "coldstart seal verify, which says what is there",
        RingError::Format(_) | RingError::Key(_) => RESTORE,
    }
}

pub(crate) fn key(error: &KeyError) -> &'static str {
    match error {
        KeyError::NoCertificate => "give the certificate's file as well, or --new-certificate to make one",
        KeyError::NoPrivateKey => {
            "give the file of the private key; from a cluster: coldstart seal init --adopt-cluster"
        }
        KeyError::EncryptedPrivateKey => "openssl pkey -in KEY -out PLAIN, adopt that, and remove it",
        KeyError::BadCertificate(_) | KeyError::BadPrivateKey | KeyError::BadBase64 => {
            "openssl pkey -in KEY -check -noout, or openssl x509 -in CERTIFICATE -noout, which say what is wrong; get it once more from where it is from"
        }
        KeyError::NotRsa(_) => "the pair that the controller has: coldstart seal init --adopt-cluster",
        KeyError::Unreadable => "get the whole text once more: the program that printed it may have failed",
        KeyError::Mixed => "put each into a file of its own: --adopt ONE --adopt OTHER",
        KeyError::TooMany => "give the file of one cluster's keys",
        KeyError::Mismatch { .. } => "give the certificate of this key, or --new-certificate to make one",
        KeyError::Expired { .. } => "coldstart seal rotate",
        KeyError::NotYetValid { .. } => "date, which tells this machine's time; or --certificate FILE with another one",
        KeyError::BadSize(_) => "the same with --bits 4096",
        KeyError::BadLifetime { .. } => "the same with --days 3650",
        KeyError::Generate(_) => "the same command again",
    }
}

fn secret(error: &SecretError) -> &'static str {
    match error {
        SecretError::Kind(_) => "a manifest of Secrets alone, or values: coldstart seal secret --help",
        SecretError::NoName => "the same with --name NAME",
        SecretError::NoNamespace(_) | SecretError::BadNamespace(_) => "the same with --namespace NAME",
        SecretError::BadName(_) => "the same with another --name",
        SecretError::BadData(_) => "write each value as text, numbers in quotes, then the same command again",
        SecretError::NotBase64(_) => "move it to `stringData`, then the same command again",
        SecretError::BadKey => "the same with another key",
        SecretError::Empty => "the same with a value: --from-stdin KEY, --prompt KEY or --from-file KEY=FILE",
        SecretError::TooLarge(_) => "divide it into several Secrets",
        SecretError::Seal { .. } => "the same with another --certificate, or a smaller value",
    }
}

fn edit(error: EditError) -> &'static str {
    match error {
        EditError::NotYaml => AGAIN,
        EditError::Gone => "the same command again, which reads the file anew",
        EditError::Style => "write its `spec` out without them, or seal into another file: --out FILE",
    }
}

fn file(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::NotFound => "the same with the path of a file that is there",
        ErrorKind::PermissionDenied => "ls -l, which says whose it is; then the same as somebody who may",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "df, and the same again once there is room",
        ErrorKind::ReadOnlyFilesystem => "the same with a place that can be written",
        ErrorKind::IsADirectory | ErrorKind::NotADirectory => "the same with the path of a file",
        _ => "the same command again once it can be read and written",
    }
}

fn open(error: &OpenError) -> &'static str {
    match error {
        OpenError::NoKey => {
            "coldstart seal verify, which says what it was sealed for; keys of a cluster come by coldstart seal init --adopt-cluster"
        }
        _ => "bring it back from Git, or seal the value anew: coldstart seal secret",
    }
}

fn generate(error: &GenerateError) -> &'static str {
    match error {
        GenerateError::NoRandomness => "the same command again",
        GenerateError::Key(error) => key(error),
        _ => "mend `seal.generate` in coldstart.yaml, then the same command again",
    }
}
