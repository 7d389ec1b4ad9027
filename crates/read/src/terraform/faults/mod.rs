//! What runs of Terraform get wrong by themselves, whatever the cluster is: order, plan and apply, waiting, what their state holds.
//!
//! Knows what `catalogue` says of providers. Does not know what Flux does but for where it is started.

mod api_of_same_run;
mod circle;
mod gates;
mod hand_written;
mod key_in_state;
mod kind_at_plan;
mod missing_directory;
mod missing_file;
mod namespace_of_same_run;
mod not_pushed;
mod provider_from_resource;
mod secret_from_gitops;
mod service_from_gitops;
mod wait_off;

use catalogue::{Catalogue, Known, Moment, ServiceNeed, Switch};
use ecow::EcoString;
use model::{Defect, GateDefect, LayerDefect, ObjectRef, StepFault};
use source::Span;

use super::chain::{Block, BlockId, BlockKind, Chain, Provisioner};
use super::layers::Layers;
use crate::repository::Repository;
use crate::scripts::Scripts;

/// What is called a step of this kind.
const KIND: &str = "Terraform";

/// All that is needed to judge a run.
pub(crate) struct Judge<'j> {
    pub(crate) repository: &'j Repository,
    pub(crate) catalogue: &'j Catalogue,
    pub(crate) layers: &'j Layers,
    pub(crate) scripts: &'j Scripts<'j>,
}

/// Everything, sorted by place.
pub(crate) fn find(judge: &Judge<'_>) -> Vec<StepFault> {
    let mut found = Vec::new();
    missing_directory::find(judge, &mut found);
    circle::find(judge, &mut found);
    for (at, chain) in judge.layers.chains.iter().enumerate().filter(|(_, chain)| !chain.is_applied_by_flux) {
        provider_from_resource::find(judge, chain, &mut found);
        kind_at_plan::find(judge, chain, &mut found);
        service_from_gitops::find(judge, at, &mut found);
        secret_from_gitops::find(judge, at, &mut found);
        api_of_same_run::find(judge, chain, &mut found);
        namespace_of_same_run::find(chain, &mut found);
        wait_off::find(judge, chain, &mut found);
        key_in_state::find(judge, chain, &mut found);
        not_pushed::find(judge, at, &mut found);
        hand_written::find(chain, &mut found);
        missing_file::find(judge, chain, &mut found);
        gates::find(judge, at, &mut found);
    }
    once(judge, found)
}

/// A module of two runs is told once: of the run that a script makes, or of the first.
fn once(judge: &Judge<'_>, mut found: Vec<StepFault>) -> Vec<StepFault> {
    let is_unused = |fault: &StepFault| !judge.layers.is_applied(&fault.step.namespace);
    found.sort_by(|one, other| {
        let keys = (one.at, kind(&one.defect), is_unused(one)).cmp(&(other.at, kind(&other.defect), is_unused(other)));
        keys.then_with(|| one.cmp(other))
    });
    found.dedup_by(|one, other| one.at == other.at && kind(&one.defect) == kind(&other.defect));
    found.sort();
    found
}

/// What is wrong, whatever it depends on which run it is looked at in.
fn kind(defect: &Defect) -> Defect {
    match defect {
        Defect::Gate(GateDefect::TooEarly { wait, why, .. }) => {
            Defect::Gate(GateDefect::Toothless { wait: wait.clone(), why: *why })
        }
        other => other.clone(),
    }
}

