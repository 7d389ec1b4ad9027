//! What losing a race costs.

use diagnostic::{Cost, NeverCost, RaceCost};
use graph::Judged;
use model::{CapabilityKind, Component, Consequence, Need, Phase, Retry, RetryField, Role};

/// The cost of a need that is not met, to the component that feels it.
pub(crate) fn cost(judged: &Judged, need: &Need, component: &Component) -> Cost {
    match judged.consequence {
        Consequence::Deadlock => NeverCost::Converges.into(),
        Consequence::Terminal { .. } if need.capability.kind == CapabilityKind::Webhook => {
            RaceCost::InstallRefused.into()
        }
        Consequence::Terminal { certain } => RaceCost::InstallFails {
            is_certain: certain,
            timeout_seconds: component.patience.total_seconds(),
            needed_seconds: (judged.wait_seconds > 0).then_some(judged.wait_seconds),
        }
        .into(),
        Consequence::Silent => RaceCost::BuiltWithout.into(),
        Consequence::Slow { seconds } => slow(judged, need, component, seconds).into(),
        Consequence::Safe { spare_seconds } => {
            let timeout_seconds = component.patience.timeout_seconds;
            RaceCost::InTime { needed_seconds: timeout_seconds.saturating_sub(spare_seconds), timeout_seconds }.into()
        }
        Consequence::Noise => RaceCost::Seconds.into(),
        Consequence::Nothing => RaceCost::NoneWithBootstrap.into(),
    }
}

fn slow(judged: &Judged, need: &Need, component: &Component, seconds: u64) -> RaceCost {
    if need.capability.kind == CapabilityKind::SecretStore {
        return RaceCost::AsksAgain { seconds };
    }
    let is_retried = matches!(component.patience.retry, Retry::Every(_));
    match (component.role, component.patience.retry_field) {
        (Role::HelmRelease, field) if is_retried && need.phase > Phase::Apply => {
            RaceCost::TriesAgain { seconds, field }
        }
        (Role::HelmRelease, _) => RaceCost::TriesAgainWithPauses { seconds },
        (_, Some(RetryField::Interval)) if need.phase <= Phase::Apply => RaceCost::WaitsInterval { seconds },
        (_, field) if need.phase <= Phase::Apply => RaceCost::Waits { seconds, field },
        _ => RaceCost::Outlasts { more_seconds: judged.wait_seconds.min(seconds), seconds },
    }
}
