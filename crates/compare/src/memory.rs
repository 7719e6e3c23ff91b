//! Whether JVMs can run at the same time in the memory that there is.

use jvm::size;

/// Memory of a JVM beside its heap: code, metadata, threads' stacks, the collector's own.
const BESIDE_HEAP: u64 = 400 << 20;

/// Why JVMs with these options cannot run at the same time in so much memory, where they cannot.
pub fn shortage(jvms: &[Vec<String>], memory: u64) -> Option<String> {
    let heaps = jvms.iter().map(|options| most_heap(options, memory));
    let needed = heaps.fold(0, |sum: u64, heap| sum.saturating_add(heap.saturating_add(BESIDE_HEAP)));
    // The kernel may not tell.
    (memory > 0 && needed > memory).then(|| {
        format!(
            "together they may need {:.1} GB of memory and there are {:.1} GB",
            needed as f64 / 1e9,
            memory as f64 / 1e9
        )
    })
}

/// The largest heap that a JVM with these options may have: of several that say so HotSpot takes the last, and without any a quarter of the
/// memory.
fn most_heap(options: &[String], memory: u64) -> u64 {
    let bytes = |option: &str| {
        let size = option.strip_prefix("-Xmx").or_else(|| option.strip_prefix("-XX:MaxHeapSize="))?;
        size::parse(size).ok()
    };
    let share = |option: &str| option.strip_prefix("-XX:MaxRAMPercentage=")?.parse::<f64>().ok();
    let last_share = || options.iter().rev().find_map(|option| share(option)).unwrap_or(25.0);
    let last_size = options.iter().rev().find_map(|option| bytes(option));
    last_size.unwrap_or_else(|| (memory as f64 * last_share() / 100.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1 << 30;

    fn together(jvms: &[&str], memory: u64) -> Option<String> {
        let options = |line: &&str| line.split(' ').map(str::to_owned).collect();
        shortage(&jvms.iter().map(options).collect::<Vec<_>>(), memory)
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
