//! `coldstart seal deploy`: keys before the controller, or with a restart; and a proof.

use std::fmt::Write as _;

use ::seal::deploy::{canary, key_secret, key_secret_name};
use ::seal::key::KeyPair;
use ::seal::{Ring, SecretBytes, digest_hex};
use diagnostic::{Next, next};
use draw::words::{agree, all};
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;

use super::arguments::{Deploy, Target};
use super::cluster::{Cluster, Kind, controller_namespace, pairs_of};
use super::failure::{ClusterFailure, KeysFailure, SealFailure, WriteFailure};
use super::{Home, now, say};
use crate::confirm::confirm;
use crate::exit::{self, Code};
use crate::failure::{Failure, next_line};
use crate::output;

const PROOF_SECONDS: u64 = 90;
const ROLLOUT_SECONDS: u64 = 180;

pub(crate) fn run(options: &Deploy) -> Result<Code, Failure> {
    let home = Home::open(&options.place)?;
    let (_, kept) = home.keys()?;
    if options.print {
        let namespace = controller_namespace(&home, &options.target);
        let items: Vec<Value> = kept.ring.keys().iter().map(|held| key_secret(&held.pair, &namespace)).collect();
        let list = json!({"apiVersion": "v1", "kind": "List", "items": items});
        output::print_exactly(&format!("{list:#}\n"))?;
        return Ok(exit::CLEAN);
    }
    let work = plan(&home, &kept.ring, &options.target)?;
    let prove = options.prove || work.controller.is_some();
    if !work.is_empty() || prove {
        confirm(&work.describe(prove), options.yes)?;
    }
    work.perform(&kept.ring, prove)?;
    Ok(exit::CLEAN)
}

/// What a cluster lacks.
pub(crate) struct Work {
    cluster: Cluster,
    namespace: String,
    makes_namespace: bool,
    /// Ids of the keys that are not there.
    missing: Vec<String>,
    pub(crate) controller: Option<Value>,
}

pub(crate) fn plan(home: &Home<'_>, ring: &Ring, target: &Target) -> Result<Work, SealFailure> {
    let cluster = Cluster::connect(target.context.as_deref())?;
    let namespace = controller_namespace(home, target);
    let makes_namespace = cluster.get(Kind::Namespace, None, &namespace)?.is_none();
    let mut there = Vec::new();
    for secret in cluster.key_secrets(&namespace)? {
        let name = secret["metadata"]["name"].as_str().unwrap_or_default();
        let pairs = pairs_of(&secret).map_err(|source| {
            let (namespace, name) = (namespace.clone(), name.to_owned());
            ClusterFailure::NoKeyInSecret { namespace, name, source }
        })?;
        there.extend(pairs.into_iter().map(|one| one.pair.fingerprint()));
    }
    let missing = ring.keys().iter().filter(|held| !there.contains(&held.pair.fingerprint()));
    let missing = missing.map(|held| held.pair.id()).collect();
    let controller = cluster.controller(&namespace, home.settings.controller.name.as_deref())?;
    Ok(Work { cluster, namespace, makes_namespace, missing, controller })
}

impl Work {
    pub(crate) fn is_empty(&self) -> bool {
        self.missing.is_empty()
    }

    pub(crate) fn describe(&self, prove: bool) -> String {
        let mut plan = format!("cluster {}\n", self.cluster.name);
        if self.makes_namespace {
            let _ = writeln!(plan, "  create namespace {}", self.namespace);
        }
        for id in &self.missing {
            let _ = writeln!(plan, "  create Secret {}/sealed-secrets-key-{id}", self.namespace);
        }
        if let (Some(controller), false) = (&self.controller, self.is_empty()) {
            let name = controller["metadata"]["name"].as_str().unwrap_or_default();
            let _ = writeln!(plan, "  restart Deployment {}/{name}: it reads keys when it starts", self.namespace);
        }
        if prove {
            let _ = writeln!(plan, "  seal a canary, wait until it is unsealed in {}, remove it", self.namespace);
        }
        plan
    }

