//! What is known of labs that were started with `up`: a directory each, below the cache of the lab's programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use lab::build::Cache;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// Written by the supervisor when its lab is ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(crate) supervisor: u32,
    pub(crate) started_unix_seconds: u64,
    pub(crate) kubeconfig: PathBuf,
    pub(crate) api: String,
    pub(crate) git: String,
    pub(crate) charts: String,
    pub(crate) start_seconds: f64,
    /// Process ids by name.
    pub(crate) processes: BTreeMap<String, u32>,
}

/// The place of one lab.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) directory: PathBuf,
}

impl Run {
    pub(crate) fn named(name: &str) -> Result<Self> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            bail!("a lab's name has letters, digits, - and _ only: {name:?}");
        }
        Ok(Self { name: name.to_owned(), directory: root()?.join(name) })
    }

    /// All that left a trace, by name.
    pub(crate) fn all() -> Result<Vec<Self>> {
        let Ok(entries) = fs::read_dir(root()?) else { return Ok(Vec::new()) };
        let mut names: Vec<String> = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
        names.sort();
        names.iter().map(|name| Self::named(name)).collect()
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.directory.join("supervisor.log")
    }

    fn state_path(&self) -> PathBuf {
        self.directory.join("state.json")
    }

    fn pid_path(&self) -> PathBuf {
        self.directory.join("supervisor.pid")
    }

    pub(crate) fn state(&self) -> Option<State> {
        serde_json::from_str(&fs::read_to_string(self.state_path()).ok()?).ok()
    }

    pub(crate) fn write_state(&self, state: &State) -> Result<()> {
        // Complete or not there: whoever waits for it reads it at once.
        let draft = self.directory.join("state.json.draft");
        fs::write(&draft, serde_json::to_string_pretty(state)?)?;
        fs::rename(&draft, self.state_path()).context("write the lab's state")
    }

    pub(crate) fn write_pid(&self, pid: u32) -> Result<()> {
        fs::write(self.pid_path(), pid.to_string()).context("write the supervisor's process id")
    }

    /// The supervisor's process id, if it runs. A number that another process has by now is not it.
    pub(crate) fn supervisor(&self) -> Option<u32> {
        let pid: u32 = fs::read_to_string(self.pid_path()).ok()?.trim().parse().ok()?;
        let command = Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]).output().ok()?;
        let command = String::from_utf8_lossy(&command.stdout).into_owned();
        (command.contains(" lab supervise ") && command.contains(&format!("--name {}", self.name))).then_some(pid)
    }
}

pub(crate) fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| kill(Pid::from_raw(pid), None).is_ok())
}

pub(crate) fn now_unix_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

fn root() -> Result<PathBuf> {
    Ok(Cache::from_environment()?.root().join("run"))
}
