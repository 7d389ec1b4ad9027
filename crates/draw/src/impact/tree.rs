//! Components below those that they stop for.

use std::collections::{BTreeMap, BTreeSet};

use model::ComponentId;

/// A component, what it stops for, and why, in words.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub id: ComponentId,
    pub from: Option<ComponentId>,
    pub says: String,
}

/// A row with its branches.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub branches: String,
    pub row: Row,
}

/// All rows in the order of a walk, each below what it stops for if that is a row.
pub(super) fn lines(rows: &[Row]) -> Vec<Line> {
    let known: BTreeSet<ComponentId> = rows.iter().map(|row| row.id).collect();
    let mut below: BTreeMap<Option<ComponentId>, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let above = row.from.filter(|from| known.contains(from) && *from != row.id);
        below.entry(above).or_default().push(row);
    }
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    walk(None, "", &below, &mut seen, &mut out);
    // Those that only stop for each other.
    for row in rows.iter().filter(|row| !seen.contains(&row.id)) {
        out.push(Line { branches: "├ ".to_owned(), row: row.clone() });
    }
    out
}

fn walk(
    of: Option<ComponentId>,
    before: &str,
    below: &BTreeMap<Option<ComponentId>, Vec<&Row>>,
    seen: &mut BTreeSet<ComponentId>,
    out: &mut Vec<Line>,
) {
    let rows = below.get(&of).map(Vec::as_slice).unwrap_or_default();
    for (index, row) in rows.iter().enumerate() {
        if !seen.insert(row.id) {
            continue;
        }
        let is_last = index + 1 == rows.len();
        out.push(Line { branches: format!("{before}{} ", if is_last { "└" } else { "├" }), row: (*row).clone() });
        let deeper = format!("{before}{} ", if is_last { " " } else { "│" });
        walk(Some(row.id), &deeper, below, seen, out);
    }
}

#[cfg(test)]
mod tests {
    use model::ComponentId;

    use super::{Row, lines};

    #[test]
    fn what_stops_for_another_is_below_it_and_nothing_is_lost() {
        let row = |id: u32, from: u32| Row { id: ComponentId(id), from: Some(ComponentId(from)), says: String::new() };
        let rows = [row(1, 0), row(2, 1), row(3, 0), row(5, 6), row(6, 5)];
        let drawn: Vec<String> =
            lines(&rows).iter().map(|line| format!("{}{}", line.branches, line.row.id.0)).collect();
        assert_eq!(drawn, ["├ 1", "│ └ 2", "└ 3", "├ 5", "├ 6"]);
    }
}
