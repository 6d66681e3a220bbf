//! Tests.

use std::collections::BTreeMap;

use super::*;

#[test]
fn built_in_definitions_are_valid() {
    let definitions = Definitions::read().unwrap();
    assert!(definitions.metrics.len() > 400, "{}", definitions.metrics.len());
}
