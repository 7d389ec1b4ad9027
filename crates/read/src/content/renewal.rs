//! Whether the controller of sealed-secrets makes new keys by itself: it does every thirty days, unless a value of its chart says `"0"`.

use ecow::EcoString;
use model::{ComponentId, Renewal};
use source::Span;
use yaml::Node;

/// The chart's value that says how often.
const VALUE: &str = "keyrenewperiod";
/// The controller's flag that says so.
const FLAG: &str = "key-renew-period";
const DEPTH_MAX: usize = 4;

/// What the values of a release say; nothing where it is off, or where that is not known.
pub(super) fn of(id: ComponentId, values: Option<&Node>, chart: Span) -> Option<Renewal> {
    let unread =
        values.and_then(|values| values.entries().iter().find_map(|entry| misplaced(&entry.value, &entry.key, 1)));
    let on = |at: Span, every: Option<EcoString>| Some(Renewal { of: id, at, every, unread: unread.clone() });
    // They replace all that the chart tells the controller.
    if let Some(arguments) =
        values.and_then(|values| values.get("args")).filter(|node| node.as_seq().is_some_and(|items| !items.is_empty()))
    {
        let said = arguments
            .as_seq()
            .unwrap_or_default()
            .iter()
            .any(|item| item.text().is_some_and(|text| text.contains(FLAG)));
        return if said { None } else { on(arguments.span, None) };
    }
    match values.and_then(|values| values.get(VALUE)) {
        None => on(chart, None),
        Some(node) => match node.text() {
            None | Some("") => on(node.span, None),
            Some(text) if text.contains('$') || is_zero(text) => None,
            Some(text) => on(node.span, Some(text.into())),
        },
    }
}

/// `0`, `0s`, `0h0m`
fn is_zero(text: &str) -> bool {
    text.starts_with('0') && text.chars().all(|letter| letter == '0' || letter.is_ascii_alphabetic())
}

/// A value of that name further inside, where the chart does not look for it.
fn misplaced(node: &Node, path: &str, depth: usize) -> Option<(EcoString, Span)> {
    node.entries().iter().filter(|_| depth < DEPTH_MAX).find_map(|entry| {
        let path = format!("{path}.{}", entry.key);
        if entry.key.eq_ignore_ascii_case(VALUE) {
            return Some((path.as_str().into(), entry.key_span));
        }
        misplaced(&entry.value, &path, depth + 1)
    })
}
