//! The time line of a run: sums over all of it, and parts in detail.

mod axis;
mod columns;
mod compared;
mod drawn;
mod host;
mod kinds;
mod lanes;
mod launches;
pub mod model;
mod names;
mod overview;
mod picture;
pub mod pieces;
mod places;
mod record;
mod saved;
mod shares;
mod slices;
mod still;
#[cfg(test)]
mod tests;
mod windows;

pub use compared::{MatchedNames, SideTimeline, compared};
pub use drawn::{Timeline, TimelineInputs};
pub use kinds::{kind_label, kind_place};
pub use picture::{PictureOptions, picture};
pub use record::{KERNEL_COLUMNS, TimelineReader};
pub(crate) use still::still;
