//! The threads of a running JVM with what each has allocated, from its extended thread dump (`Thread.print -e`).

use crate::attach::Attached;
use crate::{Result, printable};
use control::new_threads::without_numbers;

#[derive(Clone, Debug, PartialEq)]
pub struct JavaThread {
    pub name: String,
    /// `java.lang.Thread`'s own number: no other thread of the JVM ever has it, and it stays when the name changes.
    pub number: u64,
    /// The address of HotSpot's own structure, which the next thread may get.
    pub id: u64,
    /// Bytes, rounded as HotSpot prints them; `None` from a JVM that does not say.
    pub allocated: Option<u64>,
    /// The same to the byte, where somebody has read its account. A dump does not have it.
    pub exactly: Option<u64>,
    /// Seconds of CPU time.
    pub cpu: f64,
    /// Seconds since it began.
    pub elapsed: f64,
    /// The outermost frame, such as `java.lang.Thread.run`; `None` where there is no Java frame.
    pub outermost: Option<String>,
}

impl JavaThread {
    /// Whether native code has attached it, by its outermost Java frame: a method that native code has called, or the constructor of its own
    /// `java.lang.Thread`, which HotSpot runs in a thread that is being attached (`JavaThread::allocate_threadObj`); a thread that Java has started
    /// begins in `run`, or in `main`. `None` where the frames do not tell: there are none, or HotSpot is ending the thread (`Thread.exit`,
    /// `Thread.dispatchUncaughtException`).
    pub fn is_attached(&self) -> Option<bool> {
        let frame = self.outermost.as_deref()?;
        match frame.strip_prefix("java.lang.Thread.") {
            Some("<init>") => Some(true),
            Some("run") => Some(false),
            Some(_) => None,
            None => Some(![".run", ".main"].iter().any(|own| frame.ends_with(own))),
        }
    }

    /// The name without what tells threads of a kind apart: numbers.
    pub fn group(&self) -> String {
        let bytes: Vec<u8> = without_numbers(self.name.as_bytes()).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// All Java threads now. It is a safepoint of the JVM.
pub fn of(jvm: &Attached) -> Result<Vec<JavaThread>> {
    Ok(parse(&jvm.diagnose("Thread.print -e")?))
}

/// The threads in a dump of HotSpot's.
pub fn parse(dump: &str) -> Vec<JavaThread> {
    let mut threads: Vec<JavaThread> = Vec::new();
    for line in dump.lines() {
        if line.starts_with('"') {
            threads.extend(head(line));
        } else if let (Some(frame), Some(thread)) =
            (line.trim_start().strip_prefix("at "), threads.last_mut())
        {
            // Frames come innermost first: the last one stays. Without the module: `java.base@25/`.
            let method = frame.split('(').next().unwrap_or(frame);
            thread.outermost = Some(method.to_owned());
        }
    }
    threads
}

/// `"name" #1 prio=5 os_prio=0 cpu=208.92ms elapsed=4.36s allocated=2242K defined_classes=162 tid=0x00007f nid=1 ...`
fn head(line: &str) -> Option<JavaThread> {
    // A name may have quotes.
    let (name, rest) = line[1..].rsplit_once("\" ")?;
    let field = |key: &str| rest.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    // Without a Java thread's number it is one of the JVM's own.
    let number = rest.strip_prefix('#')?.split(' ').next()?;
    Some(JavaThread {
        number: number.parse().ok()?,
        // It may be shown on a terminal.
        name: printable::line(name),
        id: u64::from_str_radix(field("tid")?.trim_start_matches("0x"), 16).ok()?,
        allocated: field("allocated").and_then(bytes),
        exactly: None,
        cpu: field("cpu")?.strip_suffix("ms")?.parse::<f64>().ok()? / 1e3,
        elapsed: field("elapsed")?.strip_suffix('s')?.parse().ok()?,
        outermost: None,
    })
}

/// `64B`, `2242K`, `17M`, `3G`.
fn bytes(text: &str) -> Option<u64> {
    let unit = match text.chars().last()? {
        'B' => 1,
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => return None,
    };
    text[..text.len() - 1].parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    // JDK 25.0.3 and 17.0.15, as they wrote them.
    const DUMP: &str = r#"
"main" #3 [14093] prio=5 os_prio=0 cpu=208.92ms elapsed=4.36s allocated=2242K defined_classes=162 tid=0x00007f5c9c02a950 nid=14093 waiting on condition  [0x00007f5ca19fe000]
   java.lang.Thread.State: TIMED_WAITING (parking)
	at jdk.internal.misc.Unsafe.park(java.base@25.0.3/Native Method)
	at terrace.workloads.Main.main(Main.java:21)

"pool-12-thread-3" #14 daemon prio=9 os_prio=0 cpu=0.33ms elapsed=4.27s allocated=232B defined_classes=0 tid=0x00007f5c9c122c10 nid=0x370b runnable  [0x0000000000000000]
   java.lang.Thread.State: RUNNABLE
	at java.lang.Thread.run(java.base@17.0.15/Thread.java:840)

"Thread-5" #20 prio=5 os_prio=0 cpu=1.33ms elapsed=0.27s allocated=3M defined_classes=0 tid=0x00007f5c9c1220f0 nid=0x370c runnable  [0x0000000000000000]
	at app.Callback.invoke(Callback.java:8)

"VM Thread" os_prio=0 cpu=5.49ms elapsed=4.28s tid=0x00007f5c9c0f4c40 nid=14101 runnable
"#;

    #[test]
    fn java_threads_are_read_and_the_jvms_own_are_not() {
        let threads = parse(DUMP);
        let names: Vec<&str> = threads.iter().map(|thread| thread.name.as_str()).collect();
        assert_eq!(names, ["main", "pool-12-thread-3", "Thread-5"]);
        assert_eq!(threads.iter().map(|thread| thread.number).collect::<Vec<_>>(), [3, 14, 20]);
        assert_eq!(threads[0].allocated, Some(2242 << 10));
        assert_eq!((threads[0].cpu, threads[0].elapsed), (0.20892, 4.36));
        let outermost = |frame: &str| JavaThread { outermost: Some(frame.into()), ..threads[2].clone() };
        let attached = threads.iter().map(JavaThread::is_attached).collect::<Vec<_>>();
        assert_eq!(attached, [Some(false), Some(false), Some(true)]);
        assert_eq!(outermost("java.lang.Thread.<init>").is_attached(), Some(true));
        assert_eq!(outermost("java.lang.Thread.exit").is_attached(), None);
        assert_eq!(outermost("app.Worker.run").is_attached(), Some(false));
        assert_eq!(JavaThread { outermost: None, ..threads[2].clone() }.is_attached(), None);
        assert_eq!(threads[1].group(), "pool-N-thread-N");
        assert_eq!(threads[0].group(), "main");
    }

    #[test]
    fn sizes_are_read() {
        assert_eq!(["64B", "3G", "x", ""].map(bytes), [Some(64), Some(3 << 30), None, None]);
        assert!(parse("\"\n\"x\n\"a\" #1 tid=zz\n").is_empty());
    }
}
