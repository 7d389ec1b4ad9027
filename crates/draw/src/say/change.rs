//! What a change does to the order, in sentences.

use model::{ObjectRef, say_seconds};

use crate::change::{Change, Figures, News};
use crate::words::{agree, count};

pub(crate) const NOTHING: &str = "nothing changes about the order in which clusters come up";

/// When the last is ready, and what is more or less.
pub(crate) fn headline(change: &Change<'_>) -> String {
    let (before, after) = change.figures();
    let mut parts = match (before, after) {
        (None, Some(after)) => vec!["a new cluster".to_owned(), count(after.components, "component")],
        (Some(_), None) => vec!["the cluster goes".to_owned()],
        (Some(before), Some(after)) => vec![time(before, after)],
        (None, None) => Vec::new(),
    };
    let of = |news: News| change.orders.iter().filter(|order| order.news() == news).count();
    for (number, one, many) in [
        (change.stuck.len(), "component never comes up now", "components never come up now"),
        (of(News::Worse), "order worse", "orders worse"),
        (of(News::Lost), "order lost", "orders lost"),
        (of(News::Better), "order better", "orders better"),
        (change.new_findings.len(), "finding more", "findings more"),
        (change.gone_findings.len(), "finding fewer", "findings fewer"),
    ] {
        if number > 0 {
            parts.push(format!("{number} {}", agree(number, one, many)));
        }
    }
    parts.join(" · ")
}

fn time(before: Figures, after: Figures) -> String {
    let about = say_seconds(after.seconds);
    if before.seconds == after.seconds {
        return format!("comes up in about {about}, as before");
    }
    format!("comes up in about {about}, {}", difference(before.seconds, after.seconds))
}

/// `2 min 5 s later`.
pub(crate) fn difference(before: u64, after: u64) -> String {
    let word = if after > before { "later" } else { "sooner" };
    format!("{} {word}", say_seconds(before.abs_diff(after)))
}

/// Lists of components with what they have in common, those that are not empty.
pub(crate) fn lists<'c>(change: &'c Change<'_>) -> Vec<(&'static str, &'c [ObjectRef])> {
    let all: [(&str, &[ObjectRef]); 7] = [
        ("never comes up now", &change.stuck),
        ("comes up again", &change.freed),
        ("critical services that it touches", &change.critical),
        ("new", &change.come),
        ("gone", &change.go),
        ("now on the critical path", &change.onto_path),
        ("no longer on the critical path", &change.off_path),
    ];
    all.into_iter().filter(|(_, objects)| !objects.is_empty()).collect()
}

/// A row for each figure that one of the two revisions has: what it counts, and both.
pub(crate) fn figures(before: Option<Figures>, after: Option<Figures>) -> Vec<(&'static str, String, String, String)> {
    let (then, now) = (before.unwrap_or_default(), after.unwrap_or_default());
    let mut rows = vec![(
        "until the last one is ready (estimated)",
        say_seconds(then.seconds),
        say_seconds(now.seconds),
        if then.seconds == now.seconds { String::new() } else { difference(then.seconds, now.seconds) },
    )];
    for (what, then, now) in [
        ("components", then.components, now.components),
        ("orders that are guaranteed", then.guaranteed, now.guaranteed),
        ("orders that are declared only", then.declared, now.declared),
        ("applied only", then.applied_only, now.applied_only),
        ("falsely ready", then.falsely_ready, now.falsely_ready),
        ("orders that are missing", then.missing, now.missing),
        ("cycles", then.cycles, now.cycles),
    ] {
        if then == 0 && now == 0 {
            continue;
        }
        let change = match now.checked_sub(then) {
            Some(0) => String::new(),
            Some(more) => format!("+{more}"),
            None => format!("−{}", then - now),
        };
        rows.push((what, then.to_string(), now.to_string(), change));
    }
    rows
}
