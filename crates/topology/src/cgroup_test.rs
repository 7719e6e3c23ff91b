use super::*;
use tempfile::TempDir;

const V2: &str = "30 20 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{text}\n")).unwrap();
    }
    root
}

fn quota_of(files: &[(&str, &str)]) -> Option<f64> {
    quota(tree(files).path(), Process::Own)
}

#[test]
fn of_another_process_with_the_periods_of_the_limit_that_binds_it() {
    let root = tree(&[
        ("proc/self/cgroup", "0::/"),
        ("proc/7/cgroup", "0::/pod/app"),
        ("proc/8/cgroup", "0::/../elsewhere"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/cpu.max", "300000 100000"),
        ("sys/fs/cgroup/pod/cpu.max", "150000 100000"),
        ("sys/fs/cgroup/pod/cpu.stat", "usage_usec 9\nnr_periods 40\nnr_throttled 10\nthrottled_usec 5"),
        ("sys/fs/cgroup/pod/app/cpu.max", "max 100000"),
        ("sys/fs/cgroup/pod/app/cpu.stat", "usage_usec 9\nnr_periods 0\nnr_throttled 0"),
    ]);
    let of = |process| (quota(root.path(), process), periods(root.path(), process));
    assert_eq!(
        of(Process::Id(7)),
        (
            Some(1.5),
            Some(Periods {
                all: 40,
                throttled: 10,
                held_back: Some(Duration::from_micros(5)),
                used: Some(Duration::from_micros(9))
            })
        )
    );
    assert_eq!(of(Process::Own), (Some(3.0), None));
    assert_eq!(of(Process::Id(8)), (None, None), "a container beside ours does not have our limit");
    assert_eq!(of(Process::Id(9)), (None, None));
}

#[test]
fn version_2_takes_the_lowest_on_the_way_up() {
    let quota = quota_of(&[
        ("proc/self/cgroup", "0::/kube/pod/app"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/kube/cpu.max", "max 100000"),
        ("sys/fs/cgroup/kube/pod/cpu.max", "150000 100000"),
        ("sys/fs/cgroup/kube/pod/app/cpu.max", "400000 100000"),
        ("sys/fs/cgroup/other/cpu.max", "10000 100000"),
    ]);
    assert_eq!(quota, Some(1.5));
}

#[test]
fn no_limit() {
    assert_eq!(quota_of(&[]), None);
    assert_eq!(quota_of(&[("proc/self/cgroup", "0::/"), ("proc/self/mountinfo", V2)]), None);
    let max =
        [("proc/self/cgroup", "0::/"), ("proc/self/mountinfo", V2), ("sys/fs/cgroup/cpu.max", "max 100000")];
    assert_eq!(quota_of(&max), None);
}

#[test]
fn version_1_beside_an_empty_version_2() {
    let quota = quota_of(&[
        ("proc/self/cgroup", "5:cpuset:/\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/\n0::/"),
        (
            "proc/self/mountinfo",
            "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
             33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n\
             32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
             41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
        ),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "50000"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000"),
    ]);
    assert_eq!(quota, Some(0.5));
}

#[test]
fn container_that_sees_the_path_of_its_host() {
    let quota = quota_of(&[
        ("proc/self/cgroup", "4:cpu,cpuacct:/docker/abc"),
        (
            "proc/self/mountinfo",
            "32 31 0:29 /docker/abc /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct",
        ),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"),
    ]);
    assert_eq!(quota, Some(2.0));
}

#[test]
fn a_path_that_leaves_the_mounted_part_stops_at_the_mount_point() {
    let quota = quota_of(&[
        ("proc/self/cgroup", "0::/../../elsewhere"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/cpu.max", "300000 100000"),
        ("sys/elsewhere/cpu.max", "1 100000"),
    ]);
    assert_eq!(quota, Some(3.0));
}

#[test]
fn a_part_of_the_tree_without_our_group_says_nothing_where_another_mount_has_it() {
    let other = "31 20 0:26 /other /mnt/o rw - cgroup2 cgroup2 rw";
    let two = [
        ("proc/self/cgroup", "0::/a"),
        ("proc/self/mountinfo", &format!("{other}\n{V2}")),
        ("mnt/o/cpu.max", "50000 100000"),
    ];
    assert_eq!(quota_of(&two), None);
    let limited = [&two[..], &[("sys/fs/cgroup/a/cpu.max", "70000 100000")]].concat();
    assert_eq!(quota_of(&limited), Some(0.7));
    // Of version 1 each controller is mounted for itself, and version 2 may be mounted without it.
    let both = format!(
        "{V2}\n\
         32 31 0:29 /a /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
         33 31 0:29 /other /mnt/o rw - cgroup cgroup rw,cpu"
    );
    let one = [
        ("proc/self/cgroup", "4:cpu:/a\n0::/a"),
        ("proc/self/mountinfo", &both),
        ("mnt/o/cpu.cfs_quota_us", "50000"),
        ("mnt/o/cpu.cfs_period_us", "100000"),
    ];
    assert_eq!(quota_of(&one), None);
    let alone = [("proc/self/mountinfo", other), two[0], two[2]];
    assert_eq!(quota_of(&alone), Some(0.5), "nothing else is mounted: it is what we are given to see");
}

#[test]
fn mount_point_with_a_blank() {
    let quota = quota_of(&[
        ("proc/self/cgroup", "0::/a"),
        ("proc/self/mountinfo", "30 20 0:26 / /mnt/c\\040g rw - cgroup2 cgroup2 rw"),
        ("mnt/c g/a/cpu.max", "100000 100000"),
    ]);
    assert_eq!(quota, Some(1.0));
}

/// A node with many containers, or one of whose mounts somebody gave a name in another encoding.
#[test]
fn other_mounts_hide_no_limit_however_many_they_are_and_whatever_their_names() {
    let root = tree(&[("sys/fs/cgroup/pod/cpu.max", "150000 100000")]);
    let write = |path: &str, text: &[u8]| {
        let path = root.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let quota = || quota(root.path(), Process::Own);
    let other = b"50 20 0:50 / /mnt/caf\xe9 rw - tmpfs tmpfs rw\n";
    let many = [other.repeat(30_000), V2.as_bytes().to_vec()].concat();
    assert!(many.len() > 1 << 20);
    write("proc/self/cgroup", b"0::/pod\n");
    for mounts in [&[&other[..], V2.as_bytes(), b"\n"].concat(), &many] {
        write("proc/self/mountinfo", mounts);
        assert_eq!(quota(), Some(1.5));
    }
    write("proc/self/cgroup", b"7:name=caf\xe9:/\xff\n0::/pod\n");
    assert_eq!(quota(), Some(1.5), "another hierarchy's name");
    write("proc/self/cgroup", b"0::/pod/caf\xe9\n");
    assert_eq!(quota(), Some(1.5), "the group around it has the limit");
}

#[test]
fn garbage_is_no_limit() {
    for text in
        ["", "1", "a b", "0 100000", "100000 0", "-5 100000", "100000 -5", "1e9 1", "999999999999999999999 1"]
    {
        let files =
            [("proc/self/cgroup", "0::/"), ("proc/self/mountinfo", V2), ("sys/fs/cgroup/cpu.max", text)];
        assert_eq!(quota_of(&files), None, "{text:?}");
    }
    for mounts in ["", " - ", "1 - cgroup2", "1 2 3 - cgroup2", "- cgroup2 - cgroup2", "1 2 3 4 5 - cgroup2"]
    {
        for groups in ["", ":", "::", "0:", "0::", "0::relative", "\u{1F980}::/"] {
            let files = [("proc/self/cgroup", groups), ("proc/self/mountinfo", mounts)];
            assert_eq!(quota_of(&files), None, "{mounts:?} {groups:?}");
        }
    }
}

#[test]
fn a_cpuset_is_that_of_the_nearest_group_that_has_one() {
    let cpuset_of = |files: &[(&str, &str)]| {
        let root = tree(files);
        cpuset(root.path(), Process::Id(7))
    };
    let two = ("proc/self/mountinfo", V2);
    let inner = [
        two,
        ("proc/7/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "2-4\n"),
    ];
    assert_eq!(cpuset_of(&inner).as_deref(), Some("2-4"));
    assert_eq!(cpuset_of(&[two, ("proc/7/cgroup", "0::/a/b\n")]), None);
    let one = [
        ("proc/self/mountinfo", "31 23 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"),
        ("proc/7/cgroup", "3:cpu:/elsewhere\n4:cpuset:/a\n"),
        ("sys/fs/cgroup/cpuset/a/cpuset.effective_cpus", "0,3\n"),
    ];
    assert_eq!(cpuset_of(&one).as_deref(), Some("0,3"));
}

/// Version 1 has a number beyond any machine's where there is no limit.
#[test]
fn the_limit_of_memory_is_the_tightest_whatever_is_used() {
    let limit = |files: &[(&str, &str)]| memory_limit(tree(files).path(), Process::Own);
    let two = [
        ("proc/self/cgroup", "0::/pod/app"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/pod/memory.max", "1000"),
        ("sys/fs/cgroup/pod/memory.current", "400"),
        ("sys/fs/cgroup/pod/app/memory.max", "max"),
        ("sys/fs/cgroup/pod/app/memory.high", "800"),
    ];
    assert_eq!((limit(&two), limit(&two[..2])), (Some(1000), None));
    let one = [
        ("proc/self/cgroup", "4:memory:/app"),
        ("proc/self/mountinfo", "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"),
        ("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "500"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"),
    ];
    assert_eq!(limit(&one), Some(500));
}

#[test]
fn memory_that_is_left_is_that_of_the_tightest_group() {
    let left = |files: &[(&str, &str)]| memory_left(tree(files).path(), Process::Own);
    let two = [
        ("proc/self/cgroup", "0::/pod/app"),
        ("proc/self/mountinfo", V2),
        ("sys/fs/cgroup/pod/memory.max", "1000"),
        ("sys/fs/cgroup/pod/memory.current", "400"),
        ("sys/fs/cgroup/pod/app/memory.max", "max"),
        ("sys/fs/cgroup/pod/app/memory.current", "300"),
    ];
    assert_eq!(left(&two), MemoryLeft::Bytes(600));
    let high = [&two[..], &[("sys/fs/cgroup/pod/app/memory.high", "800")]].concat();
    assert_eq!(left(&high), MemoryLeft::Bytes(500), "from there on the kernel takes pages back");
    let stat = "anon 50\ninactive_file_of_others 9\ninactive_file 150\nactive_file 80\n";
    let cached = [&high[..], &[("sys/fs/cgroup/pod/app/memory.stat", stat)]].concat();
    assert_eq!(
        left(&cached),
        MemoryLeft::Bytes(600),
        "files' pages are taken back first; the outer group is the tightest then"
    );
    let mount = "31 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
    let one = [
        ("proc/self/cgroup", "4:memory:/app"),
        ("proc/self/mountinfo", mount),
        ("sys/fs/cgroup/memory/app/memory.limit_in_bytes", "500"),
        ("sys/fs/cgroup/memory/app/memory.usage_in_bytes", "700"),
    ];
    assert_eq!(left(&one), MemoryLeft::Bytes(0), "a limit that was lowered");
    let stat = ("sys/fs/cgroup/memory/app/memory.stat", "inactive_file 600\ntotal_inactive_file 300\n");
    assert_eq!(left(&[&one[..], &[stat]].concat()), MemoryLeft::Bytes(100), "with the groups in it");
    assert_eq!(left(&one[..3]), MemoryLeft::Bytes(0), "nobody knows how much of it is left");
}

#[test]
fn no_quota_is_told_from_one_that_cannot_be_seen() {
    let visible = |group: &str| {
        let files =
            [("proc/7/cgroup", group), ("proc/self/mountinfo", V2), ("sys/fs/cgroup/app/cpu.max", "max 1")];
        is_quota_visible(tree(&files).path(), Process::Id(7))
    };
    assert!(visible("0::/app") && !visible("0::/../elsewhere") && !visible("0::/another"));
}

#[test]
fn no_limit_of_memory_is_told_from_one_that_cannot_be_seen() {
    let left = |files: &[(&str, &str)]| memory_left(tree(files).path(), Process::Id(7));
    let two = ("proc/self/mountinfo", V2);
    let max = ("sys/fs/cgroup/app/memory.max", "max");
    assert_eq!(left(&[two, ("proc/7/cgroup", "0::/app"), max]), MemoryLeft::Unlimited);
    let host = [two, ("proc/7/cgroup", "0::/"), ("sys/fs/cgroup/cgroup.controllers", "cpu memory")];
    assert_eq!(left(&host), MemoryLeft::Unlimited, "the root group has no files of a limit");
    let beside = [two, ("proc/7/cgroup", "0::/../elsewhere"), max];
    assert_eq!(left(&beside), MemoryLeft::Unseen, "a container beside ours");
    assert_eq!(left(&[two, ("proc/7/cgroup", "0::/app")]), MemoryLeft::Unseen, "another tree is mounted");
    assert_eq!(left(&[("proc/7/cgroup", "0::/app")]), MemoryLeft::Unseen, "no tree is mounted");
    assert_eq!(left(&[two]), MemoryLeft::Unseen, "it has ended");
    // Version 2 is there as well, but has no memory controller.
    let both = [("proc/7/cgroup", "4:memory:/app\n0::/app"), two, ("sys/fs/cgroup/app/cgroup.procs", "7")];
    assert_eq!(left(&both), MemoryLeft::Unseen, "version 1 has it, and is not mounted");
    let disabled = [two, ("proc/7/cgroup", "3:cpu:/app")];
    assert_eq!(left(&disabled), MemoryLeft::Unlimited, "the kernel limits none");
}
