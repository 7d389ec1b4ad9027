//! What a Helm release brings and needs: what the catalogue knows of its chart under its merged values, the charts that
//! lie in the repository, and the names that its values hold.

use catalogue::{Catalogue, Via, any_holds};
use ecow::EcoString;
use kustomize::Files;
use model::{
    Arrival, BlindSpot, Capability, CapabilityKind, Chart, ComponentId, ObjectRef, Phase, Purpose, Unseen, WhyUnseen,
    Withheld,
};
use source::Span;
use yaml::{Budget, Node, Value};

use crate::content::collector::{Collector, Needing};
use crate::content::known::{
    catalogue_capability, need_own_kinds, offer_controllers, offer_known, offer_program, offer_rendered, served,
};
use crate::content::merging::{chart_address, chart_sources, config_maps, is_wrapped, merged_values, unseen_values};
use crate::content::{arguments, capabilities, facts, hosts, references, values};
use crate::flux::HelmRelease;
use crate::object::{Object, owned};
use crate::repository::Repository;

pub(crate) fn read_all(collector: &mut Collector, repository: &Repository, catalogue: &Catalogue, budget: &mut Budget) {
    let releases = std::mem::take(&mut collector.assembled.releases);
    let sources = chart_sources(&collector.assembled.objects);
    let config_maps = config_maps(&collector.assembled.objects);
    let facts: Vec<Facts<'_>> = releases
        .iter()
        .map(|(id, release)| {
            let address = chart_address(release, &sources);
            let chart: EcoString = catalogue::chart_name(&address).into();
            let merged = merged_values(release, &config_maps, budget);
            let is_whole = merged.is_ok() && unseen_values(release, &config_maps).is_empty();
            let values = merged.unwrap_or_else(|beyond| {
                collector.cluster().blind.push(*beyond);
                None
            });
            let sees_all_values = is_whole && !is_wrapped(&chart, values.as_ref());
            let replaces_catalogue = collector.rendered.get(id) == Some(&true);
            let known = catalogue.by_chart(&address);
            Facts { id: *id, release, known, chart, values, sees_all_values, replaces_catalogue }
        })
        .collect();
    if arguments::retries_by_default(&collector.assembled.objects) {
        for fact in &facts {
            collector.cluster().components[fact.id.index()].patience = fact.release.patience_with_retries();
        }
    }
    for fact in &facts {
        fact.offers(collector, repository, catalogue);
        fact.note_adopted(collector);
    }
    for fact in &facts {
        fact.needs(collector);
    }
    for fact in facts.iter().filter(|fact| !fact.release.is_remote) {
        fact.asked_for(collector, repository);
    }
    collector.assembled.releases = releases;
}

/// One release with all that is known of it.
struct Facts<'a> {
    id: ComponentId,
    release: &'a HelmRelease,
    chart: EcoString,
    known: Option<&'a catalogue::Component>,
    values: Option<Node>,
    /// Everything that its values come from was read.
    sees_all_values: bool,
    /// Its chart was rendered with all its values: what the catalogue says of the chart's objects is not asked.
    replaces_catalogue: bool,
}

