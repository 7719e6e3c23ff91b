//! Ways to make memory zero.

use crate::Result;
use pages::{Mapping, small_page_bytes};
use std::time::{Duration, Instant};

/// The length of a cache line in bytes on every processor that we know of.
const LINE: usize = 64;

/// A way to make memory zero that the program itself carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The C library's `memset`, which chooses by size and processor.
    Memset,
    /// The instruction `rep stosb`, which the JVM uses.
    RepStosb,
    /// Stores that go around the caches.
    NonTemporal,
    /// Nothing but a store into the first byte, as an allocation that leaves memory as it is writes a header.
    None,
}

impl Method {
    pub const ALL: [Method; 4] = [Method::Memset, Method::RepStosb, Method::NonTemporal, Method::None];

    pub const fn name(self) -> &'static str {
        match self {
            Method::Memset => "memset",
            Method::RepStosb => "rep stosb",
            Method::NonTemporal => "non-temporal",
            Method::None => "none",
        }
    }

    pub const fn exists(self) -> bool {
        cfg!(target_arch = "x86_64") || matches!(self, Method::Memset | Method::None)
    }
}

/// How long it took to zero objects.
#[derive(Clone, Copy, Debug)]
pub struct Zeroed {
    /// Seconds for each object.
    pub seconds: f64,
    /// Bytes for each second.
    pub rate: f64,
}

impl Zeroed {
    fn new(objects: usize, bytes: usize, time: Duration) -> Zeroed {
        let seconds = time.as_secs_f64() / objects as f64;
        Zeroed { seconds, rate: bytes as f64 / seconds }
    }

    /// Of several threads at once: their mean time for an object, and their rates together.
    pub fn of_all(threads: &[Zeroed]) -> Zeroed {
        Zeroed {
            seconds: threads.iter().map(|zeroed| zeroed.seconds).sum::<f64>() / threads.len().max(1) as f64,
            rate: threads.iter().map(|zeroed| zeroed.rate).sum(),
        }
    }
}

/// Passes over so many objects at least are made before the clock is looked at.
const OBJECTS_FOR_A_LOOK: usize = 1 << 14;

/// Zeroes `region` from its beginning to its end as objects of `bytes` (at most the region) that lie one behind the other, which is
/// how an allocator meets memory; over and over until `length` is over. With `used` a byte of every line is then read and written,
/// object by object, as a program does that allocates in order to use.
pub fn sweep(method: Method, region: &mut [u8], bytes: usize, used: bool, length: Duration) -> Zeroed {
    let zero = match method {
        Method::RepStosb => rep_stosb,
        Method::NonTemporal => non_temporal,
        Method::None => first_byte,
        Method::Memset => memset,
    };
    let objects = (region.len() / bytes.max(1)).max(1);
    // A pass that writes takes its time; one that hardly does would be lost in looking at the clock.
    let at_once = if method == Method::None && !used { OBJECTS_FOR_A_LOOK.div_ceil(objects) } else { 1 };
    let since = Instant::now();
    let mut passes = 0;
    loop {
        for _ in 0..at_once {
            for object in region.chunks_exact_mut(bytes.max(1)) {
                zero(object);
                if used {
                    use_lines(object);
                }
            }
        }
        passes += at_once;
        let passed = since.elapsed();
        if passed >= length {
            return Zeroed::new(passes * objects, bytes, passed);
        }
    }
}

/// Gives all of a mapping back to the kernel and writes a byte into each of its pages, which the kernel zeroes before; over and over
/// for `length`. With `used` as in [`sweep`].
pub fn fresh(mapping: &mut Mapping, bytes: usize, used: bool, length: Duration) -> Result<Zeroed> {
    let page = small_page_bytes();
    let since = Instant::now();
    let mut objects = 0;
    while objects == 0 || since.elapsed() < length {
        mapping.discard()?;
        let object = &mut mapping.as_mut_slice()[..bytes];
        object.chunks_mut(page).for_each(first_byte);
        if used {
            use_lines(object);
        }
        objects += 1;
    }
    Ok(Zeroed::new(objects, bytes, since.elapsed()))
}

