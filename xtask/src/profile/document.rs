//! The profile as it is written: TOML, with units in the names of keys and how each part was measured.

use super::run::{Facts, Round};
use super::sizes::Sizes;
use compare::machine::Host;
use present::numbers::{count, human};
use statistics::{Interval, bootstrap};
use std::fmt::Write;

/// The number of the format: another one when a key changes its meaning or goes.
const FORMAT: u32 = 1;
/// Sizes above which the share of bytes is written.
const LIMITS: [u64; 3] = [1 << 10, 4 << 10, 64 << 10];

/// All that is recorded.
pub struct Profile {
    pub workload: String,
    /// The JDK's feature number.
    pub feature: u32,
    pub jdk: String,
    /// Where it was recorded.
    pub machine: Host,
    /// The core's clock right after the timed compiles, if it could be measured.
    pub clock_ghz: Option<f64>,
    /// The JVM's flags besides the collector.
    pub flags: String,
    /// Compiles before those that are timed, and before the one whose objects are counted.
    pub warmup: (u64, u64),
    /// Calls of the compiler in a compile.
    pub calls: u64,
    /// What a compile compiles.
    pub facts: Facts,
    /// What the JVM counted for the compile whose objects are in `sizes`.
    pub counted_bytes: u64,
    pub sizes: Sizes,
    pub mutator: Mutator,
}

/// How fast the thread that compiles allocates.
pub struct Mutator {
    compiles: usize,
    collections: u64,
    cpu_ns: Interval,
    bytes: Interval,
    bytes_per_second: Interval,
    mean_object_bytes: f64,
}

impl Mutator {
    /// Of timed compiles, whose objects have these sizes. `None` if there are none of either.
    pub fn of(rounds: &[Round], sizes: &Sizes) -> Option<Mutator> {
        let each = |value: fn(&Round) -> f64| bootstrap(&rounds.iter().map(value).collect::<Vec<_>>(), 1);
        Some(Mutator {
            compiles: rounds.len(),
            collections: rounds.iter().map(|round| round.collections).sum(),
            cpu_ns: each(|round| round.cpu_ns)?,
            bytes: each(|round| round.allocated_bytes)?,
            bytes_per_second: each(|round| round.allocated_bytes / round.cpu_ns * 1e9)?,
            mean_object_bytes: Some(sizes.bytes() as f64 / sizes.objects() as f64)
                .filter(|mean| mean.is_finite())?,
        })
    }

    fn objects_per_second(&self) -> f64 {
        self.bytes_per_second.median / self.mean_object_bytes
    }

    fn work_ns(&self) -> f64 {
        1e9 / self.objects_per_second()
    }
}

