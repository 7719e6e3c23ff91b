//! What an arena holds and how it works.

use crate::arena::Arena;
use crate::percpu::Happened;

/// What an arena holds and how it works, at one moment. All sizes in bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Address space that is mapped.
    pub reserved_bytes: usize,
    /// What may be handed out.
    pub limit_bytes: usize,
    /// What buffers and large objects have taken of it since the last reset.
    pub used_bytes: usize,
    /// How threads are served: `4096 to 262144 bytes` a buffer, or `none`.
    pub thread_buffers: String,
    /// How core buffers are used: `restartable sequences`, `compare and swap` (and why), or `no core buffers`.
    pub core_buffers: String,
    /// Where the current CPU is known from.
    pub cpu_source: String,
    /// The core buffers.
    pub core: Option<LevelStats>,
    /// The processor buffers.
    pub processor: Option<LevelStats>,
    /// The kind of pages asked for.
    pub pages: String,
    /// What is used instead, why, and how to get what was asked for.
    pub fallback: Option<String>,
}

/// A level's buffers since the arena was made: reserved = handed out + wasted + remaining, where what alignments skip counts as handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelStats {
    /// Refills.
    pub refills: u64,
    /// Bytes of those.
    pub reserved_bytes: u64,
    /// Bytes of tails that were given up.
    pub wasted_bytes: u64,
    /// Bytes that buffers hold now.
    pub remaining_bytes: u64,
}

impl From<Happened> for LevelStats {
    fn from(happened: Happened) -> LevelStats {
        LevelStats {
            refills: happened.refills,
            reserved_bytes: happened.reserved,
            wasted_bytes: happened.wasted,
            remaining_bytes: happened.remaining,
        }
    }
}

impl Arena {
    /// As [`Stats::used_bytes`], without the rest of the statistics: two loads.
    pub fn used_bytes(&self) -> usize {
        self.parts().levels.reserve().used()
    }

    /// What it holds and how it works, at this moment.
    pub fn stats(&self) -> Stats {
        let parts = self.parts();
        let reserve = parts.levels.reserve();
        let way = parts.levels.way();
        let (mapped, smaller) = reserve.segments().mapped_bytes();
        let pages = reserve.segments().policy();
        Stats {
            reserved_bytes: mapped,
            limit_bytes: reserve.limit(),
            used_bytes: reserve.used(),
            thread_buffers: match parts.threads {
                Some(sizes) => format!("{} to {} bytes", sizes.first, sizes.last),
                None => "none".into(),
            },
            core_buffers: match parts.why {
                Some(why) if way == "compare and swap" => format!("{way} ({why})"),
                _ => way.into(),
            },
            cpu_source: parts.source.to_string(),
            core: parts.levels.core().map(LevelStats::from),
            processor: parts.levels.processor().map(LevelStats::from),
            pages: pages.to_string(),
            fallback: parts.fallback.map(ToString::to_string).or_else(|| {
                (smaller > 0).then(|| {
                    format!("smaller pages instead of {pages} for {smaller} of {mapped} bytes; fill their pool, or request fewer")
                })
            }),
        }
    }
}
