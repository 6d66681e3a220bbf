//! Properties that the reader of Kineto traces guarantees for any bytes.

use super::cursor::{Cursor, elements, members};
use super::decimal::nanoseconds;
use super::document::Document;
use super::scan::Events;
use crate::json::TextFile;

/// Any chunk size finds the same events. All events of a valid JSON text are found. The first byte is the chunk size.
pub fn kineto_document(bytes: &[u8]) {
    let Some((chunk_bytes, text)) = bytes.split_first() else { return };
    let file = TextFile::of_text(text.to_vec());
    let Ok(document) = Document::read(&file) else { return };
    let found = |events: &Events| -> Vec<(u64, u8, bool)> {
        let of_chunk = |chunk: &super::scan::Chunk| -> Vec<(u64, u8, bool)> {
            chunk.events().map(|found| (chunk.start + found.offset as u64, found.kind, found.has_no_length)).collect()
        };
        events.chunks.iter().flat_map(of_chunk).collect()
    };
    let whole = found(&document.events);
    if let Some(first) = document.events.chunks.first() {
        let small = Events::read_by(&file, first.start, u64::from(*chunk_bytes) + 16);
        assert!(small.is_ok(), "the same text cannot be read in small chunks");
        if let Ok(small) = small {
            assert_eq!(found(&small), whole);
            assert_eq!((small.end, small.is_closed), (document.events.end, document.events.is_closed));
            assert_eq!(small.census.unread, document.events.census.unread);
        }
    }
    let parsed: Result<serde_json::Value, _> = serde_json::from_slice(text);
    if let Ok(serde_json::Value::Object(parsed)) = parsed {
        let events = parsed.get("traceEvents").and_then(serde_json::Value::as_array);
        let are_objects = events.is_some_and(|events| events.iter().all(serde_json::Value::is_object));
        if are_objects && document.damage.is_empty() {
            let counted = whole.len() as u64 + document.events.census.unread.values().sum::<u64>();
            assert_eq!(events.map(|events| events.len() as u64), Some(counted));
        }
    }
    kineto_values(text);
}

/// Values end within the text, and numbers never panic.
fn kineto_values(text: &[u8]) {
    if let Ok(value) = Cursor::new(text, 0).value() {
        assert!(value.len() <= text.len());
        for (_, value) in members(value) {
            nanoseconds(value);
        }
        assert!(elements(value).count() <= text.len());
    }
}
