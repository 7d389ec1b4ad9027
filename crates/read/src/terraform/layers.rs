//! The runs of a repository in their order: by states, by files, by scripts, and by the APIs that they need.

use std::collections::BTreeSet;

use model::{BlindSpot, Unseen, WhyUnseen};
use repository::path;
use source::Span;

use super::chain::{Backend, BlockKind, Chain, StateRead, WhyBlind};
use super::instance::World;
use super::runs::{Run, runs};
use super::{GAP, chain, chains_of, terragrunt};
use crate::repository::Repository;
use crate::scripts::Scripts;

/// The runs of Terraform of a repository.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// By directory.
    pub chains: Vec<Chain>,
    /// What comes before what, sorted.
    pub order: Vec<LayerOrder>,
    /// What scripts run.
    pub runs: Vec<Run>,
    /// Modules that only Terragrunt runs.
    terragrunt: Vec<BlindSpot>,
}

/// One run comes after another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LayerOrder {
    /// Places in [`Layers::chains`].
    pub later: usize,
    pub earlier: usize,
    pub why: WhyLater,
    /// What says so.
    pub at: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyLater {
    /// It reads its state.
    State,
    /// It reads a file that the other writes.
    File,
    /// A script applies it after the other.
    Script,
    /// It speaks to the cluster that the other makes, the only one that does.
    Api,
}

impl WhyLater {
    /// Whether it can't be otherwise.
    pub fn is_hard(self) -> bool {
        matches!(self, Self::State | Self::File)
    }
}

impl Layers {
    pub(crate) fn of(repository: &Repository, scripts: &Scripts<'_>) -> Self {
        let layers = match World::of(repository) {
            Some(world) => Self::new(chains_of(&world), runs(scripts)),
            None => Self::default(),
        };
        let is_read = |directory: &str| layers.chains.iter().any(|chain| chain.root == directory);
        Self { terragrunt: terragrunt::unseen(repository, is_read), ..layers }
    }

    fn new(chains: Vec<Chain>, runs: Vec<Run>) -> Self {
        let mut order = BTreeSet::new();
        for (later, chain) in chains.iter().enumerate() {
            for state in &chain.states {
                let kept = chains.iter().position(|other| is_kept_by(state, other));
                order.extend(kept.map(|earlier| LayerOrder { later, earlier, why: WhyLater::State, at: state.at }));
            }
            for file in chain.read.iter().filter(|file| !file.path.contains(GAP)) {
                let writes = |other: &Chain| other.written.iter().any(|written| written.path == file.path);
                // What it writes itself it takes from itself.
                let written = chains.iter().position(writes).filter(|_| !writes(chain));
                order.extend(written.map(|earlier| LayerOrder { later, earlier, why: WhyLater::File, at: file.at }));
            }
        }
        order.extend(by_scripts(&chains, &runs));
        order.extend(by_apis(&chains, &order));
        order.retain(|one| one.later != one.earlier);
        Self { chains, order: order.into_iter().collect(), runs, terragrunt: Vec::new() }
    }

    /// What of the runs before Flux is not seen.
    pub(crate) fn unseen(&self) -> impl Iterator<Item = BlindSpot> {
        let chains = self.chains.iter().filter(|chain| !chain.is_applied_by_flux);
        let spots = chains.flat_map(|chain| chain.blind.iter().map(move |blind| (chain, blind)));
        let blind = spots.filter_map(|(chain, blind)| {
            let why = match blind.why {
                WhyBlind::RemoteModule => WhyUnseen::Fetched,
                WhyBlind::MissingModule => WhyUnseen::NotInRepository,
                WhyBlind::Command => WhyUnseen::Run,
                // What is known of one of it is read.
                WhyBlind::UnknownCount | WhyBlind::TooMuch => return None,
            };
            let what = Unseen::Named(path::join(&chain.root, &blind.address)?);
            Some(BlindSpot { what, why, at: blind.at, component: None })
        });
        blind.chain(self.terragrunt.iter().cloned())
    }

