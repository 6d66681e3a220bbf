//! The words and streams of a run: from the process, or from a caller that runs the program inside its own process.
//!
//! A test that runs the program inside itself saves the start of a process. The environment and the current directory
//! are shared with the process. A run inside it has no terminal and an empty standard input.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Once};
use std::thread;

use parking_lot::{Mutex, ReentrantMutex, RwLock};

use wavesieve_engine::becomes_error;

/// Default stack size of a main thread. Other threads have a quarter of it, but the command line needs more.
const STACK_BYTES: usize = 8 << 20;
/// The exit code of a process whose main thread panicked.
const PANICKED: u8 = 101;
/// Width of help texts without a terminal, the default of the command-line parser.
const HELP_WIDTH: usize = 100;

/// The run inside this process, if there is one.
static INSIDE: RwLock<Option<Arc<Inside>>> = RwLock::new(None);
/// Only one run at a time is inside: the threads of a run find its streams in [`INSIDE`].
static TURN: Mutex<()> = Mutex::new(());
static HOOK: Once = Once::new();

/// The end of a run inside this process, and its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// The exit code.
    pub code: u8,
    /// Bytes written to standard output.
    pub stdout: Vec<u8>,
    /// Bytes written to standard error, including messages of panics.
    pub stderr: Vec<u8>,
}

struct Inside {
    words: Vec<OsString>,
    stdout: Stream,
    stderr: Stream,
}

/// A stream in memory, with a reentrant lock like the streams of a process.
#[derive(Default)]
struct Stream(ReentrantMutex<RefCell<Vec<u8>>>);

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream {
    fn hold<T>(&self, write: impl FnOnce(&mut dyn Write) -> T) -> T {
        let _held = self.0.lock();
        write(&mut &*self)
    }

    fn take(&self) -> Vec<u8> {
        self.0.lock().take()
    }
}

/// Runs `program` with other words, the first of which is the name of the program, and keeps its output. Waits for runs
/// of other threads.
pub(crate) fn run_inside(words: Vec<OsString>, program: impl FnOnce() -> u8 + Send) -> RunOutcome {
    let _turn = TURN.lock();
    HOOK.call_once(keep_panics);
    let run = Arc::new(Inside { words, stdout: Stream::default(), stderr: Stream::default() });
    *INSIDE.write() = Some(Arc::clone(&run));
    let code = thread::scope(|scope| {
        let started =
            thread::Builder::new().name("main".to_owned()).stack_size(STACK_BYTES).spawn_scoped(scope, program);
        started.ok().and_then(|thread| thread.join().ok()).unwrap_or(PANICKED)
    });
    *INSIDE.write() = None;
    RunOutcome { code, stdout: run.stdout.take(), stderr: run.stderr.take() }
}

/// Also writes panic messages to the standard error of the run inside this process, so that a caller sees them from all
/// its threads.
fn keep_panics() {
    let report = panic::take_hook();
    panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if let Some(run) = inside().filter(|_| !becomes_error()) {
            let thread = thread::current();
            let name = thread.name().unwrap_or("<unnamed>");
            run.stderr.hold(|out| _ = writeln!(out, "\nthread '{name}' {info}"));
        }
        report(info);
    }));
}

fn inside() -> Option<Arc<Inside>> {
    INSIDE.read().clone()
}

/// Returns whether the program runs inside another process, whose signals, pools and settings it leaves alone.
pub(crate) fn is_inside() -> bool {
    INSIDE.read().is_some()
}

/// The words of the command line, starting with the name of the program.
pub(crate) fn words() -> Vec<OsString> {
    inside().map_or_else(|| std::env::args_os().collect(), |run| run.words.clone())
}

/// The words of the command line after the name of the program, as texts.
pub(crate) fn arguments() -> impl Iterator<Item = String> {
    words().into_iter().skip(1).map(|word| word.to_string_lossy().into_owned())
}

/// Writes to standard output, locked against other threads.
pub(crate) fn with_stdout<T>(write: impl FnOnce(&mut dyn Write) -> T) -> T {
    match inside() {
        Some(run) => run.stdout.hold(write),
        None => write(&mut io::stdout().lock()),
    }
}

