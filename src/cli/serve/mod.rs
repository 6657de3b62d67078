//! `suil serve`: the workspace as a page, and as an API for programs. It reads, and changes nothing.
//!
//! Enters: requests. Leaves: what the graph, the store and the records of runs say. No file is ever served: a page and
//! its script are in the binary, and every other answer is made from values.

mod answer;
mod door;
mod hosts;
mod io;
mod kept;
mod lag;
mod listing;
mod metrics;
mod modules;
mod nodes;
mod overview;
mod runs;
mod shelf;
mod stacks;
mod token;
mod tree;

use super::infra::keys;
use super::infra::root;
use super::infra::tree::Where;
use super::{Context, Outcome};
use crate::base::{Problem, Problems, file, place};
use crate::ui::{self, Exit};
use shelf::Shelf;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use token::Token;
use tree::Tree;
use zeroize::Zeroizing;

/// Show the workspace in a browser: graph, runs, locks, drift, modules, nodes
#[derive(clap::Args, Debug)]
#[command(
    after_help = "It only reads: nothing can be applied or unlocked through it. On addresses of this machine alone everybody \
                  on it may look; on any other a token is demanded, and the line between should be TLS, of a proxy say. \
                  Ctrl-C ends it.\n\nExample: suil serve --listen 0.0.0.0:8420 --token-file /etc/suil/token --host suil.example.com"
)]
pub struct Args {
    /// Listen here
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420")]
    listen: SocketAddr,
    /// Demand the token in this file; else that of SUIL_TOKEN, where it is set
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Answer to this name, too, beside addresses and `localhost`; may be given several times
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Ask no git repository and no registry which versions of modules there are
    #[arg(long)]
    offline: bool,
    #[command(flatten)]
    tree: Where,
}

/// So long requests in flight may take once a stop was asked for.
const PATIENCE: Duration = Duration::from_secs(5);

pub fn run(args: Args, context: &Context) -> Outcome {
    let settings = keys::settings(context)?;
    let token = token(args.token_file.as_deref(), settings.token.clone())?;
    if token.is_none() && !args.listen.ip().is_loopback() {
        let what = format!("`{}` can be reached from other machines, and there is no token", args.listen);
        return Err(Problem::usage(what)
            .note("whoever reached it would see every stack, run and node")
            .help("write one with `openssl rand -hex 32 >FILE`, then `--token-file FILE` or SUIL_TOKEN")
            .into());
    }
    let tree = Tree::new(root::root(args.tree.repo_root.as_deref(), context)?, args.tree.repo, context.clone());
    let hosts = context.root().ok();
    // The same file is read again and again as long as this runs.
    place::share();
    let shelf = Arc::new(Shelf::new(tree, hosts, settings.store.clone(), token, args.hosts, args.offline));
    shelf.open()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(format!("cannot start the threads of a server: {e}")))?;
    let outcome = runtime.block_on(serve(args.listen, shelf, context));
    runtime.shutdown_timeout(Duration::from_millis(100));
    outcome
}

/// The token of the file, else that of the settings.
fn token(path: Option<&Path>, setting: Option<Zeroizing<String>>) -> Result<Option<Token>, Problem> {
    let (text, origin) = match (path, setting) {
        (Some(path), _) => {
            let text = file::read_text(path).map_err(|e| Problem::io("read the token", path, &e))?;
            (Zeroizing::new(text), format!("`{}`", path.display()))
        }
        (None, Some(text)) => (text, "SUIL_TOKEN".to_owned()),
        (None, None) => return Ok(None),
    };
    Token::new(text.trim()).map(Some).ok_or_else(|| {
        Problem::usage(format!("the token of {origin} is too short to keep anybody out"))
            .expected(format!("expected at least {} characters", token::LEAST))
            .help("`openssl rand -hex 32` makes a good one")
    })
}

async fn serve(address: SocketAddr, shelf: Arc<Shelf>, context: &Context) -> Outcome {
    let failed = |e: std::io::Error| {
        let problem = Problem::new(format!("cannot listen on `{address}`: {e}"));
        match e.kind() {
            std::io::ErrorKind::AddrInUse => problem.help("another program has the port: name another with `--listen`"),
            _ => problem,
        }
    };
    let listener = tokio::net::TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    announce(bound, &shelf, context)?;
    if !bound.ip().is_loopback() && context.output == ui::Output::Text {
        let plain = Problem::warning(format!(
            "`{bound}` speaks plain HTTP: what is shown, and the token, can be read on the way"
        ));
        let help = "let a proxy with TLS stand before it, or listen on this machine and go there by `ssh -L 8420:localhost:8420`";
        ui::warn(&[plain.help(help)], &crate::base::Mask::new());
    }
    let stop = crate::run::Stop::default();
    tokio::spawn(super::start::listen(stop.clone()));
    let router = door::router(shelf);
    let (wished, demanded) = (stop.clone(), stop.clone());
    let server =
        axum::serve(io::Patient::new(listener), router).with_graceful_shutdown(async move { wished.wished().await });
    tokio::select! {
        ended = async { server.await } => ended.map_err(failed).map_err(Problems::from)?,
        () = demanded.demanded() => return Ok(Exit::Interrupted),
        () = async { stop.wished().await; tokio::time::sleep(PATIENCE).await } => {}
    }
    Ok(Exit::Done)
}

/// Says where it is to be found: on stdout, so that a script that took port 0 can read it.
fn announce(bound: SocketAddr, shelf: &Shelf, context: &Context) -> Result<(), Problem> {
    use crate::base::Plain;
    let url = format!("http://{bound}/");
    let value = Plain::from_iter([
        ("version", Plain::Int(1)),
        ("url", Plain::from(&url)),
        ("token", Plain::from(shelf.token.is_some())),
    ]);
    let text = match context.output {
        ui::Output::Text => format!("suil serves {} at {url}, Ctrl-C ends it\n", shelf.name()),
        ui::Output::Json => value.to_json_line() + "\n",
        ui::Output::Yaml => value.to_yaml(),
    };
    ui::out(&text)
}