    /// Whether a script applies the run of a directory.
    pub(crate) fn is_applied(&self, root: &str) -> bool {
        self.runs.iter().any(|run| run.action == "apply" && !run.is_missing && run.directory == root)
    }

    /// Whether one comes after another, in however many steps.
    pub fn is_after(&self, later: usize, earlier: usize) -> bool {
        let (mut seen, mut open) = (BTreeSet::new(), vec![later]);
        while let Some(at) = open.pop() {
            let before = self.order.iter().filter(|one| one.later == at).map(|one| one.earlier);
            for next in before {
                if next == earlier {
                    return true;
                }
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        false
    }

    /// Directories whose runs each take something from the next, with the places that say so. The one that is first by name begins.
    pub fn circles(&self) -> Vec<Vec<&LayerOrder>> {
        let mut found: Vec<Vec<&LayerOrder>> = Vec::new();
        for start in 0..self.chains.len() {
            let mut way = Vec::new();
            if self.leads_back(start, start, &mut BTreeSet::new(), &mut way) && way.iter().all(|one| one.later >= start)
            {
                found.push(way);
            }
        }
        found
    }

    fn leads_back<'a>(
        &'a self,
        at: usize,
        start: usize,
        seen: &mut BTreeSet<usize>,
        way: &mut Vec<&'a LayerOrder>,
    ) -> bool {
        for one in self.order.iter().filter(|one| one.later == at && one.why.is_hard()) {
            way.push(one);
            if one.earlier == start || seen.insert(one.earlier) && self.leads_back(one.earlier, start, seen, way) {
                return true;
            }
            way.pop();
        }
        false
    }
}

fn is_kept_by(state: &StateRead, chain: &Chain) -> bool {
    if let Some(directory) = &state.directory {
        return *directory == chain.root;
    }
    let is_same = |backend: &Backend| {
        backend.kind == state.kind && !backend.settings.is_empty() && backend.settings == state.settings
    };
    chain.backend.as_ref().is_some_and(is_same)
}

/// One script that applies several applies them in its order.
fn by_scripts(chains: &[Chain], runs: &[Run]) -> Vec<LayerOrder> {
    let applies = runs.iter().filter(|run| run.action == "apply" && !run.is_missing);
    let place = |run: &Run| chains.iter().position(|chain| chain.root == run.directory);
    let mut found = Vec::new();
    let mut last: Option<(&str, usize)> = None;
    for run in applies {
        let Some(later) = place(run) else { continue };
        if let Some((script, earlier)) = last
            && script == run.script
            && earlier != later
        {
            found.push(LayerOrder { later, earlier, why: WhyLater::Script, at: run.at });
        }
        last = Some((&run.script, later));
    }
    found
}

/// Types that make a cluster.
const MAKERS: [&str; 6] = [
    "talos_machine_bootstrap",
    "talos_cluster",
    "aws_eks_cluster",
    "google_container_cluster",
    "azurerm_kubernetes_cluster",
    "digitalocean_kubernetes_cluster",
];
/// Providers that speak to it.
const SPEAKERS: [&str; 4] = ["helm", "kubernetes", "kubectl", "flux"];

pub(crate) fn makers(chain: &Chain) -> impl Iterator<Item = (chain::BlockId, &chain::Block)> {
    chain.iter().filter(|(_, block)| {
        block.kind == BlockKind::Resource && block.may_exist() && MAKERS.contains(&block.type_name.as_str())
    })
}

fn by_apis(chains: &[Chain], known: &BTreeSet<LayerOrder>) -> Vec<LayerOrder> {
    let mut all = (0..chains.len()).filter(|at| makers(&chains[*at]).next().is_some());
    // Of several clusters it is not known whose.
    let (Some(earlier), None) = (all.next(), all.next()) else { return Vec::new() };
    let speaks = |chain: &Chain| {
        let mut blocks = chain.blocks.iter().filter(|block| block.kind == BlockKind::Resource && block.may_exist());
        blocks.find(|block| SPEAKERS.contains(&block.provider.as_str())).map(|block| block.at)
    };
    let is_ordered = |later: usize| {
        known
            .iter()
            .any(|one| one.later == later && one.earlier == earlier || one.later == earlier && one.earlier == later)
    };
    let others = chains.iter().enumerate().filter(|(at, _)| *at != earlier && !is_ordered(*at));
    others
        .filter_map(|(later, chain)| Some(LayerOrder { later, earlier, why: WhyLater::Api, at: speaks(chain)? }))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Layers, WhyLater};
    use crate::repository::Repository;
    use crate::scripts::Scripts;

