//! A world that is driven from outside, step by step: nothing happens that nobody does, what comes too early is refused, and it
//! outlives its drivers.

#![expect(clippy::unwrap_used, reason = "a fixture that can not be read fails")]

use std::path::Path;

use coldstart_simulate::{
    Action, Blueprint, Conditions, Done, Fault, Id, Machines, Millis, Probe, Reason, What, World, compile,
};

const HOUR: Millis = 3_600_000;

fn homelab() -> Blueprint {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/homelab");
    let repository = read::Repository::open(&path).unwrap();
    let (mut clusters, catalogue) = read::rendered::render(&repository).unwrap();
    // These drivers follow the book, and not the steps that files tell.
    clusters[0].bootstrap.boot = model::Boot::default();
    let machines = Some(Machines::default());
    compile(&clusters, &catalogue, &Conditions { runs_bootstrap: true, machines, ..Conditions::default() })
}

/// What there is to do, each with what shows that it is done.
fn todo(blueprint: &Blueprint) -> Vec<(Action, Probe)> {
    let machines = blueprint.machines().unwrap();
    let all = || 0..machines.control_planes + machines.workers;
    let mut todo = vec![(Action::MakeSecrets, Probe::Secrets)];
    todo.extend(all().map(|machine| (Action::PowerOn(machine), Probe::Machine(machine))));
    todo.extend(all().map(|machine| (Action::Configure(machine), Probe::Configured(machine))));
    todo.extend((0..machines.control_planes).map(|machine| (Action::BootstrapEtcd(machine), Probe::Bootstrapped)));
    todo.push((Action::RestoreKey, Probe::SealingKey));
    todo.extend(blueprint.seeded(None).map(|id| (Action::Apply(id), Probe::Exists(id))));
    todo.extend(blueprint.early().map(|early| (Action::Install(early.release), Probe::Installed(early.release))));
    todo.push((Action::StartFlux, Probe::Flux));
    todo
}

fn may_begin(world: &World<'_>, blueprint: &Blueprint, action: Action) -> bool {
    let is_in = |release: usize| world.look(Probe::Installed(u32::try_from(release).unwrap())).met;
    match action {
        Action::Install(release) => {
            let early = blueprint.early().find(|early| early.release == release).unwrap();
            let is_key = |id: Id| blueprint.thing(id).name == "sealed-secrets-key";
            blueprint.seeded(None).all(|id| world.exists(id) || is_key(id))
                && early.needs.iter().all(|need| is_in(*need))
        }
        Action::StartFlux => (0..blueprint.early().count()).all(is_in),
        _ => true,
    }
}

/// Drives a world with no memory of its own until everything is ready, or for so many actions; whether everything is.
fn drive(world: &mut World<'_>, blueprint: &Blueprint, mut actions: usize) -> bool {
    let todo = todo(blueprint);
    loop {
        for (action, probe) in &todo {
            if world.look(*probe).met || !may_begin(world, blueprint, *action) {
                continue;
            }
            if actions == 0 {
                return false;
            }
            actions -= usize::from(world.act(world.now(), *action) == Ok(Done::Begun));
        }
        if world.look(Probe::Converged).met {
            return true;
        }
        match world.next_event_at() {
            Some(at) => world.advance(at),
            None => return false,
        }
    }
}

/// A reason as people read it.
fn say(reason: Reason, of: &Blueprint) -> String {
    reason.named(of).as_ref().map(draw::say::obstacle).unwrap_or_default()
}

#[test]
fn what_nobody_does_does_not_happen() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    world.advance(10 * HOUR);
    assert!(world.events().iter().all(|event| event.what == What::Created || event.what == What::Ready));
    assert_eq!(world.look(Probe::Machine(0)).reason, Reason::NoAnswer(0));
    assert_eq!(world.look(Probe::Api).reason, Reason::EtcdNotBootstrapped);
    assert_eq!(world.next_event_at(), None);
    assert!(world.is_over().is_none() && world.acts().is_empty());
    // With machines alone there is an operating system, and no more.
    world.act(world.now(), Action::PowerOn(0)).unwrap();
    world.advance(world.now() + HOUR);
    assert!(world.look(Probe::Machine(0)).met && !world.look(Probe::Machine(1)).met);
    assert_eq!(world.look(Probe::Configured(0)).reason, Reason::NotConfigured(0));
}

