//! The control group's limit on CPU time, version 1 and 2.

use crate::sysfs::read_text;
use std::path::{Component, Path, PathBuf};

#[cfg(test)]
#[path = "cgroup_test.rs"]
mod test;

/// How many CPUs' worth of time this process may use, or `None` without a limit. `root` stands for `/`.
///
/// An outer group's limit binds the inner ones, so the lowest on the way up counts. Both versions may be mounted at once.
pub(crate) fn quota(root: &Path) -> Option<f64> {
    let groups = read_text(&root.join("proc/self/cgroup"))?;
    let mounts = read_text(&root.join("proc/self/mountinfo"))?;
    mounts.lines().filter_map(|line| quota_of_mount(root, line, &groups)).reduce(f64::min)
}

/// A line of mountinfo is `id parent device root point options ... - type source superoptions`.
fn quota_of_mount(root: &Path, line: &str, groups: &str) -> Option<f64> {
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
    let mut folder = point.join(below(group, &mount_root));
    let mut lowest: Option<f64> = None;
    loop {
        if let Some(limit) = read(&folder) {
            lowest = Some(lowest.map_or(limit, |lowest| lowest.min(limit)));
        }
        if folder == point || !folder.pop() {
            return lowest;
        }
    }
}

/// The group in a line of `/proc/self/cgroup`: `0::/path` for version 2, `4:cpu,cpuacct:/path` for version 1.
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
/// mounts only its part of the tree; where the two do not fit, the mounted part is all there is to see.
fn below(group: &str, mount_root: &str) -> PathBuf {
    let rest = Path::new(group).strip_prefix(mount_root).unwrap_or(Path::new(""));
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    if plain { rest.to_owned() } else { PathBuf::new() }
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
