use super::*;
use crate::test_support;

#[test]
fn agrees_with_the_kernel_on_every_cpu() {
    let rseq = match Rseq::find() {
        Ok(rseq) => rseq,
        Err(reason) => return skips::skip!("{reason}"),
    };
    assert_eq!(rseq.check(), Ok(()));
    test_support::on_each_cpu(|cpu| {
        let rseq = Rseq::find().unwrap();
        assert_eq!(rseq.check(), Ok(()));
        for _ in 0..1000 {
            assert_eq!(rseq.cpu_id(), cpu.0 as i32);
            assert_eq!(ask_kernel(), Some(cpu.0 as i32));
        }
    });
}

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), target_pointer_width = "64"))]
pub(crate) fn reading_from(number: &i32) -> Rseq {
    let pointer: isize;
    // SAFETY: as in `cpu_id`; on x86-64 the control block begins with its own address.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly));
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, readonly));
    }
    Rseq { cpu_id: (std::ptr::from_ref(number).expose_provenance() as isize).wrapping_sub(pointer) }
}

#[test]
fn lies_are_noticed() {
    assert_eq!(reading_from(&-1).check(), Err("rseq not registered for this thread"));
    assert_eq!(reading_from(&-2).check(), Err("rseq not registered for this thread"));
    assert_eq!(reading_from(&12345).check(), Err("rseq disagrees with getcpu"));
    assert_eq!(reading_from(&i32::MAX).check(), Err("rseq disagrees with getcpu"));
}
