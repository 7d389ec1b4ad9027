//! What a person sees while the lab is built: on a terminal one live line per tool under way, elsewhere a line when a
//! tool starts and one when it is done.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use lab::build::{BuildEvent, BuildOutcome, Tool};

const TICK: Duration = Duration::from_secs(1);

pub(crate) struct Progress {
    total: usize,
    live: Option<MultiProgress>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: usize,
    bars: BTreeMap<Tool, ProgressBar>,
}

impl Progress {
    pub(crate) fn new(total: usize) -> Self {
        let live = std::io::stderr().is_terminal().then(MultiProgress::new);
        Self { total, live, state: Mutex::default() }
    }

    pub(crate) fn show(&self, event: &BuildEvent<'_>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            BuildEvent::Waiting(tool) => self.under_way(&mut state, *tool, "waiting for another build"),
            BuildEvent::Started(tool) => self.under_way(&mut state, *tool, "building"),
            BuildEvent::Finished(tool, outcome) => self.over(&mut state, *tool, &format!("{tool}: {}", say(*outcome))),
            BuildEvent::Failed(tool, error) => self.over(&mut state, *tool, &format!("{tool}: FAILED\n{error}")),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(live) = &self.live {
            let _ = live.clear();
        }
    }

    fn under_way(&self, state: &mut State, tool: Tool, what: &str) {
        let Some(live) = &self.live else {
            eprintln!("{tool}: {what}");
            return;
        };
        let bar = state.bars.entry(tool).or_insert_with(|| {
            let style =
                ProgressStyle::with_template("{elapsed:>5}  {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
            let bar = live.add(ProgressBar::new_spinner().with_style(style));
            bar.enable_steady_tick(TICK);
            bar
        });
        bar.set_message(format!("{tool}: {what}"));
    }

    fn over(&self, state: &mut State, tool: Tool, text: &str) {
        state.done += 1;
        if let Some(bar) = state.bars.remove(&tool) {
            bar.finish_and_clear();
        }
        let text = format!("[{:>2}/{}] {text}", state.done, self.total);
        match &self.live {
            Some(live) => drop(live.println(text)),
            None => eprintln!("{text}"),
        }
    }
}

fn say(outcome: BuildOutcome) -> String {
    match outcome {
        BuildOutcome::Cached => "cached".into(),
        BuildOutcome::Built(duration) => format!("built in {}", seconds(duration)),
    }
}

pub(crate) fn seconds(duration: Duration) -> String {
    format!("{:.0} s", duration.as_secs_f64())
}
