//! `suil infra surgery edit`.

use super::report::{Report, Told, command};
use super::{Bench, Change};
use crate::base::{Mask, Problem, Result, file};
use crate::cli::editor::Editor;
use crate::cli::private::Private;
use crate::cli::{Context, Outcome};
use crate::infra::surgery::{self, Pulled, Sensitive, State, differences};
use crate::resource::TextDiff;
use crate::ui::{self, Exit, Output, Paint};

const QUESTION: &str = "Write this state?";
const INSTEAD: &str = "say `--yes`";

/// Edit a state as text
///
/// Opens it in your editor: STACKS_EDITOR, else EDITOR, else VISUAL. What you changed is shown, with what is sensitive in
/// it covered, and written when you agree.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
The serial is raised for you. The text lies in a private folder, in memory where there is one, and is removed when the \
editor ends. Example: EDITOR='code --wait' suil infra surgery edit")]
pub struct Args {
    /// Ask nothing
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    change: Change,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    let dry_run = args.change.dry_run;
    if !args.yes && !dry_run {
        ui::ask::possible(QUESTION, INSTEAD)?;
    }
    let bench = Bench::new(&args.change.common, context)?;
    let site = bench.open(&bench.layer)?;
    let before = site.pull()?;
    let state = bench.state(&site, &before)?;
    let sensitive = Sensitive::ask(&site.tool, &site.layer.output).unwrap_or_else(|problem| {
        let all =
            problem.kind(crate::base::problem::Kind::Warning).note("every value of the state is covered, therefore");
        ui::warn(&[all], &bench.mask);
        Sensitive::all()
    });
    let editor = Editor::of(&["STACKS_EDITOR", "EDITOR", "VISUAL"])?;
    let mask = Mask::new();
    let edited = edit(&editor, &bench, &before, state);
    let agreed = match &edited {
        Ok(Some(after)) => {
            show(&sensitive, state, after, &mask, context)?;
            if args.yes || dry_run { Ok(true) } else { editor.confirm(QUESTION, INSTEAD) }
        }
        _ => Ok(true),
    };
    editor.close();
    let mut report = Report { dry_run, did: "changed", ..Report::default() };
    let serial = Some(before.serial());
    let Some(after) = edited? else {
        report.layers.push(Told::new(&site, serial));
        report.show(context)?;
        return Ok(Exit::Done);
    };
    if !agreed? {
        return Err(Problem::new("nothing was written").into());
    }
    report.resources = differences(&[(state, &after)]);
    if dry_run {
        report.commands.push(command(&site, &["state", "push", "-"]));
        report.layers.push(Told::new(&site, serial));
    } else {
        let done = bench.work("edit", None).push(&[surgery::Change::new(&site, before, after)])?;
        report.layers.push(Told::new(&site, done.serials.first().copied()));
        report.undo = done.id;
    }
    report.show(context)?;
    Ok(Exit::Done)
}

/// What the editor makes of a state; `None` where it changes nothing.
fn edit(editor: &Editor, bench: &Bench, before: &Pulled, state: &State) -> Result<Option<State>> {
    let folder = Private::new(&bench.layer.root.join(".suil"))?;
    let name = format!("{}.tfstate", bench.layer.layer_name());
    let path = folder.write(&name, &before.bytes)?;
    loop {
        editor.open(&path, folder.path())?;
        let bytes = file::read(&path).map_err(|e| {
            let problem = Problem::new(format!("the editor `{}` left no file", editor.name()));
            problem.note(Problem::io("read", name.as_ref(), &e).what).note("nothing was written")
        })?;
        if bytes == before.bytes {
            return Ok(None);
        }
        let problem = match read(&bytes, bench, state) {
            Ok(after) => return Ok(Some(after).filter(|after| !after.is_same(state))),
            Err(problem) => problem,
        };
        let again = "there is no terminal to edit again on: nothing was written";
        if ui::ask::possible("Edit again?", again).is_err() {
            return Err(problem.note("nothing was written").into());
        }
        ui::warn(&[problem], &bench.mask);
        if !editor.confirm("Edit again? A no drops what you wrote.", again)? {
            return Err(Problem::new("nothing was written").into());
        }
    }
}

fn read(bytes: &[u8], bench: &Bench, state: &State) -> Result<State, Problem> {
    let label = bench.layer.label();
    let Some(after) = State::parse(bytes, &label)? else {
        return Err(Problem::new(format!("nothing is left of the state of `{label}`"))
            .help("to remove all resources, leave `\"resources\": []`"));
    };
    if after.lineage() != state.lineage() {
        return Err(Problem::new(format!("the lineage of the state of `{label}` was changed"))
            .expected(format!("expected `{}`: it is what tells states apart", state.lineage())));
    }
    if let Some(twice) = after.twice() {
        return Err(Problem::new(format!("`{twice}` is in the state twice")));
    }
    Ok(after)
}

/// Shows what was changed.
fn show(sensitive: &Sensitive, before: &State, after: &State, mask: &Mask, context: &Context) -> Result<(), Problem> {
    let (old, new) = (sensitive.cover(before, mask), sensitive.cover(after, mask));
    // Copies of a secret in other places are covered, too.
    let diff = TextDiff { before: mask.apply(&old.pretty()), after: mask.apply(&new.pretty()), shared: false };
    let text = ui::plan::difference(&diff, Paint::ON);
    match context.output {
        Output::Text => ui::out(&text),
        _ => {
            ui::err(&text);
            Ok(())
        }
    }
}
