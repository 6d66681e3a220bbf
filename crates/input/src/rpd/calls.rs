//! `regions` and `marks` from rocpd_api: API calls, ranges of the program, and the tracer's own work.

use std::collections::BTreeMap;

use anyhow::Result;
use polars::prelude::*;

use super::args::texts_of;
use super::kinds::{domain, is_marker};
use super::reading::Reading;
use crate::common::sqlite::{Columns, Condition, RowTest, Wanted, integer, listed};
use crate::common::{Texts, count_first, index_of, or};
use wavesieve_model::schema::anomaly::Severity;
use wavesieve_tables::trace::source::RowCount;

const UNKNOWN: &str = "unknown";
const WITH_LENGTH: RowTest<&str> = RowTest::Different("start", "end");
const WITHOUT_LENGTH: RowTest<&str> = RowTest::Same("start", "end");
const WORDS: &[&str] = &["domain", "category", "message"];

/// Canonical columns, and the source column that they need.
const SOURCES: &[(&[&str], &str)] = &[
    (&["name", "domain", "category", "message"], "apiName_id"),
    (WORDS, "domain_id"),
    (&["category"], "category_id"),
    (&["message"], "args_id"),
    (&["tid"], "tid"),
    (&["start_ns", "end_ns", "duration_ns", "valid", "time_ns"], "start"),
    (&["start_ns", "end_ns", "duration_ns", "valid"], "end"),
];

/// Names, domains and categories of calls.
pub struct Words<'a> {
    strings: &'a Texts,
    domains: BTreeMap<(Option<i64>, Option<i64>), String>,
}

impl<'a> Words<'a> {
    pub fn new(reading: &mut Reading<'a>) -> Result<Self> {
        Ok(Self { strings: reading.strings()?, domains: BTreeMap::new() })
    }

    fn domain(&mut self, name: Option<i64>, recorded: Option<i64>) -> &str {
        let strings = self.strings;
        self.domains
            .entry((name, recorded))
            .or_insert_with(|| domain(strings.get(name).unwrap_or(UNKNOWN), strings.get(recorded)))
    }

    pub fn is_marker(&mut self, name: Option<i64>, recorded: Option<i64>) -> bool {
        self.domain(name, recorded) == "marker"
    }

    fn text(&self, id: Option<i64>) -> Option<&'a str> {
        self.strings.get(id).filter(|text| !text.is_empty())
    }
}

pub fn read_regions(reading: &mut Reading<'_>) -> Result<()> {
    let condition = reading.hinted().and(WITH_LENGTH);
    let calls = read(reading, condition)?;
    reading.put("region_id", calls.integers("id").into_series());
    reading.put_times(&calls.integers("start"), &calls.integers("end"));
    if reading.wants(&["call_stack"]) {
        put_call_stacks(reading, &calls.integers("id"))?;
    }
    Ok(())
}

pub(crate) fn read_marks(reading: &mut Reading<'_>) -> Result<()> {
    let calls = read(reading, Condition::all().and(WITHOUT_LENGTH))?;
    reading.put("mark_id", calls.integers("id").into_series());
    reading.put("time_ns", or(&calls.integers("start"), 0).into_series());
    Ok(())
}

pub fn count(reading: &Reading<'_>, with_length: bool) -> Result<RowCount> {
    let length = if with_length { WITH_LENGTH } else { WITHOUT_LENGTH };
    reading.count("api", &reading.owner.condition().and(length))
}

/// Reads the calls, and adds the columns that regions and marks share. The id of a call is its correlation id.
fn read(reading: &mut Reading<'_>, condition: Condition) -> Result<Columns> {
    let wanted: Vec<Wanted> = reading.sources(SOURCES).into_iter().map(integer).collect();
    let calls = reading.read_own(&wanted, condition)?;
    reading.set_height(calls.height);
    let ids = calls.integers("id");
    reading.put("correlation_id", ids.clone().into_series());
    reading.put("tid", calls.integers("tid").into_series());
    if reading.wants(&["name", "domain", "category", "message"]) {
        put_words(reading, &calls, &ids)?;
    }
    Ok(calls)
}

