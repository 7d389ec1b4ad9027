//! How clusters come up in the simulated world, before and after edits.

use serde_json::Value;

use crate::table::Table;

/// How a cluster comes up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Up {
    boots: u64,
    converged: u64,
    /// Of those that do; nothing where none does.
    median_seconds: Option<u64>,
}

impl Up {
    fn of(cluster: &Value) -> Self {
        let number = |key: &str| cluster[key].as_u64().unwrap_or_default();
        let median_seconds = cluster["time"]["p50_seconds"].as_u64();
        Self { boots: number("boots"), converged: number("converged"), median_seconds }
    }

    fn median(self) -> String {
        match self.median_seconds {
            Some(seconds) if seconds < 60 => format!("{seconds} s"),
            Some(seconds) => format!("{} min", (seconds + 30) / 60),
            None => "–".to_owned(),
        }
    }
}

/// One cluster, before and after.
#[derive(Debug)]
pub(super) struct Boots {
    cluster: String,
    before: Up,
    after: Up,
}

impl Boots {
    /// It comes up less often, or takes longer than the same boots took before.
    pub(super) fn is_worse(&self) -> bool {
        // Where more of them come up, the slow ones do as well.
        let is_slower = self.after.converged == self.before.converged
            && {
                matches!((self.before.median_seconds, self.after.median_seconds), (Some(before), Some(after)) if after > before)
            };
        self.after.converged < self.before.converged || is_slower
    }
}

/// The same clusters before and after.
pub(super) fn beside(before: &[Value], after: &[Value]) -> Vec<Boots> {
    let pair = |old: &Value| {
        let new = after.iter().find(|new| new["cluster"] == old["cluster"])?;
        let cluster = old["cluster"].as_str().unwrap_or_default().to_owned();
        Some(Boots { cluster, before: Up::of(old), after: Up::of(new) })
    };
    before.iter().filter_map(pair).collect()
}

/// Every cluster that comes up differently, and how many there are besides.
pub(super) fn table<'r>(rows: impl Iterator<Item = (&'r str, &'r [Boots])>) -> String {
    let mut table = Table::new(["repository", "cluster", "converged", "median", ""]);
    let (mut same, mut never, mut any) = (0, 0, false);
    for (repository, boots) in rows.flat_map(|(name, boots)| boots.iter().map(move |boots| (name, boots))) {
        let Boots { cluster, before, after } = boots;
        any = true;
        if before == after {
            same += 1;
            never += usize::from(after.converged == 0);
            continue;
        }
        let converged = format!("{} → {} of {}", before.converged, after.converged, after.boots);
        let median = format!("{} → {}", before.median(), after.median());
        let worse = if boots.is_worse() { "worse" } else { "" };
        table.row([repository.to_owned(), cluster.clone(), converged, median, worse.to_owned()]);
    }
    let rest = format!("{same} clusters come up as before, {never} of them never");
    if any { format!("\n{}{rest}\n", table.render()) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::beside;

    fn cluster(converged: u64, median: Option<u64>) -> Value {
        json!({"cluster": "home", "boots": 10, "converged": converged, "time": {"p50_seconds": median}})
    }

    fn is_worse(before: Value, after: Value) -> bool {
        beside(&[before], &[after])[0].is_worse()
    }

    #[test]
    fn fewer_that_come_up_or_the_same_that_take_longer_are_worse() {
        assert!(is_worse(cluster(10, Some(60)), cluster(9, Some(50))));
        assert!(is_worse(cluster(10, Some(60)), cluster(10, Some(61))));
        assert!(!is_worse(cluster(10, Some(60)), cluster(10, Some(60))));
        assert!(!is_worse(cluster(0, None), cluster(9, Some(600))));
    }
}
