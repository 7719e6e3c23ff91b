//! The agent's libraries that a JVM has loaded.

use crate::process::{gone, unreadable};
use crate::{Result, os};
use std::path::{Path, PathBuf};

/// What Linux writes behind the name of a mapped file that has gone, or been replaced.
const GONE: &str = " (deleted)";

/// What a process has mapped. An error where that must not be seen, or the process is gone.
pub(crate) fn maps(pid: u32) -> Result<String> {
    match os::read_text(format!("/proc/{pid}/maps")) {
        // One that has ended and was not waited for has none.
        Ok(maps) if maps.is_empty() && !os::is_running(pid) => Err(gone(pid)),
        Ok(maps) => Ok(maps),
        Err(error) => Err(unreadable(pid, &error)),
    }
}

/// Whether code of `libjvm.so` is mapped: tools map it, and its debugging information, to read symbols.
pub(crate) fn runs_libjvm(maps: &str) -> bool {
    maps.lines().any(|line| {
        let is_code = line.split(' ').nth(1).is_some_and(|rights| rights.contains('x'));
        let path = line.find('/').map(|at| line[at..].trim_end_matches(GONE));
        is_code && path.is_some_and(|path| path.ends_with("/libjvm.so"))
    })
}

/// The agent's libraries in a process's maps, each by the name under which it was loaded. glibc's loader knows a library by it, whether the file
/// is still there or not.
pub(crate) fn libraries(maps: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = (maps.lines())
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .map(|name| Path::new(name.strip_suffix(GONE).unwrap_or(name)).to_owned())
        .filter(|path| path.file_name().is_some_and(|name| name == "libterrace.so"))
        .collect();
    found.dedup();
    found
}

/// Those that the process's loader knows by their names: glibc's knows a library whose file has gone, and opens nothing for it. musl's opens what has the name now,
/// which may be somebody else's.
pub(crate) fn known_by_name(maps: &str) -> Vec<PathBuf> {
    if !maps.contains("/ld-musl-") {
        return libraries(maps);
    }
    let there: Vec<&str> = maps.lines().filter(|line| !line.ends_with(GONE)).collect();
    libraries(&there.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_names_that_they_had() {
        let maps = "7f10-7f20 r--p 0000 08:01 11 /opt/a b/libterrace.so\n\
                    7f20-7f30 r-xp 1000 08:01 11 /opt/a b/libterrace.so\n\
                    7f30-7f40 r-xp 1000 08:01 12 /tmp/terrace-x/libterrace.so (deleted)\n\
                    7f40-7f50 rw-p 0000 00:00 0 [heap]\n\
                    7f50-7f60 r-xp 0000 08:01 13 /usr/lib/jvm/lib/server/libjvm.so\n";
        let named = ["/opt/a b/libterrace.so", "/tmp/terrace-x/libterrace.so"].map(Path::new);
        assert_eq!(libraries(maps), named);
        assert_eq!(known_by_name(maps), named);
        // Whoever may write to /tmp may have put something there.
        let musl = format!("{maps}7f60-7f70 r-xp 1000 08:01 12 /lib/ld-musl-x86_64.so.1\n");
        assert_eq!(
            (libraries(&musl), known_by_name(&musl)),
            (named.map(Path::to_owned).to_vec(), vec![named[0].to_owned()])
        );
    }
}
