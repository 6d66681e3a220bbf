//! The documents of a profile.

mod analysis;
mod dag;
mod parts;
mod perf_lab;
mod profile;
mod roofline;

#[cfg(test)]
pub(crate) use parts::headroom as headroom_of;
pub use parts::{Headroom, Parts};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::collecting::Recorded;
use super::evidence::Evidence;
use super::request::{Numbers, ProfileRequest};

/// Version of the documents' schemas.
const SCHEMA_VERSION: &str = "1.0";

pub struct Documents {
    pub profile: Value,
    pub roofline: Value,
    pub dag: Value,
    pub analysis: Value,
}

impl Documents {
    pub fn files(&self) -> [(&'static str, &Value); 4] {
        [
            ("profile.json", &self.profile),
            ("roofline.json", &self.roofline),
            ("dag.json", &self.dag),
            ("analysis.json", &self.analysis),
        ]
    }

    /// Replaces paths below one folder with paths below another.
    pub fn settle(&mut self, from: &str, to: &str) {
        for document in [&mut self.profile, &mut self.roofline, &mut self.dag, &mut self.analysis] {
            settle(document, from, to);
        }
    }

    pub fn together(&self) -> Value {
        let named = self.files().map(|(file, value)| (file.trim_end_matches(".json").to_owned(), value.clone()));
        Value::Object(named.into_iter().collect())
    }
}

/// Makes the documents.
///
/// # Errors
/// When a value cannot be written as JSON.
pub fn documents(
    request: &ProfileRequest,
    recorded: &Recorded,
    evidence: &Evidence,
    parts: &Parts,
) -> Result<Documents> {
    let mut documents = Documents {
        profile: profile::document(request, recorded, parts)?,
        roofline: roofline::document(recorded, evidence, parts)?,
        dag: dag::document(evidence, parts)?,
        analysis: analysis::document(parts)?,
    };
    if request.numbers == Numbers::PerfLab {
        perf_lab::replace(&mut documents, recorded, evidence, parts)?;
    }
    Ok(documents)
}

/// A document, or a part of one, without keys that have no value.
fn known(document: impl Serialize) -> Result<Value> {
    let mut document = serde_json::to_value(document)?;
    if let Some(object) = document.as_object_mut() {
        object.retain(|_, value| !value.is_null());
    }
    Ok(document)
}

fn settle(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text.contains(from) => *text = text.replace(from, to),
        Value::Array(values) => values.iter_mut().for_each(|value| settle(value, from, to)),
        Value::Object(values) => values.values_mut().for_each(|value| settle(value, from, to)),
        _ => {}
    }
}
