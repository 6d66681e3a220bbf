//! Operations of ROCTx ranges in databases that name ranges by their text, as rocprofv3 does since the summer of 2026.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::regions::with_length;
use crate::common::sqlite::integer;
use crate::rocpd::database::Database;
use crate::rocpd::events::Events;
use crate::rocpd::lookups::Lookups;
use wavesieve_model::analysis::ranges::markers::{PROCESS_RANGE, THREAD_RANGE, is_operation};
use wavesieve_model::analysis::ranges::overlaps::{OpenRange, started_and_stopped};
use wavesieve_tables::columns::values::I64Values;

/// Categories of ranges and marks.
const CATEGORIES: [&str; 2] = ["MARKER_CORE_RANGE_API", "MARKER_CORE_API"];

/// The ranges whose name is their text.
#[derive(Debug, Default)]
pub(crate) struct MarkerNames {
    /// Whether a range was started and stopped, by row id of its region.
    of_process: BTreeMap<i64, bool>,
}

impl MarkerNames {
    /// Looks for such ranges among the regions of a process.
    pub fn read(lookups: &Lookups, database: &Database, threads: usize) -> Result<Self> {
        let categories = lookups.categories(database, threads)?.ids_where(|text| CATEGORIES.contains(&text));
        let strings = lookups.strings(database, threads)?;
        // If ranges are named by operations, one of these is present.
        let has_operations = strings.values().iter().flatten().any(|text| is_range_operation(text));
        if categories.is_empty() || has_operations {
            return Ok(Self::default());
        }
        let wanted = ["event_id", "tid", "start", "end", "name_id"].map(integer);
        let columns = database.read_where("region", &wanted, with_length(), threads)?;
        let event_ids = columns.integers("event_id");
        let needed = ["category_id", "parent_stack_id", "stack_id"];
        let events = Events::read(&lookups.events, database, &needed, threads, false)?;
        let [category, parent, stack] = needed.map(|name| events.values(name, &event_ids));
        let parents: BTreeSet<i64> = parent.flatten().filter(|id| *id > 0).collect();
        let [ids, tids, starts, ends, names] =
            ["id", "tid", "start", "end", "name_id"].map(|name| I64Values::new(&columns.integers(name)));
        let rows = ids.iter().zip(tids.iter()).zip(starts.iter().zip(ends.iter())).zip(names.iter());
        let mut texts = TextKinds::default();
        let (mut regions, mut ranges) = (Vec::new(), Vec::new());
        for ((((id, tid), (start, end)), name), (category, stack)) in rows.zip(category.zip(stack)) {
            let is_marker = category.is_some_and(|category| categories.contains(&category));
            let text = strings.get(name).filter(|text| is_marker && !is_operation(text));
            let (Some(id), Some(text), Some(start_ns), Some(end_ns)) = (id, text, start, end) else { continue };
            regions.push(id);
            let is_parent = stack.is_some_and(|stack| parents.contains(&stack));
            ranges.push(OpenRange { tid: tid.unwrap_or(-1), start_ns, end_ns, text: texts.number(text), is_parent });
        }
        Ok(Self { of_process: regions.into_iter().zip(started_and_stopped(&ranges)).collect() })
    }

    /// Whether no range is named by its text.
    pub fn is_empty(&self) -> bool {
        self.of_process.is_empty()
    }

    /// The operation of a region, if its name is a text.
    pub fn operation(&self, region: i64) -> Option<&'static str> {
        Some(if *self.of_process.get(&region)? { PROCESS_RANGE } else { THREAD_RANGE })
    }
}

fn is_range_operation(text: &str) -> bool {
    is_operation(text) && (text.contains("Range") && !text.ends_with("Pop") && !text.ends_with("Stop"))
}

/// Numbers of texts that only differ in numbers, such as `request 1` and `request 2`.
#[derive(Default)]
struct TextKinds(BTreeMap<String, u32>);

impl TextKinds {
    fn number(&mut self, text: &str) -> u32 {
        let kind: String = text.chars().filter(|character| !character.is_ascii_digit()).collect();
        let next = self.0.len() as u32;
        *self.0.entry(kind).or_insert(next)
    }
}
