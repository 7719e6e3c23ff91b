//! What holds of the traffic of any program.

use std::collections::HashMap;
use terrace_coherence::memory::{Kind, Traffic};

/// Checks it; `events`: how many were to be kept.
pub fn check(traffic: &Traffic, events: usize) {
    let total = traffic.total();
    assert!(total.modified_reads <= total.modified && total.modified_reads <= total.reads);
    assert!(total.modified <= total.moves());
    assert_eq!(traffic.events.len(), events.min(total.moves() as usize));
    // By line: until when its last writer waited for it, and the last core at all.
    let mut known: HashMap<u32, (u64, u64, u64)> = HashMap::new();
    for event in &traffic.events {
        assert!(event.asked <= event.begin && event.begin <= event.end, "{event:?}");
        assert_ne!(event.from, Some(event.to), "{event:?}");
        // The lines of objects are counted as one.
        if traffic.lines[event.line as usize].name == "new objects" {
            continue;
        }
        let (begin, written, used) = known.entry(event.line).or_default();
        assert!(event.begin >= *begin, "{event:?} sets out before the one before it");
        assert!(event.begin >= *written, "{event:?} sets out before its writer has it");
        if event.kind != Kind::Read {
            assert!(event.begin >= *used, "{event:?} is taken from who does not have it yet");
            *written = event.end;
        }
        *begin = event.begin;
        *used = (*used).max(event.end);
    }
}
