//! References from copied rows, noted by functions in the statements that copy them: no table is read twice.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use anyhow::Result;
use parking_lot::Mutex;
use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::{Value, ValueRef};

use super::id_set::IdSet;

/// Kind of a noted reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// Events of rows.
    Event,
    /// Correlation ids of chosen work.
    Stack,
    /// Calls around those that launched chosen work.
    Enclosing,
    Counter,
    Symbol,
    CodeObject,
    Track,
    Text,
}

/// Number of marks.
const MARKS: usize = Mark::Text as usize + 1;

/// Columns that refer to rows of other tables.
const REFERENCES: [(&str, Mark); 9] = [
    ("event_id", Mark::Event),
    ("pmc_id", Mark::Counter),
    ("kernel_id", Mark::Symbol),
    ("code_object_id", Mark::CodeObject),
    ("track_id", Mark::Track),
    ("name_id", Mark::Text),
    ("region_name_id", Mark::Text),
    ("category_id", Mark::Text),
    ("string_id", Mark::Text),
];

impl Mark {
    /// Kind of reference that a column holds.
    pub(super) fn of_column(column: &str) -> Option<Self> {
        REFERENCES.iter().find(|(name, _)| *name == column).map(|(_, mark)| *mark)
    }

    /// Condition for a value that was noted.
    pub(super) fn is_kept(self, value: &str) -> String {
        format!("is_kept({}, {value})", self as usize)
    }

    /// Like [`Mark::is_kept`], and also notes further values of the rows that meet the condition.
    pub(super) fn is_kept_with(self, value: &str, others: &[(Self, String)]) -> String {
        format!("is_kept({}, {value}{})", self as usize, arguments(others))
    }
}

/// The expression that notes values and returns the first.
pub(super) fn keep(values: &[(Mark, String)]) -> Option<String> {
    let (_, first) = values.first()?;
    Some(format!("keep({first}{})", arguments(values)))
}

fn arguments(values: &[(Mark, String)]) -> String {
    values.iter().map(|(mark, value)| format!(", {}, {value}", *mark as usize)).collect()
}

/// Sets of ids behind the functions, one of each mark.
pub(super) struct Marks(Arc<Mutex<Sets>>);

type Sets = [IdSet; MARKS];

impl Marks {
    /// Adds the functions `keep` and `is_kept` to SQLite. All sets are empty.
    pub(super) fn new(connection: &Connection) -> Result<Self> {
        let sets: Arc<Mutex<Sets>> = Arc::default();
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        let noting = AssertUnwindSafe(Arc::clone(&sets));
        connection.create_scalar_function("keep", -1, flags, move |context| Ok(note(&noting, context)))?;
        let asking = AssertUnwindSafe(Arc::clone(&sets));
        connection.create_scalar_function("is_kept", -1, flags, move |context| Ok(ask(&asking, context)))?;
        Ok(Self(sets))
    }

    /// Runs `ask` on a set.
    pub(super) fn with<T: Default>(&self, mark: Mark, ask: impl FnOnce(&mut IdSet) -> T) -> T {
        self.0.lock().get_mut(mark as usize).map(ask).unwrap_or_default()
    }
}

/// `keep(VALUE, MARK, ID, …)`: notes ids and returns the value.
fn note(sets: &Arc<Mutex<Sets>>, context: &Context<'_>) -> Value {
    note_from(&mut sets.lock(), context, 1);
    match context.get_raw(0) {
        ValueRef::Integer(id) => Value::Integer(id),
        other => other.into(),
    }
}

/// `is_kept(MARK, ID, MARK, ID, …)`: whether the first id was noted; if so, the others are noted.
fn ask(sets: &Arc<Mutex<Sets>>, context: &Context<'_>) -> bool {
    let (ValueRef::Integer(mark), ValueRef::Integer(id)) = (context.get_raw(0), context.get_raw(1)) else {
        return false;
    };
    let mut sets = sets.lock();
    let is_kept = usize::try_from(mark).ok().and_then(|mark| sets.get_mut(mark)).is_some_and(|set| set.contains(id));
    if is_kept {
        note_from(&mut sets, context, 2);
    }
    is_kept
}

fn note_from(sets: &mut Sets, context: &Context<'_>, first: usize) {
    for at in (first..context.len().saturating_sub(1)).step_by(2) {
        let (ValueRef::Integer(mark), ValueRef::Integer(id)) = (context.get_raw(at), context.get_raw(at + 1)) else {
            continue;
        };
        // 0 stands for a missing correlation id.
        if let Some(set) = usize::try_from(mark).ok().and_then(|mark| sets.get_mut(mark))
            && !(id == 0 && mark == Mark::Stack as i64)
        {
            set.insert(id);
        }
    }
}
