//! `suil infra unlock`.

use super::root;
use super::tree::Where;
use crate::base::{Plain, Problem, Problems, nearest::nearest, problem::Kind};
use crate::cli::{Context, Outcome, start};
use crate::infra::store::{Life, Lock};
use crate::ui::{self, Exit};
use std::collections::BTreeSet;

/// Take the locks of stacks away from whoever holds them
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Locks of a process that is still there are refused without --force: it works on a stack. Its run ends \
                  what it has begun, and begins no other. All are taken away, or none.\n\nExample: suil infra unlock stacks/prod/vpc --reason 'the runner is gone'"
)]
pub struct Args {
    /// The stacks; `owner/name//KEY` is one of another repository that shares the store
    #[arg(value_name = "KEY", required = true)]
    keys: Vec<String>,
    /// Say why: it is kept in the audit
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Take locks away even from a process that is still there
    #[arg(long)]
    force: bool,
    /// Keep in the audit that Terraform's own lock of the state is to go as well, and say how; suil does not touch it
    #[arg(long)]
    force_state: bool,
    #[command(flatten)]
    place: Where,
}

pub fn run(args: Args, context: &Context) -> Outcome {
    if args.reason.trim().is_empty() {
        return Err(Problem::usage("the reason says nothing").help("say why with `--reason TEXT`").into());
    }
    let Some(books) = root::known(&args.place, context)? else { return Err(no_locks(&args.keys)) };
    let wanted = named(&args.keys, &books.store.locks()?, |lock| books.has(&lock.repo))?;
    let alive: Vec<Lock> = wanted.iter().filter(|lock| lock.life() == Life::Alive).cloned().collect();
    if !alive.is_empty() && !args.force {
        return Err(refusal(&alive).into());
    }
    let reason = match args.force_state {
        true => format!("{} (the lock of the state as well)", args.reason),
        false => args.reason.clone(),
    };
    let gone = books.store.unlock(&wanted, &start::who(), &reason)?;
    let value = || {
        Plain::from_iter([
            ("released", gone.iter().map(Lock::to_plain).collect()),
            (
                "commands",
                if args.force_state {
                    gone.iter().map(|lock| Plain::from(command(lock))).collect()
                } else {
                    Plain::List(Vec::new())
                },
            ),
        ])
    };
    ui::show(context.output, || text(&gone, args.force_state), value)?;
    let changed: Problems = wanted.iter().filter(|lock| !gone.contains(lock)).map(changed).collect();
    if changed.is_empty() { Ok(Exit::Done) } else { Err(changed) }
}

fn text(gone: &[Lock], state: bool) -> String {
    let mut out = String::new();
    for lock in gone {
        out.push_str(&format!("released `{}`, held by run `{}` of {}\n", lock.stack, lock.run, lock.who));
    }
    let alive: BTreeSet<&str> =
        gone.iter().filter(|lock| lock.life() == Life::Alive).map(|lock| lock.run.as_str()).collect();
    for run in alive {
        out.push_str(&format!("run `{run}` goes on: it ends what it has begun, and begins no other stack\n"));
    }
    if state && !gone.is_empty() {
        out.push_str(
            "\nTerraform's own lock of a state is not touched. Where one is left over, its refusal shows an\n",
        );
        out.push_str("id, and this takes it away:\n");
        gone.iter().for_each(|lock| out.push_str(&format!("  {}\n", command(lock))));
    }
    out
}

/// What takes Terraform's lock of the state of a stack away.
fn command(lock: &Lock) -> String {
    let folder = lock.stack.rsplit_once(':').map_or(lock.stack.as_str(), |(folder, _)| folder);
    format!("terraform -chdir={folder} force-unlock LOCK_ID")
}

/// A key as the store knows it.
pub fn plain(key: &str) -> String {
    let key = key.trim_start_matches("./").trim_end_matches('/');
    key.strip_suffix(":default").unwrap_or(key).to_owned()
}

