//! The manual pages, as they are written.

#![allow(clippy::disallowed_methods)]

#[path = "cli/room.rs"]
#[allow(dead_code, reason = "others need the rest")]
mod room;

use clap::{Command, CommandFactory};
use room::Room;
use std::fs;

/// The names of all pages: `suil`, `suil-apply`, …
fn names(command: &Command, above: &str) -> Vec<String> {
    let name = if above.is_empty() { "suil".to_owned() } else { format!("{above}-{}", command.get_name()) };
    let below = command.get_subcommands().filter(|below| !below.is_hide_set());
    let below: Vec<String> = below.flat_map(|below| names(below, &name)).collect();
    std::iter::once(name).chain(below).collect()
}

#[test]
fn every_command_has_a_page_with_all_sections() {
    let room = Room::new();
    let left = room.run(&["man", "pages"]);
    assert_eq!((left.status, left.stderr.as_str()), (0, ""));
    let names = names(&suil::cli::Cli::command(), "");
    assert!(names.len() > 12, "{names:?}");
    assert_eq!(left.stdout.lines().count(), names.len());
    for name in &names {
        let page = fs::read_to_string(room.path().join(format!("pages/{name}.1"))).expect(name);
        let title = format!(".TH \"{}\" 1 \"\" \"suil {}\" \"suil\"\n", name.to_uppercase(), env!("CARGO_PKG_VERSION"));
        assert!(page.starts_with(&title), "{page}");
        for section in
            ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "FILES", "ENVIRONMENT", "\"SEE ALSO\""]
        {
            assert_eq!(page.matches(&format!(".SH {section}\n")).count(), 1, "{section} of {name}");
        }
        let synopsis = page.lines().skip_while(|line| *line != ".SH SYNOPSIS").nth(1).expect("a synopsis");
        assert!(synopsis.starts_with(&format!("\\fB{}\\fR", name.replace('-', " "))), "{name}: {synopsis}");
        assert!(!page.contains("Exit codes"), "they stand in a section of their own");
    }
}

#[test]
fn without_a_folder_the_page_of_suil_is_printed() {
    let room = Room::new();
    let page = room.run(&["man"]);
    room.run(&["man", "pages"]);
    page.is(0, &fs::read_to_string(room.path().join("pages/suil.1")).expect("a page"), "");
    assert!(page.stdout.contains("\n.SH SUBCOMMANDS\n"), "{}", page.stdout);
}

#[test]
fn help_and_manual_list_the_same_exit_codes() {
    let room = Room::new();
    let help = room.run(&["--help"]).stdout;
    let page = room.run(&["man"]).stdout;
    for code in [0, 1, 2, 3, 64, 130] {
        let line = help.lines().find_map(|line| line.strip_prefix(&format!("  {code:>3}  "))).expect("an exit code");
        assert!(page.contains(&format!("\\fB{code}\\fR\n{line}\n")), "{code}: {page}");
    }
}
