//! Boots of many components: what is counted grows with their number, and a long boot is followed to its end.

#![expect(clippy::unwrap_used, reason = "a fixture that can not be read fails")]

use std::fmt::Write as _;
use std::fs;

use coldstart_simulate::{
    Blueprint, BootOutcome, Conditions, Fault, Faults, Limit, Millis, Reason, Verdict, What, World, compile, study,
};

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
    let mut text = String::new();
    for at in 0..count {
        kustomization(&mut text, at, &after(at), if at == 0 { first } else { WAITS });
    }
    compiled(&text, count, conditions)
}

/// What the cluster applies, and so many directories with a Deployment each.
fn compiled(cluster: &str, directories: usize, conditions: &Conditions) -> Blueprint {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: String, text: &str| {
        let path = tree.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("clusters/test/flux-system/gotk-sync.yaml".to_owned(), ROOT);
    for at in 0..directories {
        write(format!("apps/{at}/deployment.yaml"), &deployment(&format!("frontend-{at}")));
    }
    write("clusters/test/apps.yaml".to_owned(), cluster);
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
fn reconciles_that_change_nothing_are_no_events() {
    // Twice as long a chain takes twice as many days, in which twice as many Kustomizations are reconciled every hour.
    let slow = Conditions { requeue_millis: 3 * HOUR, ..Conditions::default() };
    let events = |count: usize| {
        let outcome = boot(&blueprint(count, chain, WAITS, &slow));
        assert!(outcome.converged(), "{count}: {:?}", outcome.verdict);
        outcome.events
    };
    let (some, twice) = (events(40), events(80));
    assert!(twice * 10 <= some * 22, "{some} events, and {twice} for twice as many");
}

#[test]
fn what_has_been_left_alone_sees_at_its_next_reconcile_that_something_is_worse() {
    let mut text = String::new();
    kustomization(&mut text, 0, &[], WAITS);
    let blueprint = compiled(&text.replace("1h", "1m"), 1, &Conditions::default());
    let [app, pods] = [("Kustomization", "flux-system", "app-0"), ("Deployment", "default", "frontend-0")]
        .map(|(kind, namespace, name)| blueprint.find(kind, namespace, name).unwrap());
    let mut seen = 0;
    for seed in 0..40 {
        let mut world = World::new(&blueprint);
        world.start_traced(seed, &[Fault::DeadNode]);
        world.advance(2 * HOUR);
        let at = |thing, what| world.events().iter().filter(move |it| it.thing == Some(thing) && it.what == what);
        let ready = at(app, What::Ready).next().map(|it| it.at);
        let Some(lost) = at(pods, What::NotReady).map(|it| it.at).find(|at| ready.is_some_and(|ready| ready < *at))
        else {
            continue;
        };
        // Its timeout is half of its interval, and other pods are started after five minutes.
        let failed = |it: &&coldstart_simulate::BootEvent| matches!(it.what, What::Failed(Reason::HealthTimeout(_)));
        let failed = world.events().iter().filter(failed).find(|it| it.thing == Some(app) && it.at > lost).unwrap();
        let (soonest, latest) = (lost + 30_000, lost + 91_000);
        assert!((soonest..latest).contains(&failed.at), "seed {seed}: lost at {lost}, failed at {}", failed.at);
        assert!(world.is_ready(app), "seed {seed}");
        seen += 1;
    }
    assert!(seen > 2, "{seen}");
}

/// Releases that take longer than they may, and are removed and installed again without end.
fn endless(count: usize) -> Blueprint {
    let mut text = String::from(
        "apiVersion: source.toolkit.fluxcd.io/v1\nkind: HelmRepository\nmetadata: {name: charts, namespace: \
         default}\nspec: {interval: 1h, url: https://charts.example.org}\n",
    );
    for at in 0..count {
        let _ = writeln!(
            text,
            "---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: shop-{at}, namespace: \
             default}}\nspec:\n  interval: 1h\n  timeout: 1s\n  install: {{remediation: {{retries: -1}}}}\n  chart: {{spec: \
             {{chart: shop, sourceRef: {{kind: HelmRepository, name: charts}}}}}}"
        );
    }
    compiled(&text, 0, &Conditions::default())
}

#[test]
fn a_boot_without_an_end_is_unfinished_and_says_which_limit_it_reached() {
    let some = endless(1);
    assert_eq!(boot(&some).verdict, Verdict::Unfinished(Limit::Time));
    let all = study(&some, 0, 3, &Faults::default());
    assert_eq!((all.converged, all.unfinished, all.out_of_time), (0, 3, 3));
    // How it would have ended is not known, so nothing is blamed.
    assert!(all.causes.is_empty() && all.never_ready.is_empty());
    let many = endless(24);
    assert_eq!(boot(&many).verdict, Verdict::Unfinished(Limit::Events));
    let all = study(&many, 0, 1, &Faults::default());
    assert_eq!((all.converged, all.unfinished, all.out_of_time), (0, 1, 0));
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
