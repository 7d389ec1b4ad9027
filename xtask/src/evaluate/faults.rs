//! `cargo xtask evaluate faults`: clusters of the lab are broken in every way that the lab knows, and `status` is asked for the root:
//! once from nothing, by a `--watch` that runs all the time, and from a recording.
//!
//! Every case is kept in a file as soon as it is done: a run that was interrupted goes on where it stopped.

mod looker;
mod run;
mod watch;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use clap::Args;
use fixtures::hostile::Dice;
use lab::faults::{self, Case, Sort};
use serde::{Deserialize, Serialize};

use crate::product;
use crate::table::Table;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Cases [default: all]
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,
    /// Names of objects and the order of cases follow from it
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// How many labs share the cases
    #[arg(long, value_name = "N", default_value_t = 1)]
    labs: usize,
    /// Where the outcomes of cases go [default: below the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// The program to run [default: the release build, made first]
    #[arg(long, value_name = "PATH")]
    bin: Option<PathBuf>,
    /// Only show what is kept
    #[arg(long)]
    show: bool,
}

/// What came of one case.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Outcome {
    version: String,
    name: String,
    seed: u64,
    /// What kept the case from being judged.
    broken: Option<String>,
    /// Whether the root that is told first is one.
    first: bool,
    blocks: bool,
    /// What differs from the truth at the end: from nothing, under `--watch`, from a recording.
    cold: Vec<String>,
    watched: Vec<String>,
    recorded: Vec<String>,
    /// Roots that were told on the way and are none.
    passing: Vec<String>,
    /// Until all of it was told.
    seconds: f64,
}

impl Outcome {
    fn is_right(&self) -> bool {
        self.broken.is_none() && self.cold.is_empty() && self.watched.is_empty() && self.recorded.is_empty()
    }
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let binary = product::binary(options.bin.as_deref())?;
    let scratch = options.scratch.clone().unwrap_or_else(|| std::env::temp_dir().join("coldstart-faults"));
    fs::create_dir_all(&scratch).with_context(|| format!("cannot create {}", scratch.display()))?;
    let kept = Mutex::new(Kept::open(scratch.join("cases.jsonl"), product::version(&binary)?, options.seed)?);
    let cases = chosen(&options.only)?;
    if !options.show {
        let open: Vec<Case> = cases.iter().copied().filter(|case| !lock(&kept).has(case.name)).collect();
        let shares = shares(open, options);
        std::thread::scope(|scope| {
            let labs: Vec<_> = shares
                .iter()
                .enumerate()
                .map(|(number, share)| {
                    let (binary, kept) = (&binary, &kept);
                    scope.spawn(move || run::share(number, share, options.seed, binary, kept))
                })
                .collect();
            labs.into_iter().try_for_each(|lab| lab.join().unwrap_or_else(|_| anyhow::bail!("a lab panicked")))
        })?;
    }
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let outcomes: Vec<(Case, &Outcome)> =
        cases.iter().filter_map(|case| Some((*case, kept.outcomes.get(case.name)?))).collect();
    tell(&outcomes);
    let wrong = outcomes.iter().filter(|(_, outcome)| !outcome.is_right()).count();
    ensure!(wrong == 0, "{wrong} of {} cases are not told as they are", outcomes.len());
    Ok(())
}

fn chosen(only: &[String]) -> Result<Vec<Case>> {
    if only.is_empty() {
        return Ok(faults::all());
    }
    only.iter().map(|name| faults::named(name).with_context(|| format!("there is no case {name}"))).collect()
}

