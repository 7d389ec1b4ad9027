//! What many simulated boots of a cluster came to, as text and as JSON. Every output says that it is simulated.

use std::fmt::Write as _;

use model::say_seconds;
use serde::Serialize;

use crate::clean::{clean, clean_json};
use crate::json::{TOOL, VERSION};
use crate::paint::Paint;
use crate::text::Detail;
use crate::words::agree;

/// Rows of one list on a terminal.
const ROWS_MAX: usize = 16;

/// One cluster. The fields are the promise of the JSON output.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    pub cluster: String,
    pub boots: u64,
    pub first_seed: u64,
    /// Names of the faults that were asked for; `random` for one by seed.
    pub faults: Vec<String>,
    pub converged: u64,
    /// How many were not simulated to their end: whether they converge is not known.
    pub unfinished: u64,
    /// How many of these reached the limit of time; the others, that of events.
    pub out_of_time: u64,
    /// Of the boots that converged.
    pub time: Option<Times>,
    /// How the boot before Flux went; absent where no step of it was simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_flux: Option<BeforeFlux>,
    /// Why the others failed.
    pub causes: Vec<Row>,
    /// What failed and recovered by itself.
    pub retried: Vec<Row>,
    /// What is missing though everything is ready.
    pub lost: Vec<Row>,
    /// What the repository does not define and was assumed to exist.
    pub assumed: Vec<String>,
}

/// How many boots stopped at a step before Flux, and in how many Flux was started on a cluster that lacked something.
#[derive(Clone, Debug, Serialize)]
pub struct BeforeFlux {
    pub stopped: u64,
    pub incomplete: u64,
    pub lacked: Vec<Lacked>,
}

/// What the cluster lacked when Flux was started.
#[derive(Clone, Debug, Serialize)]
pub struct Lacked {
    pub says: String,
    /// In how many boots.
    pub boots: u64,
    /// The first seed that shows it.
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    pub p50_seconds: u64,
    pub p95_seconds: u64,
    pub worst_seconds: u64,
}

/// Something that happened in some of the boots.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// `Kind namespace/name`.
    pub component: String,
    /// In how many boots.
    pub boots: u64,
    /// In the words of its controller.
    pub says: String,
    /// What that comes down to in the boot of `seed`, where its controller does not say it.
    pub fact: Option<String>,
    /// Kustomizations and HelmReleases that are not ready for it, itself included.
    pub blocks: Option<u32>,
    /// From the first failure to the attempt that succeeded, the middle one and the worst.
    pub cost_seconds: Option<(u64, u64)>,
    /// The finding of `check` that speaks of it.
    pub finding: Option<Spoken>,
    /// The first seed that shows it.
    pub seed: u64,
}

/// A finding, in short.
#[derive(Clone, Debug, Serialize)]
pub struct Spoken {
    pub rule: &'static str,
    pub severity: &'static str,
    pub component: String,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    tool: &'static str,
    simulated: bool,
    clusters: &'a [Simulation],
}

/// All clusters as one JSON object with a line end.
pub fn json(clusters: &[Simulation]) -> Result<String, serde_json::Error> {
    let document = Document { version: VERSION, tool: TOOL, simulated: true, clusters };
    Ok(clean_json(serde_json::to_string_pretty(&document)?) + "\n")
}

/// All clusters for a terminal.
pub fn text(clusters: &[Simulation], detail: Detail, color: bool) -> String {
    let paint = Paint { color };
    let rows_max = match detail {
        Detail::Headline => None,
        Detail::Screens => Some(ROWS_MAX),
        Detail::Everything => Some(usize::MAX),
    };
    let one = |it: &Simulation| headline(it, paint) + &rows_max.map_or_else(String::new, |max| why(it, max, paint));
    clusters.iter().map(one).collect::<Vec<String>>().join("\n")
}

/// How many boots converged, and in what time.
fn headline(it: &Simulation, paint: Paint) -> String {
    let mut out = String::new();
    let last = it.first_seed + it.boots.saturating_sub(1);
    let faults = if it.faults.is_empty() { "no faults".to_owned() } else { it.faults.join(", ") };
    let title = paint.bold(&clean(&it.cluster));
    let _ = writeln!(out, "{title} · {} simulated boots, seeds {} to {last}, {faults}", it.boots, it.first_seed);
    let share = percent(it.converged, it.boots);
    let share = if it.converged == it.boots { paint.good(&share) } else { paint.bad(&share) };
    let _ = writeln!(out, "\n  converged  {share}, {} of {}", it.converged, it.boots);
    if let Some(times) = &it.time {
        let [p50, p95, worst] = [times.p50_seconds, times.p95_seconds, times.worst_seconds].map(say_seconds);
        let _ = writeln!(out, "  time       p50 {p50} · p95 {p95} · worst {worst}");
    }
    if let Some(before) = &it.before_flux {
        let share = |boots: u64| format!("{}, {boots} of {}", percent(boots, it.boots), it.boots);
        let _ = writeln!(out, "  stopped    {} before Flux started", share(before.stopped));
        let _ =
            writeln!(out, "  incomplete {} had Flux start before the cluster was complete", share(before.incomplete));
    }
    unfinished(&mut out, it.unfinished - it.out_of_time, "too many events");
    unfinished(&mut out, it.out_of_time, "too long a time");
    out
}

