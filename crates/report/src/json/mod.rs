//! Documents as JSON, by the schema `share/schemas/document.json`.

mod render;

pub use render::{SCHEMA, unit_of_work, value, view, write};