impl Facts<'_> {
    fn offers(&self, collector: &mut Collector, repository: &Repository, catalogue: &Catalogue) {
        let release = self.release;
        let own = &release.object;
        if release.is_remote {
            let (what, why) = (Unseen::Named(own.to_string()), WhyUnseen::AnotherCluster);
            collector.cluster().blind.push(BlindSpot { what, why, at: release.at, component: Some(self.id) });
            return;
        }
        let namespace = release.target_namespace.clone();
        let service = |name: EcoString| Capability::new(CapabilityKind::Service, namespace.clone(), name);
        if !self.replaces_catalogue {
            collector.offer(self.id, service(release.release_name.clone()), Arrival::Healthy, own, release.at);
        }
        if release.creates_namespace {
            collector.offer(
                self.id,
                Capability::cluster(CapabilityKind::Namespace, namespace.clone()),
                Arrival::Installed,
                own,
                release.at,
            );
        }
        if let Some(base) = self.crds_of() {
            let capability = crds_of(&base);
            collector.offer(self.id, capability, Arrival::Installed, own, release.at);
        }
        let is_local = self.local_crds(collector, repository);
        let Some(known) = self.known else {
            self.offer_images(collector, catalogue);
            let is_said = collector.rendered.contains_key(&self.id) || collector.unrendered.contains(&self.id);
            if !is_local && !is_said && !catalogue::is_generic_chart(&self.chart) {
                self.unseen_chart(collector);
            }
            return;
        };
        let component = &mut collector.cluster().components[self.id.index()];
        component.known_as = Some(known.name.as_str().into());
        component.startup_seconds = u64::from(known.startup_seconds);
        component.resource = self.resource(known);
        offer_controllers(collector, self.id, known, own, release.at);
        if known.name == "sealed-secrets" && self.sees_all_values {
            let renewal = super::renewal::of(self.id, self.values.as_ref(), release.chart.at);
            collector.cluster().facts.renewals.extend(renewal);
        }
        if self.replaces_catalogue {
            offer_rendered(collector, self.id, known, self.values.as_ref(), own, release.at);
            self.withheld(collector, known);
            return;
        }
        let component = &collector.cluster().components[self.id.index()];
        let (arrival, shown) = served(component, own);
        let names = known.service_names(&release.release_name, &self.chart, self.values.as_ref());
        if let (Some(speaks), Some(name)) = (&known.speaks, names.first()) {
            collector.database(speaks, self.id, service(name.as_str().into()));
        }
        for name in names {
            collector.offer(self.id, service(name.into()), arrival, &shown, release.at);
        }
        offer_known(collector, self.id, known, self.values.as_ref(), own, release.at, release.skips_crds.is_some());
        self.withheld(collector, known);
    }

    /// A chart that runs any image: what known programs give is there, whoever wrote the chart.
    fn offer_images(&self, collector: &mut Collector, catalogue: &Catalogue) {
        let mut images = Vec::new();
        if let Some(values) = &self.values {
            image_repositories(values, &mut images);
        }
        for image in images {
            if let Some(known) = image.text().and_then(|image| catalogue.by_image(image)) {
                offer_program(collector, self.id, known, &self.release.object, image.span);
            }
        }
    }

    /// The object that the chart is: see [`catalogue::Resource`].
    fn resource(&self, known: &catalogue::Component) -> Option<ObjectRef> {
        let resource = known.resource.as_ref().filter(|resource| any_holds(&resource.when, self.values.as_ref()))?;
        let (group, kind) = resource.kind.split_once('/').unwrap_or(("", &resource.kind));
        let lands = self.release.target_namespace.as_str();
        let name = resource.named(&self.release.release_name, lands, &self.chart, self.values.as_ref());
        Some(ObjectRef::new(kind, if crate::kinds::is_cluster_scoped(group, kind) { "" } else { lands }, name))
    }

    /// Notes the CRDs that its chart has and that its values, or its policy, leave out.
    fn withheld(&self, collector: &mut Collector, known: &catalogue::Component) {
        if !self.sees_all_values {
            return;
        }
        for crds in &known.crds {
            let skipped = self.release.skips_crds.filter(|_| crds.via == Via::CrdsDirectory);
            let (switch, at) = match (skipped, crds.when.first()) {
                (Some(at), _) => (EcoString::from("install.crds: CreateReplace"), at),
                (None, Some(when)) if !any_holds(&crds.when, self.values.as_ref()) => {
                    let value = when.equals.as_deref().unwrap_or(if when.not { "false" } else { "true" });
                    (ecow::eco_format!("values.{}: {value}", when.value), self.value_span(&when.value))
                }
                _ => continue,
            };
            for kind in &crds.kinds {
                let capability = Capability::cluster(CapabilityKind::Crd, kind.as_str());
                if collector.is_offered_by(&capability, self.id) {
                    continue;
                }
                let withheld = Withheld { by: self.id, capability, switch: switch.clone(), at };
                collector.cluster().facts.withheld.push(withheld);
            }
        }
    }

    /// Where the values name a path, else where the release names its chart.
    fn value_span(&self, path: &str) -> Span {
        let keys: Vec<&str> = path.split('.').collect();
        let named = self.values.as_ref().and_then(|values| values.at(&keys)).map(|node| node.span);
        named.filter(|at| !at.is_generated()).unwrap_or(self.release.chart.at)
    }

    /// Notes the chart of a release that the bootstrap installs as well.
    fn note_adopted(&self, collector: &mut Collector) {
        let release = (self.release.release_name.clone(), self.release.target_namespace.clone());
        if !facts::is_adopted(collector, &release.0, &release.1) {
            return;
        }
        let source = self.release.chart.source.as_ref().map(|source| &source.object);
        let version = facts::version_of(collector, source, self.release.chart.version.as_ref());
        let values = self.values.clone().filter(|_| self.sees_all_values);
        facts::note_chart(
            collector,
            Chart {
                of: self.id,
                name: self.chart.clone(),
                release,
                version,
                values,
                hides_values: !self.sees_all_values,
            },
        );
    }

    fn unseen_chart(&self, collector: &mut Collector) {
        collector.unseen.push((self.id, self.chart.clone()));
        collector.cluster().blind.push(model::BlindSpot {
            what: Unseen::Release { object: self.release.object.clone(), chart: self.chart.clone() },
            why: WhyUnseen::UnknownChart,
            at: self.release.chart.at,
            component: None,
        });
    }

    /// What the templates of a chart in this repository ask the cluster for.
    fn asked_for(&self, collector: &mut Collector, repository: &Repository) {
        let Some(chart) = self.local_chart(repository) else { return };
        let needing =
            Needing { of: self.id, object: &self.release.object, phase: Phase::Build, soft: false, optional: true };
        capabilities::scan(collector, repository, &needing, &chart, self.values.as_ref());
    }

    /// The directory of its chart, where that lies in this repository.
    fn local_chart(&self, repository: &Repository) -> Option<String> {
        let chart = Some(repository.place(&self.release.chart.chart)).filter(|chart| !chart.is_empty())?;
        (repository.kind(&chart) == kustomize::PathKind::Directory).then_some(chart)
    }

    /// CRDs of a chart that lies in this repository; whether it does.
    fn local_crds(&self, collector: &mut Collector, repository: &Repository) -> bool {
        let Some(chart) = self.local_chart(repository) else { return false };
        if self.release.skips_crds.is_some() {
            return true;
        }
        let directory = format!("{chart}/crds");
        for name in repository.list(&directory) {
            let Some((_, documents)) = repository.documents(&format!("{directory}/{name}")) else { continue };
            for node in documents.iter().filter_map(|document| document.root.as_ref()) {
                if Object::new(node).kind() == "CustomResourceDefinition" {
                    let group = node.text_at(&["spec", "group"]).unwrap_or_default();
                    let kind = node.text_at(&["spec", "names", "kind"]).unwrap_or_default();
                    collector.offer(
                        self.id,
                        Capability::crd(group, kind),
                        Arrival::Installed,
                        &self.release.object,
                        self.release.at,
                    );
                }
            }
        }
        true
    }

    fn needs(&self, collector: &mut Collector) {
        let release = self.release;
        let own = &release.object;
        let build = Needing { of: self.id, object: own, phase: Phase::Build, soft: false, optional: false };
        if let Some(source) = release.chart.source.as_ref().filter(|source| !collector.given.contains(&source.object)) {
            let name = ecow::eco_format!("{}:{}", source.object.kind, source.object.name);
            let capability = Capability::new(CapabilityKind::Source, source.object.namespace.clone(), name);
            collector.need(&build, capability, source.at, Purpose::Chart);
        }
        for from in &release.values_from {
            let kind = if from.kind == "Secret" { CapabilityKind::Secret } else { CapabilityKind::ConfigMap };
            let needing = Needing { optional: from.optional, ..build.clone() };
            collector.need(
                &needing,
                Capability::new(kind, own.namespace.clone(), from.name.clone()),
                from.at,
                Purpose::Values,
            );
        }
        self.kube_config(collector, &build);
        if release.is_remote {
            return;
        }
        let ready = Needing { phase: Phase::Ready, ..build.clone() };
        let kinds = crds_of(&self.chart);
        if collector.is_offered(&kinds) {
            collector.need(&ready, kinds, release.chart.at, Purpose::ChartOfCrds);
        }
        if let Some(known) = self.known {
            self.need_known(collector, known);
            need_own_kinds(collector, self.id, known, own, release.chart.at);
        }
        let Some(values) = &self.values else { return };
        // Nobody waits for the pods of what runs by the clock.
        let phase = if has_only_cron_jobs(values) { Phase::Run } else { Phase::Ready };
        hosts::collect(collector, self.id, own, values, phase);
        // Its pods and claims tell what they use; programs may be told addresses in Secrets, which are not read.
        if self.replaces_catalogue {
            return;
        }
        values::scan(collector, self.id, own, values, phase);
        references::scan(collector, self.id, own, &release.target_namespace, values);
        self.rendered_kinds(collector, values);
        if let Some(at) = rendered_ingress(values) {
            let apply = Needing { phase: Phase::Apply, ..build };
            need_webhooks(collector, &apply, "networking.k8s.io/Ingress", at, &Purpose::Admit);
        }
    }

    /// The chart whose CRDs this chart holds, by the custom of calling it that: `kagent-crds`, `ai-gateway-crds-helm`.
    fn crds_of(&self) -> Option<String> {
        let marks = self.known.is_none().then_some(["-crds", "-crd"])?;
        let is_mark = |at: usize, mark: &str| !self.chart[at + mark.len()..].starts_with(|c: char| c.is_alphanumeric());
        let found = marks.iter().find_map(|mark| self.chart.find(mark).filter(|at| is_mark(*at, mark)).zip(Some(mark)));
        found.map(|(at, mark)| format!("{}{}", &self.chart[..at], &self.chart[at + mark.len()..]))
    }

    /// What the catalogue says that the chart needs; of what it renders, its objects speak themselves.
    fn need_known(&self, collector: &mut Collector, known: &catalogue::Component) {
        // Flux itself applies it, so Flux is there.
        let needs = known.needs.iter().filter(|need| need.capability != "gitops");
        for need in needs.filter(|need| any_holds(&need.when, self.values.as_ref())) {
            let name = need.name.as_deref();
            let capability = match need.capability.as_str() {
                "crd" => Capability::cluster(CapabilityKind::Crd, name.unwrap_or_default()),
                other => catalogue_capability(other, name),
            };
            let phase = match need.phase {
                catalogue::Phase::Apply => Phase::Apply,
                catalogue::Phase::Ready => Phase::Ready,
                catalogue::Phase::Run => Phase::Run,
            };
            if need.capability == "load-balancer" {
                let ready = Needing {
                    of: self.id,
                    object: &self.release.object,
                    phase: Phase::Ready,
                    soft: false,
                    optional: false,
                };
                collector.balanced(&ready, self.release.chart.at);
                continue;
            }
            let is_object = phase == Phase::Apply && need.capability == "crd";
            if is_object && self.replaces_catalogue {
                continue;
            }
            let soft_kind =
                name.and_then(|name| name.rsplit_once('/')).is_some_and(|(_, kind)| crate::kinds::is_soft(kind));
            // The catalogue's soft kinds are templates that ask whether the cluster knows the kind, and are left out if
            // not.
            let (soft, optional) = (need.soft || soft_kind, need.soft && is_object);
            let needing = Needing { of: self.id, object: &self.release.object, phase, soft, optional };
            if is_object && !need.soft {
                let why = Purpose::Catalogued(need.why.as_str().into());
                need_webhooks(collector, &needing, name.unwrap_or_default(), self.release.chart.at, &why);
            }
            collector.need(&needing, capability, self.release.chart.at, Purpose::Catalogued(need.why.as_str().into()));
        }
    }

    fn kube_config(&self, collector: &mut Collector, build: &Needing<'_>) {
        if let Some(name) = &self.release.kube_config_secret {
            let capability =
                Capability::new(CapabilityKind::Secret, self.release.object.namespace.clone(), owned(Some(name)));
            collector.need(build, capability, name.span, Purpose::Kubeconfig);
        }
    }

    /// Switches that nearly every chart has, and what generic charts render from their values.
    fn rendered_kinds(&self, collector: &mut Collector, values: &Node) {
        let generic = catalogue::is_generic_chart(&self.chart);
        let switches = [
            ("serviceMonitor", "monitoring.coreos.com", "ServiceMonitor"),
            ("podMonitor", "monitoring.coreos.com", "PodMonitor"),
            ("prometheusRule", "monitoring.coreos.com", "PrometheusRule"),
            ("route", "gateway.networking.k8s.io", "HTTPRoute"),
        ];
        if self.known.is_some() && !generic {
            return;
        }
        let needing =
            Needing { of: self.id, object: &self.release.object, phase: Phase::Apply, soft: true, optional: false };
        for (key, group, kind) in switches {
            for at in switched_on(values, key, generic) {
                collector.need(&needing, Capability::crd(group, kind), at, Purpose::RenderedByChart);
            }
        }
    }
}