/// In random order, shared among labs; those that need nodes of some age come last.
fn shares(mut open: Vec<Case>, options: &Options) -> Vec<Vec<Case>> {
    let mut dice = Dice::new(options.seed);
    for last in (1..open.len()).rev() {
        open.swap(last, dice.below(last + 1));
    }
    open.sort_by_key(|case| case.old_nodes);
    let mut shares = vec![Vec::new(); options.labs.clamp(1, open.len().max(1))];
    let count = shares.len();
    for (index, case) in open.into_iter().enumerate() {
        shares[index % count].push(case);
    }
    shares
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(outcomes: &[(Case, &Outcome)]) {
    let mut table = Table::new(["what", "cases", "right", "first root", "blocks", "watched", "recorded", "in passing"]);
    let row = |name: &str, of: &[&Outcome]| {
        let count = |is: fn(&Outcome) -> bool| of.iter().filter(|it| is(it)).count().to_string();
        [
            name.to_owned(),
            of.len().to_string(),
            count(Outcome::is_right),
            count(|it| it.first),
            count(|it| it.blocks),
            count(|it| it.broken.is_none() && it.watched.is_empty()),
            count(|it| it.broken.is_none() && it.recorded.is_empty()),
            count(|it| !it.passing.is_empty()),
        ]
    };
    for sort in Sort::ALL {
        let of: Vec<&Outcome> = outcomes.iter().filter(|(case, _)| case.sort == sort).map(|(_, it)| *it).collect();
        table.row(row(sort.name(), &of));
    }
    table.gap();
    table.row(row("all", &outcomes.iter().map(|(_, it)| *it).collect::<Vec<_>>()));
    print!("{}", table.render());
    for (_, it) in outcomes {
        let told = [("cold", &it.cold), ("watched", &it.watched), ("recorded", &it.recorded), ("passing", &it.passing)];
        for (how, differences) in told {
            for difference in differences {
                println!("{} ({how}): {difference}", it.name);
            }
        }
        if let Some(why) = &it.broken {
            println!("{}: {why}", it.name);
        }
    }
}

/// The outcomes of one program with one seed, kept in a file of one line each.
pub(crate) struct Kept {
    file: PathBuf,
    version: String,
    seed: u64,
    outcomes: BTreeMap<String, Outcome>,
}

impl Kept {
    fn open(file: PathBuf, version: String, seed: u64) -> Result<Self> {
        let text = if Path::new(&file).exists() { fs::read_to_string(&file)? } else { String::new() };
        let mut outcomes = BTreeMap::new();
        for line in text.lines() {
            let it: Outcome = serde_json::from_str(line).with_context(|| format!("{}: {line}", file.display()))?;
            if it.version == version && it.seed == seed {
                outcomes.insert(it.name.clone(), it);
            }
        }
        Ok(Self { file, version, seed, outcomes })
    }

    fn has(&self, name: &str) -> bool {
        self.outcomes.get(name).is_some_and(|it| it.broken.is_none())
    }

    fn add(&mut self, mut it: Outcome) -> Result<()> {
        (it.version, it.seed) = (self.version.clone(), self.seed);
        let mut file = OpenOptions::new().create(true).append(true).open(&self.file)?;
        writeln!(file, "{}", serde_json::to_string(&it)?)?;
        self.outcomes.insert(it.name.clone(), it);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_judged_is_not_judged_again_by_the_same_program() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("cases.jsonl");
        let mut kept = Kept::open(file.clone(), "coldstart 0".to_owned(), 1).unwrap();
        kept.add(Outcome { name: "git-down".to_owned(), ..Outcome::default() }).unwrap();
        let again = Kept::open(file.clone(), "coldstart 0".to_owned(), 1).unwrap();
        assert!(again.has("git-down") && !again.has("rollout"));
        assert!(!Kept::open(file.clone(), "coldstart 1".to_owned(), 1).unwrap().has("git-down"));
        assert!(!Kept::open(file, "coldstart 0".to_owned(), 2).unwrap().has("git-down"));
    }

    #[test]
    fn every_case_is_in_one_share() {
        let options = Options { only: Vec::new(), seed: 3, labs: 2, scratch: None, bin: None, show: false };
        let shares = shares(faults::all(), &options);
        assert_eq!(shares.iter().map(Vec::len).sum::<usize>(), faults::all().len());
        for share in shares {
            assert!(share.is_sorted_by_key(|case| case.old_nodes));
        }
    }
}
