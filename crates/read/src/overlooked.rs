//! What a kustomize build did not look at, in the words of the model.

use kustomize::Overlooked;
use model::{Cause, Unseen, WhyUnseen};

/// As it is told of what is built: `whole` where it is all of that.
pub(crate) fn overlooked(what: Overlooked, whole: &Unseen) -> (Unseen, WhyUnseen) {
    match what {
        Overlooked::Fetched { address } => (Unseen::Address(address), WhyUnseen::Fetched),
        Overlooked::Cloned { address } => (Unseen::Address(address), WhyUnseen::Cloned),
        Overlooked::Chart { name } => (Unseen::InflatedChart { name: name.into() }, WhyUnseen::InflatedByHelm),
        Overlooked::Plugin { kind, name } => (Unseen::Plugin { kind: kind.into(), name: name.into() }, WhyUnseen::Run),
        Overlooked::OpenApi { path } => (Unseen::File(path), WhyUnseen::OpenApiSchema),
        Overlooked::Beyond(limit) => (whole.clone(), WhyUnseen::BeyondLimit(Cause::new(limit))),
        Overlooked::TextReplacement => (Unseen::ReplacementInText, WhyUnseen::TextRewritten),
    }
}
