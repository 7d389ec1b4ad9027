//! What is different between two trees.

use yaml::{Node, Value};

use super::Step;

/// Whether two trees are the same but for what is below these steps, which is not.
pub(super) fn is_only_below(old: &Node, new: &Node, meant: &[Step]) -> bool {
    let Some((step, rest)) = meant.split_first() else { return old != new };
    match (&old.value, &new.value, step) {
        (Value::Map(before), Value::Map(after), Step::Key(key)) => {
            let others = |map: &yaml::Map| {
                let entries = map.iter().filter(|entry| entry.key != key.as_str());
                entries.map(|entry| (entry.key.clone(), entry.value.clone())).collect::<Vec<_>>()
            };
            let inner = match (before.get(key), after.get(key)) {
                (Some(before), Some(after)) => is_only_below(before, after, rest),
                // Below what comes or goes there is nothing else.
                (None, Some(_)) | (Some(_), None) => true,
                (None, None) => false,
            };
            inner && others(before) == others(after)
        }
        (Value::Seq(before), Value::Seq(after), Step::Item(index)) => {
            before.len() == after.len()
                && before.iter().zip(after).enumerate().all(|(at, (before, after))| {
                    if at == *index { is_only_below(before, after, rest) } else { before == after }
                })
        }
        _ => false,
    }
}
