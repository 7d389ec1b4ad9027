//! Claims of the catalogue, held against a release's values or against a custom resource. Pure functions.

use source::Span;
use yaml::{Node, Scalar, ScalarKind, Value};

use crate::path::{End, Found, follow};
use crate::schema::{Class, Component, Made, Resource, When, Workload, WorkloadKind};

impl When {
    /// Whether the condition holds under `values`.
    pub fn holds(&self, values: Option<&Node>) -> bool {
        self.holds_alone(values) && self.and.iter().all(|other| other.holds(values))
    }

    fn holds_alone(&self, values: Option<&Node>) -> bool {
        let ends = values.map(|values| follow(values, &self.value).ends).unwrap_or_default();
        if ends.is_empty() {
            return self.default;
        }
        let outcome = ends.iter().any(|end| match &self.equals {
            Some(expected) => end.node.text() == Some(expected),
            None => is_truthy(end.node),
        });
        outcome != self.not
    }
}

/// Whether any of the conditions holds; no condition at all always holds.
pub fn any_holds(conditions: &[When], values: Option<&Node>) -> bool {
    conditions.is_empty() || conditions.iter().any(|condition| condition.holds(values))
}

/// What a template's `if` takes for true.
fn is_truthy(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => !map.is_empty(),
        Value::Seq(items) => !items.is_empty(),
        Value::Scalar(Scalar { text, kind }) => match kind {
            ScalarKind::Null => false,
            ScalarKind::Bool => text.eq_ignore_ascii_case("true"),
            ScalarKind::Int | ScalarKind::Float => text.parse() != Ok(0.0),
            ScalarKind::Str => !text.is_empty(),
        },
    }
}

/// A class that a chart makes under certain values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeClass {
    pub name: String,
    /// The place that names it, if a file does.
    pub at: Option<Span>,
    /// Whether it is the class of those who name none.
    pub is_default: bool,
}

impl Class {
    /// The classes that it comes to under `values`.
    pub fn made(&self, values: Option<&Node>) -> Vec<MadeClass> {
        if !any_holds(&self.when, values) {
            return Vec::new();
        }
        let found = match (&self.name_at, values) {
            (Some(path), Some(values)) => follow(values, path),
            _ => Found::default(),
        };
        let named: Vec<MadeClass> = found.ends.iter().filter_map(|end| self.named(end)).collect();
        if !named.is_empty() || found.list_given || !found.ends.is_empty() && !self.item_when.is_empty() {
            return named;
        }
        let usual = self.name.iter();
        usual
            .map(|name| MadeClass { name: name.clone(), at: None, is_default: self.is_usual_default(values) })
            .collect()
    }

    fn named(&self, end: &End<'_>) -> Option<MadeClass> {
        let item = Some(end.entry.map_or(end.parent, |_| end.node));
        let name = end.name().filter(|name| !name.is_empty() && any_holds(&self.item_when, item))?.to_owned();
        let at = end.entry.map_or(end.node.span, |entry| entry.key_span);
        Some(MadeClass { name, at: Some(at), is_default: self.is_default(item) })
    }

    fn is_default(&self, item: Option<&Node>) -> bool {
        self.default_when.iter().any(|condition| condition.holds(item))
    }

    /// The same where the values do not name it: they may still hold the mapping in which its name would stand.
    fn is_usual_default(&self, values: Option<&Node>) -> bool {
        let Some((path, values)) = self.name_at.as_deref().zip(values) else { return self.is_default(values) };
        let holder = path
            .rsplit_once('.')
            .map_or(Some(values), |(holder, _)| follow(values, holder).ends.first().map(|end| end.node));
        self.is_default(holder)
    }
}

impl Resource {
    /// The name it gets of a release of its chart in a namespace, under these values.
    pub fn named(&self, release: &str, namespace: &str, chart: &str, values: Option<&Node>) -> String {
        let at = self.name_at.as_deref().zip(values).map(|(path, values)| follow(values, path));
        let ends = at.iter().flat_map(|found| &found.ends);
        let given = ends.filter_map(|end| end.node.text()).find(|name| !name.is_empty());
        given.map_or_else(
            || {
                let full = full_name(release, chart, values);
                let name = self.name.replace("{release}", release).replace("{namespace}", namespace);
                name.replace("{fullname}", &full)
            },
            str::to_owned,
        )
    }
}

impl Made {
    /// The name that `pattern` gives for `object`, or the first one if it gives several.
    pub fn names(pattern: &str, object: &Node) -> Option<String> {
        Self::all_names(pattern, object).into_iter().next()
    }

    /// All names that `pattern` gives for `object`: one for each item where a path goes through a list, none where a
    /// path leads nowhere.
    pub fn all_names(pattern: &str, object: &Node) -> Vec<String> {
        let mut names = vec![String::new()];
        let mut rest = pattern;
        while let Some((literal, after)) = rest.split_once('{') {
            let Some((paths, after)) = after.split_once('}') else { return Vec::new() };
            let texts = first_texts(paths, object);
            names =
                names.iter().flat_map(|name| texts.iter().map(move |text| format!("{name}{literal}{text}"))).collect();
            rest = after;
        }
        for name in &mut names {
            name.push_str(rest);
        }
        names
    }
}

