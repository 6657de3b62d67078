//! The transports without ssh: a shell of this machine, or any command that gives one.

use super::link::{Later, Link, Transport, Words};
use super::{Access, Failure, Target, command, program};
use tokio::io::AsyncWriteExt;

/// `/bin/sh`, or the shell that `exec` names.
pub(super) struct Local;

impl Transport for Local {
    fn open<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<Link, Failure>> {
        Box::pin(async move {
            let mut words = target.exec.iter().map(String::as_str);
            let shell = words.next().unwrap_or("/bin/sh");
            let args: Vec<String> = words.chain(["-c", program::READER]).map(str::to_owned).collect();
            command::start(shell, &args, Words::new(&target.node, access))
                .map_err(|error| Failure::start(target, shell, &error))
        })
    }
}

/// The command gives a shell that reads its commands from stdin, in blocks: it may have read on before it runs the
/// first line. So nothing follows that line until the program it starts says that it reads.
pub(super) struct Exec;

impl Transport for Exec {
    fn open<'a>(&'a self, target: &'a Target, access: &'a Access) -> Later<'a, Result<Link, Failure>> {
        Box::pin(async move {
            let Some((name, args)) = target.exec.split_first() else {
                return Err(Failure::start(target, "exec", &std::io::Error::other("no command")));
            };
            let mut link = command::start(name, args, Words::new(&target.node, access))
                .map_err(|error| Failure::start(target, name, &error))?;
            // A command that ends at once closes the pipe; what it said is the better message.
            let _ = link.input.write_all(format!("{}\n", program::WAITING_LINE).as_bytes()).await;
            let _ = link.input.flush().await;
            Ok(link)
        })
    }
}
