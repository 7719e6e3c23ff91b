//! The places of the heap's virtual functions, found offline in every `libjvm.so` of this machine, for every collector.

extern crate terrace_hotspot as hotspot;

#[path = "../../agent/tests/jvm/jdk.rs"]
#[allow(dead_code, reason = "shared with the tests that launch JVMs")]
mod jdk;

use hotspot::Error;
use hotspot::collector::Collector;
use hotspot::slots::{self, Slots, Virtual};
use hotspot::symbols::Symbols;
use hotspot::version::Feature;
use hotspot::vtable::Vtable;
use jdk::Jdk;
use object::elf;
use std::path::Path;
use std::process::Command;

fn supported() -> Vec<&'static Jdk> {
    let found: Vec<&Jdk> =
        jdk::all().iter().filter(|jdk| Feature::SUPPORTED.contains(&jdk.feature)).collect();
    for feature in Feature::SUPPORTED {
        if found.iter().all(|jdk| jdk.feature != feature) {
            skips::skip!("JDK {}: not found", feature.0);
        }
    }
    // Who names JDKs expects them to be looked at.
    assert!(
        !found.is_empty() || std::env::var_os("TERRACE_JDKS").is_none(),
        "TERRACE_JDKS has no JDK of ours"
    );
    found
}

/// A collector's vtable and slots; `None` if the build does not have the collector.
fn resolve(symbols: &Symbols, feature: Feature, collector: Collector) -> Option<(Vtable, Vec<usize>, Slots)> {
    let mut names = vec![collector.vtable()];
    names.extend(Collector::ALL.iter().filter(|other| **other != collector).map(|other| other.vtable()));
    let vtables = slots::find(symbols, &names, &[], None).expect("the symbols").vtables;
    let vtable = vtables[0]?;
    let words =
        |vtable: Vtable| symbols.relocated_words(vtable.address, vtable.entries).expect("the relocations");
    let tables: Vec<Vec<usize>> = vtables.into_iter().flatten().map(words).collect();
    let slots = slots::resolve(symbols, feature, &tables).expect("the symbols");
    Some((vtable, words(vtable), slots))
}

/// The functions that a collector cannot do without.
fn needed(collector: Collector, feature: Feature) -> Vec<Virtual> {
    let hooks = collector.hooks(feature);
    let mut needed = vec![
        Virtual::AllocateNewTlab,
        Virtual::UnsafeMaxTlabAlloc,
        Virtual::MaxTlabSize,
        Virtual::TlabCapacity,
    ];
    needed.push(Virtual::MemAllocate);
    needed.extend(hooks.parsability.then_some(Virtual::EnsureParsability));
    needed.extend(hooks.trace.then_some(Virtual::TraceHeap));
    needed
        .extend((hooks.parsability && feature <= Feature(17)).then_some(Virtual::SupportsInlineContigAlloc));
    needed
}

fn names_at(symbols: &Symbols, address: usize) -> Vec<String> {
    let mut names = Vec::new();
    symbols
        .each(
            |at, is_data| !is_data && at == address,
            |symbol| names.push(String::from_utf8_lossy(symbol.name).into_owned()),
        )
        .expect("the symbols");
    names
}

#[test]
fn every_function_of_every_collector() {
    for jdk in supported() {
        let symbols = Symbols::open(&jdk.libjvm()).expect("symbols");
        for collector in Collector::ALL {
            let Some((_, words, slots)) = resolve(&symbols, jdk.feature, collector) else {
                assert!(!jdk.has(collector), "{} on {}: there, but not found", collector.name(), jdk.version);
                skips::skip!("{} on {}: not in this build", collector.name(), jdk.feature.0);
                continue;
            };
            let mut places = Vec::new();
            for function in needed(collector, jdk.feature) {
                let told = format!("{} of {} on {}", function.name(), collector.name(), jdk.version);
                let slot = slots.of(function).unwrap_or_else(|error| panic!("{told}: {error}"));
                let names = names_at(&symbols, words[slot]);
                assert!(names.iter().any(|name| name.contains(function.name())), "{told}: {names:?}");
                assert!(!places.contains(&slot), "{told}: the place of another function");
                places.push(slot);
            }
        }
    }
}

