//! Boots before Flux, by the steps that files tell: what is only created lets Flux start on a cluster that lacks something, a wait that
//! can't fail does no better, and one that bites stops the boot and says at which step.

#![expect(clippy::unwrap_used, reason = "a fixture that can not be read fails")]

use coldstart_simulate::{Blueprint, Conditions, Fault, Faults, Lack, Machines, Reason, Study, World, compile, study};
use fixtures::{Fixture, Shelf};

const BOOTS: u64 = 100;

fn blueprint(shape: &str) -> Blueprint {
    changed(shape, |text| text)
}

/// The same with its Terraform changed.
fn changed(shape: &str, change: impl Fn(String) -> String) -> Blueprint {
    let tree = Fixture::open(&Shelf::Shapes.directory().join(shape)).unwrap().repository().unwrap();
    let file = tree.path().join("terraform/infrastructure/main.tf");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, change(text)).unwrap();
    let repository = read::Repository::open(tree.path()).unwrap();
    let (clusters, catalogue) = read::rendered::render(&repository).unwrap();
    let machines = Machines::of(&clusters[0]);
    assert_eq!(machines, Some(Machines { control_planes: 3, workers: 2 }));
    compile(&clusters, &catalogue, &Conditions { runs_bootstrap: true, machines, ..Conditions::default() })
}

fn boots(blueprint: &Blueprint, fault: Option<Fault>) -> Study {
    study(blueprint, 0, BOOTS, &Faults { these: fault.into_iter().collect(), is_drawn: false })
}

fn stopped(study: &Study) -> u64 {
    study.bootstrap_failed.iter().map(|(_, boots, _)| boots).sum()
}

fn incomplete(study: &Study) -> u64 {
    study.started_without.iter().map(|(_, boots, _)| boots).sum()
}

/// The names of the steps at which boots stop.
fn steps(blueprint: &Blueprint, study: &Study) -> Vec<String> {
    let step = |reason: &Reason| match reason.named(blueprint) {
        Some(model::Obstacle::StepStopped { step, .. }) => step.name.to_string(),
        other => panic!("{other:?}"),
    };
    let mut all: Vec<String> = study.bootstrap_failed.iter().map(|(reason, ..)| step(reason)).collect();
    all.dedup();
    all
}

const SHAPES: [&str; 3] = ["boot-on-what-was-created", "boot-gates-that-stop-nothing", "boot-on-what-works"];

#[test]
fn without_faults_all_of_them_come_up_complete() {
    for shape in SHAPES {
        let study = boots(&blueprint(shape), None);
        assert_eq!((study.converged, stopped(&study), incomplete(&study)), (BOOTS, 0, 0), "{shape}");
    }
}

#[test]
fn a_node_that_never_joins_is_noticed_only_by_a_gate_that_bites() {
    for fault in [Fault::MissingNode, Fault::KubeletWaits, Fault::AgentMissing] {
        for shape in &SHAPES[..2] {
            let study = boots(&blueprint(shape), Some(fault));
            assert_eq!((stopped(&study), incomplete(&study)), (0, BOOTS), "{shape}, {}", fault.name());
        }
        let works = blueprint(SHAPES[2]);
        let study = boots(&works, Some(fault));
        assert_eq!((stopped(&study), incomplete(&study)), (BOOTS, 0), "{}", fault.name());
        assert_eq!(steps(&works, &study), ["null_resource.wait_for_nodes_ready"], "{}", fault.name());
    }
}

#[test]
fn a_gate_waits_for_a_node_that_is_late_as_long_as_it_is_given() {
    let created = boots(&blueprint(SHAPES[0]), Some(Fault::LateNode));
    assert_eq!((created.converged, incomplete(&created)), (BOOTS, BOOTS));
    let works = boots(&blueprint(SHAPES[2]), Some(Fault::LateNode));
    assert_eq!((works.converged + stopped(&works), incomplete(&works)), (BOOTS, 0));
    assert!(works.converged > 20 && stopped(&works) > 20, "{} and {}", works.converged, stopped(&works));
}

#[test]
fn what_speaks_to_an_api_server_that_is_late_stops_unless_it_waits() {
    let works = blueprint(SHAPES[2]);
    let study = boots(&works, Some(Fault::LateApi));
    assert_eq!(stopped(&study), BOOTS);
    assert_eq!(steps(&works, &study), ["null_resource.wait_for_k8s_api", "helm_release.cilium_bootstrap"]);
}

/// The wait is as it was, and something follows it whose success is all that counts.
#[test]
fn a_gate_without_teeth_lets_the_boot_go_on() {
    let toothless = changed(SHAPES[2], |text| {
        assert!(text.contains("set -eu"));
        text.replace("      set -eu\n", "")
    });
    let study = boots(&toothless, Some(Fault::MissingNode));
    assert_eq!((stopped(&study), incomplete(&study)), (0, BOOTS));
}

#[test]
fn what_a_cluster_lacks_is_told_with_the_name_of_the_machine() {
    let blueprint = blueprint(SHAPES[0]);
    let outcome = World::new(&blueprint).boot(0, &[Fault::KubeletWaits]);
    let Some(reason @ Reason::StartedWithout(Lack::Kubelet(_))) = outcome.started_without else {
        panic!("{:?}", outcome.started_without)
    };
    let Some(model::Obstacle::KubeletWaits { machine }) = reason.named(&blueprint) else { panic!("{reason:?}") };
    assert!(machine.name.as_deref().is_some_and(|name| name.starts_with('w')), "{machine:?}");
}

#[test]
fn the_same_seed_gives_the_same_boot() {
    let blueprint = blueprint(SHAPES[2]);
    for fault in [Fault::LateNode, Fault::LateApi] {
        let boot = || World::new(&blueprint).boot_traced(7, &[fault]).1;
        assert_eq!(boot(), boot());
    }
}
