//! The control group's limit on CPU time, version 1 and 2.

use crate::sysfs::read_text;
use std::path::{Component, Path, PathBuf};

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
}

/// How many CPUs' worth of time a process may use, or `None` without a limit. `root` stands for `/`.
///
/// An outer group's limit binds the inner ones, so the lowest on the way up counts. Both versions may be mounted at once.
pub fn quota(root: &Path, process: Process) -> Option<f64> {
    binding(root, process).map(|(limit, _)| limit)
}

/// The periods of the limit that [`quota`] gives. `None` without one, or where it has not begun to count.
pub fn periods(root: &Path, process: Process) -> Option<Periods> {
    let text = read_text(&binding(root, process)?.1.join("cpu.stat"))?;
    let field =
        |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
    let found = Periods { all: field("nr_periods ")?, throttled: field("nr_throttled ")? };
    (found.all > 0).then_some(found)
}

/// The lowest limit, and the folder of the group that it is set in.
fn binding(root: &Path, process: Process) -> Option<(f64, PathBuf)> {
    let number = match process {
        Process::Own => "self".to_owned(),
        Process::Id(number) => number.to_string(),
    };
    let groups = read_text(&root.join("proc").join(number).join("cgroup"))?;
    let mounts = read_text(&root.join("proc/self/mountinfo"))?;
    let own = process == Process::Own;
    let limits = mounts.lines().filter_map(|line| limit_of_mount(root, line, &groups, own));
    limits.reduce(lower)
}

fn lower(a: (f64, PathBuf), b: (f64, PathBuf)) -> (f64, PathBuf) {
    if b.0 < a.0 { b } else { a }
}

/// A line of mountinfo is `id parent device root point options ... - type source superoptions`.
fn limit_of_mount(root: &Path, line: &str, groups: &str, own: bool) -> Option<(f64, PathBuf)> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split(' ');
    let (kind, options) = (right.next()?, right.nth(1).unwrap_or(""));
    let read: fn(&Path) -> Option<f64> = match kind {
        "cgroup2" => read_v2,
        "cgroup" if options.split(',').any(|option| option == "cpu") => read_v1,
        _ => return None,
    };
    let mut left = left.split(' ').skip(3);
    let (mount_root, point) = (unescape(left.next()?), unescape(left.next()?));
    let group = groups.lines().find_map(|line| own_group(line, kind))?;
    let point = root.join(point.trim_start_matches('/'));
    // Of our own group the mounted part is all that there is to see; of another one it says nothing.
    let below = below(group, &mount_root).or(own.then(PathBuf::new))?;
    let mut folder = point.join(below);
    let mut lowest: Option<(f64, PathBuf)> = None;
    loop {
        if let Some(limit) = read(&folder) {
            let found = (limit, folder.clone());
            lowest = Some(match lowest {
                Some(lowest) => lower(lowest, found),
                None => found,
            });
        }
        if folder == point || !folder.pop() {
            return lowest;
        }
    }
}

/// The group in a line of `/proc/PID/cgroup`: `0::/path` for version 2, `4:cpu,cpuacct:/path` for version 1.
fn own_group<'a>(line: &'a str, kind: &str) -> Option<&'a str> {
    let (number, rest) = line.split_once(':')?;
    let (controllers, path) = rest.split_once(':')?;
    let ours = match kind {
        "cgroup2" => number == "0" && controllers.is_empty(),
        _ => controllers.split(',').any(|controller| controller == "cpu"),
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