/// Overrides stand where the base class's function stands: one place for all collectors of a build.
#[test]
fn one_place_for_all_collectors() {
    for jdk in supported() {
        let symbols = Symbols::open(&jdk.libjvm()).expect("symbols");
        for function in Virtual::ALL {
            let places: Vec<(&str, usize)> = (Collector::ALL.into_iter())
                .filter_map(|collector| {
                    Some((collector.name(), resolve(&symbols, jdk.feature, collector)?.2.of(function).ok()?))
                })
                .collect();
            assert!(
                places.windows(2).all(|pair| pair[0].1 == pair[1].1),
                "{}: {function:?}: {places:?}",
                jdk.version
            );
        }
    }
}

/// Kilobytes of a file's mappings that are in this process's memory.
fn resident(file: &Path) -> usize {
    let mappings = std::fs::read_to_string("/proc/self/smaps").expect("this process's mappings");
    let mut own = false;
    let mut sum = 0;
    for line in mappings.lines() {
        if let Some(kilobytes) = line.strip_prefix("Rss:") {
            let kilobytes: usize = kilobytes.trim_end_matches("kB").trim().parse().expect("a number");
            sum += if own { kilobytes } else { 0 };
        } else if line.split_ascii_whitespace().next().is_some_and(|word| word.contains('-')) {
            own = line.ends_with(&*file.to_string_lossy());
        }
    }
    sum
}

/// The names of a library have up to 5 MB, and the most that a JVM ever had resident is what its container is charged for.
#[test]
fn all_names_are_read_with_few_of_them_resident() {
    let folder = tempfile::tempdir().expect("a folder");
    for jdk in supported() {
        // Other tests map the JDK's own at the same time.
        let copy = folder.path().join(format!("libjvm-{}.so", jdk.feature.0));
        std::fs::copy(jdk.libjvm(), &copy).expect("a copy");
        let symbols = Symbols::open(&copy).expect("symbols");
        let (mut names, mut most) = (0, 0);
        let visit = |_| {
            names += 1;
            if names % 500 == 0 {
                most = most.max(resident(&copy));
            }
        };
        symbols.each(|_, _| true, visit).expect("the symbols");
        assert!(names > 10_000, "{}: {names} names", jdk.version);
        assert!((1..=2048).contains(&most), "{}: {most} kB", jdk.version);
    }
}

/// Where Shenandoah's pauses have to be seen by themselves, each of them is there, and nothing else.
#[test]
fn every_pause_of_shenandoah() {
    for jdk in supported() {
        let Some(family) = Collector::Shenandoah.hooks(jdk.feature).pauses else { continue };
        let symbols = Symbols::open(&jdk.libjvm()).expect("symbols");
        let names = slots::find(&symbols, &[], &[], Some(family)).expect("the symbols");
        let words = |vtable: Vtable| {
            symbols.relocated_words(vtable.address, vtable.entries).expect("the relocations")
        };
        let pauses =
            names.operations.pauses(words).unwrap_or_else(|error| panic!("{}: {error}", jdk.version));
        let found: Vec<String> =
            pauses.iter().flat_map(|(vtable, at)| names_at(&symbols, words(*vtable)[*at])).collect();
        for pause in ["InitMark", "FinalMark", "InitUpdateRefs", "FinalUpdateRefs", "FullGC", "DegeneratedGC"]
        {
            assert!(found.iter().any(|name| name.contains(pause)), "{}: {pause} in {found:?}", jdk.version);
        }
        let is_pause = |name: &String| name.contains("4doitEv") && !name.contains("Events");
        assert!(found.iter().all(is_pause), "{}: {found:?}", jdk.version);
    }
}

