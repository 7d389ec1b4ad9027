//! What the catalogue knows of charts that matter to a boot.

use catalogue::{Agent, Catalogue};

/// Charts that begin with what Git holds as soon as they run.
const STARTING_CHARTS: [&str; 4] = ["argo-cd", "flux-instance", "flux2", "flux2-sync"];

#[derive(Clone, Copy)]
pub(super) struct Knowledge<'c>(pub(super) &'c Catalogue);

impl<'c> Knowledge<'c> {
    /// Whether GitOps begins with this chart.
    pub(super) fn starts_gitops(chart: &str) -> bool {
        STARTING_CHARTS.contains(&chart)
    }

    pub(super) fn gives_network(self, chart: &str) -> bool {
        let known = self.0.by_chart(chart);
        known.is_some_and(|known| known.gives.iter().any(|gift| gift.capability == "pod-network"))
    }

    /// The DaemonSet that gives each node its network.
    pub(super) fn agent(self, chart: &str) -> Option<&'c Agent> {
        self.0.by_chart(chart)?.agent.as_ref()
    }
}
