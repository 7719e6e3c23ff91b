//! How a JVM is to answer a diagnostic command: all at once, when the command is done.
//!
//! Since JDK 25 (JDK-8319055, 8354460) the JVM writes to the asker's socket while the command runs: a thread dump is written by the VM thread at its
//! safepoint. An asker that does not read, because he is stopped or frozen, keeps all threads of the JVM where they are. Such a JVM names the option
//! `streaming` when it is asked for its options, and holds the answer back with `streaming=0`; older ones write when the command is done.

use super::Attached;
use crate::Result;

const STREAMED: &str = "jcmd";
const HELD_BACK: &str = "jcmd streaming=0";

impl Attached {
    /// A diagnostic command, such as `GC.class_histogram`, and what it says.
    pub fn diagnose(&self, command: &str) -> Result<String> {
        self.ask(self.held_back()?, [command, "", ""])
    }

    /// The operation that has diagnostic commands answered when they are done.
    fn held_back(&self) -> Result<&'static str> {
        if let Some(known) = self.diagnoses_by.get() {
            return Ok(known);
        }
        let answer = self.answered("getversion", ["options", "", ""])?;
        let operation = match self.understood("getversion", &answer) {
            // `2 streaming`: the protocol's version, and the options.
            Ok(said) if said.split([' ', ',']).any(|option| option == "streaming") => HELD_BACK,
            // Nothing is known by that, and nothing kept.
            Err(error) if answer.is_empty() => return Err(error),
            // It knows no such options, or does not know what is asked.
            Ok(_) | Err(_) => STREAMED,
        };
        Ok(self.diagnoses_by.get_or_init(|| operation))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Owner, Temporary};
    use super::*;
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixListener;
    use std::time::Duration;

    /// What a JVM is asked that answers `getversion` so, in order, until two commands have their answers. All but the last one are none.
    fn asked(versions: &'static [&'static str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("root/tmp")).unwrap();
        let pid = std::process::id();
        let temporary = Temporary::of(folder.path()).unwrap();
        let attached = Attached::at(pid, pid, temporary, Owner::us(), Duration::from_secs(60), true);
        let listens = UnixListener::bind(&attached.socket.path).unwrap();
        let jvm = std::thread::spawn(move || {
            let (mut requests, mut left) = (Vec::new(), versions.iter());
            while requests.len() < versions.len() + 2 {
                let (mut stream, _) = listens.accept().unwrap();
                let (mut request, mut byte) = (Vec::new(), [0]);
                // The protocol's version, the operation, and three arguments.
                while request.iter().filter(|byte| **byte == 0).count() < 5
                    && stream.read(&mut byte).unwrap() > 0
                {
                    request.push(byte[0]);
                }
                let request = String::from_utf8(request).unwrap();
                let is_version = request.contains("getversion");
                let answer = if is_version { left.next().unwrap() } else { "0\nJDK 25" };
                stream.write_all(answer.as_bytes()).unwrap();
                requests.push(request.trim_end_matches('\0').replace('\0', "|"));
            }
            requests
        });
        for _ in 1..versions.len() {
            assert!(attached.diagnose("VM.version").is_err());
        }
        for _ in 0..2 {
            assert_eq!(attached.diagnose("VM.version").unwrap(), "JDK 25");
        }
        jvm.join().unwrap()
    }

    #[test]
    fn a_jvm_that_would_stream_is_told_not_to() {
        let streams =
            ["1|getversion|options", "1|jcmd streaming=0|VM.version", "1|jcmd streaming=0|VM.version"];
        assert_eq!(asked(&["0\n2 streaming"]), streams);
        let older = ["1|getversion|options", "1|jcmd|VM.version", "1|jcmd|VM.version"];
        assert_eq!(asked(&["-1\nOperation getversion not recognized!"]), older);
        assert_eq!(asked(&["0\n2"]), older);
    }

    #[test]
    fn a_jvm_that_has_not_answered_is_asked_again() {
        assert_eq!(asked(&["", "0\n2 streaming"])[..2], ["1|getversion|options"; 2]);
    }
}