fn run(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn a_stripped_library() {
    for jdk in supported() {
        let directory = tempfile::tempdir().expect("a directory");
        let library = directory.path().join("libjvm.so");
        if !strip(&jdk.libjvm(), &library) {
            skips::skip!("no strip on PATH (apt-get install binutils)");
            return;
        }
        let error = Symbols::open(&library).expect_err("no symbols");
        assert!(matches!(&error, Error::Stripped { .. }), "{error}");
        assert!(error.to_string().contains("install the JDK's debug symbols"), "{error}");
    }
}

fn strip(from: &Path, to: &Path) -> bool {
    run(Command::new("strip")
        .args(["--strip-all", "--remove-section=.gnu_debuglink", "-o"])
        .arg(to)
        .arg(from))
}

/// Stripped, but the debug file is where debuggers find it: everything is found as in the whole library.
#[test]
fn a_stripped_library_with_its_debug_file() {
    for jdk in supported() {
        for place in ["", ".debug"] {
            let directory = tempfile::tempdir().expect("a directory");
            let (library, debug) =
                (directory.path().join("libjvm.so"), directory.path().join("libjvm.debug"));
            let link = format!("--add-gnu-debuglink={}", debug.display());
            let made = run(Command::new("objcopy").arg("--only-keep-debug").arg(jdk.libjvm()).arg(&debug))
                && strip(&jdk.libjvm(), &library)
                && run(Command::new("objcopy").arg(link).arg(&library));
            if !made {
                skips::skip!("no objcopy and strip on PATH (apt-get install binutils)");
                return;
            }
            if !place.is_empty() {
                std::fs::create_dir(directory.path().join(place)).expect("a directory");
                std::fs::rename(&debug, directory.path().join(place).join("libjvm.debug"))
                    .expect("the debug file");
            }
            let symbols = match Symbols::open(&library) {
                // Without a build identifier nothing proves that the debug file is this library's.
                Err(Error::Stripped { .. }) if !has_build_identifier(&jdk.libjvm()) => {
                    skips::skip!("debug file on {}: this build has no build identifier", jdk.version);
                    continue;
                }
                opened => opened.unwrap_or_else(|error| panic!("{}: {error}", jdk.version)),
            };
            let whole = Symbols::open(&jdk.libjvm()).expect("symbols");
            let found = resolve(&symbols, jdk.feature, Collector::G1).expect("G1");
            let expected = resolve(&whole, jdk.feature, Collector::G1).expect("G1");
            assert_eq!((found.0, found.2), (expected.0, expected.2), "{}", jdk.version);
        }
    }
}

fn has_build_identifier(library: &Path) -> bool {
    let bytes = std::fs::read(library).expect("the library");
    // The note's header: four bytes of name, twenty of identifier, type 3, "GNU".
    bytes.windows(16).take(65_536).any(|window| window == b"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0")
}

/// The debug file of another build has other addresses.
#[test]
fn the_debug_file_of_another_build_is_not_used() {
    let [one, .., other] = &supported()[..] else {
        skips::skip!("only one JDK found");
        return;
    };
    let directory = tempfile::tempdir().expect("a directory");
    let (library, debug) = (directory.path().join("libjvm.so"), directory.path().join("libjvm.debug"));
    let link = format!("--add-gnu-debuglink={}", debug.display());
    let made = run(Command::new("objcopy").arg("--only-keep-debug").arg(other.libjvm()).arg(&debug))
        && strip(&one.libjvm(), &library)
        && run(Command::new("objcopy").arg(link).arg(&library));
    if made {
        assert!(matches!(Symbols::open(&library), Err(Error::Stripped { .. })));
    } else {
        skips::skip!("no objcopy and strip on PATH (apt-get install binutils)");
    }
}

#[test]
fn what_is_no_library_is_told_so() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("libjvm.so");
    for content in [&b""[..], b"#!/bin/sh\n", &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0], &[0; 4096]] {
        std::fs::write(&path, content).expect("a file");
        assert!(matches!(Symbols::open(&path), Err(Error::File { .. })), "{content:?}");
    }
    assert!(matches!(Symbols::open(&directory.path().join("missing")), Err(Error::File { .. })));
    // Cut anywhere, a library is refused or has fewer symbols, and nothing is read beyond its end.
    let Some(jdk) = supported().first().copied() else { return };
    let mut whole = std::fs::read(jdk.libjvm()).expect("the library");
    // One for another processor can be read, but no process of this one has loaded it.
    for (machine, architecture) in [(elf::EM_X86_64, "x86_64"), (elf::EM_AARCH64, "aarch64")] {
        whole[18..20].copy_from_slice(&machine.0.to_le_bytes());
        std::fs::write(&path, &whole).expect("a file");
        let outcome = Symbols::open(&path).expect("symbols").check_processor();
        let refused = outcome.err().map(|error| error.to_string());
        let own = architecture == std::env::consts::ARCH;
        assert!(
            refused.as_ref().map_or(own, |line| !own && line.contains("is for another architecture")),
            "{refused:?}"
        );
    }
    for part in 1..16 {
        std::fs::write(&path, &whole[..whole.len() / 16 * part]).expect("a file");
        if let Ok(symbols) = Symbols::open(&path) {
            let _ = symbols.each(|_, _| true, |_| {});
            let _ = symbols.relocated_words(0, 1);
        }
    }
}
