//! A block that a run of Terraform does something with.

use source::Span;

use super::arguments::Argument;
use super::provisioner::Provisioner;

/// A block, by its place in its chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId(u32);

impl BlockId {
    pub(super) fn new(index: usize) -> Self {
        Self(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Its place in its chain.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BlockKind {
    Resource,
    Data,
    /// The configuration of a provider.
    Provider,
    /// The call of a module.
    Module,
    /// An output of the root.
    Output,
}

/// One block, however many objects it stands for.
#[derive(Clone, Debug)]
pub struct Block {
    /// `module.nodes.talos_machine_bootstrap.this`, `data.http.health`, `provider.helm.east`.
    pub address: String,
    pub kind: BlockKind,
    /// Of a resource or data source; the name of a provider.
    pub type_name: String,
    pub name: String,
    /// Its first line, up to its last label.
    pub at: Span,
    /// How many of it there are, if that is known.
    pub count: Option<usize>,
    /// Which: keys of its module and its own, with `/` between them. Empty for one that has none.
    pub keys: Vec<String>,
    /// The local name of its provider.
    pub provider: String,
    /// The `provider` block that configures its provider.
    pub configuration: Option<BlockId>,
    /// What it is given. Where there are several of it, of the first.
    pub arguments: Vec<Argument>,
    pub provisioners: Vec<Provisioner>,
    /// The directory of the module that it is written in.
    pub directory: String,
}

impl Block {
    /// An argument by its path through blocks and objects.
    pub fn argument(&self, path: &[&str]) -> Option<&Argument> {
        self.arguments
            .iter()
            .find(|argument| argument.path.iter().map(ecow::EcoString::as_str).eq(path.iter().copied()))
    }

    /// The value of an argument, if it is known whole.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.argument(path)?.known()
    }

    /// The truth of an argument, if it is known.
    pub fn truth(&self, path: &[&str]) -> Option<bool> {
        self.text(path)?.parse().ok()
    }

    /// Whether there may be any of it.
    pub fn may_exist(&self) -> bool {
        self.count != Some(0)
    }
}
