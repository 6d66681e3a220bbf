//! Progress of a long command: a bar on a terminal, otherwise occasional lines if details are requested.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;

use super::messages::print_note;
use crate::cli::options::global::GlobalArguments;
use crate::invocation::is_stderr_terminal;
use wavesieve_export::convert::Observer;
use wavesieve_model::schema::{Origin, Table, tables};
use wavesieve_source::scan;
use wavesieve_tables::trace::TraceProcess;
use wavesieve_tables::trace::observer::Observer as ReadingObserver;

/// Shorter work does not need a bar.
const BAR_AFTER: Duration = Duration::from_millis(500);
/// Interval of lines without a terminal, if details are requested.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// A bar on a terminal after half a second; elsewhere a line every ten seconds if details are requested; nothing when
/// quiet.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Number of tables that are written per process.
    tables: usize,
    reporter: Mutex<Option<(Sender<()>, JoinHandle<()>)>>,
}

impl Progress {
    /// Watches the writing of this many processes, each with this many tables that are made on demand.
    pub(crate) fn new(processes: usize, on_demand: usize, global: &GlobalArguments) -> Self {
        let always = tables().iter().filter(|table| table.origin != Origin::OnDemand).count();
        let tables = always + on_demand;
        let steps = (processes * tables) as u64;
        Self { tables, ..Self::of_steps("tables", steps, global) }
    }

    /// Watches the reading of files. Their number is reported later.
    pub(crate) fn of_files(global: &GlobalArguments) -> Self {
        Self::of_steps("files", 0, global)
    }

    /// Watches the writing of this many documents.
    pub(crate) fn of_runs(runs: usize, global: &GlobalArguments) -> Self {
        Self::of_steps("runs", runs as u64, global)
    }

    /// Shows nothing.
    pub(crate) fn hidden() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        Self { bar, tables: 0, reporter: Mutex::new(None) }
    }

    /// Notes that a document was written, or failed.
    pub(crate) fn made(&self, name: &str) {
        self.bar.set_message(name.to_owned());
        self.bar.inc(1);
    }

    fn of_steps(of: &'static str, steps: u64, global: &GlobalArguments) -> Self {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:30}} {{pos}}/{{len}} {of} {{msg}} {{eta}}")) {
            bar.set_style(style);
        }
        let is_terminal = is_stderr_terminal();
        let is_wanted = is_wanted(global.quiet, global.verbose, is_terminal);
        let reporter = is_wanted.then(|| report(bar.clone(), of, is_terminal)).flatten();
        Self { bar, tables: 0, reporter: Mutex::new(reporter) }
    }

    /// Returns a function that removes the bar from another thread.
    pub(crate) fn clearer(&self) -> impl FnOnce() + Send + 'static {
        let bar = self.bar.clone();
        move || bar.finish_and_clear()
    }

    /// Ends the report.
    pub(crate) fn finish(&self) {
        let reporter = self.reporter.lock().take();
        if let Some((sender, thread)) = reporter {
            drop(sender);
            // A failed reporter reports nothing more.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

/// A bar on a terminal while files are opened, and while processes are read.
pub(crate) struct ReadingProgress {
    global: GlobalArguments,
    shown: Mutex<Option<Progress>>,
}

impl ReadingProgress {
    /// `None` without a terminal, or without anything to report.
    pub(crate) fn on_terminal(global: &GlobalArguments) -> Option<Arc<dyn ReadingObserver>> {
        let is_wanted = is_stderr_terminal() && !global.quiet;
        is_wanted
            .then(|| Arc::new(Self { global: global.clone(), shown: Mutex::default() }) as Arc<dyn ReadingObserver>)
    }
}

impl ReadingObserver for ReadingProgress {
    fn begin(&self, of: &'static str, steps: usize) -> bool {
        let mut shown = self.shown.lock();
        let is_first = shown.is_none();
        if is_first {
            *shown = Some(Progress::of_steps(of, steps as u64, &self.global));
        }
        is_first
    }

    fn done(&self) {
        if let Some(progress) = self.shown.lock().as_ref() {
            progress.bar.inc(1);
        }
    }

    fn end(&self) {
        if let Some(progress) = self.shown.lock().take() {
            progress.finish();
        }
    }
}

/// Returns whether to show progress: logs need no lines that the user did not request.
fn is_wanted(is_quiet: bool, is_verbose: bool, is_terminal: bool) -> bool {
    !is_quiet && (is_terminal || is_verbose)
}

/// Reports in a separate thread until the sender is dropped, so that a slow table still shows progress. `None` if no
/// thread can be started.
fn report(bar: ProgressBar, of: &'static str, terminal: bool) -> Option<(Sender<()>, JoinHandle<()>)> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().spawn(move || {
        let pause = if terminal { BAR_AFTER } else { LINE_EVERY };
        while receiver.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            if terminal {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(BAR_AFTER);
                return;
            }
            print_note(format_args!("{} of {} {of}, {}", bar.position(), bar.length().unwrap_or(0), bar.message()));
        }
    });
    Some((sender, thread.ok()?))
}

impl Observer for Progress {
    fn written(&self, member: &TraceProcess, table: &'static Table, _rows: usize) {
        self.bar.set_message(format!("rank {} {}", member.process.rank, table.name));
        self.bar.inc(1);
    }

    fn reused(&self, _member: &TraceProcess) {
        self.bar.inc(self.tables as u64);
    }
}

impl scan::Observer for Progress {
    fn begin(&self, files: usize) {
        self.bar.set_length(files as u64);
    }

    fn read(&self, file: &Path) {
        self.bar.set_message(scan::shown(file));
        self.bar.inc(1);
    }
}

#[cfg(test)]
mod tests {
    use super::is_wanted;

    #[test]
    fn logs_have_no_progress_unless_details_are_asked_for() {
        assert!(is_wanted(false, false, true) && is_wanted(false, true, false));
        assert!(!is_wanted(false, false, false) && !is_wanted(true, false, true));
    }
}
