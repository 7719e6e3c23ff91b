//! Terrace: hotspot.
