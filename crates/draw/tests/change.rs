//! What a change does to the order, in every format: what comes, what goes, what turns, and that no name breaks out of its place.

#[allow(dead_code, reason = "not every test needs all of it")]
mod generated;

use std::collections::BTreeSet;

use coldstart_draw::change::{Change, Side, Told, html, json, markdown, picture, text};
use coldstart_draw::picture::{Alarms, Turn, mermaid, svg};
use diagnostic::Report;
use graph::Analysis;
use model::{Cluster, ComponentId};

/// A GitHub comment takes no more.
const COMMENT_CHARS_MAX: usize = 65_536;

struct Both {
    before: (Cluster, Analysis),
    after: (Cluster, Analysis),
}

impl Both {
    fn new(before: Cluster, after: Cluster) -> Self {
        let analysed = |cluster: Cluster| {
            let analysis = graph::analyse(&cluster);
            (cluster, analysis)
        };
        Self { before: analysed(before), after: analysed(after) }
    }

    fn change(&self) -> Change<'_> {
        let told = |message: &str| Told {
            rule: "missing-dependency",
            severity: "warning",
            message: message.to_owned(),
            cost: "1 h".to_owned(),
            fix: Some("add `a <b>` to dependsOn".to_owned()),
            place: "apps/<b>ks</b>.yaml:7".to_owned(),
        };
        Change::new(
            "home",
            Some(side(&self.before)),
            Some(side(&self.after)),
            vec![told("`a|b` needs <img src=x> @someone")],
            vec![told("no longer")],
        )
    }
}

fn side((cluster, analysis): &(Cluster, Analysis)) -> Side<'_> {
    let report = Report { findings: generated::findings(cluster), ..Report::default() };
    let alarms = Alarms::of(&report, &cluster.name);
    let touched = BTreeSet::from([ComponentId(2), ComponentId(3)]);
    Side { cluster, analysis, alarms, critical: BTreeSet::from([ComponentId(2)]), touched }
}

/// The last components go, one order goes, and one comes.
fn some() -> Both {
    let before = generated::cluster(16);
    let mut after = generated::cluster(18);
    let lost = after.ties.iter().position(|tie| tie.from == ComponentId(8)).expect("a tie");
    after.ties.remove(lost);
    Both::new(before, after)
}

#[test]
fn a_change_for_a_terminal() {
    insta::assert_snapshot!(text(&[some().change()], false));
}

#[test]
fn a_change_as_a_comment() {
    insta::assert_snapshot!(markdown(&[some().change()]));
}

#[test]
fn a_change_for_programs() {
    let json = json(&[some().change()]).expect("JSON");
    insta::assert_snapshot!(json);
}

#[test]
fn a_change_as_a_page_has_no_script_and_no_markup_of_a_name() {
    let page = html(&[some().change()], "main..<b>");
    assert!(page.contains("default-src 'none'") && !page.contains("script-src") && !page.contains("<script"), "{page}");
    assert!(!page.contains("<img") && !page.contains("<b>"), "names are text");
    assert!(page.contains("main..&lt;b&gt;") && page.contains("<svg "), "{page}");
    let (_, body) = page.split_once("<body>").expect("a body");
    insta::assert_snapshot!(body);
}

#[test]
fn nothing_is_said_to_change_where_nothing_does() {
    let both = Both::new(generated::cluster(30), generated::cluster(30));
    let mut change = both.change();
    (change.new_findings, change.gone_findings, change.critical) = (Vec::new(), Vec::new(), Vec::new());
    assert!(change.is_empty());
    let said = "nothing changes about the order in which clusters come up\n";
    assert_eq!(text(std::slice::from_ref(&change), false), said);
    assert!(markdown(std::slice::from_ref(&change)).ends_with(said));
}

#[test]
fn what_comes_and_goes_is_drawn_and_a_flowchart_stays_small() {
    let both = Both::new(generated::cluster(20), generated::cluster(400));
    let change = both.change();
    let part = picture(&change, 60);
    assert!(change.orders.len() > 100 && part.arrows.len() == 60, "{} orders", change.orders.len());
    assert!(
        part.boxes.iter().any(|node| node.turn == Turn::Comes)
            && part.arrows.iter().all(|arrow| arrow.turn != Turn::Stays)
    );
    let comment = markdown(std::slice::from_ref(&change));
    assert!(comment.chars().count() <= COMMENT_CHARS_MAX);
    let arrows = comment.lines().filter(|line| line.starts_with("  b0_")).count();
    assert!(arrows <= 60, "{arrows} arrows");
    let gone = Both::new(generated::cluster(400), generated::cluster(20));
    let part = picture(&gone.change(), 60);
    assert!(part.boxes.iter().any(|node| node.turn == Turn::Goes));
    for drawn in [mermaid(std::slice::from_ref(&part)), svg(std::slice::from_ref(&part))] {
        assert!(!drawn.contains("<img") && !drawn.contains("</script"), "{drawn}");
    }
}

#[test]
fn a_cluster_that_comes_and_one_that_goes_are_told() {
    let both = Both::new(generated::cluster(16), generated::cluster(16));
    let mut new = both.change();
    let after = new.after.take();
    let new = Change::new("home", None, after, Vec::new(), Vec::new());
    assert!(text(&[new], false).contains("a new cluster · 16 components"));
    let mut old = both.change();
    let before = old.before.take();
    let old = Change::new("home", before, None, Vec::new(), Vec::new());
    assert!(text(&[old], false).contains("the cluster goes"));
}
