//! What the user sees while a comparison runs: a bar if standard error is a terminal, otherwise a line at start and end.

use crate::told;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

/// A bar, a line, or nothing.
pub struct Progress {
    bar: ProgressBar,
    plain: bool,
}

impl Progress {
    pub fn on_standard_error() -> Progress {
        let terminal = std::io::stderr().is_terminal();
        let target =
            if terminal { ProgressDrawTarget::stderr_with_hz(8) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} s") {
            bar.set_style(style);
        }
        Progress { bar, plain: !terminal }
    }

    /// Nothing at all.
    pub fn none() -> Progress {
        Progress { bar: ProgressBar::hidden(), plain: false }
    }

    /// Begins something that takes about so long.
    pub fn start(&self, what: &str, length: Duration) {
        self.bar.set_length(length.as_secs());
        self.bar.set_position(0);
        self.bar.set_message(what.to_owned());
        if self.plain {
            told::line(format_args!("terrace: {what}, about {} s", length.as_secs()));
        }
    }

    /// A line of its own, that stays.
    pub fn line(&self, text: &str) {
        if self.plain {
            told::line(format_args!("terrace: {text}"));
        } else {
            self.bar.println(text);
        }
    }

    /// What is being done now.
    pub fn say(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    /// So much of the length is over.
    pub fn passed(&self, time: Duration) {
        self.bar.set_position(time.as_secs().min(self.bar.length().unwrap_or(u64::MAX)));
    }

    /// Done: the bar goes.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
        if self.plain {
            told::line(format_args!("terrace: done"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
