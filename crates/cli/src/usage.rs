//! What clap has to say against a command line, in one line with its remedy.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use compare::forks::Schedule;
use std::process::ExitCode;
use std::str::FromStr;

/// The process ID of a JVM. An error is what a user reads.
pub fn process_number(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number @ 1..=0x3fff_ffff) => Ok(number),
        _ => Err(format!("'{text}' is not a process ID; 'terrace top' lists running JVMs")),
    }
}

/// Help goes out as it is; an error becomes one line. `all`: the command with its subcommands.
pub fn told(error: &clap::Error, all: &clap::Command) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    eprintln!("terrace: {}", line(error, &help_of(all, &words)));
    ExitCode::from(2)
}

/// Where more is said: the help of the subcommand that these words begin with.
fn help_of(all: &clap::Command, words: &[String]) -> String {
    let (mut command, mut path) = (all, "terrace".to_owned());
    for word in words {
        let Some(next) = command.find_subcommand(word) else { break };
        path = format!("{path} {word}");
        command = next;
    }
    format!("see '{path} --help'")
}

fn line(error: &clap::Error, help: &str) -> String {
    let line = format!("{}{}", what(error), similar(error).unwrap_or_default());
    if let (ErrorKind::InvalidValue, Some(ContextValue::Strings(known))) =
        (error.kind(), error.get(ContextKind::ValidValue))
        && !known.is_empty()
    {
        return format!("{line}; choose one of {}; {help}", known.join(", "));
    }
    match misplaced(error, help) {
        Some(remedy) => format!("{line}; {remedy}"),
        // What is wrong with a value has been said with its remedy.
        None if error.kind() == ErrorKind::ValueValidation => line,
        None => format!("{line}; {help}"),
    }
}

/// The first line of clap's own text.
fn what(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let line = lines.next().unwrap_or_default().trim_start_matches("error: ");
    if !line.ends_with(':') {
        return line.to_owned();
    }
    // What is missing stands in lines of its own, before the usage.
    let missing: Vec<&str> = lines.take_while(|line| !line.starts_with("Usage")).collect();
    format!("{line} {}", missing.join(" "))
}

fn similar(error: &clap::Error) -> Option<String> {
    let known = error.get(ContextKind::SuggestedArg).or_else(|| error.get(ContextKind::SuggestedSubcommand));
    let known = match known? {
        // The most similar is the last.
        ContextValue::Strings(known) => known.last()?.clone(),
        known => known.to_string(),
    };
    // "on" is no answer to "frobnicate".
    let given = error.get(ContextKind::InvalidSubcommand).map(ToString::to_string);
    let is_close = given.is_none_or(|given| given.len() < 2 * known.len());
    is_close.then(|| format!("; did you mean {known}?"))
}

/// Where a word belongs that stands where no word may.
fn misplaced(error: &clap::Error, help: &str) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    Some(match word.split_once('=') {
        Some((key, value)) => {
            format!("options are written with dashes here, such as --{key} {value}; {help}")
        }
        None if Schedule::from_str(word).is_ok() => format!("with --forks, write --forks={word}"),
        None => "write a program and its arguments after --, such as -- java -jar app.jar".to_owned(),
    })
}
