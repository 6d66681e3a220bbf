//! How far the tables of a process are, for workers that read, build and look at them side by side.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::columns::requests::ProcessTables;

/// A task that can run when its tables are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Builds tables that belong together.
    Build(Vec<&'static str>),
    /// Runs the consumer of a number.
    Consume(usize),
}

/// Tables, and what is left to be done for them.
pub struct State {
    /// Those that are there and are needed still.
    pub tables: ProcessTables,
    pub done: Vec<Task>,
    /// Tables that are not there yet.
    missing: BTreeSet<&'static str>,
    /// Tasks that no thread has started.
    left: Vec<Task>,
    /// Whether someone has ended before the end, for whose tables others would wait for ever.
    has_failed: bool,
}

/// How far the tables are.
pub(crate) struct TableScheduler {
    state: Mutex<State>,
    changed: Condvar,
}

impl TableScheduler {
    /// Nothing is done yet of what is `left`; the tables that are `missing` will be read or built.
    pub fn new(tables: ProcessTables, missing: BTreeSet<&'static str>, left: Vec<Task>) -> Self {
        let state = State { tables, done: Vec::new(), missing, left, has_failed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Records that a table is there, whether it is needed or not.
    pub fn has(&self, table: &'static str) {
        self.lock().missing.remove(table);
        self.changed.notify_all();
    }

    /// The first task whose sources are all there, as soon as there is one; `None` if there never will be.
    pub fn next(&self, sources: impl Fn(&Task) -> Vec<&'static str>) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if state.has_failed || state.left.is_empty() {
                return None;
            }
            let is_ready = |task: &Task| sources(task).iter().all(|source| !state.missing.contains(source));
            if let Some(at) = state.left.iter().position(is_ready) {
                return Some(state.left.remove(at));
            }
            self.changed.wait(&mut state);
        }
    }

    /// Others wait for what comes of this until it has ended.
    pub fn begin(&self) -> TaskGuard<'_> {
        TaskGuard { progress: self, has_failed: true }
    }

    /// The tables that are left.
    pub(crate) fn into_tables(self) -> ProcessTables {
        self.state.into_inner().tables
    }
}

/// Lets those that wait for tables go on when there will be no more, also after a panic.
pub(crate) struct TaskGuard<'a> {
    progress: &'a TableScheduler,
    has_failed: bool,
}

impl TaskGuard<'_> {
    /// All that others wait for is there.
    pub fn end(mut self) {
        self.has_failed = false;
    }
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        self.progress.lock().has_failed |= self.has_failed;
        self.progress.changed.notify_all();
    }
}
