//! `cargo xtask evaluate taken`: does `impact` say of the next cold start what the simulated world shows, on many generated clusters?

use std::time::Instant;

use anyhow::{Result, anyhow, ensure};
use clap::Args;
use trial::{Taking, cluster, prepare_read, take_each};

/// So many differences are shown.
const SHOWN_MAX: usize = 20;

#[derive(Args, Debug)]
pub(crate) struct Options {
    /// How many clusters
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    clusters: u64,
    /// The number of the first
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    first: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let began = Instant::now();
    let numbers: Vec<u64> = (options.first..options.first.saturating_add(options.clusters)).collect();
    let takings: Vec<Result<Taking>> = repository::parallel::map(&numbers, |number| {
        let (read, blueprint) =
            prepare_read(&cluster(*number)).map_err(|error| anyhow!("cluster {number}: {error}"))?;
        Ok(take_each(&read, &blueprint))
    });
    let (mut taken, mut stopped, mut differences) = (0, 0, Vec::new());
    for (number, taking) in numbers.iter().zip(takings) {
        let taking = taking?;
        taken += taking.taken;
        stopped += taking.stopped;
        differences
            .extend(taking.hindered.iter().map(|(of, need)| format!("cluster {number}: {of} hindered: {need:?}")));
        differences.extend(taking.otherwise.iter().map(|it| format!("cluster {number}: {it:?}")));
    }
    println!(
        "{} clusters, {taken} components taken away, each in a boot of its own; {stopped} others stopped by that, {} differences; {} s",
        numbers.len(),
        differences.len(),
        began.elapsed().as_secs()
    );
    for difference in differences.iter().take(SHOWN_MAX) {
        println!("{difference}");
    }
    ensure!(differences.is_empty(), "{} differences", differences.len());
    Ok(())
}
