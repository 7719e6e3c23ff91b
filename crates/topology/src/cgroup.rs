//! The control group's limit on CPU time, and its CPUs, version 1 and 2.

use crate::sysfs::read_text;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

#[cfg(test)]
#[path = "cgroup_test.rs"]
mod test;

/// Whose control group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// This process's own.
    Own,
    /// That of the process with this number.
    Id(u32),
}

/// Periods of a quota so far, and in how many of them the group was held back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Periods {
    /// All that began with something to run.
    pub all: u64,
    /// Those in which the quota was used up.
    pub throttled: u64,
    /// For how long threads that could run were held back, summed over CPUs; `None` where the kernel does not say.
    pub held_back: Option<Duration>,
    /// CPU time that the group has used, with groups inside it.
    pub used: Option<Duration>,
}

/// How many CPUs' worth of time a process may use, or `None` without a limit. `root` stands for `/`.
///
/// An outer group's limit binds the inner ones, so the lowest on the way up counts. Both versions may be mounted at once.
pub fn quota(root: &Path, process: Process) -> Option<f64> {
    binding(root, process).map(|(limit, _)| limit)
}

/// The periods of the limit that [`quota`] gives. `None` without one, or where it has not begun to count.
pub fn periods(root: &Path, process: Process) -> Option<Periods> {
    let folder = binding(root, process)?.1;
    let text = read_text(&folder.join("cpu.stat"))?;
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    // Version 1 has nanoseconds, version 2 microseconds.
    let held_back = field("throttled_time ").map(Duration::from_nanos);
    let found = Periods {
        all: field("nr_periods ")?,
        throttled: field("nr_throttled ")?,
        held_back: held_back.or_else(|| field("throttled_usec ").map(Duration::from_micros)),
        used: field("usage_usec ").map(Duration::from_micros).or_else(|| {
            let text = read_text(&folder.join("cpuacct.usage"))?;
            text.trim().parse().ok().map(Duration::from_nanos)
        }),
    };
    (found.all > 0).then_some(found)
}

/// The CPUs that the group of a process may use, as the kernel lists them (`0-3,8`), from the nearest group on the way up that says so.
/// `None` where no cpuset controller is seen.
pub fn cpuset(root: &Path, process: Process) -> Option<String> {
    groups(root, process, "cpuset").into_iter().find_map(|(version, folders)| {
        let file = match version {
            Version::One => "cpuset.effective_cpus",
            Version::Two => "cpuset.cpus.effective",
        };
        let found = folders.iter().filter_map(|folder| read_text(&folder.join(file)));
        found.map(|text| text.trim().to_owned()).find(|text| !text.is_empty())
    })
}

/// What a process's group may still use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryLeft {
    /// No group on the way up has a limit.
    Unlimited,
    /// Bytes up to the limit of the tightest group. What its files have in the page cache counts as used, although the kernel would give it back.
    Bytes(u64),
    /// The group is not visible from here, as that of a container beside ours: it may have a limit.
    Unseen,
}

/// The least that the group of a process, or one around it, may use of memory at all. `None` where no limit is seen.
pub fn memory_limit(root: &Path, process: Process) -> Option<u64> {
    let limits = groups(root, process, MEMORY).into_iter().flat_map(|(version, folders)| {
        folders.into_iter().filter_map(move |folder| number(folder.join(version.memory_limit())))
    });
    limits.min()
}

