//! From what was seen to go wrong to the finding that had said so.

use model::ObjectRef;

use crate::finding::Finding;

/// Its webhook is asked about every kind.
const WEBHOOK_OF_EVERYTHING: &str = "webhook-race";

/// What somebody saw of a component, in a simulated boot or in a real one.
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

impl Symptom {
    /// The rules that speak of it, the most telling first.
    const fn rules(self) -> &'static [&'static str] {
        match self {
            Self::Circle => &["dependency-cycle", "parent-wait-deadlock", "single-stage-deadlock"],
            Self::DependencyNotFound => &["unknown-dependency", "wrong-kind-dependency"],
            Self::DependencyNotReady => &["suspended-dependency", "dependency-cycle", "parent-wait-deadlock"],
            Self::SourceNotFound => &["missing-source", "dependency-cycle", "missing-dependency"],
            Self::BuildFailed => &["broken-build"],
            Self::VariablesNotFound => &[
                "missing-substitution",
                "falsely-ready-gate",
                "ungated-dependency",
                "missing-dependency",
                "bootstrap-only",
            ],
            Self::UndefinedVariable => &["undefined-variable"],
            Self::UnknownKind => &[
                "single-stage-deadlock",
                "uninstalled-crd-chart",
                "falsely-ready-gate",
                "ungated-dependency",
                "missing-dependency",
                "bootstrap-only",
            ],
            Self::NamespaceNotFound => &["missing-dependency", "ungated-dependency"],
            Self::WebhookDown => {
                &["falsely-ready-gate", "ungated-dependency", "missing-dependency", "webhook-race", "bootstrap-only"]
            }
            Self::NotHealthy => &["late-store", "missing-dependency", "ungated-dependency", "missing-secret"],
            Self::ValuesNotFound => {
                &["missing-secret", "missing-dependency", "ungated-dependency", "falsely-ready-gate"]
            }
            Self::InstallFailed => &[
                "terminal-install",
                "missing-dependency",
                "ungated-dependency",
                "falsely-ready-gate",
                "missing-secret",
                "webhook-race",
            ],
            Self::Unsealable => &["missing-secret", "missing-dependency"],
            Self::LeftOut => &["capability-gated"],
        }
    }

    /// The finding that speaks of this symptom of a component. `near` are components that may stand for it in a report,
    /// the nearest first: the component itself, the Kustomization that applies it, the releases it applies. `about` is a word
    /// of what is missed, an API group or a name, which the finding must know too.
    pub fn finding<'f>(self, findings: &'f [Finding], near: &[ObjectRef], about: Option<&str>) -> Option<&'f Finding> {
        let is_meant = |finding: &Finding| {
            let capability = finding.capability.as_deref().unwrap_or_default();
            about.is_none_or(|about| !about.is_empty() && capability.contains(about))
                || finding.rule == WEBHOOK_OF_EVERYTHING
        };
        near.iter().find_map(|component| {
            self.rules().iter().find_map(|rule| {
                let speaks = |finding: &&Finding| {
                    finding.rule == *rule
                        && is_meant(finding)
                        && (finding.component == *component
                            || finding.also.iter().any(|also| also.component == *component))
                };
                findings.iter().find(speaks)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Severity;

    fn finding(rule: &'static str, name: &str) -> Finding {
        let component = ObjectRef::new("Kustomization", "apps", name);
        Finding::new(rule, Severity::Warning, "cluster", &component, String::new(), "")
    }

    #[test]
    fn the_nearest_component_and_the_most_telling_rule_win() {
        let all = [
            finding("missing-dependency", "app"),
            finding("single-stage-deadlock", "app"),
            finding("missing-dependency", "parent"),
        ];
        let near = |name: &str| ObjectRef::new("Kustomization", "apps", name);
        let found = Symptom::UnknownKind.finding(&all, &[near("app"), near("parent")], None);
        assert_eq!(found.map(|finding| finding.rule), Some("single-stage-deadlock"));
        let found = Symptom::UnknownKind.finding(&all, &[near("other"), near("parent")], None);
        assert_eq!(found.map(|finding| finding.component.name.as_str()), Some("parent"));
        assert!(Symptom::UnknownKind.finding(&all, &[near("app")], Some("cert-manager.io")).is_none());
        assert!(Symptom::Circle.finding(&all, &[near("parent")], None).is_none());
    }
}
