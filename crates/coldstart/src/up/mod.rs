//! `coldstart up`.

pub(crate) mod log;
mod pace;
mod reporter;
mod state;

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;

use ::run::{
    Event, FileTape, Journal, Kept, LeftOut, Line, Listener, Machine, Outcome, Plan, StepId, Timeline, Where,
    World as _, drive,
};
use ::simulate::{Blueprint, Conditions, Fault, Machines};
use read::Reading;
use rehearse::Simulated;
use settings::UpSettings;

use crate::arguments::{RANDOM_FAULT, TextOrJson, Up};
use crate::confirm::confirm_marked;
use crate::exit::{self, Code};
use crate::failure::Failure;
use crate::open::{open_some, unread};
use crate::output;
use crate::plan::{one, planned, selection};
use ::draw::shell;
use pace::{Interrupts, Paced};
use reporter::Reporter;

const COMMAND: &str = "up";

pub(crate) fn run(options: &Up) -> Result<Code, Failure> {
    let reading = open_some(COMMAND, &options.path, None, None)?;
    if !options.simulate && !reading.settings.up.is_simulated {
        return Err(Failure::NoRealWorld { at: options.path.clone() });
    }
    let cluster = one(&reading.clusters, options.cluster.as_deref(), COMMAND, &options.path)?;
    let plan = planned(&reading, cluster, &options.path)?;
    if let Some(path) = &options.timeline {
        crate::timeline::try_to_write(path)?;
    }
    let left = selection(&options.part)
        .left(&plan)
        .map_err(|source| Failure::Selection { at: options.path.clone(), source })?;
    let path = state::journal(&options.state, reading.repository.root(), &cluster.name)?;
    let at = |source| Failure::Journal { command: COMMAND, at: options.path.clone(), path: path.clone(), source };
    if options.fresh {
        FileTape::put_away(&path).map_err(at)?;
    }
    let (tape, kept) = FileTape::open(&path).map_err(at)?;
    let world = world_of(&kept, options)?;
    let again = changed(&plan, &kept, &left);
    may_do_again(&plan, &again, &world, options)?;
    let blueprint = blueprint(&reading, &cluster.name)?;
    let told = ::run::told(&reading.repository, &reading.settings.up);
    let mut simulated = simulated(&blueprint, &told.up, &world);
    simulated.replay(&plan, &kept.lines);
    let mut journal = Journal::new(tape, &kept).map_err(at)?;
    let mut reporter = Reporter::new(options, &plan, &world);
    let has_faults = matches!(&world, Where::Simulated { faults, .. } if !faults.is_empty());
    let start = simulated.now();
    let mut machine = Machine::new(&plan, left, again);
    begin(&plan, &kept, &world, &machine, &mut journal, &mut reporter, start).map_err(at)?;
    let mut paced = Paced::new(simulated, options.speed, Interrupts::listen());
    let outcome = drive(&plan, &mut machine, &mut paced, &mut journal, &mut reporter)
        .map_err(|source| Failure::Drive { at: options.path.clone(), path: path.clone(), source })?;
    if let Some(error) = reporter.failure {
        return Err(error.into());
    }
    let timeline = Timeline::new(&plan, &reporter.lines);
    if let Some(path) = &options.timeline {
        crate::timeline::of_run(path, &cluster.name, &plan, &reporter.lines, &timeline)?;
    }
    end(options, outcome, &timeline, has_faults)
}

/// The first lines of a run: which world, and what it means to do.
fn begin(
    plan: &Plan,
    kept: &Kept,
    world: &Where,
    machine: &Machine<'_>,
    journal: &mut Journal<FileTape>,
    reporter: &mut Reporter<'_>,
    now: std::time::Duration,
) -> Result<(), ::run::JournalError> {
    let steps = plan.ids().filter(|id| !machine.is_left(*id)).count();
    let steps = source::to_u32(steps);
    let run = kept.past().next_run();
    let began = |date| Line::new(now, Event::Began { run, steps, world: world.clone(), date });
    journal.keep(&began(pace::date()))?;
    reporter.hear(&began(None), machine);
    for step in &plan.steps {
        let line = Line::new(now, Event::Planned { step: step.key.clone(), hash: step.hash.clone() });
        journal.keep(&line)?;
        reporter.hear(&line, machine);
    }
    Ok(())
}

/// The command that goes on with it. What failed of a fault would fail of it again, and steps that were left out may be what was missing.
fn again(options: &Up, outcome: Outcome, has_faults: bool) -> String {
    let has_failed = outcome == Outcome::Failed;
    let mut words = vec!["coldstart up".to_owned(), shell::word(&options.path.to_string_lossy())];
    if options.simulate {
        words.push("--simulate".to_owned());
    }
    if has_failed && has_faults {
        words.push("--fresh".to_owned());
    }
    let state = options.state.directory.as_ref().map(|state| state.to_string_lossy().into_owned());
    let part = &options.part;
    let given =
        [("--cluster", &options.cluster), ("--state", &state), ("--until", &part.until), ("--from", &part.from)];
    for (name, value) in given.into_iter().take(if has_failed { 3 } else { 4 }) {
        words.extend(value.iter().map(|value| format!("{name} {}", shell::word(value))));
    }
    let only = part.only.iter().filter(|_| !has_failed);
    words.extend(only.map(|name| format!("--only {}", shell::word(name))));
    let skipped = part.skip.iter().map(|(name, reason)| shell::word(&format!("{name}={reason}")));
    words.extend(skipped.map(|skipped| format!("--skip {skipped}")));
    words.join(" ")
}

