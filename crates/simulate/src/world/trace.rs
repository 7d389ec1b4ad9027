//! From a reason to the fact behind it: what it waits for, what that waits for, and so on.

use super::World;
use crate::blueprint::{Id, ThingRole};
use crate::event::Reason;

/// A longer one is not read.
const CHAIN_MAX: usize = 12;

impl World<'_> {
    /// A reason, and the reasons behind it; the last is what everything comes down to.
    pub fn trace(&self, first: Reason) -> Vec<Reason> {
        self.follow(first).0
    }

    /// The same, and whether the last one waits for one before it in turn.
    pub(crate) fn follow(&self, first: Reason) -> (Vec<Reason>, bool) {
        let mut chain = vec![first];
        let mut is_circle = false;
        while let Some(next) = chain.last().and_then(|reason| self.behind(*reason)) {
            is_circle = chain.contains(&next);
            if chain.len() == CHAIN_MAX || is_circle {
                break;
            }
            chain.push(next);
        }
        // That something is missing or late says nothing where the next one says why.
        let last = chain.len() - 1;
        let says_little = |reason: &Reason| matches!(reason, Reason::NotReady(_) | Reason::NotThere(_));
        let kept = chain.iter().enumerate().filter(|(at, reason)| *at == last || !says_little(reason));
        (kept.map(|(_, reason)| *reason).collect(), is_circle)
    }

    fn behind(&self, reason: Reason) -> Option<Reason> {
        let thing = |id: Id| self.blueprint.thing(id);
        match reason {
            Reason::DependencyNotReady(on)
            | Reason::HealthTimeout(on)
            | Reason::HealthChecks(on, _)
            | Reason::HealthStalled(on)
            | Reason::Installs(on, _)
            | Reason::InstallTimeout(on)
            | Reason::SourceNotReady(on)
            | Reason::WaitsFor(_, on) => self.fact(on),
            Reason::NotReady(on) => self.stuck(on),
            Reason::NotThere(on)
            | Reason::SourceNotFound(on)
            | Reason::ValuesNotFound(on)
            | Reason::VariablesNotFound(on)
            | Reason::KeyNotFound(on) => self.unmade(on, self.blueprint.made_by[on.index()]?),
            Reason::NoMatch(on) => self.fact(thing(on).definition?),
            Reason::NamespaceNotFound(on) => self.fact(thing(on).home?),
            Reason::WebhookDown(_, webhook, _) => Some(Reason::WaitsFor(webhook, self.unready_server(webhook)?)),
            _ => None,
        }
    }

    /// Why something was not made. A build that fails names no object: then its Kustomization is named first.
    fn unmade(&self, on: Id, maker: Id) -> Option<Reason> {
        match self.fact(maker)? {
            Reason::BuildFailed(_) | Reason::UndefinedVariable(_) => Some(Reason::WaitsFor(on, maker)),
            reason => Some(reason),
        }
    }

    /// Why something is not ready; nothing where it is.
    fn fact(&self, on: Id) -> Option<Reason> {
        if self.exists(on) && self.is_ready(on) {
            return None;
        }
        if self.has_no_key(on) {
            return Some(Reason::Sealed(on));
        }
        match self.unready_reason(on) {
            Reason::Suspended => Some(Reason::IsSuspended(on)),
            reason => Some(reason),
        }
    }

    fn has_no_key(&self, on: Id) -> bool {
        let ThingRole::Custom(at) = self.blueprint.role(on) else { return false };
        self.blueprint.customs[at as usize].is_sealed && self.exists(on) && !self.has_sealing_key()
    }

    /// Why something is not ready that has all it needs.
    fn stuck(&self, on: Id) -> Option<Reason> {
        match self.blueprint.role(on) {
            ThingRole::Workload(at) => self.pod_fact(at),
            ThingRole::Source(at) if self.git_is_away(at) => Some(Reason::GitDown(on)),
            _ => self.is_armed(on).then_some(Reason::UnderWay(on)),
        }
    }
}
