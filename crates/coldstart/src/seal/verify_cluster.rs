//! What `coldstart seal verify --cluster` asks a cluster.

use ::seal::Ring;
use ::seal::date;
use ::seal::renewal::Renewal;
use diagnostic::seal::{Cause, ClusterFault, SealFault};
use diagnostic::{Next, next};
use model::ObjectRef;
use serde_json::Value;
use source::FileId;
use time::Duration;
use yaml::parse_value;

use super::arguments::Target;
use super::cluster::{Cluster, Kind, containers, controller_namespace, pairs_of};
use super::failure::SealFailure;
use super::report::{Report, Spot};
use super::{Home, now};

const PERIOD_DAYS_DEFAULT: i64 = 30;

pub(crate) fn check(home: &Home<'_>, ring: &Ring, target: &Target, report: &mut Report) -> Result<(), SealFailure> {
    let cluster = Cluster::connect(target.context.as_deref())?;
    let namespace = controller_namespace(home, target);
    let mut there = Vec::new();
    for secret in cluster.key_secrets(&namespace)? {
        let name = secret["metadata"]["name"].as_str().unwrap_or_default();
        let spot = || Spot::Object(ObjectRef::new("Secret", namespace.as_str(), name));
        match pairs_of(&secret) {
            Err(error) => {
                report.error(spot(), SealFault::Cluster(ClusterFault::NotAKey { why: Cause::new(error) }), None);
            }
            Ok(pairs) => {
                for one in pairs {
                    let fingerprint = one.pair.fingerprint();
                    there.push((one.pair.certificate().not_before(), fingerprint));
                    if !ring.contains(fingerprint) {
                        let fault = ClusterFault::KeyNotInStore { key: fingerprint.id() };
                        report.error(spot(), SealFault::Cluster(fault), Some(Next::Seal(next::Seal::AdoptCluster)));
                    }
                }
            }
        }
    }
    there.sort();
    for held in ring.keys().iter().filter(|held| !there.iter().any(|(_, key)| *key == held.pair.fingerprint())) {
        let fault = ClusterFault::KeyNotInCluster { key: held.pair.id() };
        report.note(Spot::Cluster, SealFault::Cluster(fault), Some(Next::Seal(next::Seal::Deploy)));
    }
    let newest = there.last().map(|(from, _)| *from);
    let Some(controller) = cluster.controller(&namespace, home.settings.controller.name.as_deref())? else {
        report.note(Spot::Cluster, SealFault::Cluster(ClusterFault::NoController { namespace }), None);
        return Ok(());
    };
    let name = controller["metadata"]["name"].as_str().unwrap_or_default();
    let spot = Spot::Object(ObjectRef::new("Deployment", namespace.as_str(), name));
    let due = newest.map(|from| from + Duration::days(PERIOD_DAYS_DEFAULT));
    match renewal_of(&controller) {
        Renewal::Off(_) => {}
        Renewal::Every(said) => {
            report.error(spot, SealFault::Cluster(ClusterFault::RenewsEvery { period: said.every }), None);
        }
        Renewal::Unsaid | Renewal::UnsaidInArguments(_) | Renewal::Unquoted(_) => {
            let on = due.filter(|due| *due > now()).map(date);
            report.error(spot, SealFault::Cluster(ClusterFault::RenewsByItself { on }), None);
        }
    }
    if cluster.get(Kind::Namespace, None, &namespace)?.is_none() {
        report.note(Spot::Cluster, SealFault::Cluster(ClusterFault::NoNamespace { namespace }), None);
    }
    Ok(())
}

fn renewal_of(deployment: &Value) -> Renewal {
    let is_ours = |one: &&Value| one["image"].as_str().is_some_and(|image| image.contains("sealed-secrets-controller"));
    let Some(container) = containers(deployment).find(is_ours) else { return Renewal::Unsaid };
    let words: Vec<&Value> =
        ["command", "args"].iter().filter_map(|field| container[*field].as_array()).flatten().collect();
    let node = parse_value(FileId::GENERATED, &Value::Array(words.into_iter().cloned().collect()).to_string());
    Renewal::of_arguments(node.as_ref().and_then(yaml::Node::as_seq).unwrap_or_default())
}
