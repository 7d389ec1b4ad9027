//! `coldstart seal` where something that was there is not: keys, backups, files that somebody else changed.

mod sealing;
mod story;

use std::fs;

use sealing::{Desk, LOGIN, key};

#[test]
fn a_lost_store_is_restored_and_never_begun_anew() {
    let desk = Desk::new();
    desk.write("coldstart.yaml", "seal: {backup: 'dir:backup', certificate: sealing.crt}\n");
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0);
    desk.write("login.yaml", &desk.sealed("k1", LOGIN));
    fs::remove_file(desk.path("keys.age")).unwrap();

    desk.seal(&["verify"])
        .exits(2)
        .says("holds no key")
        .says("backup holds keys")
        .says("next: coldstart seal restore\n");
    desk.seal(&["init", "--yes"])
        .exits(2)
        .says("backup holds keys")
        .says("nothing was done")
        .says("next: coldstart seal restore;")
        .says("--new-key");
    assert!(!desk.path("keys.age").exists());
    assert_eq!(fs::read_to_string(desk.path("sealing.crt")).unwrap(), desk.certificate("k1"));
    desk.seal(&["restore", "--yes"]).exits(0);
    desk.seal(&["verify"]).exits(0).says("1 open");
}

#[test]
fn each_trace_of_an_earlier_key_is_heeded() {
    let init = ["init", "--bits", "2048", "--yes"];
    let desk = Desk::new();
    desk.write("coldstart.yaml", "seal: {certificate: sealing.crt}\n");
    desk.write("sealing.crt", &desk.certificate("k1"));
    desk.seal(&init).exits(2).says("sealing.crt is the certificate of one").says("next: coldstart seal restore STORE");
    fs::remove_file(desk.path("sealing.crt")).unwrap();

    desk.write("login.yaml", &desk.sealed("k1", LOGIN));
    desk.seal(&init).exits(2).says("login.yaml was sealed with one").says("--adopt-cluster");
    desk.seal(&["verify"]).exits(2).says("login.yaml was sealed with one").says("next: coldstart seal restore STORE");
    assert!(!desk.path("keys.age").exists());
    // Where the earlier key is at hand it is adopted, and whoever means a new one can say so.
    desk.seal(&[&init[..], &["--new-key"]].concat()).exits(0).says("kept key");
    fs::remove_file(desk.path("keys.age")).unwrap();
    fs::remove_file(desk.path("sealing.crt")).unwrap();
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0);
    desk.seal(&["verify"]).exits(0);

    fs::remove_file(desk.path("login.yaml")).unwrap();
    fs::remove_file(desk.path("sealing.crt")).unwrap();
    desk.seal(&[&init[..], &["--store", "age:new.age"]].concat()).exits(0).says("kept key");
}

#[test]
fn writers_with_different_homes_lose_nothing_of_each_other() {
    const WRITERS: usize = 12;
    let desk = Desk::with_key("k1");
    let homes = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    std::thread::scope(|scope| {
        for number in 0..WRITERS {
            let (desk, home) = (&desk, &homes[number % 2]);
            scope.spawn(move || {
                let key = format!("k{number}=VALUE");
                let words =
                    ["secret", "--name", "a", "--namespace", "b", "--from-env", &key, "--out", "new/dir/a.yaml"];
                desk.run(desk.command(&words).env("VALUE", "x").env("HOME", home.path())).exits(0);
            });
        }
    });
    for number in 0..WRITERS {
        assert_eq!(desk.open("new/dir/a.yaml", &format!("k{number}")), b"x");
    }
    let left: Vec<_> = fs::read_dir(desk.path("new/dir")).unwrap().collect();
    assert_eq!(left.len(), 1, "no lock is left in the repository: {left:?}");
}

#[test]
fn a_home_that_can_not_be_written_keeps_nobody_from_sealing() {
    let desk = Desk::with_key("k1");
    let words = ["secret", "--name", "a", "--namespace", "b", "--from-env", "c=VALUE", "--out", "a.yaml"];
    desk.run(desk.command(&words).env("VALUE", "x").env("HOME", "/proc/nowhere")).exits(0);
    assert_eq!(desk.open("a.yaml", "c"), b"x");
}

#[test]
fn a_renamed_secret_is_not_told_as_a_lost_key() {
    let desk = Desk::with_key("k1");
    let renamed = desk.sealed("k1", LOGIN).replace("name: login", "name: logon");
    desk.write("other.yaml", &renamed);
    desk.seal(&["verify"]).exits(1).says(
        "no key in the store opens it: it was sealed for another key of 2048 bits, or for another name or namespace",
    );
    // Files are often called as what is in them was.
    fs::rename(desk.path("other.yaml"), desk.path("login.yaml")).unwrap();
    desk.seal(&["verify"]).exits(1).says("`password`: it is sealed for apps/login, but is applied as apps/logon");
}

