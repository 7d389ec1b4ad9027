//! From what was seen to go wrong to the finding that had said so.

use model::{Capability, CapabilityKind, ObjectRef};

use crate::{Finding, Rule};

/// What was seen of a component, in a simulated boot or in a real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Symptom {
    /// It waits, and what it waits for waits for it.
    Circle,
    DependencyNotFound,
    /// What it depends on never begins.
    DependencyNotReady,
    SourceNotFound,
    BuildFailed,
    VariablesNotFound,
    UndefinedVariable,
    UnknownKind,
    NamespaceNotFound,
    WebhookDown,
    NotHealthy,
    ValuesNotFound,
    InstallFailed,
    Unsealable,
    LeftOut,
}

/// What the component misses, as far as it was seen: the finding must be about it, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missed {
    /// Kinds of this API group, or whatever is asked about them.
    Group(String),
    /// An object of this name.
    Name(String),
    /// This namespace, or something in it.
    Namespace(String),
    SecretStore,
}

impl Missed {
    pub(crate) fn is(&self, capability: &Capability) -> bool {
        match self {
            Self::Group(group) => {
                let of_kinds = [CapabilityKind::Crd, CapabilityKind::Webhook, CapabilityKind::Controller];
                let own = capability.name.split('/').next().unwrap_or_default();
                // An operator may have groups below its own: `generators.external-secrets.io`.
                let above = own.strip_suffix(group.as_str());
                let is_of_group = above.is_some_and(|above| above.is_empty() || above.ends_with('.'));
                !group.is_empty() && is_of_group && of_kinds.contains(&capability.kind)
            }
            Self::Name(name) => !name.is_empty() && capability.name == *name,
            Self::Namespace(namespace) => {
                let is_it = capability.kind == CapabilityKind::Namespace && capability.name == *namespace;
                !namespace.is_empty() && (is_it || capability.namespace == *namespace)
            }
            Self::SecretStore => capability.kind == CapabilityKind::SecretStore,
        }
    }
}

impl Symptom {
    /// The finding that speaks of this symptom of a component. `near` are components that may stand for it in a report,
    /// the nearest first: the component itself, the Kustomization that applies it, the releases it applies. `missed` is what
    /// the finding must be about, where that is known.
    pub fn finding<'f>(
        self,
        findings: &'f [Finding],
        near: &[ObjectRef],
        missed: Option<&Missed>,
    ) -> Option<&'f Finding> {
        near.iter().find_map(|component| {
            let is_of = |finding: &Finding| {
                finding.component == *component || finding.also.iter().any(|also| also.component == *component)
            };
            let speaks = |finding: &&Finding| is_meant(finding, missed) && is_of(finding);
            let ranked = findings.iter().filter_map(|finding| Some((self.rank(finding.rule)?, finding)));
            // Of several with the same rank the first counts.
            ranked.filter(|(_, finding)| speaks(finding)).min_by_key(|(rank, _)| *rank).map(|(_, finding)| finding)
        })
    }

    /// How well a rule explains it, the least the best; nothing where it does not.
    fn rank(self, rule: &Rule) -> Option<u8> {
        rule.explains.iter().find(|explains| explains.symptom == self).map(|explains| explains.rank)
    }
}

fn is_meant(finding: &Finding, missed: Option<&Missed>) -> bool {
    let Some(missed) = missed else { return true };
    finding.rule.is_about_everything || finding.subject.as_ref().is_some_and(|subject| subject.is_missed(missed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Absence, Explains, Location, Severity, Site};

    static TELLING: Rule =
        Rule::new("telling", "the most telling", "").explains(&[Explains::new(Symptom::UnknownKind, 1)]);
    static VAGUE: Rule = Rule::new("vague", "less telling", "").explains(&[Explains::new(Symptom::UnknownKind, 5)]);

    fn finding(rule: &'static Rule, name: &str) -> Finding {
        let component = ObjectRef::new("Kustomization", "apps", name);
        let statement = Absence::NotApplied { object: component.clone() };
        let primary = Location { at: Site::Nowhere, label: None };
        Finding::new(rule, Severity::Warning, "cluster", &component, statement, primary)
    }

    #[test]
    fn the_nearest_component_and_the_most_telling_rule_win() {
        let all = [finding(&VAGUE, "app"), finding(&TELLING, "app"), finding(&VAGUE, "parent")];
        let near = |name: &str| ObjectRef::new("Kustomization", "apps", name);
        let found = Symptom::UnknownKind.finding(&all, &[near("app"), near("parent")], None);
        assert_eq!(found.map(|finding| finding.rule), Some(&TELLING));
        let found = Symptom::UnknownKind.finding(&all, &[near("other"), near("parent")], None);
        assert_eq!(found.map(|finding| finding.component.name.as_str()), Some("parent"));
        let missed = Missed::Group("cert-manager.io".to_owned());
        assert!(Symptom::UnknownKind.finding(&all, &[near("app")], Some(&missed)).is_none());
        assert!(Symptom::Circle.finding(&all, &[near("parent")], None).is_none());
    }

    #[test]
    fn what_is_missed_is_told_from_what_has_its_letters() {
        let crd = Capability::crd("cert-manager.io", "Certificate");
        assert!(Missed::Group("cert-manager.io".to_owned()).is(&crd));
        assert!(!Missed::Group("manager.io".to_owned()).is(&crd));
        assert!(!Missed::Group(String::new()).is(&crd));
        let below = Capability::crd("acme.cert-manager.io", "Order");
        assert!(Missed::Group("cert-manager.io".to_owned()).is(&below));
        let secret = Capability::new(CapabilityKind::Secret, "apps", "values");
        assert!(Missed::Name("values".to_owned()).is(&secret) && !Missed::Name("value".to_owned()).is(&secret));
        assert!(Missed::Namespace("apps".to_owned()).is(&secret));
        assert!(Missed::SecretStore.is(&Capability::cluster(CapabilityKind::SecretStore, "vault")));
    }
}
