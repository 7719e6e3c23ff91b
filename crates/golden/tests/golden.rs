//! What the fast path costs, read from its machine code: one exchange, one more locked instruction for each
//! counter of a shared domain, and no call.
#![cfg(target_arch = "x86_64")]

use std::process::Command;

/// Instructions of the shortest and of the longest way of a served request.
const SHORTEST: usize = 72;
const LONGEST: usize = 90;
/// What compilers of different versions differ by.
const SLACK: usize = 4;

/// What one way from the entry to the return executes.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    instructions: usize,
    exchanges: usize,
    locked: usize,
}

/// Follows every way through the code that takes no instruction twice (a failed exchange would) and makes no call: those of
/// served requests, since slow paths are calls.
fn walk(code: &[(u64, &str)], at: usize, seen: &mut [bool], mut path: Path, served: &mut Vec<Path>) {
    let Some(&(_, instruction)) = code.get(at) else { return };
    if seen[at] || instruction.starts_with("call") || instruction.starts_with("ud2") {
        return;
    }
    path.instructions += 1;
    path.exchanges += usize::from(instruction.starts_with("lock cmpxchg"));
    path.locked += usize::from(instruction.starts_with("lock "));
    if instruction.starts_with("ret") {
        return served.push(path);
    }
    seen[at] = true;
    if instruction.starts_with('j') {
        let target = instruction.split_whitespace().nth(1).and_then(|to| u64::from_str_radix(to, 16).ok());
        if let Some(target) = code.iter().position(|&(address, _)| Some(address) == target) {
            walk(code, target, seen, path, served);
        }
    }
    if !instruction.starts_with("jmp") {
        walk(code, at + 1, seen, path, served);
    }
    seen[at] = false;
}

#[test]
fn a_served_request_is_one_exchange_without_a_call() {
    if cfg!(debug_assertions) {
        skips::skip!("the code is not what is shipped; run with --release");
        return;
    }
    std::hint::black_box(golden::golden_allocate as *const ());
    let me = std::env::current_exe().unwrap();
    let objdump = Command::new("objdump")
        .args(["--disassemble=golden_allocate", "--no-show-raw-insn"])
        .arg(me)
        .output();
    let Ok(objdump) = objdump else {
        skips::skip!("no objdump on PATH (apt-get install binutils)");
        return;
    };
    let text = String::from_utf8_lossy(&objdump.stdout);
    let lines = text.lines().filter_map(|line| line.trim().split_once(":\t"));
    let code: Vec<(u64, &str)> =
        lines.filter_map(|(address, code)| Some((u64::from_str_radix(address, 16).ok()?, code))).collect();
    let mut served = Vec::new();
    walk(&code, 0, &mut vec![false; code.len()], Path::default(), &mut served);

    assert!(!served.is_empty(), "every way makes a call, or nothing was disassembled: {text}");
    for path in &served {
        assert_eq!(path.exchanges, 1, "{path:?}: {text}");
        // The counters of a domain with one CPU take plain additions, those of a shared one locked ones.
        assert!(path.locked == 1 || path.locked == 3, "{path:?}: {text}");
    }
    let lengths: Vec<usize> = served.iter().map(|path| path.instructions).collect();
    let (shortest, longest) = (lengths.iter().min().unwrap(), lengths.iter().max().unwrap());
    assert!(*shortest <= SHORTEST + SLACK && *longest <= LONGEST + SLACK, "{shortest} to {longest}: {text}");
    // A table that is no longer true does not guard anything.
    assert!(*shortest + SLACK >= SHORTEST && *longest + SLACK >= LONGEST, "pin {shortest} to {longest}");
}
