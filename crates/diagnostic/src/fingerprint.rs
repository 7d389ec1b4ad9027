//! What makes a finding the same finding tomorrow: who misses what of whom, and in which file. No line, no wording and no
//! severity, which change without the fault changing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use source::Sources;

use crate::Finding;

/// The identity of a finding. Two findings may share one; then their number counts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Fingerprint {
    pub rule: String,
    pub cluster: String,
    /// `Kind namespace/name`.
    pub component: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Only where there is no provider: of all that one component needs of another, which comes first may change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    /// The file of the primary location; empty where no file holds it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
}

impl Fingerprint {
    /// Of a finding whose places are in these files.
    pub fn of(finding: &Finding, sources: &impl Sources) -> Self {
        let path = finding.primary.at.file().and_then(|file| sources.path(file));
        Self::at(finding, path)
    }

    /// The same, of a finding whose primary location is in this file.
    pub fn at(finding: &Finding, path: Option<&str>) -> Self {
        let provider = finding.provider.as_ref().map(ToString::to_string);
        Self {
            rule: finding.rule.id.to_owned(),
            cluster: finding.cluster.clone(),
            component: finding.component.to_string(),
            capability: finding.subject.as_ref().filter(|_| provider.is_none()).map(ToString::to_string),
            provider,
            path: path.unwrap_or_default().to_owned(),
        }
    }

    /// As if its file were not known: files move, and the fault moves with them.
    fn anywhere(&self) -> Self {
        Self { path: String::new(), ..self.clone() }
    }
}

/// Fingerprints that were there before, each with its number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    counts: BTreeMap<Fingerprint, usize>,
}

impl Known {
    pub(crate) fn add(&mut self, fingerprint: Fingerprint, count: usize) {
        *self.counts.entry(fingerprint).or_default() += count;
    }

    /// Which of these findings were there before. What is known is used up by it; the rest stays.
    pub(crate) fn take(&mut self, findings: &[Fingerprint]) -> Vec<bool> {
        let mut known: Vec<bool> = findings.iter().map(|fingerprint| take_one(&mut self.counts, fingerprint)).collect();
        // Whoever found no equal may have an entry from before its file was moved.
        let mut moved: BTreeMap<Fingerprint, Vec<Fingerprint>> = BTreeMap::new();
        for (fingerprint, count) in &self.counts {
            let entries = std::iter::repeat_n(fingerprint.clone(), *count);
            moved.entry(fingerprint.anywhere()).or_default().extend(entries);
        }
        for (fingerprint, known) in findings.iter().zip(&mut known).filter(|(_, known)| !**known) {
            if let Some(before) = moved.get_mut(&fingerprint.anywhere()).and_then(Vec::pop) {
                *known = take_one(&mut self.counts, &before);
            }
        }
        known
    }

    /// What nothing used up.
    pub(crate) fn rest(self) -> impl Iterator<Item = (Fingerprint, usize)> {
        self.counts.into_iter()
    }
}

fn take_one(counts: &mut BTreeMap<Fingerprint, usize>, fingerprint: &Fingerprint) -> bool {
    let Some(count) = counts.get_mut(fingerprint) else { return false };
    *count -= 1;
    if *count == 0 {
        counts.remove(fingerprint);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{Fingerprint, Known};

    fn fingerprint(component: &str, path: &str) -> Fingerprint {
        Fingerprint {
            rule: "slow-retry".to_owned(),
            cluster: "clusters/home".to_owned(),
            component: component.to_owned(),
            provider: None,
            capability: None,
            path: path.to_owned(),
        }
    }

    #[test]
    fn a_finding_is_known_as_often_as_it_was_there() {
        let mut known = Known::default();
        known.add(fingerprint("a", "a.yaml"), 2);
        let now = [fingerprint("a", "a.yaml"), fingerprint("a", "a.yaml"), fingerprint("a", "a.yaml")];
        assert_eq!(known.take(&now), [true, true, false]);
        assert_eq!(known.rest().count(), 0);
    }

    #[test]
    fn a_file_that_moved_takes_its_finding_along_but_not_that_of_another() {
        let mut known = Known::default();
        known.add(fingerprint("a", "old/a.yaml"), 1);
        known.add(fingerprint("b", "b.yaml"), 1);
        let now = [fingerprint("a", "new/a.yaml"), fingerprint("c", "b.yaml")];
        assert_eq!(known.take(&now), [true, false]);
        assert_eq!(known.rest().map(|(rest, _)| rest.component).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn an_equal_is_preferred_to_one_from_another_file() {
        let mut known = Known::default();
        known.add(fingerprint("a", "two.yaml"), 1);
        assert_eq!(known.take(&[fingerprint("a", "one.yaml"), fingerprint("a", "two.yaml")]), [false, true]);
    }
}