fn put_words(reading: &mut Reading<'_>, calls: &Columns, ids: &Int64Chunked) -> Result<()> {
    let mut words = Words::new(reading)?;
    let (names, recorded) = (calls.integers("apiName_id"), calls.integers("domain_id"));
    if reading.wants(&["name"]) {
        let (count, first) = count_first(names.iter().map(|name| words.text(name).is_none()), ids);
        reading.put_texts("name", names.iter().map(|name| words.text(name).or(Some(UNKNOWN))))?;
        let detail = "calls refer to a missing string, shown as unknown";
        reading.note("missing_string", Severity::Warning, count, first, detail);
    }
    let domains: Vec<String> =
        names.iter().zip(recorded.iter()).map(|(name, own)| words.domain(name, own).to_owned()).collect();
    if reading.wants(&["message"]) {
        let condition = of_markers(reading)?;
        let texts = texts_of(reading, &Condition::all().and_sql(condition))?;
        let texts = texts.get();
        let args = calls.integers("args_id");
        let codes = args.iter().zip(&domains).map(|(args, domain)| texts.position(args.filter(|_| domain == "marker")));
        reading.put_texts_at("message", texts.values(), codes)?;
    }
    let categories = calls.integers("category_id");
    let category = categories
        .iter()
        .zip(recorded.iter())
        .zip(&domains)
        .map(|((category, own), domain)| words.text(category).or(words.text(own)).or(Some(domain.as_str())));
    reading.put_texts("category", category)?;
    reading.put_texts("domain", domains.iter().map(|domain| Some(domain.as_str())))
}

/// Condition for the texts of markers, if texts have their own table: that also holds the many arguments of calls.
fn of_markers(reading: &mut Reading<'_>) -> Result<String> {
    if reading.capture.container.args_table() == "string" {
        return Ok(String::new());
    }
    let ids = listed(&reading.strings_where(is_marker)?);
    let has = |column: &str| reading.capture.container.table("api").is_some_and(|table| table.has(column));
    let columns = ["apiName_id", "domain_id"].into_iter().filter(|column| has(column));
    let conditions = columns
        .map(|column| format!(include_str!("sql/marker_texts.sql"), column = column, ids = ids).trim_end().to_owned());
    Ok(conditions.collect::<Vec<String>>().join(" OR "))
}

/// Adds the frames of the calls' stacks as JSON lists, outermost call last.
fn put_call_stacks(reading: &mut Reading<'_>, ids: &Int64Chunked) -> Result<()> {
    let frames = reading.read(
        "stackframe",
        &[integer("api_ptr_id"), integer("depth"), integer("name_id")],
        &Condition::all(),
    )?;
    let mut stacks: BTreeMap<i64, Vec<(i64, &str)>> = BTreeMap::new();
    let strings = reading.strings()?;
    let (calls, depths, names) = (frames.integers("api_ptr_id"), frames.integers("depth"), frames.integers("name_id"));
    for ((call, depth), name) in calls.iter().zip(depths.iter()).zip(names.iter()) {
        if let Some(call) = call {
            let name = strings.get(name).unwrap_or(UNKNOWN);
            stacks.entry(call).or_default().push((depth.unwrap_or(i64::MAX), name));
        }
    }
    let known: Int64Chunked = stacks.keys().map(|call| Some(*call)).collect_ca("".into());
    let texts: Vec<Option<String>> = stacks
        .into_values()
        .map(|mut frames| {
            frames.sort_by_key(|(depth, _)| *depth);
            serde_json::to_string(&frames.into_iter().map(|(_, name)| name).collect::<Vec<&str>>()).ok()
        })
        .collect();
    let index = index_of(&known);
    let codes = ids.iter().map(|id| id.and_then(|id| index.position(id)));
    reading.put_texts_at("call_stack", &texts, codes)
}
