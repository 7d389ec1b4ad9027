//! `coldstart log`.

use std::path::Path;

use ::run::{FileTape, Kept, Run, Timeline};
use draw::runs::Told;
use draw::story::Teller;
use draw::words::count;

use super::state;
use crate::arguments::{Log, TextOrJson};
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::open_some;
use crate::output;
use crate::plan::{one, planned};

const COMMAND: &str = "log";
/// Worlds that were put away whose runs are listed.
const WORLDS_LISTED_MAX: usize = 10;

pub(crate) fn run(options: &Log) -> Result<Code, Failure> {
    let reading = open_some(COMMAND, &options.path, None, None)?;
    let cluster = one(&reading.clusters, options.cluster.as_deref(), COMMAND, &options.path)?;
    let path = state::journal(&options.state, reading.repository.root(), &cluster.name)?;
    let at = |source| Failure::Journal { command: COMMAND, at: options.path.clone(), path: path.clone(), source };
    if let Some(kept) = options.prune {
        let removed = FileTape::prune(&path, kept).map_err(at)?;
        output::print(&format!("removed {}\n", count(removed, "journal")))?;
        return Ok(exit::CLEAN);
    }
    let text = match options.run {
        Some(number) => {
            let path = options.world.map_or_else(|| path.clone(), |world| path.with_extension(world.to_string()));
            let kept = FileTape::peek(&path).map_err(at)?;
            let run = find(&kept, number, &options.path)?;
            if let Some(path) = &options.timeline {
                let plan = planned(&reading, cluster, &options.path)?;
                let lines = &kept.lines[run.lines.clone()];
                crate::timeline::of_run(path, &cluster.name, &plan, lines, &Timeline::new(&plan, lines))?;
            }
            one_run(&kept, &run, options)
        }
        None => all_runs(&worlds(&path).map_err(at)?, FileTape::is_in_use(&path), options.format)?,
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

/// A journal, with its number where it was put away.
struct World {
    number: Option<u32>,
    kept: Kept,
    runs: Vec<Run>,
}

impl World {
    fn new(number: Option<u32>, kept: Kept) -> Self {
        Self { number, runs: kept.past().runs, kept }
    }

    fn took(&self, run: &Run) -> std::time::Duration {
        let time = |line: usize| self.kept.lines.get(line).map(::run::Line::time).unwrap_or_default();
        time(run.lines.end.saturating_sub(1)).saturating_sub(time(run.lines.start))
    }
}

/// All journals, the one that the next run goes on with last. One that was put away and can't be read is told by its number alone.
fn worlds(path: &Path) -> Result<Vec<World>, ::run::JournalError> {
    let mut worlds = Vec::new();
    for (number, path) in FileTape::earlier(path)? {
        worlds.push(World::new(Some(number), FileTape::peek(&path).unwrap_or_default()));
    }
    worlds.push(World::new(None, FileTape::peek(path)?));
    Ok(worlds)
}

fn all_runs(worlds: &[World], is_in_use: bool, format: TextOrJson) -> Result<String, Failure> {
    if format == TextOrJson::Json {
        let twins = |world: &World| -> Vec<serde_json::Value> { world.runs.iter().map(twin).collect() };
        let (earlier, now): (Vec<&World>, Vec<&World>) = worlds.iter().partition(|world| world.number.is_some());
        let earlier: Vec<serde_json::Value> =
            earlier.iter().map(|world| serde_json::json!({"world": world.number, "runs": twins(world)})).collect();
        let runs: Vec<serde_json::Value> = now.iter().flat_map(|world| twins(world)).collect();
        let all = serde_json::json!({"version": 1, "tool": "coldstart", "runs": runs, "put_away": earlier});
        let json = serde_json::to_string_pretty(&all).map(draw::clean_json);
        return json.map(|text| text + "\n").map_err(|error| Failure::Json(error.to_string()));
    }
    let left_out = worlds.len().saturating_sub(WORLDS_LISTED_MAX + 1);
    let told: Vec<Told<'_>> = worlds.iter().skip(left_out).flat_map(|world| told(world, is_in_use)).collect();
    if told.is_empty() {
        return Ok("no run yet\n".to_owned());
    }
    let more = if left_out == 0 {
        String::new()
    } else {
        format!("and {} (coldstart log --prune)\n", count(left_out, "older world"))
    };
    Ok(draw::runs::text(&told) + &more)
}

fn told(world: &World, is_in_use: bool) -> impl Iterator<Item = Told<'_>> {
    let last = world.runs.last().map(|run| run.number);
    let is_going = move |run: &Run| is_in_use && world.number.is_none() && Some(run.number) == last;
    let tell = move |run| Told { put_away: world.number, run, is_going: is_going(run), took: world.took(run) };
    world.runs.iter().map(tell)
}

fn twin(run: &Run) -> serde_json::Value {
    serde_json::json!({"run": run.number, "date": run.date, "world": run.world, "outcome": run.outcome})
}
