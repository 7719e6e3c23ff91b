use super::*;
use crate::machine::Machine;

#[test]
fn bits_become_numbers() {
    assert_eq!(set_bits(&[0b101, 0, 1 << 63]), [CpuId(0), CpuId(2), CpuId(191)]);
    assert_eq!(set_bits(&[]), []);
}

#[test]
fn a_mask_that_is_too_short_grows() {
    // The kernel's own mask has at least one long, so this one begins too short wherever it was built for more CPUs.
    assert_eq!(allowed_from(1), allowed());
    assert!(!allowed().unwrap().is_empty());
}

#[test]
fn what_any_thread_may_use_is_found_by_one_that_is_pinned() {
    crate::test_support::on_each_cpu(|cpu| {
        assert_eq!(allowed().unwrap(), [cpu]);
        // The process's first thread is not pinned.
        let first = set_bits(&mask_of(std::process::id() as libc::pid_t, 1).unwrap());
        let all = allowed_to_any().unwrap();
        assert!(all.contains(&cpu) && first.iter().all(|cpu| all.contains(cpu)), "{all:?}");
        assert_eq!(Machine::detect_for_process().cpus().len(), all.len());
    });
}
