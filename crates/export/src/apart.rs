//! Makes bytes in one thread while another writes or compresses them.

use std::io::{self, Write};
use std::mem::replace;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use anyhow::{Context, Result, anyhow};

/// Bytes handed over at a time, and the number of buffers that may wait before the maker blocks.
const BUFFER: usize = 1 << 20;
const WAITING: usize = 4;

/// Runs `make` in its own thread and writes its output to `out` from the calling thread, so `out` need not be `Send`.
///
/// # Errors
/// When writing or `make` fails.
pub fn make_apart<R: Send>(out: &mut dyn Write, make: impl FnOnce(&mut dyn Write) -> Result<R> + Send) -> Result<R> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(WAITING);
        let maker = scope.spawn(move || {
            let mut made = Made { sender, bytes: Vec::with_capacity(BUFFER) };
            let result = make(&mut made)?;
            made.flush()?;
            Ok(result)
        });
        let written = receiver.iter().try_for_each(|bytes: Vec<u8>| out.write_all(&bytes));
        // The maker ends once the receiver is gone.
        drop(receiver);
        let result = maker.join().map_err(|_| anyhow!("internal: what makes the output failed"))?;
        written.context("cannot write the output")?;
        result
    })
}

/// Bytes on their way to the writing thread.
struct Made {
    sender: SyncSender<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Write for Made {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= BUFFER {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = replace(&mut self.bytes, Vec::with_capacity(BUFFER));
        if bytes.is_empty() {
            return Ok(());
        }
        self.sender.send(bytes).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_and_failures_of_both_sides_are_reported() {
        let mut out = Vec::new();
        let made = make_apart(&mut out, |out| {
            (0..300_000_u32).try_for_each(|number| out.write_all(&number.to_le_bytes()))?;
            Ok(7)
        });
        assert_eq!((made.unwrap(), out.len()), (7, 1_200_000));
        assert!(out.chunks(4).eq((0..300_000_u32).map(u32::to_le_bytes)));
        let failed = make_apart(&mut Vec::new(), |_| Err::<(), _>(anyhow!("no more"))).unwrap_err();
        assert_eq!(failed.to_string(), "no more");
        let mut full = [0_u8; 10];
        let failed = make_apart(&mut full.as_mut_slice(), |out| Ok(out.write_all(&vec![1; 50 << 20])?)).unwrap_err();
        assert_eq!(failed.to_string(), "cannot write the output");
    }
}