/// What failed, and what was assumed.
fn why(it: &Simulation, rows_max: usize, paint: Paint) -> String {
    let unready = it.boots - it.converged - it.unfinished;
    let failed = format!("why {unready} of {} boots failed", it.boots);
    let lists = [
        (failed.as_str(), &it.causes),
        ("what failed and recovered by itself", &it.retried),
        ("what is missing without any error", &it.lost),
    ];
    let mut out = it.before_flux.as_ref().map_or_else(String::new, |before| lacked(before, it.boots, rows_max, paint));
    for (title, rows) in lists {
        list(&mut out, title, rows, (it.boots, rows_max), paint);
    }
    if !it.assumed.is_empty() {
        let _ = writeln!(out, "\n{}", paint.bold("assumed to exist (not defined in the repository)"));
        for what in &it.assumed {
            let _ = writeln!(out, "  {}", clean(what));
        }
    }
    out
}

fn lacked(before: &BeforeFlux, boots: u64, rows_max: usize, paint: Paint) -> String {
    let mut out = String::new();
    if before.lacked.is_empty() {
        return out;
    }
    let _ = writeln!(
        out,
        "\n{}",
        paint.bold("what the cluster lacked when Flux started, by the waits that were understood")
    );
    for row in before.lacked.iter().take(rows_max) {
        let share = percent(row.boots, boots);
        let seed = paint.dim(&format!("· seed {}", row.seed));
        let _ = writeln!(out, "  {share:>7}  {} {seed}", clean(&row.says));
    }
    if let Some(more) = before.lacked.len().checked_sub(rows_max).filter(|more| *more > 0) {
        let _ = writeln!(out, "           and {more} more: --verbose lists them");
    }
    out
}

fn unfinished(out: &mut String, count: u64, why: &str) {
    if count > 0 {
        let boots = agree(usize::try_from(count).unwrap_or(usize::MAX), "boot was", "boots were");
        let _ = writeln!(out, "  unknown    {count} {boots} not simulated to the end: {why}");
    }
}

fn list(out: &mut String, title: &str, rows: &[Row], (boots, rows_max): (u64, usize), paint: Paint) {
    if rows.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{}", paint.bold(title));
    for row in rows.iter().take(rows_max) {
        let mut aside = Vec::new();
        if let Some(others) = row.blocks.and_then(|blocks| blocks.checked_sub(1)).filter(|others| *others > 0) {
            aside.push(format!("blocks {others} {}", agree(others as usize, "other", "others")));
        }
        if let Some((median, worst)) = row.cost_seconds {
            aside.push(format!("median {}, worst {}", say_seconds(median), say_seconds(worst)));
        }
        let aside = if aside.is_empty() { String::new() } else { format!(" · {}", aside.join(" · ")) };
        let share = percent(row.boots, boots);
        let _ = writeln!(out, "  {share:>7}  {}{aside}", paint.name(&clean(&row.component)));
        let _ = writeln!(out, "           {}", clean(&row.says));
        if let Some(fact) = &row.fact {
            let _ = writeln!(out, "           {} {}", paint.dim("←"), clean(fact));
        }
        let said = match &row.finding {
            Some(finding) if finding.component == row.component => finding.rule.to_owned(),
            Some(finding) => format!("{} of {}", finding.rule, clean(&finding.component)),
            None => "no matching finding".to_owned(),
        };
        let _ = writeln!(out, "           {}", paint.dim(&format!("check: {said} · seed {}", row.seed)));
    }
    if let Some(more) = rows.len().checked_sub(rows_max).filter(|more| *more > 0) {
        let _ = writeln!(out, "           and {more} more: --verbose lists them");
    }
}

/// Never rounded up to all, nor down to none.
fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let share = part as f64 * 100.0 / whole.max(1) as f64;
    let share = if part < whole { share.min(99.9) } else { share };
    let share = if part > 0 { share.max(0.1) } else { share };
    format!("{share:.1} %")
}

#[cfg(test)]
mod tests {
    use super::{ROWS_MAX, Row, list, percent, unfinished};
    use crate::paint::Paint;

    #[test]
    fn a_list_counts_what_it_leaves_out_and_leaves_nothing_out_when_asked() {
        let row = |seed| Row {
            component: format!("app-{seed}"),
            boots: 1,
            says: String::new(),
            fact: None,
            blocks: None,
            cost_seconds: None,
            finding: None,
            seed,
        };
        let rows: Vec<Row> = (0..20).map(row).collect();
        let listed = |rows_max| {
            let mut out = String::new();
            list(&mut out, "why", &rows, (20, rows_max), Paint { color: false });
            out
        };
        assert!(listed(ROWS_MAX).contains("app-15") && !listed(ROWS_MAX).contains("app-16"));
        assert!(listed(ROWS_MAX).contains("and 4 more: --verbose lists them"));
        assert!(listed(usize::MAX).contains("app-19") && !listed(usize::MAX).contains("more"));
    }

    #[test]
    fn boots_without_an_end_are_told_with_the_limit_that_they_reached() {
        let mut out = String::new();
        unfinished(&mut out, 0, "too many events");
        unfinished(&mut out, 1, "too long a time");
        assert_eq!(out, "  unknown    1 boot was not simulated to the end: too long a time\n");
    }

    #[test]
    fn a_share_is_all_only_if_it_is_all() {
        assert_eq!(percent(9_999, 10_000), "99.9 %");
        assert_eq!(percent(10_000, 10_000), "100.0 %");
        assert_eq!(percent(1, 10_000), "0.1 %");
        assert_eq!(percent(0, 10_000), "0.0 %");
    }
}
