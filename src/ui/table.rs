//! Tables with aligned columns. The last column takes what is left of the screen and is cut there.

use super::{Paint, text};

/// Rows under headings.
#[derive(Clone, Debug, Default)]
pub struct Table {
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new<'a>(headings: impl IntoIterator<Item = &'a str>) -> Table {
        Table { headings: headings.into_iter().map(str::to_owned).collect(), rows: Vec::new() }
    }

    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| text::clean(&cell.into())).collect());
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Renders the table. `columns` is the width of the screen; `None` cuts nothing, as for a pipe.
    pub fn render(&self, columns: Option<usize>, paint: Paint) -> String {
        let widths: Vec<usize> = (0..self.headings.len())
            .map(|i| self.all().filter_map(|row| row.get(i)).map(|cell| text::width(cell)).max().unwrap_or(0))
            .collect();
        let mut out = String::new();
        for (n, row) in self.all().enumerate() {
            let mut line = String::new();
            for (i, cell) in row.iter().enumerate() {
                line.push_str(cell);
                if i + 1 < row.len() {
                    let width = widths.get(i).copied().unwrap_or(0);
                    line.push_str(&" ".repeat(width.saturating_sub(text::width(cell)) + 2));
                }
            }
            let line = columns.map_or_else(|| line.clone(), |columns| text::cut(&line, columns));
            let line = line.trim_end();
            out.push_str(&if n == 0 { paint.heading(line) } else { line.to_owned() });
            out.push('\n');
        }
        out
    }

    fn all(&self) -> impl Iterator<Item = &Vec<String>> {
        std::iter::once(&self.headings).chain(&self.rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_is_seen_and_cut_at_the_screen() {
        let mut table = Table::new(["node", "role", "modules"]);
        table.row(["日本", "web", "nginx, motd, accounts, time"]);
        table.row(["db-01", "", "postgres"]);
        let want = "node   role  modules\n日本   web   nginx, motd, a…\ndb-01        postgres\n";
        assert_eq!(table.render(Some(28), Paint::OFF), want);
        assert!(table.render(None, Paint::OFF).contains("accounts, time"));
    }
}
