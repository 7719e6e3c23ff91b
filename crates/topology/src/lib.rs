//! Terrace: topology.
