//! Facts in, status out.

use std::collections::BTreeSet;

use crate::Time;
use crate::cause;
use crate::detect::{self, Found};
use crate::facts::{Answer, Facts, ObjectKey, Why};
use crate::remedy::remedy;
use crate::resolve::{Graph, Group};
use crate::status::{
    Because, Blocked, Evidence, Expected, Failing, Layer, LayerName, Link, Outcome, Problem, Reason, Root, State,
    Status, Step, WhyNot,
};
use crate::symptom::Symptom;
use crate::view::View;

/// So much evidence shows a root.
const EVIDENCE_MAX: usize = 6;

/// What facts mean, at this time.
pub fn assess(facts: &Facts, expected: Option<&Expected>, now: Time) -> Status {
    if let Answer::No(why) = &facts.api.answer {
        return no_answer(facts, why);
    }
    let view = View::new(facts, expected, now);
    let mut found = detect::detect(&view);
    let graph = Graph::new(std::mem::take(&mut found.symptoms));
    let mut roots: Vec<Root> = graph.roots().iter().map(|group| root(&view, &graph, group)).collect();
    roots.sort_by(|a, b| {
        b.blocks
            .len()
            .cmp(&a.blocks.len())
            .then_with(|| (a.layer, &a.object, &a.problem).cmp(&(b.layer, &b.object, &b.problem)))
    });
    let layers: Vec<Layer> = LayerName::ALL.into_iter().map(|name| layer(facts, name, &graph, &found)).collect();
    Status {
        seen: facts.seen,
        outcome: outcome(&layers, &roots),
        layers,
        roots,
        links: links(&graph),
        gaps: found.gaps,
    }
}

fn outcome(layers: &[Layer], roots: &[Root]) -> Outcome {
    let has = |state| layers.iter().any(|it| it.state == state);
    let is_blind = layers.iter().any(|it| matches!(it.reason, Reason::NotSeen { .. }));
    if !roots.is_empty() || has(State::Failed) || has(State::Degraded) {
        Outcome::Degraded
    } else if has(State::Progressing) {
        Outcome::Progressing
    } else if is_blind {
        Outcome::Unknown
    } else {
        Outcome::Healthy
    }
}

/// The API server does not answer us: that is all there is to say.
fn no_answer(facts: &Facts, why: &Why) -> Status {
    let object = ObjectKey::new("", "APIServer", "", &facts.api.server);
    let problem = Problem::NoAnswer { why: WhyNot::from(why) };
    let evidence = vec![Evidence {
        object: object.clone(),
        field: "/version",
        value: facts.api.server.clone(),
        since: facts.api.seen,
    }];
    let unseen = |name| Layer {
        name,
        state: State::Unknown,
        reason: Reason::NothingAnswers,
        counts: Vec::new(),
        failing: Vec::new(),
    };
    let mut layers: Vec<Layer> = LayerName::ALL.into_iter().map(unseen).collect();
    layers[0] = Layer {
        name: LayerName::Access,
        state: State::Failed,
        reason: Reason::NotSeen { why: why.clone() },
        counts: Vec::new(),
        failing: vec![Failing { object: object.clone(), problem: problem.clone(), state: State::Failed }],
    };
    let cause = cause::of_access(why);
    let root = Root {
        id: cause.map(super::cause::Cause::id),
        cause,
        layer: LayerName::Access,
        remedy: remedy(cause, &object, &problem),
        object: object.clone(),
        problem: problem.clone(),
        evidence: evidence.clone(),
        blocks: Vec::new(),
        cycle: Vec::new(),
    };
    let link = Link { object, layer: LayerName::Access, problem, evidence, by: Vec::new() };
    Status {
        seen: facts.seen,
        outcome: Outcome::Unknown,
        layers,
        roots: vec![root],
        links: vec![link],
        gaps: Vec::new(),
    }
}

fn root(view: &View<'_>, graph: &Graph, group: &Group) -> Root {
    let first = chosen(graph, group);
    let mut evidence: Vec<Evidence> = Vec::new();
    let rest = group.members.iter().map(|index| &graph.symptoms[*index]);
    for one in std::iter::once(first).chain(rest).flat_map(|it| &it.evidence) {
        if !evidence.contains(one) && evidence.len() < EVIDENCE_MAX {
            evidence.push(one.clone());
        }
    }
    let own: BTreeSet<&ObjectKey> = group.members.iter().map(|index| &graph.symptoms[*index].shown).collect();
    let cycle = if group.is_cycle { cycle(graph, group) } else { Vec::new() };
    let cause = cause::of(first, &cycle, view);
    Root {
        id: cause.map(super::cause::Cause::id),
        cause,
        layer: first.layer,
        object: first.shown.clone(),
        problem: first.problem.clone(),
        evidence,
        blocks: blocks(graph, group, &own),
        remedy: remedy(cause, &first.shown, &first.problem),
        cycle,
    }
}

/// The one by which a group is known: of a cycle the one where it can be cut, else the lowest.
fn chosen<'a>(graph: &'a Graph, group: &Group) -> &'a Symptom {
    let symptoms = group.members.iter().map(|index| &graph.symptoms[*index]);
    let rank = |it: &&Symptom| {
        // What can be cut: a webhook, or a pod that lacks a toleration.
        let is_cut = matches!(it.problem, Problem::WebhookWithoutEndpoints { .. } | Problem::Unschedulable { .. });
        (!is_cut, it.layer, it.object.clone())
    };
    symptoms.min_by_key(rank).unwrap_or(&graph.symptoms[group.members[0]])
}

