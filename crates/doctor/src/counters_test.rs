//! HotSpot's counters and threads as a test wants them.

use crate::moment::Moment;
use jvm::perfdata::PerfData;
use jvm::thread_dump::JavaThread;
use std::time::Instant;

/// The file that a JVM would have with these: whole numbers, on this machine.
pub(crate) fn counters(values: &[(&str, i64)]) -> PerfData {
    counters_and_texts(values, &[])
}

/// The same, with texts.
pub(crate) fn counters_and_texts(values: &[(&str, i64)], texts: &[(&str, &str)]) -> PerfData {
    PerfData::parse(file(values, texts)).unwrap()
}

/// As HotSpot writes them.
pub(crate) fn file(values: &[(&str, i64)], texts: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = vec![0xca, 0xfe, 0xc0, 0xc0, cfg!(target_endian = "little") as u8, 2, 0, 1];
    bytes.resize(24, 0);
    for word in [32, (values.len() + texts.len()) as i32] {
        bytes.extend(word.to_ne_bytes());
    }
    let mut entry = |name: &str, kind: u8, vector: usize, value: &[u8]| {
        let (start, data) = (bytes.len(), (20 + name.len() + 1).next_multiple_of(8));
        let length = (data + value.len()).next_multiple_of(8);
        for word in [length as i32, 20, vector as i32] {
            bytes.extend(word.to_ne_bytes());
        }
        bytes.extend([kind, 0, 1, 1]);
        bytes.extend((data as i32).to_ne_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(start + data, 0);
        bytes.extend(value);
        bytes.resize(start + length, 0);
    };
    values.iter().for_each(|(name, value)| entry(name, b'J', 0, &value.to_ne_bytes()));
    texts.iter().for_each(|(name, text)| entry(name, b'B', text.len() + 1, format!("{text}\0").as_bytes()));
    bytes
}

/// A moment at which nothing else was counted.
pub(crate) fn counted(perf: Option<PerfData>) -> Moment {
    Moment {
        at: Instant::now(),
        perf,
        used: 0,
        buffers: None,
        pauses: 0,
        objects: None,
        times: None,
        large: None,
        new_threads: None,
        by_thread: None,
        cpu: None,
        touches: None,
        anonymous: None,
        periods: None,
    }
}

#[test]
fn a_heap_is_as_large_as_its_generations() {
    let perf = counters(&[
        ("sun.gc.generation.0.capacity", 1 << 20),
        ("sun.gc.generation.1.capacity", 9 << 20),
        ("sun.gc.generation.0.space.0.used", 0),
        ("sun.gc.generation.0.space.2.used", 7),
        ("sun.gc.generation.1.space.0.used", 500),
    ]);
    assert_eq!((crate::heap::committed(&perf), crate::heap::used(&perf)), (Some(10 << 20), Some(507)));
    let none = counters(&[]);
    assert_eq!((crate::heap::committed(&none), crate::heap::used(&none)), (None, None));
}

/// Two looks after the same collection: G1 counts eden's regions as threads get them.
#[test]
fn what_is_in_use_does_not_depend_on_how_far_eden_has_filled_since() {
    let used = |eden: i64, survivors: Option<i64>| {
        let mut values = vec![("sun.gc.generation.0.space.0.used", eden)];
        values.extend(survivors.map(|bytes| ("sun.gc.generation.0.space.2.used", bytes)));
        values.push(("sun.gc.generation.1.space.0.used", 500));
        crate::heap::used(&counters(&values))
    };
    assert_eq!([used(0, Some(7)), used(300, Some(7))], [Some(507); 2]);
    // The young generation of ZGC has one space, which objects have survived in.
    assert_eq!(used(300, None), Some(800));
}

/// A thread in a dump.
pub(crate) fn thread(name: &str, number: u64, elapsed: f64, outermost: &str) -> JavaThread {
    JavaThread {
        name: name.into(),
        number,
        id: 0x7f00,
        allocated: None,
        exactly: None,
        cpu: 0.0,
        elapsed,
        outermost: Some(outermost.into()),
    }
}
