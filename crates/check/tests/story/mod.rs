//! What the stories are told with: a small repository in a directory, and an `expect.yaml` beside it.
//!
//! Every key of it is optional, and a key that is not known fails the story.
//!
//! ```yaml
//! about: one line, for people
//! base: [flux, app]                # parts below `base/` that the repository stands on
//! cluster: clusters/test            # where there are several, the one that `needs` and the rest speak of
//! clusters: [clusters/test]         # all there are
//! components: [Kustomization flux-system/app]
//! absent: [Kustomization flux-system/old]
//! ties: [{from: Kustomization flux-system/app, to: Kustomization flux-system/store}]
//! gates: [{of: Kustomization flux-system/app, gate: healthy}]   # listed, applied, looks-healthy
//! needs:
//!   - of: Kustomization flux-system/app
//!     needs: CRD ExternalSecret.external-secrets.io             # as findings say it
//!     from: HelmRelease external-secrets/external-secrets       # who offers it; `nobody` for nobody
//!     verdict: unordered
//!     consequence: slow
//!     seconds: 120                  # of a slow one
//! deadlocks: [[Kustomization flux-system/a, Kustomization flux-system/b]]   # `[]` for none at all
//! broken: [Kustomization flux-system/app]
//! blind: [GitRepository flux-system/other]      # in what could not be seen
//! findings:                         # each must be said
//!   - {rule: missing-dependency, severity: info, component: …, provider: …, at: path:line, says: some text}
//!     # and: covers: Kustomization flux-system/eso, level: HelmRelease app/app -> HelmRelease other/other
//! never:                            # none may be said; `severity` means this one or worse
//!   - {rule: missing-secret, severity: info, component: …}
//! quiet: true                       # nothing at info or worse but `findings`
//! ```
//!
//! Nothing at warning or worse may be said that `findings` does not list.
#![allow(dead_code, reason = "each story uses its own part")]

use std::io::Write;

use diagnostic::{Finding, Report, Severity};
use draw::say::unseen;
use fixtures::{Fixture, Shelf};
use graph::Analysis;
use model::{Cluster, ComponentId, Consequence, Gate, TieTarget, WhyUnseen};
use read::Reading;
use yaml::Node;

const KEYS: [&str; 16] = [
    "about",
    "absent",
    "base",
    "blind",
    "broken",
    "case",
    "cluster",
    "clusters",
    "components",
    "deadlocks",
    "findings",
    "gates",
    "needs",
    "never",
    "quiet",
    "ties",
];
/// Keys that say something of one cluster.
const OF_A_CLUSTER: [&str; 11] =
    ["absent", "blind", "broken", "cluster", "components", "deadlocks", "findings", "gates", "needs", "never", "quiet"];
const NEED_KEYS: [&str; 6] = ["of", "needs", "from", "verdict", "consequence", "seconds"];
const FINDING_KEYS: [&str; 9] =
    ["rule", "severity", "component", "provider", "capability", "at", "says", "covers", "level"];

/// The stories of a shelf, by name.
pub(crate) fn stories(shelf: Shelf) -> Vec<Fixture> {
    fixtures::all(shelf).expect("fixtures that can be read")
}

/// A story by its name.
pub(crate) fn story(shelf: Shelf, name: &str) -> Fixture {
    Fixture::open(&shelf.directory().join(name)).expect("a fixture of this name")
}

/// The repository of a story, read.
pub(crate) fn read(story: &Fixture) -> Reading {
    let repository = story.repository().expect("a repository that can be put together");
    read::read(repository.path()).expect("a repository that can be read")
}

/// Tells every story of a directory and fails with all that went wrong. Those of `not_yet` (name and reason) must fail:
/// one that does not has no place there any more.
pub(crate) fn tell_all(shelf: Shelf, not_yet: &[(&str, &str)]) {
    let (name, stories) = (shelf.name(), stories(shelf));
    assert!(!stories.is_empty(), "no stories in {name}");
    for (listed, _) in not_yet {
        assert!(
            stories.iter().any(|story| story.name == *listed),
            "{listed} is listed as not yet true, and is not there"
        );
    }
    let mut failed = Vec::new();
    for fixture in &stories {
        let (story, wrong) = (&fixture.name, tell(fixture));
        match not_yet.iter().find(|(listed, _)| listed == story) {
            None if wrong.is_empty() => {}
            None => failed.push(format!("{name}/{story}\n  {}\n", wrong.join("\n  "))),
            Some((_, reason)) if wrong.is_empty() => {
                failed.push(format!("{name}/{story}\n  is true now: take it from the list (it said: {reason})\n"));
            }
            // Past the capture of the test's output: nobody shall overlook it.
            Some((_, reason)) => {
                let _ = writeln!(std::io::stderr(), "NOT YET TRUE {name}/{story}: {reason}\n  {}", wrong.join("\n  "));
            }
        }
    }
    assert!(failed.is_empty(), "{} of {} stories went wrong:\n\n{}", failed.len(), stories.len(), failed.join("\n"));
}