/// What the group of a process, and those around it, may still use of memory.
pub fn memory_left(root: &Path, process: Process) -> MemoryLeft {
    let hierarchies = groups(root, process, MEMORY);
    let left = hierarchies.iter().flat_map(|(version, folders)| {
        // From `memory.high` on the kernel slows the group down and takes pages from it: for who asks that is a limit, too.
        let (high, used, idle) = match version {
            Version::One => (None, "memory.usage_in_bytes", "total_inactive_file"),
            Version::Two => (Some("memory.high"), "memory.current", "inactive_file"),
        };
        folders.iter().filter_map(move |folder| {
            let limits = [Some(version.memory_limit()), high].into_iter().flatten();
            let limit = limits.filter_map(|limit| number(folder.join(limit))).min()?;
            let used = number(folder.join(used)).map(|used| used.saturating_sub(statistic(folder, idle)));
            Some(limit.saturating_sub(used.unwrap_or(limit)))
        })
    });
    match left.min() {
        Some(bytes) => MemoryLeft::Bytes(bytes),
        None if is_group_visible(root, process, MEMORY, &hierarchies) => MemoryLeft::Unlimited,
        None => MemoryLeft::Unseen,
    }
}

/// What a file has as its only word. `None` of "max".
fn number(file: PathBuf) -> Option<u64> {
    read_text(&file)?.trim().parse().ok()
}

/// Of `memory.stat`, in bytes. Pages of files that nobody has used lately are the first that the kernel takes back: a group that reads files comes up to its
/// limit by them, and has memory all the same.
fn statistic(folder: &Path, name: &str) -> u64 {
    let text = read_text(&folder.join("memory.stat")).unwrap_or_default();
    let number = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok();
    text.lines().find_map(number).unwrap_or(0)
}

const MEMORY: &str = "memory";
const CPU: &str = "cpu";

/// Whether the group is visible from here that may have a quota, as that of a container beside ours is not.
pub fn is_quota_visible(root: &Path, process: Process) -> bool {
    is_group_visible(root, process, CPU, &groups(root, process, CPU))
}

/// Whether the folder of the group is there that would have the limit. Where version 1 has the controller, version 2 has not.
fn is_group_visible(
    root: &Path,
    process: Process,
    controller: &str,
    hierarchies: &[(Version, Vec<PathBuf>)],
) -> bool {
    let Some(groups) = groups_of(root, process) else { return false };
    let is_in = |version| groups.iter().any(|line| group_of_line(line, version, controller).is_some());
    let Some(version) = [Version::One, Version::Two].into_iter().find(|version| is_in(*version)) else {
        // The kernel sets no such limit at all.
        return true;
    };
    let mut own =
        hierarchies.iter().filter(|(of, _)| *of == version).filter_map(|(_, folders)| folders.first());
    own.any(|folder| folder.is_dir())
}

/// The lowest limit, and the folder of the group that it is set in.
fn binding(root: &Path, process: Process) -> Option<(f64, PathBuf)> {
    let limits = groups(root, process, CPU).into_iter().flat_map(|(version, folders)| {
        let read = match version {
            Version::One => read_v1,
            Version::Two => read_v2,
        };
        folders.into_iter().filter_map(move |folder| Some((read(&folder)?, folder)))
    });
    limits.reduce(|a, b| if b.0 < a.0 { b } else { a })
}

/// Of control groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

impl Version {
    /// The file of the most memory that a group may use.
    const fn memory_limit(self) -> &'static str {
        match self {
            Version::One => "memory.limit_in_bytes",
            Version::Two => "memory.max",
        }
    }
}

/// The folders of a process's group and of those around it, from the inside, in every hierarchy that may have this controller.
fn groups(root: &Path, process: Process, controller: &str) -> Vec<(Version, Vec<PathBuf>)> {
    let groups = groups_of(root, process).unwrap_or_default();
    let mounts = lines(&root.join("proc/self/mountinfo")).into_iter().flatten().map_while(Result::ok);
    let mut mounts: Vec<Mount> =
        mounts.filter_map(|line| of_mount(root, &line, &groups, controller)).collect();
    for version in [Version::One, Version::Two] {
        let is_in = |mount: &Mount| mount.version == version && mount.below.is_some();
        // Of our own group the mounted part may be all that there is to see; but where it is mounted, other parts are others'. Of another
        // process's group a part without it says nothing.
        if process != Process::Own || mounts.iter().any(is_in) {
            mounts.retain(|mount| mount.version != version || mount.below.is_some());
        }
    }
    mounts.into_iter().map(|mount| (mount.version, mount.folders())).collect()
}

