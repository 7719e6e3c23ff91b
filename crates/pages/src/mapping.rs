//! Anonymous memory on pages of a kind.

use crate::error::{Error, Result};
use crate::fallback::Fallback;
use crate::mappings::Mappings;
use crate::obtained::Obtained;
use crate::policy::{Policy, small_page_bytes};
use crate::size::PageSize;
use std::ptr::NonNull;

const OUT_OF_MEMORY: &str = "request fewer bytes, or free memory";

/// Anonymous private memory, zero where nothing was written; unmapped when dropped.
///
/// Small and transparent pages are promised without a reservation of memory, so that address space can be had generously; pages of
/// a pool are reserved in it when they are mapped. Inaccessible pages lie on both sides of small and transparent mappings: a run
/// over the end is caught, and the kernel never joins two mappings, so that [`Mapping::obtained`] counts this one alone.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    len: usize,
    policy: Policy,
}

// SAFETY: a mapping belongs to the process, not to a thread; shared access gives shared slices and plain numbers only.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps at least `bytes`, rounded up to whole pages of the kind; untouched. An error says what to do to get such pages.
    pub fn new(bytes: usize, policy: Policy) -> Result<Mapping> {
        let granule = policy.granule();
        let len = (bytes.max(1).checked_next_multiple_of(granule))
            .filter(|len| *len <= isize::MAX as usize)
            .ok_or_else(|| Error::new(format!("cannot map {bytes} bytes; {OUT_OF_MEMORY}")))?;
        match policy {
            Policy::Explicit(size) => Mapping::explicit(len, size),
            Policy::Small | Policy::Transparent => {
                policy.available(len)?;
                Mapping::between_guards(len, granule, policy)
            }
        }
    }

    /// The same with every page touched.
    pub fn touched(bytes: usize, policy: Policy) -> Result<Mapping> {
        let mut mapping = Mapping::new(bytes, policy)?;
        mapping.touch()?;
        Ok(mapping)
    }

    /// Maps on pages of this kind, or of the next smaller kind that can be had, and says so.
    pub fn or_smaller(bytes: usize, policy: Policy) -> Result<(Mapping, Option<Fallback>)> {
        let mut reasons = Vec::new();
        let mut used = policy;
        loop {
            match (Mapping::new(bytes, used), used.smaller()) {
                (Ok(mapping), _) if reasons.is_empty() => return Ok((mapping, None)),
                (Ok(mapping), _) => return Ok((mapping, Some(Fallback { asked: policy, used, reasons }))),
                (Err(reason), Some(smaller)) => {
                    reasons.push(reason);
                    used = smaller;
                }
                (Err(reason), None) => return Err(reason),
            }
        }
    }

    fn explicit(len: usize, size: PageSize) -> Result<Mapping> {
        let base = map(len, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_HUGETLB | size.flag()).ok_or_else(
            || {
                // The pool's own words are better than the kernel's "out of memory".
                let failed =
                    Error::last(&format!("mapping {len} bytes on explicit {size} pages"), OUT_OF_MEMORY);
                Policy::Explicit(size).available(len).err().unwrap_or(failed)
            },
        )?;
        Ok(Mapping { base, len, policy: Policy::Explicit(size) })
    }

    /// As [`Mapping::or_smaller`] for `len` bytes, whole pages of the kind, without a word about what could not be had: allocates nothing,
    /// also where it fails. `policy` is one that the system has; where it is not that of small pages,
    /// [`transparent_page_bytes`](crate::transparent_page_bytes) was called before: it reads a file the first time.
    pub fn silently(len: usize, policy: Policy) -> Option<Mapping> {
        let mapped = match policy {
            Policy::Explicit(size) => {
                map(len, libc::PROT_READ | libc::PROT_WRITE, libc::MAP_HUGETLB | size.flag())
                    .map(|base| Mapping { base, len, policy })
            }
            Policy::Small | Policy::Transparent => Mapping::guarded(len, policy.granule(), policy),
        };
        match (mapped, policy.smaller()) {
            (None, Some(smaller)) => Mapping::silently(len, smaller),
            (mapped, _) => mapped,
        }
    }

    /// The same at an address, a multiple of the kind's pages, or not at all: also where something lies there already.
    pub fn silently_at(address: usize, len: usize, policy: Policy) -> Option<Mapping> {
        let mapped = match policy {
            Policy::Explicit(size) => {
                let flags = libc::MAP_HUGETLB | size.flag();
                map_at(address, len, libc::PROT_READ | libc::PROT_WRITE, flags).map(|base| Mapping {
                    base,
                    len,
                    policy,
                })
            }
            Policy::Small | Policy::Transparent => {
                let guard = small_page_bytes();
                let room = len.checked_add(2 * guard)?;
                map_at(address.checked_sub(guard)?, room, libc::PROT_NONE, libc::MAP_NORESERVE)
                    // SAFETY: a guard, `len` and a guard are the room that was mapped just now.
                    .and_then(|start| unsafe { Mapping::inside(start.add(guard), len, policy) })
            }
        };
        match (mapped, policy.smaller()) {
            (None, Some(smaller)) => Mapping::silently_at(address, len, smaller),
            (mapped, _) => mapped,
        }
    }

    /// Gives up the mapping without unmapping it; [`Mapping::from_raw`] takes it up again.
    pub fn into_raw(self) -> (NonNull<u8>, usize, Policy) {
        let mapping = std::mem::ManuallyDrop::new(self);
        (mapping.base, mapping.len, mapping.policy)
    }

    /// The mapping that [`Mapping::into_raw`] gave up.
    ///
    /// # Safety
    /// From there, once, and nobody uses the memory otherwise.
    pub unsafe fn from_raw(base: NonNull<u8>, len: usize, policy: Policy) -> Mapping {
        Mapping { base, len, policy }
    }

    fn between_guards(len: usize, granule: usize, policy: Policy) -> Result<Mapping> {
        let what = || format!("mapping {len} bytes on {policy}");
        len.checked_add(granule + 2 * small_page_bytes())
            .ok_or_else(|| Error::new(format!("{}: too many bytes; {OUT_OF_MEMORY}", what())))?;
        Mapping::guarded(len, granule, policy).ok_or_else(|| Error::last(&what(), OUT_OF_MEMORY))
    }

    /// `len` bytes at a multiple of the granule, with an inaccessible page on either side and nothing else.
    fn guarded(len: usize, granule: usize, policy: Policy) -> Option<Mapping> {
        let guard = small_page_bytes();
        // A mapping begins at a small page; more than that is made of room to spare.
        let spare = if granule > guard { granule } else { 0 };
        let room = len.checked_add(spare + 2 * guard)?;
        let start = map(room, libc::PROT_NONE, libc::MAP_NORESERVE)?;
        let first = start.addr().get() + guard;
        let skip = first.next_multiple_of(granule) - first;
        // SAFETY: `skip` is at most the spare room, and a guard, `len` and a guard fit into the rest.
        let (whole, base) = unsafe { (start.add(skip), start.add(skip + guard)) };
        unmap(start, skip);
        // SAFETY: as above: the end of what is kept, inside the room or at its end.
        unmap(unsafe { whole.add(len + 2 * guard) }, spare - skip);
        // SAFETY: a guard, `len` and a guard are what is left of the room.
        unsafe { Mapping::inside(base, len, policy) }
    }

    /// Makes `len` bytes usable that lie between two guards of a new mapping, or gives all of it up.
    ///
    /// # Safety
    /// An inaccessible mapping of the caller's has a small page, these bytes, and a small page.
    unsafe fn inside(base: NonNull<u8>, len: usize, policy: Policy) -> Option<Mapping> {
        let mapping = Mapping { base, len, policy };
        let at = base.as_ptr().cast();
        // SAFETY: the range lies inside the new mapping, which nobody else knows.
        if unsafe { libc::mprotect(at, len, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return None;
        }
        let advice = if policy == Policy::Small { libc::MADV_NOHUGEPAGE } else { libc::MADV_HUGEPAGE };
        // SAFETY: as above; the advice changes no contents.
        let advised = unsafe { libc::madvise(at, len, advice) } == 0;
        // A kernel without transparent huge pages does not know the advice, and gives small ones.
        (advised || policy == Policy::Small).then_some(mapping)
    }

    /// The first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.base.as_ptr()
    }

    /// The first byte, to write to.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Bytes that can be used: those asked for, rounded up to whole pages of the kind.
    #[allow(clippy::len_without_is_empty, reason = "there is always a page")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// What was asked for.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// All of it, to read. Reading a page that was never touched does not find memory for it.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: readable, zero where nothing was written, alive as long as `self`; writing needs `&mut self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.len) }
    }

    /// All of it.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as in `as_slice`, writable, and borrowed by nobody else because `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr(), self.len) }
    }

    /// Makes the kernel find memory for every page now. The contents stay. An error where it finds none, instead of a signal
    /// later.
    pub fn touch(&mut self) -> Result<()> {
        let at = self.base.as_ptr().cast();
        // SAFETY: the mapping is ours and writable; populating changes no contents.
        if unsafe { libc::madvise(at, self.len, libc::MADV_POPULATE_WRITE) } == 0 {
            return Ok(());
        }
        // Linux before 5.14 does not know the advice.
        if std::io::Error::last_os_error().raw_os_error() != Some(libc::EINVAL) {
            return Err(Error::last(
                &format!("touching {} bytes on {}", self.len, self.policy),
                OUT_OF_MEMORY,
            ));
        }
        for page in self.as_mut_slice().chunks_mut(small_page_bytes()) {
            let byte = &raw mut page[0];
            // SAFETY: `byte` points into the page, which is borrowed mutably. Volatile: the write must happen.
            unsafe { byte.write_volatile(byte.read_volatile()) };
        }
        Ok(())
    }

    /// Gives the memory back to the kernel; the addresses stay, and read zero.
    pub fn discard(&mut self) -> Result<()> {
        // SAFETY: the mapping is ours, anonymous and private, and no slice of it is alive because `self` is borrowed mutably.
        if unsafe { libc::madvise(self.base.as_ptr().cast(), self.len, libc::MADV_DONTNEED) } == 0 {
            return Ok(());
        }
        Err(Error::last(
            &format!("returning {} bytes on {}", self.len, self.policy),
            "unmap the memory instead (explicit pages can be returned since Linux 5.18)",
        ))
    }

    /// Bytes on pages of each kind that are resident now, as the kernel counts them.
    pub fn obtained(&self) -> Result<Obtained> {
        let start = self.base.as_ptr() as usize;
        Mappings::of_this_process()?.of_whole_mappings(&(start..start + self.len))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        let guard = match self.policy {
            Policy::Explicit(_) => 0,
            Policy::Small | Policy::Transparent => small_page_bytes(),
        };
        // SAFETY: mapped with the guard before it.
        unmap(unsafe { self.base.sub(guard) }, self.len + 2 * guard);
    }
}