/// The texts at the first of the `|`-separated paths that leads to any.
fn first_texts<'node>(paths: &str, object: &'node Node) -> Vec<&'node str> {
    paths
        .split('|')
        .map(|path| follow(object, path.trim()).ends.iter().filter_map(End::name).collect::<Vec<_>>())
        .find(|texts| !texts.is_empty())
        .unwrap_or_default()
}

impl Component {
    /// The Services that a release of its chart makes: from the release's name, the chart's, and the usual overrides.
    pub fn service_names(&self, release: &str, chart: &str, values: Option<&Node>) -> Vec<String> {
        self.services.iter().map(|name| named_for(name, release, chart, values)).collect()
    }

    /// The workloads that a release of its chart makes under these values: those that the catalogue lists, else one of the
    /// usual name.
    pub fn workloads(&self, release: &str, chart: &str, values: Option<&Node>) -> Vec<Workload> {
        let Some(listed) = &self.workloads else {
            return vec![Workload {
                name: full_name(release, chart, values),
                kind: WorkloadKind::Deployment,
                answers_webhooks: true,
                when: Vec::new(),
            }];
        };
        let made = listed.iter().filter(|workload| any_holds(&workload.when, values));
        made.map(|workload| Workload { name: named_for(&workload.name, release, chart, values), ..workload.clone() })
            .collect()
    }

    /// The name of the custom resource of this kind (`group/Kind`) that a release of its chart renders.
    pub fn rendered_name(
        &self,
        kind: &str,
        release: &str,
        namespace: &str,
        chart: &str,
        values: Option<&Node>,
    ) -> String {
        let listed = self.renders.iter().find(|rendered| rendered.kind == kind);
        let pattern = listed.map_or("{release}", |rendered| rendered.name.as_str());
        named_for(pattern, release, chart, values).replace("{namespace}", namespace)
    }
}

fn named_for(pattern: &str, release: &str, chart: &str, values: Option<&Node>) -> String {
    pattern.replace("{release}", release).replace("{fullname}", &full_name(release, chart, values))
}