#[test]
fn a_driver_comes_as_far_as_the_script_and_as_fast() {
    let blueprint = homelab();
    let mut whole = World::new(&blueprint);
    for seed in 0..50 {
        let mut world = World::begin(&blueprint, seed, &[]);
        assert!(drive(&mut world, &blueprint, usize::MAX), "seed {seed}");
        assert_eq!(world.done_twice().count(), 0);
        assert_eq!(world.outcome().at, whole.boot(seed, &[]).at, "seed {seed}");
    }
}

#[test]
fn drivers_may_die_after_any_action() {
    let blueprint = homelab();
    let mut sound = World::begin(&blueprint, 3, &[]);
    assert!(drive(&mut sound, &blueprint, usize::MAX));
    let begun = sound.acts().iter().filter(|act| act.result == Ok(Done::Begun)).count();
    assert!(begun > 15, "{begun}");
    for dies_after in 0..begun {
        let mut world = World::begin(&blueprint, 3, &[]);
        assert!(!drive(&mut world, &blueprint, dies_after));
        // The world goes on alone for a while.
        world.advance(world.now() + 90_000);
        assert!(drive(&mut world, &blueprint, usize::MAX), "after {dies_after}");
        assert_eq!(world.done_twice().count(), 0, "after {dies_after}");
    }
}

#[test]
fn what_comes_too_early_is_refused() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    let secret = blueprint.seeded(None).next().unwrap();
    assert_eq!(world.act(0, Action::Configure(0)), Err(Reason::NoAnswer(0)));
    assert_eq!(world.act(0, Action::Apply(secret)), Err(Reason::EtcdNotBootstrapped));
    assert_eq!(world.act(0, Action::StartFlux), Err(Reason::EtcdNotBootstrapped));
    world.act(0, Action::PowerOn(0)).unwrap();
    world.advance(HOUR);
    assert_eq!(world.act(HOUR, Action::BootstrapEtcd(0)), Err(Reason::NotConfigured(0)));
    assert_eq!(world.act(HOUR, Action::Configure(0)), Err(Reason::NoSecrets));
    world.act(HOUR, Action::MakeSecrets).unwrap();
    world.act(HOUR, Action::Configure(0)).unwrap();
    world.act(HOUR, Action::BootstrapEtcd(0)).unwrap();
    // One of three is its own quorum: the others join when they are there.
    world.advance(2 * HOUR);
    assert!(world.look(Probe::Etcd).met && world.look(Probe::Api).met);
    assert!(world.look(Probe::Node(0)).met && !world.look(Probe::Node(1)).met);
    world.act(2 * HOUR, Action::PowerOn(1)).unwrap();
    world.advance(3 * HOUR);
    world.act(3 * HOUR, Action::Configure(1)).unwrap();
    world.advance(4 * HOUR);
    assert!(world.look(Probe::Api).met);
    assert!(world.look(Probe::Node(1)).met && !world.look(Probe::Node(2)).met);
    let flux = world.act(4 * HOUR, Action::StartFlux);
    assert!(matches!(flux, Err(Reason::NotInstalled(_))), "{flux:?}");
    assert!(!world.look(Probe::Flux).met);
    for early in blueprint.early() {
        assert_eq!(
            say(world.look(Probe::Installed(early.release)).reason, &blueprint),
            format!("release {} is not installed", early.name)
        );
    }
}

#[test]
fn a_release_without_its_network_says_what_it_waits_for() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    raise(&mut world, &blueprint);
    let coredns = blueprint.early_named("kube-system/coredns").unwrap();
    world.act(world.now(), Action::Install(coredns)).unwrap();
    world.advance(world.now() + 60_000);
    let proof = world.look(Probe::Healthy(coredns));
    assert!(!proof.met && matches!(proof.reason, Reason::WaitsFor(..)), "{}", say(proof.reason, &blueprint));
    let cilium = blueprint.early_named("kube-system/cilium").unwrap();
    world.act(world.now(), Action::Install(cilium)).unwrap();
    world.advance(world.now() + HOUR);
    assert!(world.look(Probe::Healthy(cilium)).met);
    let proof = world.look(Probe::Healthy(coredns));
    assert!(proof.met, "{}", say(proof.reason, &blueprint));
}

