//! Other sizes for the buffers of a JVM that runs.

use crate::agent::BufferSize;
use crate::{Error, Result, size, switch};
use control::size::MIN_BUFFER;
use control::{Asked, Control};
use std::time::{Duration, Instant};

/// How long is waited for a refill that takes them.
const PATIENCE: Duration = Duration::from_secs(2);
const STEP: Duration = Duration::from_millis(5);

/// A size for the buffers of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wish {
    level: &'static str,
    size: BufferSize,
}

impl Wish {
    /// Reads `core=256k`, `processor=auto`.
    pub fn read(word: &str) -> Result<Wish> {
        let example =
            "write core=SIZE or processor=SIZE (SIZE may also be auto or formula), such as core=256k";
        let (key, value) =
            word.split_once('=').ok_or_else(|| Error::usage(format!("'{word}': {example}")))?;
        let level = ["core", "processor"]
            .into_iter()
            .find(|level| *level == key)
            .ok_or_else(|| Error::usage(format!("'{key}' has no size to set; {example}")))?;
        let size = value.parse().map_err(|error| Error::usage(format!("{key}: {error}")))?;
        if let BufferSize::Bytes(bytes) = size
            && bytes < MIN_BUFFER as u64
        {
            return Err(Error::usage(format!("{word}: use at least {}", size::format(MIN_BUFFER as u64))));
        }
        Ok(Wish { level, size })
    }

    fn asked(self) -> Asked {
        self.size.asked()
    }
}

/// What came of a wish: bytes of a buffer before and since. No `after`: no buffer has been refilled yet, with which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resized {
    wish: Wish,
    before: u64,
    after: Option<u64>,
}

impl std::fmt::Display for Resized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Resized { wish: Wish { level, size }, before, after } = *self;
        let asked = size.asked().text();
        let Some(after) = after else {
            return write!(
                f,
                "{level} buffers {asked} from the next refill on, now {}",
                size::format(before)
            );
        };
        write!(f, "{level} buffers {}", size::format(after))?;
        match size {
            BufferSize::Auto => write!(f, " (auto)")?,
            BufferSize::Formula => write!(f, " (formula)")?,
            BufferSize::Bytes(bytes) if after < bytes => {
                write!(f, " ({asked} is too large for this heap; increase it with -Xmx or -Xmn)")?
            }
            BufferSize::Bytes(_) => {}
        }
        if before == after {
            write!(f, ", as before")
        } else {
            write!(f, ", before {}", size::format(before))
        }
    }
}

/// Asks for sizes, and waits a moment for the refill with which they begin.
pub fn resize(pid: u32, wishes: &[Wish]) -> Result<Vec<Resized>> {
    let (status, control) = switch::found(pid)?;
    switch::has_buffers(&status, &control)?;
    let levels: Vec<&str> = status.settings["levels"].as_str().unwrap_or_default().split('+').collect();
    let grain = status.settings["grain_bytes"].as_u64().unwrap_or(8).max(1);
    let mut asked = Vec::new();
    for wish in wishes {
        let level = levels.iter().position(|level| *level == wish.level).ok_or_else(|| {
            Error::failed(format!(
                "process {pid} has no {} buffers (levels={}); levels are chosen when the agent is loaded",
                wish.level,
                levels.join("+")
            ))
        })?;
        if let BufferSize::Bytes(bytes) = wish.size
            && !bytes.is_multiple_of(grain)
        {
            return Err(Error::usage(format!(
                "{}={bytes}: use a multiple of ObjectAlignmentInBytes={grain}",
                wish.level
            )));
        }
        asked.push((level, *wish, control.size(level)));
    }
    let words: Vec<(usize, Asked)> = asked.iter().map(|(level, wish, _)| (*level, wish.asked())).collect();
    control.ask_for_sizes(&words);
    let taken = wait(&control);
    let came = |(level, wish, before)| Resized { wish, before, after: taken.then(|| control.size(level)) };
    Ok(asked.into_iter().map(came).collect())
}

fn wait(control: &Control) -> bool {
    let since = Instant::now();
    while !control.has_taken_sizes() && since.elapsed() < PATIENCE {
        std::thread::sleep(STEP);
    }
    control.has_taken_sizes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_as_options_are() {
        assert_eq!(Wish::read("core=256k").unwrap().asked(), Asked::Bytes(256 << 10));
        assert_eq!(Wish::read("processor=auto").unwrap().asked(), Asked::Auto);
        for (word, remedy) in [
            ("core", "write core=SIZE"),
            ("tlab=2k", "'tlab' has no size to set"),
            ("core=many", "core:"),
            ("core=1k", "use at least 4k"),
        ] {
            let error = Wish::read(word).unwrap_err().to_string();
            assert!(error.contains(remedy), "{word}: {error}");
        }
    }

    #[test]
    fn what_came_of_it_is_a_line() {
        let line =
            |word, before, after| Resized { wish: Wish::read(word).unwrap(), before, after }.to_string();
        assert_eq!(line("core=256k", 65536, Some(262144)), "core buffers 256k, before 64k");
        assert_eq!(line("core=auto", 65536, Some(65536)), "core buffers 64k (auto), as before");
        assert_eq!(line("core=formula", 65536, Some(32768)), "core buffers 32k (formula), before 64k");
        assert_eq!(line("core=64k", 4096, None), "core buffers 64k from the next refill on, now 4k");
        assert!(line("core=1g", 65536, Some(131072)).contains("128k (1g is too large for this heap;"));
    }
}
