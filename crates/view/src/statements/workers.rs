//! Processes that run statements, from the server's side.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use parking_lot::Mutex;

use super::statement::Statement;
use crate::api::ApiError;
use crate::http::Status;

/// Maximum number of statements at a time.
const MAX_RUNNING: usize = 2;
/// Time for a statement.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// Time for a process to remove its temporary files.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum length of an answer; answers keep to a smaller one.
const MAX_LINE_BYTES: u64 = 256 << 20;

/// Processes, each of which runs one statement at a time. They are started on demand.
pub struct Workers {
    /// This program, and the words of the command line that makes it a worker.
    command: (OsString, Vec<OsString>),
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    idle: Vec<Worker>,
    running: Vec<Running>,
    started: u64,
}

/// A running statement.
struct Running {
    number: u64,
    window: Option<String>,
    process: Arc<Process>,
}

/// A process that any thread can end while one waits for its answer.
struct Process {
    child: Mutex<Child>,
    /// `None` after the request to end.
    input: Mutex<Option<ChildStdin>>,
    is_stopped: AtomicBool,
}

/// A process with its answers.
struct Worker {
    process: Arc<Process>,
    lines: Receiver<String>,
}

impl Workers {
    /// Processes that are started as this program with these words.
    pub fn new(program: OsString, words: Vec<OsString>) -> Self {
        Self { command: (program, words), state: Mutex::default() }
    }

    /// Runs a statement. One that its window started before is stopped. Returns the status and the JSON of its answer.
    ///
    /// # Errors
    /// When too many statements run, no process can be started, or the statement was stopped or took too long.
    pub fn run(&self, statement: &Statement) -> Result<(u16, String), ApiError> {
        if let Some(window) = &statement.window {
            self.stop(window);
        }
        let (number, worker) = self.take(statement.window.as_deref())?;
        let answered = worker.ask(statement, TIME_LIMIT);
        let mut state = self.state.lock();
        state.running.retain(|running| running.number != number);
        match answered {
            // A process that was stopped meanwhile is not used again.
            Ok(answer) if !worker.process.is_stopped.load(Ordering::SeqCst) => {
                state.idle.push(worker);
                Ok(answer)
            }
            Ok(answer) => Ok(answer),
            Err(error) => {
                drop(state);
                worker.process.end();
                Err(error)
            }
        }
    }

    /// Stops the statement of a window; returns whether one was running.
    pub fn stop(&self, window: &str) -> bool {
        let stopped: Vec<Arc<Process>> = {
            let mut state = self.state.lock();
            // The next statement of the window may take the place at once.
            let own = state.running.extract_if(.., |running| running.window.as_deref() == Some(window));
            let stopped: Vec<Arc<Process>> = own.map(|running| running.process).collect();
            // A statement that ends now finds its process stopped, and does not keep it.
            for process in &stopped {
                process.is_stopped.store(true, Ordering::SeqCst);
            }
            stopped
        };
        for process in &stopped {
            process.end();
        }
        !stopped.is_empty()
    }

    /// A process for a statement, with a number.
    fn take(&self, window: Option<&str>) -> Result<(u64, Worker), ApiError> {
        let mut state = self.state.lock();
        if state.running.len() >= MAX_RUNNING {
            let reason = format!("{MAX_RUNNING} statements are running; stop one, or wait until one ends");
            return Err(ApiError(Status::UNAVAILABLE, reason));
        }
        // A process may have ended while it was idle.
        let mut idle = std::iter::from_fn(|| state.idle.pop());
        let worker = match idle.find(|worker| worker.process.is_alive()) {
            Some(worker) => worker,
            None => Worker::start(&self.command)?,
        };
        state.started += 1;
        let (number, window) = (state.started, window.map(str::to_owned));
        state.running.push(Running { number, window, process: Arc::clone(&worker.process) });
        Ok((number, worker))
    }
}

impl Worker {
    fn start((program, words): &(OsString, Vec<OsString>)) -> Result<Self> {
        let mut command = Command::new(program);
        // The server has reported damage already.
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("cannot start a process for statements")?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, lines) = sync_channel(1);
        let read = move || {
            let Some(output) = output else { return };
            let mut output = BufReader::new(output);
            loop {
                let mut line = String::new();
                let length = output.by_ref().take(MAX_LINE_BYTES).read_line(&mut line).unwrap_or(0);
                if length == 0 || !line.ends_with('\n') || sender.send(line).is_err() {
                    return;
                }
            }
        };
        let process = Arc::new(Process {
            child: Mutex::new(child),
            input: Mutex::new(input),
            is_stopped: AtomicBool::new(false),
        });
        if let Err(error) = thread::Builder::new().spawn(read) {
            process.end();
            return Err(error).context("cannot start a thread");
        }
        Ok(Self { process, lines })
    }

    /// Sends a statement, and waits for its answer.
    fn ask(&self, statement: &Statement, limit: Duration) -> Result<(u16, String), ApiError> {
        let mut line = serde_json::to_vec(statement).context("cannot write the statement")?;
        line.push(b'\n');
        // A process that cannot be written to ends without an answer.
        let sent = self.process.input.lock().as_mut().map(|input| input.write_all(&line).and_then(|()| input.flush()));
        drop(sent);
        let failed = |reason: String| Err(ApiError(Status::UNPROCESSABLE, reason));
        match self.lines.recv_timeout(limit) {
            Ok(line) => {
                let parts = line.trim_end().split_once(' ');
                let answer = parts.and_then(|(status, body)| Some((status.parse().ok()?, body.to_owned())));
                Ok(answer.context("internal: a process answers without a status")?)
            }
            Err(RecvTimeoutError::Timeout) => failed(format!(
                "the statement was stopped after {} minutes; run it with wavesieve sql",
                limit.as_secs() / 60
            )),
            Err(RecvTimeoutError::Disconnected) if self.process.is_stopped.load(Ordering::SeqCst) => {
                failed("the statement was stopped".to_owned())
            }
            Err(RecvTimeoutError::Disconnected) => failed(
                "the process of the statement ended: it may need more memory, which --memory-limit gives".to_owned(),
            ),
        }
    }
}

