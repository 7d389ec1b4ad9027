//! What one run of Terraform does, as a chain: its blocks, what orders them, what its provisioners run, and the files and states by
//! which it hands over to other runs.
//!
//! Knows the language: references through locals, variables, inputs and outputs of modules at any depth, `depends_on`, providers and
//! their aliases. Does not know what a type of resource needs or proves: that is `catalogue`'s.

mod arguments;
mod blind;
mod block;
mod build;
mod edge;
mod hand_over;
mod lock;
mod origins;
mod provisioner;
mod references;
mod resolve;
mod script_text;
mod sites;
#[cfg(test)]
mod tests;

pub use arguments::{Argument, Form};
pub use blind::{Blind, WhyBlind};
pub use block::{Block, BlockId, BlockKind};
pub use edge::{Edge, Why};
pub use hand_over::{Backend, FileUse, StateRead};
pub use provisioner::{Provisioner, ProvisionerKind};
pub use script_text::ScriptText;

pub(crate) use build::chain;

use std::collections::BTreeMap;

use source::Span;

/// What a root requires of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Requirement {
    /// `hashicorp/helm`; without a source it is `hashicorp/` and its name.
    pub source: String,
    /// All constraints on its version, of the root and of the modules that it calls.
    pub versions: Vec<String>,
    /// The version that `.terraform.lock.hcl` beside the root has.
    pub locked: Option<String>,
    /// Where the first of them stands.
    pub at: Option<Span>,
}

/// A directory that `terraform apply` is run in, with all that the run does.
#[derive(Clone, Debug, Default)]
pub struct Chain {
    pub root: String,
    pub blocks: Vec<Block>,
    /// By the block that waits, in the order of the blocks.
    pub edges: Vec<Edge>,
    /// Of each block, where its edges begin.
    starts: Vec<usize>,
    /// By local name.
    pub requirements: BTreeMap<String, Requirement>,
    pub backend: Option<Backend>,
    /// OpenTofu encrypts it.
    pub is_state_encrypted: bool,
    /// Flux applies it, through tofu-controller.
    pub is_applied_by_flux: bool,
    pub states: Vec<StateRead>,
    pub written: Vec<FileUse>,
    pub read: Vec<FileUse>,
    pub blind: Vec<Blind>,
    /// Scalars of arguments that were understood, and all of them.
    pub understood: (usize, usize),
}

impl Chain {
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    pub fn ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId::new)
    }

    /// Every block with its id.
    pub fn iter(&self) -> impl Iterator<Item = (BlockId, &Block)> {
        self.ids().zip(&self.blocks)
    }

    pub fn find(&self, address: &str) -> Option<BlockId> {
        self.blocks.iter().position(|block| block.address == address).map(BlockId::new)
    }

    /// What a block waits for, and why.
    pub fn waits_for(&self, id: BlockId) -> &[Edge] {
        let end = self.starts.get(id.index() + 1).copied().unwrap_or(self.edges.len());
        let start = self.starts.get(id.index()).copied().unwrap_or(end);
        self.edges.get(start..end).unwrap_or_default()
    }

    /// Whether a block is done before another starts.
    pub fn is_before(&self, first: BlockId, then: BlockId) -> bool {
        self.all_before(then).get(first.index()).copied().unwrap_or(false)
    }

    /// For each block whether it is done before this one starts.
    pub fn all_before(&self, id: BlockId) -> Vec<bool> {
        let mut before = vec![false; self.blocks.len()];
        let mut open = vec![id];
        while let Some(next) = open.pop() {
            for edge in self.waits_for(next) {
                let seen = &mut before[edge.to.index()];
                if !std::mem::replace(seen, true) {
                    open.push(edge.to);
                }
            }
        }
        before
    }

    /// Whether a data source is read when the first plan is made, when no resource exists yet: not if it depends on a resource by
    /// `depends_on`, or on what only a made resource tells.
    pub fn is_read_at_plan(&self, id: BlockId) -> bool {
        let block = self.block(id);
        let defers =
            |edge: &Edge| edge.is_computed || edge.why.is_explicit() && self.block(edge.to).kind == BlockKind::Resource;
        block.kind == BlockKind::Data && block.count != Some(0) && !self.waits_for(id).iter().any(defers)
    }

    /// What is required of the provider of a block.
    pub fn requirement(&self, block: &Block) -> Option<&Requirement> {
        self.requirements.get(&block.provider)
    }
}