impl<'j> Judge<'j> {
    /// What is known of the type of a block, in the version that the run takes.
    fn known(&self, chain: &Chain, block: &Block) -> Option<Known<'j>> {
        let required = chain.requirement(block);
        let mut constraints = required.map(|one| one.versions.clone()).unwrap_or_default();
        constraints.extend(required.and_then(|one| one.locked.clone()));
        let address = required.map(|one| one.source.as_str());
        let is_data = block.kind == BlockKind::Data;
        self.catalogue.providers().known((&block.provider, address), &constraints, &block.type_name, is_data)
    }

    /// The needs of a block that count with its arguments and the configuration of its provider.
    fn needs(&self, chain: &Chain, block: &Block) -> Vec<&'j ServiceNeed> {
        let Some(known) = self.known(chain, block) else { return Vec::new() };
        let holds = |switch: &Switch| is_set(chain, block, switch);
        let counts =
            |need: &&ServiceNeed| !need.unless.as_ref().is_some_and(holds) && need.only_if.as_ref().is_none_or(holds);
        known.needs().iter().filter(counts).collect()
    }
}

/// Whether a block needs something before anything is made.
fn is_asked_at_plan(chain: &Chain, id: BlockId, need: &ServiceNeed) -> bool {
    match (chain.block(id).kind, need.when) {
        (_, Moment::Configure) => true,
        (BlockKind::Data, Moment::Plan) => chain.is_read_at_plan(id),
        (_, when) => when == Moment::Plan,
    }
}

/// Whether a switch is set, in a block or in the configuration of its provider. `*` is any value.
fn is_set(chain: &Chain, block: &Block, switch: &Switch) -> bool {
    let path: Vec<&str> = switch.argument.split('.').collect();
    let configuration = block.configuration.map(|id| chain.block(id));
    let mut said = [Some(block), configuration].into_iter().flatten().filter_map(|block| block.argument(&path));
    said.any(|argument| switch.equals == "*" || argument.known() == Some(switch.equals.as_str()))
}

fn fault(chain: &Chain, block: &Block, at: Span, defect: LayerDefect, shown: Vec<Span>) -> StepFault {
    let step = ObjectRef::new(KIND, chain.root.as_str(), block.address.as_str());
    StepFault { at, step, defect: Defect::Layer(defect), shown }
}

fn name(block: &Block) -> EcoString {
    block.address.as_str().into()
}

/// Charts that are, or start, something that applies what Git holds.
const GITOPS_CHARTS: [&str; 5] = ["flux2", "flux2-sync", "flux-operator", "flux-instance", "argo-cd"];

/// The blocks that start what applies Git.
fn starts(chain: &Chain) -> impl Iterator<Item = (BlockId, &Block)> {
    chain.iter().filter(|(_, block)| block.kind == BlockKind::Resource && block.may_exist() && starts_gitops(block))
}

fn starts_gitops(block: &Block) -> bool {
    match block.type_name.as_str() {
        "flux_bootstrap_git" => true,
        "helm_release" => block
            .text(&["chart"])
            .is_some_and(|chart| GITOPS_CHARTS.contains(&chart.rsplit('/').next().unwrap_or(chart))),
        _ => made_by(block).any(|one| runs_words(&one.script.text, "flux", &["bootstrap", "install"])),
    }
}

/// Where what applies Git is started, by the run itself or by one that comes after it: the run and the block.
fn start_of(judge: &Judge<'_>, at: usize) -> Option<(usize, BlockId)> {
    let chains = &judge.layers.chains;
    let own = starts(&chains[at]).next().map(|(id, _)| (at, id));
    let later = || {
        let mut others = (0..chains.len()).filter(|other| judge.layers.is_after(*other, at));
        others.find_map(|other| Some((other, starts(&chains[other]).next()?.0)))
    };
    own.or_else(later)
}

/// The provisioners that run when a block is made.
fn made_by(block: &Block) -> impl Iterator<Item = &Provisioner> {
    block.provisioners.iter().filter(|one| !one.on_destroy)
}

/// Whether a shell text has a command of a program with one of these words next.
fn runs_words(text: &str, program: &str, words: &[&str]) -> bool {
    crate::scripts::pipelines(&text.replace("\\\n", "  ").replace('\n', ";"), 0).into_iter().flatten().any(|command| {
        let mut command = command.iter().map(|word| word.text.as_str()).skip_while(|word| *word != program);
        command.next().is_some() && command.next().is_some_and(|word| words.contains(&word))
    })
}
