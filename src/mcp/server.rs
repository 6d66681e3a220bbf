//! The loop of the server: lines of the client, results of tools, and the time that calls may take.

use std::collections::VecDeque;
use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::de::IgnoredAny;
use serde_json::Value;

use super::McpOptions;
use super::failure::{Exit, ToolFailure};
use super::paths::Roots;
use super::protocol::{Kind, RpcError, failure, marked, success};
use super::session::{Call, Reaction, Session};
use super::worker::Task;
use super::worker_handle::Worker;

/// Bytes of a line, at most: nobody asks for so much.
const LONGEST_LINE: u64 = 4 << 20;
/// Calls that wait, at most.
const MOST_WAITING: usize = 64;
/// How long calls may go on when the client is gone: it may still read what it has asked for.
const GRACE: Duration = Duration::from_secs(10);

/// What happens.
pub(super) enum Event {
    Line(Vec<u8>),
    LineTooLong,
    /// The client closed the input.
    End,
    /// A line of a worker.
    Result(u64, String),
    WorkerGone(u64),
}

/// Serves the client on standard input and output until it goes away.
///
/// # Errors
/// If a directory cannot be used, or writing fails for another reason than that nobody reads.
pub(crate) fn serve(options: &McpOptions) -> Result<(), ToolFailure> {
    // What is wrong with the directories is said at once, and not by the first call.
    Roots::new(&options.directories)?;
    let (sender, events) = channel();
    let lines = sender.clone();
    thread::spawn(move || read_lines(&lines));
    let mut server = Server {
        options,
        session: Session::new(options),
        sender,
        worker: None,
        started: 0,
        running: None,
        waiting: VecDeque::new(),
        ends_at: None,
    };
    match server.run(&events) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(anyhow::Error::from(error).into()),
        _ => Ok(()),
    }
}

fn read_lines(events: &Sender<Event>) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let event = match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Event::End,
            Ok(_) if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") => {
                skip_line(&mut input);
                Event::LineTooLong
            }
            Ok(_) => Event::Line(line),
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

/// Reads on to the end of the line.
fn skip_line(input: &mut impl BufRead) {
    while let Ok(bytes) = input.fill_buf() {
        let end = bytes.iter().position(|byte| *byte == b'\n');
        let used = end.map_or(bytes.len(), |end| end + 1);
        if used == 0 {
            return;
        }
        input.consume(used);
        if end.is_some() {
            return;
        }
    }
}

struct Server<'a> {
    options: &'a McpOptions,
    session: Session<'a>,
    sender: Sender<Event>,
    worker: Option<Worker>,
    /// Workers so far.
    started: u64,
    running: Option<(Call, Instant)>,
    waiting: VecDeque<Call>,
    /// When the server ends although calls are not done.
    ends_at: Option<Instant>,
}

impl Server<'_> {
    fn run(&mut self, events: &Receiver<Event>) -> io::Result<()> {
        loop {
            self.start_next()?;
            if self.ends_at.is_some() && self.running.is_none() {
                return Ok(());
            }
            let until = self.running.as_ref().map(|(_, until)| *until).into_iter().chain(self.ends_at).min();
            let event = match until {
                Some(until) => events.recv_timeout(until.saturating_duration_since(Instant::now())),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Line(line)) => self.react(&line)?,
                Ok(Event::LineTooLong) => {
                    let error = RpcError::parse("the line has more than 4 MiB");
                    write(&failure(&Value::Null, &error))?;
                }
                Ok(Event::End) => self.ends_at = Some(Instant::now() + GRACE),
                Ok(Event::Result(number, line)) if self.is_current(number) => self.finish(&line)?,
                Ok(Event::WorkerGone(number)) if self.is_current(number) => self.fail(
                    Exit::Unexpected,
                    "the process of the tools ended, perhaps for lack of memory; narrow the request with filters or a window",
                )?,
                Ok(Event::Result(..) | Event::WorkerGone(_)) => {}
                Err(RecvTimeoutError::Timeout) if self.ends_at.is_some_and(|end| end <= Instant::now()) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.options.time_limit.as_secs();
                    let reason = format!(
                        "stopped after {seconds} s; narrow the request with filters or a window, or start the server with a \
                         larger --time-limit"
                    );
                    self.fail(Exit::Unexpected, &reason)?;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn is_current(&self, number: u64) -> bool {
        self.worker.as_ref().is_some_and(|worker| worker.number == number)
    }

    fn react(&mut self, line: &[u8]) -> io::Result<()> {
        match self.session.react(line) {
            Reaction::Nothing => Ok(()),
            Reaction::Reply(reply) => write(&reply),
            Reaction::Call(call) if self.waiting.len() >= MOST_WAITING => {
                let busy = ToolFailure::new(Exit::Unexpected, format!("{MOST_WAITING} calls wait already; try later"));
                answer(&call, busy.result())
            }
            Reaction::Call(call) => {
                self.waiting.push_back(call);
                Ok(())
            }
            Reaction::Cancel(id) => {
                self.waiting.retain(|call| call.id != id);
                if self.running.as_ref().is_some_and(|(call, _)| call.id == id) {
                    self.running = None;
                    self.worker = None;
                }
                Ok(())
            }
        }
    }

    /// Hands the next call over if none is running.
    fn start_next(&mut self) -> io::Result<()> {
        while self.running.is_none() {
            let Some(call) = self.waiting.pop_front() else { return Ok(()) };
            let (tool, arguments) = (call.tool.clone(), call.arguments.clone());
            let task = Task { tool, arguments, is_stateless: call.is_stateless };
            if self.hand_over(&task).is_ok() {
                self.running = Some((call, Instant::now() + self.options.time_limit));
            } else {
                self.worker = None;
                let failed =
                    ToolFailure::new(Exit::Unexpected, "the process of the tools cannot be started; try again");
                answer(&call, failed.result())?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self, task: &Task) -> io::Result<()> {
        // One that went away while nothing was asked is started again.
        if let Some(worker) = &mut self.worker
            && worker.send(task).is_ok()
        {
            return Ok(());
        }
        self.worker = None;
        self.started += 1;
        let mut worker = Worker::start(self.started, self.sender.clone())?;
        worker.send(task)?;
        self.worker = Some(worker);
        Ok(())
    }

    /// Hands the result of the worker on as it is: to read numbers and write them again would change their last digits.
    fn finish(&mut self, line: &str) -> io::Result<()> {
        if serde_json::from_str::<IgnoredAny>(line).is_err() {
            return self.fail(Exit::Unexpected, "the process of the tools wrote something else than a result");
        }
        let Some((call, _)) = self.running.take() else { return Ok(()) };
        write_line(format!(r#"{{"id":{},"jsonrpc":"2.0","result":{line}}}"#, call.id))
    }

    /// Ends the worker, and with it the call that is running.
    fn fail(&mut self, exit: Exit, reason: &str) -> io::Result<()> {
        self.worker = None;
        let Some((call, _)) = self.running.take() else { return Ok(()) };
        let message = format!("{}: {reason}", call.tool);
        answer(&call, ToolFailure::new(exit, message).result())
    }
}

fn answer(call: &Call, result: Value) -> io::Result<()> {
    write(&success(&call.id, &marked(result, Kind::Answer, call.is_stateless)))
}

fn write(message: &Value) -> io::Result<()> {
    write_line(message.to_string())
}

/// Writes a message. Nothing else in this process writes to standard output.
fn write_line(mut line: String) -> io::Result<()> {
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}
