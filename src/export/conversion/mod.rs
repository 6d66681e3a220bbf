//! Conversions that go on where an earlier one ended: what is done and unchanged is taken over.

mod partial;
mod record;
mod recording;
mod run;

pub use partial::finished_of;
pub use record::{CONVERSION, Conversion, Key, Record};
pub use recording::Recording;
pub use run::{Outcome, Plan, Refused, convert};
