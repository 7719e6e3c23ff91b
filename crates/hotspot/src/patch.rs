//! Exchanging entries of a vtable.
//!
//! HotSpot's vtables lie in `.data.rel.ro`, which the dynamic loader makes read-only after relocation. The pages are made writable,
//! aligned words stored, the pages made read-only again (not those that somebody else has made writable). The object's own vtable pointer is left alone: `jhsdb` knows the heap
//! by it.
//!
//! Two steps: [`Unlocked::of`] looks whether the entries still hold what they should and makes their pages writable, which fails before anything is
//! changed; [`Unlocked::exchange`] stores. That fails only where another agent changes an entry between the two, and then takes back what it has stored.
#![allow(
    clippy::disallowed_types,
    reason = "the entry is read by every thread of the JVM while it is exchanged"
)]

use crate::{Error, WORD};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// What is to stand in an entry in place of what stands there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Address of the entry.
    pub(crate) entry: usize,
    /// What has to stand there.
    pub(crate) original: usize,
    /// What will stand there.
    pub(crate) function: usize,
    /// HotSpot's name of the function.
    pub(crate) name: &'static str,
}

impl Exchange {
    /// What is to stand in this word in place of what stands there now.
    pub fn of(word: &'static AtomicUsize, function: usize, name: &'static str) -> Exchange {
        // Relaxed: nothing is read through the entry.
        let original = word.load(Ordering::Relaxed);
        Exchange { entry: std::ptr::from_ref(word) as usize, original, function, name }
    }

    /// The way back.
    pub fn back(self) -> Exchange {
        Exchange { original: self.function, function: self.original, ..self }
    }

    fn word(&self) -> &AtomicUsize {
        debug_assert_eq!(self.entry % WORD, 0);
        // SAFETY: an aligned word of a vtable of this process (`Slot` makes no others), or a word that lives as long as the process (`of`); all threads read it whole.
        unsafe { AtomicUsize::from_ptr(self.entry as *mut usize) }
    }

    fn store(&self) -> Result<(), usize> {
        // Release: who calls through the entry sees what the hook needs, which was made before. Relaxed where it fails: nothing is read through the entry.
        self.word()
            .compare_exchange(self.original, self.function, Ordering::Release, Ordering::Relaxed)
            .map(drop)
    }

    fn check(&self) -> Result<(), Error> {
        // Relaxed: nothing is read through the entry.
        if self.word().load(Ordering::Relaxed) == self.original {
            Ok(())
        } else {
            Err(Error::Taken { what: self.name })
        }
    }
}

/// How often who finds another copy of this library at work looks again, a millisecond each: the other needs microseconds, unless it has lost its CPU.
const LOOKS: u32 = 100;

/// The process's maps, held by one who changes pages at a time: a lock that copies of this library share, of which each has its own memory. `None`
/// where there is no /proc.
#[derive(Debug)]
struct Alone(File);

impl Alone {
    /// Looks so often.
    fn within(looks: u32) -> Result<Option<Alone>, Error> {
        let Ok(file) = File::open("/proc/self/maps") else { return Ok(None) };
        for look in 0..looks {
            // SAFETY: the descriptor is open.
            let taken = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0;
            // Where such files have no locks there is none.
            if !taken || std::io::Error::last_os_error().kind() != std::io::ErrorKind::WouldBlock {
                return Ok(Some(Alone(file)));
            }
            if look + 1 < looks {
                sleep(Duration::from_millis(1));
            }
        }
        Err(Error::Busy)
    }

    fn maps(&mut self) -> Option<String> {
        let mut text = String::new();
        self.0.read_to_string(&mut text).ok().map(|_| text)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        // Closing would do, but for a child that is forked meanwhile and becomes no other program: it has the descriptor, too.
        // SAFETY: the descriptor is open.
        unsafe { libc::flock(self.0.as_raw_fd(), libc::LOCK_UN) };
    }
}

/// Entries whose pages are writable. Dropped, the pages are as they were.
#[derive(Debug)]
pub struct Unlocked<'a> {
    exchanges: &'a [Exchange],
    /// Until the pages are as they were.
    _alone: Option<Alone>,
    /// Those made writable so far. A page that was writable is another agent's, which counts on that.
    pages: Vec<usize>,
    page_bytes: usize,
}