/// Machines, etcd and an API server.
fn raise(world: &mut World<'_>, blueprint: &Blueprint) {
    let below = todo(blueprint);
    while !world.look(Probe::Node(0)).met {
        for (action, probe) in &below {
            let is_below = matches!(
                action,
                Action::MakeSecrets | Action::PowerOn(_) | Action::Configure(_) | Action::BootstrapEtcd(_)
            );
            if is_below && !world.look(*probe).met {
                let _ = world.act(world.now(), *action);
            }
        }
        world.advance(world.next_event_at().unwrap());
    }
}

#[test]
fn what_must_be_done_once_is_seen_when_it_is_done_twice() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    raise(&mut world, &blueprint);
    let now = world.now();
    assert_eq!(world.done_twice().count(), 0);
    let there = world.acts().iter().find_map(|act| match act.action {
        Action::BootstrapEtcd(machine) if act.result == Ok(Done::Begun) => Some(machine),
        _ => None,
    });
    let there = there.unwrap();
    assert_eq!(world.act(now, Action::BootstrapEtcd(there)), Ok(Done::Again));
    assert_eq!(world.done_twice().count(), 1);
    assert!(world.look(Probe::Api).met);

    // On another machine it makes another cluster.
    let mut split = world.clone();
    assert_eq!(split.act(now, Action::BootstrapEtcd((there + 1) % 3)), Ok(Done::Again));
    assert_eq!(split.look(Probe::Api).reason, Reason::EtcdSplit);
    split.advance(now + 24 * HOUR);
    assert!(!drive(&mut split, &blueprint, usize::MAX));

    // New secrets are not those that the machines have.
    assert_eq!(world.act(now, Action::MakeSecrets), Ok(Done::Again));
    assert_eq!(world.look(Probe::Configured(0)).reason, Reason::OtherSecrets(0));
    assert_eq!(world.act(now, Action::Configure(0)), Err(Reason::OtherSecrets(0)));
    assert_eq!(world.done_twice().count(), 2);
}

#[test]
fn a_key_that_comes_after_its_controller_opens_nothing() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    let todo = todo(&blueprint);
    // All but the key, until nothing moves any more.
    let secret = blueprint.find("Secret", "kube-system", "sealed-secrets-key").unwrap();
    let held_back = [Action::RestoreKey, Action::Apply(secret)];
    for _ in 0..20_000 {
        for (action, probe) in &todo {
            if !held_back.contains(action) && !world.look(*probe).met && may_begin(&world, &blueprint, *action) {
                let _ = world.act(world.now(), *action);
            }
        }
        let Some(at) = world.next_event_at().filter(|at| *at < 3 * HOUR) else { break };
        world.advance(at);
    }
    assert!(world.look(Probe::Flux).met && !world.look(Probe::Converged).met);
    let sealed = blueprint.find("SealedSecret", "csi-proxmox", "proxmox-csi-plugin").unwrap();
    assert_eq!(world.look(Probe::Ready(sealed)).reason, Reason::NoSealingKey);
    world.act(world.now(), Action::RestoreKey).unwrap();
    world.advance(world.now() + 6 * HOUR);
    assert_eq!(world.look(Probe::Ready(sealed)).reason, Reason::NoSealingKey);
}

#[test]
fn a_key_that_is_applied_as_a_secret_opens_what_is_sealed() {
    let blueprint = homelab();
    let mut world = World::begin(&blueprint, 1, &[]);
    raise(&mut world, &blueprint);
    assert!(!world.look(Probe::SealingKey).met);
    let key = blueprint.find("Secret", "kube-system", "sealed-secrets-key").unwrap();
    world.act(world.now(), Action::Apply(key)).unwrap();
    assert!(world.look(Probe::SealingKey).met);
    assert_eq!(world.act(world.now(), Action::RestoreKey), Ok(Done::Again));
}

#[test]
fn the_same_acts_give_the_same_world() {
    let blueprint = homelab();
    for faults in [vec![], vec![Fault::ApiRestart, Fault::SlowNode]] {
        let mut world = World::begin(&blueprint, 9, &faults);
        assert!(drive(&mut world, &blueprint, usize::MAX));
        let acts: Vec<(Millis, Action)> = world.acts().iter().map(|act| (act.at, act.action)).collect();
        let mut again = World::replay(&blueprint, 9, &faults, &acts);
        again.advance(world.now());
        assert_eq!(world.events(), again.events());
        assert_eq!(world.acts(), again.acts());
    }
}
