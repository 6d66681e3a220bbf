//! The output of a program: lines while it runs, and the end of it.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Receiver, sync_channel};

/// Bytes of the end that are kept.
const TAIL_BYTES: usize = 64 << 10;
/// Maximum bytes of a line. Longer lines are split.
const LINE_BYTES: usize = 16 << 10;
const CHUNK_BYTES: usize = 32 << 10;
/// Pieces that may wait before the program is blocked.
const WAITING_CHUNKS: usize = 16;

/// Reads a pipe until its end, in a separate thread. The thread is never joined: a process that escaped from the group
/// may hold the pipe open.
pub(super) fn chunks(mut pipe: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = sync_channel(WAITING_CHUNKS);
    std::thread::spawn(move || {
        let mut buffer = vec![0; CHUNK_BYTES];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    let chunk = buffer.get(..count).unwrap_or_default().to_vec();
                    if sender.send(chunk).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
    receiver
}

pub(super) struct Lines<'a> {
    on_line: &'a mut dyn FnMut(&str),
    line: Vec<u8>,
    is_after_return: bool,
    tail: VecDeque<u8>,
    left_bytes: u64,
    is_full: bool,
}

impl<'a> Lines<'a> {
    /// Passes lines on until they have this many bytes in total.
    pub(super) fn new(most_bytes: u64, on_line: &'a mut dyn FnMut(&str)) -> Self {
        Self {
            on_line,
            line: Vec::new(),
            is_after_return: false,
            tail: VecDeque::new(),
            left_bytes: most_bytes,
            is_full: false,
        }
    }

    /// Takes the next bytes. A carriage return ends a line as well: progress bars use it.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes.iter().rev().take(TAIL_BYTES).rev());
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
        for byte in bytes {
            let ends_by_return = *byte == b'\r' && !self.line.is_empty();
            match byte {
                b'\n' if self.is_after_return => {}
                b'\n' => self.end_line(),
                b'\r' if ends_by_return => self.end_line(),
                b'\r' => {}
                other => {
                    self.line.push(*other);
                    if self.line.len() >= LINE_BYTES {
                        self.end_line();
                    }
                }
            }
            self.is_after_return = ends_by_return;
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let length = line.len() as u64 + 1;
        if self.is_full {
            return;
        }
        if length > self.left_bytes {
            self.is_full = true;
            (self.on_line)("(further output is left out)");
            return;
        }
        self.left_bytes -= length;
        (self.on_line)(&String::from_utf8_lossy(&line));
    }

    /// Passes on an incomplete last line; returns the end of the output.
    pub(super) fn finish(mut self) -> String {
        if !self.line.is_empty() {
            self.end_line();
        }
        let is_inside = |byte: &&u8| **byte & 0xC0 == 0x80;
        // The cut may be inside a character.
        let cut = self.tail.iter().take(3).take_while(is_inside).count();
        let bytes: Vec<u8> = self.tail.into_iter().skip(cut).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
