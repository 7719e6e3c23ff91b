//! For tests: processes that have an agent's memory and are no JVMs.

use control::{Control, Mode, State};
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::process::{Child, Command};

/// Where numbers stand in the memory's header.
const FORMAT: u64 = 8;
const PID: u64 = 12;
const DESCRIPTOR: u64 = 24;

/// Ends when it is dropped.
pub struct Agent {
    pub control: Control,
    child: Child,
    memory: File,
}

impl Agent {
    /// One with buffers of these domains, which are on.
    pub fn start(domains: &[usize]) -> Agent {
        let directory = tempfile::tempdir().unwrap();
        fs::set_permissions(directory.path(), Permissions::from_mode(0o700)).unwrap();
        let path = directory.path().join("control");
        let control = Control::create(&path, domains).unwrap();
        control.set_settings(r#"{"levels":"core","terrace":"0.1.0"}"#);
        control.set_state(State::Installed);
        control.set_mode(Mode::On);
        let mut descriptor = [0; 4];
        File::open(&path).unwrap().read_exact_at(&mut descriptor, DESCRIPTOR).unwrap();
        let link = format!("/proc/self/fd/{}", u32::from_ne_bytes(descriptor));
        let memory = File::options().read(true).write(true).open(link).unwrap();
        let child = Command::new("sleep").arg("600").stdin(memory.try_clone().unwrap()).spawn().unwrap();
        let agent = Agent { control, child, memory };
        agent.write(PID, agent.pid());
        agent
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Becomes an agent of the next version.
    pub fn is_newer(&self) {
        self.write(FORMAT, control::FORMAT + 1);
    }

    /// Has memory of this version, which is another process's.
    pub fn is_of(&self, pid: u32) {
        self.write(FORMAT, control::FORMAT);
        self.write(PID, pid);
    }

    fn write(&self, at: u64, number: u32) {
        self.memory.write_all_at(&number.to_ne_bytes(), at).unwrap();
    }

    /// Waits until it has ended, and leaves it as it is then: listed, until somebody waits for it.
    pub fn ended(&self) {
        while jvm::os::is_running(self.pid()) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
