//! What is not made here and is taken to be there: kinds that usually come from elsewhere, what nothing starts without (sources,
//! variables, values), what a chart that was not seen seems to make, and the kinds of the pod network where no file tells who installs it.

use std::collections::BTreeSet;

use ecow::EcoString;
use model::{ObjectRef, is_slip};
use read::rendered::Rendered;
use yaml::{Node, Value};

use super::builder::{Builder, SOURCE};
use super::charts::Draft;
use crate::blueprint::{Content, Gate, Id, Thing, ThingRole};

impl Builder<'_> {
    pub(crate) fn assume(&mut self, revisions: &[Rendered]) {
        let all = (0..).map(Id).take(self.out.things.len());
        let mut assumed: Vec<Id> = all.filter(|id| self.is_from_elsewhere(*id)).collect();
        let charts = self.unseen_charts();
        assumed.extend(self.asked_for().into_iter().filter(|id| charts.may_make(self.out.thing(*id))));
        assumed.extend(self.looked_at());
        assumed.extend(self.started_with(&self.hidden(revisions)));
        assumed.retain(|id| !self.provided.contains(id));
        assumed.extend(self.kinds_of_the_network());
        assumed.extend(self.made_too_late());
        // Flux is started with its first source.
        let given = revisions.iter().flat_map(|rendered| &rendered.appliers).filter(|applier| applier.is_given);
        let first: Vec<Id> = given
            .filter_map(|applier| applier.source.as_ref())
            .filter_map(|source| self.find(SOURCE, &source.kind, &source.namespace, &source.name))
            .collect();
        assumed.retain(|id| !first.contains(id));
        assumed.sort_unstable();
        assumed.dedup();
        let things: Vec<Thing> = assumed.into_iter().map(|id| self.out.thing(id).clone()).collect();
        self.out.assume(things.iter());
    }

    fn is_from_elsewhere(&self, id: Id) -> bool {
        let kind = self.out.thing(id).kind.as_str();
        matches!(kind, "CustomResourceDefinition" | "Namespace" | "StorageClass")
    }

    /// What values and variables name.
    fn asked_for(&self) -> Vec<Id> {
        let contents = self.out.kustomizations.iter().flat_map(|it| &it.contents);
        let variables = contents.flat_map(|content| &content.variables.from);
        let specs = self.out.releases.iter().flat_map(|it| it.specs.iter().flatten());
        let values = specs.flat_map(|spec| &spec.values_from);
        variables.chain(values).map(|(id, _)| *id).collect()
    }

    /// What health checks name: a chart or an operator makes it, where no file does. Flux' own objects are made by people, and so is a
    /// workload that the Kustomization itself applies under nearly that name, in a namespace without charts.
    fn looked_at(&self) -> Vec<Id> {
        let charts: BTreeSet<&str> = self.drafts.iter().map(|draft| draft.namespace.as_str()).collect();
        let mut all = Vec::new();
        for it in &self.out.kustomizations {
            for (spec, content) in it.specs.iter().zip(&it.contents) {
                let Some(Gate::Listed(listed)) = spec.as_ref().map(|spec| &spec.gate) else { continue };
                let is_made = |id: &&Id| match self.out.role(**id) {
                    ThingRole::Kustomization(_) | ThingRole::Release(_) | ThingRole::Source(_) => false,
                    ThingRole::Workload(_) => {
                        charts.contains(self.out.thing(**id).namespace.as_str()) || !self.is_misspelt(**id, content)
                    }
                    _ => true,
                };
                all.extend(listed.iter().filter(is_made).copied());
            }
        }
        all
    }

    fn is_misspelt(&self, id: Id, content: &Content) -> bool {
        let thing = self.out.thing(id);
        let mut applied = content.rest.iter().map(|applied| self.out.thing(*applied));
        applied.any(|it| it.kind == thing.kind && it.namespace == thing.namespace && is_slip(&thing.name, &it.name))
    }

    /// Sources, and the variables and values that are not optional. What no file here makes was seeded from elsewhere: a boot would
    /// not begin without it, and says nothing then.
    fn started_with(&self, hidden: &[Option<Id>]) -> Vec<Id> {
        let mut all = Vec::new();
        let needed = |from: &[(Id, bool)]| {
            from.iter().filter(|(_, is_optional)| !is_optional).map(|(id, _)| *id).collect::<Vec<_>>()
        };
        for it in &self.out.kustomizations {
            all.extend(self.of_others(hidden, it.id, it.specs.iter().flatten().filter_map(|spec| spec.source)));
            all.extend(it.contents.iter().flat_map(|content| needed(&content.variables.from)));
        }
        for release in &self.out.releases {
            all.extend(self.of_others(
                hidden,
                release.id,
                release.specs.iter().flatten().filter_map(|spec| spec.source),
            ));
        }
        for spec in self.out.releases.iter().flat_map(|it| it.specs.iter().flatten()) {
            all.extend(needed(&spec.values_from));
        }
        all
    }

    /// The sources of Kustomizations whose content was not seen.
    fn hidden(&self, revisions: &[Rendered]) -> Vec<Option<Id>> {
        let unseen = revisions.iter().flat_map(|rendered| &rendered.appliers).filter(|applier| applier.is_unseen);
        let source = |of: &ObjectRef| self.find(SOURCE, &of.kind, &of.namespace, &of.name);
        unseen.map(|applier| applier.source.as_ref().and_then(source)).collect()
    }

    /// A source of the same namespace would be here, too. A shared one may be made by what was not seen; but not by what comes from that
    /// source itself.
    fn of_others(&self, hidden: &[Option<Id>], id: Id, sources: impl Iterator<Item = Id>) -> Vec<Id> {
        let home = &self.out.thing(id).namespace;
        let may_be_made = |source: &Id| hidden.iter().any(|from| *from != Some(*source));
        sources.filter(|source| self.out.thing(*source).namespace != *home && may_be_made(source)).collect()
    }

    /// Variables and the key that a Kustomization can't be built without and that only it would apply: the bootstrap has made them before.
    fn made_too_late(&self) -> Vec<Id> {
        let own = |content: &Content| -> Vec<Id> {
            let applied = |id: &Id| {
                let maker = self.made_by.get(id);
                content.rest.contains(id) || maker.is_some_and(|maker| content.rest.contains(maker))
            };
            let needed = content.variables.from.iter().filter(|(_, is_optional)| !is_optional).map(|(id, _)| *id);
            needed.chain(content.variables.key).filter(applied).collect()
        };
        self.out.kustomizations.iter().flat_map(|it| it.contents.iter().flat_map(own)).collect()
    }

    /// Pods run before Flux does. Where the bootstrap that was read brings no pod network and Flux adopts one, it was installed before, and its
    /// kinds are known.
    fn kinds_of_the_network(&self) -> Vec<Id> {
        let gives = |draft: &&Draft<'_>| {
            draft.known.is_some_and(|known| known.gives.iter().any(|gift| gift.capability == "pod-network"))
        };
        let early = self.early.iter().filter_map(|(of, _)| self.catalogue.by_chart(&of.chart));
        let mut early = early.flat_map(|known| &known.gives);
        if early.any(|gift| gift.capability == "pod-network") {
            return Vec::new();
        }
        let kinds = self.drafts.iter().filter(gives).filter_map(|draft| draft.known).flat_map(|known| &known.crds);
        let patterns: Vec<&str> = kinds.flat_map(|crds| &crds.kinds).map(String::as_str).collect();
        let is_of = |(group, kind): &(EcoString, EcoString)| {
            patterns.iter().any(|pattern| {
                pattern.split_once('/').is_some_and(|(of, one)| of == group && (one == "*" || one == kind))
            })
        };
        self.definitions.iter().filter(|(key, _)| is_of(key)).map(|(_, id)| *id).collect()
    }

    fn unseen_charts(&self) -> UnseenCharts<'_> {
        let is_unseen = |draft: &&Draft<'_>| draft.known.is_none() && !catalogue::is_generic_chart(&draft.chart);
        let mut charts = UnseenCharts { releases: BTreeSet::new(), words: BTreeSet::new() };
        for draft in self.drafts.iter().filter(is_unseen) {
            charts.releases.insert((&draft.namespace, &draft.release));
            if let Some(values) = &draft.values {
                add_words(values, &mut charts.words);
            }
        }
        charts
    }
}

/// Releases of charts that are not known.
struct UnseenCharts<'a> {
    /// By namespace and name.
    releases: BTreeSet<(&'a str, &'a str)>,
    /// All that their values say.
    words: BTreeSet<&'a str>,
}

impl UnseenCharts<'_> {
    /// Whether one of them makes a thing, by all signs: charts call Secrets after their release; other objects are called as the values
    /// say.
    fn may_make(&self, thing: &Thing) -> bool {
        let name = thing.name.as_str();
        match thing.kind.as_str() {
            "Secret" | "ConfigMap" => {
                let ends = (0..=name.len()).filter(|end| name.is_char_boundary(*end));
                ends.map(|end| &name[..end]).any(|start| self.releases.contains(&(thing.namespace.as_str(), start)))
            }
            _ => self.words.contains(name),
        }
    }
}

fn add_words<'a>(node: &'a Node, words: &mut BTreeSet<&'a str>) {
    match &node.value {
        Value::Map(map) => {
            for entry in map {
                words.insert(&entry.key);
                add_words(&entry.value, words);
            }
        }
        Value::Seq(items) => items.iter().for_each(|item| add_words(item, words)),
        Value::Scalar(scalar) => {
            words.insert(&scalar.text);
        }
    }
}
