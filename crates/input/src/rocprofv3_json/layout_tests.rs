//! The two readers of a field look in the same place: the path that templates follow, and the getter of a record that serde made.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::census;
use super::integers::Layout;
use super::tables::{calls, dispatches, transfers};

/// A record with nothing but a value at a path.
fn record_at(path: &str, value: Value) -> Value {
    let keys = path.trim_end_matches('!').split(['.', '?']);
    keys.rev().fold(value, |inner, key| json!({ key: inner }))
}

fn agrees<R: DeserializeOwned>(layout: &Layout<R>) {
    for field in layout.fields {
        let value = if field.wanted.counts { json!([0, 0, 0]) } else { json!(3) };
        for path in field.wanted.paths {
            let record: R = serde_json::from_value(record_at(path, value.clone())).unwrap();
            assert_eq!((field.get)(&record), Some(3), "{} at {path}", field.name);
        }
    }
}

#[test]
fn fields_stand_where_their_getters_find_them() {
    agrees(&dispatches::LAYOUT);
    agrees(&calls::LAYOUT);
    agrees(&transfers::LAYOUT);
    agrees(&census::LAYOUT);
}
