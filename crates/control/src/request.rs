//! What a request was for, and how HotSpot served it.

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Kind {
    /// A thread buffer (`allocate_new_tlab`).
    Tlab = 0,
    /// A single object (`mem_allocate`).
    Object = 1,
}

impl Kind {
    /// Both.
    pub const ALL: [Kind; 2] = [Kind::Tlab, Kind::Object];
}

/// How HotSpot served it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Way {
    /// Nothing of what follows is known of it.
    Quick = 0,
    /// Under the heap's lock: what was served begins a region (G1), or the collector always takes its lock (Shenandoah).
    Region = 1,
    /// A pause of the collector began meanwhile.
    Collection = 2,
}

impl Way {
    /// All of them.
    pub const ALL: [Way; 3] = [Way::Quick, Way::Region, Way::Collection];

    /// The name used in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Way::Quick => "quick",
            Way::Region => "region",
            Way::Collection => "collection",
        }
    }
}
