//! Charts that Terraform installs before GitOps starts, as if each of its runs were a helmfile.
//!
//! Takes them from the steps of the boot: a release of a run that makes the cluster or leads to the start of GitOps, and does not come
//! after that start. Knows the name, the chart, the namespace, the version and whether Terraform waits. Values are not read.

use std::collections::{BTreeMap, BTreeSet};

use model::{Boot, Doing, ObjectRef, StepId};
use yaml::EcoString;

use crate::helmfile::{Helmfile, Release, last_part};
use crate::terraform::chain::{Argument, Block, BlockId, Chain};
use crate::terraform::layers::Layers;

/// Where the provider installs what names no namespace.
const DEFAULT_NAMESPACE: &str = "default";
/// What `flux_bootstrap_git` installs where it names nothing else.
const FLUX: &str = "flux-system";

/// One for each run that installs something, in the order in which they are applied.
pub(super) fn by_terraform(boot: &Boot, layers: &Layers) -> Vec<Helmfile> {
    let order = Order::of(boot);
    let mut chains: Vec<usize> = (0..layers.chains.len()).collect();
    chains.sort_by_key(|at| (chains_before(layers, *at), *at));
    chains.into_iter().filter_map(|at| of_chain(boot, &order, &layers.chains[at])).collect()
}

fn chains_before(layers: &Layers, at: usize) -> usize {
    (0..layers.chains.len()).filter(|other| *other != at && layers.is_after(at, *other)).count()
}

fn of_chain(boot: &Boot, order: &Order, chain: &Chain) -> Option<Helmfile> {
    let mut found: Vec<(BlockId, Release)> = Vec::new();
    for (step, id) in boot.ids().map(|step| (boot.step(step), step)) {
        let installs = matches!(step.does, Doing::Installs { .. } | Doing::StartsGitOps);
        let is_here = step.object.kind == "Terraform" && step.object.namespace == chain.root;
        if !installs || !is_here || !order.is_of_boot(id) {
            continue;
        }
        if let Some(block) = chain.find(&step.object.name)
            && let Some(release) = release(chain.block(block))
        {
            found.push((block, release));
        }
    }
    for at in 0..found.len() {
        let before = chain.all_before(found[at].0);
        let needs = found.iter().filter(|(other, _)| *other != found[at].0 && before[other.index()]);
        let full = |release: &Release| format!("{}/{}", release.namespace, release.name);
        let span = found[at].1.span;
        let needs = needs.map(|(_, release)| (full(release), span)).collect();
        found[at].1.needs = needs;
    }
    found.sort_by_key(|(id, release)| (chain.all_before(*id).into_iter().filter(|it| *it).count(), release.span));
    let releases: Vec<Release> = found.into_iter().map(|(_, release)| release).collect();
    let path = chain.root.clone();
    (!releases.is_empty()).then(|| Helmfile { order_key: path.clone(), path, releases })
}

fn release(block: &Block) -> Option<Release> {
    match block.type_name.as_str() {
        "helm_release" => of_helm(block),
        "flux_bootstrap_git" => Some(Release {
            namespace: block.text(&["namespace"]).unwrap_or(FLUX).into(),
            chart_name: "flux2".into(),
            version: block.text(&["version"]).map(EcoString::from),
            version_at: known(block, "version").map(|argument| argument.at),
            wait: Some(true),
            ..Release::by_terraform("flux", block.at)
        }),
        _ => None,
    }
}

fn of_helm(block: &Block) -> Option<Release> {
    let chart = block.text(&["chart"])?;
    let name = block.text(&["name"]).unwrap_or(&block.name);
    // One that is there and not known is not the default.
    let namespace = match block.argument(&["namespace"]) {
        None => DEFAULT_NAMESPACE,
        Some(argument) => argument.known()?,
    };
    let wait = match block.argument(&["wait"]) {
        None => Some(true),
        Some(_) => block.truth(&["wait"]),
    };
    Some(Release {
        namespace: namespace.into(),
        chart: Some(chart.into()),
        chart_name: last_part(chart)?.into(),
        version: known(block, "version").and_then(Argument::known).map(EcoString::from),
        version_at: known(block, "version").map(|argument| argument.at),
        wait,
        timeout_seconds: block.text(&["timeout"]).and_then(|seconds| seconds.parse().ok()),
        ..Release::by_terraform(name, block.at)
    })
}

fn known<'b>(block: &'b Block, name: &str) -> Option<&'b Argument> {
    block.argument(&[name]).filter(|argument| argument.known().is_some())
}

/// What comes after what among the steps of a boot.
struct Order {
    /// Steps that come after a start of GitOps.
    after_start: BTreeSet<StepId>,
    /// Steps that a start of GitOps comes after.
    before_start: BTreeSet<StepId>,
    /// Runs that make the cluster.
    makers: BTreeSet<EcoString>,
    of: BTreeMap<StepId, ObjectRef>,
    starts: BTreeSet<StepId>,
}

impl Order {
    fn of(boot: &Boot) -> Self {
        let behind = |start: StepId| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
            while let Some(at) = open.pop() {
                open.extend(boot.step(at).after.iter().map(|order| order.on).filter(|on| seen.insert(*on)));
            }
            seen
        };
        let starts: BTreeSet<StepId> = boot.starts().collect();
        let before_start = starts.iter().flat_map(|start| behind(*start)).collect();
        let after_start = boot.ids().filter(|id| !behind(*id).is_disjoint(&starts)).collect();
        let is_maker = |id: &StepId| matches!(boot.step(*id).does, Doing::MakesMachines | Doing::BootstrapsEtcd);
        let makers = boot.ids().filter(is_maker).map(|id| boot.step(id).object.namespace.clone()).collect();
        let of = boot.ids().map(|id| (id, boot.step(id).object.clone())).collect();
        Self { after_start, before_start, makers, of, starts }
    }

    /// Whether it is done on the way to GitOps. Where nothing says when that starts, what the run does that makes the cluster is.
    fn is_of_boot(&self, step: StepId) -> bool {
        let leads = self.starts.contains(&step) || self.before_start.contains(&step);
        let makes = || self.of.get(&step).is_some_and(|object| self.makers.contains(&object.namespace));
        !self.after_start.contains(&step) && (leads || makes())
    }
}
