//! The main loop of the server: handles lines of the client, results of tools, and timeouts.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use serde::de::IgnoredAny;
use serde_json::Value;

use super::McpOptions;
use super::backlog::Backlog;
use super::batches::{Batches, RequestPlace};
use super::failure::{Exit, ToolFailure};
use super::input::read_lines;
use super::output::Output;
use super::paths::Roots;
use super::protocol::{ResultKind, RpcError, failure, marked, success};
use super::session::{Call, Reaction, Received, Session};
use super::worker::Task;
use super::worker_handle::Workers;

/// Maximum unread bytes before the next call runs: answers may have pictures.
const MOST_UNREAD: usize = 16 << 20;

pub(super) enum Event {
    Line(Vec<u8>),
    LineTooLong,
    /// The client closed the input.
    End,
    /// A line from a worker.
    Result(u64, String),
    WorkerGone(u64),
    /// Bytes of an answer that were written.
    Written(usize),
    /// The output cannot be written any more.
    Unwritable(io::Error),
}

/// Serves the client on standard input and output until it disconnects. Requests before the end of the input are still
/// answered.
///
/// # Errors
/// When a directory cannot be used, the client does not read, or writing fails, except if the client disconnected.
pub fn serve(options: &McpOptions) -> Result<(), ToolFailure> {
    // Wrong directories are reported at once, not by the first call.
    Roots::new(&options.directories)?;
    let (sender, events) = channel();
    let backlog = Arc::new(Backlog::default());
    let (lines, held) = (sender.clone(), Arc::clone(&backlog));
    thread::spawn(move || read_lines(&lines, &held));
    let mut server = Server {
        options,
        session: Session::new(options),
        output: Output::start(sender.clone(), Arc::clone(&backlog)),
        backlog,
        batches: Batches::default(),
        workers: Workers::new(std::env::args_os().skip(1).collect(), sender),
        running: None,
        waiting: VecDeque::new(),
        has_ended: false,
    };
    server.run(&events)
}

/// The destination of an answer: alone, with the size of its request, or in a batch.
#[derive(Clone, Copy)]
enum Target {
    Line(usize),
    Batch(RequestPlace),
}

struct Queued {
    call: Call,
    target: Target,
}

struct Server<'a> {
    options: &'a McpOptions,
    session: Session<'a>,
    output: Output,
    backlog: Arc<Backlog>,
    batches: Batches,
    workers: Workers,
    running: Option<(Queued, Instant)>,
    waiting: VecDeque<Queued>,
    /// Whether the client closed the input.
    has_ended: bool,
}

