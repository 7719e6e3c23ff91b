//! Every command line of README, CONTRIBUTING, docs and the packages' READMEs is executed as it stands there.
//!
//! A command is a line that begins with `$ ` in a fenced `console` block, or a span in backticks that begins with a program ([`found`]). It
//! is run by a shell in a folder ([`stage`]) that has an `app.jar`, `terrace.jar`, an archive as it is released, benchmarks, a `build.sh` and the results of two lab
//! runs, with the placeholders of `Stage::filled` filled in; of a command that is only named (`terrace on`) the help is read. What is treated
//! otherwise is declared in [`exceptions`], with the reason; a declaration that no document needs any more fails, too.

mod exceptions;
mod found;
mod read;
mod stage;

use exceptions::{EXCEPTIONS, Instead, exception, is_named};
use found::{Found, documented};
use stage::Stage;
use std::time::{Duration, Instant};

#[test]
fn every_command_line_works() {
    let found = documented();
    assert!(found.len() > 30, "only {} commands are found", found.len());
    let mut used = vec![false; EXCEPTIONS.len()];
    let chosen: Vec<(Found, Option<usize>)> = (found.into_iter())
        .map(|found| {
            let at = exception(&found.command);
            (found, at)
        })
        .collect();
    chosen.iter().filter_map(|(_, at)| *at).for_each(|at| used[at] = true);
    for (used, (text, ..)) in used.into_iter().zip(EXCEPTIONS) {
        assert!(used, "'{text}' is declared, and no document has it");
    }
    let Some(stage) = Stage::set() else { return };
    let mut failed = Vec::new();
    for (Found { place, command }, at) in chosen {
        let since = Instant::now();
        println!("{place}: {command}");
        let instead = at.map(|at| EXCEPTIONS[at].1).or_else(|| is_named(&command).then_some(Instead::Read));
        failed.extend(stage.execute(&command, instead).err().map(|error| format!("{place}: {error}")));
        if since.elapsed() > Duration::from_secs(1) {
            println!("    {:.1} s", since.elapsed().as_secs_f64());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
