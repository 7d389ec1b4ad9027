//! A step that speaks to the API server of the cluster that its own run makes, without waiting for any of that.

use catalogue::{Moment, Service};
use model::{LayerDefect, StepFault};

use super::{Judge, fault, made_by, name};
use crate::terraform::chain::{Block, BlockKind, Chain};
use crate::terraform::layers::makers;

const PROGRAMS: [&str; 5] = ["kubectl", "helm", "flux", "cilium", "argocd"];
/// A text with one of these tries again.
const LOOPS: [&str; 4] = ["until ", "while ", "for ", "--retry"];

pub(super) fn find(judge: &Judge<'_>, chain: &Chain, found: &mut Vec<StepFault>) {
    let Some((_, maker)) = makers(chain).find(|(_, block)| block.count.is_some_and(|count| count > 0)) else { return };
    let is_cluster = |block: &Block| {
        makers(chain).any(|(_, maker)| maker.address == block.address) || block.type_name == "talos_cluster_kubeconfig"
    };
    for (id, block) in chain.iter() {
        if block.kind != BlockKind::Resource || block.count.is_none_or(|count| count == 0) {
            continue;
        }
        let Some(at) = speaks(judge, chain, block) else { continue };
        let before = chain.all_before(id);
        let waits = chain.iter().any(|(other, block)| before[other.index()] && is_cluster(block));
        // It may wait for the cluster in a way that is not seen here.
        let waits_unseen = chain.iter().any(|(other, block)| {
            before[other.index()] && (block.kind == BlockKind::Data || !block.provisioners.is_empty())
        });
        if !waits && !waits_unseen && !is_part_of_unread(chain, block) {
            let defect = LayerDefect::ApiOfSameRun { maker: name(maker) };
            found.push(fault(chain, block, at, defect, vec![maker.at]));
        }
    }
}

/// Where a block speaks to the API server as soon as it is made.
fn speaks(judge: &Judge<'_>, chain: &Chain, block: &Block) -> Option<source::Span> {
    // What is configured elsewhere may be another cluster's.
    let is_of_api = |need: &&catalogue::ServiceNeed| need.what == Service::KubernetesApi && need.when == Moment::Apply;
    if block.configuration.is_some() && judge.needs(chain, block).iter().any(is_of_api) {
        return Some(block.at);
    }
    let mut scripts = made_by(block).filter(|one| {
        let text = &one.script.text;
        !LOOPS.iter().any(|word| text.contains(word)) && asks_the_server(text)
    });
    scripts.next().map(|one| one.at)
}

fn asks_the_server(text: &str) -> bool {
    let commands = crate::scripts::pipelines(&text.replace("\\\n", "  ").replace('\n', ";"), 0).into_iter().flatten();
    commands.into_iter().any(|command| {
        let mut words = command.iter().map(|word| word.text.as_str());
        let Some(program) = words.next().filter(|program| PROGRAMS.contains(program)) else { return false };
        let rest: Vec<&str> = words.collect();
        let is_local = rest.iter().any(|word| word.starts_with("--dry-run") || *word == "--client")
            || matches!(
                rest.first(),
                Some(&("repo" | "version" | "template" | "completion" | "config" | "package" | "pull" | "kustomize"))
            );
        !is_local && (program != "kubectl" || rest.len() > 1)
    })
}

/// Whether it is in a module that is told by name what to wait for: a variable that something that is not read gives it.
fn is_part_of_unread(chain: &Chain, block: &Block) -> bool {
    chain.blind.iter().any(|blind| block.address.starts_with(&format!("{}.", blind.address)))
}
