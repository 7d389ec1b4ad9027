//! ## What it finds
//!
//! Resources whose private key or token is kept in the state of the run (also the secrets that Talos makes a cluster of), Secrets
//! that Terraform makes of a sealing key or of `tls.key`, and `external` data sources that print a key or a token. Runs whose state
//! OpenTofu encrypts are left out.
//!
//! ## Why it matters at a cold start
//!
//! Everything that can read the state can open what was sealed with the key, or act with the token. And a key that lives only in a state
//! goes with it: after a cold start without the state, a new key opens none of the sealed secrets. What a Secret copies from a file,
//! and what a data source prints whenever the run is planned, is not lost with the state; it is only readable there.
//!
//! ## Example
//!
//! ```hcl
//! resource "tls_private_key" "sealed_secrets" { # the sealing key, readable in terraform.tfstate
//!   algorithm = "RSA"
//! }
//! ```
//!
//! ## Fix
//!
//! Keep the key in a store that outlives the cluster ([`coldstart seal`](../commands/seal.md)), and encrypt the state: the
//! `encryption` block of OpenTofu, or a backend that does. Where it must be Terraform, an ephemeral resource is not kept.

use diagnostic::{Finding, LayerAdvice, LayerCost, Remark, Rule, Severity};
use model::{KeptKey, LayerDefect};

use crate::context::Context;
use crate::layers::{Judged, findings};

pub(crate) static RULE: Rule = Rule::new(
    "key-in-state",
    "a private key or token that the state of Terraform holds in clear",
    include_str!("key_in_state.rs"),
);

pub(crate) fn run(context: &Context<'_>) -> Vec<Finding> {
    findings(context, &RULE, |defect| match defect {
        LayerDefect::KeyInState { kept } => {
            // What is made here is lost with the state; what is only read here is not.
            let (cost, advice) = match kept {
                KeptKey::PrivateKey | KeptKey::Token | KeptKey::ClusterSecrets => {
                    (LayerCost::ReadableInState, LayerAdvice::KeepElsewhere)
                }
                KeptKey::Copied => (LayerCost::CopiedToState, LayerAdvice::ReadInPlace),
                KeptKey::Printed => (LayerCost::PrintedToState, LayerAdvice::ReadInPlace),
            };
            let label = Remark::MadeHere;
            Some(Judged { severity: Severity::Info, consequence: None, cost, advice, label, shown: &[] })
        }
        _ => None,
    })
}
