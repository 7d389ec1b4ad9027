//! `cargo xtask simulate`: `coldstart up` by the thousand in the simulated world, on generated clusters, and every run judged.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use trial::{Count, Summary, Trial};

use crate::table::Table;

/// So many violations are shown.
const SHOWN_MAX: usize = 20;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// How many runs
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// How many clusters are generated; the cluster of a seed is its rest
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    clusters: u64,
    /// The first seed: with `--seeds 1` and the same clusters, one run again
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    first: u64,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let progress = ProgressBar::new(options.seeds);
    progress.set_style(ProgressStyle::with_template("{wide_bar} {pos}/{len} runs, {eta} left")?);
    let began = Instant::now();
    let of = Trial { first: options.first, seeds: options.seeds, clusters: options.clusters };
    let summary = trial::trial(of, || progress.inc(1))?;
    progress.finish_and_clear();
    print!("{}", render(&summary, of, began.elapsed()));
    ensure!(summary.wrong.is_empty(), "{} things do not hold", summary.wrong.len());
    Ok(())
}

fn render(summary: &Summary, of: Trial, took: Duration) -> String {
    let mut table = Table::new(["", "runs", "healthy", "failed"]);
    let mut row = |label: &str, count: &Count| {
        table.row([label.to_owned(), count.runs.to_string(), count.healthy.to_string(), count.failed.to_string()]);
    };
    for (label, count) in &summary.counts {
        row(label, count);
    }
    row("all", &summary.total());
    table.row(["no plan: a circle".to_owned(), summary.refused.to_string()]);
    let mut causes = Table::new(["what steps failed for", "steps"]);
    for (cause, count) in &summary.causes {
        causes.row([(*cause).to_owned(), count.to_string()]);
    }
    let mut text = format!("{}\n{}\n", table.render(), causes.render());
    let (components, seconds) = (&summary.components, took.as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "figures for people")]
    let (mean, rate, beyond) = (
        components.iter().sum::<usize>() as f64 / components.len().max(1) as f64,
        summary.boots as f64 / seconds,
        summary.beyond as f64 / 10.0,
    );
    let (least, most) = (components.iter().min().unwrap_or(&0), components.iter().max().unwrap_or(&0));
    let _ = write!(
        text,
        "{} clusters of {least} to {most} components, {mean:.0} on average; seeds {} to {}\n\
         {} boots in {seconds:.0} s, {rate:.0} a second: each seed twice, and once without its faults where it failed\n\
         longest makespan without a fault: {beyond:.1} % beyond the critical path\n",
        components.len(),
        of.first,
        of.first + of.seeds - 1,
        summary.boots,
    );
    for wrong in summary.wrong.iter().take(SHOWN_MAX) {
        let _ = writeln!(text, "wrong: {wrong}");
    }
    if summary.wrong.is_empty() {
        text.push_str("everything held in every run\n");
    }
    text
}
