//! What must be there or ready for a thing to become ready, whatever the state of a boot: the other direction of who looks again when
//! something changes.

use crate::blueprint::{Blueprint, Id, Prerequisite, ThingRole};
use crate::event::Reason;

impl Blueprint {
    /// Who makes a thing: a Kustomization, a release, a custom resource; nobody where it is given or done by hand.
    pub fn maker(&self, id: Id) -> Option<Id> {
        self.made_by[id.index()]
    }

    /// What a reason says is not there.
    pub fn missed(&self, reason: Reason) -> Option<Id> {
        match reason {
            Reason::NoMatch(object) => self.thing(object).definition,
            Reason::NamespaceNotFound(object) => self.thing(object).home,
            Reason::VariablesNotFound(id)
            | Reason::ValuesNotFound(id)
            | Reason::KeyNotFound(id)
            | Reason::SourceNotFound(id)
            | Reason::DependencyNotFound(id)
            | Reason::NotThere(id)
            | Reason::WaitsFor(_, id) => Some(id),
            _ => None,
        }
    }

    /// All that must be there or ready for a thing to become ready once it exists. Directly, not further on.
    pub fn prerequisites(&self, id: Id) -> Vec<Id> {
        let thing = self.thing(id);
        let mut all: Vec<Id> = Vec::new();
        all.extend(thing.definition.into_iter().chain(thing.home));
        all.extend(&thing.webhooks);
        let mut needs = |needs: &[Prerequisite]| all.extend(needs.iter().map(|need| need.id));
        match thing.role {
            ThingRole::Workload(at) => {
                let workload = &self.workloads[at as usize];
                needs(&workload.needs);
                needs(&workload.crashes_without);
            }
            ThingRole::Custom(at) => {
                let custom = &self.customs[at as usize];
                needs(&custom.controller);
                needs(&custom.needs);
                all.extend(&custom.makes);
            }
            ThingRole::Derived(at) => self.derived[at as usize].any.iter().for_each(|any| needs(any)),
            ThingRole::Webhook(at) => all.extend(&self.webhooks[at as usize].servers),
            ThingRole::Kustomization(at) => self.kustomization_prerequisites(at, &mut all),
            ThingRole::Release(at) => self.release_prerequisites(at, &mut all),
            ThingRole::Plain | ThingRole::Definition | ThingRole::Source(_) => {}
        }
        all
    }

    fn kustomization_prerequisites(&self, at: u32, all: &mut Vec<Id>) {
        let it = &self.kustomizations[at as usize];
        for spec in it.specs.iter().flatten() {
            all.extend(spec.depends_on.iter().map(|dependency| dependency.on));
            all.extend(spec.source);
        }
        for content in &it.contents {
            all.extend(content.first.iter().chain(&content.classes).chain(&content.rest));
            all.extend(content.health.iter().map(|(id, _)| *id));
            all.extend(content.variables.from.iter().map(|(id, _)| *id));
            all.extend(content.variables.key);
        }
    }

    fn release_prerequisites(&self, at: u32, all: &mut Vec<Id>) {
        for spec in self.releases[at as usize].specs.iter().flatten() {
            all.extend(spec.depends_on.iter().map(|dependency| dependency.on));
            all.extend(spec.source);
            all.extend(spec.values_from.iter().map(|(id, _)| *id));
            let chart = &spec.chart;
            all.extend(chart.definitions.iter().chain(&chart.objects).chain(&chart.waits_for));
        }
    }
}
