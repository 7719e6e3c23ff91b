//! The values of an agent's counters at one moment.

use hab::Counter;
use serde::ser::{Serialize, SerializeMap, Serializer};

/// One value for each [`Counter`], serialized by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterValues([u64; Counter::ALL.len()]);

impl CounterValues {
    pub fn of(value: impl Fn(Counter) -> u64) -> CounterValues {
        CounterValues(Counter::ALL.map(value))
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// Of several domains.
    pub fn sum<'a>(all: impl IntoIterator<Item = &'a CounterValues>) -> CounterValues {
        all.into_iter().fold(CounterValues::default(), |sum, one| {
            CounterValues::of(|counter| sum.get(counter).saturating_add(one.get(counter)))
        })
    }

    /// Whether anything was counted.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|value| *value == 0)
    }
}

impl Serialize for CounterValues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for counter in Counter::ALL {
            map.serialize_entry(counter.name(), &self.get(counter))?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_do_not_wrap_and_have_their_names() {
        let of =
            |value: u64| CounterValues::of(|counter| if counter == Counter::Refills { value } else { 0 });
        let sum = CounterValues::sum(&[of(3), of(u64::MAX), of(4)]);
        assert_eq!((sum.get(Counter::Refills), sum.get(Counter::Buffers)), (u64::MAX, 0));
        assert!(of(0).is_zero() && !of(1).is_zero());
        let json = serde_json::to_value(of(7)).unwrap();
        assert_eq!((&json["refills"], json.as_object().unwrap().len()), (&7.into(), Counter::ALL.len()));
    }
}
