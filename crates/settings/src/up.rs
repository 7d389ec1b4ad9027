//! What a cold start must know: `world` and `up`.

use source::Span;
use yaml::Node;

use crate::failure::{Problem, SettingsError};
use crate::read::Read;

/// Steps of every plan that stand beside those of the machines.
const TAKEN: [&str; 2] = ["etcd", "secrets"];

/// What a cold start must know and no manifest tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpSettings {
    /// The cluster is made up: steps happen in a simulated world.
    pub is_simulated: bool,
    /// Names of machines; the first control plane is the one that etcd starts on.
    pub control_planes: Vec<String>,
    /// Names of machines.
    pub workers: Vec<String>,
    /// Where the API server answers before the virtual address does.
    pub endpoint: Option<String>,
    /// The virtual address of the API server.
    pub vip: Option<String>,
    /// Terraform directories that outlive the cluster, in their order.
    pub keys: Vec<String>,
    /// Terraform directories that speak to services, in their order.
    pub configuration: Vec<Configuration>,
    /// What must answer from outside in the end.
    pub outside: Vec<String>,
}

/// A Terraform directory that speaks to the APIs of services.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// From the root of the repository.
    pub directory: String,
    /// `namespace/name` of what must be ready first; none named: everything.
    pub needs: Vec<String>,
}

impl Read<'_> {
    pub(crate) fn world(&mut self, node: &Node) -> Result<(), SettingsError> {
        match self.text(node, "`world`")?.text.as_str() {
            "simulated" => self.settings.up.is_simulated = true,
            "real" => self.settings.up.is_simulated = false,
            other => return Err(self.wrong(node.span, Problem::World(other.to_owned()))),
        }
        Ok(())
    }

    pub(crate) fn up(&mut self, node: &Node) -> Result<(), SettingsError> {
        const KEYS: [&str; 7] = ["configuration", "control-planes", "endpoint", "keys", "outside", "vip", "workers"];
        for entry in self.entries(node, "`up`")? {
            let value = &entry.value;
            match entry.key.as_str() {
                "configuration" => self.settings.up.configuration = self.configuration(value)?,
                "control-planes" => self.settings.up.control_planes = self.texts(value, "`control-planes`")?,
                "endpoint" => self.settings.up.endpoint = Some(self.text(value, "`endpoint`")?.text),
                "keys" => self.settings.up.keys = self.texts(value, "`keys`")?,
                "outside" => self.settings.up.outside = self.texts(value, "`outside`")?,
                "vip" => self.settings.up.vip = Some(self.text(value, "`vip`")?.text),
                "workers" => self.settings.up.workers = self.texts(value, "`workers`")?,
                _ => return Err(self.unknown(entry, &KEYS)),
            }
        }
        self.machines_differ(node)?;
        self.directories_differ(node)?;
        let urls = node.items_at("outside").iter().filter_map(|url| Some((url.as_str()?, url.span)));
        self.differ(urls, Problem::OutsideTwice)
    }

    /// A machine is one thing, whatever its part, and steps are called after it.
    fn machines_differ(&self, node: &Node) -> Result<(), SettingsError> {
        let (control_planes, workers) = (node.items_at("control-planes"), node.items_at("workers"));
        let named = || control_planes.iter().chain(workers).filter_map(|name| Some((name.as_str()?, name.span)));
        if let Some((name, span)) = named().find(|(name, _)| TAKEN.contains(name)) {
            return Err(self.wrong(span, Problem::MachineTaken(name.to_owned())));
        }
        self.differ(named(), Problem::MachineTwice)?;
        match workers.first().filter(|_| control_planes.is_empty()) {
            Some(worker) => Err(self.wrong(worker.span, Problem::WorkersAlone)),
            None => Ok(()),
        }
    }

    /// What is applied twice would be one step twice.
    fn directories_differ(&self, node: &Node) -> Result<(), SettingsError> {
        let keys = node.items_at("keys").iter();
        let layers = node.items_at("configuration").iter().filter_map(|layer| layer.get("directory"));
        let named = keys.chain(layers).filter_map(|directory| {
            let plain = directory.as_str()?.trim_start_matches("./").trim_end_matches('/');
            Some((plain, directory.span))
        });
        self.differ(named, Problem::DirectoryTwice)
    }

    /// The second of two that are alike is the mistake.
    fn differ<'n>(
        &self,
        named: impl Iterator<Item = (&'n str, Span)>,
        problem: impl Fn(String) -> Problem,
    ) -> Result<(), SettingsError> {
        let mut seen = std::collections::BTreeSet::new();
        for (name, span) in named {
            if !seen.insert(name) {
                return Err(self.wrong(span, problem(name.to_owned())));
            }
        }
        Ok(())
    }

    fn configuration(&self, node: &Node) -> Result<Vec<Configuration>, SettingsError> {
        let mut layers = Vec::new();
        for item in self.items(node, "`configuration`")? {
            let mut layer = Configuration::default();
            for entry in self.entries(item, "a part of `configuration`")? {
                match entry.key.as_str() {
                    "directory" => layer.directory = self.text(&entry.value, "`directory`")?.text,
                    "needs" => layer.needs = self.texts(&entry.value, "`needs`")?,
                    _ => return Err(self.unknown(entry, &["directory", "needs"])),
                }
            }
            if layer.directory.is_empty() {
                return Err(self.wrong(item.span, Problem::NoDirectory));
            }
            layers.push(layer);
        }
        Ok(layers)
    }
}
