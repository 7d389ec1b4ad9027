//! One round: of all that is still wanted, which edges are declared, and what comes of the files.

use std::collections::{BTreeMap, BTreeSet};

use diagnostic::{Action, Changed, Repair, WhyLeft};
use model::{Cluster, ComponentId, Gate, TieTarget};
use read::Reading;
use source::Span;

use crate::along::{self, Appliers};
use crate::change::Change;
use crate::choose::{Chosen, Edge, choose};
use crate::files::{self, Files, Texts};
use crate::house::House;
use crate::job::Job;
use crate::unlist;
use crate::write::Writer;

/// The files after a round, and what was done for each cause.
pub(crate) struct Round {
    pub(crate) texts: Texts,
    pub(crate) repairs: Vec<Repair>,
}

/// What is not written of a job, because others imply it.
type Implied = BTreeSet<(usize, usize)>;

/// Chooses and writes until what is left can be written. `sooner` are those that apply sooner already.
pub(crate) fn round(reading: &Reading, house: &House, jobs: &mut [Job<'_>], sooner: &Appliers) -> Round {
    loop {
        along::settle(jobs, sooner);
        let implied = choice(jobs);
        if along::settle(jobs, sooner) {
            continue;
        }
        let (round, failed) = write(reading, house, jobs, &implied);
        if failed.is_empty() {
            return round;
        }
        // What those imply that could not be written has to be chosen again.
        for (job, why) in failed {
            match unlist::instead(reading, &jobs[job], &why) {
                Some(change) if !jobs[job].is_unlisting() => jobs[job].changes = vec![change],
                _ => jobs[job].why = Some(why),
            }
        }
    }
}

/// Chooses the edges of every cluster; what would close a cycle is left.
fn choice(jobs: &mut [Job<'_>]) -> Implied {
    let mut implied = Implied::new();
    let mut clusters: BTreeMap<String, Vec<(usize, usize, Edge)>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.is_alive()) {
        for (index, change) in job.changes.iter().enumerate() {
            if let Change::Depend { of, on } = change {
                let edge = (of.index(), on.index());
                clusters.entry(job.cluster.name.clone()).or_default().push((at, index, edge));
            }
        }
    }
    for wished in clusters.into_values() {
        let Some((first, _, _)) = wished.first() else { continue };
        let existing = existing(jobs[*first].cluster, jobs);
        let edges: Vec<Edge> = wished.iter().map(|(_, _, edge)| *edge).collect();
        for ((job, change, _), chosen) in wished.into_iter().zip(choose(&existing, &edges)) {
            match chosen {
                Chosen::Yes => {}
                Chosen::Implied => {
                    implied.insert((job, change));
                }
                Chosen::Cycle => jobs[job].why = Some(WhyLeft::Cycle),
            }
        }
    }
    implied
}

/// Who waits for whom besides: declared and not taken away, by a name that is corrected, and a gate for what its component applies.
fn existing(cluster: &Cluster, jobs: &[Job<'_>]) -> Vec<Edge> {
    let own = || jobs.iter().filter(|job| job.is_alive() && job.cluster.name == cluster.name);
    // In a cycle everything implies the same for everything: one that another edit breaks does not count.
    let gone: BTreeSet<Span> = own().filter_map(Job::breaks).collect();
    let tie = |tie: &model::Tie| match tie.to {
        TieTarget::Component(to) if !gone.contains(&tie.at) => Some((tie.from.index(), to.index())),
        _ => None,
    };
    let corrected = |change: &Change| match change {
        Change::Rename { of, to, .. } => Some((of.index(), cluster.find(to)?.index())),
        _ => None,
    };
    let waits = |id: ComponentId| {
        let parent = cluster.component(id).parent.filter(|parent| *parent != id)?;
        (cluster.component(parent).gate == Gate::Healthy).then(|| (parent.index(), id.index()))
    };
    let corrected = own().flat_map(|job| &job.changes).filter_map(corrected);
    cluster.ties.iter().filter_map(tie).chain(corrected).chain(cluster.ids().filter_map(waits)).collect()
}

/// Writes what is wanted, cause by cause; says which jobs can't be written.
fn write(reading: &Reading, house: &House, jobs: &[Job<'_>], implied: &Implied) -> (Round, Vec<(usize, WhyLeft)>) {
    let wanted = jobs.iter().filter(|job| job.is_alive()).flat_map(Job::ties).collect();
    let mut files = Files::new(&reading.repository, house);
    let (mut repairs, mut failed) = (Vec::new(), Vec::new());
    let mut before = BTreeMap::new();
    for group in causes(jobs) {
        let mut actions: BTreeSet<Action> = BTreeSet::new();
        let mut closes = Vec::new();
        for at in group {
            let job = &jobs[at];
            let changes = || job.changes.iter().enumerate().filter(|(index, _)| !implied.contains(&(at, *index)));
            let written = files.all_or_nothing(|files| {
                let mut writer = Writer { files, cluster: job.cluster, clusters: &reading.clusters, wanted: &wanted };
                changes().try_for_each(|(_, change)| writer.write(change))
            });
            match written {
                Ok(()) => {
                    actions.extend(changes().map(|(_, change)| change.action(job.cluster)));
                    closes.push(job.told.clone());
                }
                Err(why) => failed.push((at, why)),
            }
        }
        let after = files.texts();
        let changed = files::changed(&reading.repository, &before, &after, &files.moved());
        before = after;
        add(&mut repairs, actions, closes, changed);
    }
    (Round { texts: before, repairs }, failed)
}

/// One more repair; where nothing is left to change for it, another one closed it along the way.
fn add(repairs: &mut Vec<Repair>, actions: BTreeSet<Action>, mut closes: Vec<diagnostic::Told>, files: Vec<Changed>) {
    closes.sort_by_key(|told| std::cmp::Reverse(told.severity));
    match repairs.last_mut() {
        Some(last) if files.is_empty() => last.closes.extend(closes),
        _ if files.is_empty() => {}
        _ => repairs.push(Repair { actions: actions.into_iter().collect(), closes, files }),
    }
}

/// Jobs by what they have in common, the worst first.
fn causes(jobs: &[Job<'_>]) -> Vec<Vec<usize>> {
    let mut causes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.is_alive()) {
        causes.entry(job.cause()).or_default().push(at);
    }
    let mut causes: Vec<Vec<usize>> = causes.into_values().collect();
    let worst = |cause: &Vec<usize>| cause.iter().map(|at| jobs[*at].told.severity).max();
    causes.sort_by_key(|cause| std::cmp::Reverse(worst(cause)));
    causes
}