impl Unlocked<'_> {
    /// Makes the entries writable, if each holds what it should.
    pub fn of(exchanges: &[Exchange]) -> Result<Unlocked<'_>, Error> {
        Unlocked::within(exchanges, LOOKS)
    }

    /// The same where nobody may wait: refused where another copy is at work.
    pub fn at_once(exchanges: &[Exchange]) -> Result<Unlocked<'_>, Error> {
        Unlocked::within(exchanges, 1)
    }

    fn within(exchanges: &[Exchange], looks: u32) -> Result<Unlocked<'_>, Error> {
        // First, and cheap: who finds another's function asks again.
        exchanges.iter().try_for_each(Exchange::check)?;
        let mut alone = Alone::within(looks)?;
        // Once more: another copy may have been before.
        exchanges.iter().try_for_each(Exchange::check)?;
        let maps = alone.as_mut().and_then(Alone::maps);
        Unlocked::in_maps(exchanges, alone, maps.as_deref())
    }

    /// By the process's maps, if they can be read.
    fn in_maps<'a>(
        exchanges: &'a [Exchange],
        alone: Option<Alone>,
        maps: Option<&str>,
    ) -> Result<Unlocked<'a>, Error> {
        // SAFETY: sysconf has no preconditions.
        let page_bytes = (unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize).max(4096);
        let mut unlocked = Unlocked { exchanges, _alone: alone, pages: Vec::new(), page_bytes };
        for exchange in exchanges {
            let page = exchange.entry / page_bytes * page_bytes;
            if unlocked.pages.contains(&page) || maps.is_some_and(|maps| is_writable(maps, page)) {
                continue;
            }
            protect(page, page_bytes, libc::PROT_READ | libc::PROT_WRITE)?;
            // Where nobody can tell how it was (no descriptor is left, or no /proc is there), it stays writable: another agent may count on that.
            if maps.is_some() {
                unlocked.pages.push(page);
            }
        }
        Ok(unlocked)
    }

    /// Stores the functions, in their order: all of them or none. An entry that somebody else has changed meanwhile is left alone, and those before it are
    /// taken back, the last first, up to one that somebody else has changed by then, too: what is stored first is what the others rest on, and is
    /// never taken from below them.
    ///
    /// # Safety
    /// Each function must have the type of the one that it replaces, and live as long as the process, also where an error is returned: a thread may have
    /// called through an entry before it was taken back.
    pub unsafe fn exchange(self) -> Result<(), Error> {
        for (at, exchange) in self.exchanges.iter().enumerate() {
            if exchange.store().is_err() {
                let (what, before) = (exchange.name, &self.exchanges[..at]);
                let _ = before.iter().rev().try_for_each(|stored| stored.back().store());
                return Err(if before.is_empty() { Error::Taken { what } } else { Error::Lost { what } });
            }
        }
        Ok(())
    }
}

impl Drop for Unlocked<'_> {
    fn drop(&mut self) {
        for page in &self.pages {
            // Refused, the page stays writable, as it was a moment ago.
            let _ = protect(*page, self.page_bytes, libc::PROT_READ);
        }
    }
}

/// Whether the page at this address is writable, by the lines of `/proc/PID/maps`: `START-END rw-p ...`.
fn is_writable(maps: &str, page: usize) -> bool {
    let number = |text| usize::from_str_radix(text, 16).ok();
    let found = maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        (number(start)?..number(end)?).contains(&page).then(|| rest.starts_with("rw"))
    });
    found == Some(true)
}

