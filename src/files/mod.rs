//! Files of the system: those that the program opens by itself, and those that are mapped for reading.

pub(crate) mod mapped;
pub(crate) mod regular;
