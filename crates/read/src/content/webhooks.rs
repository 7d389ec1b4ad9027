//! Admission webhooks that refuse objects while nobody answers, from their own configurations.

use std::collections::BTreeSet;

use ecow::EcoString;
use yaml::Node;

use crate::flux::Built;
use crate::object::Object;

/// Kinds that the objects of a cluster have, with the resource that rules name them by.
pub(crate) struct Kinds {
    by_resource: BTreeSet<(EcoString, EcoString, EcoString)>,
}

impl Kinds {
    pub(crate) fn of(objects: &[Built]) -> Self {
        let mut by_resource = BTreeSet::new();
        for built in objects {
            let object = Object::new(&built.node);
            if object.kind() == "CustomResourceDefinition" {
                let text = |path: &[&str]| EcoString::from(built.node.text_at(path).unwrap_or_default());
                let plural = text(&["spec", "names", "plural"]);
                by_resource.insert((text(&["spec", "group"]), plural, text(&["spec", "names", "kind"])));
            }
            by_resource.insert((object.group().into(), model::plural(object.kind()), object.kind().into()));
        }
        Self { by_resource }
    }

    fn named(&self, group: &str, resource: &str) -> impl Iterator<Item = EcoString> {
        let is_meant = move |(of, plural, _): &&(EcoString, EcoString, EcoString)| {
            (group == "*" || of == group) && plural == resource
        };
        self.by_resource.iter().filter(is_meant).map(|(group, _, kind)| ecow::eco_format!("{group}/{kind}"))
    }
}

/// What a webhook configuration is asked about when it is created: `group/Kind`, `group/*` or `*`.
pub(crate) fn covered(node: &Node, kinds: &Kinds) -> BTreeSet<EcoString> {
    let webhooks = node.items_at("webhooks").iter().filter(|webhook| fails_closed(webhook) && is_for_all(webhook));
    let rules = webhooks.flat_map(|webhook| webhook.items_at("rules")).filter(|rule| is_on_create(rule));
    let mut covered = BTreeSet::new();
    for rule in rules {
        let texts = |key: &str| rule.items_at(key).iter().filter_map(Node::text).collect::<Vec<&str>>();
        for group in texts("apiGroups") {
            for resource in texts("resources") {
                match (group, resource) {
                    ("*", "*" | "*/*") => {
                        covered.insert("*".into());
                    }
                    (group, "*" | "*/*") => {
                        covered.insert(ecow::eco_format!("{group}/*"));
                    }
                    (group, resource) => covered.extend(kinds.named(group, resource)),
                }
            }
        }
    }
    covered
}

/// Without an answer of its own Service the object is refused. That is the default, too.
fn fails_closed(webhook: &Node) -> bool {
    webhook.text_at(&["failurePolicy"]).is_none_or(|policy| policy == "Fail")
        && webhook.at(&["clientConfig", "service"]).is_some()
}

fn is_on_create(rule: &Node) -> bool {
    rule.items_at("operations").iter().filter_map(Node::text).any(|operation| matches!(operation, "CREATE" | "*"))
}

/// Whether it leaves out some objects at most, not whether it asks for marked ones: who carries a mark is not known here.
fn is_for_all(webhook: &Node) -> bool {
    let is_open = |selector: &str| {
        let labels = webhook.at(&[selector, "matchLabels"]).is_none_or(|labels| labels.entries().is_empty());
        let expressions = webhook.at(&[selector, "matchExpressions"]).and_then(Node::as_seq).unwrap_or_default();
        let leaves_out = |it: &Node| it.text_at(&["operator"]).is_some_and(|it| matches!(it, "NotIn" | "DoesNotExist"));
        labels && expressions.iter().all(leaves_out)
    };
    is_open("namespaceSelector") && is_open("objectSelector") && webhook.items_at("matchConditions").is_empty()
}

#[cfg(test)]
mod tests {
    use super::{Kinds, covered};
    use crate::flux::{Built, Origin};
    use source::FileId;
    use yaml::Node;

    fn node(text: &str) -> Node {
        yaml::parse_value(FileId(0), text).unwrap()
    }

    fn built(text: &str) -> Built {
        let component = model::ComponentId(0);
        Built { component, node: node(text), namespace: "default".into(), origin: Origin::Manifest }
    }

    fn asked(webhook: &str) -> Vec<String> {
        let kinds = Kinds::of(&[
            built(
                "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, spec: {group: a.b, names: {plural: oxen, kind: Ox}}}",
            ),
            built("{apiVersion: networking.k8s.io/v1, kind: Ingress}"),
        ]);
        let configuration = node(&format!("{{webhooks: [{webhook}]}}"));
        covered(&configuration, &kinds).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_webhook_that_fails_closed_covers_what_its_rules_name() {
        let service = "clientConfig: {service: {name: hook, namespace: default}}";
        let rules = "rules: [{apiGroups: [a.b, networking.k8s.io], resources: [oxen, ingresses, oxen/status], operations: [CREATE, UPDATE]}]";
        assert_eq!(asked(&format!("{{{service}, {rules}}}")), ["a.b/Ox", "networking.k8s.io/Ingress"]);
        assert_eq!(asked(&format!("{{{service}, failurePolicy: Ignore, {rules}}}")), Vec::<String>::new());
        let all = "rules: [{apiGroups: ['*'], resources: ['*/*'], operations: ['*']}]";
        assert_eq!(asked(&format!("{{{service}, {all}}}")), ["*"]);
    }

    #[test]
    fn one_that_asks_for_marked_objects_covers_nobody_that_is_known() {
        let rest = "clientConfig: {service: {name: hook}}, rules: [{apiGroups: [a.b], resources: ['*'], operations: [CREATE]}]";
        assert_eq!(
            asked(&format!("{{objectSelector: {{matchLabels: {{inject: 'yes'}}}}, {rest}}}")),
            Vec::<String>::new()
        );
        let all_but = "namespaceSelector: {matchExpressions: [{key: name, operator: NotIn, values: [kube-system]}]}";
        assert_eq!(asked(&format!("{{{all_but}, {rest}}}")), ["a.b/*"]);
    }
}
