//! Terrace: lab.
