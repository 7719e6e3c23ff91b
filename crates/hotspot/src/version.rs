//! The JDK versions that are known, and how what is known of one differs from the next.
//!
//! A new JDK is one more number in [`Feature::SUPPORTED`], and one more line wherever a [`Since`] says that a name has changed.

use crate::Error;
use std::fmt;

/// The JDK's feature number: 17, 21, 25.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Feature(pub u32);

impl Feature {
    /// The versions whose sources were read and whose builds are tested.
    pub const SUPPORTED: [Feature; 7] =
        [Feature(11), Feature(17), Feature(21), Feature(25), Feature(26), Feature(27), Feature(28)];

    /// Refuses versions whose demands are not known. With `try_unknown` one newer than all of them is taken for the newest, so that
    /// the checks of names and places decide.
    pub fn check(self, full: &str, try_unknown: bool) -> Result<(), Error> {
        let newest = Feature::SUPPORTED.iter().max();
        match newest.is_some_and(|newest| self > *newest) {
            _ if Feature::SUPPORTED.contains(&self) => Ok(()),
            true if try_unknown => Ok(()),
            true => Err(Error::Newer { found: full.to_owned() }),
            false => Err(Error::Version { found: full.to_owned() }),
        }
    }
}

/// The supported versions, for people: `17, 21 or 25`.
#[derive(Clone, Copy, Debug)]
pub struct Supported;

impl fmt::Display for Supported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let last = Feature::SUPPORTED.len() - 1;
        for (at, Feature(number)) in Feature::SUPPORTED.iter().enumerate() {
            let between = if at == 0 {
                ""
            } else if at == last {
                " or "
            } else {
                ", "
            };
            write!(f, "{between}{number}")?;
        }
        Ok(())
    }
}

/// Something that differs between versions: what it is since which one, in ascending order.
#[derive(Clone, Copy, Debug)]
pub struct Since<T: 'static>(pub &'static [(u32, T)]);

impl<T: Copy> Since<T> {
    /// What it is in this version; in one newer than all that are named, what it is in the newest.
    pub fn in_version(self, Feature(number): Feature) -> Option<T> {
        self.0.iter().rev().find(|(since, _)| *since <= number).map(|(_, what)| *what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_counts() {
        let name = Since(&[(17, Some("old")), (26, Some("new")), (28, None)]);
        let told = [11, 17, 25, 26, 27, 28, 40].map(|number| name.in_version(Feature(number)));
        let (old, new) = (Some(Some("old")), Some(Some("new")));
        assert_eq!(told, [None, old, old, new, new, Some(None), Some(None)]);
    }

    #[test]
    fn versions_are_refused_by_name() {
        for (number, full) in
            [(8, "8 (HotSpot 25.504-b01)"), (12, "12.0.2+10"), (20, "20.0.2+9"), (24, "24.0.1+9")]
        {
            for try_unknown in [false, true] {
                let line = Feature(number).check(full, try_unknown).expect_err("refused").to_string();
                let remedy = "is not supported: use JDK 11, 17, 21, 25, 26, 27 or 28";
                assert!(line.contains(full) && line.ends_with(remedy), "{line}");
            }
        }
        let newer = Feature(29).check("29-ea+5", false).expect_err("refused").to_string();
        assert!(newer.contains("29-ea+5") && newer.contains("unknown=try"), "{newer}");
        assert_eq!(Feature(29).check("29-ea+5", true), Ok(()));
        for feature in Feature::SUPPORTED {
            assert_eq!(feature.check("", false), Ok(()));
        }
    }
}
