//! The rules. Each file's opening comment is its manual page.

use diagnostic::{Finding, Rule};

use crate::context::Context;

mod api_before_its_layer;
mod bootstrap_drift;
mod bootstrap_only;
mod bootstrap_rerun;
mod broken_build;
mod capability_gated;
mod cni_not_on_every_node;
mod crd_at_plan;
mod critical_prune;
mod csi_not_verified;
mod dead_handler;
mod dependency_cycle;
mod endless_wait;
mod falsely_ready_gate;
mod hand_written_config;
mod health_before_cni;
mod key_in_state;
mod kubelet_not_checked;
mod late_store;
mod layer_cycle;
mod missing_dependency;
mod missing_layer;
mod missing_namespace;
mod missing_secret;
mod missing_source;
mod missing_substitution;
mod no_wait_for_nodes;
mod parent_wait_deadlock;
mod provider_from_resource;
mod redundant_dependency;
mod renewal_forgets_key;
mod sealed_but_not_pushed;
mod sealing_key_after_gitops;
mod single_stage_deadlock;
mod slow_retry;
mod suspended_dependency;
mod terminal_install;
mod toothless_gate;
mod undefined_variable;
mod ungated_dependency;
mod uninstalled_crd_chart;
mod unknown_dependency;
mod unreachable_object;
pub(crate) mod unused_suppression;
mod vip_before_etcd;
mod wait_before_exists;
mod wait_disabled;
mod wait_in_a_missing_namespace;
mod webhook_race;
mod wrong_kind_dependency;

/// What a rule does with one cluster.
pub(crate) type Run = fn(&Context<'_>) -> Vec<Finding>;

/// One line registers a rule.
macro_rules! rules {
    ($($module:ident)*) => {
        static ALL: &[&Rule] = &[$(&$module::RULE),*];
        /// What each of [`ALL`] does.
        pub(crate) static RUNS: &[Run] = &[$($module::run),*];
    };
}

// Worst first, as the manual lists them.
rules! {
    broken_build
    single_stage_deadlock
    parent_wait_deadlock
    dependency_cycle
    unknown_dependency
    wrong_kind_dependency
    suspended_dependency
    missing_source
    missing_substitution
    undefined_variable
    uninstalled_crd_chart
    missing_secret
    missing_namespace
    health_before_cni
    vip_before_etcd
    sealing_key_after_gitops
    terminal_install
    missing_dependency
    late_store
    webhook_race
    capability_gated
    ungated_dependency
    toothless_gate
    bootstrap_rerun
    dead_handler
    wait_before_exists
    wait_in_a_missing_namespace
    endless_wait
    falsely_ready_gate
    layer_cycle
    missing_layer
    api_before_its_layer
    crd_at_plan
    provider_from_resource
    sealed_but_not_pushed
    wait_disabled
    hand_written_config
    key_in_state
    renewal_forgets_key
    no_wait_for_nodes
    cni_not_on_every_node
    kubelet_not_checked
    csi_not_verified
    slow_retry
    bootstrap_only
    bootstrap_drift
    critical_prune
    unreachable_object
    unused_suppression
    redundant_dependency
}

/// Every rule there is.
pub fn all() -> &'static [&'static Rule] {
    ALL
}

/// The rule of this name.
pub fn find(id: &str) -> Option<&'static Rule> {
    ALL.iter().find(|rule| rule.id == id).copied()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::all;

    #[test]
    fn of_rules_that_explain_the_same_each_has_a_rank_of_its_own() {
        let mut seen = BTreeSet::new();
        for rule in all() {
            for explains in rule.explains {
                let symptom = format!("{:?}", explains.symptom);
                assert!(seen.insert((symptom, explains.rank)), "{rule:?} shares a rank: {explains:?}");
            }
        }
    }
}
