//! What is known about Terraform's providers.

use coldstart_catalogue::{Kept, Moment, Providers, Service, Shown};

fn proven(constraints: &[&str], kind: &str) -> Vec<Shown> {
    let constraints: Vec<String> = constraints.iter().map(|text| (*text).to_owned()).collect();
    let known = Providers::embedded()
        .known(("talos", Some("siderolabs/talos")), &constraints, kind, true)
        .expect("a known type");
    known.proves().iter().map(|proof| proof.what).collect()
}

#[test]
fn the_version_that_terraform_would_take_decides() {
    let nodes = Shown::NodesReady;
    assert!(proven(&["~> 0.9.0"], "talos_cluster_health").contains(&nodes));
    assert!(!proven(&["0.11.0"], "talos_cluster_health").contains(&nodes));
    // Nothing keeps it from the newest.
    assert!(!proven(&[">= 0.8"], "talos_cluster_health").contains(&nodes));
    assert!(proven(&[">= 0.8", "0.10.1"], "talos_cluster_health").contains(&nodes));
}

#[test]
fn a_type_that_is_not_listed_is_as_its_provider_says() {
    let providers = Providers::embedded();
    let vault = providers.known(("vault", None), &[], "vault_policy", false).unwrap();
    assert!(vault.may_need(Service::Vault, Moment::Plan) && vault.keeps().is_empty());
    let manifest = providers.known(("kubernetes", None), &[], "kubernetes_manifest", false).unwrap();
    assert!(manifest.may_need(Service::KubernetesKind, Moment::Plan));
    let map = providers.known(("kubernetes", None), &[], "kubernetes_config_map", false).unwrap();
    assert!(!map.may_need(Service::KubernetesApi, Moment::Plan) && map.may_need(Service::KubernetesApi, Moment::Apply));
    let secret = providers.known(("kubernetes", None), &[], "kubernetes_secret", true).unwrap();
    assert!(secret.may_need(Service::KubernetesApi, Moment::Plan));
    assert_eq!(providers.known(("tls", None), &[], "tls_private_key", false).unwrap().keeps(), [Kept::PrivateKey]);
}

#[test]
fn another_provider_of_the_same_name_is_another_one() {
    let providers = Providers::embedded();
    assert!(providers.find("proxmox", Some("telmate/proxmox")).is_none());
    assert_eq!(providers.find("tls_of_mine", Some("hashicorp/tls")).unwrap().name, "tls");
}

#[test]
fn every_claim_has_a_source_and_no_type_of_another_provider() {
    for provider in Providers::embedded().iter() {
        assert!(!provider.sources.is_empty() && !provider.addresses.is_empty(), "{}", provider.name);
        // Two of one local name differ behind a dash.
        let local = provider.name.split('-').next().unwrap_or_default();
        for kind in &provider.types {
            assert!(kind.source.starts_with("https://"), "{:?}", kind.names);
            for name in &kind.names {
                assert!(name.starts_with(local), "{name} is not of {}", provider.name);
            }
        }
    }
}
