//! What `coldstart seal verify --cluster` asks a cluster.

use ::seal::Ring;
use ::seal::date;
use ::seal::renewal::Renewal;
use serde_json::Value;
use time::Duration;
use yaml::{FileId, parse_value};

use super::arguments::Target;
use super::cluster::{Cluster, Kind, containers, controller_namespace, pairs_of};
use super::failure::SealFailure;
use super::verify::Report;
use super::{Home, now};

const PERIOD_DAYS_DEFAULT: i64 = 30;

pub(crate) fn check(home: &Home<'_>, ring: &Ring, target: &Target, report: &mut Report) -> Result<(), SealFailure> {
    let cluster = Cluster::connect(target.context.as_deref())?;
    let namespace = controller_namespace(home, target);
    let mut there = Vec::new();
    for secret in cluster.key_secrets(&namespace)? {
        let place = format!("Secret {namespace}/{}", secret["metadata"]["name"].as_str().unwrap_or_default());
        match pairs_of(&secret) {
            Err(error) => report.error(
                place,
                format!(
                    "is labelled as a sealing key, and is none: {error}; a controller that starts with it ends at once"
                ),
            ),
            Ok(pairs) => {
                for one in pairs {
                    let fingerprint = one.pair.fingerprint();
                    there.push((one.pair.certificate().not_before(), fingerprint));
                    if !ring.contains(fingerprint) {
                        report.error(&place, format!("key {} is active in the cluster and not in the store: a rebuild loses what is sealed with it\n  next: coldstart seal init --adopt-cluster", fingerprint.id()));
                    }
                }
            }
        }
    }
    there.sort();
    for held in ring.keys().iter().filter(|held| !there.iter().any(|(_, key)| *key == held.pair.fingerprint())) {
        report.note(
            "the cluster",
            format!("key {} of the store is not there; next: coldstart seal deploy", held.pair.id()),
        );
    }
    let newest = there.last().map(|(from, _)| *from);
    let Some(controller) = cluster.controller(&namespace, home.settings.controller.name.as_deref())? else {
        report.note("the cluster", format!("there is no Deployment of the controller in {namespace}"));
        return Ok(());
    };
    let place = format!("Deployment {namespace}/{}", controller["metadata"]["name"].as_str().unwrap_or_default());
    let due = newest.map(|from| from + Duration::days(PERIOD_DAYS_DEFAULT));
    match renewal_of(&controller) {
        Renewal::Off(_) => {}
        Renewal::Every(said) => report.error(place, format!("makes a new key every {}", said.every)),
        Renewal::Unsaid | Renewal::UnsaidInArguments(_) | Renewal::Unquoted(_) => {
            let when = match due {
                Some(due) if due > now() => format!("on {}", date(due)),
                _ => "at its next start".to_owned(),
            };
            report.error(place, format!("makes a new key by itself {when}, which no store has; switch it off in the release's values: a change of the Deployment is taken back by GitOps"));
        }
    }
    if cluster.get(Kind::Namespace, None, &namespace)?.is_none() {
        report.note("the cluster", format!("there is no namespace {namespace}"));
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
