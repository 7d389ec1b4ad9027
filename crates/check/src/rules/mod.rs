//! The rules. Each file's opening comment is its manual page.

use crate::context::Context;
use crate::finding::Finding;

mod bootstrap_drift;
mod bootstrap_only;
mod broken_build;
mod capability_gated;
mod critical_prune;
mod dependency_cycle;
mod falsely_ready_gate;
mod late_store;
mod missing_dependency;
mod missing_secret;
mod missing_source;
mod missing_substitution;
mod parent_wait_deadlock;
mod redundant_dependency;
mod single_stage_deadlock;
mod slow_retry;
mod suspended_dependency;
mod terminal_install;
mod undefined_variable;
mod ungated_dependency;
mod uninstalled_crd_chart;
mod unknown_dependency;
mod unreachable_object;
pub(crate) mod unused_suppression;
mod webhook_race;
mod wrong_kind_dependency;

/// A rule: its name, what it is about, and what it does.
#[derive(Debug)]
pub struct Rule {
    pub id: &'static str,
    /// One line.
    pub summary: &'static str,
    source: &'static str,
    pub(crate) run: fn(&Context<'_>) -> Vec<Finding>,
}

impl Rule {
    /// The manual page, as Markdown.
    pub fn manual(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let text: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        format!("# {}\n\n{}\n", self.id, text.join("\n").trim())
    }
}

/// One line registers a rule.
macro_rules! rules {
    ($($module:ident $id:literal $summary:literal)*) => {
        static ALL: &[Rule] = &[$(Rule {
            id: $id,
            summary: $summary,
            source: include_str!(concat!(stringify!($module), ".rs")),
            run: $module::run,
        }),*];
    };
}

rules! {
    broken_build "broken-build" "a build that fails: nothing of it is applied"
    single_stage_deadlock "single-stage-deadlock" "a custom resource applied together with what brings its CRD"
    parent_wait_deadlock "parent-wait-deadlock" "a Kustomization that waits for a child that waits for it"
    dependency_cycle "dependency-cycle" "components that wait for each other in a circle"
    unknown_dependency "unknown-dependency" "a dependency on something that does not exist"
    wrong_kind_dependency "wrong-kind-dependency" "a dependency on an object of another kind"
    suspended_dependency "suspended-dependency" "a dependency on something that is switched off"
    missing_source "missing-source" "a source that nobody defines"
    missing_substitution "missing-substitution" "variables from an object that nobody makes, or makes too late"
    undefined_variable "undefined-variable" "a variable that nothing sets"
    uninstalled_crd_chart "uninstalled-crd-chart" "a deployed chart that keeps its CRDs to itself"
    missing_secret "missing-secret" "a Secret or ConfigMap that nobody makes"
    terminal_install "terminal-install" "an installation that fails for good if it loses a race"
    missing_dependency "missing-dependency" "a need that nothing orders"
    late_store "late-store" "a secret store that those who use it do not wait for"
    webhook_race "webhook-race" "a webhook that refuses what comes before it answers"
    capability_gated "capability-gated" "a chart that looks for an API before it is there"
    ungated_dependency "ungated-dependency" "an order whose other end proves nothing"
    falsely_ready_gate "falsely-ready-gate" "a gate that looks as if it proved health, and does not"
    slow_retry "slow-retry" "a failure that is tried again only after a long time"
    bootstrap_only "bootstrap-only" "a need that only the bootstrap meets"
    bootstrap_drift "bootstrap-drift" "a release that Flux changes right after the bootstrap"
    critical_prune "critical-prune" "a vital component that one commit can tear down"
    unreachable_object "unreachable-object" "a file that nothing applies"
    unused_suppression "unused-suppression" "a comment that allows what is not there"
    redundant_dependency "redundant-dependency" "a dependency that another one brings already"
}

pub fn all() -> &'static [Rule] {
    ALL
}

pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id)
}