/// What is wrong with a story, a line each.
pub(crate) fn tell(fixture: &Fixture) -> Vec<String> {
    let (expected, repository) = match (fixture.expected(), fixture.repository()) {
        (Ok(expected), Ok(repository)) => (expected, repository),
        (Err(error), _) | (_, Err(error)) => return vec![error.to_string()],
    };
    let reading = match read::read(repository.path()) {
        Ok(reading) => reading,
        Err(error) => return vec![format!("can't be read: {error}")],
    };
    let mut report = coldstart_check::run(&reading, None);
    coldstart_check::settle(&mut report, &reading, &coldstart_check::Policy::default());
    let mut story = Story { expected: &expected, reading: &reading, report: &report, wrong: Vec::new() };
    story.hold();
    story.wrong
}

/// A finding in one line, for failures.
pub(crate) fn say(reading: &Reading, finding: &Finding) -> String {
    let provider = finding.provider.as_ref().map(|provider| format!(" ← {provider}")).unwrap_or_default();
    let said = draw::say::finding(finding, &reading.repository);
    format!(
        "{} {}: {}{provider} at {}: {} ({}); {}",
        finding.severity,
        finding.rule.id,
        finding.component,
        place(reading, finding),
        said.message,
        said.cost,
        said.fix.unwrap_or_default()
    )
}

/// `path:line` of a finding's first location.
pub(crate) fn place(reading: &Reading, finding: &Finding) -> String {
    let span = finding.primary.at.span();
    let path = reading.repository.path(span.file).unwrap_or("nowhere");
    let line = reading.repository.source(span.file).map_or(0, |source| source.position(span).line);
    format!("{path}:{line}")
}

struct Story<'a> {
    expected: &'a Node,
    reading: &'a Reading,
    report: &'a Report,
    wrong: Vec<String>,
}

impl<'a> Story<'a> {
    fn hold(&mut self) {
        self.known_keys(self.expected, &KEYS);
        self.clusters();
        let wanted = self.expected.text_at(&["cluster"]);
        let reading = self.reading;
        if reading.clusters.is_empty() && self.expected.get("clusters").is_some() {
            let of_a_cluster = OF_A_CLUSTER.iter().filter(|key| self.expected.get(key).is_some());
            self.wrong.extend(of_a_cluster.map(|key| format!("there is no cluster that `{key}` could be about")));
            return;
        }
        let mut clusters = reading.clusters.iter().filter(|cluster| wanted.is_none_or(|wanted| cluster.name == wanted));
        let (Some(cluster), None) = (clusters.next(), clusters.next()) else {
            let names: Vec<&str> = self.reading.clusters.iter().map(|cluster| cluster.name.as_str()).collect();
            self.wrong.push(format!("which cluster? there are {names:?}"));
            return;
        };
        let analysis = graph::analyse(cluster);
        self.components(cluster);
        self.ties(cluster);
        self.gates(cluster);
        self.needs(cluster, &analysis);
        self.deadlocks(cluster, &analysis);
        self.unseen(cluster);
        self.findings();
    }

