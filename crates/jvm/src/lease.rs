//! What we have put into somebody else's JVM goes when we are no more, also if we are killed: the agent stays as long as it hears of us.

use crate::{Error, Result};
use control::Control;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long it stays without. Longer than a busy machine, or a debugger's user, keeps a command from its CPU by chance.
pub const SECONDS: u32 = 30;
/// How often it hears of us.
const STEP: Duration = Duration::from_secs(1);

/// Renews until it is dropped.
pub struct Lease {
    control: Arc<Control>,
    end: Option<Sender<()>>,
    renewing: Option<JoinHandle<()>>,
}

impl Lease {
    /// For the agent that is in a JVM now.
    pub fn hold(pid: u32) -> Result<Lease> {
        let control = Control::of_process(pid)?.ok_or_else(|| Error::failed("the JVM has just ended"))?;
        Lease::of(Arc::new(control))
    }

    /// By a thread of its own: others wait for answers of the JVM, or measure.
    pub(crate) fn of(control: Arc<Control>) -> Result<Lease> {
        let (end, ended) = mpsc::channel();
        let renewed = Arc::clone(&control);
        let renew = move || {
            renewed.renew();
            while ended.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                renewed.renew();
            }
        };
        let renewing = std::thread::Builder::new()
            .name("lease".into())
            .spawn(renew)
            .map_err(|error| Error::failed(format!("no thread for the agent's lease: {error}")))?;
        Ok(Lease { control, end: Some(end), renewing: Some(renewing) })
    }

    /// Whether what we have put there is still ours: `terrace on` makes it its user's. Also whoever has switched it looks afterwards, and takes that back.
    pub fn stands(&self) -> bool {
        self.control.is_leased()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        drop(self.end.take());
        // It ends at once.
        let _ = self.renewing.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_buffers_are_switched_on_for_good() {
        let control = Arc::new(Control::anonymous(&[1]).unwrap());
        control.set_lease(SECONDS);
        let lease = Lease::of(Arc::clone(&control)).unwrap();
        assert!(lease.stands());
        control.ask_to_stay();
        assert!(!lease.stands());
    }

    #[test]
    fn it_is_renewed_as_long_as_it_is_held() {
        let control = Arc::new(Control::anonymous(&[1]).unwrap());
        let lease = Lease::of(Arc::clone(&control)).unwrap();
        while control.renewals() < 2 {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(lease);
        assert_eq!(Arc::strong_count(&control), 1, "nobody renews any more");
    }
}
