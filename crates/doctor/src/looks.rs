//! What is seen of a JVM between the two moments: its threads a few times, its counters all the time.

use crate::causes::Counting;
use crate::moment::{self, Waste};
use crate::watched::{ACCOUNTS, Watch};
use crate::{missing, stops};
use jvm::attach::Attached;
use jvm::new_threads::NewThreads;
use jvm::perfdata::PerfData;
use jvm::thread_dump::{self, JavaThread};
use jvm::{Error, Result, os};
use present::progress::Progress;
use std::time::{Duration, Instant};

/// Counters are looked at so often: those of a TLAB's waste hold from one collection to the next.
const STEP: Duration = Duration::from_millis(50);
/// Threads are looked at so often; each look is a safepoint, in which every thread's stack is walked.
const LOOKS: u32 = 4;
/// Of more threads than these only the first and the last look are taken, of still more none: the pauses would be felt.
const MANY: u64 = 1_000;
const TOO_MANY: u64 = 10_000;

/// What was seen between the two ends.
#[derive(Default)]
pub(crate) struct Looks {
    /// The threads at each look.
    pub(crate) threads: Vec<Vec<JavaThread>>,
    /// Why they were not listed at the last look, if so.
    pub(crate) unlisted: Option<String>,
    /// Who had requested a first TLAB at the first look.
    pub(crate) new_threads: Option<NewThreads>,
    pub(crate) waste: Waste,
    pub(crate) causes: Counting,
    /// The sum of eden's sizes, and of how many.
    pub(crate) sizes: (f64, u32),
    /// Seconds for which thread dumps stopped the program.
    pub(crate) stopped_by_dumps: f64,
    /// The counters when they were last read. A JVM that ends takes them with it.
    pub(crate) last: Option<(Instant, PerfData)>,
}

impl Watch<'_> {
    /// Looks at threads a few times, and at counters all the time.
    pub(crate) fn look(&mut self, length: Duration, progress: &Progress) -> Result<Looks> {
        let since = Instant::now();
        let (mut looks, mut looked) = (Looks::default(), 0);
        let mut attached = self.jvm.attached;
        let perf = self.counters();
        let threads = perf.as_ref().and_then(|perf| perf.get("java.threads.live")).unwrap_or(0);
        let mut seen = perf.map(|perf| Waste::retirements(&perf));
        if threads > TOO_MANY {
            looks.unlisted = Some(missing::of_many_threads(threads));
        }
        loop {
            if let Some(signal) = os::stopped_by() {
                return Err(Error::interrupted(signal));
            }
            let passed = since.elapsed();
            let due = length * looked / (LOOKS - 1);
            if passed >= due.min(length) && looked < LOOKS {
                looked += 1;
                let is_taken = threads <= MANY || (threads <= TOO_MANY && (looked == 1 || looked == LOOKS));
                match attached.filter(|_| is_taken).map(|jvm| self.dump(jvm, &mut looks)) {
                    Some(Ok(mut threads)) => {
                        let accounts =
                            self.accounts.as_ref().and_then(|accounts| accounts.of_each_within(ACCOUNTS));
                        moment::count_exactly(&mut threads, &accounts.unwrap_or_default());
                        if looked == 1 {
                            looks.new_threads = self.jvm.control.and_then(NewThreads::read);
                        }
                        looks.threads.push(threads);
                    }
                    // A JVM that ends meanwhile has no threads to show, and JDK 8 does not know what is asked.
                    Some(Err(error)) => {
                        attached = attached.filter(|_| !error.ends_asking());
                        looks.unlisted = Some(error.to_string());
                    }
                    None => {}
                }
                self.jvm.system.look(self.jvm.pid, &mut self.whereabouts);
            }
            if let Some(perf) = self.counters() {
                looks.waste.add(&perf, &mut seen);
                looks.causes.add(&perf);
                if let Some(bytes) = perf.get("sun.gc.generation.0.space.0.capacity") {
                    looks.sizes = (looks.sizes.0 + bytes as f64, looks.sizes.1 + 1);
                }
                looks.last = Some((Instant::now(), perf));
            }
            if passed >= length || !os::is_running(self.jvm.pid) {
                return Ok(looks);
            }
            progress.passed(passed);
            std::thread::sleep(STEP.min(length - passed));
        }
    }

    /// The threads now. The counters are read right before and right after: all that stops threads meanwhile, but for collections, is taken to be the dump.
    fn dump(&self, jvm: &Attached, looks: &mut Looks) -> Result<Vec<JavaThread>> {
        let before = self.counters();
        let threads = thread_dump::of(jvm);
        if let Some((before, after)) = before.zip(self.counters()) {
            looks.stopped_by_dumps += stops::otherwise(&before, &after).unwrap_or(0.0);
            looks.last = Some((Instant::now(), after));
        }
        threads
    }
}