/// The name that charts made from Helm's starter give their objects.
fn full_name(release: &str, chart: &str, values: Option<&Node>) -> String {
    let at = |key| values.and_then(|values| values.get(key)).and_then(Node::text).filter(|text| !text.is_empty());
    if let Some(name) = at("fullnameOverride") {
        return name.to_owned();
    }
    let name = at("nameOverride").unwrap_or(chart);
    if release.contains(name) { release.to_owned() } else { format!("{release}-{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node {
        yaml::parse_value(source::FileId(0), text).unwrap()
    }

    fn when(text: &str) -> When {
        crate::decode::decode(&node(text)).unwrap()
    }

    #[test]
    fn conditions_hold_where_they_should() {
        for (condition, values, expected) in [
            ("{value: a.b}", "a: {b: true}", true),
            ("{value: a.b}", "a: {b: false}", false),
            ("{value: a.b}", "a: {b: ''}", false),
            ("{value: a.b}", "a: {b: 0}", false),
            ("{value: a.b}", "a: {b: ~}", false),
            ("{value: a.b}", "a: {b: []}", false),
            ("{value: a.b}", "a: {b: {c: 1}}", true),
            ("{value: a.b}", "c: 1", false),
            ("{value: a.b, default: true}", "c: 1", true),
            ("{value: a.b, default: true}", "a: {b: false}", false),
            ("{value: a.b, not: true}", "a: {b: false}", true),
            ("{value: a.b, not: true}", "a: {b: true}", false),
            ("{value: a.b, not: true, default: true}", "c: 1", true),
            ("{value: a.b, equals: HelmChart}", "a: {b: HelmChart}", true),
            ("{value: a.b, equals: true}", "a: {b: true}", true),
            ("{value: a.b, equals: x, not: true}", "a: {b: y}", true),
            ("{value: a, and: [{value: b}, {value: c, default: true}]}", "a: 1\nb: 1", true),
            ("{value: a, and: [{value: b}, {value: c, default: true}]}", "a: 1\nc: 1", false),
            ("{value: 'a[].on'}", "a: [{on: false}, {on: true}]", true),
        ] {
            assert_eq!(when(condition).holds(Some(&node(values))), expected, "{condition} under {values}");
        }
        assert!(when("{value: a, default: true}").holds(None));
    }

    #[test]
    fn any_condition_is_enough_and_none_always_holds() {
        let values = node("b: true");
        assert!(any_holds(&[], None));
        assert!(any_holds(&[when("{value: a}"), when("{value: b}")], Some(&values)));
        assert!(!any_holds(&[when("{value: a}")], Some(&values)));
    }

    #[test]
    fn classes_are_named_by_values_or_by_default() {
        for (class, values, expected) in [
            ("{kind: StorageClass, name-at: 'pools[].class.name', name: usual}", "x: 1", vec!["usual"]),
            ("{kind: StorageClass, name-at: 'pools[].class.name', name: usual}", "pools: []", vec![]),
            (
                "{kind: StorageClass, name-at: 'pools[].class.name'}",
                "pools: [{class: {name: a}}, {}, {class: {name: b}}]",
                vec!["a", "b"],
            ),
            ("{kind: IngressClass, name-at: class.name, name: nginx}", "class: {name: internal}", vec!["internal"]),
            ("{kind: IngressClass, name-at: class.name, name: nginx}", "class: {name: ''}", vec!["nginx"]),
            ("{kind: IngressClass, name: nginx, when: [{value: on}]}", "on: false", vec![]),
            (
                "{kind: StorageClass, name-at: 'c[].name', item-when: [{value: on, default: true}]}",
                "c: [{name: a}, {name: b, on: false}]",
                vec!["a"],
            ),
            (
                "{kind: StorageClass, name-at: 'c.*', item-when: [{value: off, not: true, default: true}]}",
                "c: {a: {}, b: {off: true}, d: ~}",
                vec!["a", "d"],
            ),
            (
                "{kind: StorageClass, name-at: c.name, name: d, item-when: [{value: on, default: true}]}",
                "c: {name: a, on: false}",
                vec![],
            ),
        ] {
            let class: Class = crate::decode::decode(&node(class)).unwrap();
            let names: Vec<_> = class.made(Some(&node(values))).into_iter().map(|made| made.name).collect();
            assert_eq!(names, expected, "{class:?} under {values}");
        }
    }

    #[test]
    fn the_place_of_a_class_name_is_its_line() {
        let class: Class = crate::decode::decode(&node("{kind: StorageClass, name-at: name, name: usual}")).unwrap();
        let values = node("other: 1\nname: mine");
        assert_eq!(class.made(Some(&values))[0].at.unwrap().start, 15);
        assert_eq!(class.made(None), [MadeClass { name: "usual".to_owned(), at: None, is_default: false }]);
    }

    #[test]
    fn a_class_is_the_default_where_its_own_item_says_so() {
        for (class, values, expected) in [
            (
                "{kind: StorageClass, name-at: 'c[].name', default-when: [{value: is}]}",
                "c: [{name: a}, {name: b, is: true}]",
                vec!["b"],
            ),
            ("{kind: StorageClass, name-at: c.name, name: d, default-when: [{value: is}]}", "c: {is: true}", vec!["d"]),
            ("{kind: StorageClass, name-at: c.name, name: d, default-when: [{value: is}]}", "is: true", vec![]),
            ("{kind: StorageClass, name: d, default-when: [{value: p.is, default: true}]}", "x: 1", vec!["d"]),
            ("{kind: StorageClass, name: d, default-when: [{value: p.is, default: true}]}", "p: {is: false}", vec![]),
            (
                "{kind: StorageClass, name-at: 'c[].name', default-when: [{value: 'a.x\\.io/is', equals: 'true'}]}",
                "c: [{name: a, a: {x.io/is: 'true'}}, {name: b, a: {x.io/is: 'false'}}]",
                vec!["a"],
            ),
            ("{kind: StorageClass, name: d}", "x: 1", vec![]),
        ] {
            let class: Class = crate::decode::decode(&node(class)).unwrap();
            let made = class.made(Some(&node(values))).into_iter();
            let defaults: Vec<_> = made.filter(|made| made.is_default).map(|made| made.name).collect();
            assert_eq!(defaults, expected, "{class:?} under {values}");
        }
    }

    #[test]
    fn patterns_name_what_is_made() {
        let object = node(
            "metadata: {name: db}\nspec: {target: {name: creds}, users: [{name: a}, {name: b}], rules: [{labels: {x.example.com/one: 1}}, {}, {labels: {x.example.com/two: 1}}]}",
        );
        for (pattern, expected) in [
            ("{metadata.name}-app", vec!["db-app"]),
            ("{spec.target.name|metadata.name}", vec!["creds"]),
            ("{spec.nowhere|metadata.name}", vec!["db"]),
            ("{spec.nowhere}", vec![]),
            ("{metadata.name}-{spec.users[].name}", vec!["db-a", "db-b"]),
            ("{spec.rules[].labels.*}", vec!["x.example.com/one", "x.example.com/two"]),
            ("plain", vec!["plain"]),
            ("{broken", vec![]),
        ] {
            assert_eq!(Made::all_names(pattern, &object), expected, "{pattern}");
        }
        assert_eq!(Made::names("{metadata.name}-{spec.users[].name}", &object).as_deref(), Some("db-a"));
    }

    #[test]
    fn full_names_follow_the_starter_chart() {
        for (release, values, expected) in [
            ("loki", "{}", "loki"),
            ("logs", "{}", "logs-loki"),
            ("logs", "fullnameOverride: l", "l"),
            ("logs", "nameOverride: og", "logs"),
        ] {
            assert_eq!(full_name(release, "loki", Some(&node(values))), expected, "{release} with {values}");
        }
    }
}
