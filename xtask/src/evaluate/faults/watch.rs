//! `status --watch`, as it goes on beside everything that is done to a cluster.

use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result};
use serde_json::{Deserializer, Value};

use super::lock;
use super::looker::{Looker, Report, read};

type Reports = Arc<Mutex<Vec<(Instant, Report)>>>;

pub(super) struct Watch {
    child: Child,
    reports: Reports,
}

impl Watch {
    pub(super) fn start(looker: &Looker<'_>) -> Result<Self> {
        let mut child = looker.command(&["--watch"]).stdout(Stdio::piped()).spawn()?;
        let reader = child.stdout.take().context("no output")?;
        let reports = Reports::default();
        let kept = Arc::clone(&reports);
        std::thread::spawn(move || {
            for value in Deserializer::from_reader(reader).into_iter::<Value>() {
                let Ok(value) = value else { break };
                lock(&kept).push((Instant::now(), read(&value)));
            }
        });
        Ok(Self { child, reports })
    }

    /// Everything that was told since then.
    pub(super) fn since(&self, then: Instant) -> Vec<Report> {
        lock(&self.reports).iter().filter(|(at, _)| *at >= then).map(|(_, report)| report.clone()).collect()
    }

    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
