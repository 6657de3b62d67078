//! `suil infra check`.

use super::ground::{either, plain};
use super::tree::{self, Where};
use crate::base::{Mask, Plain, Problem, Problems, clock, file};
use crate::cli::{Context, Outcome, settings, start};
use crate::infra::engine::Redactor;
use crate::infra::store::{self, CheckState, Filter, Store};
use crate::ui::{self, Exit};
use std::path::PathBuf;

/// Tell how a check of a planned stack ended: one that failed keeps the stack from being applied
#[derive(clap::Args, Debug)]
#[command(
    after_help = "A hook such as `infra/hooks/post-plan.sh` calls it, or a pipeline. The latest word of a check counts.\n\n\
                  Example: suil infra check --stack stacks/prod/vpc --name tflint --status pass"
)]
pub struct Args {
    /// The stack
    #[arg(long, value_name = "STACK")]
    stack: String,
    /// The name of the check: letters, digits, `.`, `_` and `-`
    #[arg(long, value_name = "NAME")]
    name: String,
    /// How it ended; `warn` keeps nothing from being applied
    #[arg(long, value_enum, value_name = "STATUS")]
    status: Status,
    /// One line for people, at most 4 KB
    #[arg(long, value_name = "TEXT", default_value = "")]
    summary: String,
    /// A file that says more, at most 64 KB
    #[arg(long, value_name = "FILE")]
    details_file: Option<PathBuf>,
    /// Where more can be read
    #[arg(long, value_name = "URL")]
    details_url: Option<String>,
    /// The run in which the stack was planned [default: SUIL_RUN_ID, else the newest that planned it]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    #[command(flatten)]
    place: Where,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
enum Status {
    Pass,
    Warn,
    Fail,
}

const SUMMARY: usize = 4 * 1024;
const DETAILS: usize = 64 * 1024;

pub fn run(args: Args, context: &Context) -> Outcome {
    let mut problems = Problems::new();
    let usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if args.name.is_empty() || args.name.len() > 64 || !args.name.chars().all(usual) {
        problems.push(
            Problem::usage(format!("`{}` is no name of a check", args.name))
                .expected("expected 1 to 64 letters, digits, `.`, `_` and `-`"),
        );
    }
    if ["resolve", "plan", "apply"].contains(&args.name.as_str()) {
        problems.push(
            Problem::usage(format!("`{}` is the name of a step of suil", args.name)).expected("expected another name"),
        );
    }
    if let Some(url) = args.details_url.as_deref().filter(|url| !is_of_the_web(url)) {
        problems.push(
            Problem::usage(format!("`{url}` is no address of a page"))
                .expected("expected one that begins with `https://` or `http://`"),
        );
    }
    if args.summary.len() > SUMMARY {
        problems.push(Problem::usage("the summary is longer than 4 KB").help("put the rest into `--details-file`"));
    }
    let details = match &args.details_file {
        Some(path) => match file::read_text(path) {
            Ok(text) if text.len() > DETAILS => {
                problems.push(Problem::usage(format!("`{}` is longer than 64 KB", path.display())));
                String::new()
            }
            Ok(text) => text,
            Err(e) => {
                problems.push(Problem::io("read", path, &e));
                String::new()
            }
        },
        None => String::new(),
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let (root, repo) = tree::named(&args.place, context)?;
    let store = super::root::store(&root, context)?;
    let key = &plain(&args.stack);
    let run = run_of(&*store, &repo, key, args.run.clone().or_else(|| either("RUN_ID")))?;
    let redactor = Redactor::new(Mask::new());
    let environment = settings::all();
    redactor.add_environment(environment.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let check = store::Check {
        run: run.clone(),
        stack: key.clone(),
        name: args.name.clone(),
        state: match args.status {
            Status::Pass => CheckState::Pass,
            Status::Warn => CheckState::Warn,
            Status::Fail => CheckState::Fail,
        },
        summary: redactor.text(&args.summary),
        details: redactor.text(&details),
        url: args.details_url.clone(),
        who: start::who(),
        at: clock::now(),
    };
    store.put_check(&check)?;
    let value = || {
        Plain::from_iter([
            ("run", Plain::from(run.as_str())),
            ("stack", Plain::from(key.as_str())),
            ("name", Plain::from(check.name.as_str())),
            ("status", Plain::from(check.state.word())),
        ])
    };
    ui::show(context.output, || format!("check {} of {key}: {}\n", check.name, check.state), value)?;
    Ok(Exit::Done)
}

/// True for an address that a browser may open: it becomes a link on a page.
fn is_of_the_web(url: &str) -> bool {
    let head = |scheme: &str| url.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme));
    (head("https://") || head("http://")) && !url.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// The run that the check belongs to.
fn run_of(store: &dyn Store, repo: &str, key: &str, named: Option<String>) -> Result<String, Problem> {
    if let Some(named) = named {
        let run = store.run(&named)?.ok_or_else(|| {
            Problem::usage(format!("there is no run `{named}`")).help("`suil infra runs` lists all runs")
        })?;
        return match store.stacks(&run.id)?.iter().any(|row| row.stack == key) {
            true => Ok(run.id),
            false => Err(Problem::usage(format!("run `{named}` has no stack `{key}`"))),
        };
    }
    let filter =
        Filter { repo: Some(repo.to_owned()), stack: Some(key.to_owned()), limit: Some(1), ..Filter::default() };
    let newest = store.runs(&filter)?.into_iter().next();
    newest.map(|run| run.id).ok_or_else(|| {
        Problem::new(format!("stack `{key}` was never planned")).help(format!("`suil infra plan --stacks {key}` first"))
    })
}