impl Process {
    fn is_alive(&self) -> bool {
        matches!(self.child.lock().try_wait(), Ok(None))
    }

    /// Ends it: closing its input lets it clean up; if that takes too long, it is killed. It is also killed while it does not
    /// read a statement that is being written, which then fails.
    fn end(&self) {
        let input = self.input.try_lock();
        let is_written_to = input.is_none();
        if let Some(mut input) = input {
            *input = None;
        }
        let start = Instant::now();
        let mut child = self.child.lock();
        if is_written_to {
            let _ = child.kill();
        }
        while matches!(child.try_wait(), Ok(None)) {
            if start.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A process that answers each line with what a shell prints for it.
    fn workers(script: &str) -> Workers {
        let script = format!("while read -r line; do {script}; done");
        Workers::new("sh".into(), vec!["-c".into(), script.into()])
    }

    fn of_window(window: &str) -> Statement {
        Statement::parse(format!(r#"{{"sql": "", "window": "{window}"}}"#).as_bytes()).unwrap()
    }

    fn reason(answered: Result<(u16, String), ApiError>) -> String {
        answered.err().map(|error| error.1).unwrap_or_default()
    }

    #[test]
    fn a_process_is_used_again_and_replaced_when_it_ended() {
        let workers = workers("echo \"200 $$\"");
        let ask = || workers.run(&Statement::default()).unwrap();
        let (first, second) = (ask(), ask());
        assert_eq!((first.0, &first.1), (200, &second.1));
        workers.state.lock().idle.iter().for_each(|worker| worker.process.end());
        assert_ne!(ask().1, first.1);
    }

    #[test]
    fn a_statement_is_stopped_with_its_window() {
        let workers = workers("exec sleep 50");
        let start = Instant::now();
        thread::scope(|scope| {
            let running = scope.spawn(|| workers.run(&of_window("one")));
            while workers.state.lock().running.is_empty() {
                thread::sleep(Duration::from_millis(5));
            }
            assert!(!workers.stop("two"));
            assert!(workers.stop("one"));
            assert_eq!(reason(running.join().unwrap()), "the statement was stopped");
        });
        assert!(start.elapsed() < Duration::from_secs(20) && !workers.stop("one"));
    }

    #[test]
    fn a_process_that_does_not_read_its_statement_is_stopped() {
        let workers = Workers::new("sleep".into(), vec!["50".into()]);
        // No pipe holds it.
        let body = format!(r#"{{"sql": "{}", "window": "one"}}"#, "x".repeat(4 << 20));
        let statement = Statement::parse(body.as_bytes()).unwrap();
        let start = Instant::now();
        thread::scope(|scope| {
            let running = scope.spawn(|| workers.run(&statement));
            while workers.state.lock().running.is_empty() {
                thread::sleep(Duration::from_millis(5));
            }
            // It is being written.
            thread::sleep(Duration::from_millis(200));
            assert!(workers.stop("one"));
            assert_eq!(reason(running.join().unwrap()), "the statement was stopped");
        });
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn few_statements_run_at_a_time_and_one_of_a_window() {
        let workers = workers("exec sleep 50");
        thread::scope(|scope| {
            let wait = |count: u64| {
                while workers.state.lock().started < count {
                    thread::sleep(Duration::from_millis(5));
                }
            };
            let first = scope.spawn(|| workers.run(&of_window("one")));
            wait(1);
            let second = scope.spawn(|| workers.run(&of_window("two")));
            wait(2);
            assert!(reason(workers.run(&of_window("three"))).contains("statements are running"));
            let third = scope.spawn(|| workers.run(&of_window("one")));
            wait(3);
            assert!(reason(first.join().unwrap()).contains("stopped"));
            assert!(workers.stop("one") && workers.stop("two"));
            drop((second.join(), third.join()));
        });
    }

    #[test]
    fn a_process_that_fails_or_is_too_slow_gives_an_error() {
        assert!(reason(workers("exit 1").run(&Statement::default())).contains("--memory-limit"));
        let slow = workers("exec sleep 50");
        let (_, worker) = slow.take(None).unwrap();
        assert!(reason(worker.ask(&Statement::default(), Duration::from_millis(50))).contains("was stopped after"));
        worker.process.end();
    }
}
