//! What a container's runtime does, without one: a root of its own, mounts, a user, no capabilities, a memory limit.

use crate::installed::{Busy, installed, java};
use crate::running::{Jvm, the_jvm};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Of this machine: what an image's system is here.
const SYSTEM: [&str; 6] = ["bin", "sbin", "lib", "lib64", "usr", "etc"];
const EMPTY: [&str; 10] =
    ["run", "proc", "sys", "dev", "tmp", "opt/java", "app", "srv/app", "terrace", "local/bin"];
const PATH: &str = "PATH=/opt/java/bin:/usr/local/bin:/usr/bin:/bin";

/// An image: this machine's system, a JVM in `/opt/java`, a program in `/app` and `/srv/app`, and what was built into it.
pub struct Image {
    folder: TempDir,
    java: PathBuf,
}

impl Image {
    /// An image without Terrace, or the reason for skipping.
    pub fn plain() -> Option<Image> {
        if jvm::os::user() != 0 {
            skips::skip!("a container's root, mounts and user: only root makes them");
            return None;
        }
        let mut probe = Command::new("unshare");
        probe.args(["--mount", "--pid", "--fork", "setpriv", "--no-new-privs"]);
        probe.args(["mount", "-t", "tmpfs", "none", "/sys"]).stderr(Stdio::null());
        let works = probe.status().is_ok_and(|status| status.success());
        if !works || !Path::new("/usr/bin/java").exists() {
            skips::skip!("a container's root: unshare, setpriv or /usr/bin/java is not there or not allowed");
            return None;
        }
        let program = installed()?.join("terrace-workloads.jar");
        let java = Path::new(&java()).canonicalize().unwrap().ancestors().nth(2).unwrap().to_owned();
        let image = Image { folder: tempfile::tempdir().unwrap(), java };
        for name in EMPTY {
            fs::create_dir_all(image.root(name)).unwrap();
        }
        fs::set_permissions(image.root("tmp"), fs::Permissions::from_mode(0o1777)).unwrap();
        for name in SYSTEM {
            match fs::read_link(Path::new("/").join(name)) {
                Ok(link) => symlink(link, image.root(name)).unwrap(),
                Err(_) => fs::create_dir_all(image.root(name)).unwrap(),
            }
        }
        for folder in ["app", "srv/app"] {
            fs::copy(&program, image.root(folder).join("app.jar")).unwrap();
        }
        Some(image)
    }

    /// What the project's Dockerfile makes of it, with the archive's tree around what was built here.
    pub fn with_terrace(dockerfile: &str) -> Option<Image> {
        let image = Image::plain()?;
        let (mut version, mut arch) = ("", "");
        for line in dockerfile.lines().filter(|line| !line.starts_with('#')) {
            let filled = line.replace("${VERSION}", version).replace("${ARCH}", arch);
            match line.split_once(' ') {
                Some(("FROM", _)) | None => {}
                Some(("ARG", argument)) => match argument.split_once('=') {
                    Some(("VERSION", value)) => version = value,
                    Some(("ARCH", value)) => arch = value,
                    _ => {}
                },
                Some(("ADD", _)) => {
                    let words: Vec<&str> = filled.split_whitespace().collect();
                    let name = words[1].strip_suffix(".tar.gz").expect("an archive");
                    image.unpack(&image.root(words[2].trim_start_matches('/')).join(name));
                }
                Some(("RUN", _)) => {
                    let words = ["sh", "-c", filled.trim_start_matches("RUN ")].map(str::to_owned);
                    let output = Sandbox::default().command(&image, &words).output().unwrap();
                    assert!(output.status.success(), "{filled}: {}", String::from_utf8_lossy(&output.stderr));
                }
                Some(_) => panic!("not understood: {line}"),
            }
        }
        Some(image)
    }

    fn unpack(&self, tree: &Path) {
        let from = installed().expect("looked at before");
        for (name, to) in [("terrace", "bin"), ("libterrace.so", "lib")] {
            fs::create_dir_all(tree.join(to)).unwrap();
            let (from, to) = (from.join(name), tree.join(to).join(name));
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).unwrap();
        }
    }

    /// A place in the image.
    pub fn root(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder beside the image, as a volume that belongs to `group`.
    pub fn volume(&self, group: u32) -> TempDir {
        let folder = tempfile::tempdir_in(self.folder.path()).unwrap();
        chown(folder.path(), Some(0), Some(group)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o2777)).unwrap();
        folder
    }
}

