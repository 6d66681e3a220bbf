//! Lines from a user or a pipe. Reading them does not block the handling of Ctrl-C.

use std::io::{self, BufRead, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

const LIMIT_BYTES: u64 = 1 << 20;
/// Interval between checks for Ctrl-C.
const PAUSE: Duration = Duration::from_millis(30);

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(String),
    End,
    Interrupted,
}

type Read = io::Result<Option<String>>;

/// Reads a line only on request, and no further: a child that follows may read the rest. A thread does the read, which
/// cannot be interrupted. A line that arrives after its request was given up answers the next request.
pub(super) struct Lines {
    wanted: Sender<()>,
    read: Receiver<Read>,
    is_waiting: bool,
}

impl Lines {
    /// Reads lines of an input, which the reading thread opens.
    pub(super) fn new<R: BufRead>(open: impl FnOnce() -> R + Send + 'static) -> Self {
        let (wanted, requests) = channel::<()>();
        let (replies, read) = channel();
        std::thread::spawn(move || {
            let mut input = open();
            while requests.recv().is_ok() && replies.send(read_line(&mut input)).is_ok() {}
        });
        Self { wanted, read, is_waiting: false }
    }

    pub(super) fn next(&mut self, is_interrupted: &dyn Fn() -> bool) -> io::Result<Line> {
        if !self.is_waiting {
            // A failed thread reads nothing more.
            self.is_waiting = self.wanted.send(()).is_ok();
        }
        loop {
            if is_interrupted() {
                return Ok(Line::Interrupted);
            }
            let read = match self.read.recv_timeout(PAUSE) {
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(Line::End),
                Ok(read) => read,
            };
            self.is_waiting = false;
            return Ok(read?.map_or(Line::End, Line::Text));
        }
    }
}

/// A line without its end; `None` at the end of the input.
fn read_line(input: &mut impl BufRead) -> Read {
    let mut bytes = Vec::new();
    input.take(LIMIT_BYTES).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    if bytes.len() as u64 == LIMIT_BYTES && bytes.last() != Some(&b'\n') {
        return Err(io::Error::other(format!("a line is longer than {} MiB", LIMIT_BYTES >> 20)));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_end_matches(['\n', '\r']).to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn lines_come_one_by_one() {
        let mut lines = Lines::new(|| Cursor::new("a\r\n\nb\u{e9}"));
        let never = || false;
        for expected in ["a", "", "bé"] {
            assert_eq!(lines.next(&never).unwrap(), Line::Text(expected.to_owned()));
        }
        assert_eq!(lines.next(&never).unwrap(), Line::End);
        assert_eq!(lines.next(&never).unwrap(), Line::End);
    }

    #[test]
    fn a_line_without_end_is_refused() {
        let mut lines = Lines::new(|| BufReader::new(io::repeat(b'x')));
        assert!(lines.next(&|| false).is_err());
    }

    #[test]
    fn a_line_that_came_after_an_interruption_is_the_next() {
        let (reader, mut writer) = io::pipe().unwrap();
        let mut lines = Lines::new(move || BufReader::new(reader));
        let is_pressed = AtomicBool::new(true);
        let pressed = || is_pressed.load(Ordering::SeqCst);
        assert_eq!(lines.next(&pressed).unwrap(), Line::Interrupted);
        is_pressed.store(false, Ordering::SeqCst);
        io::Write::write_all(&mut writer, b"late\n").unwrap();
        assert_eq!(lines.next(&pressed).unwrap(), Line::Text("late".to_owned()));
        drop(writer);
        assert_eq!(lines.next(&pressed).unwrap(), Line::End);
    }
}
