//! Serves the time line, results and findings of a trace to a browser on the same machine.
//!
//! [`serve`] answers requests until the last window is closed. `http` speaks the protocol and refuses what it must not
//! answer, `overview` and `lanes` keep sums and events by time, and `api` answers requests. This crate opens no inputs:
//! it gets traces that are open, and writes only into a cache that the user named.

#![forbid(unsafe_code)]

/// The text of a file at the top of the repository.
macro_rules! data {
    ($path:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../", $path))
    };
}

mod api;
mod background;
mod groups;
mod http;
mod lanes;
mod overview;
mod page;
pub mod properties;
mod requested;
mod serve;
mod session;
mod statements;
mod windows;

pub use serve::{Server, ViewOptions, listen};
pub use session::Side;
pub use statements::answer_statements;
