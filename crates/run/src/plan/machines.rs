//! The steps below Kubernetes: keys, machines, Talos, the API server.

use std::collections::BTreeMap;

use read::inventory::Inventory;
use read::machines::MachineGroup;
use settings::UpSettings;

use super::build::{BY_HAND, Draft, MINUTE};
use super::by_hand;
use super::terraform::Deed;
use super::told::Told;
use super::{Action, Danger, Layer, Limits, NeedReason, Note, Proof};

impl Draft<'_> {
    /// Keys, machines, Talos, the API server. The steps that everything above waits for.
    pub(super) fn below_kubernetes(&mut self, told: &Told) -> Vec<usize> {
        let (settings, inventory) = (&told.up, &told.inventory);
        let keys: Vec<usize> = settings.keys.iter().map(|directory| self.terraform(Layer::Keys, directory)).collect();
        let described = by_hand::described(inventory, settings);
        let made = self.made_by_terraform(inventory, settings, described, &keys);
        let Some(first) = settings.control_planes.first() else {
            self.notes.push(Note::MachinesNotDescribed);
            let api = self.api("api/kubernetes", settings.endpoint.as_deref().unwrap_or("the kubeconfig's address"));
            self.steps[api].by_hand.address.clone_from(&settings.endpoint);
            self.tie_all(api, &keys, &NeedReason::Credentials);
            self.tie_all(api, &made, &NeedReason::MakesMachines);
            return vec![api];
        };
        self.notes.extend(told.machines_from.clone().map(|from| Note::MachinesFromFiles { from }));
        // Machines that the settings name are brought up as they say; of those that files describe, what Terraform does is Terraform's.
        let by = |deed: Deed| if told.machines_from.is_some() { self.runs.doing(deed) } else { Vec::new() };
        let (makes, configures, bootstraps) =
            (by(Deed::MakesMachines), by(Deed::ConfiguresMachines), by(Deed::BootstrapsEtcd));
        let secrets = configures.is_empty().then(|| self.secrets(described));
        let mut talos = BTreeMap::new();
        for machine in settings.control_planes.iter().chain(&settings.workers) {
            let (on, step) = self.machine(machine, &keys, &made, described);
            if let Some(secrets) = secrets {
                self.tie(step, secrets, NeedReason::MadeFromSecrets);
            }
            for (step, by) in [(on, &makes), (step, &configures)].into_iter().filter(|(_, by)| !by.is_empty()) {
                self.watched(step, by);
            }
            talos.insert(machine.clone(), step);
        }
        let action = Action::BootstrapEtcd { machine: first.clone() };
        let etcd = self.add("talos/etcd".to_owned(), Layer::Talos, action, Proof::EtcdMembers { members: 1 });
        self.steps[etcd].once = true;
        self.steps[etcd].danger = Some(Danger::SecondCluster);
        self.steps[etcd].expected = MINUTE;
        self.steps[etcd].by_hand.address = by_hand::address(first, described);
        self.tie(etcd, talos[first], NeedReason::FirstControlPlane);
        if !bootstraps.is_empty() {
            self.watched(etcd, &bootstraps);
        }
        let api = self.api("api/bootstrap", settings.endpoint.as_deref().unwrap_or(first));
        let address = || by_hand::address(first, described).map(|address| format!("{address}:6443"));
        self.steps[api].by_hand.address = settings.endpoint.clone().or_else(address);
        self.tie(api, etcd, NeedReason::KeptInEtcd);
        if self.runs.doing(Deed::FetchesCredentials).is_empty() && told.machines_from.is_some() {
            self.steps[api].by_hand.kubeconfig_of =
                Some(by_hand::address(first, described).unwrap_or_else(|| first.clone()));
        }
        if let Some(vip) = &settings.vip {
            let step = self.api("api/vip", vip);
            self.steps[step].by_hand.address = Some(vip.clone());
            self.tie(step, api, NeedReason::ElectedThroughApi);
            for machine in &settings.control_planes {
                self.tie(step, talos[machine], NeedReason::BehindAddress);
            }
        }
        vec![api]
    }

    /// Secrets that the repository keeps are taken from there: new ones would belong to another cluster.
    fn secrets(&mut self, described: Option<&MachineGroup>) -> usize {
        let kept = by_hand::kept_secrets(self.repository, described);
        let is_new = kept.is_none();
        let action = kept.map_or(Action::MakeSecrets, |file| Action::RestoreSecrets { file });
        let step = self.add("talos/secrets".to_owned(), Layer::Talos, action, Proof::SecretsKept);
        self.steps[step].once = true;
        self.steps[step].danger = is_new.then_some(Danger::NewSecrets);
        step
    }

    /// The directories of Terraform that make the machines, each after those whose state it reads.
    fn made_by_terraform(
        &mut self,
        inventory: &Inventory,
        settings: &UpSettings,
        described: Option<&MachineGroup>,
        keys: &[usize],
    ) -> Vec<usize> {
        let directories = by_hand::making(inventory, settings, described);
        let mut steps: BTreeMap<&str, usize> = BTreeMap::new();
        for directory in &directories {
            let step = self.terraform(Layer::Machines, &directory.path);
            self.tie_all(step, keys, &NeedReason::Credentials);
            self.runs.add(&directory.path, step);
            steps.insert(&directory.path, step);
        }
        for directory in &directories {
            let of = steps[directory.path.as_str()];
            for read in directory.reads.iter().filter_map(|read| steps.get(read.as_str())) {
                self.tie(of, *read, NeedReason::ReadsState);
            }
        }
        steps.into_values().collect()
    }

    /// Its steps: that it is on, and that it runs Talos.
    fn machine(
        &mut self,
        machine: &str,
        keys: &[usize],
        made: &[usize],
        described: Option<&MachineGroup>,
    ) -> (usize, usize) {
        let action = Action::PowerOn { machine: machine.to_owned() };
        let proof = Proof::Maintenance { machine: machine.to_owned() };
        let on = self.add(format!("machines/{machine}"), Layer::Machines, action, proof);
        self.steps[on].expected = MINUTE;
        self.tie_all(on, keys, &NeedReason::Credentials);
        self.tie_all(on, made, &NeedReason::MakesMachines);
        let action = Action::Configure { machine: machine.to_owned() };
        let proof = Proof::TalosRuns { machine: machine.to_owned() };
        let talos = self.add(format!("talos/{machine}"), Layer::Talos, action, proof);
        self.steps[talos].expected = 2 * MINUTE;
        self.steps[talos].danger = Some(Danger::InstallsOnDisk);
        let address = by_hand::address(machine, described);
        self.steps[on].by_hand.address.clone_from(&address);
        self.steps[talos].by_hand.address = address;
        self.tie(talos, on, NeedReason::MachineAnswers);
        (on, talos)
    }

    fn api(&mut self, key: &str, endpoint: &str) -> usize {
        let proof = Proof::ApiAnswers { endpoint: endpoint.to_owned() };
        let step = self.add(key.to_owned(), Layer::Api, Action::Watch, proof);
        self.steps[step].expected = MINUTE;
        self.steps[step].limits = Limits { attempts: 1, ..BY_HAND };
        step
    }
}
