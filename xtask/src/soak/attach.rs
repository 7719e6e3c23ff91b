//! Commands to a running JVM as `jcmd` gives them, without a JVM for each: over the attach mechanism's socket.

use jvm::os;
use jvm::{Error, Result};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Asks a JVM to open its socket. Without the file below it would print its threads instead.
const QUIT: i32 = 3;
/// Longer than any walk of a heap as small as a soak's, on a machine as busy as can be.
const PATIENCE: Duration = Duration::from_secs(120);

/// The way into one JVM.
pub struct Attached {
    socket: PathBuf,
}

impl Attached {
    /// Opens it. The JVM leads a process group of its own, and `folder` is where it runs.
    pub fn to(pid: u32, folder: &Path) -> Result<Attached> {
        let socket = std::env::temp_dir().join(format!(".java_pid{pid}"));
        let asking = folder.join(format!(".attach_pid{pid}"));
        File::create(&asking).map_err(failed)?;
        let since = Instant::now();
        while !socket.exists() {
            os::signal_group(pid, QUIT);
            std::thread::sleep(Duration::from_millis(50));
            if since.elapsed() > PATIENCE {
                return Err(Error::failed(format!("process {pid} does not open its attach socket")));
            }
        }
        let _ = fs::remove_file(asking);
        Ok(Attached { socket })
    }

    /// A command with its arguments; what the JVM answers, its return code first.
    fn ask(&self, command: &str, arguments: [&str; 3]) -> Result<String> {
        let mut stream = UnixStream::connect(&self.socket).map_err(failed)?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
        // The protocol's version, then strings that end with 0.
        let mut request = format!("1\0{command}\0").into_bytes();
        for argument in arguments {
            request.extend_from_slice(argument.as_bytes());
            request.push(0);
        }
        stream.write_all(&request).map_err(failed)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(failed)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    /// A diagnostic command, such as `GC.class_histogram`.
    pub fn diagnose(&self, command: &str) -> Result<()> {
        let answer = self.ask("jcmd", [command, "", ""])?;
        match answer.split_once('\n') {
            Some(("0", _)) => Ok(()),
            _ => Err(Error::failed(format!("{command}: {answer}"))),
        }
    }

    /// Tries to load an agent that has to refuse.
    pub fn load_in_vain(&self, library: &Path, options: &str) -> Result<()> {
        let answer = self.ask("load", [&library.to_string_lossy(), "true", options])?;
        if answer.contains("return code: 0") || answer.trim() == "0" {
            return Err(Error::failed(format!("{} was loaded a second time: {answer}", library.display())));
        }
        Ok(())
    }
}

fn failed(error: std::io::Error) -> Error {
    Error::failed(format!("attach: {error}"))
}
