//! The kernels do what they say, with the instructions that they say.

use super::*;
use crate::primitive::Ordering;

#[test]
fn every_kernel_counts() {
    let counter = Counter::new(0);
    terrace_plain_add(&counter, 5);
    terrace_lock_add(&counter, 7);
    terrace_lock_xadd(&counter, 11);
    assert_eq!(terrace_compare_exchange(&counter, 13), 0);
    assert_eq!(counter.load(Ordering::Relaxed), 36);
    let mine = Counter::new(0);
    terrace_claimed(&counter, &mine, 16, 4);
    assert_eq!((counter.load(Ordering::Relaxed), mine.load(Ordering::Relaxed)), (100, 99));
}

#[test]
fn no_times_is_nothing() {
    let counter = Counter::new(1);
    terrace_plain_add(&counter, 0);
    terrace_lock_add(&counter, 0);
    terrace_lock_xadd(&counter, 0);
    terrace_compare_exchange(&counter, 0);
    terrace_claimed(&counter, &Counter::new(0), 8, 0);
    assert_eq!(counter.load(Ordering::Relaxed), 1);
}

#[test]
fn the_portable_kernels_count_alike() {
    let counter = Counter::new(0);
    portable::terrace_plain_add(&counter, 5);
    portable::terrace_lock_add(&counter, 7);
    portable::terrace_lock_xadd(&counter, 11);
    assert_eq!(portable::terrace_compare_exchange(&counter, 13), 0);
    let mine = Counter::new(0);
    portable::terrace_claimed(&counter, &mine, 16, 4);
    assert_eq!((counter.load(Ordering::Relaxed), mine.load(Ordering::Relaxed)), (100, 99));
}

#[cfg(target_arch = "x86_64")]
mod disassembled {
    use iced_x86::{Decoder, DecoderOptions, Instruction, Mnemonic, OpKind};
    use object::{Object, ObjectSection, ObjectSymbol};

    /// The bytes of a function of this executable.
    fn code(symbol: &str) -> Vec<u8> {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let symbol = file.symbols().find(|found| found.name() == Ok(symbol)).expect(symbol);
        let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
        let code = section.data_range(symbol.address(), symbol.size()).unwrap().unwrap();
        assert!(!code.is_empty());
        code.to_vec()
    }

    /// Whether it reads or writes memory: `lea` has the form only.
    fn memory(instruction: &Instruction) -> bool {
        let operand = (0..instruction.op_count()).any(|n| instruction.op_kind(n) == OpKind::Memory);
        operand && !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Nop)
    }

    /// The instructions on memory within loops, in their order, each with how many loops it is in: `lock add 8 bytes, in 1`.
    fn inside_loops(code: &[u8]) -> Vec<String> {
        let instructions: Vec<Instruction> =
            Decoder::with_ip(64, code, 0, DecoderOptions::NONE).into_iter().collect();
        assert!(instructions.iter().all(|instruction| !instruction.is_invalid()));
        let mut starts: Vec<(u64, u64)> = Vec::new();
        for jump in instructions.iter().filter(|i| i.is_jcc_short_or_near() || i.is_jmp_short_or_near()) {
            let (target, end) = (jump.near_branch_target(), jump.ip());
            // Two jumps back to one place, such as that of a failed exchange, are one loop.
            match starts.iter_mut().find(|(start, _)| *start == target) {
                Some(known) => known.1 = known.1.max(end),
                None if target <= end => starts.push((target, end)),
                None => {}
            }
        }
        let depth = |at: u64| starts.iter().filter(|(start, end)| (*start..=*end).contains(&at)).count();
        (instructions.iter())
            .filter(|instruction| memory(instruction) && depth(instruction.ip()) > 0)
            .map(|instruction| {
                // xchg with memory locks without a prefix.
                let lock = instruction.has_lock_prefix() || instruction.mnemonic() == Mnemonic::Xchg;
                let name = format!("{:?}", instruction.mnemonic()).to_lowercase();
                let (bytes, loops) = (instruction.memory_size().size(), depth(instruction.ip()));
                format!("{}{name} {bytes} bytes, in {loops}", if lock { "lock " } else { "" })
            })
            .collect()
    }

    const EXPECTED: [(&str, &[&str]); 5] = [
        ("terrace_plain_add", &["add 8 bytes, in 1"]),
        ("terrace_lock_add", &["lock add 8 bytes, in 1"]),
        ("terrace_lock_xadd", &["lock xadd 8 bytes, in 1"]),
        ("terrace_compare_exchange", &["mov 8 bytes, in 1", "lock cmpxchg 8 bytes, in 1"]),
        ("terrace_claimed", &["lock xadd 8 bytes, in 1", "mov 8 bytes, in 2"]),
    ];

    #[test]
    fn the_kernels_have_their_instructions_and_no_others_on_memory() {
        for (symbol, expected) in EXPECTED {
            assert_eq!(inside_loops(&code(symbol)), expected, "{symbol}");
        }
    }

    #[test]
    fn another_instruction_is_noticed() {
        // The instruction, dec eax, jnz to its beginning.
        let of = |instruction: &[u8]| {
            inside_loops(&[instruction, &[0xff, 0xc8, 0x75, 0xfc - instruction.len() as u8]].concat())
        };
        assert_eq!(of(&[0xf0, 0x48, 0x83, 0x07, 0x01]), ["lock add 8 bytes, in 1"]);
        assert_eq!(of(&[0x48, 0x83, 0x07, 0x01]), ["add 8 bytes, in 1"]);
        assert_eq!(of(&[0xf0, 0x83, 0x07, 0x01]), ["lock add 4 bytes, in 1"]);
        assert_eq!(of(&[0xf0, 0x48, 0xff, 0x07]), ["lock inc 8 bytes, in 1"]);
        assert_eq!(of(&[0xf0, 0x48, 0x0f, 0xc1, 0x0f]), ["lock xadd 8 bytes, in 1"]);
        assert_eq!(of(&[0x48, 0x87, 0x0f]), ["lock xchg 8 bytes, in 1"]);
        // Not in a loop: seen as such.
        assert!(inside_loops(&[0xf0, 0x48, 0x83, 0x07, 0x01, 0xc3]).is_empty());
    }
}
