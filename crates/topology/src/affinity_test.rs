use super::*;

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
