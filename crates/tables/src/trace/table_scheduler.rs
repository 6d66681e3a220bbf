//! Progress of the tables of a process, for workers that read, build and consume them in parallel.

use std::collections::BTreeSet;

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::columns::requests::ProcessTables;

/// A task that can run when its tables are ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Task {
    /// Builds tables that belong together.
    Build(Vec<&'static str>),
    /// Runs the consumer with this number.
    Consume(usize),
}

/// Tables and pending tasks.
pub struct State {
    /// Tables that are ready and still needed.
    pub tables: ProcessTables,
    pub done: Vec<Task>,
    /// Tables that are not ready yet.
    missing: BTreeSet<&'static str>,
    /// Tasks that no thread has started.
    left: Vec<Task>,
    /// Whether a task has failed; other tasks would wait forever for its tables.
    has_failed: bool,
}

/// Progress of tables and tasks.
pub(crate) struct TableScheduler {
    state: Mutex<State>,
    changed: Condvar,
}

impl TableScheduler {
    /// A scheduler before any task: `left` are the tasks, and `missing` tables will be read or built.
    pub fn new(tables: ProcessTables, missing: BTreeSet<&'static str>, left: Vec<Task>) -> Self {
        let state = State { tables, done: Vec::new(), missing, left, has_failed: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Locks the state.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Records that a table is ready, whether it is needed or not.
    pub fn has(&self, table: &'static str) {
        self.lock().missing.remove(table);
        self.changed.notify_all();
    }

    /// The first task whose sources are all ready, as soon as there is one; `None` if there will not be one.
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

    /// Starts a task. Other tasks wait for its tables until it has ended.
    pub fn begin(&self) -> TaskGuard<'_> {
        TaskGuard { progress: self, has_failed: true }
    }

    /// The tables that are left.
    pub(crate) fn into_tables(self) -> ProcessTables {
        self.state.into_inner().tables
    }
}

/// Wakes waiting tasks if no more tables will come, also after a panic.
pub(crate) struct TaskGuard<'a> {
    progress: &'a TableScheduler,
    has_failed: bool,
}

impl TaskGuard<'_> {
    /// Ends the task: all its tables are ready.
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
