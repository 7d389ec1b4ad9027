//! What never comes up in a world, whatever is done for it.

use std::collections::BTreeSet;

use model::ObjectRef;

use super::World;
use crate::blueprint::Id;

#[derive(Clone, Debug, Default)]
pub(super) struct Withheld {
    /// Kustomizations, ResourceSets and HelmReleases that are there, and that their controllers do nothing about.
    objects: BTreeSet<Id>,
    /// Releases of the bootstrap whose install fails.
    releases: BTreeSet<u32>,
    /// The bootstrap ends before it installs anything.
    seeds: bool,
}

impl World<'_> {
    /// The same world in which these never come up: objects that Flux looks after, and releases of the bootstrap by `namespace/name`.
    /// Where one of them is neither, it is something that the bootstrap applies as it is, and the bootstrap fails there.
    #[must_use]
    pub fn withholding<'o>(
        mut self,
        objects: impl IntoIterator<Item = &'o ObjectRef>,
        steps: impl IntoIterator<Item = &'o str>,
    ) -> Self {
        let found = |object: &ObjectRef| self.blueprint.find(&object.kind, &object.namespace, &object.name);
        self.withheld.objects = objects.into_iter().filter_map(found).collect();
        for step in steps {
            match self.blueprint.early_named(step) {
                Some(release) => _ = self.withheld.releases.insert(release),
                None => self.withheld.seeds = true,
            }
        }
        self
    }

    pub(super) fn is_withheld(&self, id: Id) -> bool {
        self.withheld.objects.contains(&id)
    }

    pub(super) fn is_release_withheld(&self, release: u32) -> bool {
        self.withheld.releases.contains(&release)
    }

    pub(super) fn are_seeds_withheld(&self) -> bool {
        self.withheld.seeds
    }
}
