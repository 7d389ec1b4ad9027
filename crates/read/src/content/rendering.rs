//! The charts of releases, rendered: their objects stand beside those that Kustomizations apply.
//!
//! Knows which charts are here and what they are rendered with. Does not know who renders, nor what the objects mean.

use std::collections::BTreeSet;

use catalogue::Catalogue;
use ecow::EcoString;
use model::{BlindSpot, Cause, ComponentId, ObjectRef, Unseen, WhyUnseen};
use source::{FileId, Span};
use yaml::{Budget, Node, Value};

use crate::charts::{ChartFiles, Job, NotRendered, Renderer};
use crate::content::chart_files::{Shelf, asks_for_apis, by_text};
use crate::content::collector::Collector;
use crate::content::kinds_served;
use crate::content::merging::{chart_address, chart_sources, config_maps, merged_values, unseen_values};
use crate::flux::{Built, HelmRelease, Origin};
use crate::object::Object;
use crate::repository::Repository;
use crate::resource_set::inputs::json;
use ::repository::parallel;

type Objects = Result<Vec<Node>, NotRendered>;

/// A release whose chart is here.
struct Turn<'a> {
    id: ComponentId,
    release: HelmRelease,
    name: EcoString,
    chart: ChartFiles<'a>,
    values: Option<Node>,
    /// What they are: the kind and the name of an object, and where it is named.
    unseen_values: Vec<(EcoString, EcoString, Span)>,
}

/// Renders every chart that is here, and adds its objects to those of the cluster. A chart that asks the cluster for its
/// APIs is rendered twice: as on an empty cluster, and as where everything that this cluster is made of has come up.
pub(crate) fn render_all(
    collector: &mut Collector,
    repository: &Repository,
    catalogue: &Catalogue,
    renderer: &dyn Renderer,
    budget: &mut Budget,
) {
    let turns = turns(collector, repository, renderer, budget);
    let kube_version = kinds_served::kube_version(collector, repository);
    let render = |turn: &Turn<'_>, apis: &[String]| turn.render(repository, renderer, &kube_version, apis);
    let empty = parallel::map(&turns, |turn| render(turn, &[]));
    let apis = kinds_served::apis(collector, catalogue, empty.iter().flatten().flatten(), budget);
    let full = parallel::map(&turns, |turn| {
        let asks = !apis.is_empty() && asks_for_apis(&turn.chart, renderer);
        asks.then(|| render(turn, &apis))
    });
    for ((turn, empty), full) in turns.iter().zip(empty).zip(full) {
        turn.absorb(collector, empty, full);
    }
}

fn turns<'a>(
    collector: &Collector,
    repository: &'a Repository,
    renderer: &'a dyn Renderer,
    budget: &mut Budget,
) -> Vec<Turn<'a>> {
    let shelf = Shelf::new(collector, repository, renderer);
    let (maps, sources) = (config_maps(&collector.assembled.objects), chart_sources(&collector.assembled.objects));
    let releases = collector.assembled.releases.iter().filter(|(_, release)| !release.is_remote);
    releases
        .filter_map(|(id, release)| {
            let chart = shelf.find(release)?;
            let unseen = unseen_values(release, &maps);
            let unseen = unseen.iter().map(|from| (from.kind.clone(), from.name.clone(), from.at));
            Some(Turn {
                id: *id,
                name: catalogue::chart_name(&chart_address(release, &sources)).into(),
                chart,
                // What takes too much is told when the release itself is read.
                values: merged_values(release, &maps, budget).ok()?,
                unseen_values: unseen.collect(),
                release: release.clone(),
            })
        })
        .collect()
}

impl Turn<'_> {
    fn render(&self, repository: &Repository, renderer: &dyn Renderer, kube_version: &str, apis: &[String]) -> Objects {
        let values = self.values.as_ref().map_or_else(|| "{}".to_owned(), |values| json(values).to_string());
        let text = renderer.render(&Job {
            chart: &self.chart,
            release: &self.release.release_name,
            namespace: &self.release.target_namespace,
            values: &values,
            skips_crds: self.release.skips_crds.is_some(),
            kube_version,
            api_versions: apis,
        })?;
        let places = self.values.as_ref().map(by_text).unwrap_or_default();
        let mut objects = Vec::new();
        for document in repository.parse(FileId::GENERATED, &text) {
            if let (None, Some(problem)) = (&document.root, document.problems.first()) {
                return Err(NotRendered::NoYaml(problem.message.clone()));
            }
            let Some(mut node) = document.root.filter(|root| root.as_map().is_some()) else { continue };
            put(&mut node, self.release.chart.at, &|text| places.get(text).copied().flatten());
            if node.text_at(&["kind"]).is_some_and(|kind| kind.ends_with("List")) && !node.items_at("items").is_empty()
            {
                objects.extend(node.items_at("items").iter().cloned());
            } else {
                objects.push(node);
            }
        }
        Ok(objects)
    }

    fn absorb(&self, collector: &mut Collector, empty: Objects, full: Option<Objects>) {
        let at = self.release.chart.at;
        let alone: Option<BTreeSet<ObjectRef>> = empty.as_ref().ok().map(|objects| objects.iter().map(id).collect());
        let objects = match (empty, full) {
            (_, Some(Ok(objects))) | (Ok(objects), _) => objects,
            (Err(why), _) => return self.not_rendered(collector, why),
        };
        collector.cluster().facts.rendered += 1;
        collector.cluster().components[self.id.index()].objects = objects.len();
        collector.rendered.insert(self.id, self.unseen_values.is_empty());
        for (kind, name, at) in &self.unseen_values {
            let release = self.release.object.clone();
            let what = Unseen::ValuesOf { release, kind: kind.clone(), name: name.clone() };
            collector.cluster().blind.push(BlindSpot { what, why: WhyUnseen::ValuesNotHere, at: *at, component: None });
        }
        for node in objects {
            let is_asked = alone.as_ref().is_some_and(|alone| !alone.contains(&id(&node)));
            collector.assembled.objects.push(Built {
                component: self.id,
                node,
                namespace: self.release.target_namespace.clone(),
                origin: if is_asked { Origin::Asked(at) } else { Origin::Chart(at) },
            });
        }
    }

    fn not_rendered(&self, collector: &mut Collector, why: NotRendered) {
        collector.unrendered.insert(self.id);
        collector.cluster().blind.push(BlindSpot {
            what: Unseen::Release { object: self.release.object.clone(), chart: self.name.clone() },
            why: WhyUnseen::NotRendered(Cause::new(why)),
            at: self.release.chart.at,
            component: None,
        });
    }
}

fn id(node: &Node) -> ObjectRef {
    Object::new(node).reference("")
}

/// What a chart renders has no place of its own: it points to where the release names the chart, or to the value that it
/// was made from where only one can be meant.
fn put(node: &mut Node, at: Span, place: &dyn Fn(&str) -> Option<Span>) {
    node.span = at;
    match &mut node.value {
        Value::Map(map) => map.iter_mut().for_each(|entry| {
            entry.key_span = at;
            put(&mut entry.value, at, place);
        }),
        Value::Seq(items) => items.make_mut().iter_mut().for_each(|item| put(item, at, place)),
        Value::Scalar(scalar) => node.span = place(&scalar.text).unwrap_or(at),
    }
}
