//! Documents as JSON, by the schema `share/schemas/document.json`.

mod render;

pub use render::{SCHEMA, SCHEMA_VERSION, value, view, write};
