//! `seal rotate` and `seal reseal`, killed at any moment, and stores of keys that are damaged.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use age::secrecy::ExposeSecret as _;
use anyhow::{Context, Result, ensure};
use seal::Ring;
use seal::store::{Access, AgeFile, Store as _, identities_of};

use super::{Desk, Dice, Held, flip};

const ROTATE: [&str; 6] = ["rotate", "--offline", "--yes", "--bits", "2048", "."];
const RESEAL: [&str; 3] = ["reseal", "--yes", "."];
const FILES: usize = 4;

/// A store of two keys, and files that are sealed with the older one.
pub(super) fn prepare(desk: &Desk) -> Result<Duration> {
    let place = desk.place();
    fs::create_dir_all(&place)?;
    let identity = age::x25519::Identity::generate();
    fs::write(place.join("identity.txt"), identity.to_string().expose_secret())?;
    done(desk, &place, &["init", "--bits", "2048", "--yes", "--certificate", "key.crt"])?;
    for number in 0..FILES {
        let (name, value, out) = (format!("s{number}"), format!("s{number}.txt"), format!("s{number}.yaml"));
        fs::write(place.join(&value), "hunter2")?;
        let from = format!("password={value}");
        done(desk, &place, &["secret", "--name", &name, "--namespace", "apps", "--from-file", &from, "--out", &out])?;
    }
    desk.keep()?;
    let began = Instant::now();
    done(desk, &place, &ROTATE)?;
    let takes = began.elapsed();
    let keys = fs::read(place.join("keys.age"))?;
    fs::write(desk.copy()?.join("keys.age"), keys)?;
    done(desk, &place, &["verify"])?;
    desk.keep()?;
    Ok(takes)
}

/// The whole line: a store and an identity for all of them.
fn words<'a>(of: &[&'a str]) -> Vec<&'a str> {
    ["seal"]
        .into_iter()
        .chain(of.iter().copied())
        .chain(["--store", "age:keys.age", "--identity", "identity.txt"])
        .collect()
}

fn done(desk: &Desk, directory: &Path, of: &[&str]) -> Result<()> {
    let status = desk.run(directory, &words(of))?;
    ensure!(status.success(), "`seal {}` ends with {status}", of.join(" "));
    Ok(())
}

fn ring(directory: &Path) -> Result<Ring> {
    let text = fs::read_to_string(directory.join("identity.txt"))?;
    let identities = identities_of(&text).ok().context("no identity")?;
    let access = Access::Identities { identities, recipients: Vec::new() };
    Ok(AgeFile::new(directory.join("keys.age"), access).read().context("the store does not open")?.ring)
}

/// Killed at any moment, no key is lost, everything opens, and the next run brings it to its end.
pub(super) fn killed(desk: &Desk, number: u64, dice: &mut Dice) -> Result<Held> {
    let one = desk.copy()?;
    let before = ring(&one)?;
    let of: &[&str] = if number.is_multiple_of(2) { &ROTATE } else { &RESEAL };
    let is_killed = desk.kill(&one, &words(of), dice)?;
    let holds = |when: &str| -> Result<()> {
        ensure!(ring(&one)?.holds_all_of(&before), "a key is lost {when}");
        done(desk, &one, &["verify"]).with_context(|| when.to_owned())
    };
    holds("after it was killed")?;
    done(desk, &one, of).context("the next run")?;
    holds("after the next run")?;
    done(desk, &one, &RESEAL)?;
    Ok(Held { struck: u64::from(is_killed), refused: false })
}

/// A store that is not as it was written is refused, and stays as it is.
pub(super) fn damaged(desk: &Desk, number: u64, dice: &mut Dice) -> Result<Held> {
    let one = desk.copy()?;
    let path = one.join("keys.age");
    let mut bytes = fs::read(&path)?;
    match number % 3 {
        0 => bytes.truncate(dice.below(bytes.len())),
        1 => drop(flip(dice, &mut bytes)),
        _ => {
            let at = dice.below(bytes.len());
            bytes.iter_mut().skip(at).take(64).for_each(|byte| *byte = b'A');
        }
    }
    fs::write(&path, &bytes)?;
    for of in [&["verify"][..], &ROTATE, &RESEAL, &["init", "--bits", "2048", "--yes"]] {
        let status = desk.run(&one, &words(of))?;
        let is_whole = || ring(&one).is_ok();
        ensure!(status.code() == Some(2) || is_whole(), "`seal {}` ends with {status}", of.join(" "));
        ensure!(status.success() || fs::read(&path)? == bytes, "`seal {}` changed it", of.join(" "));
    }
    Ok(Held { struck: 1, refused: fs::read(&path)? == bytes })
}