/// Unmaps so many bytes, which nobody uses any more.
fn unmap(start: NonNull<u8>, len: usize) {
    if len > 0 {
        // SAFETY: mapped by this module, and nothing borrowed from it is alive.
        unsafe { libc::munmap(start.as_ptr().cast(), len) };
    }
}

/// New anonymous private memory at this address, or none: what lies there already stays.
fn map_at(address: usize, len: usize, protection: libc::c_int, flags: libc::c_int) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | flags;
    let at = std::ptr::without_provenance_mut::<libc::c_void>(address);
    // SAFETY: a mapping that replaces nothing disturbs no other memory.
    let start = unsafe { libc::mmap(at, len, protection, flags, -1, 0) };
    let mapped = if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast::<u8>()) }?;
    if start.addr() == address {
        return Some(mapped);
    }
    // Linux before 4.17 takes the address for a hint.
    unmap(mapped, len);
    None
}

/// New anonymous private memory at an address of the kernel's choice.
fn map(len: usize, protection: libc::c_int, flags: libc::c_int) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags;
    // SAFETY: a new mapping at an address of the kernel's choice disturbs no other memory.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), len, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::transparent_page_bytes;
    use crate::pool::Pool;

    #[test]
    fn small_pages_are_obtained_when_they_are_touched_and_given_back() {
        let bytes = 8 << 20;
        let mut mapping = Mapping::new(bytes, Policy::Small).unwrap();
        assert_eq!((mapping.len(), mapping.obtained().unwrap().resident()), (bytes, 0));
        mapping.touch().unwrap();
        let obtained = mapping.obtained().unwrap();
        assert_eq!((obtained.small, obtained.huge()), (bytes as u64, 0));
        mapping.as_mut_slice()[bytes - 1] = 7;
        assert_eq!(mapping.as_slice()[bytes - 1], 7);
        mapping.discard().unwrap();
        assert_eq!((mapping.as_slice()[bytes - 1], mapping.obtained().unwrap().small), (0, 0));
    }

    #[test]
    fn touching_keeps_what_was_written() {
        let mut mapping = Mapping::new(3 * small_page_bytes(), Policy::Small).unwrap();
        mapping.as_mut_slice()[small_page_bytes()] = 9;
        mapping.touch().unwrap();
        assert_eq!(mapping.as_slice().iter().map(|byte| u64::from(*byte)).sum::<u64>(), 9);
    }

    #[test]
    fn neighbours_are_counted_apart() {
        let mut mappings: Vec<Mapping> =
            (0..4).map(|_| Mapping::new(1 << 20, Policy::Small).unwrap()).collect();
        mappings[2].touch().unwrap();
        let resident: Vec<u64> =
            mappings.iter().map(|mapping| mapping.obtained().unwrap().resident()).collect();
        assert_eq!(resident, [0, 0, 1 << 20, 0]);
    }

    #[test]
    fn transparent_pages_are_aligned_and_counted() {
        let bytes = 4 * transparent_page_bytes();
        let mut mapping = match Mapping::new(bytes - 1, Policy::Transparent) {
            Ok(mapping) => mapping,
            Err(reason) => return skips::skip!("{reason}"),
        };
        assert_eq!((mapping.len(), mapping.as_ptr() as usize % transparent_page_bytes()), (bytes, 0));
        mapping.touch().unwrap();
        let obtained = mapping.obtained().unwrap();
        // How many of them are huge is the kernel's affair; that they add up is ours.
        assert_eq!(obtained.small + obtained.transparent, bytes as u64);
    }

    #[test]
    fn an_empty_pool_is_an_error_that_names_the_command_or_a_reported_fallback() {
        let size = PageSize::OneGigabyte;
        let Ok(pool) = Pool::find(size) else {
            return skips::skip!("this machine has no pool of 1 GB pages");
        };
        if pool.available() + pool.overcommit > 0 {
            return skips::skip!("the pool of 1 GB pages is not empty");
        }
        let error = Mapping::new(1, Policy::Explicit(size)).unwrap_err().to_string();
        assert!(error.contains("echo") && error.contains("hugepages-1048576kB/nr_hugepages"), "{error}");
        let (mapping, fallback) = Mapping::or_smaller(1 << 20, Policy::Explicit(size)).unwrap();
        let fallback = fallback.unwrap();
        assert_eq!((fallback.asked, fallback.used), (Policy::Explicit(size), mapping.policy()));
        assert!(fallback.to_string().contains("instead of explicit 1 GB pages: 0 of 1"), "{fallback}");
    }

    #[test]
    fn address_space_is_generous_and_its_end_an_error() {
        assert!(Mapping::new(1 << 40, Policy::Small).is_ok());
        for bytes in [1 << 62, usize::MAX] {
            let error = Mapping::new(bytes, Policy::Small).unwrap_err().to_string();
            assert!(error.contains(OUT_OF_MEMORY), "{error}");
        }
    }

    #[test]
    fn an_address_is_had_only_where_nothing_lies() {
        let len = 4 * small_page_bytes();
        let first = Mapping::new(len, Policy::Small).unwrap();
        let at = first.as_ptr().addr();
        assert!(Mapping::silently_at(at, len, Policy::Small).is_none());
        // Another thread may map there in between.
        let again = (0..10).find_map(|_| {
            let mapping = Mapping::new(len, Policy::Small).unwrap();
            let at = mapping.as_ptr().addr();
            drop(mapping);
            Some((at, Mapping::silently_at(at, len, Policy::Small)?))
        });
        let (at, mut mapping) = again.unwrap();
        assert_eq!((mapping.as_ptr().addr(), mapping.len(), mapping.policy()), (at, len, Policy::Small));
        mapping.as_mut_slice().fill(7);
        assert!(mapping.as_slice().iter().all(|byte| *byte == 7));
    }

    #[test]
    fn what_fits_needs_no_fallback() {
        assert!(Mapping::or_smaller(1, Policy::Small).unwrap().1.is_none());
    }
}
