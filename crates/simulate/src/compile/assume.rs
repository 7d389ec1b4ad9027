//! What nobody here makes and is taken to be there: kinds that usually come from elsewhere, and what a chart that was not seen
//! seems to make.

use yaml::{Node, Value};

use super::builder::Builder;
use super::charts::Draft;
use crate::blueprint::{Gate, Id, Role};

/// Charts whose objects are whatever their values say: a name in them is a reference.
const GENERIC_CHARTS: [&str; 3] = ["app-template", "common", "raw"];

impl Builder<'_> {
    pub(crate) fn assume(&mut self) {
        let all = (0..).map(Id).take(self.out.things.len());
        let mut assumed: Vec<Id> = all.filter(|id| self.is_from_elsewhere(*id)).collect();
        assumed.extend(self.asked_for().into_iter().filter(|id| self.may_be_of_a_chart(*id)));
        assumed.sort_unstable();
        assumed.dedup();
        assumed.retain(|id| !self.provided.contains(id));
        for id in assumed {
            let thing = self.out.thing(id);
            let is_cluster_wide = self.is_from_elsewhere(id);
            let what =
                if is_cluster_wide { format!("{} {}", thing.kind, thing.name) } else { thing.object().to_string() };
            self.out.given.push(id);
            self.out.assumed.push(what);
        }
        self.out.assumed.sort();
    }

    fn is_from_elsewhere(&self, id: Id) -> bool {
        let kind = self.out.thing(id).kind.as_str();
        matches!(kind, "CustomResourceDefinition" | "Namespace" | "StorageClass")
    }

    /// What health checks, values and variables name.
    fn asked_for(&self) -> Vec<Id> {
        let mut all = Vec::new();
        for it in &self.out.kustomizations {
            for spec in it.specs.iter().flatten() {
                if let Gate::Listed(listed) = &spec.gate {
                    all.extend(listed);
                }
            }
            let variables = it.contents.iter().flat_map(|content| &content.variables.from);
            all.extend(variables.map(|(id, _)| *id));
        }
        for spec in self.out.releases.iter().flat_map(|it| it.specs.iter().flatten()) {
            all.extend(spec.values_from.iter().map(|(id, _)| *id));
        }
        // Flux' own objects are made by people.
        let is_flux =
            |id: &Id| matches!(self.out.role(*id), Role::Kustomization(_) | Role::Release(_) | Role::Source(_));
        all.retain(|id| !is_flux(id));
        all
    }

    /// A chart that is not known makes it, by all signs.
    fn may_be_of_a_chart(&self, id: Id) -> bool {
        let is_unseen = |draft: &&Draft<'_>| draft.known.is_none() && !GENERIC_CHARTS.contains(&draft.chart.as_str());
        self.drafts.iter().filter(is_unseen).any(|draft| self.is_of(draft, id))
    }

    /// Charts call Secrets after their release; other objects are called as the values say.
    fn is_of(&self, draft: &Draft<'_>, id: Id) -> bool {
        let thing = self.out.thing(id);
        match thing.kind.as_str() {
            "Secret" | "ConfigMap" => {
                thing.namespace == draft.namespace && thing.name.starts_with(draft.release.as_str())
            }
            _ => draft.values.as_ref().is_some_and(|values| says(values, &thing.name)),
        }
    }
}

fn says(node: &Node, word: &str) -> bool {
    match &node.value {
        Value::Map(map) => map.iter().any(|entry| entry.key == word || says(&entry.value, word)),
        Value::Seq(items) => items.iter().any(|item| says(item, word)),
        Value::Scalar(scalar) => scalar.text == word,
    }
}
