//! The steps of a cluster's boot before GitOps, whatever tool runs them: what each does, what it comes after, and what has been shown
//! when it is done.
//!
//! Knows what resources, releases and commands of a boot are there for. Does not know what is missing: that is judged from the steps.

mod contract;
mod credentials;
mod knowledge;
mod near;
mod nodes;
mod scripts;
mod shown;
mod terraform;

use catalogue::Catalogue;
use model::Boot;

use crate::helmfile::Helmfile;
use crate::repository::Repository;
use crate::scripts::Scripts;
use crate::terraform::chain::Chain;
use crate::terraform::doubles::doubles;
use crate::terraform::layers::Layers;
use knowledge::Knowledge;
pub(crate) use near::near;

/// Steps of one boot. Who has more runs something else than a boot.
const STEPS_MAX: usize = 2_000;

/// What a boot is read from.
pub(crate) struct Sources<'r> {
    pub(crate) repository: &'r Repository,
    pub(crate) catalogue: &'r Catalogue,
    pub(crate) layers: &'r Layers,
    pub(crate) scripts: &'r Scripts<'r>,
    /// In the order in which they run.
    pub(crate) helmfiles: &'r [Helmfile],
}

impl<'r> Sources<'r> {
    /// The runs that come before Flux, each cluster's once: what it applies itself comes after it.
    pub(crate) fn chains(&self) -> impl Iterator<Item = &'r Chain> + use<'r> {
        let doubles = doubles(self.layers);
        self.layers
            .chains
            .iter()
            .filter(move |chain| !chain.is_applied_by_flux && !doubles.contains(chain.root.as_str()))
    }
}

/// All steps, for any cluster.
pub(crate) fn read(sources: &Sources<'_>) -> Boot {
    let has_scripts = sources.scripts.found().iter().any(crate::scripts::Script::is_early);
    if sources.chains().next().is_none() && !has_scripts {
        return Boot::default();
    }
    let knowledge = Knowledge(sources.catalogue);
    let texts = shown::Texts::new(sources);
    let mut boot = nodes::expected(sources.repository);
    for chain in sources.chains() {
        let steps = terraform::steps(&boot, chain, knowledge, &texts);
        contract::append(&mut boot, chain, steps);
    }
    terraform::order_runs(&mut boot, sources.layers);
    scripts::append(&mut boot, knowledge, sources);
    boot.credentials = credentials::find(sources);
    boot.not_run = not_run(sources);
    boot
}

/// The directories of Terraform that no script applies, where scripts apply others.
fn not_run(sources: &Sources<'_>) -> Vec<yaml::EcoString> {
    let is_run = |chain: &&Chain| sources.layers.is_applied(&chain.root);
    let chains = sources.layers.chains.iter().filter(|chain| !chain.is_applied_by_flux);
    let (run, not): (Vec<&Chain>, Vec<&Chain>) = chains.partition(is_run);
    if run.is_empty() { Vec::new() } else { not.into_iter().map(|chain| chain.root.as_str().into()).collect() }
}
