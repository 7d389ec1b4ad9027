//! With real Flux: what does not come up, comes up once `coldstart fix` has edited it.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::path::Path;

use fixtures::{Fixture, Shelf};
use lab::build::{self, Tier};
use lab::cases::{self, Case, CaseEnding};
use story::{command, run, skipped};

/// Whether there is a lab; where one must be, the case says what is missing.
fn has_lab() -> bool {
    let is_required = std::env::var_os("COLDSTART_LAB").is_some_and(|tier| tier == "required" || tier == "full");
    match build::ready(Tier::Small) {
        Err(missing) if !is_required => {
            skipped(&format!("needs the lab: {missing}"));
            false
        }
        _ => true,
    }
}

/// How a repository comes up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempts {
    /// No controller reports a failure.
    First,
    /// A gate may time out on the way: an install can take longer than the timeout of what waits for it.
    Several,
}

/// Needs that are kept, for a case whose controllers may report failures.
const NOT_AT_ONCE: &str = "needs: [{of: it, needs: time, verdict: guaranteed, consequence: noise}]\n";

/// Runs a case as it is, which ends as it is told to, and then with the edits: all of these become ready.
#[track_caller]
fn comes_up_once_fixed(name: &str, edit: &str, attempts: Attempts, ready: &[&str]) {
    if !has_lab() {
        return;
    }
    let broken = Case::load(&Shelf::Cases.directory().join(name)).unwrap();
    assert!(matches!(broken.told.outcome, CaseEnding::Deadlocks | CaseEnding::Stalls), "{name} comes up");
    let before = cases::run(&broken, None).unwrap();
    assert!(before.wrong.is_empty(), "{name}: {:#?}\n{}", before.wrong, before.story);

    let home = tempfile::tempdir().unwrap();
    let fixed = fixed(&broken, home.path(), edit, attempts, ready);
    let after = cases::run(&fixed, None).unwrap();
    assert!(after.wrong.is_empty(), "{}: {:#?}\n{}", fixed.name, after.wrong, after.story);
}

/// The same case with its repository edited, and nothing else changed.
fn fixed(broken: &Case, home: &Path, edit: &str, attempts: Attempts, ready: &[&str]) -> Case {
    let whole = Fixture::open(&broken.directory).unwrap().repository().unwrap();
    let repository = home.join("repo");
    fs::rename(whole.path(), &repository).unwrap();
    run(command(&["fix", "--unsafe", "--write"]).arg(&repository)).exits(0).says(edit);
    fs::write(home.join("expect.yaml"), if attempts == Attempts::First { "{}\n" } else { NOT_AT_ONCE }).unwrap();
    fs::write(home.join("lab.yaml"), "outcome: converges\n").unwrap();
    let now = Case::load(home).unwrap();
    let mut told = broken.told.clone();
    told.outcome = CaseEnding::Converges;
    told.happens = now.told.happens;
    told.happens.ready = ready.iter().map(|object| (*object).to_owned()).collect();
    told.happens.clean = attempts == Attempts::First;
    told.then.clear();
    Case { name: format!("{}-fixed", broken.name), directory: home.to_owned(), told, expected: now.expected }
}

#[test]
fn a_dependency_on_another_kind_moves_to_where_flux_knows_it() {
    comes_up_once_fixed(
        "21-dependency-on-another-kind",
        "remove the dependency of HelmRelease app/podinfo on `flux-system/database`",
        Attempts::First,
        &["Kustomization flux-system/database", "Kustomization flux-system/app", "HelmRelease app/podinfo"],
    );
}

#[test]
fn a_gate_waits_for_what_an_install_can_not_do_without() {
    comes_up_once_fixed(
        "37a-node-labels-after-a-weak-gate",
        "Set `wait: true` on Kustomization flux-system/ccm",
        Attempts::Several,
        &[
            "Kustomization flux-system/cilium",
            "Kustomization flux-system/ccm",
            "HelmRelease csi-proxmox/proxmox-csi-plugin",
        ],
    );
}

#[test]
fn a_release_waits_for_its_webhook() {
    comes_up_once_fixed(
        "50-webhook-while-a-release-is-installed",
        "Set `disableWait: false` on HelmRelease cert-manager/cert-manager",
        Attempts::First,
        &["Kustomization flux-system/cert-manager", "HelmRelease external-secrets/external-secrets"],
    );
}

#[test]
fn a_namespace_comes_with_what_needs_it() {
    comes_up_once_fixed(
        "52-namespace-that-a-dependent-makes",
        "Create Namespace `apps` in Kustomization flux-system/settings",
        Attempts::First,
        &["Kustomization flux-system/settings", "Kustomization flux-system/namespaces"],
    );
}
