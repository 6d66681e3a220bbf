//! The thread that reads lines from the client.

use std::io::{self, BufRead, Read};
use std::sync::mpsc::Sender;

use super::backlog::Backlog;
use super::server::Event;

/// Maximum bytes of a line: requests of clients are shorter.
pub(super) const LONGEST_LINE: u64 = 4 << 20;

/// Reads until the input ends or the server stops; waits while the backlog is full.
pub(super) fn read_lines(events: &Sender<Event>, backlog: &Backlog) {
    let mut input = io::stdin().lock();
    loop {
        let mut line = Vec::new();
        let event = match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => Event::End,
            Ok(_) if line.len() as u64 == LONGEST_LINE && !line.ends_with(b"\n") => {
                skip_line(&mut input);
                line.clear();
                Event::LineTooLong
            }
            Ok(_) => {
                backlog.admit(line.len());
                Event::Line(line)
            }
        };
        let is_end = matches!(event, Event::End);
        if events.send(event).is_err() || is_end {
            return;
        }
    }
}

/// Skips the rest of the line.
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
