//! Blocks of Terraform as steps of the boot: what a type of resource is there for, and what has been shown when it is made.

use model::{Boot, BootStep, Brings, Doing, Extent, Fact, ObjectRef, OrderedBy, Proven, Seeded, StepId, StepOrder};
use yaml::EcoString;

use super::knowledge::Knowledge;
use super::shown;
use crate::terraform::chain::{Block, BlockId, BlockKind, Chain};
use crate::terraform::is_machine;
use crate::terraform::layers::{Layers, WhyLater};

/// The label of keys that the controller of sealed-secrets looks for.
const SEALING_KEY: &str = "sealedsecrets.bitnami.com/sealed-secrets-key";
/// From this version of the provider on, health is judged without the network where Talos installs none.
const HEALTH_KNOWS_NO_NETWORK: (u64, u64) = (0, 11);

/// The blocks of one run that do something for the boot.
pub(super) fn steps(
    boot: &Boot,
    chain: &Chain,
    knowledge: Knowledge<'_>,
    texts: &shown::Texts<'_>,
) -> Vec<(BlockId, BootStep)> {
    let blocks = chain.iter().filter(|(_, block)| block.may_exist());
    blocks.filter_map(|(id, block)| Some((id, Reader { boot, chain, block, knowledge, texts }.step()?))).collect()
}

/// One run after those that hand something over to it, or that a script applies before it.
pub(super) fn order_runs(boot: &mut Boot, layers: &Layers) {
    for order in &layers.order {
        let (late, early) = (&layers.chains[order.later], &layers.chains[order.earlier]);
        let of = |chain: &Chain| -> Vec<StepId> {
            boot.ids().filter(|id| boot.step(*id).object.namespace == chain.root).collect()
        };
        let (late, early) = (of(late), of(early));
        let by = if order.why == WhyLater::Script { OrderedBy::Sequence } else { OrderedBy::HandOver };
        for id in late {
            let after = early.iter().map(|on| StepOrder { on: *on, at: order.at, by });
            boot.steps[id.index()].after.extend(after);
        }
    }
}

struct Reader<'r> {
    boot: &'r Boot,
    chain: &'r Chain,
    block: &'r Block,
    knowledge: Knowledge<'r>,
    texts: &'r shown::Texts<'r>,
}

