//! The peers' settings. The libraries read them when the process begins: so it begins again with them.

use arena::Policy;
use std::env;
use std::os::unix::process::CommandExt;
use std::process::Command;

const JEMALLOC: &str = "_RJEM_MALLOC_CONF";
const JEMALLOC_KEEPS: &str = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
const JEMALLOC_ON_HUGE: &str = "dirty_decay_ms:-1,muzzy_decay_ms:-1,thp:always";
const MIMALLOC_ON_HUGE: &str = "MIMALLOC_ALLOW_LARGE_OS_PAGES";
const GLIBC: &str = "GLIBC_TUNABLES";
/// Since glibc 2.35: `madvise` for what malloc maps by itself, as it does with `bumpalo`'s chunks, and for the main thread's heap.
const GLIBC_ON_HUGE: &str = "glibc.malloc.hugetlb=1";

/// Keep memory that was freed, so that page faults do not hide what allocation costs. snmalloc has no settings.
const KEEP: [(&str, &str); 3] = [
    ("MIMALLOC_PURGE_DELAY", "-1"),
    ("MALLOC_TRIM_THRESHOLD_", "17179869184"),
    ("MALLOC_MMAP_THRESHOLD_", "1048576"),
];

/// All of them as they should be, for memory on pages of a kind.
fn wanted(pages: Policy) -> Vec<(&'static str, String)> {
    let mut all: Vec<_> = KEEP.map(|(name, value)| (name, value.to_owned())).into();
    if pages == Policy::Small {
        all.push((JEMALLOC, JEMALLOC_KEEPS.into()));
    } else {
        all.push((JEMALLOC, JEMALLOC_ON_HUGE.into()));
        all.push((MIMALLOC_ON_HUGE, "1".into()));
        let others = other_tunables();
        all.push((
            GLIBC,
            if others.is_empty() { GLIBC_ON_HUGE.into() } else { format!("{others}:{GLIBC_ON_HUGE}") },
        ));
    }
    all
}

/// What the user has set for glibc beside huge pages.
fn other_tunables() -> String {
    let all = env::var(GLIBC).unwrap_or_default();
    all.split(':').filter(|one| *one != GLIBC_ON_HUGE && !one.is_empty()).collect::<Vec<_>>().join(":")
}

/// Begins this process again with the peers' settings, unless it has them.
pub fn begin_again_with(pages: Policy) -> Result<(), String> {
    let wanted = wanted(pages);
    if wanted.iter().all(|(name, value)| env::var(name).as_ref() == Ok(value)) {
        return Ok(());
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let error = Command::new(program).args(env::args_os().skip(1)).envs(wanted).exec();
    Err(format!("beginning again with settings: {error}"))
}

/// A process of this program on small pages, whatever this one is on.
pub fn on_small_pages(command: &mut Command) -> &mut Command {
    if env::var(JEMALLOC).is_ok_and(|value| value == JEMALLOC_ON_HUGE) {
        command.env(JEMALLOC, JEMALLOC_KEEPS);
    }
    command.env_remove(MIMALLOC_ON_HUGE).env(GLIBC, other_tunables())
}

/// CPUs that this process may use.
pub fn cpus() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
