//! Windows inside a JVM that somebody else has started: buffers on against off, and off when it is over.

use crate::estimate::{Estimate, estimate};
use crate::measure::Amount;
use crate::windows::{self, SKIP, Subject, WINDOW, Way, WindowPlan};
use control::Mode;
use jvm::counts::Counts;
use jvm::observe::Jvms;
use jvm::{Error, Result, os};
use present::progress::Progress;
use std::path::PathBuf;
use std::time::Duration;

struct InPlace {
    jvms: Jvms,
    process: PathBuf,
}

impl Subject for InPlace {
    fn switch(&mut self, way: Way) {
        self.jvms.switch(way.mode);
        self.jvms.refresh_threads();
    }

    fn wait(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Also the place where the user's Ctrl-C is seen: at both ends of each window.
    fn counts(&mut self) -> Result<Counts> {
        os::stopped_by().map_or(Ok(()), |signal| Err(Error::interrupted(signal)))?;
        Ok(self.jvms.counts())
    }

    fn ended(&mut self) -> Result<bool> {
        Ok(!self.process.exists())
    }
}

impl Drop for InPlace {
    fn drop(&mut self) {
        self.jvms.switch(Mode::Off);
    }
}

/// On against off, by the bytes that the program allocates, in a JVM that has the agent with buffers.
pub fn measure(pid: u32, duration: Duration, seed: u64, progress: &Progress) -> Result<Estimate> {
    let process = PathBuf::from(format!("/proc/{pid}"));
    let mut live = InPlace { jvms: Jvms::of_process(pid)?, process };
    progress.start("comparing buffers on and off in the running JVM", duration);
    let plan = WindowPlan {
        a: Mode::On.into(),
        b: Mode::Off.into(),
        window: WINDOW,
        skip: SKIP,
        duration,
        precision: None,
        seed,
    };
    let pairs = windows::run(&mut live, &plan, |passed| progress.passed(passed))?;
    progress.finish();
    if let Some(why) = live.jvms.uncounted() {
        return Err(Error::failed(why));
    }
    estimate(&pairs, Amount::Bytes).ok_or_else(|| {
        Error::failed(
            "the program allocated nothing during the measurement; try again while it has work to do",
        )
    })
}
