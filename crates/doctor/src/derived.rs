//! What follows from the numbers that were seen: shares of the time, rates of collections, and what they would be with another eden.

use crate::causes::Rates;
use crate::evidence::Evidence;

/// Of eden's size, which is what it was made to be, and is looked at from time to time.
const MARGIN: f64 = 1.1;
/// Of eden: more than half cannot be left unused by TLABs that HotSpot gives.
const MOST_UNUSED: f64 = 0.5;
/// Collections to go by.
const ENOUGH: u64 = 5;

impl Evidence {
    /// Share of the time in which all threads stood still.
    pub fn stopped_share(&self) -> Option<f64> {
        Some((self.eden.stopped? / self.seconds).clamp(0.0, 1.0))
    }

    /// Share of the time in which they stood still for collections.
    pub fn collecting_share(&self) -> Option<f64> {
        Some((self.eden.collecting? / self.seconds).clamp(0.0, 1.0))
    }

    /// Share of the time in which they stood still for anything else.
    pub fn otherwise_stopped_share(&self) -> Option<f64> {
        Some((self.stopped_share()? - self.collecting_share()?).max(0.0))
    }

    /// Bytes that fill eden: its size, which collectors change, as it was on average where that can be told. `None` where other causes always
    /// empty it before it is full.
    pub fn bytes_of_eden(&self) -> Option<f64> {
        let counted = self.eden.collections.is_some_and(|count| count >= ENOUGH);
        let bytes = match &self.allocation {
            Some(allocation) if counted => {
                let filled = allocation.used / self.seconds * self.collection_rates()?.fill();
                // Humongous objects do not fill it: it is no larger than the collector says.
                self.eden.mean_bytes.map_or(filled, |most| filled.min(most * MARGIN))
            }
            _ => self.eden.bytes?,
        };
        (bytes > 0.0 && bytes.is_finite()).then_some(bytes)
    }

    /// Collections a second by what brings them. Where nobody said, it is a full eden.
    pub fn collection_rates(&self) -> Option<Rates> {
        let (all, causes) = (self.collections_a_second()?, &self.eden.causes);
        let share = |count: u64| count as f64 / causes.all() as f64;
        let (full, following) = match causes.all() {
            known if known >= ENOUGH => (share(causes.full_eden()), share(causes.following())),
            _ => (1.0, 0.0),
        };
        let others = (1.0 - full - following).max(0.0);
        Some(Rates { full: all * full, others: all * others, following: all * following })
    }

    /// Share of the collections that came for a cause; 0 where too few came to tell.
    pub fn share_of_cause(&self, cause: &str) -> f64 {
        let causes = &self.eden.causes;
        if causes.all() < ENOUGH { 0.0 } else { causes.of(cause) as f64 / causes.all() as f64 }
    }

    /// Collections a second, as they were counted where that is enough to go by.
    pub fn collections_a_second(&self) -> Option<f64> {
        match (self.eden.collections, &self.allocation, self.eden.bytes) {
            (Some(count), ..) if count >= ENOUGH => Some(count as f64 / self.seconds),
            (_, Some(allocation), Some(eden)) if eden > 0.0 => Some(allocation.used / eden / self.seconds),
            (count, ..) => count.map(|count| count as f64 / self.seconds),
        }
    }

    /// Bytes that were used up from one collection to the next, whatever brought it. `None` where too few came to tell, or phases are counted.
    pub fn bytes_for_collection(&self) -> Option<f64> {
        let count = self.eden.collections.filter(|count| *count >= ENOUGH && !self.eden.phases)?;
        Some(self.allocation.as_ref()?.used / count as f64)
    }

    /// Share of the time in which they stood still for collections of so many a second, of the young generation's.
    pub fn share_of_young(&self, rate: f64) -> Option<f64> {
        let pauses = self.eden.pauses?;
        let all = pauses.young_count as f64 / self.seconds;
        let part = if all > 0.0 { (rate / all).min(1.0) } else { 0.0 };
        Some((pauses.young / self.seconds).clamp(0.0, 1.0) * part)
    }

    /// Share of the time in which they stood still because eden was full. A full collection's pause is as long whatever eden's size is.
    pub fn full_eden_share(&self) -> Option<f64> {
        let (all, rates) = (self.collecting_share()?, self.collection_rates()?);
        // Where nobody knows better, all pauses are alike.
        let alike = || if rates.all() > 0.0 { all * rates.full / rates.all() } else { 0.0 };
        Some(self.share_of_young(rates.full).unwrap_or_else(alike))
    }

    /// Collections for the same work where that uses up `ratio` times as much of eden, as a ratio to now: those of other causes come as before, but for what follows young ones.
    pub fn collections_using(&self, ratio: f64) -> f64 {
        match self.rates_using(ratio) {
            Some((now, then)) => then.all() / now.all(),
            None => ratio,
        }
    }

    /// The same of the collections that a full eden brings.
    pub fn full_eden_using(&self, ratio: f64) -> f64 {
        match self.rates_using(ratio) {
            Some((now, then)) if now.full > 0.0 => then.full / now.full,
            // It is never full.
            Some(_) => 1.0,
            None => ratio,
        }
    }

    /// How much more of eden is used up where such a share of it stays unused in addition, as a ratio to now.
    pub(crate) fn used_with_unused(share: f64) -> f64 {
        1.0 / (1.0 - share.clamp(0.0, MOST_UNUSED))
    }

    /// Collections a second now, and then. `None` where nobody knows them.
    fn rates_using(&self, ratio: f64) -> Option<(Rates, Rates)> {
        let now = self.collection_rates().filter(|rates| rates.all() > 0.0 && ratio > 0.0)?;
        Some((now, if now.full > 0.0 { now.with_larger_eden(1.0 / ratio) } else { now }))
    }

    /// CPU-seconds that the process could use.
    pub fn usable_seconds(&self) -> f64 {
        self.usable_cpus() * self.seconds
    }

    /// CPUs' worth of time that the process can use.
    pub fn usable_cpus(&self) -> f64 {
        let cpus = self.machine.cpus.max(1) as f64;
        self.machine.quota.filter(|quota| *quota > 0.0).map_or(cpus, |quota| cpus.min(quota))
    }
}
