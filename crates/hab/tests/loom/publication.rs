//! What the agent relies on outside of the hierarchy, and x86-64 hides: a hook is found by a plain load and a branch, which order
//! nothing; an addition of several instructions is not one.

use super::*;
use crate::atomics::Watched;
use loom::sync::atomic::{AtomicU64, Ordering, fence};
use terrace_hab::atomics::Word;

/// An agent is published, and then a hook put into HotSpot's table (`hotspot::patch`). Who calls through the table has loaded the
/// entry without an order; the hook begins with a fence (`come_through_the_table` of the agent), or does not.
fn call_through_the_table(fenced: bool) {
    model(None, move || {
        let (agent, entry) = lend((AtomicU64::new(0), AtomicU64::new(0)));
        let installer = thread::spawn(move || {
            agent.store(1, Ordering::Release);
            entry.compare_exchange(0, 1, Ordering::Release, Ordering::Relaxed).unwrap();
        });
        if entry.load(Ordering::Relaxed) == 1 {
            if fenced {
                fence(Ordering::Acquire);
            }
            assert_eq!(agent.load(Ordering::Acquire), 1, "a hook found no agent");
        }
        installer.join().unwrap();
    });
}

#[test]
fn a_hook_finds_the_agent_that_was_published_before_it() {
    call_through_the_table(true);
}

#[test]
#[should_panic(expected = "a hook found no agent")]
fn a_hook_without_a_fence_may_find_none() {
    call_through_the_table(false);
}

/// Two threads of a domain count, and either may be preempted anywhere.
fn count(add: impl Fn(&Watched) + Send + Sync + Copy + 'static) {
    model(None, move || {
        let word: &'static Watched = lend(Watched::new(0));
        let other = thread::spawn(move || add(word));
        add(word);
        other.join().unwrap();
        assert_eq!(word.load(Ordering::Relaxed), 2, "an addition was lost");
    });
}

#[test]
fn an_addition_in_one_instruction_is_not_lost() {
    count(|word| word.add(1, Ordering::Relaxed));
}

#[test]
#[should_panic(expected = "an addition was lost")]
fn an_addition_in_three_instructions_is() {
    count(|word| word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
}
