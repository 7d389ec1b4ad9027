//! What a cold start must know: `world` and `up`.

use yaml::Node;

use super::{Read, SettingsError};

/// What a cold start must know and no manifest tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpSettings {
    /// The cluster is made up: steps happen in a simulated world.
    pub is_simulated: bool,
    /// Names of machines; the first control plane is the one that etcd starts on.
    pub control_planes: Vec<String>,
    pub workers: Vec<String>,
    /// Where the API server answers before the virtual address does.
    pub endpoint: Option<String>,
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
    pub directory: String,
    /// `namespace/name` of what must be ready first; nobody named: everything.
    pub needs: Vec<String>,
}

impl Read<'_> {
    pub(super) fn world(&mut self, node: &Node) -> Result<(), SettingsError> {
        match self.text(node, "`world`")?.text.as_str() {
            "simulated" => self.settings.up.is_simulated = true,
            "real" => self.settings.up.is_simulated = false,
            other => return Err(self.wrong(node.span, format!("`world` is real or simulated, not `{other}`"))),
        }
        Ok(())
    }

    pub(super) fn up(&mut self, node: &Node) -> Result<(), SettingsError> {
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
        self.machines_differ(node)
    }

    /// A machine is one thing, whatever its part.
    fn machines_differ(&self, node: &Node) -> Result<(), SettingsError> {
        let mut seen = std::collections::BTreeSet::new();
        let up = &self.settings.up;
        match up.control_planes.iter().chain(&up.workers).find(|name| !seen.insert(*name)) {
            Some(twice) => Err(self.wrong(node.span, format!("two machines are called `{twice}`"))),
            None => Ok(()),
        }
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
                return Err(self.wrong(item.span, "a part of `configuration` needs a `directory`"));
            }
            layers.push(layer);
        }
        Ok(layers)
    }
}
