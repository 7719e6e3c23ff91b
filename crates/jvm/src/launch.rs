//! A Java program to start.

use crate::jdk::on_path;
use crate::{Error, Result};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// Program, arguments and what is added to the environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Added to the environment.
    pub environment: Vec<(String, OsString)>,
    /// What the user's own environment had in front of it, and is nobody's to know.
    own: Option<OsString>,
}

impl Launch {
    /// A program that is known to exist.
    pub fn new(program: PathBuf, arguments: Vec<OsString>) -> Launch {
        Launch { program, arguments, environment: Vec::new(), own: None }
    }

    /// What the user wrote after `--`. The program is looked up as a shell would.
    pub fn command(words: &[OsString]) -> Result<Launch> {
        let (first, rest) = words.split_first().ok_or_else(|| {
            Error::usage("no program given; write it after --, such as -- java -jar app.jar")
        })?;
        let shown = first.to_string_lossy();
        let path = Path::new(first);
        let program = if shown.contains('/') {
            path.to_owned()
        } else {
            on_path(&shown).ok_or_else(|| {
                Error::usage(format!(
                    "'{shown}' is not on PATH; specify its path, such as -- /usr/lib/jvm/jdk/bin/java"
                ))
            })?
        };
        if !program.is_file() {
            let what = if program.exists() { "is no file" } else { "does not exist" };
            return Err(Error::usage(format!(
                "{} {what}; specify the path of java, or of a script that starts it",
                program.display()
            )));
        }
        Ok(Launch::new(program, rest.to_vec()))
    }

    /// Whether the program is the JVM's launcher itself.
    pub fn is_java(&self) -> bool {
        self.program.file_name() == Some(OsStr::new("java"))
    }

    /// Gives flags to the JVM: right after the launcher, or for any other program through the environment, which reaches every
    /// JVM that it starts.
    pub fn inject(&mut self, flags: &[String]) {
        if flags.is_empty() {
            return;
        }
        if self.is_java() {
            self.arguments.splice(0..0, flags.iter().map(OsString::from));
            return;
        }
        let ours = self
            .environment
            .iter()
            .position(|(name, _)| name == TOOL_OPTIONS)
            .map(|at| self.environment.remove(at).1);
        if ours.is_none() {
            self.own = std::env::var_os(TOOL_OPTIONS).filter(|own| !own.is_empty());
        }
        let mut value = ours.or_else(|| self.own.clone()).unwrap_or_default();
        for flag in flags {
            if !value.is_empty() {
                value.push(" ");
            }
            value.push(quoted(flag));
        }
        self.environment.push((TOOL_OPTIONS.into(), value));
    }

    /// The command as one would type it. Results are passed on: what the user's environment has, which may be a password, is not in it.
    pub fn describe(&self) -> String {
        let variables = self.environment.iter().map(|(name, value)| {
            let own = self.own.as_ref().filter(|_| name == TOOL_OPTIONS);
            let added = own.and_then(|own| value.as_bytes().strip_prefix(own.as_bytes()));
            match added {
                Some(added) => format!("{name}=\"${name}\"{}", shell(OsStr::from_bytes(added))),
                None => format!("{name}={}", shell(value)),
            }
        });
        let words = std::iter::once(shell(self.program.as_os_str()))
            .chain(self.arguments.iter().map(|word| shell(word)));
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// The command for the standard library, with our standard streams.
    pub fn to_command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Becomes the program: same process, same streams, same signals, its exit code. Returns only if that fails.
    pub fn become_it(&self) -> Error {
        let error = self.to_command().stdin(Stdio::inherit()).exec();
        self.cannot_start(&error)
    }

    pub(crate) fn cannot_start(&self, error: &std::io::Error) -> Error {
        let program = self.program.display();
        match error.kind() {
            std::io::ErrorKind::PermissionDenied => Error::usage(format!(
                "cannot start {program}: it is not executable; specify the program itself after --"
            )),
            _ => Error::usage(format!("cannot start {program}: {error}; specify a program after --")),
        }
    }
}

/// The JVM splits the variable at white space and knows both kinds of quotes.
fn quoted(flag: &str) -> String {
    match flag {
        _ if !flag.contains([' ', '\t', '\n', '"', '\'']) => flag.to_owned(),
        _ if !flag.contains('"') => format!("\"{flag}\""),
        _ => format!("'{flag}'"),
    }
}

fn shell(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+:,./%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.into_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn flags_go_right_after_the_launcher() {
        let mut launch = Launch::new("/jdk/bin/java".into(), words("-jar app.jar"));
        launch.inject(&["-Xmx1g".into(), "-XX:+UseG1GC".into()]);
        assert_eq!(launch.describe(), "/jdk/bin/java -Xmx1g -XX:+UseG1GC -jar app.jar");
        assert!(launch.environment.is_empty());
    }

    #[test]
    fn any_other_program_gets_them_through_the_environment() {
        let mut launch = Launch::new("/usr/bin/mvn".into(), words("verify"));
        launch.environment.push((TOOL_OPTIONS.into(), "-Dx=1".into()));
        launch.inject(&["-agentpath:/with space/lib.so=a=b".into()]);
        assert_eq!(launch.arguments, words("verify"));
        assert_eq!(launch.environment[0].1, "-Dx=1 \"-agentpath:/with space/lib.so=a=b\"");
    }

    #[test]
    fn what_the_users_environment_has_is_not_in_results() {
        let mut launch = Launch::new("/usr/bin/mvn".into(), words("verify"));
        launch.own = Some("-Dpassword=secret".into());
        launch.environment.push((TOOL_OPTIONS.into(), "-Dpassword=secret -Xmx1g".into()));
        let pasted = r#"JAVA_TOOL_OPTIONS="$JAVA_TOOL_OPTIONS"' -Xmx1g' /usr/bin/mvn verify"#;
        assert_eq!(launch.describe(), pasted);
    }

    #[test]
    fn a_program_that_is_not_there_is_a_usage_error() {
        for line in ["no-such-program-here", "/no/such/java", "/tmp"] {
            let error = Launch::command(&words(line)).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{error}");
        }
        assert!(Launch::command(&[]).unwrap_err().to_string().contains("after --"));
        assert!(Launch::command(&words("sh -c true")).is_ok());
    }

    #[test]
    fn the_described_command_can_be_pasted() {
        let launch = Launch::new("/bin/echo".into(), vec!["it's".into(), "".into(), "a=b".into()]);
        assert_eq!(launch.describe(), r"/bin/echo 'it'\''s' '' a=b");
    }
}
