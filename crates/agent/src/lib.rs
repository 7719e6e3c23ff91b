//! Terrace: agent.
