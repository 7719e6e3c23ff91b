//! Recorded profiles of real programs: what their threads allocate, and what they do in between.

use crate::programs::allocate::Mutator;
use serde::Deserialize;
use std::fmt;

/// A profile as `cargo xtask profile` records it. What the simulation has no use for is left in the file.
#[derive(Clone, Debug, Deserialize)]
pub struct Profile {
    /// The program.
    pub workload: String,
    /// The Java runtime on which it ran.
    pub jdk: String,
    /// The command that recorded it.
    pub command: String,
    machine: RecordedOn,
    mutator: Rate,
    sizes: Histogram,
}

#[derive(Clone, Debug, Deserialize)]
struct RecordedOn {
    clock_ghz: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Rate {
    work_between_allocations_ns: f64,
}

#[derive(Clone, Debug, Deserialize)]
struct Histogram {
    histogram: Vec<(u32, f64)>,
}

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError(String);

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProfileError {}

/// The only format so far.
const FORMAT: u32 = 1;

impl Profile {
    /// The profiles that are shipped, by name.
    pub fn shipped() -> &'static [(&'static str, &'static str)] {
        &[("javac", include_str!("../profiles/javac.toml"))]
    }

    /// A shipped profile.
    ///
    /// # Errors
    /// When there is none of this name.
    pub fn named(name: &str) -> Result<Profile, ProfileError> {
        let found = Profile::shipped().iter().find(|(shipped, _)| *shipped == name);
        let (_, text) = found.ok_or_else(|| {
            let names: Vec<&str> = Profile::shipped().iter().map(|(name, _)| *name).collect();
            ProfileError(format!("no profile {name}; there are {}", names.join(", ")))
        })?;
        Profile::parse(text)
    }

    /// The workload `javac`.
    pub fn javac() -> Profile {
        match Profile::named("javac") {
            Ok(profile) => profile,
            // A test reads it.
            Err(error) => unreachable!("{error}"),
        }
    }

    /// Reads a profile.
    ///
    /// # Errors
    /// When it is not one, or says what cannot be.
    pub fn parse(text: &str) -> Result<Profile, ProfileError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        let again = "record it again with cargo xtask profile";
        let read = |error: toml::de::Error| ProfileError(format!("{}; {again}", error.message()));
        let Format { format } = toml::from_str(text).map_err(read)?;
        if format != FORMAT {
            return Err(ProfileError(format!("format {format} is not {FORMAT}; {again}")));
        }
        let profile: Profile = toml::from_str(text).map_err(read)?;
        let rates = [profile.machine.clock_ghz, profile.mutator.work_between_allocations_ns];
        let sound = |number: f64| number.is_finite() && number > 0.0;
        let sizes = &profile.sizes.histogram;
        if !rates.into_iter().all(sound)
            || sizes.is_empty()
            || !sizes.iter().all(|(bytes, share)| *bytes > 0 && sound(*share))
        {
            return Err(ProfileError(format!("a size, a share or a rate is not positive; {again}")));
        }
        Ok(profile)
    }

    /// What its threads do. Work is in cycles of the processor on which it was recorded: other machines take as many, times their
    /// `work_scale`.
    pub fn mutator(&self) -> Mutator {
        Mutator {
            sizes: self.sizes.histogram.clone(),
            object_cycles: self.mutator.work_between_allocations_ns * self.machine.clock_ghz,
            byte_cycles: 0.0,
            writes: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javac_is_read() {
        let mutator = Profile::named("javac").expect("shipped").mutator();
        assert!((30.0..60.0).contains(&mutator.mean_bytes()), "{}", mutator.mean_bytes());
        assert!((50.0..400.0).contains(&mutator.object_cycles), "{}", mutator.object_cycles);
    }

    #[test]
    fn wrong_ones_are_refused_with_a_remedy() {
        let (_, good) = Profile::shipped()[0];
        for wrong in [
            good.replace("format = 1", "format = 2"),
            good.replace("clock_ghz = ", "clock_ghz = -"),
            "format = 1".to_owned(),
            String::new(),
        ] {
            let error = Profile::parse(&wrong).expect_err("wrong").to_string();
            assert!(error.contains("cargo xtask profile"), "{error}");
        }
        assert!(Profile::named("x").expect_err("none").to_string().contains("javac"));
    }
}
