//! The answer before the details: would a rebuild come up today, what stops it, and what lost races would cost.

use model::Consequence;

use crate::cause::Cause;
use crate::{Report, Severity};

/// What is ahead of one cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    /// All that are to come up: what is suspended is not.
    pub components: usize,
    /// Those of them that never become ready.
    pub blocked: usize,
    /// How long it takes until the last one is ready if no race is lost: an estimate.
    pub seconds: u64,
}

/// What is ahead of all clusters of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Headline {
    pub clusters: usize,
    /// Clusters in which something never becomes ready.
    pub clusters_blocked: usize,
    pub components: usize,
    pub blocked: usize,
    /// Errors of the report, one for each cause however many clusters have it.
    pub causes: usize,
    /// Races that, once lost, stop a component until somebody acts.
    pub stalls: usize,
    /// Races that, once lost, leave something out in silence.
    pub silent: usize,
    /// Races that only cost time, and the most that one of them does.
    pub slow: usize,
    pub slowest_seconds: u64,
    /// Until the slowest cluster is there if no race is lost; nothing where one does not come up.
    pub seconds: Option<u64>,
}

impl Headline {
    /// What a report comes to, whose causes these are.
    pub fn new(report: &Report, causes: &[Cause<'_>]) -> Self {
        let outlooks = || report.clusters.iter().map(|cluster| cluster.outlook);
        let mut headline = Self {
            clusters: report.clusters.len(),
            clusters_blocked: outlooks().filter(|outlook| outlook.blocked > 0).count(),
            components: outlooks().map(|outlook| outlook.components).sum(),
            blocked: outlooks().map(|outlook| outlook.blocked).sum(),
            ..Self::default()
        };
        for cause in causes {
            headline.count(cause);
        }
        headline.seconds = outlooks().map(|outlook| outlook.seconds).max().filter(|_| headline.comes_up());
        headline
    }

    /// Whether everything becomes ready if no race is lost.
    pub fn comes_up(&self) -> bool {
        self.blocked == 0 && self.causes == 0
    }

    fn count(&mut self, cause: &Cause<'_>) {
        match (cause.finding.severity, cause.finding.consequence) {
            (Severity::Error, _) => self.causes += 1,
            (Severity::Warning, Some(Consequence::Deadlock | Consequence::Terminal { .. })) => self.stalls += 1,
            (Severity::Warning, Some(Consequence::Silent)) => self.silent += 1,
            (Severity::Warning, Some(Consequence::Slow { seconds })) => {
                self.slow += 1;
                self.slowest_seconds = self.slowest_seconds.max(seconds);
            }
            _ => {}
        }
    }
}
