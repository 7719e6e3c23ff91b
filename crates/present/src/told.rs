//! Lines on standard error that must not end who tells them: nobody may read them any more.

use std::fmt::Arguments;
use std::io::Write;

/// Writes as it is. What cannot be written, because the reader has gone or the disk is full, is lost.
pub fn raw(words: Arguments<'_>) {
    let _ = std::io::stderr().lock().write_fmt(words);
}

/// Writes a line.
pub fn line(words: Arguments<'_>) {
    raw(format_args!("{words}\n"));
}
