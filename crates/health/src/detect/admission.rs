//! Webhooks that the API server asks, and that no endpoint serves.

use crate::detect::Found;
use crate::facts::{Failure, Hook, ObjectKey, Webhooks};
use crate::status::{Because, LayerName, Problem, What};
use crate::symptom::Symptom;
use crate::view::View;

const LAYER: LayerName = LayerName::Api;

pub(super) fn configuration(webhooks: &Webhooks) -> ObjectKey {
    let kind = if webhooks.mutating { "MutatingWebhookConfiguration" } else { "ValidatingWebhookConfiguration" };
    webhooks.meta.key("admissionregistration.k8s.io", kind)
}

fn all<'a>(view: &View<'a>) -> impl Iterator<Item = &'a Webhooks> {
    view.facts.validating_webhooks.iter().chain(view.facts.mutating_webhooks.iter())
}

/// The configuration that has a webhook of this name.
pub(super) fn of(view: &View<'_>, webhook: &str) -> Option<ObjectKey> {
    all(view).find(|it| it.hooks.iter().any(|hook| hook.name == webhook)).map(configuration)
}

pub(super) fn detect(view: &View<'_>, found: &mut Found) {
    found.needs(LAYER, &view.facts.validating_webhooks);
    found.needs(LAYER, &view.facts.mutating_webhooks);
    let (mut good, mut of) = (0, 0);
    for webhooks in all(view) {
        let failing: Vec<Symptom> = webhooks.hooks.iter().filter_map(|hook| one(view, webhooks, hook)).collect();
        of += webhooks.hooks.len();
        good += webhooks.hooks.len() - failing.len();
        // The webhooks of one configuration nearly always share their server: one symptom tells it.
        if let Some(first) = failing.into_iter().next() {
            found.add(first);
        }
    }
    found.count(LAYER, What::Webhooks, good, of);
}

/// A webhook that is not answered and whose failure fails requests.
fn one(view: &View<'_>, webhooks: &Webhooks, hook: &Hook) -> Option<Symptom> {
    if hook.failure == Failure::Ignore {
        return None;
    }
    let service = hook.service.as_ref()?;
    let object = configuration(webhooks);
    let (ready, all) = view.endpoints(service)?;
    if ready == 0 {
        let name = ecow::eco_format!("{}/{}", service.namespace, service.name);
        let problem = Problem::WebhookWithoutEndpoints { webhook: hook.name.clone(), service: name, ready, of: all };
        let service_key = ObjectKey::new("", "Service", &service.namespace, &service.name);
        let backends = view.backends(service).into_iter().map(|key| (key, Because::Backend));
        let value = ecow::eco_format!("{ready} of {all} ready");
        let symptom = Symptom::new(LAYER, object, problem).shows("webhooks.failurePolicy", "Fail", None).shows_of(
            service_key,
            "endpoints",
            value,
            view.facts.endpoints.seen,
        );
        return Some(symptom.edges(backends));
    }
    if hook.ca_bytes == 0 {
        let problem = Problem::WebhookWithoutCa { webhook: hook.name.clone() };
        let injector = view.workloads().iter().filter(|it| it.meta.name.contains("cainjector"));
        let injector: Vec<_> = injector.map(|it| (crate::view::key(it), Because::Controller)).collect();
        return Some(
            Symptom::new(LAYER, object, problem).shows("webhooks.clientConfig.caBundle", "", None).edges(injector),
        );
    }
    None
}
