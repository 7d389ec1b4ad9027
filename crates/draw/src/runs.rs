//! Earlier runs as a list: when, in which world, how they ended and how long they took.

use std::time::Duration;

use run::{Outcome, Run, Where};

use crate::clean::clean;
use crate::story::took;

/// One run of a list.
#[derive(Clone, Debug)]
pub struct Told<'a> {
    /// The number of the world, where `--fresh` put it away.
    pub put_away: Option<u32>,
    pub run: &'a Run,
    /// It goes on at this moment.
    pub is_going: bool,
    pub took: Duration,
}

/// A line for each run, in columns.
pub fn text(runs: &[Told<'_>]) -> String {
    let cells: Vec<[String; 5]> = runs.iter().map(cells).collect();
    let width = |column: usize| cells.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..4).map(width).collect();
    let line = |line: &[String; 5]| {
        let padded = line.iter().zip(widths.iter().chain([&0])).map(|(cell, width)| format!("{cell:<width$}"));
        padded.filter(|cell| !cell.is_empty()).collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    cells.iter().map(line).collect()
}

fn cells(told: &Told<'_>) -> [String; 5] {
    let run = told.run;
    let world = told.put_away.map(|number| format!("world {number} ")).unwrap_or_default();
    let outcome = match run.outcome {
        _ if told.is_going => "runs",
        Some(Outcome::Healthy) => "healthy",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Stopped) => "stopped",
        None => "cut off",
    };
    let date = run.date.map(date).unwrap_or_default();
    [format!("{world}run {}", run.number), date, place(&run.world), outcome.to_owned(), took(told.took)]
}

fn place(world: &Where) -> String {
    match world {
        Where::Real => "real".to_owned(),
        Where::Simulated { seed, faults } if faults.is_empty() => format!("simulated, seed {seed}, no fault"),
        Where::Simulated { seed, faults } => format!("simulated, seed {seed}, {}", clean(&faults.join(", "))),
    }
}

/// Seconds since 1970 as `2026-11-17 22:40 UTC`.
pub fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02} UTC", rest / 3600, rest % 3600 / 60)
}

/// The year, month and day of a number of days since 1970-01-01, counted in eras of 400 years that begin in March.
fn civil(days: u64) -> (u64, u64, u64) {
    const DAYS_OF_ERA: u64 = 146_097;
    const DAYS_BEFORE_1970: u64 = 719_468;
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_794_955_246), "2026-11-17 22:40 UTC");
        assert_eq!(date(4_107_542_399), "2100-02-28 23:59 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
