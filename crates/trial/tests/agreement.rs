//! No two commands contradict each other, on both examples and on every fixture.

#![expect(clippy::unwrap_used, reason = "a repository that can not be read fails")]

use std::fmt::Write as _;
use std::path::Path;

use coldstart_trial::{Agreement, Disagreement, agreements};
use fixtures::Shelf;

const BOOTS: u64 = 10;

fn of(root: &Path) -> Vec<Agreement> {
    agreements(&read::read(root).unwrap(), BOOTS).unwrap()
}

/// Every disagreement, one per line.
fn told(name: &str, all: &[Agreement], counts: impl Fn(&Disagreement) -> bool) -> String {
    let mut out = String::new();
    for one in all {
        for it in one.disagreements.iter().filter(|it| counts(it)) {
            let _ = writeln!(out, "{name} ({}): {it:?}", one.cluster);
        }
    }
    out
}

#[test]
fn the_examples_are_told_alike_by_every_command() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    for example in ["homelab", "homelab-broken"] {
        let found = told(example, &of(&examples.join(example)), |_| true);
        assert!(found.is_empty(), "{found}");
    }
}

/// Where they contradict each other all the same.
const KNOWN: [&str; 3] = [
    // The bootstrap applies a HelmRelease before Flux runs. `check` takes that for nothing, because no controller is there yet; in the
    // simulated world the controller that comes later installs it, and brings the CRD.
    "task-that-no-bootstrap-runs",
    // The simulated world starts the Kustomization of a FluxInstance without the instance's own patches.
    "instance-that-patches-its-root",
    // Whichever of two comes first, it comes after itself: `check` names the two, and the boots the third that waits in front of them.
    "kind-that-two-bring-behind-its-users",
];

#[test]
fn the_fixtures_are_told_alike_by_every_command() {
    let mut found = String::new();
    let mut ran = 0;
    for shelf in Shelf::ALL {
        for fixture in fixtures::all(shelf).unwrap() {
            if KNOWN.contains(&fixture.name.as_str()) {
                continue;
            }
            let tree = fixture.repository().unwrap();
            found += &told(&fixture.name, &of(tree.path()), |_| true);
            ran += 1;
        }
    }
    assert!(ran > 100, "{ran} fixtures");
    assert!(found.is_empty(), "{found}");
}
