//! Details of the events of the kernel driver, which become arguments of their regions.

use anyhow::Result;
use serde_json::Value;

use crate::common::sqlite::{Condition, RowTest, text};
use crate::rocpd::assembly::Assembly;
use crate::rocpd::database::{Database, KEY};
use wavesieve_model::schema::domain::domain_of_category;

/// The domain of the events.
const DOMAIN: &str = "kfd";

/// The block of the counters that rocprofv3 declares with these events.
const BLOCK: &str = "KFD";

/// Keys that concern the format of details, not their content.
const OF_FORMAT: &[&str] = &["index", "cereal_class_version"];

/// Details of all events, one after the other.
#[derive(Default)]
pub struct Details {
    /// Event of each detail.
    pub events: Vec<i64>,
    /// Position of each detail within its event.
    pub positions: Vec<i64>,
    /// Name, and value as text.
    texts: Vec<(String, String)>,
}

impl Details {
    /// Reads the details of driver events, or only of the events in `among`.
    pub fn read(assembly: &mut Assembly<'_>, among: Option<&[i64]>) -> Result<Self> {
        let mut details = Self::default();
        if !may_have_any(assembly.database, assembly.context.threads) {
            return Ok(details);
        }
        let categories = assembly.lookups.categories(assembly.database, assembly.context.threads)?;
        let mut ids = categories.ids_where(|category| domain_of_category(category) == DOMAIN);
        ids.sort_unstable();
        let mut condition =
            Condition::all().and(RowTest::OneOf("category_id", ids)).and(RowTest::SaysSomething(vec!["extdata"]));
        if let Some(among) = among {
            condition = condition.and(RowTest::OneOf(KEY, among.to_vec()));
        }
        let columns = assembly.read("event", &[text("extdata")], condition)?;
        for (event, json) in columns.integers("id").iter().zip(columns.texts("extdata").iter()) {
            let parsed = json.and_then(|json| serde_json::from_str::<Value>(json).ok());
            if let (Some(event), Some(parsed)) = (event, parsed) {
                let mut texts = Vec::new();
                flatten(&parsed, "", &mut texts);
                details.events.extend(texts.iter().map(|_| event));
                details.positions.extend((0..).zip(&texts).map(|(position, _)| position));
                details.texts.extend(texts);
            }
        }
        Ok(details)
    }

    /// The text of a detail for a column of `args`; the type is not recorded.
    pub fn text(&self, column: &str, detail: usize) -> Option<&str> {
        let (name, value) = self.texts.get(detail)?;
        match column {
            "name" => Some(name),
            "value" => Some(value),
            _ => None,
        }
    }
}

/// Whether a database declares the counters of the driver. The names of its events are among the strings of every file.
fn may_have_any(database: &Database, threads: usize) -> bool {
    let has_details = database
        .partition()
        .table("event")
        .is_some_and(|event| ["category_id", "extdata"].into_iter().all(|column| event.has(column)));
    has_details
        && database
            .read("info_pmc", &[text("block")], threads)
            .is_ok_and(|counters| counters.texts("block").iter().any(|block| block == Some(BLOCK)))
}

/// Collects the names and values in a document, in any wrapping: rocprofv3 wrote them as members, as texts, as pairs of a key and a value,
/// and as one of several numbered alternatives.
fn flatten(value: &Value, name: &str, texts: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => match (members.get("key").and_then(Value::as_str), members.get("value")) {
            (Some(key), Some(value)) => flatten(value, key, texts),
            _ => members.iter().for_each(|(name, value)| flatten(value, name, texts)),
        },
        Value::Array(elements) => elements.iter().for_each(|element| flatten(element, name, texts)),
        Value::Null => {}
        _ if name.is_empty() || OF_FORMAT.contains(&name) => {}
        Value::String(text) => texts.push((name.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => texts.push((name.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_in_every_wrapping() {
        for json in [
            r#"{"address": 18446744073709551615, "agent_id": 2}"#,
            r#"{"kfd": {"address": "18446744073709551615", "agent_id": "2"}}"#,
            r#"{"kfd": [{"key": "address", "value": "18446744073709551615"}, {"key": "agent_id", "value": "2"}]}"#,
            r#"{"kfd": {"record": {"index": 7, "data": {"address": 18446744073709551615, "agent_id": 2, "x": null}}}}"#,
        ] {
            let mut texts = Vec::new();
            flatten(&serde_json::from_str(json).unwrap(), "", &mut texts);
            let texts: Vec<(&str, &str)> = texts.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            assert_eq!(texts, [("address", "18446744073709551615"), ("agent_id", "2")], "{json}");
        }
        let mut texts = Vec::new();
        for json in ["3", "null", "[1, [2]]", "{}", r#""x""#] {
            flatten(&serde_json::from_str(json).unwrap(), "", &mut texts);
        }
        assert_eq!(texts, []);
    }
}
