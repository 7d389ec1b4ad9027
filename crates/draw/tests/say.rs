//! Types into the words that people read: what was not seen, what a need is for, and what keeps a step waiting.

use std::time::Duration;

use coldstart_draw::say::{failure, purpose, unseen, waiting_for_keyring};
use model::{
    Capability, CapabilityKind, MachineRef, ObjectRef, Obstacle, PodTrouble, Purpose, Subject, Unseen, WhyUnseen,
};
use run::{Hindrance, TryFailure};

#[track_caller]
fn is_told(what: &Unseen, why: &WhyUnseen, told: &str) {
    assert_eq!(format!("{} {}", unseen::what(what), unseen::why(why)), told);
}

#[test]
fn what_a_bootstrap_does_not_show_is_named_in_quotes() {
    let named = |name: &str| Unseen::Named(name.to_owned());
    is_told(
        &named("helmfile.yaml"),
        &WhyUnseen::NoYaml,
        "`helmfile.yaml` is not valid YAML, even without its templates",
    );
    is_told(
        &Unseen::ReleasesOf { helmfile: "bootstrap/helmfile.yaml.gotmpl".to_owned() },
        &WhyUnseen::MadeByTemplate,
        "`releases of bootstrap/helmfile.yaml.gotmpl` is made by a template",
    );
    is_told(
        &named("../{{ .Environment.Name }}/helmfile.yaml"),
        &WhyUnseen::ChosenByTemplate,
        "`../{{ .Environment.Name }}/helmfile.yaml` is chosen by a template",
    );
    is_told(&named("secret.yaml"), &WhyUnseen::Encrypted, "`secret.yaml` is encrypted, names included");
    is_told(&named("edge"), &WhyUnseen::AnotherCluster, "`edge` is applied to another cluster (`kubeConfig`)");
    is_told(&named("lost.yaml"), &WhyUnseen::NotInRepository, "`lost.yaml` is not in the repository");
    let why = WhyUnseen::WrittenByTerraform;
    is_told(&named("vars.env"), &why, "`vars.env` is not in the repository yet: Terraform writes it");
    let why = WhyUnseen::WrittenByBootstrap;
    is_told(&named("flux-system"), &why, "`flux-system` is not in the repository yet: `flux bootstrap` writes it");
    is_told(
        &named("git::https://git.example.org/x.git@helmfile.yaml"),
        &WhyUnseen::Fetched,
        "`git::https://git.example.org/x.git@helmfile.yaml` would be fetched over the network",
    );
    is_told(
        &named("bootstrap/main.go"),
        &WhyUnseen::Program,
        "`bootstrap/main.go` is a program that seems to bootstrap the cluster; programs are not read",
    );
}

#[test]
fn what_comes_from_another_source_names_it() {
    let what = Unseen::AppliedBy {
        kustomization: ObjectRef::new("Kustomization", "flux-system", "apps"),
        path: "./apps".to_owned(),
        source: ObjectRef::new("GitRepository", "flux-system", "other"),
        url: Some("https://git.example.org/other.git".to_owned()),
    };
    is_told(
        &what,
        &WhyUnseen::AnotherSource,
        "what Kustomization flux-system/apps applies: `./apps` of GitRepository flux-system/other \
         (https://git.example.org/other.git) is in another repository or artifact",
    );
}

#[test]
fn a_resource_set_is_told_by_what_is_known_of_it() {
    let pulls = Unseen::InputProvider { name: Some("pulls".into()) };
    is_told(
        &pulls,
        &WhyUnseen::InputsFromOutside { provider_type: Some("GitHubPullRequest".into()) },
        "ResourceSetInputProvider pulls its inputs come from outside the repository (GitHubPullRequest)",
    );
    is_told(
        &Unseen::InputProvider { name: None },
        &WhyUnseen::InputsFromOutside { provider_type: None },
        "ResourceSetInputProvider ? its inputs come from outside the repository (no type)",
    );
    is_told(
        &Unseen::SelectedInputProviders,
        &WhyUnseen::NoInputProvider,
        "ResourceSetInputProvider by selector the repository does not hold it",
    );
    is_told(
        &Unseen::Manifest { kind: None, name: None },
        &WhyUnseen::TooManyObjects { max: 20_000 },
        "an object without a name makes more than 20000 objects",
    );
}

#[test]
fn a_need_ends_in_what_it_is_for() {
    let crd = || Capability::crd("external-secrets.io", "ExternalSecret");
    let claim = Purpose::Make(Capability::new(CapabilityKind::Secret, "app", "login"));
    for (what, told) in [
        (Purpose::Apply, "to be applied".to_owned()),
        (Purpose::Volumes, "for its volumes".to_owned()),
        (claim, "to make Secret app/login".to_owned()),
        (Purpose::MayBring(crd()), format!("if that is what brings {}", crd())),
        (Purpose::Catalogued("it stores everything there".into()), "because it stores everything there".to_owned()),
    ] {
        assert_eq!(purpose::purpose(&what), told);
    }
}

#[test]
fn what_kustomize_does_not_build_is_named() {
    assert_eq!(unseen::what(&Unseen::InflatedChart { name: "podinfo".into() }), "chart podinfo");
    assert_eq!(unseen::what(&Unseen::Plugin { kind: "Runs".into(), name: "r".into() }), "Runs r");
}

#[test]
fn a_step_that_is_not_completed_says_what_it_waited_for() {
    let late = TryFailure::TooLate { limit_seconds: 600, last: Some(Hindrance::NotMade) };
    assert_eq!(failure(&late), "not completed within 10 min: it does not exist yet");
    let node = MachineRef { number: 2, name: Some("w2".into()) };
    let pods = Subject::Object(ObjectRef::new("Deployment", "apps", "web"));
    let stuck = Obstacle::Stuck { subject: pods, trouble: PodTrouble::NoNetworkAgent, node }.alone();
    let told = failure(&TryFailure::Hindered { by: Hindrance::Obstacles(stuck) });
    assert!(told.contains("no network agent runs on w2"), "{told}");
}

#[test]
fn a_keyring_that_does_not_answer_is_told_while_it_is_waited_for() {
    assert!(waiting_for_keyring(Duration::from_secs(1)).starts_with("waiting for the keyring, at most 1 s more"));
}
