//! Plain text tables: first column to the left, numbers to the right.

/// Rows under a heading, printed with columns as wide as their widest cell.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heading: [&str; N]) -> Self {
        let mut table = Self::default();
        table.row(heading.map(String::from));
        table
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) {
        self.rows.push(Vec::new());
    }

    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let cell = if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
                line.push_str(&cell);
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["", "n"]);
        table.row(["one".into(), "1".into()]);
        table.gap();
        table.row(["three".into(), "333".into()]);
        assert_eq!(table.render(), "         n\none      1\n\nthree  333\n");
    }
}
