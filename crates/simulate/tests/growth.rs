//! Boots of many components: what is counted grows with their number, and a long boot is followed to its end.

#![expect(clippy::unwrap_used, reason = "a fixture that can not be read fails")]

use std::fmt::Write as _;
use std::fs;

use coldstart_simulate::{Blueprint, BootOutcome, Conditions, Millis, Reason, World, compile};

const HOUR: Millis = 3_600_000;

const WAITS: &str = "  wait: true";

const ROOT: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: flux-system, namespace: flux-system}
spec: {interval: 1h, url: https://git.example.org/cluster.git}
---
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata: {name: flux-system, namespace: flux-system}
spec:
  interval: 1h
  path: ./clusters/test
  prune: true
  sourceRef: {kind: GitRepository, name: flux-system}
";

/// A Kustomization that waits for a Deployment of its own, after others.
fn kustomization(text: &mut String, at: usize, after: &[usize], more: &str) {
    let after: Vec<String> = after.iter().map(|at| format!("{{name: app-{at}}}")).collect();
    let _ = writeln!(
        text,
        "---\napiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: app-{at}, namespace: \
         flux-system}}\nspec:\n  interval: 1h\n  path: ./apps/{at}\n  prune: true\n  sourceRef: {{kind: GitRepository, name: \
         flux-system}}\n  dependsOn: [{}]\n{more}",
        after.join(", ")
    );
}

fn deployment(name: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: default}}\nspec: {{template: {{spec: \
         {{containers: [{{name: app, image: registry.example.org/app}}]}}}}}}\n"
    )
}

/// So many Kustomizations that wait, each after those that `after` says; the first may have another gate.
fn blueprint(count: usize, after: impl Fn(usize) -> Vec<usize>, first: &str, conditions: &Conditions) -> Blueprint {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("clusters/test/flux-system/gotk-sync.yaml".to_owned(), ROOT);
    let mut text = String::new();
    for at in 0..count {
        kustomization(&mut text, at, &after(at), if at == 0 { first } else { WAITS });
        write(format!("apps/{at}/deployment.yaml"), &deployment(&format!("frontend-{at}")));
    }
    write("clusters/test/apps.yaml".to_owned(), &text);
    let repository = read::Repository::open(tree.path()).unwrap();
    let (clusters, catalogue) = read::rendered::render(&repository).unwrap();
    assert_eq!(clusters.len(), 1);
    compile(&clusters, &catalogue, conditions)
}

fn boot(blueprint: &Blueprint) -> BootOutcome {
    World::new(blueprint).boot(0, &[])
}

fn chain(at: usize) -> Vec<usize> {
    at.checked_sub(1).into_iter().collect()
}

#[test]
fn a_chain_comes_up_however_long_it_takes() {
    // Every link is looked at three hours after the one before it is ready: five days.
    let slow = Conditions { requeue_millis: 3 * HOUR, ..Conditions::default() };
    let outcome = boot(&blueprint(40, chain, WAITS, &slow));
    assert!(outcome.converged(), "{:?} at {} h", outcome.verdict, outcome.at / HOUR);
    assert!(outcome.at > 100 * HOUR, "{} h", outcome.at / HOUR);
}

#[test]
fn twice_as_many_components_are_twice_as_many_events() {
    for (shape, after) in [
        ("chain", (|at, _| chain(at)) as fn(usize, usize) -> Vec<usize>),
        ("independent", |_, _| Vec::new()),
        ("star", |at, _| if at == 0 { Vec::new() } else { vec![0] }),
        ("fan-in", |at, count| if at + 1 == count { (0..at).collect() } else { Vec::new() }),
    ] {
        let events = |count: usize| {
            let outcome = boot(&blueprint(count, |at| after(at, count), WAITS, &Conditions::default()));
            assert!(outcome.converged(), "{shape} of {count}");
            outcome.events
        };
        let (some, twice) = (events(60), events(120));
        assert!(twice * 10 <= some * 22, "{shape}: {some} events, and {twice} for twice as many");
    }
}

#[test]
fn a_long_chain_that_never_starts_comes_down_to_one_cause() {
    // Its first link waits for a Deployment that it spells wrong.
    let check = "  healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: frontent-0, namespace: default}]";
    let blueprint = blueprint(600, chain, check, &Conditions::default());
    let outcome = boot(&blueprint);
    assert!(!outcome.converged());
    assert_eq!(outcome.causes.len(), 1, "{:?}", outcome.causes);
    let cause = &outcome.causes[0];
    assert_eq!((cause.blocks, cause.turns), (600, false));
    assert!(matches!(cause.reason, Reason::HealthTimeout(on) if blueprint.thing(on).name == "frontent-0"));
    assert!(blueprint.assumed.iter().all(|assumed| !assumed.contains("frontent")), "{:?}", blueprint.assumed);
}
