//! Reads from a heap dump how many objects of which size it holds. The dump is streamed: it may be larger than memory.
//!
//! The format (`hprof_b_spec.h` in the JDK): a header, then records of tag, time, length; those that matter here are the
//! segments of the heap, which hold roots, classes and objects one after the other. All numbers are big-endian.

use super::sizes::Sizes;
use jvm::{Error, Result, os};
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

const MAGIC: &[u8] = b"JAVA PROFILE 1.0.2\0";
const HEAP_DUMP: u8 = 0x0c;
const HEAP_DUMP_SEGMENT: u8 = 0x1c;

/// Objects lie on multiples of this many bytes.
const GRAIN_BYTES: u64 = 8;
/// What an array has before its elements: mark word, compressed class pointer, length.
const ARRAY_HEADER_BYTES: u64 = 16;
/// What an instance has before its fields: mark word, compressed class pointer.
const INSTANCE_HEADER_BYTES: u64 = 12;
/// A compressed reference. In the dump itself references are whole.
const REFERENCE_BYTES: u64 = 4;
/// The type of a reference in the dump.
const REFERENCE: u8 = 2;

/// The sizes of all objects in a dump, dead ones among them, as they lie in a heap with compressed references. The classes
/// themselves (`java.lang.Class`) are left out: a dump does not say how large they are.
pub fn read(dump: impl BufRead) -> Result<Sizes> {
    let mut reader = Reader { dump, id_bytes: 8, classes: HashMap::new(), instances: HashMap::new() };
    let mut sizes = Sizes::default();
    reader.records(&mut sizes).map_err(|error| match os::stopped_by() {
        Some(signal) => Error::interrupted(signal),
        None => Error::failed(format!("heap dump: {error}")),
    })?;
    Ok(sizes)
}

struct Reader<R> {
    dump: R,
    id_bytes: u64,
    /// Classes by identifier.
    classes: HashMap<u64, Class>,
    /// Instances, by class: a class may come after them.
    instances: HashMap<u64, u64>,
}

/// What a class adds to its instances. The instance size that a dump names is not that in the heap: references are counted
/// whole, and there is no header.
struct Class {
    superclass: u64,
    /// Bytes of its own fields in the heap.
    fields: u64,
}