fn memset(object: &mut [u8]) {
    object.fill(0);
    // Whoever looks at it sees zeros: the stores cannot be left out.
    std::hint::black_box(object.as_mut_ptr());
}

fn first_byte(object: &mut [u8]) {
    if let Some(first) = object.first_mut() {
        *first = 0;
    }
    std::hint::black_box(object.as_mut_ptr());
}

fn use_lines(object: &mut [u8]) {
    for line in object.chunks_mut(LINE) {
        line[0] = line[0].wrapping_add(1);
    }
    std::hint::black_box(object.as_mut_ptr());
}

#[cfg(target_arch = "x86_64")]
fn rep_stosb(object: &mut [u8]) {
    // SAFETY: writes zeros to exactly the bytes of `object`; the direction flag is clear, as the ABI demands.
    unsafe {
        std::arch::asm!(
            "rep stosb",
            inout("rcx") object.len() => _,
            inout("rdi") object.as_mut_ptr() => _,
            in("al") 0_u8,
            options(nostack, preserves_flags)
        );
    }
}

/// By stores that go around the caches, where the processor has them.
pub(crate) fn non_temporal(object: &mut [u8]) {
    // SAFETY: the bytes of `object`, borrowed mutably.
    unsafe { pages::zero_around_caches(object.as_mut_ptr(), object.len()) };
    std::hint::black_box(object.as_mut_ptr());
}

#[cfg(not(target_arch = "x86_64"))]
fn rep_stosb(object: &mut [u8]) {
    memset(object);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pages::Policy;

    #[test]
    fn every_method_zeroes_all_of_every_object_and_nothing_else() {
        for method in Method::ALL.into_iter().filter(|method| *method != Method::None) {
            // Odd addresses and lengths: heads and tails of streams.
            for (start, bytes) in [(0, 64), (3, 129), (15, 1), (1, 1000)] {
                let mut memory = vec![0xaa; start + 3 * bytes + 40];
                let end = start + 3 * bytes;
                sweep(method, &mut memory[start..end], bytes, false, Duration::ZERO);
                assert!(memory[start..end].iter().all(|byte| *byte == 0), "{method:?} {start} {bytes}");
                assert!(memory[end..].iter().all(|byte| *byte == 0xaa), "{method:?} {start} {bytes}");
                assert!(memory[..start].iter().all(|byte| *byte == 0xaa), "{method:?} {start} {bytes}");
            }
        }
    }

    #[test]
    fn no_zeroing_writes_the_first_byte_only() {
        let mut memory = [0xaa; 64];
        sweep(Method::None, &mut memory, 32, false, Duration::ZERO);
        assert_eq!(memory.iter().filter(|byte| **byte == 0).count(), 2);
    }

    #[test]
    fn every_line_of_an_object_is_used() {
        let mut memory = [7; 256];
        sweep(Method::Memset, &mut memory, 128, true, Duration::ZERO);
        assert_eq!(memory.iter().map(|byte| u32::from(*byte)).sum::<u32>(), 4);
    }

    #[test]
    fn threads_add_up_their_rates_and_share_their_time() {
        let one = |seconds| Zeroed { seconds, rate: 1.0 / seconds };
        let all = Zeroed::of_all(&[one(0.5), one(0.25)]);
        assert_eq!((all.seconds, all.rate), (0.375, 6.0));
    }

    #[test]
    fn fresh_pages_are_zero() {
        let bytes = 3 * small_page_bytes();
        let mut mapping = Mapping::new(bytes, Policy::Small).unwrap();
        mapping.as_mut_slice().fill(7);
        let zeroed = fresh(&mut mapping, bytes, false, Duration::ZERO).unwrap();
        assert!(mapping.as_slice().iter().all(|byte| *byte == 0) && zeroed.seconds > 0.0);
        assert_eq!(mapping.obtained().unwrap().small, bytes as u64);
    }
}