#[test]
fn a_file_that_is_no_certificate_is_not_overwritten_by_one() {
    let desk = Desk::new();
    let init = ["init", "--adopt", "k1.pem", "--yes"];
    desk.write("notes.md", "precious\n");
    for file in ["notes.md", "k2.pem"] {
        let before = fs::read_to_string(desk.path(file)).unwrap();
        desk.seal(&[&init[..], &["--certificate", file]].concat())
            .exits(2)
            .says(&format!("{file} exists and is not a certificate"))
            .says("nothing was done")
            .says("next: another file");
        assert_eq!(fs::read_to_string(desk.path(file)).unwrap(), before);
        assert!(!desk.path("keys.age").exists());
    }
    desk.seal(&init).exits(0);
    desk.write("coldstart.yaml", "seal: {certificate: notes.md}\n");
    desk.seal(&["verify", "--write", "--yes"]).exits(1).says("next: name another file as `seal.certificate`");
    desk.seal(&["rotate", "--offline", "--bits", "2048", "--yes"]).exits(2).says("is not a certificate");
    assert_eq!(fs::read_to_string(desk.path("notes.md")).unwrap(), "precious\n");
    // One that is cut off is of no use to anybody.
    let whole = desk.certificate("k1");
    desk.write("notes.md", &whole[..whole.len() / 2]);
    desk.seal(&["verify", "--write", "--yes"]).exits(0);
    assert_eq!(fs::read_to_string(desk.path("notes.md")).unwrap(), whole);
}

#[test]
fn a_backup_that_is_not_mounted_is_not_begun_anew() {
    let desk = Desk::new();
    desk.write("coldstart.yaml", "seal: {backup: 'dir:usb/keys'}\n");
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0);
    let verify = desk.seal(&["verify"]).exits(0);
    assert!(!verify.stdout.contains("usb"), "{}", verify.stdout);
    fs::rename(desk.path("usb"), desk.path("unplugged")).unwrap();
    let rotate = ["rotate", "--offline", "--bits", "2048", "--yes"];
    desk.seal(&rotate)
        .exits(2)
        .says("usb/keys may not be mounted")
        .says("next: bring it back, then the same command again; or coldstart seal backup");
    assert!(!desk.path("usb").exists());
    assert_eq!(desk.ring().keys().len(), 1, "no key was made");
    desk.seal(&["verify"])
        .exits(0)
        .says("usb/keys: holds no key, or can't be reached")
        .says("next: coldstart seal backup");

    fs::rename(desk.path("unplugged"), desk.path("usb")).unwrap();
    desk.seal(&["init", "--adopt", "k2.pem", "--store", "age:keys.age", "--backup", "dir:other", "--yes"]).exits(0);
    desk.seal(&["verify"]).exits(0).says(&format!("usb/keys: lacks key {} of the store", desk.id("k2")));
    desk.seal(&["backup", "--yes"]).exits(0);
    desk.seal(&rotate).exits(0);
}

/// `init` completes what an earlier run did not live to, and a disk that is not there looks like that.
#[test]
fn init_fills_no_backup_that_may_not_be_mounted() {
    let desk = Desk::new();
    desk.write("coldstart.yaml", "seal: {backup: 'dir:usb/keys', certificate: sealing.crt}\n");
    desk.seal(&["init", "--adopt", "k1.pem", "--yes"]).exits(0).says("and in the directory");
    fs::rename(desk.path("usb"), desk.path("unplugged")).unwrap();
    let told = |words: &[&str]| {
        let ran = desk.seal(words).exits(2).says("usb/keys may not be mounted");
        assert!(!desk.path("usb").exists(), "{}", ran.stdout);
        ran.says("next: bring it back, then the same command again; or coldstart seal backup to start over")
    };
    told(&["init", "--yes"]);
    told(&["init", "--adopt", "k1.pem", "--yes"]);
    told(&["init", "--adopt", "k2.pem", "--yes"]);
    assert_eq!(desk.ring().keys().len(), 1, "nothing was adopted");
    // The certificate is written all the same.
    fs::remove_file(desk.path("sealing.crt")).unwrap();
    told(&["init", "--yes"]).says("wrote the certificate to");
    assert_eq!(fs::read_to_string(desk.path("sealing.crt")).unwrap(), desk.certificate("k1"));

    fs::rename(desk.path("unplugged"), desk.path("usb")).unwrap();
    desk.seal(&["init", "--adopt", "k2.pem", "--yes"]).exits(0);
    // A store that has some keys is the right one, and gets the others; so does one that is named now.
    fs::remove_dir_all(desk.path("usb")).unwrap();
    desk.seal(&["init", "--backup", "dir:usb/keys", "--yes"]).exits(0).says("make no key").says("usb/keys");
    desk.seal(&["restore", "--yes"]).exits(0).says("already has all 2 keys");
    for ending in ["key", "crt"] {
        fs::remove_file(desk.path(&format!("usb/keys/{}.{ending}", desk.id("k2")))).unwrap();
    }
    desk.seal(&["init", "--yes"]).exits(0).says("make no key");
    desk.seal(&["backup"]).exits(0).says("already has all 2 keys");
}

#[test]
fn an_expired_certificate_is_told_when_it_is_adopted() {
    let desk = Desk::new();
    let old = key("k3_expired");
    desk.write("old.key", old.private_key_pem().expose());
    desk.write("old.crt", &old.certificate().to_pem());
    desk.seal(&["init", "--adopt", "old.key", "old.crt", "--yes"]).exits(0).says("its certificate has expired");
    desk.seal(&["init", "--adopt", "old.key", "--new-certificate", "--yes"])
        .exits(2)
        .says("--new-certificate does not renew its certificate")
        .says("next: coldstart seal rotate");
}
