//! What the commands print. These have the names of the standard library's macros, and instead of panicking they end as a command does: silently
//! where the reader has gone, with one line where the disk is full.

use std::fmt::Arguments;
use std::io::{ErrorKind, Write};

macro_rules! print {
    ($($words:tt)*) => { $crate::output::out(format_args!($($words)*)) };
}

macro_rules! println {
    ($($words:tt)*) => { $crate::output::out(format_args!("{}\n", format_args!($($words)*))) };
}

macro_rules! eprintln {
    ($($words:tt)*) => { present::told::line(format_args!($($words)*)) };
}

/// Writes to standard output, all of it now. Only what has nothing left to put in order prints.
pub fn out(words: Arguments<'_>) {
    let mut output = std::io::stdout().lock();
    let Err(error) = output.write_fmt(words).and_then(|()| output.flush()) else { return };
    if error.kind() == ErrorKind::BrokenPipe {
        jvm::os::end_as_by_closed_pipe();
    }
    eprintln!("terrace: the output cannot be written: {error}; free space, or write it to another place");
    std::process::exit(1);
}
