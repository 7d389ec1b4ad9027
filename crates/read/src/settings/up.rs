//! What a cold start must know: `world` and `up`.

use yaml::{Node, Span};

use super::{Read, SettingsError};

/// Steps of every plan that stand beside those of the machines.
const TAKEN: [&str; 2] = ["etcd", "secrets"];

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
        self.machines_differ(node)?;
        self.directories_differ(node)?;
        let urls = node.items_at("outside").iter().filter_map(|url| Some((url.as_str()?, url.span)));
        self.differ(urls, |url| format!("`outside` names `{url}` twice"))
    }

    /// A machine is one thing, whatever its part, and steps are called after it.
    fn machines_differ(&self, node: &Node) -> Result<(), SettingsError> {
        let (control_planes, workers) = (node.items_at("control-planes"), node.items_at("workers"));
        let named = || control_planes.iter().chain(workers).filter_map(|name| Some((name.as_str()?, name.span)));
        if let Some((name, span)) = named().find(|(name, _)| TAKEN.contains(name)) {
            return Err(
                self.wrong(span, format!("no machine can be called `{name}`: a step of the plan is `talos/{name}`"))
            );
        }
        self.differ(named(), |name| format!("two machines are called `{name}`"))?;
        match workers.first().filter(|_| control_planes.is_empty()) {
            Some(worker) => Err(self.wrong(worker.span, "`workers` need `control-planes`: etcd starts on the first")),
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
        self.differ(named, |directory| format!("the directory `{directory}` is named twice"))
    }

    /// The second of two that are alike is the mistake.
    fn differ<'n>(
        &self,
        named: impl Iterator<Item = (&'n str, Span)>,
        say: impl Fn(&str) -> String,
    ) -> Result<(), SettingsError> {
        let mut seen = std::collections::BTreeSet::new();
        for (name, span) in named {
            if !seen.insert(name) {
                return Err(self.wrong(span, say(name)));
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
                return Err(self.wrong(item.span, "a part of `configuration` needs a `directory`"));
            }
            layers.push(layer);
        }
        Ok(layers)
    }
}
