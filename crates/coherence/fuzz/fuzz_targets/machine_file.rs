//! Anything as a machine's description: a machine within the limits, or one line that says why not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use terrace_coherence::machine::Machine;

fuzz_target!(|text: &str| {
    match Machine::parse(text, "fuzz") {
        Ok(machine) => assert!((1..=4096).contains(&machine.shape.cpus()) && machine.costs.locked >= 1),
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
});