    fn list(&self, key: &str) -> &'a [Node] {
        self.expected.items_at(key)
    }

    fn texts(&self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(Node::text).map(str::to_owned).collect()
    }

    fn known_keys(&mut self, node: &Node, known: &[&str]) {
        for entry in node.entries().iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            self.wrong.push(format!("expect.yaml: unknown key `{}`", entry.key));
        }
    }

    fn clusters(&mut self) {
        let names: Vec<String> = self.reading.clusters.iter().map(|cluster| cluster.name.clone()).collect();
        if self.expected.get("clusters").is_some() && self.texts("clusters") != names {
            self.wrong.push(format!("the clusters are {names:?}"));
        }
    }

    fn components(&mut self, cluster: &Cluster) {
        for wanted in self.texts("components").iter().filter(|wanted| find(cluster, wanted).is_none()) {
            self.wrong.push(format!("{wanted} was not read; there are {}", names(cluster)));
        }
        for unwanted in self.texts("absent").iter().filter(|unwanted| find(cluster, unwanted).is_some()) {
            self.wrong.push(format!("{unwanted} was read, and nothing applies it"));
        }
    }

    fn ties(&mut self, cluster: &Cluster) {
        for tie in self.list("ties") {
            let [from, to] = ["from", "to"].map(|key| tie.text_at(&[key]).unwrap_or_default());
            let is_it = |tie: &&model::Tie| {
                let TieTarget::Component(target) = tie.to else { return false };
                said(cluster, tie.from) == from && said(cluster, target) == to
            };
            if !cluster.ties.iter().any(|tie| is_it(&tie)) {
                let ties = cluster.ties.iter().map(|tie| match &tie.to {
                    TieTarget::Component(to) => format!("{} → {}", said(cluster, tie.from), said(cluster, *to)),
                    TieTarget::Unknown(to) => format!("{} → nothing of the name {to}", said(cluster, tie.from)),
                });
                let ties: Vec<String> = ties.collect();
                self.wrong.push(format!("{from} is not tied to {to}; the ties are {ties:?}"));
            }
        }
    }

    fn gates(&mut self, cluster: &Cluster) {
        for row in self.list("gates") {
            let [of, gate] = ["of", "gate"].map(|key| row.text_at(&[key]).unwrap_or_default());
            let Some(id) = find(cluster, of) else {
                self.wrong.push(format!("{of} was not read"));
                continue;
            };
            let word = match cluster.component(id).gate {
                Gate::Healthy => "healthy",
                Gate::Listed(_) => "listed",
                Gate::Applied => "applied",
                Gate::LooksHealthy(_) => "looks-healthy",
            };
            if word != gate {
                self.wrong.push(format!("the gate of {of} is {word}, not {gate}"));
            }
        }
    }

    fn needs(&mut self, cluster: &Cluster, analysis: &Analysis) {
        for row in self.list("needs") {
            self.known_keys(row, &NEED_KEYS);
            let [of, needs] = ["of", "needs"].map(|key| row.text_at(&[key]).unwrap_or_default());
            let needed =
                |index: usize| (said(cluster, cluster.needs[index].of), cluster.needs[index].capability.to_string());
            let judged = analysis.judged.iter().find(|judged| needed(judged.need) == (of.to_owned(), needs.to_owned()));
            let Some(judged) = judged else {
                let its: Vec<String> = analysis
                    .judged
                    .iter()
                    .map(|judged| needed(judged.need))
                    .filter(|(by, _)| by == of)
                    .map(|(_, what)| what)
                    .collect();
                self.wrong.push(format!("{of} is not known to need {needs}; it needs {its:?}"));
                continue;
            };
            let from =
                judged.offer.map_or_else(|| "nobody".to_owned(), |offer| said(cluster, cluster.offers[offer].by));
            let seconds = match judged.consequence {
                Consequence::Slow { seconds } => seconds.to_string(),
                _ => String::new(),
            };
            let held = [
                ("from", from.as_str()),
                ("verdict", judged.verdict.word()),
                ("consequence", judged.consequence.word()),
                ("seconds", &seconds),
            ];
            for (key, is) in held {
                if let Some(wanted) = row.text_at(&[key]).filter(|wanted| *wanted != is) {
                    let waits = judged.wait_seconds;
                    self.wrong.push(format!(
                        "{of} needs {needs}: {key} is {is:?}, not {wanted:?} (waits {waits} s, {:?}, {:?})",
                        judged.verdict, judged.consequence
                    ));
                }
            }
        }
    }

    fn deadlocks(&mut self, cluster: &Cluster, analysis: &Analysis) {
        let Some(list) = self.expected.get("deadlocks") else { return };
        let found: Vec<Vec<String>> = analysis
            .deadlocks
            .iter()
            .map(|deadlock| deadlock.components(&analysis.events).into_iter().map(|id| said(cluster, id)).collect())
            .collect();
        let wanted = list.as_seq().unwrap_or_default();
        if wanted.is_empty() && !found.is_empty() {
            self.wrong.push(format!("there are deadlocks: {found:?}"));
        }
        for wanted in wanted {
            let members: Vec<String> =
                wanted.as_seq().unwrap_or_default().iter().filter_map(Node::text).map(str::to_owned).collect();
            if !found.iter().any(|found| members.iter().all(|member| found.contains(member))) {
                self.wrong.push(format!("no deadlock holds {members:?}; there are {found:?}"));
            }
        }
    }

    fn unseen(&mut self, cluster: &Cluster) {
        if self.expected.get("broken").is_some() {
            let mut broken: Vec<String> = cluster.broken.iter().map(|broken| said(cluster, broken.component)).collect();
            broken.dedup();
            if broken != self.texts("broken") {
                let messages: Vec<String> = cluster.broken.iter().map(|broken| broken.fault.to_string()).collect();
                self.wrong.push(format!("the broken builds are {broken:?}: {messages:?}"));
            }
        }
        let said = |blind: &model::BlindSpot| format!("{}: {}", unseen::what(&blind.what), unseen::why(&blind.why));
        let spots: Vec<String> = self.report.blind_spots.iter().map(said).collect();
        for wanted in
            self.texts("blind").iter().filter(|wanted| !spots.iter().any(|spot| spot.contains(wanted.as_str())))
        {
            self.wrong.push(format!("{wanted:?} is no blind spot; these are: {spots:?}"));
        }
        // Charts that nobody knows are blind spots of nearly every repository.
        let unknown = self.report.blind_spots.iter().map(|blind| blind.why == WhyUnseen::UnknownChart);
        let odd: Vec<&String> =
            spots.iter().zip(unknown).filter(|(_, unknown)| !unknown).map(|(spot, _)| spot).collect();
        if self.expected.get("blind").is_none() && !odd.is_empty() {
            self.wrong.push(format!("there are blind spots: {odd:?}"));
        }
    }

    fn findings(&mut self) {
        let wanted = self.list("findings");
        let (reading, report) = (self.reading, self.report);
        for row in wanted {
            self.known_keys(row, &FINDING_KEYS);
            if !report.findings.iter().any(|finding| is_like(reading, finding, row, false)) {
                self.wrong.push(format!("not said: {}", columns(row)));
                let near = report.findings.iter().filter(|finding| row.text_at(&["rule"]) == Some(finding.rule.id));
                self.wrong.extend(near.map(|finding| format!("  but: {}", say(reading, finding))));
            }
        }
        for row in self.list("never") {
            self.known_keys(row, &FINDING_KEYS);
            for finding in report.findings.iter().filter(|finding| is_like(reading, finding, row, true)) {
                self.wrong.push(format!("must not be said: {}", say(reading, finding)));
            }
        }
        let quiet = self.expected.get("quiet").and_then(Node::as_bool) == Some(true);
        let loud = if quiet { Severity::Info } else { Severity::Warning };
        for finding in report.findings.iter().filter(|finding| finding.severity >= loud) {
            if !wanted.iter().any(|row| is_like(reading, finding, row, false)) {
                self.wrong.push(format!("said too much: {}", say(reading, finding)));
            }
        }
    }
}

