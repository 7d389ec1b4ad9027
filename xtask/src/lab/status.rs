//! `cargo xtask lab status`: which labs are up, and how they are.

use anyhow::Result;

use super::look;
use super::state::{Run, is_alive, now_unix_seconds};
use crate::table::Table;

pub(crate) fn run() -> Result<()> {
    let runs = Run::all()?;
    if runs.is_empty() {
        println!("no lab is up; start one with `cargo xtask lab up`");
        return Ok(());
    }
    let mut table = Table::new(["lab", "pid", "up", "processes", "Kustomizations", "HelmReleases", "API server"]);
    for run in &runs {
        table.row(row(run));
    }
    print!("{}", table.render());
    Ok(())
}

fn row(run: &Run) -> [String; 7] {
    let none = || "-".to_owned();
    let Some(pid) = run.supervisor() else {
        return [run.name.clone(), "ended".to_owned(), none(), none(), none(), none(), none()];
    };
    let Some(state) = run.state() else {
        return [run.name.clone(), pid.to_string(), "starting".to_owned(), none(), none(), none(), none()];
    };
    let alive = state.processes.values().filter(|pid| is_alive(**pid)).count();
    let seconds = now_unix_seconds().saturating_sub(state.started_unix_seconds);
    let say = |found: Result<look::Readiness>| found.map_or_else(|_| "no answer".to_owned(), |found| found.to_string());
    [
        run.name.clone(),
        pid.to_string(),
        format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
        format!("{alive}/{}", state.processes.len()),
        say(look::kustomizations(&state.kubeconfig)),
        say(look::releases(&state.kubeconfig)),
        state.api,
    ]
}
