//! With real Flux: what does not come up, comes up once `coldstart fix` has edited it.

#![expect(clippy::unwrap_used, reason = "a story that can not be set up fails")]

mod story;

use std::fs;
use std::path::Path;

use fixtures::{Fixture, Shelf};
use lab::build::{self, Tier};
use lab::cases::{self, Case, CaseEnding};
use story::{command, run, skipped};

fn asks_for(tier: &str) -> bool {
    std::env::var_os("COLDSTART_LAB").is_some_and(|asked| asked == tier)
}

/// Those that take minutes of waiting.
fn is_long(name: &str) -> bool {
    !asks_for("full") && {
        skipped(&format!("{name} takes minutes: COLDSTART_LAB=full"));
        true
    }
}

/// Whether there is a lab; where one must be, the case says what is missing.
fn has_lab() -> bool {
    let is_required = asks_for("required") || asks_for("full");
    match build::ready(Tier::Small) {
        Err(missing) if !is_required => {
            skipped(&format!("needs the lab: {missing}"));
            false
        }
        _ => true,
    }
}

/// Runs a case as it is, which ends as it is told to, and then with the edits: all of these become ready, and no
/// controller reports a failure.
#[track_caller]
fn comes_up_once_fixed(name: &str, edit: &str, ready: &[&str]) {
    if !has_lab() {
        return;
    }
    let broken = Case::load(&Shelf::Cases.directory().join(name)).unwrap();
    assert!(matches!(broken.told.outcome, CaseEnding::Deadlocks | CaseEnding::Stalls), "{name} comes up");
    let before = cases::run(&broken, None).unwrap();
    assert!(before.wrong.is_empty(), "{name}: {:#?}\n{}", before.wrong, before.story);

    let home = tempfile::tempdir().unwrap();
    let fixed = fixed(&broken, home.path(), edit, ready);
    let after = cases::run(&fixed, None).unwrap();
    assert!(after.wrong.is_empty(), "{}: {:#?}\n{}", fixed.name, after.wrong, after.story);
}

/// The same case with its repository edited, and nothing else changed.
fn fixed(broken: &Case, home: &Path, edit: &str, ready: &[&str]) -> Case {
    let whole = Fixture::open(&broken.directory).unwrap().repository().unwrap();
    let repository = home.join("repo");
    fs::rename(whole.path(), &repository).unwrap();
    run(command(&["fix", "--unsafe", "--write"]).arg(&repository)).exits(0).says(edit);
    fs::write(home.join("expect.yaml"), "{}\n").unwrap();
    fs::write(home.join("lab.yaml"), "outcome: converges\n").unwrap();
    let now = Case::load(home).unwrap();
    let mut told = broken.told.clone();
    told.outcome = CaseEnding::Converges;
    // It is not about timeouts any more: a busy machine must not be what breaks one.
    told.timeouts = now.told.timeouts;
    told.happens = now.told.happens;
    told.happens.within = broken.told.happens.within;
    told.happens.ready = ready.iter().map(|object| (*object).to_owned()).collect();
    told.happens.clean = true;
    told.then.clear();
    Case { name: format!("{}-fixed", broken.name), directory: home.to_owned(), told, expected: now.expected }
}

#[test]
fn a_dependency_on_another_kind_moves_to_where_flux_knows_it() {
    comes_up_once_fixed(
        "21-dependency-on-another-kind",
        "remove the dependency of HelmRelease app/podinfo on `flux-system/database`",
        &["Kustomization flux-system/database", "Kustomization flux-system/app", "HelmRelease app/podinfo"],
    );
}

#[test]
fn a_gate_waits_for_what_an_install_can_not_do_without() {
    comes_up_once_fixed(
        "37a-node-labels-after-a-weak-gate",
        "Set `wait: true` on Kustomization flux-system/ccm",
        &[
            "Kustomization flux-system/cilium",
            "Kustomization flux-system/ccm",
            "HelmRelease csi-proxmox/proxmox-csi-plugin",
        ],
    );
}

#[test]
fn a_release_waits_for_its_webhook() {
    if is_long("50-webhook-while-a-release-is-installed") {
        return;
    }
    comes_up_once_fixed(
        "50-webhook-while-a-release-is-installed",
        "Set `disableWait: false` on HelmRelease cert-manager/cert-manager",
        &["Kustomization flux-system/cert-manager", "HelmRelease external-secrets/external-secrets"],
    );
}

#[test]
fn a_namespace_comes_with_what_needs_it() {
    comes_up_once_fixed(
        "52-namespace-that-a-dependent-makes",
        "Create Namespace `apps` in Kustomization flux-system/settings",
        &["Kustomization flux-system/settings", "Kustomization flux-system/namespaces"],
    );
}

#[test]
fn a_gate_judges_storage_by_its_status_in_place_of_all_that_it_applies() {
    if is_long("30-volume-too-late") {
        return;
    }
    comes_up_once_fixed(
        "30-volume-too-late",
        "set `wait: false` on Kustomization flux-system/ceph, so that its `healthChecks` count",
        &["Kustomization flux-system/ceph", "Kustomization flux-system/app", "HelmRelease app/grafana"],
    );
}
