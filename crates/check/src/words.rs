//! How findings say things.

use graph::{Consequence, Judged};
use model::{CapabilityKind, Component, Need, Phase, Retry, Role, say_seconds};

/// `namespace/name` in backticks.
pub(crate) fn quoted(component: &Component) -> String {
    format!("`{}`", component.object.path())
}

/// What losing the race costs, as a clause.
pub(crate) fn cost(judged: &Judged, need: &Need, component: &Component) -> String {
    match judged.consequence {
        Consequence::Deadlock => "never converges".to_owned(),
        Consequence::Terminal { .. } if need.capability.kind == CapabilityKind::Webhook => {
            "if the race is lost, the install is refused, and stalls until somebody acts".to_owned()
        }
        Consequence::Terminal { certain } => {
            let timeout = say_seconds(component.patience.total_seconds());
            let waits = if judged.wait_seconds > 0 {
                format!(", about {} needed", say_seconds(judged.wait_seconds))
            } else {
                String::new()
            };
            let when = if certain { "" } else { "if the race is lost, " };
            format!("{when}the install fails after {timeout}{waits}, and stalls until somebody acts")
        }
        Consequence::Silent => "built without it, and nothing says so".to_owned(),
        Consequence::Slow { seconds } => slow(judged, need, component, seconds),
        Consequence::Safe { spare_seconds } => {
            format!("none in practice: it comes about {} before the timeout", say_seconds(spare_seconds))
        }
        Consequence::Noise => "seconds: it tries again by itself".to_owned(),
        Consequence::Nothing => "none at a rebuild with the bootstrap; luck without it".to_owned(),
    }
}

fn slow(judged: &Judged, need: &Need, component: &Component, seconds: u64) -> String {
    let waits = say_seconds(seconds);
    if need.capability.kind == CapabilityKind::SecretStore {
        return format!("its ExternalSecrets fail, and ask again with growing pauses: about {waits}");
    }
    match (component.role, component.patience.retry_field) {
        (Role::HelmRelease, field)
            if matches!(component.patience.retry, Retry::Every(_)) && need.phase > Phase::Apply =>
        {
            format!("if the race is lost, tries again after {waits} ({field})")
        }
        (Role::HelmRelease, _) => format!("if the race is lost, tries again with growing pauses: about {waits}"),
        (_, "interval") if need.phase <= Phase::Apply => {
            format!("if the race is lost, waits {waits} (interval; no retryInterval)")
        }
        (_, field) if need.phase <= Phase::Apply => format!("if the race is lost, waits {waits} ({field})"),
        _ => format!(
            "if it takes longer than the timeout, waits {} more ({waits} in all)",
            say_seconds(judged.wait_seconds.min(seconds))
        ),
    }
}

/// The verb as it stands after that many: `depends`, `depend`.
pub(crate) fn agree<'a>(count: usize, one: &'a str, many: &'a str) -> &'a str {
    if count == 1 { one } else { many }
}

/// The first names, and how many more there are.
pub(crate) fn listed(names: &[String], shown: usize) -> String {
    format!("{}{}", names[..names.len().min(shown)].join(", "), and_more(shown, names.len()))
}

/// `and 3 more` for what does not fit.
pub(crate) fn and_more(shown: usize, all: usize) -> String {
    if all > shown { format!(" and {} more", all - shown) } else { String::new() }
}
