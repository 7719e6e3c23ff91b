//! Whether JVMs can run at the same time in the memory that there is.

use jvm::size;

/// Memory of a JVM beside its heap: code, metadata, threads' stacks, the collector's own.
const BESIDE_HEAP: u64 = 400 << 20;

/// Of the largest heap that HotSpot gives itself where nobody says more: a quarter of 128 GB (`MaxRAM`), less what would take its references' compression
/// (`Arguments::set_heap_size`: the heap begins at 2 GB, and has to end below 32).
const LARGEST_DEFAULT: u64 = 30 << 30;
/// Percent of the memory that are the heap then.
const DEFAULT_SHARE: f64 = 25.0;

/// What JVMs share, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// The machine's, or the control group's limit where that is less: HotSpot sizes heaps by it, whatever others use.
    pub limit: u64,
    /// Of that what can be had. 0 where the kernel does not tell.
    pub usable: u64,
}

/// Why JVMs with these options cannot run at the same time in so much memory, where they cannot.
pub fn shortage(jvms: &[Vec<String>], memory: Memory) -> Option<String> {
    let heaps = jvms.iter().map(|options| most_heap(options, memory.limit));
    let needed = heaps.fold(0, |sum: u64, heap| sum.saturating_add(heap.saturating_add(BESIDE_HEAP)));
    (memory.usable > 0 && needed > memory.usable).then(|| {
        format!(
            "together they may need {:.1} GB of memory and there are {:.1} GB",
            needed as f64 / 1e9,
            memory.usable as f64 / 1e9
        )
    })
}

/// The largest heap that a JVM with these options may have: of several that say so HotSpot takes the last, and without any a quarter of all
/// memory.
pub(crate) fn most_heap(options: &[String], limit: u64) -> u64 {
    let bytes = |option: &str| {
        let size = option.strip_prefix("-Xmx").or_else(|| option.strip_prefix("-XX:MaxHeapSize="))?;
        size::parse(size).ok()
    };
    let share = |option: &str| option.strip_prefix("-XX:MaxRAMPercentage=")?.parse::<f64>().ok();
    let of_limit = |percent: f64| (limit as f64 * percent / 100.0) as u64;
    let last_share = options.iter().rev().find_map(|option| share(option));
    let last_size = options.iter().rev().find_map(|option| bytes(option));
    last_size.or(last_share.map(of_limit)).unwrap_or_else(|| of_limit(DEFAULT_SHARE).min(LARGEST_DEFAULT))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    fn together(jvms: &[&str], memory: u64) -> Option<String> {
        with_others(jvms, memory, memory)
    }

    fn with_others(jvms: &[&str], limit: u64, usable: u64) -> Option<String> {
        let options = |line: &&str| line.split(' ').map(str::to_owned).collect();
        shortage(&jvms.iter().map(options).collect::<Vec<_>>(), Memory { limit, usable })
    }

    #[test]
    fn a_heap_that_nobody_chose_is_a_quarter_of_all_memory_not_of_what_is_left() {
        let jvms = ["-XX:+UseG1GC"; 2];
        let why = with_others(&jvms, 16 * GB, 5 * GB).unwrap();
        assert!(why.contains("may need 9.4 GB") && why.contains("there are 5.4 GB"), "{why}");
        assert_eq!(with_others(&jvms, 16 * GB, 10 * GB), None);
        assert!(with_others(&["-XX:MaxRAMPercentage=50"; 2], 16 * GB, 10 * GB).is_some());
        assert_eq!(with_others(&jvms, 1024 * GB, 100 * GB), None, "30 GB each");
    }

    #[test]
    fn two_heaps_of_which_each_alone_would_fit_may_be_too_much() {
        let why = together(&["-Xmx3g -Xmx5530m", "-Xmx3g"], 8 * GB).unwrap();
        assert!(why.contains("may need 9.9 GB") && why.contains("there are 8.6 GB"), "{why}");
        assert_eq!(together(&["-Xmx3g", "-Xmx3g"], 8 * GB), None);
        assert_eq!(together(&["-Xmx3g -Xmx5530m"], 8 * GB), None);
        assert!(together(&["-Xmx2g"; 3], 4 * GB).is_some(), "the lab's rounds");
        assert_eq!(together(&["-Xmx2g"; 3], 16 * GB), None);
        assert_eq!(together(&["-Xmx2g"; 3], 0), None, "the kernel does not tell");
    }

    #[test]
    fn a_heap_is_as_large_as_the_last_option_says() {
        for (options, heap) in [
            ("-Xmx1g -Xmx2g", 2 * GB),
            ("-Xmx1g -XX:MaxHeapSize=2g", 2 * GB),
            ("-Xmx1g -XX:MaxRAMPercentage=75", GB),
            ("-XX:MaxRAMPercentage=75", 6 * GB),
            ("-XX:+UseG1GC", 2 * GB),
        ] {
            let options: Vec<String> = options.split(' ').map(str::to_owned).collect();
            assert_eq!(most_heap(&options, 8 * GB), heap, "{options:?}");
        }
    }
}
