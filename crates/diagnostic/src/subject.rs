use std::fmt;

use model::{Capability, CapabilityKind};

use crate::symptom::Missed;

/// What a finding is about beside the component that has it and the one that provides it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// Something that is needed.
    Capability(Capability),
}

impl Subject {
    /// Whether it is the kind of a custom resource.
    pub fn is_crd(&self) -> bool {
        let Self::Capability(capability) = self;
        capability.kind == CapabilityKind::Crd
    }

    /// Whether it is what was seen to be missed.
    pub(crate) fn is_missed(&self, missed: &Missed) -> bool {
        let Self::Capability(capability) = self;
        missed.is(capability)
    }
}

impl From<Capability> for Subject {
    fn from(capability: Capability) -> Self {
        Self::Capability(capability)
    }
}

/// The form in which programs and baselines know it.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Capability(capability) = self;
        capability.fmt(f)
    }
}
