//! Generated documents are as the program would write them now.

use std::fs;
use std::path::Path;

use crate::common::succeed;

fn assert_fresh(topic: &str, file: &str) {
    let committed = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap_or_default();
    assert!(committed == succeed(&["schema", topic]), "{file} is stale; run `cargo run -- schema {topic} > {file}`");
}

#[test]
fn tables() {
    assert_fresh("tables", "docs/tables.md");
}

#[test]
fn queries() {
    assert_fresh("queries", "docs/queries.md");
}
