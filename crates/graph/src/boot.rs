//! What has been shown before a step of the boot begins: whether GitOps starts on what was made, or on what works.

use std::collections::BTreeSet;

use model::{Boot, BootStep, Extent, Fact, Proven, StepId};

/// All that is done before one step begins.
#[derive(Debug)]
pub struct Before<'a> {
    boot: &'a Boot,
    step: StepId,
    steps: BTreeSet<StepId>,
}

impl<'a> Before<'a> {
    pub fn new(boot: &'a Boot, step: StepId) -> Self {
        let (mut steps, mut open) = (BTreeSet::new(), vec![step]);
        while let Some(at) = open.pop() {
            let on = boot.step(at).after.iter().map(|order| order.on);
            open.extend(on.filter(|on| steps.insert(*on)));
        }
        Self { boot, step, steps }
    }

    /// Whether it is done by then. In a circle a step comes before itself.
    pub fn holds(&self, step: StepId) -> bool {
        self.steps.contains(&step)
    }

    /// Whether the step would have to be done before it begins.
    pub fn is_circle(&self) -> bool {
        self.holds(self.step)
    }

    pub fn steps(&self) -> impl Iterator<Item = (StepId, &'a BootStep)> {
        self.steps.iter().map(|id| (*id, self.boot.step(*id)))
    }

    /// The most that is said to have been shown of a fact, and the step that says it; of several the first.
    pub fn shown(&self, fact: Fact) -> Option<(StepId, &'a Proven)> {
        let all = self.steps().flat_map(|(id, step)| step.proves.iter().map(move |proven| (id, proven)));
        all.filter(|(_, proven)| proven.fact == fact).max_by_key(|(id, proven)| (proven.of, std::cmp::Reverse(*id)))
    }

    /// Of how many a fact has been shown, also by what follows from others.
    pub fn extent(&self, fact: Fact) -> Option<Extent> {
        let said = |fact| self.shown(fact).map(|(_, proven)| self.of_all(proven.of));
        let nodes = said(Fact::NodesReady);
        let follows = match fact {
            // A node is ready once its kubelet runs and an agent has set up its network.
            Fact::NodesJoined => nodes,
            // What has joined was registered by its kubelet.
            Fact::KubeletsRun => nodes.max(said(Fact::NodesJoined)),
            Fact::NetworkRuns => nodes.filter(|_| self.has_network()),
            _ => None,
        };
        said(fact).max(follows)
    }

    /// All that exist are all that are expected where those have joined before, or where one is all there is.
    fn of_all(&self, of: Extent) -> Extent {
        let joined = || self.shown(Fact::NodesJoined).is_some_and(|(_, proven)| proven.of == Extent::Expected);
        if of == Extent::Existing && (self.boot.nodes.len() == 1 || joined()) { Extent::Expected } else { of }
    }

    /// Whether the pod network is installed by then.
    pub fn has_network(&self) -> bool {
        self.steps().any(|(_, step)| step.does.brings_network())
    }
}

#[cfg(test)]
mod tests {
    use model::{
        Boot, BootStep, Brings, Doing, ExpectedNode, Extent, Fact, ObjectRef, OrderedBy, Proven, StepId, StepOrder,
    };
    use source::Span;

    use super::Before;

    /// A boot in a line: every step comes after the one before it.
    fn boot(nodes: usize, line: Vec<(Doing, Vec<(Fact, Extent)>)>) -> Boot {
        let at = Span::GENERATED;
        let step = |(index, (does, proves)): (usize, (Doing, Vec<(Fact, Extent)>))| BootStep {
            object: ObjectRef::new("Step", "", index.to_string()),
            at,
            does,
            after: (0..index)
                .last()
                .map(|on| StepOrder { on: StepId(source::to_u32(on)), at, by: OrderedBy::Sequence })
                .into_iter()
                .collect(),
            proves: proves.into_iter().map(|(fact, of)| Proven { fact, of, at }).collect(),
            awaits: Vec::new(),
            reaches: None,
        };
        Boot {
            nodes: vec![ExpectedNode { name: "n".into(), is_control_plane: true }; nodes],
            steps: line.into_iter().enumerate().map(step).collect(),
            ..Boot::default()
        }
    }

    fn last(boot: &Boot) -> Before<'_> {
        Before::new(boot, boot.ids().last().expect("a step"))
    }

    #[test]
    fn nodes_that_exist_are_all_nodes_only_where_all_have_joined() {
        let ready = (Doing::Waits, vec![(Fact::NodesReady, Extent::Existing)]);
        let joined = (Doing::Waits, vec![(Fact::NodesJoined, Extent::Expected)]);
        let start = (Doing::StartsGitOps, Vec::new());
        let extent = |nodes, line| last(&boot(nodes, line)).extent(Fact::NodesReady);
        assert_eq!(extent(3, vec![ready.clone(), start.clone()]), Some(Extent::Existing));
        assert_eq!(extent(1, vec![ready.clone(), start.clone()]), Some(Extent::Expected));
        assert_eq!(extent(3, vec![joined, ready.clone(), start.clone()]), Some(Extent::Expected));
        assert_eq!(extent(3, vec![start, ready]), None);
    }

    #[test]
    fn a_ready_node_shows_its_kubelet_and_its_network() {
        let ready = (Doing::Waits, vec![(Fact::NodesReady, Extent::Expected)]);
        let network =
            Doing::Installs { release: "cilium".into(), brings: Brings::PodNetwork { unavailable_max: Some(2) } };
        let start = (Doing::StartsGitOps, Vec::new());
        let with = boot(3, vec![(network, vec![(Fact::NetworkRuns, Extent::Some)]), ready.clone(), start.clone()]);
        let without = boot(3, vec![ready, start]);
        assert_eq!(last(&with).extent(Fact::NetworkRuns), Some(Extent::Expected));
        assert_eq!(last(&with).extent(Fact::KubeletsRun), Some(Extent::Expected));
        assert_eq!(last(&without).extent(Fact::NetworkRuns), None);
        let joined = (Doing::Waits, vec![(Fact::NodesJoined, Extent::Expected)]);
        let registered = boot(3, vec![joined, (Doing::StartsGitOps, Vec::new())]);
        assert_eq!(last(&registered).extent(Fact::KubeletsRun), Some(Extent::Expected));
        assert_eq!(last(&registered).extent(Fact::NodesReady), None);
    }

    #[test]
    fn a_step_that_comes_after_itself_is_in_a_circle() {
        let mut line = boot(1, vec![(Doing::Waits, Vec::new()), (Doing::Waits, Vec::new())]);
        assert!(!last(&line).is_circle());
        line.steps[0].after.push(StepOrder { on: StepId(1), at: Span::GENERATED, by: OrderedBy::Reference });
        assert!(last(&line).is_circle());
    }
}
