//! A checkbox list with a filter.

use super::ask::{broken, terminal};
use super::{Paint, text};
use crate::base::{Problem, problem::Kind};
use console::Key;
use std::collections::BTreeSet;

/// One line to pick: its name, and what helps to choose.
#[derive(Clone, Debug)]
pub struct Item {
    pub name: String,
    pub detail: String,
}

/// Lets a person check items. `None`: they left with Esc, or with nothing checked.
///
/// # Errors
/// There is no terminal; `instead` is the help.
pub fn pick(title: &str, items: &[Item], instead: &str) -> Result<Option<Vec<usize>>, Problem> {
    let term = terminal(title, instead)?;
    let mut list = List::new(items);
    let _ = term.hide_cursor();
    let step = loop {
        let (rows, columns) = term.size();
        let lines = list.lines(title, rows.into(), columns.into());
        super::err(&(lines.join("\n") + "\n"));
        let key = term.read_key_raw();
        let _ = term.clear_last_lines(lines.len());
        match key.map(|key| list.press(&key)) {
            Ok(Step::On) => {}
            Ok(step) => break Ok(step),
            Err(e) => break Err(broken(&e)),
        }
    };
    let _ = term.show_cursor();
    match step? {
        Step::Stop => Err(Problem::new("interrupted").kind(Kind::Interrupted)),
        Step::Leave => Ok(None),
        Step::On | Step::Take => Ok(Some(list.checked.into_iter().collect::<Vec<_>>()).filter(|all| !all.is_empty())),
    }
}

/// What a key led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    On,
    Take,
    Leave,
    Stop,
}

/// The state of the list; the terminal is not part of it.
struct List<'a> {
    items: &'a [Item],
    filter: String,
    /// Counts through the items that match the filter.
    cursor: usize,
    checked: BTreeSet<usize>,
}

impl<'a> List<'a> {
    fn new(items: &'a [Item]) -> List<'a> {
        List { items, filter: String::new(), cursor: 0, checked: BTreeSet::new() }
    }

    /// The numbers of the items that match the filter: all letters of it in a row, in any case.
    fn matching(&self) -> Vec<usize> {
        let wanted = self.filter.to_lowercase();
        let matches = |item: &Item| item.name.to_lowercase().contains(&wanted);
        self.items.iter().enumerate().filter(|(_, item)| matches(item)).map(|(i, _)| i).collect()
    }

    fn press(&mut self, key: &Key) -> Step {
        let matching = self.matching();
        match key {
            Key::CtrlC => return Step::Stop,
            Key::Enter => return Step::Take,
            Key::Escape if self.filter.is_empty() => return Step::Leave,
            Key::Escape => self.filter.clear(),
            Key::ArrowUp => self.cursor = self.cursor.checked_sub(1).unwrap_or(matching.len().saturating_sub(1)),
            Key::ArrowDown | Key::Tab => self.cursor += 1,
            Key::Home => self.cursor = 0,
            Key::End => self.cursor = matching.len().saturating_sub(1),
            Key::Backspace => {
                self.filter.pop();
            }
            // Ctrl-A checks everything in sight, or nothing where all of it is checked.
            Key::Char('\u{1}') => {
                let all = matching.iter().all(|i| self.checked.contains(i));
                for i in matching {
                    if all {
                        self.checked.remove(&i)
                    } else {
                        self.checked.insert(i)
                    };
                }
            }
            Key::Char(' ') => {
                if let Some(i) = matching.get(self.cursor)
                    && !self.checked.remove(i)
                {
                    self.checked.insert(*i);
                }
            }
            Key::Char(c) if !c.is_control() => {
                self.filter.push(*c);
                self.cursor = 0;
            }
            _ => {}
        }
        let left = self.matching().len();
        if self.cursor >= left {
            self.cursor = 0;
        }
        Step::On
    }

    /// The list as lines, none wider than `columns`, no more than `rows` less one.
    fn lines(&self, title: &str, rows: usize, columns: usize) -> Vec<String> {
        let matching = self.matching();
        let room = rows.saturating_sub(5).max(1);
        let first = (self.cursor + 1).saturating_sub(room);
        let names = self.items.iter().map(|item| text::width(&item.name)).max().unwrap_or(0);
        let cut = |line: &str| text::cut(line, columns.saturating_sub(1));
        let mut lines = vec![Paint::ON.heading(&cut(&format!("{title} {}▏", text::clean(&self.filter))))];
        for (n, i) in matching.iter().enumerate().skip(first).take(room) {
            let Some(item) = self.items.get(*i) else { continue };
            let name = text::clean(&item.name);
            let gap = " ".repeat(names.saturating_sub(text::width(&name)) + 2);
            let mark = if self.checked.contains(i) { "[x]" } else { "[ ]" };
            let here = if n == self.cursor { ">" } else { " " };
            let line = cut(format!("{here} {mark} {name}{gap}{}", text::clean(&item.detail)).trim_end());
            lines.push(if n == self.cursor { Paint::ON.run(&line) } else { line });
        }
        if matching.is_empty() {
            lines.push("  nothing matches".to_owned());
        }
        let hidden = matching.len().saturating_sub(room);
        let more = if hidden > 0 { format!("{hidden} more, ") } else { String::new() };
        let help =
            format!("{more}{} checked · space checks, enter goes on, esc leaves, type to filter", self.checked.len());
        lines.push(Paint::ON.quiet(&cut(&help)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(names: &[&str]) -> Vec<Item> {
        names.iter().map(|n| Item { name: (*n).to_owned(), detail: "2 nodes".to_owned() }).collect()
    }

    #[test]
    fn typing_filters_and_what_was_checked_stays_checked() {
        let items = items(&["db", "proxy", "web", "web-edge"]);
        let mut list = List::new(&items);
        for key in [Key::Char(' '), Key::Char('W'), Key::ArrowDown, Key::Char(' '), Key::Escape] {
            assert_eq!(list.press(&key), Step::On);
        }
        assert_eq!(list.checked, BTreeSet::from([0, 3]));
        assert_eq!(list.press(&Key::Enter), Step::Take);
    }

    #[test]
    fn escape_clears_the_filter_first_and_leaves_then() {
        let items = items(&["db"]);
        let mut list = List::new(&items);
        list.press(&Key::Char('d'));
        assert_eq!(list.press(&Key::Escape), Step::On);
        assert_eq!(list.press(&Key::Escape), Step::Leave);
        assert_eq!(list.press(&Key::CtrlC), Step::Stop);
    }

    #[test]
    fn a_long_list_fits_a_small_screen_and_follows_the_cursor() {
        let names: Vec<String> = (0..40).map(|n| format!("role-{n:02}")).collect();
        let items = items(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let mut list = List::new(&items);
        list.press(&Key::End);
        let lines = list.lines("Roles", 12, 30);
        assert!(lines.len() < 12, "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("role-39")), "{lines:?}");
        assert!(lines.iter().all(|line| text::width(line) < 30), "{lines:?}");
    }

    #[test]
    fn the_cursor_goes_round() {
        let items = items(&["a", "b"]);
        let mut list = List::new(&items);
        list.press(&Key::ArrowUp);
        assert_eq!(list.cursor, 1);
        list.press(&Key::ArrowDown);
        assert_eq!(list.cursor, 0);
    }
}