/// Whether a finding has all that a row gives. With `or_worse`, the row's severity is the least.
fn is_like(reading: &Reading, finding: &Finding, row: &Node, or_worse: bool) -> bool {
    let provider = finding.provider.as_ref().map(ToString::to_string).unwrap_or_default();
    let capability = finding.subject.as_ref().map(ToString::to_string).unwrap_or_default();
    let said = draw::say::finding(finding, &reading.repository);
    let fix = said.fix.unwrap_or_default();
    let all = format!("{}\n{}\n{fix}\n{}", said.message, said.cost, said.notes.join("\n"));
    row.entries().iter().all(|entry| {
        let wanted = entry.value.text().unwrap_or_default();
        match entry.key.as_str() {
            "rule" => finding.rule.id == wanted,
            "severity" if or_worse => Severity::ALL
                .iter()
                .find(|severity| severity.word() == wanted)
                .is_some_and(|least| finding.severity >= *least),
            "severity" => finding.severity.word() == wanted,
            "component" => finding.component.to_string() == wanted,
            "provider" => provider == wanted,
            "capability" => capability == wanted,
            "at" => place(reading, finding) == wanted,
            "says" => all.contains(wanted),
            "covers" => finding.covers.iter().any(|covered| covered.to_string() == wanted),
            "level" => finding.levels.iter().any(|it| format!("{} -> {}", it.component, it.provider) == wanted),
            _ => false,
        }
    })
}

fn columns(row: &Node) -> String {
    let columns: Vec<String> = row
        .entries()
        .iter()
        .map(|entry| format!("{}: {}", entry.key, entry.value.text().unwrap_or_default()))
        .collect();
    columns.join(", ")
}

fn said(cluster: &Cluster, id: ComponentId) -> String {
    cluster.component(id).object.to_string()
}

fn find(cluster: &Cluster, wanted: &str) -> Option<ComponentId> {
    cluster.ids().find(|id| said(cluster, *id) == wanted)
}

fn names(cluster: &Cluster) -> String {
    let names: Vec<String> = cluster.ids().map(|id| said(cluster, id)).collect();
    names.join(", ")
}