/// A hierarchy, or a part of one, where it is mounted.
struct Mount {
    version: Version,
    point: PathBuf,
    /// The group's folder relative to the point; `None` where the part that is mounted does not have it.
    below: Option<PathBuf>,
}

impl Mount {
    /// From the group's to that of the point.
    fn folders(self) -> Vec<PathBuf> {
        let folder = self.point.join(self.below.unwrap_or_default());
        let up = folder.ancestors().take_while(|folder| folder.starts_with(&self.point));
        up.map(Path::to_owned).collect()
    }
}

/// The lines of a file, however many they are: of mounts there may be tens of thousands, each anybody's. Any bytes may be in a name; those that are
/// not a text's change in this line alone.
fn lines(path: &Path) -> io::Result<impl Iterator<Item = io::Result<String>> + use<>> {
    let lines = BufReader::new(File::open(path)?).split(b'\n');
    Ok(lines.map(|line| Ok(String::from_utf8_lossy(&line?).into_owned())))
}

/// The lines of `/proc/PID/cgroup`.
fn groups_of(root: &Path, process: Process) -> Option<Vec<String>> {
    let number = match process {
        Process::Own => "self".to_owned(),
        Process::Id(number) => number.to_string(),
    };
    lines(&root.join("proc").join(number).join("cgroup")).ok()?.collect::<io::Result<_>>().ok()
}

/// A line of mountinfo is `id parent device root point options ... - type source superoptions`.
fn of_mount(root: &Path, line: &str, groups: &[String], controller: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1).unwrap_or(""));
    let version = match kind {
        "cgroup2" => Version::Two,
        "cgroup" if options.split(',').any(|option| option == controller) => Version::One,
        _ => return None,
    };
    let mut left = left.split(' ').skip(3);
    let (mount_root, point) = (unescape(left.next()?), unescape(left.next()?));
    let group = groups.iter().find_map(|line| group_of_line(line, version, controller))?;
    let point = root.join(point.trim_start_matches('/'));
    Some(Mount { version, point, below: below(group, &mount_root) })
}

/// The group in a line of `/proc/PID/cgroup`: `0::/path` for version 2, `4:cpu,cpuacct:/path` for version 1.
fn group_of_line<'a>(line: &'a str, version: Version, controller: &str) -> Option<&'a str> {
    let (number, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let ours = match version {
        Version::Two => number == "0" && controllers.is_empty(),
        Version::One => controllers.split(',').any(|named| named == controller),
    };
    ours.then_some(path)
}

/// The group's folder relative to the mount point. A container without a namespace of its own sees the host's path, and
/// mounts only its part of the tree. `None` of a group outside of that part.
fn below(group: &str, mount_root: &str) -> Option<PathBuf> {
    let rest = Path::new(group).strip_prefix(mount_root).ok()?;
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| rest.to_owned())
}

/// Blanks, tabs, line ends and backslashes are written `\040` and so on.
fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, sign)| text.replace(code, sign))
}

/// `max 100000` or `150000 100000`.
fn read_v2(folder: &Path) -> Option<f64> {
    let text = read_text(&folder.join("cpu.max"))?;
    let (quota, period) = text.trim().split_once(' ')?;
    ratio(quota, period)
}

/// A quota of -1 is no limit.
fn read_v1(folder: &Path) -> Option<f64> {
    ratio(&read_text(&folder.join("cpu.cfs_quota_us"))?, &read_text(&folder.join("cpu.cfs_period_us"))?)
}

fn ratio(quota: &str, period: &str) -> Option<f64> {
    let (quota, period): (i64, i64) = (quota.trim().parse().ok()?, period.trim().parse().ok()?);
    (quota > 0 && period > 0).then(|| quota as f64 / period as f64)
}
