use super::*;
use std::time::Duration;

/// What a thread has used, on which CPU it is, and how often it was moved there.
fn thread(root: &Path, thread: u32, ticks: u32, cpu: u32, migrations: u32) {
    let zeros = ["0"; 23].join(" ");
    let folder = root.join(format!("proc/7/task/{thread}"));
    fs::create_dir_all(&folder).unwrap();
    let stat = format!("{thread} (a thread) x) S 1 2 3 4 5 6 7 8 9 10 {ticks} 0 {zeros} {cpu} 0 0 0\n");
    fs::write(folder.join("stat"), stat).unwrap();
    let scheduled =
        format!("thread (7, #threads: 3)\n---\nse.nr_migrations                  :{migrations:>21}\n");
    fs::write(folder.join("sched"), scheduled).unwrap();
}

/// A machine of two nodes with four CPUs each, and a process in a group that may use three of them.
fn machine() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let heap = "7f00 default anon=300 dirty=300 N0=100 N1=200 kernelpagesize_kB=4\n\
                7f10 default huge anon=1 dirty=1 N1=1 kernelpagesize_kB=2048\n\
                7f20 default file=/lib/libc.so anon=9 N0=9 kernelpagesize_kB=4\n\
                7f30 default file=/lib/libjvm.so mapped=999 N0=999 kernelpagesize_kB=4\n";
    for (path, text) in [
        ("sys/devices/system/cpu/online", "0-7\n".into()),
        ("sys/devices/system/node/node0/cpulist", "0-3\n".into()),
        ("sys/devices/system/node/node1/cpulist", "4-7\n".into()),
        ("sys/devices/system/node/possible", "0-1\n".into()),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n".into()),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "2-4\n".into()),
        ("sys/fs/cgroup/a/b/cpu.max", "150000 100000\n".into()),
        ("sys/fs/cgroup/a/b/cpu.stat", "nr_periods 200\nnr_throttled 50\nthrottled_time 7000\n".into()),
        ("proc/7/status", "Name:\tjava\nCpus_allowed_list:\t2-4\n".into()),
        ("proc/7/cgroup", "0::/a/b\n".into()),
        ("proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n".into()),
        ("proc/7/numa_maps", heap.to_owned()),
    ] {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn a_cpuset_a_quota_and_two_nodes() {
    let root = machine();
    let system = System::at(root.path());
    let machine = system.machine(7);
    assert_eq!((machine.cpus, machine.online, machine.nodes), (3, Some(8), 2));
    assert_eq!((machine.cpuset.as_deref(), machine.quota), (Some("2-4"), Some(1.5)));
    assert_eq!(
        system.periods(7),
        Some(Periods { all: 200, throttled: 50, held_back: Some(Duration::from_micros(7)), used: None })
    );
    // As virtual machines have it that may get more CPUs.
    fs::write(root.path().join("proc/7/status"), "Name:\tjava\nCpus_allowed_list:\t4-127\n").unwrap();
    assert_eq!(system.machine(7).cpus, 4);
    // Without a group and a process of that number.
    let machine = system.machine(8);
    assert_eq!((machine.cpus, machine.cpuset, machine.quota), (1, None, None));
    assert_eq!(system.periods(8), None);
}

#[test]
fn memory_that_is_far_from_the_threads() {
    let root = machine();
    let system = System::at(root.path());
    let mut found = Whereabouts::default();
    system.look(7, &mut found);
    assert_eq!(system.placement(7, &found), None, "no threads yet");
    thread(root.path(), 7, 1000, 2, 30);
    thread(root.path(), 8, 500, 4, 12);
    system.look(7, &mut found);
    let mut found = Whereabouts::default();
    system.look(7, &mut found);
    assert_eq!(
        (system.placement(7, &found), found.migrations),
        (None, None),
        "what was before is not looked at"
    );
    thread(root.path(), 7, 1060, 2, 33);
    thread(root.path(), 8, 525, 4, 16);
    thread(root.path(), 9, 15, 3, 1);
    system.look(7, &mut found);
    assert_eq!(found.migrations, Some(8));
    // 75 of 100 ticks on node 0, where 400 KB of 3.2 MB are.
    let placement = system.placement(7, &found).unwrap();
    let near_memory = 400.0 / (1200.0 + 2048.0);
    assert!(
        (placement.pages[0] - near_memory).abs() < 1e-9 && placement.threads == [0.75, 0.25],
        "{placement:?}"
    );
    let remote = 1.0 - (near_memory * 0.75 + (1.0 - near_memory) * 0.25);
    assert!((placement.remote - remote).abs() < 1e-9, "{placement:?}");
    assert_eq!(system.placement(8, &found), None);
    fs::remove_dir_all(root.path().join("sys/devices/system/node/node1")).unwrap();
    assert_eq!(system.placement(7, &found), None, "one node");
}

#[test]
fn our_own_process_is_seen() {
    let (system, us) = (System::here(), std::process::id());
    let machine = system.machine(us);
    assert!(machine.cpus >= 1 && machine.nodes >= 1 && machine.online >= Some(machine.cpus), "{machine:?}");
    let mut found = Whereabouts::default();
    system.look(us, &mut found);
    while found.used.values().sum::<u64>() == 0 {
        std::hint::black_box(vec![1u8; 1 << 20]);
        system.look(us, &mut found);
    }
}

#[test]
fn lists_of_cpus_are_read() {
    assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8].map(CpuId));
    assert!(listed("").is_empty() && listed("x-").is_empty());
}

#[test]
fn a_container_beside_ours_may_have_a_limit() {
    let root = machine();
    let left = || System::at(root.path()).memory_left(7);
    fs::write(root.path().join("sys/fs/cgroup/a/b/memory.max"), "300\n").unwrap();
    fs::write(root.path().join("sys/fs/cgroup/a/b/memory.current"), "100\n").unwrap();
    assert_eq!(left(), MemoryLeft::Bytes(200));
    assert!(!System::at(root.path()).machine(7).may_have_quota);
    fs::write(root.path().join("proc/7/cgroup"), "0::/../x\n").unwrap();
    assert_eq!(left(), MemoryLeft::Unseen);
    let machine = System::at(root.path()).machine(7);
    assert!(machine.may_have_quota && machine.quota.is_none(), "{machine:?}");
}
