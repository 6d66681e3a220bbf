//! Promises of the settings parser for any text.

use super::text::{parse, strings};

/// A text is parsed, or rejected with a line number; parsed settings can be written and parsed again.
pub fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(table) => {
            for (_, value) in &table {
                let texts = strings(value);
                assert!(texts.is_none() || value.is_array() || texts.is_some_and(|texts| texts.len() == 1), "{value}");
            }
            let written = table.to_string();
            // NaN does not equal itself.
            assert!(written.contains("nan") || parse(&written).as_ref() == Ok(&table), "{written}");
        }
        Err((line, reason)) => {
            assert!((1..=text.matches('\n').count() + 1).contains(&line), "line {line}: {reason}");
        }
    }
}
