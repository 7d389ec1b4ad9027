//! What was found and is not shown, because somebody said so.

use diagnostic::{Fingerprint, LeftOut};

use crate::clean::clean;
use crate::words::{count, first_few};

/// Stale entries of a baseline that are named.
const STALE_NAMED_MAX: usize = 5;

/// `3 allowed by comments`, `12 in the baseline`: nothing of what did not happen.
pub(crate) fn counts(left_out: &LeftOut) -> Vec<String> {
    let mut said = Vec::new();
    if let number @ 1.. = left_out.allowed {
        said.push(format!("{number} allowed by comments"));
    }
    if let number @ 1.. = left_out.by_settings {
        said.push(format!("{number} left out by coldstart.yaml"));
    }
    if let Some(baseline) = &left_out.baseline {
        said.push(format!("{} in the baseline", baseline.known));
    }
    if let Some(since) = &left_out.since {
        let gone = if since.gone > 0 { format!(", {} gone since", since.gone) } else { String::new() };
        said.push(format!("{} as in {}{gone}", since.known, clean(&since.revision)));
    }
    said
}

/// A line about entries of the baseline that match nothing, if there are any.
pub(crate) fn stale(left_out: &LeftOut) -> Option<String> {
    let stale = left_out.baseline.as_ref().map(|baseline| &baseline.stale).filter(|stale| !stale.is_empty())?;
    let names: Vec<String> = stale.iter().map(name).collect();
    let entries = if stale.len() == 1 { "1 entry" } else { &format!("{} entries", stale.len()) };
    let verb = if stale.len() == 1 { "matches" } else { "match" };
    let few = first_few(&names, STALE_NAMED_MAX);
    Some(format!("stale in the baseline: {entries} that {verb} nothing any more: {few}"))
}

fn name(entry: &Fingerprint) -> String {
    let provider = entry.provider.as_ref().map(|provider| format!(" → {}", clean(provider))).unwrap_or_default();
    format!("{} {}{provider}", clean(&entry.rule), clean(&entry.component))
}

/// `2 findings`: for sentences that need only that.
pub(crate) fn findings(number: usize) -> String {
    count(number, "finding")
}