pub enum Mount {
    /// Memory of its own, as Docker mounts it.
    Memory,
    /// A file or a folder, and whether it may be written.
    Bound(PathBuf, bool),
}

/// What a runtime is asked for.
#[derive(Default)]
pub struct Sandbox {
    pub user: u32,
    pub group: u32,
    pub read_only: bool,
    pub no_capabilities: bool,
    pub no_new_privileges: bool,
    pub mounts: Vec<(String, Mount)>,
    pub environment: Vec<(String, String)>,
    pub memory: Option<u64>,
    pub cpus: Option<String>,
}

impl Sandbox {
    /// A command in it, which is process 1 there.
    pub fn command(&self, image: &Image, words: &[String]) -> Command {
        self.command_in(image, words, &Groups(Vec::new()))
    }

    fn command_in(&self, image: &Image, words: &[String], groups: &Groups) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child"]);
        self.enter(&mut command, image, groups, &self.rights());
        command.args(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        command.args(words);
        command
    }

    /// What goes on in namespaces of its own: the root is made, and a command follows with these rights and no environment.
    fn enter(&self, command: &mut Command, image: &Image, groups: &Groups, rights: &[String]) {
        command.args(["sh", "-ec"]).arg(self.script(image, groups)).arg("sh").arg(image.root(""));
        command.args(rights).args(["env", "-i", PATH]).stdin(Stdio::null());
    }

    fn script(&self, image: &Image, groups: &Groups) -> String {
        let mut lines: Vec<String> =
            groups.0.iter().map(|group| format!("echo 0 > {}/cgroup.procs", quoted(group))).collect();
        lines.push("root=$1; shift; mount --bind \"$root\" \"$root\"; cd \"$root\"".into());
        for name in SYSTEM.iter().filter(|name| !image.root(name).is_symlink()) {
            lines.push(format!("mount --bind -o ro /{name} {name}"));
        }
        lines.push("mount --bind local usr/local".into());
        lines.push(format!("mount --bind -o ro {} opt/java", quoted(&image.java)));
        lines.push(
            "mount --rbind /sys sys; mount -t proc proc proc; mount -t tmpfs -o mode=755 dev dev".into(),
        );
        // No /dev/shm, which some runtimes leave out.
        lines.push(
            "for device in null zero full random urandom; do : > dev/$device; mount --bind /dev/$device dev/$device; done"
                .into(),
        );
        for (at, mount) in &self.mounts {
            let at = quoted(Path::new(at.trim_start_matches('/')));
            lines.push(match mount {
                Mount::Memory => format!("mount -t tmpfs -o mode=1777,noexec,nosuid,nodev none {at}"),
                Mount::Bound(from, writable) => {
                    let place = if from.is_dir() { "mkdir -p" } else { "touch" };
                    let options = if *writable { "rw" } else { "ro" };
                    format!("{place} {at}; mount --bind -o {options} {} {at}", quoted(from))
                }
            });
        }
        if self.read_only {
            lines.push("mount -o remount,bind,ro \"$root\"".into());
        }
        lines.push("exec chroot \"$root\" \"$@\"".into());
        lines.join("\n")
    }

    fn rights(&self) -> Vec<String> {
        let mut words = vec!["setpriv".to_owned(), "--clear-groups".into()];
        words.extend([format!("--reuid={}", self.user), format!("--regid={}", self.group)]);
        words.extend(self.no_new_privileges.then(|| "--no-new-privs".into()));
        if self.no_capabilities {
            words
                .extend(["--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all"].map(str::to_owned));
        }
        words
    }

    /// Starts a JVM in it. It runs until it is dropped.
    pub fn start(&self, image: &Image, words: &[String]) -> Running {
        let groups = Groups::of(self);
        let mut command = self.command_in(image, words, &groups);
        let child = command.stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let pid = the_jvm(child.id());
        let running = Running { jvm: Jvm { busy: Busy(child), pid }, rights: self.rights(), groups };
        self.assert_held(pid, &running.groups);
        running
    }

