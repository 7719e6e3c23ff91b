//! The options that a program's JVM gets, in its own order: of two that set the same, it takes the later.
//!
//! HotSpot reads `JAVA_TOOL_OPTIONS`, then what the launcher hands it, then `_JAVA_OPTIONS`. The launcher reads `JDK_JAVA_OPTIONS`, then its own command line, with files of
//! arguments in both.

use crate::argument_file;
use crate::launch::{Launch, TOOL_OPTIONS};
use std::cell::Cell;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const LAUNCHER_OPTIONS: &str = "JDK_JAVA_OPTIONS";
const LAST_OPTIONS: &str = "_JAVA_OPTIONS";

/// Of a program that is to be started. A script starts `java` with the same variables, and may hand its arguments on, so that they count as well.
pub fn of(launch: &Launch) -> Vec<String> {
    let variable = |name: &str| {
        let own = launch.environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
        own.or_else(|| std::env::var_os(name)).unwrap_or_default()
    };
    all(launch, variable, &|path| file(Path::new(path)).unwrap_or_default())
}

/// Of a JVM that runs. `None` if it has ended, may not be looked at, or was started by another launcher than `java`; and if a file of arguments cannot be
/// read, or is not ours to read: what it sets would be missing.
pub fn of_process(pid: u32) -> Option<Vec<String>> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let read = |name: &str| {
        let text = std::fs::read(process.join(name)).ok()?;
        let words = text.split(|byte| *byte == 0).map(|word| OsStr::from_bytes(word).to_owned());
        Some(words.collect::<Vec<OsString>>())
    };
    let mut words = read("cmdline")?;
    // Behind the last word there is a 0 as well.
    words.pop();
    let environment = read("environ")?;
    let variable = |name: &str| {
        let value = |line: &OsString| {
            let value = line.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsStr::from_bytes(value).to_owned())
        };
        environment.iter().find_map(value).unwrap_or_default()
    };
    let (program, arguments) = words.split_first()?;
    let launch = Launch::new(program.into(), arguments.to_vec());
    if !launch.is_java() {
        return None;
    }
    let (directory, are_ours) = (process.join("cwd"), argument_file::are_ours(pid));
    let is_complete = Cell::new(true);
    let words_of = |path: &str| {
        let found = if are_ours { file(&directory.join(path)) } else { None };
        found.unwrap_or_else(|| {
            is_complete.set(false);
            Vec::new()
        })
    };
    let options = all(&launch, variable, &words_of);
    is_complete.get().then_some(options)
}

/// The words of a file of arguments; `None` if it cannot be read, which the launcher will say itself.
fn file(path: &Path) -> Option<Vec<String>> {
    argument_file::read(path).map(|text| words(&text, true))
}

/// `words_of` reads a file of arguments.
fn all(
    launch: &Launch,
    variable: impl Fn(&str) -> OsString,
    words_of: &dyn Fn(&str) -> Vec<String>,
) -> Vec<String> {
    let variable = |name: &str| words(&variable(name).to_string_lossy(), false);
    let arguments = launch.arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let mut options = variable(TOOL_OPTIONS);
    let launcher = VecDeque::from(variable(LAUNCHER_OPTIONS));
    if launch.is_java() {
        options.extend(of_launcher(launcher.into_iter().chain(arguments).collect(), words_of));
    } else {
        options.extend(of_launcher(launcher, words_of));
        options.extend(arguments);
    }
    options.extend(variable(LAST_OPTIONS));
    options
}

/// Options of the launcher whose value is the next word.
const WITH_VALUE: [&str; 18] = [
    "-cp",
    "-classpath",
    "--class-path",
    "-p",
    "--module-path",
    "--upgrade-module-path",
    "--add-modules",
    "--limit-modules",
    "--enable-native-access",
    "--illegal-native-access",
    "--add-exports",
    "--add-opens",
    "--add-reads",
    "--patch-module",
    "-d",
    "--describe-module",
    "--source",
    "--finalization",
];

