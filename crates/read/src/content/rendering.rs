//! The charts of releases, rendered: their objects stand beside those that Kustomizations apply.
//!
//! Knows which charts are here and what they are rendered with. Does not know who renders, nor what the objects mean.

use std::collections::BTreeSet;

use catalogue::Catalogue;
use ecow::EcoString;
use model::{BlindSpot, ComponentId, ObjectRef};
use yaml::{FileId, Node, Span, Value};

use crate::charts::{ChartFiles, Job, NotRendered, Renderer};
use crate::content::chart_files::{Shelf, asks_for_apis, by_text};
use crate::content::kinds_served;
use crate::content::merging::{chart_address, chart_sources, config_maps, merged_values, unseen_values};
use crate::content::sink::Sink;
use crate::flux::{Built, HelmRelease, Origin};
use crate::object::Object;
use crate::parallel;
use crate::repository::Repository;
use crate::resource_set::inputs::json;

/// Why values are a blind spot.
const VALUES_UNSEEN: &str = "are not in the repository: the chart was rendered without them";

type Objects = Result<Vec<Node>, NotRendered>;

/// A release whose chart is here.
struct Turn<'a> {
    id: ComponentId,
    release: HelmRelease,
    name: EcoString,
    chart: ChartFiles<'a>,
    values: Option<Node>,
    unseen_values: Vec<(String, Span)>,
}

/// Renders every chart that is here, and adds its objects to those of the cluster. A chart that asks the cluster for its
/// APIs is rendered twice: as on an empty cluster, and as where everything that this cluster is made of has come up.
pub(crate) fn render_all(sink: &mut Sink, repository: &Repository, catalogue: &Catalogue, renderer: &dyn Renderer) {
    let turns = turns(sink, repository, renderer);
    let kube_version = kinds_served::kube_version(sink, repository);
    let render = |turn: &Turn<'_>, apis: &[String]| turn.render(repository, renderer, &kube_version, apis);
    let empty = parallel::map(&turns, |turn| render(turn, &[]));
    let apis = kinds_served::apis(sink, catalogue, empty.iter().flatten().flatten());
    let full = parallel::map(&turns, |turn| {
        let asks = !apis.is_empty() && asks_for_apis(&turn.chart, renderer);
        asks.then(|| render(turn, &apis))
    });
    for ((turn, empty), full) in turns.iter().zip(empty).zip(full) {
        turn.absorb(sink, empty, full);
    }
}

fn turns<'a>(sink: &Sink, repository: &'a Repository, renderer: &'a dyn Renderer) -> Vec<Turn<'a>> {
    let shelf = Shelf::new(sink, repository, renderer);
    let (maps, sources) = (config_maps(&sink.assembled.objects), chart_sources(&sink.assembled.objects));
    let releases = sink.assembled.releases.iter();
    releases
        .filter_map(|(id, release)| {
            let chart = shelf.find(release)?;
            let unseen = unseen_values(release, &maps);
            let unseen = unseen.iter().map(|from| (format!("{} {}", from.kind, from.name), from.at));
            Some(Turn {
                id: *id,
                name: catalogue::chart_name(&chart_address(release, &sources)).into(),
                chart,
                values: merged_values(release, &maps),
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
                return Err(NotRendered::Failed(format!("what it renders is no YAML: {}", problem.message)));
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

    fn absorb(&self, sink: &mut Sink, empty: Objects, full: Option<Objects>) {
        let at = self.release.chart.at;
        let alone: Option<BTreeSet<ObjectRef>> = empty.as_ref().ok().map(|objects| objects.iter().map(id).collect());
        let objects = match (empty, full) {
            (_, Some(Ok(objects))) | (Ok(objects), _) => objects,
            (Err(why), _) => return self.not_rendered(sink, &why),
        };
        sink.cluster().facts.rendered += 1;
        sink.cluster().components[self.id.index()].objects = objects.len();
        sink.rendered.insert(self.id, self.unseen_values.is_empty());
        for (what, at) in &self.unseen_values {
            let what = format!("values of {} from {what}", self.release.object);
            sink.cluster().blind.push(BlindSpot { what, why: VALUES_UNSEEN.to_owned(), at: *at, component: None });
        }
        for node in objects {
            let is_asked = alone.as_ref().is_some_and(|alone| !alone.contains(&id(&node)));
            sink.assembled.objects.push(Built {
                component: self.id,
                node,
                namespace: self.release.target_namespace.clone(),
                origin: if is_asked { Origin::Asked(at) } else { Origin::Chart(at) },
            });
        }
    }

    fn not_rendered(&self, sink: &mut Sink, why: &NotRendered) {
        sink.unrendered.insert(self.id);
        sink.cluster().blind.push(BlindSpot {
            what: format!("{} (chart {})", self.release.object, self.name),
            why: format!("has a chart that {why}"),
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
