//! The data as a whole: what the schema alone can't say about it.

use std::collections::BTreeMap;

use coldstart_catalogue::{Catalogue, Component, Made};

fn each() -> impl Iterator<Item = &'static Component> {
    Catalogue::embedded().components().iter()
}

fn is_group_kind(text: &str) -> bool {
    let Some((group, kind)) = text.split_once('/') else { return false };
    let group_fits = group.contains('.')
        && group.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte));
    let kind_fits = kind == "*"
        || kind.starts_with(|first: char| first.is_ascii_uppercase())
            && kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
    group_fits && kind_fits
}

#[test]
fn there_are_components_and_their_names_ascend() {
    let names: Vec<_> = each().map(|component| component.name.as_str()).collect();
    assert!(names.len() >= 170, "only {}", names.len());
    assert!(names.is_sorted_by(|one, next| one < next));
}

#[test]
fn no_two_components_claim_one_chart_or_image() {
    let mut claimed = BTreeMap::new();
    for component in each() {
        let charts = component.charts.iter().map(|chart| format!("chart {}", chart.to_ascii_lowercase()));
        let images = component.images.iter().map(|image| format!("image {}", image.to_ascii_lowercase()));
        for claim in charts.chain(images) {
            assert_eq!(claimed.insert(claim.clone(), &component.name), None, "{claim} of {}", component.name);
        }
        assert!(!component.charts.is_empty() || !component.images.is_empty(), "nothing gives {} away", component.name);
    }
}

#[test]
fn every_component_is_found_by_each_of_its_charts_and_images() {
    let catalogue = Catalogue::embedded();
    for component in each() {
        for chart in &component.charts {
            assert_eq!(catalogue.by_chart(chart).unwrap().name, component.name);
        }
        for image in &component.images {
            assert_eq!(catalogue.by_image(image).unwrap().name, component.name);
            let elsewhere = format!("mirror.example.com:5000/cache/{image}:v1.2.3@sha256:00");
            if image.contains('/') {
                assert_eq!(catalogue.by_image(&elsewhere).unwrap().name, component.name, "{elsewhere}");
            }
        }
    }
}

#[test]
fn kinds_are_written_as_group_and_kind() {
    for component in each() {
        let kinds = component.crds.iter().flat_map(|crds| &crds.kinds);
        let made_for = component.makes.iter().map(|made| &made.for_kind);
        let needed =
            component.needs.iter().filter(|need| need.capability == "crd").map(|need| need.name.as_ref().unwrap());
        for kind in kinds.chain(made_for).chain(needed) {
            assert!(is_group_kind(kind), "{kind} of {}", component.name);
        }
        for covered in component.webhooks.iter().flat_map(|webhook| &webhook.covers) {
            let core = covered.strip_prefix('/').is_some_and(|kind| !kind.contains('/'));
            let built_in = covered.starts_with("apps/") || covered.starts_with("batch/");
            assert!(covered == "*" || core || built_in || is_group_kind(covered), "{covered} of {}", component.name);
        }
    }
}

#[test]
fn claims_have_sources() {
    for component in each() {
        assert!(!component.sources.is_empty(), "{} cites nothing", component.name);
        for source in &component.sources {
            assert!(source.starts_with("https://"), "{source} of {}", component.name);
        }
        assert!(component.about.ends_with('.'), "{}: {}", component.name, component.about);
        assert!((1..=900).contains(&component.startup_seconds), "{}", component.name);
    }
}

#[test]
fn healthy_names_workloads() {
    for component in each() {
        for workload in &component.healthy {
            let (kind, name) = workload.split_once(':').unwrap_or_default();
            assert!(["DaemonSet", "Deployment", "StatefulSet"].contains(&kind), "{workload} of {}", component.name);
            assert!(!name.is_empty(), "{workload} of {}", component.name);
        }
    }
    let named = each().filter(|component| !component.healthy.is_empty()).count();
    assert!(named >= 125, "only {named}");
}

#[test]
fn capabilities_are_words_of_the_vocabulary() {
    let known = [
        "cluster-dns",
        "crd",
        "csi-driver",
        "custom-metrics-api",
        "device",
        "external-metrics-api",
        "gitops",
        "image-mirror",
        "kubelet-certificates",
        "load-balancer",
        "metrics-api",
        "network-attachments",
        "node-initialized",
        "node-label",
        "object-storage-bucket",
        "pod-network",
        "resource-driver",
        "service-mesh",
        "snapshot-controller",
        "storage-cluster",
    ];
    for component in each() {
        let given = component.gives.iter().map(|gift| (&gift.capability, &gift.name));
        let needed = component.needs.iter().map(|need| (&need.capability, &need.name));
        for (capability, name) in given.chain(needed) {
            assert!(known.contains(&capability.as_str()), "{capability} of {}", component.name);
            let named = ["crd", "csi-driver", "device", "node-label", "resource-driver"];
            if named.contains(&capability.as_str()) {
                assert!(name.is_some(), "{capability} of {} has no name", component.name);
            }
        }
    }
}

#[test]
fn patterns_of_what_is_made_can_be_read() {
    let object = "{metadata: {name: x}}";
    let object = yaml::parse_value(source::FileId(0), object).unwrap();
    for component in each() {
        for made in &component.makes {
            let names = made.secrets.iter().chain(&made.config_maps).chain(&made.services).chain(&made.objects);
            let patterns = names.chain(&made.node_labels).chain(&made.devices);
            for pattern in patterns {
                assert_eq!(pattern.matches('{').count(), pattern.matches('}').count(), "{pattern}");
                if !pattern.contains("spec") {
                    assert!(Made::names(pattern, &object).is_some(), "{pattern} of {}", component.name);
                }
            }
            for object in &made.objects {
                assert!(object.contains(':'), "{object} of {}: write it as Kind:name", component.name);
            }
        }
    }
}

#[test]
fn a_chart_that_is_one_resource_needs_its_kind_and_is_named_as_its_template_says() {
    let resources: Vec<_> = each().filter_map(|component| Some((component, component.resource.as_ref()?))).collect();
    assert!(!resources.is_empty());
    for (component, resource) in resources {
        assert!(is_group_kind(&resource.kind), "{} of {}", resource.kind, component.name);
        let needs_it = |need: &coldstart_catalogue::Need| need.name.as_deref() == Some(&resource.kind);
        assert!(component.needs.iter().any(needs_it), "{} does not need {}", component.name, resource.kind);
    }
    let ceph = Catalogue::embedded().by_chart("rook-ceph-cluster").unwrap().resource.as_ref().unwrap();
    let named = |values: Option<&str>| {
        let values = values.map(|values| yaml::parse_value(source::FileId(0), values).unwrap());
        ceph.named("rook-ceph-cluster", "rook-ceph", "rook-ceph-cluster", values.as_ref())
    };
    assert_eq!(named(None), "rook-ceph");
    assert_eq!(named(Some("clusterName: ''")), "rook-ceph");
    assert_eq!(named(Some("clusterName: main")), "main");
}
