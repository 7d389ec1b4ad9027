//! `coldstart log`.

use std::path::Path;

use ::run::{FileTape, Kept, Outcome, Run, Timeline};
use draw::story::Teller;

use super::state;
use crate::arguments::{Log, TextOrJson};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::open_some;
use crate::output;
use crate::plan::{one, planned};

const COMMAND: &str = "log";

pub(crate) fn run(options: &Log) -> Result<Code, Failure> {
    let reading = open_some(COMMAND, &options.path, None)?;
    let cluster = one(&reading.clusters, options.cluster.as_deref(), COMMAND, &options.path)?;
    let path = state::journal(&options.state, &options.path, &cluster.name)?;
    let is_in_use = FileTape::is_in_use(&path);
    let kept = FileTape::peek(&path).map_err(|source| Failure::Journal { path, source })?;
    let text = match options.run {
        Some(number) => {
            let run = find(&kept, number, &options.path)?;
            if let Some(path) = &options.timeline {
                let plan = planned(&reading, cluster, &options.path)?;
                super::draw(path, &cluster.name, &Timeline::new(&plan, &kept.lines[run.lines.clone()]))?;
            }
            one_run(&kept, &run, options)
        }
        None => all_runs(&kept, is_in_use, options.format)?,
    };
    output::print(&text)?;
    Ok(exit::CLEAN)
}

fn find(kept: &Kept, number: u32, at: &Path) -> Result<Run, Failure> {
    let runs = kept.past().runs;
    runs.iter().find(|run| run.number == number).cloned().ok_or_else(|| {
        let known: Vec<String> = runs.iter().map(|run| run.number.to_string()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Failure::UnknownRun { at: at.to_owned(), run: number, known }
    })
}

fn one_run(kept: &Kept, run: &Run, options: &Log) -> String {
    let mut teller = Teller::new(output::wants_color(options.color));
    let is_simulated = run.world.is_simulated();
    let told = kept.lines[run.lines.clone()].iter().filter_map(|line| match options.format {
        TextOrJson::Text => teller.tell(line),
        TextOrJson::Json => draw::story::json(line, is_simulated).ok(),
    });
    told.collect()
}

fn all_runs(kept: &Kept, is_in_use: bool, format: TextOrJson) -> Result<String, Failure> {
    let past = kept.past();
    if format == TextOrJson::Json {
        let twin = |run: &Run| serde_json::json!({"run": run.number, "world": run.world, "outcome": run.outcome});
        let runs: Vec<serde_json::Value> = past.runs.iter().map(twin).collect();
        let json = serde_json::to_string_pretty(&serde_json::json!({"version": 1, "tool": "coldstart", "runs": runs}));
        return json.map(|text| text + "\n").map_err(|error| Failure::Json(error.to_string()));
    }
    if past.runs.is_empty() {
        return Ok("no run yet\n".to_owned());
    }
    let last_run = past.next_run().saturating_sub(1);
    let told = past.runs.iter().map(|run| {
        let first = kept.lines.get(run.lines.start).map(::run::Line::time).unwrap_or_default();
        let last = kept.lines.get(run.lines.end.saturating_sub(1)).map(::run::Line::time).unwrap_or_default();
        let world = if run.world.is_simulated() { "simulated" } else { "real" };
        let took = draw::story::took(last.saturating_sub(first));
        let outcome = if is_in_use && run.number == last_run { "runs" } else { say(run.outcome) };
        format!("run {}  {world}  {outcome}  {took}\n", run.number)
    });
    Ok(told.collect())
}

fn say(outcome: Option<Outcome>) -> &'static str {
    match outcome {
        Some(Outcome::Healthy) => "healthy",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Stopped) => "stopped",
        None => "cut off",
    }
}
