//! Stores that are files: nothing is lost, nothing is half-written, two writers are told.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::fs;
use std::path::Path;

use age::secrecy::ExposeSecret as _;
use coldstart_seal::store::{
    Access, AgeFile, Directory, Kept, Passphrase, PassphraseError, Revision, Store, StoreError, identities_of, keep,
};
use coldstart_seal::{Ring, SecretBytes};
use diagnostic::Next;
use diagnostic::next::Program;
use support::key;
use time::OffsetDateTime;

fn now() -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp(1_790_000_000).unwrap()
}

/// What was read, and a ring with these keys more.
fn with(store: &dyn Store, names: &[&str]) -> (Ring, Kept) {
    // Where another writes between the two, the ring is the newer one, and the write is refused as one that came too late.
    let before = store.read().unwrap();
    let mut ring = store.read().unwrap().ring;
    for name in names {
        ring.add(key(name), now()).unwrap();
    }
    (ring, before)
}

fn add(store: &dyn Store, name: &str) -> Result<(), StoreError> {
    let (ring, before) = with(store, &[name]);
    keep(store, &ring, &before).map(drop)
}

fn identity() -> age::x25519::Identity {
    age::x25519::Identity::generate()
}

fn age_file(path: &Path, identity: &age::x25519::Identity) -> AgeFile {
    let text = identity.to_string().expose_secret().to_owned();
    AgeFile::new(path, Access::Identities { identities: identities_of(&text).unwrap(), recipients: Vec::new() })
}

fn with_passphrase(path: &Path, passphrase: &'static str) -> AgeFile {
    AgeFile::new(path, Access::Passphrase(Passphrase::new(move |_| Ok(SecretBytes::from(passphrase)))))
}

/// What every store must do.
fn keeps_history(store: &dyn Store) {
    assert!(store.read().unwrap().ring.is_empty());
    add(store, "k1").unwrap();
    add(store, "k2").unwrap();
    let kept = store.read().unwrap();
    let held: Vec<String> = kept.ring.keys().iter().map(|held| held.pair.id()).collect();
    assert_eq!(held, [key("k1").id(), key("k2").id()]);
    assert_eq!(kept.ring.newest().unwrap().fingerprint(), key("k2").fingerprint());
}

/// Of two that read the same and both write, the second is told, and nothing of the first is lost.
fn tells_the_second_writer(store: &dyn Store) {
    let (one, one_before) = with(store, &["k1"]);
    let (other, other_before) = with(store, &["k3_expired"]);
    keep(store, &one, &one_before).unwrap();
    let told = keep(store, &other, &other_before).unwrap_err();
    assert!(matches!(told, StoreError::Changed { .. }), "{told}");
    assert!(store.read().unwrap().ring.contains(key("k1").fingerprint()));
}

#[test]
fn an_age_file_keeps_keys_and_shows_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("below/keys.age");
    let store = age_file(&path, &identity());
    keeps_history(&store);
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.starts_with(b"-----BEGIN AGE ENCRYPTED FILE-----"));
    assert!(!String::from_utf8_lossy(&bytes).contains("PRIVATE KEY"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn age_files_have_one_writer_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    tells_the_second_writer(&age_file(&directory.path().join("keys.age"), &identity()));
}

#[test]
fn many_writers_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.age");
    let identity = identity();
    let write = |name: &'static str| {
        let store = age_file(&path, &identity);
        loop {
            match add(&store, name) {
                Ok(()) => return,
                // Somebody was faster: read again.
                Err(StoreError::Changed { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    };
    std::thread::scope(|scope| {
        for name in ["k1", "k2", "k3_expired"] {
            scope.spawn(move || write(name));
        }
    });
    assert_eq!(age_file(&path, &identity).read().unwrap().ring.keys().len(), 3);
}

#[test]
fn a_passphrase_opens_and_a_wrong_one_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.age");
    add(&with_passphrase(&path, "correct horse"), "k1").unwrap();
    assert_eq!(with_passphrase(&path, "correct horse").read().unwrap().ring.keys().len(), 1);
    let wrong = with_passphrase(&path, "wrong horse").read().unwrap_err();
    assert!(wrong.to_string().ends_with("is locked: the passphrase is wrong"), "{wrong}");
    let identity = age_file(&path, &identity()).read().unwrap_err();
    assert!(identity.to_string().contains("encrypted with a passphrase"), "{identity}");
    let nobody = AgeFile::new(&path, Access::Passphrase(Passphrase::new(|_| Err(PassphraseError::NobodyToAsk))));
    assert!(matches!(nobody.read(), Err(StoreError::Locked { .. })));
}

#[test]
fn writing_anew_locks_nobody_out() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.age");
    let (mine, colleague) = (identity(), identity());
    let text = mine.to_string().expose_secret().to_owned();
    let recipients = vec![colleague.to_public().to_string()];
    let first = AgeFile::new(&path, Access::Identities { identities: identities_of(&text).unwrap(), recipients });
    add(&first, "k1").unwrap();
    // The colleague adds a key and knows nothing of recipients; both still open the file.
    add(&age_file(&path, &colleague), "k2").unwrap();
    assert_eq!(age_file(&path, &mine).read().unwrap().ring.keys().len(), 2);
    let stranger = age_file(&path, &identity()).read().unwrap_err();
    assert!(stranger.to_string().contains("none of the identities opens it"), "{stranger}");
}

#[test]
fn damaged_files_are_told_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.age");
    let identity = identity();
    add(&age_file(&path, &identity), "k1").unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    for damaged in [&whole[..whole.len() / 2], "", "not age", &whole.replacen('A', "B", 40)] {
        fs::write(&path, damaged).unwrap();
        assert!(age_file(&path, &identity).read().is_err(), "{damaged}");
        let ring = Ring::default();
        assert!(age_file(&path, &identity).write(&ring, &Revision::Nothing).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged);
    }
}

