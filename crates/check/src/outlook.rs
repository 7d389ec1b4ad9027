//! What is ahead of a cluster that is rebuilt today: which components never become ready, and because of which finding.
//!
//! An error is certain: what it speaks of never becomes ready, and with it everything whose events imply that.

use std::collections::BTreeMap;

use diagnostic::{Cost, Finding, NeverCost, Outlook, RaceCost, Report, Severity};
use graph::{Analysis, Event, Events, Moment};
use model::{Cluster, ComponentId, ObjectRef, Stage};
use read::Reading;

/// Events that are visited for the errors of one cluster, one error after the other. Beyond that, errors are not told apart by how
/// much they block.
const VISITS_MAX: usize = 10_000_000;

/// Says of every cluster what is ahead of it. To be asked when comments and settings have taken out what is not so, and before
/// a baseline takes out what is known: that blocks all the same.
pub fn look_ahead(report: &mut Report, reading: &Reading, analyses: &[Analysis]) {
    let by_name = by_name(reading, analyses);
    let mut errors: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in report.findings.iter().filter(|finding| finding.severity == Severity::Error) {
        errors.entry(&finding.cluster).or_default().push(finding);
    }
    for summary in &mut report.clusters {
        let Some((cluster, judged)) = by_name.get(summary.name.as_str()) else { continue };
        summary.outlook = Outlook {
            components: cluster.ids().filter(|id| !is_asleep(cluster, *id)).count(),
            blocked: errors.get(summary.name.as_str()).map_or(0, |errors| blocked(cluster, judged, errors)),
            seconds: judged.schedule.all_done(cluster),
        };
    }
}

/// Says of every error how much it blocks. To be asked when findings that have the same to say are one.
pub fn weigh(report: &mut Report, reading: &Reading, analyses: &[Analysis]) {
    let by_name = by_name(reading, analyses);
    let mut errors: BTreeMap<String, Vec<&mut Finding>> = BTreeMap::new();
    for finding in report.findings.iter_mut().filter(|finding| finding.severity == Severity::Error) {
        errors.entry(finding.cluster.clone()).or_default().push(finding);
    }
    for (name, findings) in errors {
        let Some((cluster, judged)) = by_name.get(name.as_str()) else { continue };
        let mut after = After::new(cluster, &judged.events);
        let mut visits = 0;
        for finding in findings {
            if visits < VISITS_MAX {
                let (blocked, visited) = after.count(after.roots(finding));
                finding.blocks = blocked;
                visits += visited;
            }
        }
    }
}

fn blocked(cluster: &Cluster, analysis: &Analysis, errors: &[&Finding]) -> usize {
    let mut after = After::new(cluster, &analysis.events);
    let roots = errors.iter().flat_map(|finding| after.roots(finding)).collect();
    after.count(roots).0
}

type ByName<'a> = BTreeMap<&'a str, (&'a Cluster, &'a Analysis)>;

fn by_name<'a>(reading: &'a Reading, analyses: &'a [Analysis]) -> ByName<'a> {
    let both = reading.clusters.iter().zip(analyses);
    both.map(|(cluster, analysis)| (cluster.name.as_str(), (cluster, analysis))).collect()
}

/// Switched off from the start, itself or with something above it.
fn is_asleep(cluster: &Cluster, id: ComponentId) -> bool {
    let above = std::iter::successors(Some(id), |at| cluster.component(*at).parent);
    // A parent of itself would be a fault of the reading; nothing nests deeper than there are components.
    above.take(cluster.components.len()).any(|at| cluster.component(at).suspended.is_some())
}

/// The first moment of the component that never comes.
fn moment(cost: Option<&Cost>) -> Moment {
    match cost {
        Some(
            Cost::Race(RaceCost::InstallFails { .. } | RaceCost::InstallRefused)
            | Cost::Never(NeverCost::PodsStartFromHere),
        ) => Moment::Done,
        _ => Moment::Applied,
    }
}

/// For every event those that imply it, and so can't happen without it.
struct After<'a> {
    cluster: &'a Cluster,
    events: &'a Events,
    ids: BTreeMap<(&'a ObjectRef, Stage), ComponentId>,
    by: Vec<Vec<Event>>,
    /// In which round each event was seen last.
    seen: Vec<u32>,
    round: u32,
}

impl<'a> After<'a> {
    fn new(cluster: &'a Cluster, events: &'a Events) -> Self {
        let mut by = vec![Vec::new(); events.len()];
        for at in (0..events.len()).map(|at| Event(source::to_u32(at))) {
            for (to, _) in events.implied(at).iter().filter(|(_, because)| events.binds(*because)) {
                by[to.0 as usize].push(at);
            }
        }
        let named = |id| ((&cluster.component(id).object, cluster.component(id).stage), id);
        let ids = cluster.ids().map(named).collect();
        Self { cluster, events, ids, by, seen: vec![0; events.len()], round: 0 }
    }

    /// What never happens by what the finding itself says.
    fn roots(&self, finding: &Finding) -> Vec<Event> {
        let moment = moment(finding.cost.as_ref());
        let spoken_for = finding.also.iter().map(|also| &also.component);
        let objects = std::iter::once(&finding.component).chain(spoken_for);
        let found = objects.filter_map(|object| self.ids.get(&(object, finding.stage)));
        found.map(|id| Events::of(*id, moment)).collect()
    }

    /// How many components never become ready if these events never happen, and how many events were looked at for that.
    fn count(&mut self, roots: Vec<Event>) -> (usize, usize) {
        self.round += 1;
        let (mut blocked, mut visited) = (0, 0);
        let mut next = roots;
        while let Some(event) = next.pop() {
            let at = event.0 as usize;
            if std::mem::replace(&mut self.seen[at], self.round) == self.round {
                continue;
            }
            visited += 1;
            if let Some((id, Moment::Done)) = self.events.component_of(event) {
                blocked += usize::from(!is_asleep(self.cluster, id));
            }
            next.extend(&self.by[at]);
        }
        (blocked, visited)
    }
}