impl<R: BufRead> Reader<R> {
    fn records(&mut self, sizes: &mut Sizes) -> io::Result<()> {
        let mut magic = [0; MAGIC.len()];
        self.dump.read_exact(&mut magic)?;
        if magic != MAGIC {
            return Err(bad("it does not begin as one"));
        }
        self.id_bytes = self.number(4)?;
        if ![4, 8].contains(&self.id_bytes) {
            return Err(bad(format!("{} bytes in an identifier", self.id_bytes)));
        }
        self.skip(8)?;
        while !self.dump.fill_buf()?.is_empty() {
            let tag = self.byte()?;
            self.skip(4)?;
            let length = self.number(4)?;
            match tag {
                HEAP_DUMP | HEAP_DUMP_SEGMENT => self.segment(length, sizes)?,
                _ => self.skip(length)?,
            }
            if os::stopped_by().is_some() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        for (class, count) in &self.instances {
            sizes.add(self.instance_bytes(*class)?, *count);
        }
        Ok(())
    }

    /// The bytes of an instance in the heap. HotSpot packs fields without gaps but for the last grain (since JDK 15 also those
    /// of a superclass), so that their sum tells.
    fn instance_bytes(&self, class: u64) -> io::Result<u64> {
        let (mut bytes, mut next) = (INSTANCE_HEADER_BYTES, class);
        while next != 0 {
            let class = self.classes.get(&next).ok_or_else(|| bad("an object is of no class"))?;
            bytes += class.fields;
            next = class.superclass;
        }
        Ok(bytes.next_multiple_of(GRAIN_BYTES))
    }

    fn segment(&mut self, length: u64, sizes: &mut Sizes) -> io::Result<()> {
        let mut left = length;
        while left > 0 {
            let taken = self.entry(sizes)?;
            left = left.checked_sub(taken).ok_or_else(|| bad("an object is longer than its segment"))?;
        }
        Ok(())
    }

    /// Reads one root, class or object; gives the bytes that it takes in the dump.
    fn entry(&mut self, sizes: &mut Sizes) -> io::Result<u64> {
        let id = self.id_bytes;
        let tag = self.byte()?;
        let rest = match tag {
            0x20 => self.class()?,
            // An instance: its identifier, a stack, its class, the length of its fields.
            0x21 => {
                self.skip(id + 4)?;
                let class = self.number(id)?;
                let length = self.number(4)?;
                self.skip(length)?;
                *self.instances.entry(class).or_default() += 1;
                id + 4 + id + 4 + length
            }
            // An array of references: identifier, stack, length, class.
            0x22 => {
                self.skip(id + 4)?;
                let length = self.number(4)?;
                self.skip(id + length * id)?;
                sizes.add(array_bytes(length, REFERENCE_BYTES), 1);
                id + 4 + 4 + id + length * id
            }
            // An array of numbers: identifier, stack, length, type.
            0x23 => {
                self.skip(id + 4)?;
                let length = self.number(4)?;
                let kind = self.byte()?;
                let element = self.value_bytes(kind)?;
                self.skip(length * element)?;
                sizes.add(array_bytes(length, element), 1);
                id + 4 + 4 + 1 + length * element
            }
            _ => {
                let bytes = root_bytes(tag, id)
                    .ok_or_else(|| bad(format!("something of the unknown kind {tag:#x}")))?;
                self.skip(bytes)?;
                bytes
            }
        };
        Ok(1 + rest)
    }

    /// A class: identifiers, the size of an instance, constants, static fields, fields.
    fn class(&mut self) -> io::Result<u64> {
        let id = self.id_bytes;
        let number = self.number(id)?;
        self.skip(4)?;
        let superclass = self.number(id)?;
        self.skip(5 * id + 4)?;
        let mut taken = id + 4 + 6 * id + 4;
        // Constants and static fields have a value.
        for name in [2, id] {
            let count = self.number(2)?;
            taken += 2;
            for _ in 0..count {
                self.skip(name)?;
                let kind = self.byte()?;
                let value = self.value_bytes(kind)?;
                self.skip(value)?;
                taken += name + 1 + value;
            }
        }
        let count = self.number(2)?;
        let mut fields = 0;
        for _ in 0..count {
            self.skip(id)?;
            let kind = self.byte()?;
            fields += if kind == REFERENCE { REFERENCE_BYTES } else { self.value_bytes(kind)? };
        }
        self.classes.insert(number, Class { superclass, fields });
        Ok(taken + 2 + count * (id + 1))
    }

    /// The bytes that a value of a type takes in the dump.
    fn value_bytes(&self, kind: u8) -> io::Result<u64> {
        match kind {
            REFERENCE => Ok(self.id_bytes),
            4 | 8 => Ok(1),
            5 | 9 => Ok(2),
            6 | 10 => Ok(4),
            7 | 11 => Ok(8),
            other => Err(bad(format!("a value of the unknown type {other}"))),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.dump.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn number(&mut self, bytes: u64) -> io::Result<u64> {
        let mut number = [0; 8];
        self.dump.read_exact(&mut number[8 - bytes as usize..])?;
        Ok(u64::from_be_bytes(number))
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut self.dump.by_ref().take(bytes), &mut io::sink())?;
        if skipped == bytes { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

fn bad(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

fn array_bytes(length: u64, element: u64) -> u64 {
    (ARRAY_HEADER_BYTES + length * element).next_multiple_of(GRAIN_BYTES)
}

/// The bytes after the tag of a root.
fn root_bytes(tag: u8, id: u64) -> Option<u64> {
    match tag {
        // Unknown, system class, monitor.
        0xff | 0x05 | 0x07 => Some(id),
        // Global reference of native code.
        0x01 => Some(2 * id),
        // Local reference of native code, frame, thread.
        0x02 | 0x03 | 0x08 => Some(id + 8),
        // Native stack, thread block.
        0x04 | 0x06 => Some(id + 4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dump by hand, with identifiers of 8 bytes.
    struct Dump(Vec<u8>);

    impl Dump {
        fn begin() -> Dump {
            let mut dump = Dump(MAGIC.to_vec());
            dump.put(&[0, 0, 0, 8]).put(&[0; 8]);
            // A name, which is passed over.
            dump.record(0x01, b"12345678name");
            dump
        }

        fn put(&mut self, bytes: &[u8]) -> &mut Dump {
            self.0.extend_from_slice(bytes);
            self
        }

        fn record(&mut self, tag: u8, body: &[u8]) {
            self.put(&[tag, 0, 0, 0, 0]).put(&(body.len() as u32).to_be_bytes()).put(body);
        }

        fn sizes(&self) -> Result<Vec<(u64, u64)>> {
            Ok(read(self.0.as_slice())?.iter().collect())
        }
    }

    fn id(number: u64) -> [u8; 8] {
        number.to_be_bytes()
    }

    /// A class with fields of these types. The instance size that it names is of no use.
    fn class(number: u64, superclass: u64, fields: &[u8]) -> Vec<u8> {
        let mut class = [&[0x20][..], &id(number), &[0; 4], &id(superclass), &[0; 40], &[9; 4]].concat();
        // One constant (int) and one static field (reference), which are no part of an instance.
        class.extend([&[0, 1, 0, 9, 10][..], &[0; 4]].concat());
        class.extend([&[0, 1][..], &id(70), &[REFERENCE], &id(71)].concat());
        class.extend([0, fields.len() as u8]);
        fields.iter().for_each(|field| class.extend([&id(72)[..], &[*field]].concat()));
        class
    }

    fn instance(of: u64) -> Vec<u8> {
        [&[0x21][..], &id(100), &[0; 4], &id(of), &[0, 0, 0, 16], &[0; 16]].concat()
    }

    fn references(length: u32) -> Vec<u8> {
        let elements = vec![0; 8 * length as usize];
        [&[0x22][..], &id(101), &[0; 4], &length.to_be_bytes(), &id(7), &elements].concat()
    }

    fn numbers(length: u32, kind: u8, bytes: usize) -> Vec<u8> {
        let elements = vec![0; bytes * length as usize];
        [&[0x23][..], &id(102), &[0; 4], &length.to_be_bytes(), &[kind], &elements].concat()
    }

    #[test]
    fn objects_are_counted_as_they_lie_in_the_heap() {
        let mut dump = Dump::begin();
        let roots = [&[0xff][..], &id(1), &[0x01], &id(1), &id(2), &[0x08], &id(3), &[0; 8]].concat();
        // The second segment has the class of an instance in the first, a subclass of the one here.
        let small = class(6, 0, &[4]);
        dump.record(HEAP_DUMP_SEGMENT, &[roots, instance(5), small, instance(6)].concat());
        let arrays = [references(3), numbers(0, 10, 4), numbers(5, 8, 1), numbers(2, 11, 8)];
        dump.record(
            HEAP_DUMP_SEGMENT,
            &[class(5, 6, &[11, REFERENCE]), arrays.concat(), instance(5)].concat(),
        );
        dump.record(0x2c, &[]);
        // int[0], and 12 + 1; byte[5]; 16 + 3 * 4, twice 12 + 1 + 8 + 4, long[2].
        assert_eq!(dump.sizes().unwrap(), [(16, 2), (24, 1), (32, 4)]);
    }

    #[test]
    fn what_is_no_dump_or_ends_too_early_is_an_error() {
        assert!(read(&b"no dump at all, really not"[..]).unwrap_err().to_string().contains("begin"));
        let mut dump = Dump::begin();
        dump.record(HEAP_DUMP, &numbers(1000, 8, 1));
        dump.0.truncate(dump.0.len() - 1);
        assert!(dump.sizes().is_err());
        let mut dump = Dump::begin();
        dump.record(HEAP_DUMP, &[0x77]);
        assert!(dump.sizes().unwrap_err().to_string().contains("unknown kind 0x77"));
        let mut dump = Dump::begin();
        dump.record(HEAP_DUMP, &instance(5));
        assert!(dump.sizes().unwrap_err().to_string().contains("no class"));
    }

    #[test]
    fn a_segment_ends_where_its_last_object_does() {
        let mut dump = Dump::begin();
        let array = numbers(8, 8, 1);
        dump.put(&[HEAP_DUMP, 0, 0, 0, 0]).put(&(array.len() as u32 - 1).to_be_bytes()).put(&array);
        assert!(dump.sizes().unwrap_err().to_string().contains("longer than its segment"));
    }
}
