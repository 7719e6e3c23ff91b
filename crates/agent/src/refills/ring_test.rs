use super::*;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::thread;

/// A record that shows when its words are of two.
fn of(writer: u64, number: u64) -> [u64; 7] {
    std::array::from_fn(|word| (writer << 56) ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15 + 2 * word as u64))
}

/// Writer and number, if it is whole. The multiplier is odd, so that each number gives another word.
fn whole(record: [u64; 7], writers: u64, expected: &[u64]) -> Option<(u64, u64)> {
    (0..writers).find_map(|writer| {
        let first = (record[0] ^ (writer << 56)).wrapping_mul(inverse(0x9e37_79b9_7f4a_7c15));
        (of(writer, first) == record && first >= expected[writer as usize]).then_some((writer, first))
    })
}

/// Newton's iteration doubles the bits that are right.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(inverse))))
}

#[test]
fn records_of_several_writers_are_whole_in_order_and_none_goes_uncounted() {
    const WRITERS: u64 = 4;
    const EACH: u64 = 100_000;
    let ring: Ring<7> = Ring::new(64);
    let mut next = [0; WRITERS as usize];
    let mut read = 0;
    let mut take = |read: &mut u64| {
        while let Some(record) = ring.read() {
            let (writer, number) =
                whole(record, WRITERS, &next).expect("a whole record, later than the last");
            next[writer as usize] = number + 1;
            *read += 1;
        }
    };
    thread::scope(|scope| {
        let ring = &ring;
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| scope.spawn(move || (0..EACH).for_each(|number| ring.write(of(writer, number)))))
            .collect();
        while writers.iter().any(|writer| !writer.is_finished()) {
            take(&mut read);
        }
    });
    take(&mut read);
    assert_eq!(read + ring.lost(), WRITERS * EACH);
    assert!(read >= 64, "the last ones find their way, at least: {read}");
}

proptest! {
    #[test]
    fn it_is_a_queue_that_loses_what_comes_when_it_is_full(
        room in 2_usize..6,
        operations in proptest::collection::vec(any::<bool>(), 0..100),
    ) {
        let ring: Ring<1> = Ring::new(room);
        let (mut model, mut lost) = (VecDeque::new(), 0);
        for (number, is_write) in operations.into_iter().enumerate() {
            if !is_write {
                prop_assert_eq!(ring.read().map(|[number]| number), model.pop_front());
                continue;
            }
            ring.write([number as u64]);
            if model.len() < room {
                model.push_back(number as u64);
            } else {
                lost += 1;
            }
            prop_assert_eq!(ring.lost(), lost);
        }
    }
}