impl Profile {
    /// A few lines for people.
    pub fn summary(&self) -> String {
        let (sizes, mutator) = (&self.sizes, &self.mutator);
        format!(
            "a compile of {} lines: {} objects, {}, {:.1} bytes on average, the largest {}\n\
             {:.0} ms of mutator time: {} objects and {} a second, one every {:.1} ns",
            self.facts.source_lines,
            count(sizes.objects() as f64),
            human(sizes.bytes() as f64),
            mutator.mean_object_bytes,
            human(sizes.largest() as f64),
            mutator.cpu_ns.median / 1e6,
            count(mutator.objects_per_second()),
            human(mutator.bytes_per_second.median),
            mutator.work_ns()
        )
    }

    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let command = format!("cargo xtask profile --jdk {} --workload {}", self.feature, self.workload);
        writeln!(
            text,
            "# How a real program allocates: the workload {} on one thread. Recorded by",
            self.workload
        )?;
        writeln!(text, "#   {command}")?;
        writeln!(
            text,
            "# A compile is one round of the workload: the whole library once, in several calls of the"
        )?;
        writeln!(text, "# compiler. Medians have the ends of their 95 % bootstrap interval beside them.\n")?;
        writeln!(text, "format = {FORMAT}")?;
        writeln!(text, "command = {}", quoted(&command))?;
        writeln!(text, "workload = {}", quoted(&self.workload))?;
        writeln!(text, "jdk = {}", quoted(&self.jdk))?;
        writeln!(text, "threads = 1")?;
        self.machine(text)?;
        self.compile(text)?;
        self.mutator(text)?;
        self.histogram(text)
    }

    fn machine(&self, text: &mut String) -> std::fmt::Result {
        let machine = &self.machine;
        writeln!(text, "\n[machine]")?;
        writeln!(text, "model = {}", quoted(&machine.model))?;
        writeln!(text, "cpus = {}", machine.cpus)?;
        writeln!(text, "kernel = {}", quoted(&machine.kernel))?;
        if let Some(load) = machine.load_before {
            writeln!(
                text,
                "# Processes that wanted to run in the minute before; 0 where nobody else used the machine."
            )?;
            writeln!(text, "load_before = {load:.2}")?;
        }
        if let Some(clock) = self.clock_ghz {
            writeln!(text, "clock_ghz = {clock:.3}")?;
            let how = "a loop of additions that each take one cycle, timed right after the compiles";
            writeln!(text, "clock_how = {}", quoted(how))?;
        }
        Ok(())
    }

    fn compile(&self, text: &mut String) -> std::fmt::Result {
        let (sizes, facts) = (&self.sizes, &self.facts);
        let how = format!(
            "objects in a heap dump after the compile that are not in one before it, dead ones included, with no \
             collection in between; Parallel GC, {} -XX:-UseTLAB, after {} compiles",
            self.flags, self.warmup.1
        );
        writeln!(text, "\n# What one compile allocates.\n[compile]")?;
        writeln!(text, "how = {}", quoted(&how))?;
        writeln!(text, "calls = {}", self.calls)?;
        writeln!(text, "source_files = {}", facts.source_files)?;
        writeln!(text, "source_lines = {}", facts.source_lines)?;
        writeln!(text, "class_file_bytes = {}", facts.class_bytes)?;
        writeln!(text, "objects = {}", sizes.objects())?;
        writeln!(text, "allocated_bytes = {}", sizes.bytes())?;
        writeln!(text, "# The same compile by the JVM's own count of its thread: a check on the dumps.")?;
        writeln!(text, "allocated_bytes_by_thread_counter = {}", self.counted_bytes)?;
        writeln!(text, "mean_object_bytes = {:.3}", self.mutator.mean_object_bytes)?;
        writeln!(text, "largest_object_bytes = {}", sizes.largest())?;
        writeln!(text, "# Of all bytes, those in objects above a size.")?;
        for limit in LIMITS {
            let share = sizes.share_of_bytes_above(limit);
            writeln!(text, "share_of_bytes_above_{}_bytes = {share:.6}", limit)?;
        }
        Ok(())
    }

    fn mutator(&self, text: &mut String) -> std::fmt::Result {
        let mutator = &self.mutator;
        let how = format!(
            "CPU time of the compiling thread (ThreadMXBean), which collections by other threads are no part of, and the \
             bytes that the JVM counted for it; Parallel GC, {}, median of {} compiles after {}",
            self.flags, mutator.compiles, self.warmup.0
        );
        writeln!(text, "\n# How fast its thread does it.\n[mutator]")?;
        writeln!(text, "how = {}", quoted(&how))?;
        writeln!(text, "compiles = {}", mutator.compiles)?;
        writeln!(text, "collections = {}", mutator.collections)?;
        interval(text, "cpu_ns_per_compile", &mutator.cpu_ns)?;
        interval(text, "allocated_bytes_per_compile", &mutator.bytes)?;
        interval(text, "allocated_bytes_per_mutator_second", &mutator.bytes_per_second)?;
        writeln!(text, "# By the mean size of an object above.")?;
        writeln!(text, "objects_per_mutator_second = {:.0}", mutator.objects_per_second())?;
        writeln!(
            text,
            "# From one allocation to the next, on average; the allocation itself is contained in it."
        )?;
        writeln!(text, "work_between_allocations_ns = {:.3}", mutator.work_ns())
    }

    fn histogram(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "\n# The sizes of those objects, with header and alignment.\n[sizes]")?;
        writeln!(text, "rule = {}", quoted(Sizes::RULE))?;
        writeln!(text, "# [bytes, share of all objects], ascending.\nhistogram = [")?;
        for bucket in self.sizes.buckets() {
            writeln!(text, "    [{}, {:.9}],", bucket.bytes, bucket.share)?;
        }
        writeln!(text, "]")
    }
}

fn interval(text: &mut String, key: &str, interval: &Interval) -> std::fmt::Result {
    writeln!(text, "{key} = {:.0}", interval.median)?;
    writeln!(text, "{key}_interval = [{:.0}, {:.0}]", interval.low, interval.high)
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace(char::is_control, " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> Profile {
        let mut sizes = Sizes::default();
        for (bytes, count) in [(16, 60), (24, 39), (2000, 1)] {
            sizes.add(bytes, count);
        }
        let round = |cpu_ns| Round { cpu_ns, allocated_bytes: 3896.0, collections: 1 };
        Profile {
            workload: "javac".into(),
            feature: 25,
            jdk: "A \"quoted\" vendor 25".into(),
            machine: Host { cpus: 2, kernel: "6.1".into(), model: "M".into(), load_before: None },
            clock_ghz: Some(3.5),
            flags: "-Xmx3g".into(),
            warmup: (25, 16),
            calls: 28,
            facts: Facts { source_files: 2, source_lines: 30, class_bytes: 400 },
            counted_bytes: 3890,
            mutator: Mutator::of(&[round(1000.0), round(2000.0), round(9000.0)], &sizes).unwrap(),
            sizes,
        }
    }

    #[test]
    fn rates_follow_from_medians_and_the_mean_size() {
        let text = profile().to_toml();
        for line in [
            "objects = 100",
            "allocated_bytes = 3896",
            "mean_object_bytes = 38.960",
            "share_of_bytes_above_1024_bytes = 0.513347",
            "cpu_ns_per_compile = 2000",
            // 100 objects in 2000 ns.
            "objects_per_mutator_second = 50000000",
            "work_between_allocations_ns = 20.000",
            "    [24, 0.390000000],",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }

    #[test]
    fn every_line_is_a_comment_a_table_a_key_or_a_bucket() {
        let text = profile().to_toml();
        for line in text.lines().filter(|line| !line.is_empty()) {
            let known = line.starts_with(['#', '[', ']', ' ']) || line.contains(" = ");
            assert!(known, "{line}");
        }
        assert!(text.contains(r#"jdk = "A \"quoted\" vendor 25""#), "{text}");
    }

    #[test]
    fn nothing_has_no_rate() {
        assert!(Mutator::of(&[], &Sizes::default()).is_none());
    }
}
