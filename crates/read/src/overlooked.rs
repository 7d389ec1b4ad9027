//! What a kustomize build did not look at, in the words of the model.

use kustomize::Overlooked;
use model::{Unseen, WhyUnseen};

pub(crate) fn overlooked(what: Overlooked) -> (Unseen, WhyUnseen) {
    match what {
        Overlooked::Fetched { address } => (Unseen::Address(address), WhyUnseen::Fetched),
        Overlooked::Cloned { address } => (Unseen::Address(address), WhyUnseen::Cloned),
        Overlooked::Chart { name } => (Unseen::InflatedChart { name: name.into() }, WhyUnseen::InflatedByHelm),
        Overlooked::Plugin { kind, name } => (Unseen::Plugin { kind: kind.into(), name: name.into() }, WhyUnseen::Run),
        Overlooked::OpenApi { path } => (Unseen::File(path), WhyUnseen::OpenApiSchema),
        Overlooked::TextReplacement => (Unseen::ReplacementInText, WhyUnseen::TextRewritten),
    }
}