/// The CRDs that the chart `name-crds` holds.
pub(crate) fn crds_of(name: &str) -> Capability {
    Capability::cluster(CapabilityKind::ChartCrds, name)
}

/// Places where `key` is switched on: `key: {enabled: true}` anywhere, or in a generic chart any entry at the top.
fn switched_on(values: &Node, key: &str, generic: bool) -> Vec<Span> {
    let mut found = Vec::new();
    if generic {
        for entry in values.get(key).map(Node::entries).unwrap_or_default() {
            if entry.value.get("enabled").and_then(Node::as_bool) != Some(false) && entry.value.as_map().is_some() {
                found.push(entry.key_span);
            }
        }
        return found;
    }
    if key != "route" {
        collect_switches(values, key, &mut found);
    }
    found
}

fn collect_switches(node: &Node, key: &str, found: &mut Vec<Span>) {
    if node.get("enabled").and_then(Node::as_bool) == Some(false) {
        return;
    }
    for entry in node.entries() {
        if entry.key == key && entry.value.get("enabled").and_then(Node::as_bool) == Some(true) {
            found.push(entry.key_span);
        } else if matches!(entry.value.value, Value::Map(_)) {
            collect_switches(&entry.value, key, found);
        }
    }
}

/// Where values have a chart render an Ingress: `ingress` anywhere in them that is switched on, or has a host and no switch.
fn rendered_ingress(values: &Node) -> Option<Span> {
    values.entries().iter().find_map(|entry| match entry.key.as_str() {
        "ingress" if has_host(&entry.value) => Some(entry.key_span),
        _ if entry.value.get("enabled").and_then(Node::as_bool) == Some(false) => None,
        _ => rendered_ingress(&entry.value),
    })
}

