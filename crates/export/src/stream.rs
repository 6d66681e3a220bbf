//! Writing to a reader that may go away.

use std::io::{self, BufWriter, Write};

use anyhow::Result;

/// Bytes that are gathered before they are written.
const GATHERED_BYTES: usize = 1 << 16;

/// Writes to a stream. If its reader went away, the error is [`io::ErrorKind::BrokenPipe`], whatever error a library in
/// between reports.
///
/// # Errors
/// When `write` fails, or the stream cannot be written.
pub fn write_stream(out: impl Write, write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut out = BufWriter::with_capacity(GATHERED_BYTES, PipeWatcher { out, is_broken: false });
    let written = write(&mut out).and_then(|()| Ok(out.flush()?));
    let (watched, _) = out.into_parts();
    written.map_err(|error| match watched.is_broken {
        true => io::Error::from(io::ErrorKind::BrokenPipe).into(),
        false => error,
    })
}

/// Remembers that the reader went away.
struct PipeWatcher<W> {
    out: W,
    is_broken: bool,
}

impl<W> PipeWatcher<W> {
    fn note<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_broken |= result.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for PipeWatcher<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes);
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.out.flush();
        self.note(flushed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_told_apart_whatever_a_library_makes_of_it() {
        let kind = |error: io::ErrorKind| {
            let failed = write_stream(Failing(error), |out| {
                let text = "x".repeat(GATHERED_BYTES);
                serde_json::to_writer(out, &text).map_err(|error| anyhow::anyhow!("no json: {error}"))
            });
            failed.unwrap_err().downcast_ref::<io::Error>().map(io::Error::kind)
        };
        assert_eq!(kind(io::ErrorKind::BrokenPipe), Some(io::ErrorKind::BrokenPipe));
        assert_eq!(kind(io::ErrorKind::StorageFull), None);
        let at_the_end = write_stream(Failing(io::ErrorKind::BrokenPipe), |out| Ok(out.write_all(b"x")?));
        assert!(at_the_end.is_err());
    }
}