    pub(crate) fn perform(&self, ring: &Ring, prove: bool) -> Result<(), Failure> {
        if self.makes_namespace {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}});
            self.cluster.create(Kind::Namespace, None, namespace)?;
        }
        for held in ring.keys().iter().filter(|held| self.missing.contains(&held.pair.id())) {
            // Checked before it goes: the controller does not survive a pair that is none.
            if !held.pair.works() {
                return Err(SealFailure::from(KeysFailure::Damaged { key: held.pair.id() }).into());
            }
            self.cluster.create(Kind::Secret, Some(&self.namespace), key_secret(&held.pair, &self.namespace))?;
            say(&format!("created Secret {}/{}", self.namespace, key_secret_name(&held.pair)))?;
        }
        if self.is_empty() {
            let keys = ring.keys().len();
            say(&format!("{} {} in {} already", all(keys, "key"), agree(keys, "is", "are"), self.namespace))?;
        } else if let Some(controller) = &self.controller {
            self.restart(controller)?;
        }
        match ring.newest() {
            Some(newest) if prove => self.prove(newest),
            _ => {
                let next = next_line(&Next::Seal(next::Seal::DeployAgainForProof));
                say(&format!("there is no controller yet: it will load the keys when it starts{next}"))
            }
        }
    }

    fn restart(&self, controller: &Value) -> Result<(), Failure> {
        let name = controller["metadata"]["name"].as_str().unwrap_or_default();
        self.cluster.restart(controller, &now().format(&Rfc3339).unwrap_or_default())?;
        let is_done = |cluster: &Cluster| {
            let found = cluster.get(Kind::Deployment, Some(&self.namespace), name)?;
            Ok(found.filter(is_rolled_out))
        };
        let done = self.cluster.wait(ROLLOUT_SECONDS, is_done)?;
        if done.is_none() {
            let (namespace, name) = (self.namespace.clone(), name.to_owned());
            let failure = ClusterFailure::NotRestarted { namespace, name, seconds: ROLLOUT_SECONDS };
            return Err(SealFailure::from(failure).into());
        }
        say(&format!("restarted Deployment {}/{name}", self.namespace))
    }

    /// A SealedSecret that is sealed with the newest key becomes a Secret.
    fn prove(&self, newest: &KeyPair) -> Result<(), Failure> {
        let mut random = [0_u8; 24];
        getrandom(&mut random)?;
        let value = SecretBytes::from(digest_hex(&random));
        let name = format!("coldstart-canary-{}", &digest_hex(&random[..8])[..8]);
        let sealed = canary(newest.certificate(), &self.namespace, &name, &value);
        let sealed = sealed.map_err(|source| SealFailure::Secret { place: name.clone(), source })?;
        let object = to_json(&sealed)?;
        self.cluster.create(Kind::SealedSecret, Some(&self.namespace), object)?;
        let proved = self.cluster.wait(PROOF_SECONDS, |cluster| {
            let found = cluster.get(Kind::Secret, Some(&self.namespace), &name)?;
            Ok(found.and_then(|secret| secret["data"]["canary"].as_str().map(str::to_owned)))
        });
        // Whatever came of it, nothing of it stays.
        let status = self.cluster.get(Kind::SealedSecret, Some(&self.namespace), &name);
        self.cluster.delete(Kind::SealedSecret, &self.namespace, &name)?;
        self.cluster.delete(Kind::Secret, &self.namespace, &name)?;
        match proved? {
            Some(found) if found == base64(value.expose()) => {
                say(&format!("verified: a canary sealed with key {} was unsealed, and is removed again", newest.id()))
            }
            Some(_) => Err(SealFailure::from(ClusterFailure::CanaryDiffers).into()),
            None => {
                let (namespace, reason) = (self.namespace.clone(), reason(status.ok().flatten().as_ref()));
                let failure = ClusterFailure::CanaryStaysSealed { namespace, seconds: PROOF_SECONDS, reason };
                Err(SealFailure::from(failure).into())
            }
        }
    }
}

fn getrandom(bytes: &mut [u8]) -> Result<(), SealFailure> {
    ::seal::random(bytes).map_err(|_| WriteFailure::NoRandomness.into())
}

fn base64(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

/// What the controller says of it.
fn reason(sealed: Option<&Value>) -> Option<String> {
    let conditions = sealed.and_then(|sealed| sealed.pointer("/status/conditions")).and_then(Value::as_array);
    conditions.into_iter().flatten().find_map(|condition| condition["message"].as_str()).map(str::to_owned)
}

/// Our own YAML as JSON.
pub(crate) fn to_json(text: &str) -> Result<Value, SealFailure> {
    let node = yaml::parse_value(source::FileId::GENERATED, text);
    let json = node.map(|node| ::seal::manifest::to_json(&node));
    let value = json.and_then(|json| serde_json::from_str(json.expose()).ok());
    value.ok_or_else(|| WriteFailure::NotJson.into())
}

/// As `kubectl rollout status` sees it.
fn is_rolled_out(deployment: &Value) -> bool {
    let number = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    let wanted = deployment.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1);
    number("/status/observedGeneration") >= number("/metadata/generation")
        && number("/status/updatedReplicas") >= wanted
        && number("/status/availableReplicas") >= wanted
        && number("/status/replicas") == wanted
}
