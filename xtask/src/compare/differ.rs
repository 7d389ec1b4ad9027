//! Where two JSON documents differ. Entries of lists meet by identity and not by place, so that one more is one difference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::fields::{identities, is_wording};
use super::names::text;

/// One place at which two outputs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// Which field it is, whatever the entry: `check.findings[].severity`.
    pub field: String,
    /// Which one exactly, with the identity of each entry on the way.
    pub place: String,
    /// What each has there.
    pub old: Option<String>,
    pub new: Option<String>,
    /// Both say something, in other words.
    pub is_wording: bool,
}

/// Every difference between two documents of one command.
pub(super) fn differences(command: &str, old: &Value, new: &Value) -> Vec<Difference> {
    let mut differ = Differ::default();
    differ.compare(&At { field: command.to_owned(), place: command.to_owned() }, old, new);
    differ.found
}

/// Where in a document.
#[derive(Clone)]
struct At {
    field: String,
    place: String,
}

impl At {
    fn key(&self, key: &str) -> Self {
        Self { field: format!("{}.{key}", self.field), place: format!("{}.{key}", self.place) }
    }

    fn entry(&self, identity: &str) -> Self {
        Self { field: format!("{}[]", self.field), place: format!("{}[{identity}]", self.place) }
    }
}

#[derive(Default)]
struct Differ {
    found: Vec<Difference>,
}

impl Differ {
    fn add(&mut self, at: &At, old: Option<String>, new: Option<String>, is_wording: bool) {
        let At { field, place } = at.clone();
        self.found.push(Difference { field, place, old, new, is_wording });
    }

    fn compare(&mut self, at: &At, old: &Value, new: &Value) {
        match (old, new) {
            _ if old == new => {}
            _ if is_wording(&at.field) => self.wording(at, old, new),
            (Value::Object(old), Value::Object(new)) => {
                let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
                for key in keys {
                    self.maybe(&at.key(key), old.get(key), new.get(key));
                }
            }
            (Value::Array(old), Value::Array(new)) => self.lists(at, old, new),
            _ => self.add(at, Some(text(old)), Some(text(new)), false),
        }
    }

    fn maybe(&mut self, at: &At, old: Option<&Value>, new: Option<&Value>) {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(at, old, new),
            _ => self.add(at, old.map(text), new.map(text), false),
        }
    }

    /// Only what it says may differ: whether there is a text, and how many, is no wording.
    fn wording(&mut self, at: &At, old: &Value, new: &Value) {
        match (old, new) {
            (Value::String(old), Value::String(new)) if old.is_empty() == new.is_empty() => {
                self.add(at, Some(old.clone()), Some(new.clone()), true);
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (index, (old, new)) in old.iter().zip(new).enumerate().filter(|(_, (old, new))| old != new) {
                    self.wording(&At { place: format!("{}[{index}]", at.place), ..at.clone() }, old, new);
                }
            }
            _ => self.add(at, Some(text(old)), Some(text(new)), false),
        }
    }

    fn lists(&mut self, at: &At, old: &[Value], new: &[Value]) {
        let (pairs, gone, come) = matched(&at.field, old, new);
        for (from, to, identity) in &pairs {
            self.compare(&at.entry(identity), &old[*from], &new[*to]);
        }
        for index in gone {
            self.add(&at.entry(&identity_of(&at.field, &old[index])), Some(text(&old[index])), None, false);
        }
        for index in come {
            self.add(&at.entry(&identity_of(&at.field, &new[index])), None, Some(text(&new[index])), false);
        }
        if !pairs.is_sorted_by_key(|(_, to, _)| *to) {
            let order = |of: &dyn Fn(&(usize, usize, String)) -> usize| {
                let mut sorted: Vec<_> = pairs.iter().collect();
                sorted.sort_by_key(|pair| of(pair));
                Some(sorted.iter().map(|(.., identity)| identity.as_str()).collect::<Vec<_>>().join(", "))
            };
            self.add(&at.key("(order)"), order(&|pair| pair.0), order(&|pair| pair.1), false);
        }
    }
}

/// Entries that are the same one, by their places in both lists and with what names them; those only the old list has, and
/// those only the new one has.
type Matched = (Vec<(usize, usize, String)>, Vec<usize>, Vec<usize>);

fn matched(field: &str, old: &[Value], new: &[Value]) -> Matched {
    let (mut gone, mut come): (Vec<usize>, Vec<usize>) = ((0..old.len()).collect(), (0..new.len()).collect());
    let mut pairs = Vec::new();
    let mut pair_by = |key: &dyn Fn(&Value) -> String, gone: &mut Vec<usize>, come: &mut Vec<usize>| {
        let mut waiting: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for index in come.iter().rev() {
            waiting.entry(key(&new[*index])).or_default().push(*index);
        }
        gone.retain(|index| {
            let Some(partner) = waiting.get_mut(&key(&old[*index])).and_then(Vec::pop) else { return true };
            come.retain(|other| *other != partner);
            pairs.push((*index, partner, identity_of(field, &old[*index])));
            false
        });
    };
    pair_by(&Value::to_string, &mut gone, &mut come);
    let identities = identities(field);
    for pointers in identities {
        pair_by(&|entry| identity(pointers, entry), &mut gone, &mut come);
    }
    if identities.is_empty() && gone.len() == come.len() {
        let rest = gone.drain(..).zip(come.drain(..));
        pairs.extend(rest.map(|(from, to)| (from, to, from.to_string())).collect::<Vec<_>>());
    }
    pairs.sort_by_key(|(from, ..)| *from);
    (pairs, gone, come)
}

