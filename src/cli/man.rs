//! `suil man`.

use super::{Cli, Context, Outcome};
use crate::base::{Plain, Problem, Problems, file};
use crate::ui::{self, Exit};
use clap::{Arg, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::path::PathBuf;

/// Write the manual pages
///
/// One page for suil and one for each command. Without a folder, prints the page of suil.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
To read them:     suil man | man -l -
To install them:  suil man ~/.local/share/man/man1")]
pub struct Args {
    /// Write all pages into this folder
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Each exit code, and what it says.
pub const EXITS: [(Exit, &str); 6] = [
    (Exit::Done, "done, or no difference"),
    (Exit::Failed, "failed"),
    (Exit::Differences, "differences were found, where the command was to tell so"),
    (Exit::Refused, "refused: a held lock, a stale plan"),
    (Exit::Usage, "the command line is wrong"),
    (Exit::Interrupted, "interrupted"),
];

const NOTES: &str = "\
Run `suil` alone to pick roles from a list and apply them. `suil init DIR` makes a workspace to start from.";

/// What stands below the help of suil.
pub fn notes() -> String {
    let exits = EXITS.map(|(exit, words)| format!("\n  {:>3}  {words}", exit.code()));
    format!("{NOTES}\n\n{EXIT_CODES}{}", exits.concat())
}

const EXIT_CODES: &str = "Exit codes:";

const FILES: [(&str, &str); 10] = [
    ("data/common.yaml", "makes a folder a workspace: connection defaults, layers, recipients of secrets"),
    ("data/nodes/NODE.yaml", "a node: its role, and what is its own"),
    ("data/roles/ROLE.yaml", "a role: its modules and their data"),
    ("data/os/FAMILY/RELEASE.yaml, data/modules/MODULE.yaml", "more layers"),
    ("modules/MODULE/", "a module of the workspace"),
    ("modules.yaml", "which modules the workspace uses, and where they come from"),
    ("facts/NODE/", "what was last read from a node, one file a module"),
    (".runs/latest/", "the record of the last run: plan.json, events.jsonl, summary.yaml"),
    (".env", "settings of the workspace, written as in ENVIRONMENT; the environment goes before them"),
    ("~/.ssh/config, ~/.ssh/known_hosts", "read by ssh as always"),
];

const VARIABLES: [(&str, &str); 15] = [
    ("SUIL_AGE_KEY", "age identities that open the secrets, one a line"),
    ("SUIL_AGE_KEY_FILE", "a file of such identities"),
    ("SUIL_AGE_RECIPIENT", "whom to encrypt for, comma separated, where data/common.yaml lists no recipients"),
    ("SUIL_SUDO_PASSWORD", "the password for sudo on the nodes; else it is asked for, once"),
    ("STACKS_PRIVATE_KEY_PATH", "the private keys of layers, with commas between, tried in turn"),
    ("STACKS_PUBLIC_KEY_PATH", "the public key that suil infra encrypt encrypts for"),
    ("SUIL_KEY_PASSPHRASE", "opens a private key of layers that is encrypted; else it is asked for"),
    ("SUIL_CHANGE", "the pull request that a run is for; a later run of it takes over locks that one of before left"),
    ("SUIL_STORE", "postgres://…, where runs and locks of stacks are kept; else .suil/infra.db"),
    ("PGHOST, PGUSER, PGPASSWORD, PGPASSFILE, …", "what SUIL_STORE leaves open, as for psql"),
    ("SUIL_TOKEN", "what suil serve demands of whoever looks; --token-file goes before it"),
    ("SUIL_LOG_COLOR", "yes or no; goes before NO_COLOR"),
    ("NO_COLOR", "no colours, where it is set to anything"),
    ("VISUAL, EDITOR", "the editor of suil edit"),
    ("SUIL_COMPLETE", "set by the completion scripts alone"),
];

pub fn run(args: Args, context: &Context) -> Outcome {
    let mut suil = Cli::command();
    suil.build();
    let pages = pages(&suil, None);
    let Some(folder) = args.folder else {
        let page = pages.first().ok_or_else(|| Problem::new("there is no manual page"))?;
        ui::out(&page.text)?;
        return Ok(Exit::Done);
    };
    std::fs::create_dir_all(&folder).map_err(|e| Problem::io("make folder", &folder, &e))?;
    let mut written = Vec::new();
    for page in &pages {
        let path = folder.join(format!("{}.1", page.name));
        file::write(&path, page.text.as_bytes(), 0o644)?;
        written.push(path.display().to_string());
    }
    let text = || written.iter().map(|path| format!("{path}\n")).collect();
    let value = || Plain::from_iter([("files", written.iter().map(Plain::from).collect::<Plain>())]);
    ui::show(context.output, text, value).map_err(Problems::from)?;
    Ok(Exit::Done)
}

/// A manual page: `suil-apply`, and its roff.
struct Page {
    name: String,
    text: String,
}

/// The page of a command, then those of the commands below it.
fn pages(command: &Command, above: Option<&str>) -> Vec<Page> {
    let name = above.map_or(command.get_name().to_owned(), |above| format!("{above}-{}", command.get_name()));
    let below = || command.get_subcommands().filter(|below| !below.is_hide_set());
    let mut related: Vec<String> = above.map(str::to_owned).into_iter().collect();
    related.extend(below().map(|below| format!("{name}-{}", below.get_name())));
    let page = Page { text: text(command, &name, &related), name: name.clone() };
    std::iter::once(page).chain(below().flat_map(|below| pages(below, Some(&name)))).collect()
}

fn text(command: &Command, name: &str, related: &[String]) -> String {
    let man = Man::new(command.clone().display_name(name.to_owned()).mut_args(choices));
    let version = env!("CARGO_PKG_VERSION");
    let mut head = format!(".TH \"{}\" 1 \"\" \"suil {version}\" \"suil\"\n", name.to_uppercase()).into_bytes();
    // Nothing is written but memory.
    let _ = man.render_name_section(&mut head);
    head.extend_from_slice(synopsis(command).as_bytes());
    let _ = man.render_description_section(&mut head);
    let _ = man.render_options_section(&mut head);
    if command.has_subcommands() {
        let _ = man.render_subcommands_section(&mut head);
    }
    // Each part begins with the definitions that roff needs once.
    let mut out = String::from_utf8_lossy(&head).into_owned();
    out.push_str(&own(command, related));
    let mut seen = std::collections::HashSet::new();
    let lines = out.lines().filter(|line| !line.starts_with(".ie ") && !line.starts_with(".el ") || seen.insert(*line));
    lines.map(|line| format!("{}\n", line.trim_end())).collect()
}

/// The values that an option takes stand in its text: a list of them would fill half the page.
fn choices(arg: Arg) -> Arg {
    let values: Vec<String> = arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if values.is_empty() || !arg.get_action().takes_values() {
        return arg;
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    arg.hide_possible_values(true).help(format!("{help}; one of {}", values.join(", ")))
}

/// `suil apply [OPTIONS]`, as in the help.
fn synopsis(command: &Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for (n, line) in usage.lines().map(str::trim).filter(|line| !line.is_empty()).enumerate() {
        if n > 0 {
            roff.control("br", []);
        }
        match line.strip_prefix(name) {
            Some(rest) => roff.text([bold(name), roman(rest)]),
            None => roff.text([roman(line)]),
        };
    }
    roff.render()
}

/// The sections that clap knows nothing of.
fn own(command: &Command, related: &[String]) -> String {
    let mut roff = Roff::new();
    if let Some(notes) = command.get_after_long_help().or_else(|| command.get_after_help()) {
        roff.control("SH", ["NOTES"]);
        roff.control("nf", []);
        // The exit codes have a section of their own.
        for line in notes.to_string().lines().take_while(|line| *line != EXIT_CODES) {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    let exits = EXITS.map(|(exit, words)| (exit.code().to_string(), words));
    list(&mut roff, "EXIT STATUS", exits.iter().map(|(code, words)| (bold(code), *words)));
    list(&mut roff, "FILES", FILES.iter().map(|(path, words)| (italic(*path), *words)));
    list(&mut roff, "ENVIRONMENT", VARIABLES.iter().map(|(name, words)| (bold(*name), *words)));
    if !related.is_empty() {
        roff.control("SH", ["SEE ALSO"]);
        let line = related
            .iter()
            .enumerate()
            .flat_map(|(n, name)| [roman(if n == 0 { "" } else { ", " }), bold(name), roman("(1)")]);
        roff.text(line.collect::<Vec<Inline>>());
    }
    roff.render()
}

fn list<'a>(roff: &mut Roff, title: &str, items: impl Iterator<Item = (Inline, &'a str)>) {
    roff.control("SH", [title]);
    for (head, words) in items {
        roff.control("TP", []);
        roff.text([head]);
        roff.text([roman(words)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_in_the_manual() {
        for name in super::super::settings::NAMES {
            assert!(VARIABLES.iter().any(|(known, _)| *known == name), "{name}");
        }
        assert!(VARIABLES.iter().any(|(known, _)| *known == super::super::complete::VARIABLE));
    }
}
