//! Selectors of helmfile: `tier=early,name!=web` means the releases whose labels say all of that.

use std::collections::BTreeMap;

use yaml::EcoString;

/// What is known of the labels of a release.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    /// `None` for a value that a template decides.
    values: BTreeMap<EcoString, Option<EcoString>>,
    /// There may be others.
    pub(super) is_open: bool,
}

impl Labels {
    /// Sets a label; one that is set to something else already is not known any more.
    pub(super) fn add(&mut self, key: &str, value: Option<&str>) {
        let value = value.filter(|text| !text.is_empty() && is_word(text)).map(EcoString::from);
        let known = self.values.entry(key.into()).or_insert_with(|| value.clone());
        if *known != value {
            *known = None;
        }
    }

    /// Sets a label, whatever it was before.
    pub(super) fn set(&mut self, key: &str, value: Option<&str>) {
        self.values.remove(key);
        self.add(key, value);
    }
}

/// One `--selector`: all of its terms hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Selector(Vec<Term>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    key: String,
    value: String,
    is_not: bool,
}

impl Selector {
    /// `None` where it is none, or a template or variable decides.
    pub(super) fn parse(text: &str) -> Option<Self> {
        text.split(',').map(Term::parse).collect::<Option<Vec<Term>>>().map(Self)
    }

    /// Whether it calls one release by its name.
    pub(super) fn is_name(&self) -> bool {
        self.0.iter().any(|term| term.key == "name" && !term.is_not)
    }

    /// Whether it means a release with these labels, as far as they are known.
    pub(super) fn may_match(&self, labels: &Labels) -> bool {
        self.0.iter().all(|term| match labels.values.get(term.key.as_str()) {
            Some(Some(value)) => (**value == *term.value) != term.is_not,
            Some(None) => true,
            None => labels.is_open || term.is_not,
        })
    }
}

impl Term {
    fn parse(text: &str) -> Option<Self> {
        let (key, value) = text.split_once('=')?;
        let (key, is_not) = key.strip_suffix('!').map_or((key, false), |key| (key, true));
        let is_term = !key.is_empty() && !value.is_empty() && is_word(key) && is_word(value);
        is_term.then(|| Self { key: key.to_owned(), value: value.to_owned(), is_not })
    }
}

/// Whether helmfile takes it for a part of a selector.
fn is_word(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_./+-".contains(letter))
}

#[cfg(test)]
mod tests {
    use super::{Labels, Selector};

    fn labels() -> Labels {
        let mut labels = Labels::default();
        labels.add("tier", Some("early"));
        labels.add("zone", None);
        labels.add("both", Some("one"));
        labels.add("both", Some("two"));
        labels.set("name", Some("web"));
        labels
    }

    #[test]
    fn all_terms_hold() {
        let means = |text: &str| Selector::parse(text).unwrap().may_match(&labels());
        assert!(means("tier=early") && means("tier=early,name=web") && means("tier!=late") && means("other!=x"));
        assert!(!means("tier=late") && !means("tier=early,name=shop") && !means("tier!=early") && !means("other=x"));
    }

    #[test]
    fn what_is_not_known_may_hold() {
        let mut labels = labels();
        let selector = |text: &str| Selector::parse(text).unwrap();
        assert!(selector("zone=a").may_match(&labels) && selector("zone!=a").may_match(&labels));
        assert!(selector("both=one").may_match(&labels) && selector("both=two").may_match(&labels));
        labels.is_open = true;
        assert!(selector("other=x").may_match(&labels) && !selector("tier=late").may_match(&labels));
    }

    #[test]
    fn what_is_no_selector_is_none() {
        for text in ["", "tier", "tier=", "=early", "tier=$TIER", "tier=early,", "a=b=c"] {
            assert_eq!(Selector::parse(text), None, "{text}");
        }
    }
}
