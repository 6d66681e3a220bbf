//! Finds inputs, recognises them by content and opens each with the adapter of its format.

mod common;
#[cfg(feature = "tables")]
mod dataset;
#[cfg(feature = "tables")]
mod discover;
#[cfg(feature = "tables")]
mod error;
mod head;
#[cfg(feature = "tables")]
mod load;
#[cfg(any(test, feature = "properties"))]
pub(crate) mod properties;
#[cfg(feature = "tables")]
mod recognise;
#[cfg(feature = "tables")]
mod rocpd;
mod rocprofv3_csv;
mod rocprofv3_json;
mod rpd;
#[cfg(feature = "tables")]
mod twins;

#[cfg(feature = "tables")]
pub use dataset::{DATASET_FORMAT, MANIFEST, Manifest, StoredProcess, is_dataset, part_path};
#[cfg(feature = "tables")]
pub use error::InputError;
#[cfg(feature = "tables")]
use load::Opened;
#[cfg(feature = "tables")]
pub use load::{Found, LoadOptions, load};