    fn layers(files: &[(&str, &str)]) -> Layers {
        let directory = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = directory.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let repository = Repository::open(directory.path()).unwrap();
        Layers::of(&repository, &Scripts::read(&repository))
    }

    fn said(layers: &Layers) -> Vec<String> {
        let root = |at: usize| layers.chains[at].root.as_str();
        layers
            .order
            .iter()
            .map(|one| format!("{} after {} {:?}", root(one.later), root(one.earlier), one.why))
            .collect()
    }

    const SCRIPT: &str = r#"#!/bin/bash
HERE="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
DIR="$HERE/tf"
for layer in b a; do
  (cd "$DIR/$layer" && terraform apply -auto-approve)
done
tofu -chdir=tf/c apply
cd "${DIR}/d" && terraform plan
"#;

    #[test]
    fn a_script_orders_what_it_applies() {
        let main = "provider \"null\" {}\n";
        let files = ["tf/a/main.tf", "tf/b/main.tf", "tf/c/main.tofu", "tf/d/main.tf"].map(|path| (path, main));
        let found = layers(&[&files[..], &[("up.sh", SCRIPT)]].concat());
        assert_eq!(said(&found), ["tf/a after tf/b Script", "tf/c after tf/a Script"]);
        assert!(found.is_after(2, 1) && !found.is_after(1, 2));
        let planned: Vec<&str> = found.runs.iter().map(|run| run.action.as_str()).collect();
        assert_eq!(planned, ["apply", "apply", "apply", "plan"]);
    }

    #[test]
    fn files_states_and_the_one_cluster_order_runs() {
        let cluster = "resource \"talos_machine_bootstrap\" \"x\" { node = \"192.0.2.1\" }\nresource \"local_file\" \"k\" { filename = \"${path.module}/kubeconfig\" }\nprovider \"talos\" {}\n";
        let by_file = "provider \"helm\" {\n  kubernetes = { config_path = \"../cluster/kubeconfig\" }\n}\nresource \"helm_release\" \"a\" { chart = \"a\" }\n";
        let by_api = "provider \"helm\" {\n  kubernetes = { config_path = \"~/.kube/config\" }\n}\nresource \"helm_release\" \"a\" { chart = \"a\" }\n";
        let found = layers(&[("a/main.tf", by_api), ("b/main.tf", by_file), ("cluster/main.tf", cluster)]);
        assert_eq!(said(&found), ["a after cluster Api", "b after cluster File"]);
        assert!(found.order.iter().all(|one| one.why.is_hard() == (one.why == WhyLater::File)));
    }

    #[test]
    fn a_circle_is_told_once_and_begins_with_its_first_directory() {
        let state = |other: &str| {
            format!(
                "provider \"x\" {{}}\ndata \"terraform_remote_state\" \"s\" {{\n  backend = \"local\"\n  config = {{ path = \"../{other}/terraform.tfstate\" }}\n}}\n"
            )
        };
        let found = layers(&[
            ("a/main.tf", &state("c")),
            ("b/main.tf", &state("a")),
            ("c/main.tf", &state("b")),
            ("d/main.tf", &state("a")),
        ]);
        let circles: Vec<Vec<usize>> =
            found.circles().iter().map(|way| way.iter().map(|one| one.later).collect()).collect();
        assert_eq!(circles, [[0, 2, 1]]);
    }
}
