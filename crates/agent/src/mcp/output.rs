//! The thread that writes to the client, so that a client that does not read blocks nothing else.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use super::backlog::Backlog;
use super::server::Event;

pub(super) struct Output {
    lines: Sender<String>,
    backlog: Arc<Backlog>,
    /// Bytes not yet written.
    unwritten: usize,
    /// The last time when the client read pending data, or had nothing to read.
    last_read: Instant,
}

impl Output {
    /// Starts the thread. It reports every written piece.
    pub(super) fn start(events: Sender<Event>, backlog: Arc<Backlog>) -> Self {
        let (lines, queue) = channel();
        let held = Arc::clone(&backlog);
        thread::spawn(move || {
            if let Err(error) = write_lines(&queue, &events, &held) {
                // The server may have ended already.
                let _ = events.send(Event::Unwritable(error));
            }
        });
        Self { lines, backlog, unwritten: 0, last_read: Instant::now() }
    }

    /// Queues a message.
    pub(super) fn push(&mut self, mut line: String) {
        line.push('\n');
        if self.unwritten == 0 {
            self.last_read = Instant::now();
        }
        self.unwritten += line.len();
        self.backlog.add(line.len());
        // If the thread has ended, it has reported why.
        let _ = self.lines.send(line);
    }

    /// Records written bytes.
    pub(super) fn written(&mut self, bytes: usize) {
        self.unwritten = self.unwritten.saturating_sub(bytes);
        self.last_read = Instant::now();
    }

    pub(super) fn unwritten(&self) -> usize {
        self.unwritten
    }

    /// The time since which the client has not read pending data; `None` if nothing is pending.
    pub(super) fn stalled_since(&self) -> Option<Instant> {
        (self.unwritten > 0).then_some(self.last_read)
    }
}

/// Writes the lines; nothing else in this process writes to standard output.
fn write_lines(lines: &Receiver<String>, events: &Sender<Event>, backlog: &Backlog) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in lines {
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let bytes = match out.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            rest = rest.get(bytes..).unwrap_or_default();
            if rest.is_empty() {
                out.flush()?;
                backlog.release(line.len());
            }
            if events.send(Event::Written(bytes)).is_err() {
                return Ok(());
            }
        }
    }
    Ok(())
}
