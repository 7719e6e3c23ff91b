//! What a side of a comparison is: a JVM with the agent or without it, and flags of its own.

use control::Mode;
use jvm::agent::{AgentOptions, BufferSize};

/// One of the two that are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// What table, JSON and notes call it.
    pub name: String,
    /// `None` is a JVM without us. Its `start_off` and `bound` tell buffers on, buffers off and private buffers apart.
    pub agent: Option<AgentOptions>,
    /// JVM flags of this side alone. They come after those of both sides.
    pub flags: Vec<String>,
}

impl Side {
    /// A JVM with the agent, its buffers on.
    pub fn terrace(agent: AgentOptions) -> Side {
        Side::called("terrace", &agent.clone(), agent)
    }

    /// The same JVM, its buffers off.
    pub fn off(agent: AgentOptions) -> Side {
        Side::called("terrace (buffers off)", &agent.clone(), AgentOptions { start_off: true, ..agent })
    }

    /// The same JVM with a private buffer for each thread, the best that any hierarchy can do.
    pub fn bound(agent: AgentOptions) -> Side {
        let settings = agent.clone();
        Side::called(
            "private buffer for each thread (the bound)",
            &settings,
            AgentOptions { bound: true, ..agent },
        )
    }

    fn called(name: &str, settings: &AgentOptions, agent: AgentOptions) -> Side {
        // Without buffers `start=off` is a matter of course.
        let text = settings.text().unwrap_or_default();
        let settings = text.trim_end_matches("start=off").trim_end_matches(',').replace(',', " ");
        let separator = if settings.is_empty() { "" } else { " " };
        Side { name: format!("{name}{separator}{settings}"), agent: Some(agent), flags: Vec::new() }
    }

    /// A JVM without us.
    pub fn stock() -> Side {
        Side { name: "stock".into(), agent: None, flags: Vec::new() }
    }

    /// The same with these flags as well; its name has them.
    pub fn with_flags(mut self, flags: &[String]) -> Side {
        for flag in flags {
            self.name = format!("{} {flag}", self.name);
            self.flags.push(flag.clone());
        }
        self
    }

    /// What its JVM is switched to, where that has the agent.
    pub fn mode(&self) -> Option<Mode> {
        self.agent.as_ref().map(|agent| match (agent.bound, agent.start_off) {
            (true, _) => Mode::Bound,
            (false, false) => Mode::On,
            (false, true) => Mode::Off,
        })
    }

    pub fn sizes(&self) -> Option<[BufferSize; 2]> {
        self.agent.as_ref().map(|agent| [agent.core, agent.processor])
    }

    /// How many of its sizes follow what is seen.
    pub fn following(&self) -> usize {
        self.sizes().map_or(0, |sizes| sizes.iter().filter(|size| **size == BufferSize::Auto).count())
    }

    /// Whether one JVM can be either side, switched from one to the other: on and off, or between sizes.
    pub fn shares_jvm(&self, other: &Side) -> bool {
        let both_on = self.mode() == Some(Mode::On) && other.mode() == Some(Mode::On);
        let unswitched = |side: &Side| {
            let agent = side.agent.clone()?;
            let [core, processor] = if both_on { Default::default() } else { [agent.core, agent.processor] };
            Some(AgentOptions { start_off: false, bound: false, core, processor, ..agent })
        };
        self.flags == other.flags && unswitched(self).is_some() && unswitched(self) == unswitched(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn large() -> AgentOptions {
        AgentOptions { core: BufferSize::Bytes(512 << 10), ..AgentOptions::default() }
    }

    #[test]
    fn a_side_is_called_by_what_it_is() {
        let flags = ["-XX:TLABSize=4k".to_owned(), "-XX:+UseNUMA".to_owned()];
        for (side, name, mode) in [
            (Side::terrace(AgentOptions::default()), "terrace", Some(Mode::On)),
            (
                Side::terrace(large()).with_flags(&flags),
                "terrace core=512k -XX:TLABSize=4k -XX:+UseNUMA",
                Some(Mode::On),
            ),
            (Side::off(large()), "terrace (buffers off) core=512k", Some(Mode::Off)),
            (Side::terrace(AgentOptions::observing()), "terrace levels=none tlab=stock", Some(Mode::On)),
            (Side::stock().with_flags(&flags[..1]), "stock -XX:TLABSize=4k", None),
        ] {
            assert_eq!((side.name.as_str(), side.mode()), (name, mode));
        }
        assert_eq!(Side::bound(large()).mode(), Some(Mode::Bound));
    }

    #[test]
    fn one_jvm_is_enough_where_only_mode_or_sizes_differ() {
        let on = Side::terrace(large());
        let adaptive = Side::terrace(AgentOptions { core: BufferSize::Auto, ..large() });
        assert!(adaptive.following() > on.following());
        for other in [Side::off(large()), Side::bound(large()), on.clone(), adaptive] {
            assert!(on.shares_jvm(&other) && other.shares_jvm(&on));
        }
        let flag = ["-Xmn64m".to_owned()];
        for other in [Side::stock(), Side::off(AgentOptions::default()), Side::off(large()).with_flags(&flag)]
        {
            assert!(!on.shares_jvm(&other));
        }
        assert!(!Side::stock().shares_jvm(&Side::stock()));
    }
}