fn end(options: &Up, outcome: Outcome, timeline: &Timeline, has_faults: bool) -> Result<Code, Failure> {
    // Nothing was done: there is nothing to draw.
    let is_short = outcome == Outcome::Healthy && timeline.took.is_zero();
    if options.format == TextOrJson::Text && !is_short {
        let color = output::wants_color(options.color);
        let next = match outcome {
            Outcome::Healthy => String::new(),
            Outcome::Failed | Outcome::Stopped => {
                let again = again(options, outcome, has_faults);
                format!("{}next: {again}\n", ::draw::story::mark(timeline.is_simulated, color))
            }
        };
        let drawn = if options.quiet {
            String::new()
        } else {
            format!("\n{}", ::draw::timeline::text(timeline, output::columns(), color))
        };
        output::print(&(drawn + &next))?;
    }
    Ok(match outcome {
        Outcome::Healthy => exit::CLEAN,
        Outcome::Failed => exit::ERRORS_FOUND,
        Outcome::Stopped => exit::STOPPED,
    })
}

/// Steps whose content is not that which was proved.
fn changed(plan: &Plan, kept: &Kept, left: &BTreeMap<StepId, LeftOut>) -> BTreeSet<StepId> {
    let proved = kept.past().proved;
    let is_changed = |id: &StepId| {
        let step = plan.step(*id);
        proved.get(&step.key).is_some_and(|hash| *hash != step.hash) && !left.contains_key(id)
    };
    plan.ids().filter(is_changed).collect()
}

/// Shows what changed, and goes on if that is wanted. Where nobody can be asked, only a simulated world is touched.
fn may_do_again(plan: &Plan, changed: &BTreeSet<StepId>, world: &Where, options: &Up) -> Result<(), Failure> {
    // Flux does its own steps again by itself, and what must be done once is never done again.
    let ours = |step: &&::run::Step| step.action != ::run::Action::Watch && !step.once;
    let steps = changed.iter().map(|id| plan.step(*id)).filter(ours);
    let keys: Vec<&str> = steps.map(|step| step.key.as_str()).collect();
    if keys.is_empty() || options.yes {
        return Ok(());
    }
    let is_watched = options.format == TextOrJson::Text && std::io::stdin().is_terminal();
    if is_watched {
        let mark = ::draw::story::mark(world.is_simulated(), output::wants_color(options.color));
        let list: String =
            keys.iter().fold(String::new(), |list, key| list + &mark + "  " + &::draw::clean(key) + "\n");
        let asked = format!("{mark}changed since it was completed, and will be done again:\n{list}");
        return confirm_marked(&asked, &mark);
    }
    if !world.is_simulated() {
        return Err(Failure::Changed { at: options.path.clone(), count: keys.len(), names: keys.join(", ") });
    }
    output::remark(&format!(
        "simulated: changed since it was completed, and done again: {}; the earlier part of the run is replayed with the new files",
        keys.join(", ")
    ));
    Ok(())
}

/// The world that the journal knows; a new one if it knows none.
fn world_of(kept: &Kept, options: &Up) -> Result<Where, Failure> {
    let known = kept.past().runs.first().map(|run| run.world.clone());
    let Some(Where::Simulated { seed, faults }) = known else {
        let seed = options.seed.unwrap_or(0);
        return Ok(Where::Simulated { seed, faults: drawn(&options.faults, seed) });
    };
    let faults = drawn(&faults, seed);
    let is_other = options.seed.is_some_and(|wanted| wanted != seed)
        || (!options.faults.is_empty() && drawn(&options.faults, seed) != faults);
    if is_other {
        Err(Failure::OtherWorld { at: options.path.clone(), seed, faults })
    } else {
        Ok(Where::Simulated { seed, faults })
    }
}

/// Names of faults, with the one that the seed draws in place of a random one.
fn drawn(names: &[String], seed: u64) -> Vec<String> {
    let mut known: Vec<Fault> = names.iter().filter_map(|name| Fault::named(name)).collect();
    let mut one = |name: &String| {
        if name != RANDOM_FAULT {
            return name.clone();
        }
        let drawn = Fault::drawn_beside(seed, &known);
        known.push(drawn);
        drawn.name().to_owned()
    };
    names.iter().map(&mut one).collect()
}

fn blueprint(reading: &Reading, cluster: &str) -> Result<Blueprint, Failure> {
    let (rendered, catalogue) = read::rendered::render(&reading.repository).map_err(|error| unread(COMMAND, error))?;
    let count = |names: &[String]| source::to_u32(names.len());
    let up = ::run::told(&reading.repository, &reading.settings.up).up;
    let machines = Machines { control_planes: count(&up.control_planes), workers: count(&up.workers) };
    let conditions = Conditions {
        runs_bootstrap: true,
        machines: (machines.control_planes > 0).then_some(machines),
        ..Conditions::default()
    };
    let wanted: Vec<_> = rendered.into_iter().filter(|one| one.name == cluster).collect();
    Ok(::simulate::compile(&wanted, &catalogue, &conditions))
}

fn simulated<'b>(blueprint: &'b Blueprint, settings: &UpSettings, world: &Where) -> Simulated<'b> {
    let (seed, names) = match world {
        Where::Simulated { seed, faults } => (*seed, faults.as_slice()),
        Where::Real => (0, &[][..]),
    };
    let faults: Vec<Fault> = names.iter().filter_map(|name| Fault::named(name)).collect();
    Simulated::new(blueprint, settings, seed, &faults)
}