fn protect(start: usize, bytes: usize, protection: i32) -> Result<(), Error> {
    // SAFETY: the page belongs to the library's relocated data, which is readable before, meanwhile and after.
    if unsafe { libc::mprotect(start as *mut libc::c_void, bytes, protection) } == 0 {
        return Ok(());
    }
    Err(Error::Protection { reason: std::io::Error::last_os_error().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// A page of its own with one entry, which stays mapped.
    fn entry(protection: i32) -> Exchange {
        // SAFETY: a new private mapping at an address of the kernel's choice disturbs no other memory.
        let page = unsafe {
            libc::mmap(std::ptr::null_mut(), 1, protection, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0)
        };
        assert_ne!(page, libc::MAP_FAILED);
        Exchange { entry: page as usize, original: 0, function: 7, name: "function" }
    }

    /// The lock is the process's, and so all tests'.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn maps() -> String {
        std::fs::read_to_string("/proc/self/maps").unwrap()
    }

    #[test]
    fn pages_are_afterwards_as_they_were() {
        let _others = alone();
        for (protection, writable) in [(libc::PROT_READ, false), (libc::PROT_READ | libc::PROT_WRITE, true)] {
            let exchange = entry(protection);
            assert_eq!(is_writable(&maps(), exchange.entry), writable);
            // SAFETY: nobody calls through this entry.
            unsafe { Unlocked::of(&[exchange]).unwrap().exchange().unwrap() };
            assert_eq!(exchange.back().check(), Ok(()));
            assert_eq!(is_writable(&maps(), exchange.entry), writable);
        }
    }

    /// As copies of the library do, which know nothing of each other: who takes the other's page for a writable one stores into a page that is not.
    #[test]
    fn one_changes_pages_at_a_time() {
        let _others = alone();
        let [first, second] = [(); 2].map(|()| [entry(libc::PROT_READ)]);
        let beside = [Exchange { entry: first[0].entry + WORD, ..first[0] }];
        let unlocked = Unlocked::of(&first).unwrap();
        for waits in [Unlocked::of, Unlocked::at_once] {
            assert_eq!(waits(&second).err(), Some(Error::Busy), "nobody else meanwhile");
        }
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                // However long the first is kept from its CPU.
                let unlocked = std::iter::repeat_with(|| Unlocked::of(&beside)).find_map(Result::ok).unwrap();
                // SAFETY: nobody calls through this entry.
                unsafe { unlocked.exchange().unwrap() };
            });
            std::thread::yield_now();
            // SAFETY: as above.
            unsafe { unlocked.exchange().unwrap() };
            other.join().unwrap();
        });
        assert_eq!((first[0].back().check(), beside[0].back().check()), (Ok(()), Ok(())));
        assert!(!is_writable(&maps(), first[0].entry));
    }

    #[test]
    fn a_child_that_was_forked_meanwhile_keeps_nobody_out() {
        let _others = alone();
        let exchanges = [entry(libc::PROT_READ)];
        let unlocked = Unlocked::of(&exchanges).unwrap();
        // SAFETY: the child calls nothing but what a signal's handler may call.
        let child = unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::pause();
                libc::_exit(0);
            }
            child
        };
        assert!(child > 0);
        drop(unlocked);
        let again = Unlocked::at_once(&exchanges).map(drop);
        // SAFETY: a child of ours, which is waited for here alone.
        unsafe {
            libc::kill(child, libc::SIGKILL);
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
        assert_eq!(again, Ok(()), "its descriptor is of the same lock");
    }

    #[test]
    fn a_page_of_which_nothing_is_known_stays_writable() {
        let exchange = entry(libc::PROT_READ | libc::PROT_WRITE);
        let exchanges = [exchange];
        drop(Unlocked::in_maps(&exchanges, None, None).unwrap());
        assert!(is_writable(&maps(), exchange.entry), "its owner counts on that");
    }

    /// Several entries on a page of their own.
    fn entries<const NUMBER: usize>() -> [Exchange; NUMBER] {
        let first = entry(libc::PROT_READ | libc::PROT_WRITE);
        std::array::from_fn(|at| Exchange { entry: first.entry + at * WORD, ..first })
    }

    fn found(exchanges: &[Exchange]) -> Vec<usize> {
        exchanges.iter().map(|exchange| exchange.word().load(Ordering::Relaxed)).collect()
    }

    /// Another agent, which comes between the look and the change.
    #[test]
    fn an_entry_that_is_changed_in_between_has_none_exchanged() {
        let _others = alone();
        for (taken, left, lost) in [
            (0, [9, 0, 0], Error::Taken { what: "function" }),
            (1, [0, 9, 0], Error::Lost { what: "function" }),
            (2, [0, 0, 9], Error::Lost { what: "function" }),
        ] {
            let exchanges = entries::<3>();
            let unlocked = Unlocked::of(&exchanges).unwrap();
            exchanges[taken].word().store(9, Ordering::Relaxed);
            // SAFETY: nobody calls through these entries.
            assert_eq!(unsafe { unlocked.exchange() }, Err(lost));
            assert_eq!(found(&exchanges), left);
        }
    }

    #[test]
    fn an_entry_that_somebody_else_has_changed_is_left_alone() {
        let exchange = Exchange { original: 5, ..entry(libc::PROT_READ) };
        assert!(Unlocked::of(&[exchange]).is_err());
        assert!(!is_writable(&maps(), exchange.entry) && !is_writable("", exchange.entry));
    }
}
