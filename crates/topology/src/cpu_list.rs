//! The kernel's list format: `0-3,8,10-11`.

use crate::error::Error;
use crate::id::{CPU_LIMIT, CpuId};

#[cfg(test)]
#[path = "cpu_list_test.rs"]
mod test;

/// Reads a list as the kernel prints it, for example in `/sys/devices/system/cpu/possible`. An empty list is valid (a node
/// that has memory only).
///
/// The kernel's lists ascend; one that does not is refused, which also bounds the result by [`CPU_LIMIT`] whatever the text.
///
/// ```
/// use topology::{CpuId, parse_cpu_list};
/// assert_eq!(parse_cpu_list("0-1,8\n"), Ok(vec![CpuId(0), CpuId(1), CpuId(8)]));
/// assert!(parse_cpu_list("3-1").is_err());
/// ```
pub fn parse_cpu_list(text: &str) -> Result<Vec<CpuId>, Error> {
    let text = text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0');
    let mut cpus = Vec::new();
    if text.is_empty() {
        return Ok(cpus);
    }
    let mut least = 0;
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Some(first), Some(last)) = (number(first), number(last)) else {
            return Err(refuse(part));
        };
        if first < least || last < first {
            return Err(refuse(part));
        }
        cpus.extend((first..=last).map(CpuId));
        least = last + 1;
    }
    Ok(cpus)
}

/// Digits only: `str::parse` alone would take a plus sign too.
fn number(digits: &str) -> Option<u32> {
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|number| *number < CPU_LIMIT)
}

fn refuse(part: &str) -> Error {
    let part: String = part.chars().take(32).collect();
    Error(format!("invalid CPU list {part:?}; use ascending numbers and ranges, such as 0-3,8"))
}
