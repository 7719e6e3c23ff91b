//! What surrounds a JVM: other mounts, an environment, system calls that a sandbox refuses.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Surroundings of a launch; the plain ones by default.
#[derive(Default)]
pub struct Surroundings {
    before: Vec<String>,
    environment: Vec<(&'static str, String)>,
    refused: Vec<libc::c_long>,
}

impl Surroundings {
    /// Mounts of its own, by a line of shell that runs in the launch's directory; or why there can be none here.
    pub fn mounts(setting: &str) -> Result<Surroundings, String> {
        Ok(Surroundings::default().through(&unshare()?, setting))
    }

    /// Another user's, to whom the launch's directory is given, where that user can read all of `files`. Only root can ask for that.
    pub fn another_user(files: &[&Path]) -> Result<Surroundings, String> {
        const USER: [&str; 6] = ["setpriv", "--reuid", "4711", "--regid", "4711", "--clear-groups"];
        let as_user = |words: &[&std::ffi::OsStr]| {
            Command::new(USER[0]).args(&USER[1..]).args(words).stderr(Stdio::null()).status()
        };
        if !as_user(&["true".as_ref()]).is_ok_and(|status| status.success()) {
            return Err("another user: only root can be one, and needs setpriv".into());
        }
        let readable = |file: &&Path| {
            as_user(&["test".as_ref(), "-r".as_ref(), file.as_os_str()]).is_ok_and(|status| status.success())
        };
        match files.iter().find(|file| !readable(file)) {
            Some(file) => Err(format!("another user: {} is for root alone", file.display())),
            None => Ok(Surroundings::default()
                .through(&[], &format!("chown 4711:4711 . && set -- {} \"$@\"", USER.join(" ")))),
        }
    }

    /// A standard error that is a pipe, full, with a reader who does not read.
    pub fn full_standard_error() -> Surroundings {
        let fill = "dd if=/dev/zero of=full bs=4096 count=1000 oflag=nonblock 2>&1 | grep -q .";
        Surroundings::default().through(&[], &format!("mkfifo full && exec 3<>full && {fill} && exec 2>&3"))
    }

    /// A container without rights of its own: user, mounts and processes.
    pub fn container(setting: &str) -> Result<Surroundings, String> {
        const UNSHARE: [&str; 7] =
            ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"];
        if !works(&UNSHARE) {
            return Err("a container: unshare is not there, or user namespaces are not allowed".into());
        }
        Ok(Surroundings::default().through(&UNSHARE, setting))
    }

    /// A variable of the environment.
    pub fn variable(name: &'static str, value: impl Into<String>) -> Surroundings {
        Surroundings::default().with(name, value)
    }

    /// The same, beside what there is.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Surroundings {
        self.environment.push((name, value.into()));
        self
    }

    /// A sandbox that answers these system calls with EPERM.
    pub fn refusing(calls: &[libc::c_long]) -> Surroundings {
        Surroundings { refused: calls.to_vec(), ..Surroundings::default() }
    }

    fn through(mut self, unshare: &[&str], setting: &str) -> Surroundings {
        let shell = format!("{setting} && exec \"$@\"");
        self.before =
            [unshare, &["sh", "-c", &shell, "sh"]].concat().into_iter().map(str::to_owned).collect();
        self
    }

    /// The program in these surroundings, without arguments so far.
    pub fn command(&self, program: &Path) -> Command {
        let words: Vec<&std::ffi::OsStr> =
            self.before.iter().map(AsRef::as_ref).chain([program.as_os_str()]).collect();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).envs(self.environment.iter().map(|(name, value)| (name, value)));
        if !self.refused.is_empty() {
            let filter = filter(&self.refused);
            // SAFETY: between fork and exec it makes system calls only; the filter was allocated before.
            unsafe { command.pre_exec(move || refuse(&filter)) };
        }
        command
    }
}

/// The least that gives a process mounts of its own.
fn unshare() -> Result<Vec<&'static str>, String> {
    static WAY: OnceLock<Option<&[&str]>> = OnceLock::new();
    const WAYS: [&[&str]; 2] =
        [&["unshare", "--mount"], &["unshare", "--user", "--map-root-user", "--mount"]];
    let way = WAY.get_or_init(|| WAYS.into_iter().find(|way| works(way)));
    way.map(<[_]>::to_vec).ok_or_else(|| "mounts of its own: unshare is not there, or not allowed".into())
}

fn works(unshare: &[&str]) -> bool {
    let mut command = Command::new(unshare[0]);
    command.args(&unshare[1..]).args(["sh", "-c", "mount -t tmpfs none /sys"]);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// A program of the kernel's filter: these calls fail with EPERM, all others pass.
fn filter(calls: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let code = |code: u32, k: u32, jt: u8| libc::sock_filter { code: code as u16, jt, jf: 0, k };
    let number = code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0);
    let mut program = vec![number];
    for (at, call) in calls.iter().enumerate() {
        // To the last instruction, over the remaining comparisons and the permission.
        let over = (calls.len() - at) as u8;
        program.push(code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, over));
    }
    program.push(code(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0));
    program.push(code(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0));
    program
}

fn refuse(filter: &[libc::sock_filter]) -> std::io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: prctl with arguments as its manual page describes; the kernel copies the program.
    let done = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    };
    if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
