//! Two or three faults at once, of which none is the cause of another.

use std::time::Duration;

use super::scene::Scene;
use super::{Case, Sort, Truth, api, applications, certificates, gitops, network, nodes, platform, secrets, storage};
use crate::LabError;

const MINUTE: Duration = Duration::from_mins(1);
const HALF: Duration = Duration::from_secs(30);

pub(super) const CASES: &[Case] = &[
    Case::new("wrong-dependency-and-expired-certificate", Sort::Several, |it| {
        both(it, gitops::wrong_dependency, certificates::expired)
    }),
    Case::new("driver-source-and-image", Sort::Several, |it| {
        let truth = both(it, storage::unregistered, gitops::suspended_source)?;
        Ok(truth.and(applications::no_image(it)?))
    })
    .ripe(MINUTE),
    Case::new("dns-and-wrong-dependency", Sort::Several, |it| both(it, network::dns_crashes, gitops::wrong_dependency)),
    Case::new("webhook-and-store", Sort::Several, |it| both(it, api::no_webhook, secrets::store)),
    Case::new("issuer-and-failing-app", Sort::Several, |it| both(it, certificates::issuer, gitops::failing_app)),
    Case::new("gateway-and-sealed-secret", Sort::Several, |it| both(it, platform::class, secrets::one_sealed)),
    Case::new("cordon-and-crd", Sort::Consequence, |it| both(it, nodes::cordoned, gitops::crd_missing)).ripe(HALF),
    Case::new("store-and-wrong-dependency", Sort::Consequence, |it| both(it, secrets::store, gitops::wrong_dependency)),
    Case::new("sealing-key-and-image", Sort::Consequence, |it| both(it, secrets::key_lost, applications::no_image)),
    Case::new("webhook-image-and-gateway", Sort::Consequence, |it| both(it, api::webhook_image, platform::class)),
];

type Act = fn(&Scene<'_>) -> Result<Truth, LabError>;

fn both(scene: &Scene<'_>, one: Act, other: Act) -> Result<Truth, LabError> {
    let truth = one(scene)?;
    Ok(truth.and(other(scene)?))
}
