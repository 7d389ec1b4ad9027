//! Whether `check`, `simulate` and `plan` say the same of real repositories.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use trial::{Agreement, Disagreement, agreements};

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Repositories, or directories of repositories with --each-below
    #[arg(long, num_args = 1.., required = true)]
    trees: Vec<PathBuf>,
    /// Every directory in those
    #[arg(long)]
    each_below: bool,
    #[arg(long, default_value_t = 20)]
    boots: u64,
    /// Name the repositories by number, and no cluster
    #[arg(long)]
    figures: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    println!(
        "| repository | clusters | nothing at warning or above | of those booted | deadlocked | of those never booted | planned | hard needs not in the plan | untold deaths |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut total = Row::default();
    let mut left_out = 0;
    for (number, tree) in trees(options)?.iter().enumerate() {
        let read = read::read(tree).map_err(|error| error.to_string());
        match read.and_then(|reading| agreements(&reading, options.boots)) {
            Ok(all) if all.is_empty() => left_out += 1,
            Ok(all) => {
                let row = Row::of(&all);
                let name = tree.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let name = if options.figures { format!("{}", number + 1) } else { name };
                println!("{}", row.line(&name));
                total.add(&row);
                if !options.figures {
                    details(&all);
                }
            }
            Err(_) => left_out += 1,
        }
    }
    println!("{}", total.line("all"));
    println!("\n{left_out} without a cluster that can be read");
    Ok(())
}

fn trees(options: &Options) -> Result<Vec<PathBuf>> {
    if !options.each_below {
        return Ok(options.trees.clone());
    }
    let mut all = Vec::new();
    for directory in &options.trees {
        for entry in std::fs::read_dir(directory)? {
            all.push(entry?.path());
        }
    }
    all.sort();
    Ok(all)
}

fn details(all: &[Agreement]) {
    for one in all {
        for it in &one.disagreements {
            eprintln!("  {}: {it:?}", one.cluster);
        }
    }
}

#[derive(Debug, Default)]
struct Row {
    clusters: usize,
    clean: usize,
    booted: usize,
    locked: usize,
    stayed_down: usize,
    planned: usize,
    unplanned_needs: usize,
    untold: usize,
}

impl Row {
    fn of(all: &[Agreement]) -> Self {
        let count = |is: &dyn Fn(&Agreement) -> bool| all.iter().filter(|one| is(one)).count();
        let told = |is: &dyn Fn(&Disagreement) -> bool| {
            all.iter().flat_map(|one| &one.disagreements).filter(|it| is(it)).count()
        };
        Self {
            clusters: all.len(),
            clean: count(&|one| one.warnings == 0),
            booted: count(&|one| one.warnings == 0 && one.converged > 0),
            locked: count(&|one| one.deadlocks > 0),
            stayed_down: count(&|one| one.deadlocks > 0 && one.converged == 0),
            planned: count(&|one| one.estimated_seconds.is_some()),
            unplanned_needs: told(&|it| {
                matches!(it, Disagreement::NotInThePlan { .. } | Disagreement::Backwards { .. })
            }),
            untold: told(&|it| matches!(it, Disagreement::Untold { .. })),
        }
    }

    fn add(&mut self, other: &Self) {
        self.clusters += other.clusters;
        self.clean += other.clean;
        self.booted += other.booted;
        self.locked += other.locked;
        self.stayed_down += other.stayed_down;
        self.planned += other.planned;
        self.unplanned_needs += other.unplanned_needs;
        self.untold += other.untold;
    }

    fn line(&self, name: &str) -> String {
        format!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
            self.clusters,
            self.clean,
            self.booted,
            self.locked,
            self.stayed_down,
            self.planned,
            self.unplanned_needs,
            self.untold
        )
    }
}
