//! `up`, killed at any moment, and its journal with a bit that is another.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{Desk, Dice, Held, copy, flip};
use crate::product;

/// How often one run is killed before it may end.
const KILLS_OF_ONE: u64 = 12;

const UP: [&str; 8] = ["up", "tree", "--simulate", "--yes", "--speed", "0", "--state", "state"];

/// A repository, and beside it the state of a whole run.
pub(super) fn prepare(desk: &Desk) -> Result<Duration> {
    let place = desk.place();
    copy(&product::workspace().join("examples/homelab"), &place.join("tree"))?;
    let began = Instant::now();
    let status = desk.run(&place, &UP)?;
    ensure!(status.success(), "the example does not come up");
    let takes = began.elapsed();
    desk.keep()?;
    Ok(takes)
}

/// Killed again and again, it comes up, and what must be done once is done once.
pub(super) fn killed(desk: &Desk, dice: &mut Dice) -> Result<Held> {
    let one = desk.copy()?;
    fs::remove_dir_all(one.join("state"))?;
    let mut struck = 0;
    while struck < KILLS_OF_ONE && desk.kill(&one, &UP, dice)? {
        struck += 1;
    }
    comes_up(desk, &one)?;
    Ok(Held { struck, refused: false })
}

fn comes_up(desk: &Desk, directory: &Path) -> Result<()> {
    let status = desk.run(directory, &UP)?;
    ensure!(status.success(), "the next run ends with {status}");
    let text = fs::read_to_string(journal(directory)?)?;
    let bootstraps = text.lines().filter(|line| line.contains("\"started\"") && line.contains("talos/etcd")).count();
    ensure!(bootstraps == 1, "etcd was bootstrapped {bootstraps} times");
    let status = desk.run(directory, &["log", "tree", "--state", "state"])?;
    ensure!(status.success(), "the log ends with {status}");
    Ok(())
}

/// A journal with a flipped bit is refused untouched; in its last line, which may be a torn one, that line is left out.
pub(super) fn flipped(desk: &Desk, dice: &mut Dice) -> Result<Held> {
    let one = desk.copy()?;
    let path = journal(&one)?;
    let mut bytes = fs::read(&path)?;
    let at = flip(dice, &mut bytes);
    fs::write(&path, &bytes)?;
    let status = desk.run(&one, &UP)?;
    if status.code() == Some(2) {
        ensure!(fs::read(&path)? == bytes, "refused, and changed");
        return Ok(Held { struck: 1, refused: true });
    }
    let last = bytes.len() - 1;
    let begin = bytes[..last].iter().rposition(|byte| *byte == b'\n').unwrap_or_default();
    ensure!(at >= begin, "a flipped bit at {at} of {last} was taken for a good one: {status}");
    comes_up(desk, &one)?;
    Ok(Held { struck: 1, refused: false })
}

fn journal(directory: &Path) -> Result<PathBuf> {
    let mut below = fs::read_dir(directory.join("state"))?;
    let run = below.next().context("no state")??;
    Ok(run.path().join("journal"))
}
