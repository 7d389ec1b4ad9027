//! The graph as a picture, in the formats that are text: what is drawn, what is left out, and that no name breaks out of its place.

#[allow(dead_code, reason = "not every test needs all of it")]
mod generated;

use std::collections::BTreeSet;

use coldstart_draw::picture::{Alarms, Collapse, MERMAID_ARROWS_MAX, Picture, State, Tone, Wish, dot, mermaid, svg};
use diagnostic::Report;
use model::{Cluster, ComponentId};

fn picture(cluster: &Cluster, wish: &Wish) -> Picture {
    let report = Report { findings: generated::findings(cluster), ..Report::default() };
    Picture::new(cluster, &graph::analyse(cluster), &Alarms::of(&report, &cluster.name), wish)
}

fn small() -> Picture {
    let mut cluster = generated::cluster(16);
    cluster.components[11].suspended = Some(source::Span::GENERATED);
    picture(&cluster, &Wish::default())
}

fn names(picture: &Picture) -> Vec<&str> {
    picture.boxes.iter().map(|node| node.name.as_str()).collect()
}

#[test]
fn a_small_cluster_for_mermaid() {
    insta::assert_snapshot!(mermaid(&[small()]));
}

#[test]
fn a_small_cluster_for_graphviz() {
    insta::assert_snapshot!(dot(&[small()]));
}

#[test]
fn a_small_cluster_as_svg() {
    let svg = svg(&[small()]);
    let (_, body) = svg.split_once("<rect class=\"ground\"").expect("a ground");
    insta::assert_snapshot!(body);
}

#[test]
fn no_name_breaks_out_of_its_place() {
    let picture = small();
    let long = "long-".repeat(60);
    for (format, text) in
        [("svg", svg(std::slice::from_ref(&picture))), ("mermaid", mermaid(std::slice::from_ref(&picture)))]
    {
        assert!(!text.contains("<img") && !text.contains("</script"), "{format} has a tag");
        assert!(!text.contains("onerror=\""), "{format} has an attribute");
    }
    let svg = svg(std::slice::from_ref(&picture));
    assert!(svg.contains("&lt;img src=x onerror=&quot;window.harm=1&quot;&gt;"), "it is shown as it is");
    assert!(svg.contains(&long), "the whole name is told");
    assert_eq!(svg.matches(&format!(">{long}<")).count(), 0, "and not drawn");
    let dot = dot(std::slice::from_ref(&picture));
    for line in dot.lines() {
        let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert_eq!(quotes % 2, 0, "{line}");
    }
}

#[test]
fn a_cycle_is_drawn_as_one_and_what_is_not_found_has_a_box() {
    let picture = small();
    let cycle: BTreeSet<(usize, usize)> = picture
        .arrows
        .iter()
        .filter(|arrow| arrow.tone == Tone::Deadlocked)
        .map(|arrow| (arrow.from, arrow.to))
        .collect();
    assert!(cycle.iter().any(|(from, to)| cycle.contains(&(*to, *from))), "{cycle:?}");
    let gone = picture.boxes.iter().position(|node| node.state == State::NotFound).expect("a box");
    assert!(picture.arrows.iter().any(|arrow| arrow.from == gone && arrow.tone == Tone::Missing));
}

#[test]
fn orders_that_follow_from_others_are_left_out_and_what_is_wrong_stays() {
    let mut cluster = generated::cluster(12);
    let all = picture(&cluster, &Wish::default());
    assert!(all.implied > 0);
    // What is declared once more follows from what is there.
    let is_drawn = |picture: &Picture, from: usize, to: usize| {
        picture.arrows.iter().any(|arrow| (arrow.from, arrow.to) == (from, to))
    };
    assert!(!is_drawn(&all, 1, 8), "the root applies it, and so does what it depends on come after the root");
    cluster.ties.clear();
    let bare = picture(&cluster, &Wish::default());
    assert!(bare.arrows.iter().all(|arrow| arrow.tone != Tone::Missing), "what is not reported is no alarm");
    let reported = picture(&generated::cluster(40), &Wish::default());
    assert!(reported.arrows.iter().any(|arrow| (arrow.from, arrow.to, arrow.tone) == (2, 17, Tone::Missing)));
}

#[test]
fn what_is_near_is_what_the_arrows_lead_to() {
    let cluster = generated::cluster(40);
    let wish = Wish { focus: BTreeSet::from([ComponentId(17)]), depth: 1, ..Wish::default() };
    let near = picture(&cluster, &wish);
    assert!(names(&near).contains(&"app-17") && near.boxes.len() < 15, "{:?}", names(&near));
    let alone = picture(&cluster, &Wish { depth: 0, ..wish });
    assert_eq!(names(&alone), ["app-17"]);
}

#[test]
fn only_what_is_missing_is_only_that() {
    let picture = picture(&generated::cluster(60), &Wish { only_missing: true, ..Wish::default() });
    assert!(!picture.arrows.is_empty());
    assert!(picture.arrows.iter().all(|arrow| matches!(arrow.tone, Tone::Missing | Tone::Deadlocked)));
}

#[test]
fn a_tier_or_a_namespace_is_one_box() {
    let cluster = generated::cluster(60);
    let tiers = graph::analyse(&cluster).schedule.tiers.iter().filter(|tier| !tier.is_empty()).count();
    let by_tier = picture(&cluster, &Wish { collapse: Some(Collapse::Tier), ..Wish::default() });
    assert_eq!(by_tier.boxes.iter().filter(|node| node.state != State::NotFound).count(), tiers);
    let by_namespace = picture(&cluster, &Wish { collapse: Some(Collapse::Namespace), ..Wish::default() });
    // Before Flux, and with it; and what was not found.
    assert_eq!(by_namespace.boxes.len(), 3);
}

#[test]
fn mermaid_gets_no_more_arrows_than_it_draws() {
    let picture = picture(&generated::cluster(3_000), &Wish::default());
    assert!(picture.arrows.len() > MERMAID_ARROWS_MAX);
    let text = mermaid(std::slice::from_ref(&picture));
    let is_arrow = |line: &&str| line.contains("-->") || line.contains("-.->") || line.contains("==>");
    assert_eq!(text.lines().filter(is_arrow).count(), MERMAID_ARROWS_MAX);
    assert!(text.contains(&format!("%% {MERMAID_ARROWS_MAX} of {} arrows", picture.arrows.len())));
}