#[test]
fn post_quantum_identities_are_named() {
    let why = identities_of("# created\nAGE-SECRET-KEY-PQ-1QQQQ\n").err().unwrap();
    assert!(why.to_string().contains("post-quantum"), "{why}");
    assert!(identities_of("").is_err() && identities_of("hello").is_err());
}

#[test]
fn no_store_drops_a_key() {
    let directory = tempfile::tempdir().unwrap();
    let store = Directory::new(directory.path().join("keys"));
    add(&store, "k1").unwrap();
    let mut other = Ring::default();
    other.add(key("k2"), now()).unwrap();
    let refused = keep(&store, &other, &store.read().unwrap()).unwrap_err();
    assert!(matches!(refused, StoreError::WouldLose { .. }), "{refused}");
    assert!(store.read().unwrap().ring.contains(key("k1").fingerprint()));
}

#[cfg(unix)]
#[test]
fn a_directory_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let store = Directory::new(&path);
    keeps_history(&store);
    let file = path.join(format!("{}.key", key("k1").id()));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let open = store.read().unwrap_err();
    assert!(open.to_string().contains("has mode 640"), "{open}");
    assert_eq!(open.next(), Next::Program(Program::Chmod { path: file.clone(), is_directory: false }));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let open = store.read().unwrap_err();
    assert_eq!(open.next(), Next::Program(Program::Chmod { path, is_directory: true }));
}

#[test]
fn directories_have_one_writer_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    tells_the_second_writer(&Directory::new(directory.path().join("keys")));
}

#[test]
fn a_directory_with_half_a_pair_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys");
    let store = Directory::new(&path);
    add(&store, "k1").unwrap();
    fs::remove_file(path.join(format!("{}.crt", key("k1").id()))).unwrap();
    let half = store.read().unwrap_err().to_string();
    assert!(half.contains(".crt"), "{half}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    use std::process::Command;
    // A file system of 64 KiB, if this machine lets us have one.
    let directory = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none"]).arg(directory.path()).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        return support::skipped("a_full_disk_leaves_the_store_as_it_was: no right to mount");
    }
    let path = directory.path().join("keys.age");
    let store = age_file(&path, &identity());
    add(&store, "k1").unwrap();
    let before = fs::read(&path).unwrap();
    let _filled = fs::write(directory.path().join("large"), vec![1_u8; 1024 * 1024]);
    let full = add(&store, "k2");
    let (after, kept) = (fs::read(&path).unwrap(), store.read().unwrap().ring.keys().len());
    let left: Vec<_> = fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    Command::new("umount").arg(directory.path()).status().unwrap();
    assert!(matches!(full, Err(StoreError::Unwritable { .. })), "{full:?}");
    assert_eq!((before, 1), (after, kept));
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".coldstart-")), "{left:?}");
}

/// A new post-quantum identity, if age 1.3 or later is on PATH.
fn post_quantum_identity() -> Option<String> {
    let made = std::process::Command::new("age-keygen").arg("-pq").output().ok()?;
    made.status.success().then(|| String::from_utf8(made.stdout).unwrap())
}

fn by_program(path: &Path, identities: &str) -> AgeFile {
    let identities = SecretBytes::from(identities);
    AgeFile::new(path, Access::Program { identities, recipients: Vec::new() })
}

#[test]
fn post_quantum_identities_open_a_store_through_the_age_program() {
    let (Some(mine), Some(other)) = (post_quantum_identity(), post_quantum_identity()) else {
        return support::skipped("post_quantum_identities_open_a_store_through_the_age_program: no age 1.3");
    };
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.age");
    keeps_history(&by_program(&path, &mine));
    let stranger = by_program(&path, &other).read().unwrap_err().to_string();
    assert!(stranger.ends_with("is locked: none of the identities opens it"), "{stranger}");
    let old = age_file(&path, &identity()).read().unwrap_err().to_string();
    assert!(old.contains("none of the identities opens it"), "{old}");
    // Whoever can open it today can open it after the next writing, and age mixes the two kinds in no file.
    let named = vec![identity().to_public().to_string()];
    let mixed =
        AgeFile::new(&path, Access::Program { identities: SecretBytes::from(mine.as_str()), recipients: named });
    let before = fs::read(&path).unwrap();
    let told = add(&mixed, "k3_expired").unwrap_err().to_string();
    assert!(told.contains("can't be written: `age` did not do it") && told.ends_with("it is as it was"), "{told}");
    assert_eq!(fs::read(&path).unwrap(), before);
}