fn has_host(ingress: &Node) -> bool {
    match ingress.get("enabled").and_then(Node::as_bool) {
        Some(is_on) => is_on,
        None => ingress.entries().iter().any(|entry| {
            let is_host =
                matches!(entry.key.as_str(), "host" | "hosts" | "hostname" | "className" | "ingressClassName");
            is_host && !entry.value.is_null() || has_host(&entry.value)
        }),
    }
}

/// What a chart renders passes the webhooks of its kind, as a manifest does: while one does not answer, the install fails.
fn need_webhooks(collector: &mut Collector, needing: &Needing<'_>, kind: &str, at: Span, why: &Purpose) {
    let Some((group, _)) = kind.split_once('/') else { return };
    for covers in [kind.into(), ecow::eco_format!("{group}/*")] {
        let webhook = Capability::cluster(CapabilityKind::Webhook, covers);
        if collector.is_offered(&webhook) {
            let needing = Needing { soft: false, ..needing.clone() };
            collector.need(&needing, webhook, at, why.clone());
        }
    }
}

/// Values named `repository` beside an image's tag.
fn image_repositories<'n>(node: &'n Node, found: &mut Vec<&'n Node>) {
    for entry in node.entries() {
        if entry.key == "repository" && entry.value.text().is_some() {
            found.push(&entry.value);
        } else {
            image_repositories(&entry.value, found);
        }
    }
}

/// Values of a generic chart whose controllers are all of one kind: `controllers: {main: {type: cronjob}}`.
fn has_only_cron_jobs(values: &Node) -> bool {
    let controllers = values.get("controllers").map(Node::entries).unwrap_or_default();
    let is_cron_job = |entry: &yaml::Entry| entry.value.text_at(&["type"]) == Some("cronjob");
    !controllers.is_empty() && controllers.iter().all(is_cron_job)
}
