//! Why something could not be seen, and what makes it visible.

use topology::cgroup::MemoryLeft;

/// Of what the control group may still use.
pub(crate) fn of_memory_left(left: MemoryLeft) -> Option<String> {
    let hidden = "what its control group may still use of memory, so that no size of a heap is advised (run the doctor in the same container, or on the host)";
    (left == MemoryLeft::Unseen).then(|| hidden.into())
}