/// What names an entry of a list: its strictest identity, or all of it.
fn identity_of(field: &str, entry: &Value) -> String {
    identities(field).first().map_or_else(|| text(entry), |pointers| identity(pointers, entry))
}

fn identity(pointers: &[&str], entry: &Value) -> String {
    pointers.iter().map(|pointer| entry.pointer(pointer).map_or("-".to_owned(), text)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Difference, differences};

    fn finding(component: &str, line: u32) -> Value {
        json!({
            "rule": "missing-dependency", "severity": "info", "message": "m", "cluster": "c",
            "component": {"kind": "K", "namespace": "n", "name": component}, "provider": null, "capability": null,
            "locations": [{"path": "a.yaml", "line": line, "column": 1, "role": "primary", "label": "l"}],
            "fix": "do", "notes": [],
        })
    }

    fn check(old: &Value, new: &Value) -> Vec<(String, Option<String>, Option<String>, bool)> {
        let found = differences("check", old, new);
        found.into_iter().map(|Difference { field, old, new, is_wording, .. }| (field, old, new, is_wording)).collect()
    }

    fn changed(field: &str, old: &str, new: &str, is_wording: bool) -> (String, Option<String>, Option<String>, bool) {
        (field.to_owned(), Some(old.to_owned()), Some(new.to_owned()), is_wording)
    }

    #[test]
    fn equal_documents_have_no_difference() {
        let document = json!({"findings": [finding("a", 1), finding("b", 2)]});
        assert_eq!(check(&document, &document), []);
    }

    #[test]
    fn one_finding_more_is_one_difference() {
        let old = json!({"findings": [finding("b", 1), finding("c", 1)]});
        let new = json!({"findings": [finding("a", 1), finding("b", 1), finding("c", 1)]});
        let found = differences("check", &old, &new);
        let [Difference { field, place, old: None, new: Some(_), .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!(field, "check.findings[]");
        assert_eq!(place, "check.findings[missing-dependency c K n/a - - a.yaml 1]");
        assert_eq!(differences("check", &new, &old).len(), 1, "and one less, too");
    }

    #[test]
    fn a_finding_that_moved_is_the_same_finding() {
        let (old, new) = (json!({"findings": [finding("a", 1)]}), json!({"findings": [finding("a", 2)]}));
        assert_eq!(check(&old, &new), [changed("check.findings[].locations[].line", "1", "2", false)]);
    }

    #[test]
    fn twins_meet_one_by_one() {
        let twins = |severities: [&str; 2]| {
            let twin = |severity| {
                let mut finding = finding("a", 1);
                finding["severity"] = json!(severity);
                finding
            };
            json!({"findings": severities.map(twin)})
        };
        assert_eq!(check(&twins(["info", "error"]), &twins(["info", "error"])), []);
        let found = check(&twins(["info", "error"]), &twins(["info", "warning"]));
        assert_eq!(found, [changed("check.findings[].severity", "error", "warning", false)]);
    }

    #[test]
    fn another_order_is_a_difference() {
        let (a, b) = (finding("a", 1), finding("b", 1));
        let found = check(&json!({"findings": [a, b]}), &json!({"findings": [b, a]}));
        assert_eq!(found.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["check.findings.(order)"]);
    }

    #[test]
    fn only_words_are_wording() {
        let with = |field: &str, value: Value| {
            let mut finding = finding("a", 1);
            finding[field] = value;
            json!({"findings": [finding]})
        };
        let old = json!({"findings": [finding("a", 1)]});
        let said = check(&old, &with("message", json!("other")));
        assert_eq!(said, [changed("check.findings[].message", "m", "other", true)]);
        for (field, value) in [
            ("fix", Value::Null),
            ("fix", json!("")),
            ("notes", json!(["one"])),
            ("severity", json!("error")),
            ("capability", json!("cluster DNS")),
        ] {
            let found = check(&old, &with(field, value.clone()));
            assert!(matches!(&found[..], [(.., false)]), "{field} {value}: {found:?}");
        }
    }

    #[test]
    fn a_field_that_goes_or_comes_is_a_difference() {
        let found = check(&json!({"summary": {"errors": 1}}), &json!({"summary": {"warnings": 1}}));
        assert_eq!(
            found,
            [
                ("check.summary.errors".to_owned(), Some("1".to_owned()), None, false),
                ("check.summary.warnings".to_owned(), None, Some("1".to_owned()), false)
            ]
        );
    }

    #[test]
    fn plain_lists_differ_by_their_entries() {
        let found = differences("graph", &json!({"x": ["a", "b"]}), &json!({"x": ["a", "c"]}));
        let [Difference { field, old, new, .. }] = &found[..] else { panic!("{found:?}") };
        assert_eq!((field.as_str(), old.as_deref(), new.as_deref()), ("graph.x[]", Some("b"), Some("c")));
        assert_eq!(differences("graph", &json!({"x": ["a"]}), &json!({"x": ["a", "c"]})).len(), 1);
        assert_eq!(differences("graph", &json!({"x": ["a", "b"]}), &json!({"x": ["b", "a"]})).len(), 1);
        assert_eq!(differences("graph", &json!({"x": 1}), &json!({"x": "1"})).len(), 1, "a number is no text");
    }
}
