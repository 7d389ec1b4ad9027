//! Runs of `coldstart up` per second: `cargo run --release -p coldstart-trial --example ups -- [CLUSTER] [RUNS]` brings the generated
//! cluster of that number up in the simulated world, as often as that, on every core. Wall time is asked here and nowhere in the
//! library.

#![allow(clippy::print_stdout, reason = "an example for people")]

use std::time::Instant;

use coldstart_trial::{boot, cluster, prepare};
use run::Outcome;

fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let mut number = |otherwise: u64| numbers.next().and_then(Result::ok).unwrap_or(otherwise);
    let (of, runs) = (number(0), number(10_000));
    let prepared = match prepare(cluster(of), false) {
        Ok(prepared) => prepared,
        Err(error) => return println!("{error}"),
    };
    let Ok(plan) = &prepared.plan else { return println!("cluster {of} has no plan") };
    let seeds: Vec<u64> = (0..runs).collect();
    let began = Instant::now();
    let healthy = repository::parallel::map(&seeds, |seed| {
        let ran = boot(plan, &prepared.blueprint, &prepared.settings, *seed, &[]);
        ran.is_ok_and(|ran| ran.outcome == Outcome::Healthy)
    });
    let took = began.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = runs as f64 / took;
    println!(
        "cluster {of}: {} components, {} steps, {rate:.0} runs a second, {} of {runs} healthy",
        prepared.blueprint.components(),
        plan.steps.len(),
        healthy.iter().filter(|healthy| **healthy).count(),
    );
}