/// Each and what makes it wait for the next, once around.
fn cycle(graph: &Graph, group: &Group) -> Vec<Step> {
    let inside: BTreeSet<usize> = group.members.iter().copied().collect();
    let start = chosen(graph, group);
    let Some(start) = group.members.iter().copied().find(|it| std::ptr::eq(&raw const graph.symptoms[*it], start))
    else {
        return Vec::new();
    };
    let path = around(graph, &inside, start);
    let mut steps: Vec<Step> = Vec::new();
    for (index, because) in path {
        let object = graph.symptoms[index].shown.clone();
        // A Deployment and its pod are one step: the way out of the pod tells why.
        match steps.last_mut() {
            Some(last) if last.object == object => last.because = because,
            _ => steps.push(Step { object, because }),
        }
    }
    steps
}

/// The shortest way from one back to itself.
fn around(graph: &Graph, inside: &BTreeSet<usize>, start: usize) -> Vec<(usize, Because)> {
    let mut came: std::collections::BTreeMap<usize, (usize, Because)> = std::collections::BTreeMap::new();
    let mut open = std::collections::VecDeque::from([start]);
    while let Some(at) = open.pop_front() {
        for (to, because) in graph.red_waits(at).filter(|(to, _)| inside.contains(to)) {
            if to == start {
                let mut path = vec![(at, because)];
                let mut back = at;
                while back != start {
                    let (from, because) = came[&back];
                    path.push((from, because));
                    back = from;
                }
                path.reverse();
                return path;
            }
            if let std::collections::btree_map::Entry::Vacant(new) = came.entry(to) {
                new.insert((at, because));
                open.push_back(to);
            }
        }
    }
    Vec::new()
}

fn blocks(graph: &Graph, group: &Group, own: &BTreeSet<&ObjectKey>) -> Vec<Blocked> {
    let mut seen: BTreeSet<&ObjectKey> = BTreeSet::new();
    let mut blocked = Vec::new();
    for (index, by, because) in graph.blocked_by(&group.members) {
        let object = &graph.symptoms[index].shown;
        if own.contains(object) || object.kind == "Agent" || !seen.insert(object) {
            continue;
        }
        blocked.push(Blocked { object: object.clone(), by: graph.symptoms[by].shown.clone(), because });
    }
    blocked.sort();
    blocked
}

fn links(graph: &Graph) -> Vec<Link> {
    let red = (0..graph.symptoms.len()).filter(|index| graph.symptoms[*index].is_red());
    let mut links: Vec<Link> = red
        .map(|index| {
            let symptom = &graph.symptoms[index];
            let by = graph.red_waits(index).map(|(to, because)| (graph.symptoms[to].object.clone(), because));
            Link {
                object: symptom.object.clone(),
                layer: symptom.layer,
                problem: symptom.problem.clone(),
                evidence: symptom.evidence.clone(),
                by: by.collect(),
            }
        })
        .collect();
    links.sort_by(|a, b| (&a.object, &a.problem).cmp(&(&b.object, &b.problem)));
    links
}

/// Why the lists by which a layer would be noticed are not whole.
fn unlisted(facts: &Facts, name: LayerName) -> Option<&Why> {
    let gaps = match name {
        LayerName::Network => [&facts.nodes.gap, &facts.daemon_sets.gap],
        LayerName::Secrets => [&facts.sealed_secrets.gap, &facts.external_secrets.gap],
        LayerName::Certificates => [&facts.certificates.gap, &facts.cluster_issuers.gap],
        LayerName::GitOps => [&facts.kustomizations.gap, &facts.deployments.gap],
        LayerName::Platform => [&facts.crds.gap, &facts.deployments.gap],
        _ => [&None, &None],
    };
    gaps.into_iter().flatten().find(|why| !why.is_absence())
}

fn layer(facts: &Facts, name: LayerName, graph: &Graph, found: &Found) -> Layer {
    let own: Vec<&Symptom> = graph.symptoms.iter().filter(|it| it.layer == name).collect();
    let mut failing: Vec<Failing> = Vec::new();
    // Pods stand for their controllers, unless these have their own say.
    for symptom in own.iter().filter(|it| it.is_red() && it.object.kind != "Agent") {
        let known = failing.iter_mut().find(|it| it.object == symptom.shown);
        match known {
            Some(known) if matches!(known.problem, Problem::TooFew { .. }) => known.problem = symptom.problem.clone(),
            Some(_) => {}
            None => failing.push(Failing {
                object: symptom.shown.clone(),
                problem: symptom.problem.clone(),
                state: symptom.state,
            }),
        }
    }
    failing.sort_by(|a, b| a.object.cmp(&b.object));
    let counts = found.counts.get(&name).cloned().unwrap_or_default();
    let goes_on = own.iter().any(|it| it.state == State::Progressing);
    let none_works = counts.iter().any(|it| it.good == 0 && it.what != crate::status::What::DefaultClasses);
    let (state, reason) = if !failing.is_empty() {
        (if none_works { State::Failed } else { State::Degraded }, Reason::Failing)
    } else if goes_on {
        (State::Progressing, Reason::Progressing)
    } else if let Some(why) = found.unseen.get(&name) {
        (State::Unknown, Reason::NotSeen { why: why.clone() })
    } else if name == LayerName::Access || !counts.is_empty() {
        (State::Healthy, Reason::Proved)
    } else if matches!(name, LayerName::Machines | LayerName::Etcd) && facts.machines.is_empty() {
        (State::Unknown, Reason::NotAsked)
    } else if let Some(why) = unlisted(facts, name) {
        // That nothing of it was seen says nothing: it was not listed.
        (State::Unknown, Reason::NotSeen { why: why.clone() })
    } else {
        (State::Absent, Reason::NotInstalled)
    };
    Layer { name, state, reason, counts, failing }
}