impl Server<'_> {
    fn run(&mut self, events: &Receiver<Event>) -> Result<(), ToolFailure> {
        loop {
            self.start_next();
            let is_done = self.running.is_none() && self.waiting.is_empty() && self.output.unwritten() == 0;
            if self.has_ended && is_done {
                return Ok(());
            }
            // Checked before the next event: a client that sends much does not get more time.
            let now = Instant::now();
            let stall = self.output.stalled_since().map(|since| since + self.options.time_limit);
            if stall.is_some_and(|until| until <= now) {
                return Err(self.unread());
            }
            let until = self.running.as_ref().map(|(_, until)| *until);
            if until.is_some_and(|until| until <= now) {
                self.stop();
                continue;
            }
            let event = match until.into_iter().chain(stall).min() {
                Some(until) => events.recv_timeout(until.saturating_duration_since(now)),
                None => events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Unwritable(error)) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                Ok(Event::Unwritable(error)) => return Err(anyhow::Error::from(error).into()),
                Ok(event) => self.take(event),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Line(line) => self.react(&line),
            Event::LineTooLong => {
                let error = RpcError::parse("the line has more than 4 MiB; send less at once");
                self.output.push(failure(&Value::Null, &error).to_string());
            }
            Event::End => self.has_ended = true,
            Event::Result(number, line) if self.workers.is_current(number) => self.finish(&line),
            Event::WorkerGone(number) if self.workers.is_current(number) => self.fail(
                "the tool process ended, perhaps for lack of memory; narrow the request with filters or a window",
            ),
            Event::Written(bytes) => self.output.written(bytes),
            Event::Result(..) | Event::WorkerGone(_) | Event::Unwritable(_) => {}
        }
    }

    fn react(&mut self, line: &[u8]) {
        match self.session.react(line) {
            Received::One(reaction) => self.follow(reaction, Target::Line(line.len())),
            Received::Batch(reactions) => {
                let number = self.batches.begin(reactions.len(), line.len());
                for (at, reaction) in reactions.into_iter().enumerate() {
                    self.follow(reaction, Target::Batch((number, at)));
                }
            }
        }
    }

    fn follow(&mut self, reaction: Reaction, target: Target) {
        match reaction {
            Reaction::Nothing => self.reply(target, None),
            Reaction::Reply(reply) => self.reply(target, Some(reply.to_string())),
            Reaction::Call(call) => self.waiting.push_back(Queued { call, target }),
            Reaction::Cancel(id) => {
                self.cancel(&id);
                self.reply(target, None);
            }
        }
    }

    /// Drops calls; a running one ends with its worker.
    fn cancel(&mut self, id: &Value) {
        let (cancelled, waiting) = self.waiting.drain(..).partition(|queued| queued.call.id == *id);
        self.waiting = waiting;
        let cancelled: VecDeque<Queued> = cancelled;
        for queued in cancelled {
            self.reply(queued.target, None);
        }
        if let Some((queued, _)) = self.running.take_if(|(queued, _)| queued.call.id == *id) {
            self.workers.stop();
            self.reply(queued.target, None);
        }
    }

    /// Starts the next call if none is running and the client reads.
    fn start_next(&mut self) {
        while self.running.is_none() && self.output.unwritten() <= MOST_UNREAD {
            let Some(queued) = self.waiting.pop_front() else { return };
            let Call { tool, arguments, is_stateless, .. } = queued.call.clone();
            if self.workers.hand_over(&Task { tool, arguments, is_stateless, behind: None }).is_ok() {
                self.running = Some((queued, Instant::now() + self.options.time_limit));
            } else {
                self.workers.stop();
                self.answer(&queued, "the tool process cannot be started; try again");
            }
        }
    }

    /// Passes the result of the worker on unchanged: parsing and formatting would change the last digits of numbers.
    fn finish(&mut self, line: &str) {
        if serde_json::from_str::<IgnoredAny>(line).is_err() {
            return self.fail("the tool process returned invalid output");
        }
        let Some((queued, _)) = self.running.take() else { return };
        self.reply(queued.target, Some(format!(r#"{{"id":{},"jsonrpc":"2.0","result":{line}}}"#, queued.call.id)));
    }

    /// Ends a call that takes too long.
    fn stop(&mut self) {
        let seconds = self.options.time_limit.as_secs();
        self.fail(&format!(
            "stopped after {seconds} s; narrow the request with filters or a window, or start the server with a larger \
             --time-limit"
        ));
    }

    /// Ends the worker with its running call.
    fn fail(&mut self, reason: &str) {
        self.workers.stop();
        let Some((queued, _)) = self.running.take() else { return };
        let reason = format!("{}: {reason}", queued.call.tool);
        self.answer(&queued, &reason);
    }

    /// Answers a call without a result.
    fn answer(&mut self, queued: &Queued, reason: &str) {
        let result = ToolFailure::new(Exit::Unexpected, reason).result();
        let reply = success(&queued.call.id, &marked(result, ResultKind::Answer, queued.call.is_stateless));
        self.reply(queued.target, Some(reply.to_string()));
    }

    /// Writes the reply to a message, if it has one.
    fn reply(&mut self, target: Target, reply: Option<String>) {
        let (line, bytes) = match target {
            Target::Line(bytes) => (reply, bytes),
            Target::Batch(place) => match self.batches.take(place, reply) {
                Some(answered) => (answered.line, answered.bytes),
                None => return,
            },
        };
        if let Some(line) = line {
            self.output.push(line);
        }
        self.backlog.release(bytes);
    }

    fn unread(&self) -> ToolFailure {
        let seconds = self.options.time_limit.as_secs();
        let reason = format!(
            "the client has read nothing for {seconds} s although answers wait; read standard output while sending requests"
        );
        ToolFailure::new(Exit::Unexpected, reason)
    }
}
