//! Why terrace does not install itself, with what to do about it.

use crate::version::Supported;
use std::fmt;

/// A refusal. The text is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The process has no `libjvm.so`, or more than one.
    NoLibrary,
    /// A HotSpot of a version whose demands are not known.
    Version {
        /// The version as HotSpot tells it.
        found: String,
    },
    /// A HotSpot newer than all that are known.
    Newer {
        /// The version as HotSpot tells it.
        found: String,
    },
    /// Buffers under ZGC.
    Zgc,
    /// A collector that is not supported.
    Collector {
        /// The class of its heap, or the flag that chose it.
        found: String,
    },
    /// A file that cannot be read or is no ELF library.
    File {
        /// Its path.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The library's symbol table was stripped and no debug file was found.
    Stripped {
        /// The library's path.
        path: String,
    },
    /// A name that should be there is not there, or stands at several places.
    Missing {
        /// What was looked for.
        what: String,
    },
    /// The library's file is not the one that runs.
    Replaced {
        /// The library's path.
        path: String,
    },
    /// Somebody else has already replaced a function of the heap.
    Taken {
        /// The function.
        what: &'static str,
    },
    /// Somebody else replaced a function of the heap while others were being exchanged, which have been taken back. A thread may have seen one of them.
    Lost {
        /// The function.
        what: &'static str,
    },
    /// Another copy of this library changes pages right now.
    Busy,
    /// A page could not be made writable.
    Protection {
        /// The system's reason.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoLibrary => {
                write!(f, "no libjvm.so in this process: load terrace into a HotSpot JVM (-agentpath:...)")
            }
            Error::Version { found } => {
                write!(f, "JDK {found} is not supported: use JDK {Supported}")
            }
            Error::Newer { found } => write!(
                f,
                "JDK {found} is newer than this terrace supports: update terrace, use JDK {Supported}, or set unknown=try to install \
                 if every check passes"
            ),
            Error::Zgc => write!(
                f,
                "ZGC already allocates from per-CPU pages, so there is nothing to add: use levels=none to observe it only, or choose \
                 another collector (-XX:+UseG1GC, -XX:+UseParallelGC, -XX:+UseSerialGC)"
            ),
            Error::Collector { found } => write!(
                f,
                "collector {found} is not supported: choose another one (-XX:+UseG1GC, -XX:+UseParallelGC, -XX:+UseSerialGC)"
            ),
            Error::File { path, reason } => {
                write!(f, "{path}: {reason}: reinstall the JDK, or use another one")
            }
            Error::Stripped { path } => write!(
                f,
                "{path} has no symbols: install the JDK's debug symbols (for Debian: the package openjdk-NN-dbg), or use a JDK \
                 that keeps them (Temurin does)"
            ),
            Error::Missing { what } => {
                write!(
                    f,
                    "{what} not found as expected in libjvm.so: use an unmodified build of JDK {Supported}"
                )
            }
            Error::Replaced { path } => write!(
                f,
                "{path} was replaced since this JVM started (an upgrade in place): restart the application, then use terrace"
            ),
            Error::Taken { what } => write!(
                f,
                "{what} is already replaced by another agent or a second copy of libterrace.so: load only one of them"
            ),
            Error::Lost { what } => write!(
                f,
                "{what} was replaced by another agent at the same moment: restart the JVM, and load only one of them"
            ),
            Error::Busy => write!(f, "another copy of the agent is at work in this JVM: try again"),
            Error::Protection { reason } => write!(
                f,
                "cannot make the heap's function table writable ({reason}): allow mprotect for this process (seccomp, SELinux \
                 execmod)"
            ),
        }
    }
}

impl std::error::Error for Error {}
