//! From a reason to the fact behind it: whom it waits for, whom that one waits for, and so on.

use super::World;
use crate::blueprint::{Id, Role};
use crate::event::Reason;

/// Nobody reads a longer one.
const CHAIN_MAX: usize = 12;

impl World<'_> {
    /// A reason, and the reasons behind it; the last is what everything comes down to.
    pub fn trace(&self, first: Reason) -> Vec<Reason> {
        let mut chain = vec![first];
        while let Some(next) = chain.last().and_then(|reason| self.behind(*reason)) {
            if chain.len() == CHAIN_MAX || chain.contains(&next) {
                break;
            }
            chain.push(next);
        }
        // That something is missing or late says nothing where the next one says why.
        let last = chain.len() - 1;
        let says_little = |reason: &Reason| matches!(reason, Reason::NotReady(_) | Reason::NotThere(_));
        let kept = chain.iter().enumerate().filter(|(at, reason)| *at == last || !says_little(reason));
        kept.map(|(_, reason)| *reason).collect()
    }

    /// A reason and the reasons behind it, in words.
    pub fn say_trace(&self, first: Reason) -> String {
        let said: Vec<String> = self.trace(first).into_iter().map(|reason| reason.say(self.blueprint)).collect();
        said.join(" ← ")
    }

    fn behind(&self, reason: Reason) -> Option<Reason> {
        let thing = |id: Id| self.blueprint.thing(id);
        match reason {
            Reason::DependencyNotReady(on)
            | Reason::HealthTimeout(on)
            | Reason::HealthStalled(on)
            | Reason::InstallTimeout(on)
            | Reason::SourceNotReady(on)
            | Reason::WaitsFor(_, on) => self.fact(on),
            Reason::NotReady(on) => self.stuck(on),
            Reason::NotThere(on)
            | Reason::SourceNotFound(on)
            | Reason::ValuesNotFound(on)
            | Reason::VariablesNotFound(on)
            | Reason::KeyNotFound(on) => self.fact(self.blueprint.made_by[on.index()]?),
            Reason::NoMatch(on) => self.fact(thing(on).definition?),
            Reason::NamespaceNotFound(on) => self.fact(thing(on).home?),
            _ => None,
        }
    }

    /// Why something is not ready; nothing where it is.
    fn fact(&self, on: Id) -> Option<Reason> {
        if self.exists(on) && self.is_ready(on) {
            return None;
        }
        if self.has_no_key(on) { Some(Reason::Sealed(on)) } else { Some(self.unready_reason(on)) }
    }

    fn has_no_key(&self, on: Id) -> bool {
        let Role::Custom(at) = self.blueprint.role(on) else { return false };
        self.blueprint.customs[at as usize].is_sealed && self.exists(on) && !self.has_sealing_key()
    }

    /// Pods that have all they need and do not come up.
    fn stuck(&self, on: Id) -> Option<Reason> {
        let Role::Workload(at) = self.blueprint.role(on) else { return None };
        let fault = self.disturbance.holds_up(at, &self.blueprint.workloads[at as usize], self.now)?;
        Some(Reason::Stuck(on, fault))
    }
}
