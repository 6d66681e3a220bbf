//! The time line, prepared for the templates.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::page::json_for_element;
use crate::timeline::{Timeline, TimelineInputs, still};

#[derive(Serialize)]
pub(crate) struct TimelineView {
    /// The picture as JSON that can be inside an element.
    json: String,
    /// The picture without scripts, already escaped.
    still: String,
    /// Words that name the inputs in commands.
    input: String,
    /// The same of both sides of a comparison; empty for saved runs.
    base: String,
    new: String,
    is_comparison: bool,
}

impl TimelineView {
    pub(super) fn new(timeline: &Timeline) -> Result<Self> {
        let Timeline { picture, inputs } = timeline;
        let (input, base, new) = match inputs.clone() {
            TimelineInputs::Run(input) => (input, String::new(), String::new()),
            TimelineInputs::Sides { base, new } => (String::new(), base, new),
        };
        let is_comparison = matches!(inputs, TimelineInputs::Sides { .. });
        Ok(Self {
            json: json_for_element(&serde_json::to_value(picture)?)?,
            still: still(picture),
            input,
            base,
            new,
            is_comparison,
        })
    }
}

/// Ids of findings with places.
pub(super) fn placed(timeline: Option<&Timeline>) -> BTreeSet<&str> {
    timeline.iter().flat_map(|timeline| &timeline.picture.places).map(|place| place.id.as_str()).collect()
}

/// An id as a part of an address.
pub(super) fn in_address(id: &str) -> String {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~' | b'/' | b':' | b'@');
    let mut address = String::with_capacity(id.len());
    for byte in id.bytes() {
        if is_plain(byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}
