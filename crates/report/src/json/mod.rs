//! Documents as JSON, by the schema `share/schemas/document.json`.

mod render;

pub use render::{SCHEMA, value, view, write};