/// What of the launcher's arguments is for the JVM: all before the program's name, with the files of arguments that are named.
fn of_launcher(given: VecDeque<String>, words_of: &dyn Fn(&str) -> Vec<String>) -> Vec<String> {
    let mut options = Vec::new();
    let mut files = true;
    // A file that a file names is not read (the launcher's `JLI_PreprocessArg`).
    let mut left: VecDeque<(String, bool)> = given.into_iter().map(|word| (word, true)).collect();
    while let Some((word, may_name)) = left.pop_front() {
        match word.strip_prefix('@') {
            Some(path) if files && may_name && !path.starts_with('@') => {
                for word in words_of(path).into_iter().rev() {
                    left.push_front((word, false));
                }
                continue;
            }
            _ if word == "--disable-@files" => files = false,
            _ if !word.starts_with('-') || ["-jar", "-m", "--module"].contains(&word.as_str()) => break,
            _ if WITH_VALUE.contains(&word.as_str()) => drop(left.pop_front()),
            _ => match word.strip_prefix("-XX:VMOptionsFile=") {
                Some(path) => options.extend(words_of(path)),
                None => options.push(word),
            },
        }
    }
    options
}

/// Words at white space, with both kinds of quotes; in files also comments, and a backslash inside quotes.
fn words(text: &str, in_file: bool) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match quote {
            Some(mark) if letter == mark => quote = None,
            Some(_) if in_file && letter == '\\' => word.get_or_insert_default().extend(letters.next()),
            None if letter == '"' || letter == '\'' => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            None if letter.is_whitespace() => words.extend(word.take()),
            None if in_file && letter == '#' && word.is_none() => {
                letters.by_ref().find(|letter| *letter == '\n');
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::Idle;
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};

    #[test]
    fn options_of_a_process_are_in_the_jvms_own_order() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("more"), "-Xms2m\n# -Xms3m\n@more\n").unwrap();
        let start = |name: &str, file: &str| {
            let mut command = Command::new("sh");
            command.arg0(name).args(["-s", "--", "-Xmx1g", file, "Main", "-Xmx2g"]);
            command.env(TOOL_OPTIONS, "-Xmx3g '-Dx=a b'").env("JDK_JAVA_OPTIONS", "-Xmx4g");
            // It waits for input.
            command.env("_JAVA_OPTIONS", "-Xmx5g").current_dir(folder.path()).stdin(Stdio::piped());
            let idle = Idle(command.spawn().unwrap());
            // A process has words only when it has become the program.
            while std::fs::read(format!("/proc/{}/cmdline", idle.pid())).unwrap().is_empty() {
                std::thread::yield_now();
            }
            idle
        };
        let expected = ["-Xmx3g", "-Dx=a b", "-Xmx4g", "-s", "--", "-Xmx1g", "-Xms2m", "-Xmx5g"];
        assert_eq!(of_process(start("/jdk/bin/java", "@more").pid()).unwrap(), expected);
        assert_eq!(of_process(start("/jdk/bin/java", "@none").pid()), None, "nobody knows what was in it");
        assert_eq!(of_process(start("app", "@more").pid()), None, "its arguments are its own");
        assert_eq!(of_process(0x3fff_fff0), None);
    }

    #[test]
    fn what_is_injected_into_a_script_comes_before_the_launchers_own() {
        let mut launch = Launch::new("/app/run.sh".into(), vec!["-Xmx2g".into()]);
        for (name, value) in [(TOOL_OPTIONS, "-Xmx1g"), ("JDK_JAVA_OPTIONS", "-Xmx3g"), ("_JAVA_OPTIONS", "")]
        {
            launch.environment.push((name.into(), value.into()));
        }
        launch.inject(&["-Dx=a b".into()]);
        assert_eq!(of(&launch), ["-Xmx1g", "-Dx=a b", "-Xmx3g", "-Xmx2g"]);
        launch.program = "/jdk/bin/java".into();
        launch.inject(&["-Xmn1m".into()]);
        assert_eq!(of(&launch), ["-Xmx1g", "-Dx=a b", "-Xmx3g", "-Xmn1m", "-Xmx2g"]);
    }
}