/// Writes to standard error, locked against other threads.
pub(crate) fn with_stderr<T>(write: impl FnOnce(&mut dyn Write) -> T) -> T {
    match inside() {
        Some(run) => run.stderr.hold(write),
        None => write(&mut io::stderr().lock()),
    }
}

/// Reads all of standard input as text.
///
/// # Errors
/// When it cannot be read or is not UTF-8.
pub(crate) fn read_stdin() -> io::Result<String> {
    let mut text = String::new();
    if !is_inside() {
        io::stdin().read_to_string(&mut text)?;
    }
    Ok(text)
}

/// Returns whether standard input is a terminal.
pub(crate) fn is_stdin_terminal() -> bool {
    !is_inside() && io::stdin().is_terminal()
}

/// Returns whether standard output is a terminal.
pub(crate) fn is_stdout_terminal() -> bool {
    !is_inside() && io::stdout().is_terminal()
}

/// Returns whether standard error is a terminal.
pub(crate) fn is_stderr_terminal() -> bool {
    !is_inside() && io::stderr().is_terminal()
}

/// Columns of the terminal on standard output.
pub(crate) fn stdout_columns() -> Option<usize> {
    let size = if is_inside() { None } else { terminal_size::terminal_size_of(io::stdout()) };
    size.map(|(width, _)| usize::from(width.0))
}

/// Columns of the terminal on any stream.
pub(crate) fn terminal_columns() -> Option<usize> {
    let size = if is_inside() { None } else { terminal_size::terminal_size() };
    size.map(|(width, _)| usize::from(width.0))
}

/// Columns for help texts: the command-line parser would otherwise use the terminal of the caller.
pub(crate) fn help_columns() -> Option<usize> {
    let columns = || std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    is_inside().then(|| columns().unwrap_or(HELP_WIDTH))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code, output and messages. Messages may include panics of other tests.
    fn run(words: &[&str], program: impl FnOnce() -> u8 + Send) -> (u8, Vec<u8>, String) {
        let outcome = run_inside(words.iter().map(OsString::from).collect(), program);
        (outcome.code, outcome.stdout, String::from_utf8(outcome.stderr).unwrap())
    }

    fn fail(text: &str) {
        panic!("{text}")
    }

    #[test]
    fn words_and_streams_are_those_of_the_caller() {
        let (code, stdout, stderr) = run(&["wavesieve", "info", "x"], || {
            assert!(is_inside() && !is_stdout_terminal() && read_stdin().unwrap().is_empty());
            with_stdout(|out| {
                write!(out, "{:?}", arguments().collect::<Vec<_>>()).unwrap();
                // This thread already holds the lock, which the streams of a process allow too.
                with_stdout(|out| out.write_all(b"\xff").unwrap());
            });
            thread::scope(|scope| _ = scope.spawn(|| with_stderr(|out| out.write_all(b"noted").unwrap())));
            3
        });
        assert_eq!((code, stdout.as_slice()), (3, &b"[\"info\", \"x\"]\xff"[..]));
        assert!(stderr.contains("noted"), "{stderr}");
    }

    #[test]
    fn panics_are_seen() {
        let panicking = || {
            fail("of the run");
            0
        };
        let (code, _, stderr) = run(&["wavesieve"], panicking);
        assert_eq!(code, PANICKED);
        assert!(stderr.contains("thread 'main' panicked at") && stderr.contains("of the run"), "{stderr}");
        let (code, _, stderr) = run(&["wavesieve"], || thread::spawn(|| fail("aside")).join().is_err().into());
        assert!(code == 1 && stderr.contains("aside"), "{stderr}");
        let (code, _, stderr) = run(&["wavesieve"], || 0);
        assert!(code == 0 && !stderr.contains("aside"), "{stderr}");
    }

    #[test]
    fn runs_wait_for_one_another() {
        thread::scope(|scope| {
            for number in 0..8_u8 {
                scope.spawn(move || {
                    let name = number.to_string();
                    let program = || {
                        let first = arguments().next().unwrap();
                        with_stdout(|out| out.write_all(first.as_bytes()).unwrap());
                        number
                    };
                    let (code, stdout, _) = run(&["wavesieve", &name], program);
                    assert_eq!((code, stdout), (number, name.into_bytes()));
                });
            }
        });
    }
}
