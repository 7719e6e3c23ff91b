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
fn which_sizes_are_planned_does_not_depend_on_free_memory() {
    assert_eq!((largest(4 << 30), largest(0)), (1 << 30, u64::MAX));
    assert!(fits(1 << 20, Some(4 << 20)).is_ok() && fits(1 << 40, None).is_ok());
    let reason = fits(256 << 20, Some(512 << 20)).unwrap_err().to_string();
    assert!(reason.contains("quarter of the free memory") && reason.contains("--resume"), "{reason}");
    let bench = Bench {
        effort: Effort::Quick,
        jdks: Vec::new(),
        install: jvm::install::Install::at(Vec::new()),
        machine: compare::machine::Host::here(),
        scratch: std::env::temp_dir(),
        allow_sysctl: false,
        wanted: experiment::Wanted::default(),
    };
    let most = largest(bench.memory_bytes()).min(256 << 20);
    let planned: BTreeSet<u64> = (plan(&bench).unwrap().cells.iter())
        .filter_map(|cell| cell.parameters.get("size")?.number())
        .map(|bytes| bytes as u64)
        .collect();
    assert_eq!(planned, sizes(Effort::Quick, &caches(), most).into_iter().collect());
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
