//! All providers that are known, and how to find what is known of a type.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use yaml::Node;

use crate::decode::{DecodeError, decode};
use crate::provider::{Kept, Moment, Proof, Provider, ResourceType, Service, ServiceNeed, Wait, WantsValues};
use crate::version::Range;

static EMBEDDED: LazyLock<Providers> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/providers.json"));
    let providers: Vec<Provider> = serde_json::from_str(json).expect("the build script wrote it from these very types");
    Providers::new(providers)
});

/// All providers that are known.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    /// By name.
    all: BTreeMap<String, Provider>,
    /// Names, by address.
    addresses: BTreeMap<String, String>,
}

/// What is known of one type in the version that a run takes.
#[derive(Clone, Copy, Debug)]
pub struct Known<'p> {
    pub provider: &'p Provider,
    /// Nothing where only its provider is known.
    pub kind: Option<&'p ResourceType>,
}

impl Providers {
    /// What this build knows.
    pub fn embedded() -> &'static Self {
        &EMBEDDED
    }

    pub fn new(providers: Vec<Provider>) -> Self {
        let mut known = Self::default();
        known.extend(providers);
        known
    }

    /// With a user's own: one of a known name replaces what was known under it.
    pub fn with_additions(&self, extra: Vec<Provider>) -> Self {
        let mut known = self.clone();
        known.extend(extra);
        known
    }

    fn extend(&mut self, providers: Vec<Provider>) {
        for provider in providers {
            for address in &provider.addresses {
                self.addresses.insert(address.clone(), provider.name.clone());
            }
            self.all.insert(provider.name.clone(), provider);
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Provider> {
        self.all.values()
    }

    /// A provider by its address, or by its local name where the address says nothing.
    pub fn find(&self, name: &str, address: Option<&str>) -> Option<&Provider> {
        match address {
            // Another one of the same name is another one, but where only a registry differs.
            Some(address) => self.all.get(self.addresses.get(address)?),
            None => self.all.get(name),
        }
    }

    /// What is known of a type where these constraints hold, each of which Terraform heeds. Where several entries could be meant, that
    /// of the newest version, which Terraform takes.
    pub fn known<'p>(
        &'p self,
        (name, address): (&str, Option<&str>),
        constraints: &[String],
        kind: &str,
        is_data: bool,
    ) -> Option<Known<'p>> {
        let provider = self.find(name, address)?;
        let wanted = constraints.iter().map(|text| Range::parse(text)).fold(Range::ALL, Range::and);
        let fits = |one: &&ResourceType| one.data == is_data && range(one).meets(wanted);
        let exact = |one: &&ResourceType| one.names.iter().any(|name| name == kind);
        let wide = |one: &&ResourceType| one.names.iter().any(|name| covers(name, kind));
        let newest = |of: &dyn Fn(&&ResourceType) -> bool| {
            provider.types.iter().filter(fits).filter(|one| of(one)).max_by_key(|one| range(one).low())
        };
        Some(Known { provider, kind: newest(&exact).or_else(|| newest(&wide)) })
    }
}

fn range(kind: &ResourceType) -> Range {
    kind.versions.as_deref().map_or(Range::ALL, Range::parse)
}

fn covers(pattern: &str, kind: &str) -> bool {
    pattern.strip_suffix('*').is_some_and(|start| kind.starts_with(start))
}

impl<'p> Known<'p> {
    /// What must answer, and when.
    pub fn needs(&self) -> &'p [ServiceNeed] {
        self.kind.and_then(|kind| kind.needs.as_deref()).unwrap_or(&self.provider.needs)
    }

    /// Whether it needs a service at a moment, whatever switches say.
    pub fn may_need(&self, what: Service, when: Moment) -> bool {
        self.needs().iter().any(|need| need.what == what && need.when == when)
    }

    /// For how long it tries again; nothing where a failure stops the run.
    pub fn retries_seconds(&self) -> Option<u32> {
        self.kind.and_then(|kind| kind.retries_seconds).or(self.provider.retries_seconds)
    }

    pub fn proves(&self) -> &'p [Proof] {
        self.kind.map(|kind| kind.proves.as_slice()).unwrap_or_default()
    }

    pub fn waits(&self) -> Option<&'p Wait> {
        self.kind.and_then(|kind| kind.waits.as_ref())
    }

    pub fn keeps(&self) -> &'p [Kept] {
        self.kind.map(|kind| kind.keeps.as_slice()).unwrap_or_default()
    }
}

impl Provider {
    /// Whether its configuration may hold what is not known before the first run, but for what a switch says.
    pub fn wants_values(&self, constraints: &[String]) -> Option<&WantsValues> {
        let wanted = constraints.iter().map(|text| Range::parse(text)).fold(Range::ALL, Range::and);
        let holds = |wants: &&WantsValues| wants.versions.as_deref().map_or(Range::ALL, Range::parse).meets(wanted);
        self.wants_values.as_ref().filter(holds)
    }

    /// Reads an entry that a user wrote.
    pub fn from_node(node: &Node) -> Result<Self, DecodeError> {
        decode(node)
    }
}
