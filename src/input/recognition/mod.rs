//! Finds files and recognizes what they hold.

#[cfg(feature = "tables")]
pub mod captures;
#[cfg(feature = "tables")]
pub mod content;
#[cfg(feature = "tables")]
pub mod discover;
#[cfg(feature = "tables")]
pub mod format;
#[cfg(feature = "tables")]
pub mod formats;
pub mod head;
#[cfg(feature = "tables")]
pub mod naming;
pub mod skipped;