impl Reader<'_> {
    fn step(&self) -> Option<BootStep> {
        let (does, proves) = match self.block.kind {
            BlockKind::Resource => self.resource()?,
            BlockKind::Data if self.block.type_name == "talos_cluster_health" => (Doing::Waits, self.health()),
            _ => return None,
        };
        let awaits = if self.waits_for_ready_nodes() { vec![Fact::NodesReady] } else { Vec::new() };
        let address = self.block.text(&["endpoint"]).or_else(|| self.block.text(&["node"]));
        let object = ObjectRef::new("Terraform", self.chain.root.as_str(), self.block.address.as_str());
        let reaches = address.map(EcoString::from);
        Some(BootStep { object, at: self.block.at, does, after: Vec::new(), proves, awaits, reaches })
    }

    fn resource(&self) -> Option<(Doing, Vec<Proven>)> {
        let none = Vec::new();
        Some(match self.block.type_name.trim_end_matches("_v1") {
            "talos_machine_configuration_apply" => (Doing::ConfiguresMachines, none),
            "talos_machine_bootstrap" => (Doing::BootstrapsEtcd, none),
            "talos_cluster" => (Doing::BootstrapsEtcd, vec![self.proven(Fact::EtcdRuns, Extent::Expected)]),
            "talos_cluster_kubeconfig" => (Doing::FetchesCredentials, none),
            "helm_release" => self.release(),
            "kubernetes_namespace" => {
                (Doing::AppliesObjects(Seeded::Namespaces), vec![self.proven(Fact::ObjectExists, Extent::Expected)])
            }
            "flux_bootstrap_git" => (Doing::StartsGitOps, vec![self.proven(Fact::GitOpsRuns, Extent::Expected)]),
            "kubernetes_secret" if self.block.argument(&["metadata", "labels", SEALING_KEY]).is_some() => {
                (Doing::StoresSealingKey, vec![self.proven(Fact::ObjectExists, Extent::Expected)])
            }
            "kubernetes_secret" => {
                (Doing::AppliesObjects(Seeded::Secrets), vec![self.proven(Fact::ObjectExists, Extent::Expected)])
            }
            "kubectl_manifest" | "kubernetes_manifest" if self.is_instance() => (Doing::StartsGitOps, none),
            kind if is_machine(kind) => (Doing::MakesMachines, self.started()),
            _ => self.provisioned()?,
        })
    }

    fn proven(&self, fact: Fact, of: Extent) -> Proven {
        Proven { fact, of, at: self.block.at }
    }

    /// Helm waits unless it is told otherwise, and counts the DaemonSet of a network as ready with some of its pods missing.
    fn release(&self) -> (Doing, Vec<Proven>) {
        let chart = self.block.text(&["chart"]).and_then(|chart| chart.rsplit('/').next()).unwrap_or_default();
        let release = EcoString::from(self.block.text(&["name"]).unwrap_or(&self.block.name));
        if Knowledge::starts_gitops(chart) {
            return (Doing::StartsGitOps, Vec::new());
        }
        if !self.knowledge.gives_network(chart) {
            let proves = self.waits().then(|| self.proven(Fact::WorkloadsRun, Extent::Existing)).into_iter().collect();
            return (Doing::Installs { release, brings: Brings::Other }, proves);
        }
        let agent = self.knowledge.agent(chart).filter(|_| self.waits() && !self.sets_unavailable());
        let release = agent.map_or(release, |agent| agent.daemon_set.as_str().into());
        let unavailable_max = agent.map(|agent| agent.unavailable_max);
        let proves = agent.map(|_| self.proven(Fact::NetworkRuns, Extent::Some)).into_iter().collect();
        (Doing::Installs { release, brings: Brings::PodNetwork { unavailable_max } }, proves)
    }

    /// Whether it does not end before the release is ready.
    fn waits(&self) -> bool {
        self.block.argument(&["wait"]).is_none() || self.block.truth(&["wait"]) == Some(true)
    }

    /// A machine with a guest agent is made once that has told its address.
    fn started(&self) -> Vec<Proven> {
        let has_agent = self.block.truth(&["agent", "enabled"]) == Some(true)
            || matches!(self.block.text(&["agent"]), Some("1" | "true"));
        has_agent.then(|| self.proven(Fact::MachineStarted, Extent::Expected)).into_iter().collect()
    }

    /// Whether the release says itself how many may be missing.
    fn sets_unavailable(&self) -> bool {
        let says = |text: &str| text.contains("maxUnavailable");
        let of = |argument: &crate::terraform::chain::Argument| {
            argument.path.iter().any(|part| says(part)) || argument.text.as_deref().is_some_and(says)
        };
        self.block.arguments.iter().any(of)
    }

    fn is_instance(&self) -> bool {
        let is_kind = self.block.text(&["manifest", "kind"]) == Some("FluxInstance");
        let body = self.block.argument(&["yaml_body"]).and_then(|body| body.text.as_deref());
        is_kind || body.is_some_and(|body| body.lines().any(|line| line.trim() == "kind: FluxInstance"))
    }

    /// What its provisioners do.
    fn provisioned(&self) -> Option<(Doing, Vec<Proven>)> {
        shown::by_provisioners(self.boot, self.block, self.texts)
    }

    fn health(&self) -> Vec<Proven> {
        let mut proves =
            vec![self.proven(Fact::EtcdRuns, Extent::Expected), self.proven(Fact::KubeletsRun, Extent::ControlPlanes)];
        if !self.skips_kubernetes() {
            proves.push(self.proven(Fact::ApiAnswers, Extent::Expected));
            proves.push(self.proven(Fact::NodesJoined, Extent::Expected));
            if self.waits_for_ready_nodes() {
                proves.push(self.proven(Fact::NodesReady, Extent::Expected));
            }
        }
        proves
    }

    fn skips_kubernetes(&self) -> bool {
        self.block.argument(&["skip_kubernetes_checks"]).is_some()
            && self.block.truth(&["skip_kubernetes_checks"]) != Some(false)
    }

    /// Whether it does not end before all nodes are Ready. A newer provider leaves that out where Talos installs no network.
    fn waits_for_ready_nodes(&self) -> bool {
        let is_health = self.block.type_name == "talos_cluster_health" && !self.skips_kubernetes();
        let is_old = || {
            let requirement = self.chain.requirement(self.block)?;
            let locked = requirement.locked.as_deref().or_else(|| requirement.versions.first().map(String::as_str))?;
            minor(locked).map(|version| version < HEALTH_KNOWS_NO_NETWORK)
        };
        is_health && (!self.boot.lacks_network || is_old() == Some(true))
    }
}

/// Major and minor of a version, or of a constraint that leaves only the patch open.
fn minor(written: &str) -> Option<(u64, u64)> {
    let (sign, version) = written.split_at(written.find(|it: char| it.is_ascii_digit())?);
    let mut parts = version.split('.').map(str::parse::<u64>);
    let (major, minor) = (parts.next()?.ok()?, parts.next()?.ok()?);
    let is_exact = matches!(sign.trim(), "" | "=") || sign.trim() == "~>" && parts.next().is_some();
    is_exact.then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::minor;

    #[test]
    fn a_constraint_says_a_version_where_only_the_patch_is_open() {
        assert_eq!(minor("0.10.1"), Some((0, 10)));
        assert_eq!(minor("~> 0.9.0"), Some((0, 9)));
        assert_eq!(minor("~> 0.9"), None);
        assert_eq!(minor(">= 0.9.0"), None);
        assert_eq!(minor("latest"), None);
    }
}
