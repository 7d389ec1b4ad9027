//! Finding components, and merging a user's own.

use coldstart_catalogue::{Catalogue, Component, chart_name};

fn component(text: &str) -> Component {
    let node = yaml::parse_value(source::FileId(0), text).expect("is YAML");
    Component::from_node(&node).expect("fits the schema")
}

fn own(name: &str, more: &str) -> Component {
    component(&format!(
        "{{name: {name}, about: Ours., layer: platform, startup-seconds: 1, sources: ['https://example.com'], {more}}}"
    ))
}

#[test]
fn charts_are_found_however_they_are_addressed() {
    let catalogue =
        Catalogue::new(vec![own("a", "charts: [alpha, Beta]"), own("b", "charts: [driver-chart, gateway-helm, helm]")]);
    for (chart, expected) in [
        ("alpha", Some("a")),
        ("ALPHA", Some("a")),
        ("beta", Some("a")),
        ("./charts/alpha", Some("a")),
        ("oci://ghcr.io/org/charts/alpha", Some("a")),
        ("oci://ghcr.io/org/charts/alpha:1.2.3", Some("a")),
        ("oci://registry:5000/alpha@sha256:00", Some("a")),
        ("alpha-chart", Some("a")),
        ("oci://ghcr.io/org/alpha-helm-chart", Some("a")),
        ("oci://ghcr.io/org/alpha/chart", Some("a")),
        ("oci://ghcr.io/org/alpha/helm-charts/", Some("a")),
        ("oci://ghcr.io/org/driver-chart", Some("b")),
        ("gateway-helm", Some("b")),
        ("oci://ghcr.io/org/alpha/helm", Some("b")),
        ("gateway", None),
        ("alphabet", None),
        ("chart", None),
        ("", None),
    ] {
        assert_eq!(catalogue.by_chart(chart).map(|found| found.name.as_str()), expected, "{chart}");
    }
}

#[test]
fn a_chart_is_called_by_the_part_of_its_address_that_says_something() {
    for (address, expected) in [
        ("alpha", "alpha"),
        ("oci://ghcr.io/org/charts/alpha:1.2.3", "alpha"),
        ("oci://ghcr.io/org/alpha/charts/", "alpha"),
        ("./charts/Alpha", "Alpha"),
        ("chart", "chart"),
        ("", ""),
    ] {
        assert_eq!(chart_name(address), expected, "{address}");
    }
}

#[test]
fn images_are_found_whatever_their_registry() {
    let catalogue =
        Catalogue::new(vec![own("a", "images: [org/alpha, quay.io/team/beta]"), own("b", "images: [solo]")]);
    for (image, expected) in [
        ("org/alpha", Some("a")),
        ("docker.io/org/alpha:v1", Some("a")),
        ("localhost/org/alpha@sha256:00", Some("a")),
        ("registry:5000/proxy/org/alpha:v1@sha256:00", Some("a")),
        ("ghcr.io/team/beta", Some("a")),
        ("docker.io/library/solo:1", Some("b")),
        ("other/solo", None),
        ("alpha", None),
        ("", None),
    ] {
        assert_eq!(catalogue.by_image(image).map(|found| found.name.as_str()), expected, "{image}");
    }
}

#[test]
fn owners_that_name_a_kind_come_before_owners_of_its_group() {
    let catalogue = Catalogue::new(vec![
        own("whole", "crds: [{kinds: ['x.example.com/*'], via: program}]"),
        own("one", "crds: [{kinds: [x.example.com/Thing], via: templates}]"),
    ]);
    let owners =
        |kind| catalogue.crd_owners("x.example.com", kind).map(|owner| owner.name.as_str()).collect::<Vec<_>>();
    assert_eq!(owners("Thing"), ["one", "whole"]);
    assert_eq!(owners("Other"), ["whole"]);
    assert_eq!(catalogue.crd_owners("y.example.com", "Thing").count(), 0);
}

#[test]
fn an_addition_of_a_known_name_replaces_what_was_known() {
    let before = Catalogue::embedded();
    let known = before.by_name("cert-manager").unwrap();
    assert!(before.crd_owners("cert-manager.io", "Certificate").next().is_some());

    let after =
        before.with_additions(vec![own("cert-manager", "charts: [cert-manager]"), own("ours", "charts: [ours]")]);

    assert_eq!(after.components().len(), before.components().len() + 1);
    assert_eq!(after.by_chart("cert-manager").unwrap().about, "Ours.");
    assert_eq!(after.crd_owners("cert-manager.io", "Certificate").count(), 0);
    assert_eq!(after.by_chart("ours").unwrap().name, "ours");
    assert_eq!(before.by_chart("cert-manager").unwrap().about, known.about);
}

#[test]
fn an_addition_that_claims_a_known_chart_gets_it() {
    let after = Catalogue::embedded().with_additions(vec![own("our-cilium", "charts: [cilium]")]);
    assert_eq!(after.by_chart("oci://quay.io/cilium/charts/cilium").unwrap().name, "our-cilium");
}

#[test]
fn a_mistake_in_an_addition_is_pointed_at() {
    for (text, message, start) in [
        ("name: a\nabuot: b", "unknown field `abuot`", 8),
        ("name: a\nlayer: cellar", "unknown variant `cellar`", 15),
        ("name: a", "missing field `about`", 0),
        ("name: a\nstartup-seconds: soon", "invalid type: string \"soon\"", 25),
        ("name: a\ncharts: b", "invalid type: string \"b\"", 16),
        ("name: a\ncrds: [{kinds: [], via: magic}]", "unknown variant `magic`", 32),
        ("name: a\ncrds: [{kinds: [], vai: program}]", "unknown field `vai`", 27),
        ("name: [a]", "invalid type: sequence", 6),
        ("name: ~", "invalid type: unit value", 6),
    ] {
        let node = yaml::parse_value(source::FileId(0), text).unwrap();
        let error = Component::from_node(&node).unwrap_err();
        assert!(error.message.starts_with(message), "{text}: {}", error.message);
        assert_eq!(error.span.unwrap().start, start, "{text}");
    }
}