/// The locks that the words name; a key alone is one of `ours`.
fn named(words: &[String], held: &[Lock], ours: impl Fn(&Lock) -> bool) -> Result<Vec<Lock>, Problems> {
    let mut found: Vec<Lock> = Vec::new();
    let mut problems = Problems::new();
    for word in words {
        let (repo, key) = match word.split_once("//") {
            Some((repo, key)) => (Some(repo.to_lowercase()), plain(key)),
            None => (None, plain(word)),
        };
        let of =
            |lock: &&Lock| lock.stack == key && repo.as_ref().map_or_else(|| ours(lock), |repo| *repo == lock.repo);
        let matching: Vec<&Lock> = held.iter().filter(of).collect();
        match matching.as_slice() {
            [] => problems.push(unheld(word, &key, held)),
            [one] if found.contains(one) => {}
            [one] => found.push((*one).clone()),
            several => {
                let names: Vec<String> =
                    several.iter().map(|lock| format!("`{}//{}`", lock.repo, lock.stack)).collect();
                let what = format!("`{word}` is locked in {} repositories", several.len());
                problems.push(Problem::new(what).help(format!("name one of {}", names.join(", "))));
            }
        }
    }
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

fn unheld(word: &str, key: &str, held: &[Lock]) -> Problem {
    let problem = Problem::new(format!("`{word}` is not locked"));
    if let Some(lock) = held.iter().find(|lock| lock.stack == key) {
        return problem.help(format!("another repository has locked it: `{}//{}`", lock.repo, lock.stack));
    }
    match nearest(key, held.iter().map(|lock| lock.stack.as_str())) {
        Some(near) => problem.help(format!("did you mean `{near}`?")),
        None => problem.help("`suil infra locks` lists all that are"),
    }
}

fn no_locks(words: &[String]) -> Problems {
    words.iter().map(|word| unheld(word, word, &[])).collect()
}

fn refusal(alive: &[Lock]) -> Problem {
    let what = match alive {
        [one] => format!("the process that holds `{}` is still there", one.stack),
        all => format!("the processes that hold {} stacks are still there", all.len()),
    };
    let problem = alive.iter().fold(Problem::new(what), |problem, lock| {
        problem.note(format!("`{}` is held by run `{}`: {}", lock.stack, lock.run, lock.told()))
    });
    problem.help("wait, or end it; `--force` takes the locks away all the same").kind(Kind::Refused)
}

fn changed(lock: &Lock) -> Problem {
    Problem::new(format!("the lock of `{}` changed hands meanwhile, and was left", lock.stack))
        .help("look again with `suil infra locks`")
        .kind(Kind::Refused)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infra::store::Process;

    fn lock(repo: &str, stack: &str) -> Lock {
        Lock {
            repo: repo.to_owned(),
            stack: stack.to_owned(),
            run: "019".to_owned(),
            who: "anna@desk".to_owned(),
            process: Process::this("anna"),
            taken: crate::base::clock::now(),
            reason: String::new(),
        }
    }

    #[test]
    fn every_word_names_one_lock_or_is_a_problem() {
        let held =
            [lock("a/b", "stacks/x"), lock("a/b", "stacks/y:eu"), lock("c/d", "stacks/x"), lock("e/f", "stacks/q")];
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            named(&words, &held, |lock: &Lock| lock.repo != "e/f")
                .map_err(|problems| problems.into_iter().map(|p| (p.what, p.help)).collect::<Vec<_>>())
        };
        let one = of(&["./stacks/y:eu/", "A/B//stacks/x:default", "a/b//stacks/x"]).expect("named");
        assert_eq!(one, [held[1].clone(), held[0].clone()]);
        let problems = of(&["stacks/x", "stacks/xz", "other", "stacks/q"]).expect_err("four");
        assert_eq!(problems[0].0, "`stacks/x` is locked in 2 repositories");
        assert_eq!(problems[1].1.as_deref(), Some("did you mean `stacks/x`?"));
        assert_eq!(problems[2].1.as_deref(), Some("`suil infra locks` lists all that are"));
        assert_eq!(problems[3].0, "`stacks/q` is not locked", "the lock of another repository is not meant");
    }

    #[test]
    fn the_command_for_the_state_is_run_in_the_folder_of_the_stack() {
        assert_eq!(command(&lock("", "stacks/y:eu")), "terraform -chdir=stacks/y force-unlock LOCK_ID");
    }
}
