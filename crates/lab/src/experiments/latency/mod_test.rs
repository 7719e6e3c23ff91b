use super::*;

fn cache(level: u32, kind: &str, bytes: u64) -> Cache {
    Cache { level, kind: kind.into(), bytes, line_bytes: 64, shared_by: String::new() }
}

#[test]
fn sizes_are_dense_where_caches_end() {
    let caches =
        [cache(1, "Data", 48 << 10), cache(1, "Instruction", 20 << 10), cache(2, "Unified", 1 << 20)];
    let quick = sizes(Effort::Quick, &caches, 4 << 20);
    for bytes in [4 << 10, 36 << 10, 48 << 10, 64 << 10, 72 << 10, 768 << 10, 1 << 20, 1536 << 10, 4 << 20] {
        assert!(quick.contains(&bytes), "{bytes}");
    }
    assert_eq!(quick.len(), 11 + 5);
    assert!(quick.is_sorted() && quick.iter().all(|bytes| bytes % 64 == 0));
    let full = sizes(Effort::Full, &caches, 4 << 20);
    assert!(full.len() > 40 && full.iter().all(|bytes| *bytes <= 4 << 20));
    assert!(quick.iter().all(|bytes| full.contains(bytes)));
}

#[test]
fn a_load_is_measured_in_both_units() {
    let sample = loads(64 << 10, Policy::Small, Duration::ZERO, 3).unwrap();
    assert_eq!(sample.values["ns"].len(), 3);
    assert!(sample.values.contains_key("cycles") || sample.unavailable["cycles"] == NO_CLOCK);
    assert_eq!(
        (&sample.settings["huge_bytes"], &sample.settings["mapped_bytes"]),
        (&json!(0), &json!(65536))
    );
}

#[test]
fn accesses_of_one_thread_are_measured() {
    let sample = alone(Duration::ZERO, 3).unwrap();
    for metric in ["locked_ns", "load_ns", "store_ns"] {
        assert_eq!(sample.values[metric].len(), 3, "{metric}");
    }
}
