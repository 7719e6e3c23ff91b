//! Which threads have asked for their first TLAB, by the names that the kernel has for them: it tells of threads that ended before anybody could meet them.

use crate::printable;
use control::View;
use control::new_threads::ThreadKind;
use std::collections::BTreeMap;

/// What stands for the middle of a name that HotSpot has shortened to its beginning of seven bytes and its end of six (`os::set_native_thread_name`, JDK 26 and later; earlier ones keep
/// the first fifteen).
const DOTS: &[u8] = b"..";
const HEAD: usize = 7;

/// Threads of each kind, and those of kinds for which there was no room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewThreads {
    pub kinds: BTreeMap<ThreadKind, u64>,
    pub others: u64,
}

impl NewThreads {
    /// All that an agent has counted so far; `None` if it does not.
    pub fn read(view: &View) -> Option<NewThreads> {
        let threads = view.new_threads()?;
        Some(NewThreads { kinds: threads.kinds().collect(), others: threads.others() })
    }

    /// What came since an earlier reading.
    pub fn since(&self, earlier: &NewThreads) -> NewThreads {
        let more = |kind: &ThreadKind, threads: u64| {
            threads.saturating_sub(earlier.kinds.get(kind).copied().unwrap_or_default())
        };
        let kinds = self.kinds.iter().map(|(kind, threads)| (*kind, more(kind, *threads)));
        NewThreads {
            kinds: kinds.filter(|(_, threads)| *threads > 0).collect(),
            others: self.others.saturating_sub(earlier.others),
        }
    }
}

/// Whether threads of a group ([`crate::thread_dump::JavaThread::group`]) may be of this kind.
pub fn may_be_of(kind: &ThreadKind, group: &str) -> bool {
    let (known, group) = (kind.text(), group.as_bytes());
    // Numbers in the beginning have become shorter.
    let shortened = || {
        let at = known.windows(DOTS.len()).position(|two| two == DOTS).filter(|at| *at <= HEAD)?;
        Some((&known[..at], &known[at + DOTS.len()..]))
    };
    known == group
        || kind.is_full()
            && (group.starts_with(known)
                || shortened().is_some_and(|(head, tail)| group.starts_with(head) && group.ends_with(tail)))
}

/// The name of a kind, as far as it is known: that of the only group that it may be of, each of which comes once.
pub fn name<'a>(kind: &ThreadKind, groups: impl IntoIterator<Item = &'a str>) -> String {
    let possible: Vec<&str> = groups.into_iter().filter(|group| may_be_of(kind, group)).collect();
    match possible.as_slice() {
        [only] => (*only).to_owned(),
        _ => printable::line(&String::from_utf8_lossy(kind.text())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::{Control, Counted};

    fn kind(text: &str) -> ThreadKind {
        let mut name = [0; 16];
        name[..text.len()].copy_from_slice(text.as_bytes());
        ThreadKind::of(name)
    }

    #[test]
    fn names_that_were_shortened_are_recognized() {
        let groups = ["Thread-N", "http-nio-N-exec-N", "worker", "worker-of-many-N"];
        let of = |text: &str| name(&kind(text), groups);
        assert_eq!(of("Thread-1234567"), "Thread-N");
        assert_eq!(of("worker"), "worker", "not a part of a longer one");
        // As the kernel has "http-nio-8080-exec-12", and as HotSpot has had it since JDK 26.
        assert_eq!(
            [of("http-nio-8080-e"), of("http-ni..xec-12"), of("http-ni..ec-120")],
            ["http-nio-N-exec-N"; 3]
        );
        assert_eq!(of("worker-..any-17"), "worker-of-many-N");
        assert_eq!(of("http-12..ec-120"), "http-N..ec-N", "of another kind");
        assert_eq!(name(&kind("pool-12..ad-100"), ["pool-N-thread-N"]), "pool-N-thread-N");
        // In the middle of a letter.
        let name_of_15_bytes = *b"Arbeitsfaeden-\xc3\0";
        assert_eq!(name(&ThreadKind::of(name_of_15_bytes), ["Arbeitsfaeden-\u{e4}"]), "Arbeitsfaeden-\u{e4}");
        // Of nobody who was met, and of two.
        assert_eq!(of("http-ni..spool-"), "http-ni..spool-");
        assert_eq!(of("gnat-7"), "gnat-N");
        assert_eq!(
            name(&kind("a name of fifte"), ["a name of fifteen", "a name of fifteens"]),
            "a name of fifte"
        );
    }

    #[test]
    fn those_that_came_since_a_reading() {
        let control = Control::anonymous(Counted { levels: &[1], timed: 1 }).unwrap();
        let record = |text: &[u8; 16]| control.new_threads().unwrap().count(|| 0, || *text);
        record(b"task-1\0\0\0\0\0\0\0\0\0\0");
        record(b"old\0\0\0\0\0\0\0\0\0\0\0\0\0");
        let earlier = NewThreads::read(&control).unwrap();
        record(b"task-2\0\0\0\0\0\0\0\0\0\0");
        record(b"new\0\0\0\0\0\0\0\0\0\0\0\0\0");
        let since = NewThreads::read(&control).unwrap().since(&earlier);
        assert_eq!(since.kinds, [(kind("new"), 1), (kind("task-1"), 1)].into());
        assert_eq!(NewThreads::read(&Control::anonymous(&[1]).unwrap()), None);
    }
}
