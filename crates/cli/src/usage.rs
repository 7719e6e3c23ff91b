//! What clap has to say against a command line, in one line with its remedy.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::process::ExitCode;

/// The process ID of a JVM. An error is what a user reads.
pub fn process_number(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number @ 1..=0x3fff_ffff) => Ok(number),
        _ => Err(format!("'{text}' is not a process ID; 'terrace top' lists running JVMs")),
    }
}

/// Help goes out as it is; an error becomes one line.
pub fn told(error: &clap::Error) -> ExitCode {
    if !error.use_stderr() {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return ExitCode::from(2);
    }
    eprintln!("terrace: {}", line(error));
    ExitCode::from(2)
}

fn line(error: &clap::Error) -> String {
    let line = format!("{}{}", what(error), similar(error).unwrap_or_default());
    if let (ErrorKind::InvalidValue, Some(ContextValue::Strings(known))) =
        (error.kind(), error.get(ContextKind::ValidValue))
    {
        return format!("{line}; choose one of {}; see 'terrace COMMAND --help'", known.join(", "));
    }
    match misplaced(error) {
        Some(remedy) => format!("{line}; {remedy}"),
        // What is wrong with a value has been said with its remedy.
        None if error.kind() == ErrorKind::ValueValidation => line,
        None => format!("{line}; see 'terrace COMMAND --help'"),
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
fn misplaced(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument || word.starts_with('-') {
        return None;
    }
    Some(match word.split_once('=') {
        Some((key, value)) => {
            format!(
                "options are written with dashes here, such as --{key} {value}; see 'terrace COMMAND --help'"
            )
        }
        None => "write a program and its arguments after --, such as -- java -jar app.jar".to_owned(),
    })
}
