//! What `terrace --version` says.

use std::sync::LazyLock;

/// The version alone: `terrace -V`.
pub const SHORT: &str = env!("CARGO_PKG_VERSION");

/// The commit that it was built from, of which only a release is told, and what it supports.
pub static LONG: LazyLock<String> = LazyLock::new(|| {
    let commit = option_env!("TERRACE_COMMIT").map(|commit| format!(" (commit {commit})"));
    let processor = std::env::consts::ARCH.replace('_', "-");
    format!("{SHORT}{}\n{SUPPORTED} {processor}", commit.unwrap_or_default())
});

const SUPPORTED: &str = "for HotSpot JDK 11, 17, 21, 25, 26, 27 and 28 on Linux";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_the_jdks_that_the_agent_takes() {
        let features = hotspot::version::Feature::SUPPORTED.map(|feature| feature.0.to_string());
        let (last, others) = features.split_last().unwrap();
        assert!(SUPPORTED.contains(&format!("JDK {} and {last} on", others.join(", "))), "{SUPPORTED}");
    }
}