    /// What was asked for is so.
    fn assert_held(&self, pid: u32, groups: &Groups) {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap();
        let status = read("status");
        let line =
            |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
        assert_eq!(line("Uid:"), [self.user.to_string().as_str(); 4].join("\t"));
        assert_eq!(line("NoNewPrivs:"), u8::from(self.no_new_privileges).to_string());
        if self.no_capabilities {
            assert_eq!(line("CapBnd:"), "0".repeat(16));
        }
        let mounts = read("mounts");
        let root = mounts.lines().rfind(|line| line.split(' ').nth(1) == Some("/")).unwrap();
        assert_eq!(root.contains(" ro,"), self.read_only, "{root}");
        for group in &groups.0 {
            let procs = fs::read_to_string(group.join("cgroup.procs")).unwrap();
            assert!(procs.lines().any(|process| process == pid.to_string()), "{procs}");
        }
    }
}

/// A JVM in a sandbox.
pub struct Running {
    pub jvm: Jvm,
    rights: Vec<String>,
    /// They go after the JVM.
    groups: Groups,
}

impl Running {
    /// Whether a control group limits this.
    pub fn is_limited(&self, controller: &str) -> bool {
        self.groups.0.iter().any(|group| {
            let limits = format!("{controller}.");
            let files = fs::read_dir(group).into_iter().flatten().flatten();
            files.into_iter().any(|file| file.file_name().to_string_lossy().starts_with(&limits))
        })
    }

    /// A command among its processes, with its rights, in another image's root: an ephemeral container.
    pub fn beside(&self, image: &Image, words: &[&str]) -> Output {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.jvm.pid.to_string(), "--pid", "unshare", "--mount"]);
        Sandbox::default().enter(&mut command, image, &Groups(Vec::new()), &self.rights);
        command.args(words).output().unwrap()
    }

    /// A command beside it, in the same sandbox.
    pub fn exec(&self, words: &[&str]) -> Output {
        let mut command = Command::new("nsenter");
        command.args(["--target", &self.jvm.pid.to_string(), "--mount", "--pid", "--root", "--wd=/"]);
        command.args(&self.rights).args(["env", "-i", PATH]).args(words);
        command.stdin(Stdio::null()).output().unwrap()
    }
}

/// A control group's file with its limit, in the first version of control groups and in the second.
struct Limit {
    controller: &'static str,
    first: &'static str,
    second: &'static str,
    value: String,
}

/// Control groups of a sandbox.
struct Groups(Vec<PathBuf>);

impl Groups {
    /// What can be limited here; what cannot is noted as skipped.
    fn of(sandbox: &Sandbox) -> Groups {
        let memory = sandbox.memory.map(|bytes| Limit {
            controller: "memory",
            first: "memory.limit_in_bytes",
            second: "memory.max",
            value: bytes.to_string(),
        });
        let cpus = sandbox.cpus.clone().map(|value| Limit {
            controller: "cpuset",
            first: "cpuset.cpus",
            second: "cpuset.cpus",
            value,
        });
        let mut groups = Groups(Vec::new());
        for limit in memory.into_iter().chain(cpus) {
            if !groups.add(&limit) {
                let Limit { controller, value, .. } = limit;
                skips::skip!(
                    "{controller} limited to {value}: no control group can be made here; the rest was tested"
                );
            }
        }
        groups
    }

    fn add(&mut self, limit: &Limit) -> bool {
        let name = format!("terrace-test-{}-{:?}", std::process::id(), std::thread::current().id());
        let name = name.replace(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-', "");
        let first = Path::new("/sys/fs/cgroup").join(limit.controller);
        for (hierarchy, file) in [(first.as_path(), limit.first), (Path::new("/sys/fs/cgroup"), limit.second)]
        {
            let group = hierarchy.join(&name);
            if !hierarchy.join("cgroup.procs").exists() || fs::create_dir(&group).is_err() {
                continue;
            }
            // Whoever names CPUs has to name memory nodes, too, in the first version.
            let nodes = fs::read(hierarchy.join("cpuset.mems")).unwrap_or_default();
            let _ = fs::write(group.join("cpuset.mems"), nodes);
            self.0.push(group.clone());
            if fs::write(group.join(file), &limit.value).is_ok() {
                return true;
            }
            self.0.pop();
            let _ = fs::remove_dir(group);
        }
        false
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        // Their processes were killed, and are gone at once or soon.
        for group in &self.0 {
            let _ = (0..500).find(|_| {
                std::thread::sleep(std::time::Duration::from_millis(20));
                fs::remove_dir(group).is_ok()
            });
        }
    }
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_str().unwrap().replace('\'', r"'\''"))
}
