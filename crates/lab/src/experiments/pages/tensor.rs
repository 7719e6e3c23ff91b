//! A tensor of four dimensions in one piece of memory, as the Java benchmark `Tensor` has it.

use std::hint::black_box;

/// In which order elements are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// In an order that no prefetcher foresees.
    Random,
    /// The first index the fastest: each read lies in another page than the one before.
    Stride,
    /// The last index the fastest: as the elements lie in memory.
    Order,
}

impl Pattern {
    pub const ALL: [Pattern; 3] = [Pattern::Random, Pattern::Stride, Pattern::Order];

    pub const fn name(self) -> &'static str {
        match self {
            Pattern::Random => "random",
            Pattern::Stride => "first index first",
            Pattern::Order => "in order",
        }
    }
}

/// The dimensions as powers of two, of a tensor of `1 << bits` elements. The last index is the fastest in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    bits: [u32; 4],
}

impl Shape {
    /// Dimensions as equal as they can be.
    pub const fn of(bits: u32) -> Shape {
        let i = bits / 4;
        let j = (bits - i) / 3;
        let k = (bits - i - j) / 2;
        Shape { bits: [i, j, k, bits - i - j - k] }
    }

    #[inline(always)]
    fn index(self, [i, j, k, l]: [u64; 4]) -> usize {
        let [_, of_j, of_k, of_l] = self.bits;
        ((((((i << of_j) | j) << of_k) | k) << of_l) | l) as usize
    }

    /// An index of each dimension from the low bits of these numbers.
    #[inline(always)]
    fn within(self, numbers: [u64; 4]) -> [u64; 4] {
        std::array::from_fn(|at| numbers[at] & ((1 << self.bits[at]) - 1))
    }
}

/// Elements and where a reader is.
#[derive(Debug)]
pub struct Tensor<'a> {
    elements: &'a mut [u64],
    shape: Shape,
    random: u64,
    step: u64,
}

impl<'a> Tensor<'a> {
    /// Over memory of which the largest power of two is used.
    pub fn over(memory: &'a mut [u8]) -> Tensor<'a> {
        // SAFETY: any 8 bytes are a valid u64, and any u64 is valid bytes.
        let (_, elements, _) = unsafe { memory.align_to_mut::<u64>() };
        let bits = elements.len().max(1).ilog2();
        let elements = elements.get_mut(..1 << bits).unwrap_or_default();
        Tensor { elements, shape: Shape::of(bits), random: 0x9E37_79B9_7F4A_7C15, step: 0 }
    }

    /// Gives every element a value, in the order of memory: the first touch, unless there was one before.
    pub fn fill(&mut self) {
        for (index, element) in self.elements.iter_mut().enumerate() {
            *element = index as u64;
        }
        black_box(self.elements.as_mut_ptr());
    }

    /// Reads so many elements, from where the last call ended; their sum. The reads do not depend on one another: a processor may
    /// have several under way, as in programs that compute with tensors.
    pub fn read(&mut self, pattern: Pattern, reads: u64) -> u64 {
        let sum = match pattern {
            Pattern::Random => self.read_randomly(reads),
            Pattern::Stride => self.read_by_stride(reads),
            Pattern::Order => self.read_in_order(reads),
        };
        black_box(sum)
    }

    #[inline(always)]
    fn element(&self, indexes: [u64; 4]) -> u64 {
        // The shape keeps indexes inside; an empty tensor has nothing to read.
        self.elements.get(self.shape.index(indexes)).copied().unwrap_or(0)
    }

    fn read_randomly(&mut self, reads: u64) -> u64 {
        let mut random = self.random;
        let mut sum = 0_u64;
        for _ in 0..reads {
            // Marsaglia's xorshift: each of its states is followed by another, never by 0.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let indexes = self.shape.within([random >> 48, random >> 32, random >> 16, random]);
            sum = sum.wrapping_add(self.element(indexes));
        }
        self.random = random;
        sum
    }

    fn read_by_stride(&mut self, reads: u64) -> u64 {
        let [of_i, of_j, of_k, _] = self.shape.bits;
        let mut sum = 0_u64;
        for step in self.step..self.step + reads {
            let numbers = [step, step >> of_i, step >> (of_i + of_j), step >> (of_i + of_j + of_k)];
            sum = sum.wrapping_add(self.element(self.shape.within(numbers)));
        }
        self.step += reads;
        sum
    }

    fn read_in_order(&mut self, reads: u64) -> u64 {
        let [_, of_j, of_k, of_l] = self.shape.bits;
        let mut sum = 0_u64;
        for step in self.step..self.step + reads {
            let numbers = [step >> (of_j + of_k + of_l), step >> (of_k + of_l), step >> of_l, step];
            sum = sum.wrapping_add(self.element(self.shape.within(numbers)));
        }
        self.step += reads;
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_as_equal_as_they_can_be() {
        assert_eq!(Shape::of(26).bits, [6, 6, 7, 7]);
        assert_eq!(Shape::of(0).bits, [0; 4]);
    }

    #[test]
    fn walks_read_every_element_once() {
        let mut memory = vec![0_u64; 1 << 10];
        // SAFETY: any u64 is valid bytes, and the vector outlives the slice.
        let bytes = unsafe { std::slice::from_raw_parts_mut(memory.as_mut_ptr().cast::<u8>(), 8 << 10) };
        let mut tensor = Tensor::over(bytes);
        tensor.fill();
        for pattern in [Pattern::Stride, Pattern::Order] {
            let sum = tensor.read(pattern, 500) + tensor.read(pattern, 524);
            assert_eq!(sum, (0..1024).sum::<u64>(), "{pattern:?}");
        }
        assert_ne!(tensor.read(Pattern::Random, 1000), tensor.read(Pattern::Random, 1000));
    }

    #[test]
    fn the_stride_goes_from_page_to_page() {
        let shape = Shape::of(26);
        let step = shape.index([1, 0, 0, 0]) - shape.index([0, 0, 0, 0]);
        assert_eq!(step * 8, 8 << 20);
    }
}
