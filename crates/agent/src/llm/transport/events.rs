//! Server-sent events, parsed as they arrive.

/// Maximum bytes of an event; no provider sends as many.
const MOST_BYTES: usize = 4 << 20;

/// Takes bytes in pieces of any size, and returns the data of complete events.
#[derive(Debug, Default)]
pub(crate) struct EventReader {
    line: Vec<u8>,
    data: String,
    has_data: bool,
    /// Whether the last byte was a carriage return: a line feed after it belongs to it.
    after_return: bool,
}

impl EventReader {
    /// Takes bytes; `on_data` gets the data of each complete event.
    pub fn feed(&mut self, bytes: &[u8], on_data: &mut dyn FnMut(&str)) {
        for byte in bytes {
            match byte {
                b'\n' if self.after_return => self.after_return = false,
                b'\n' | b'\r' => {
                    self.after_return = *byte == b'\r';
                    self.end_line(on_data);
                }
                other => {
                    self.after_return = false;
                    if self.line.len() < MOST_BYTES {
                        self.line.push(*other);
                    }
                }
            }
        }
    }

    /// Handles the end of the stream: some servers omit the empty line after the last event.
    pub fn finish(&mut self, on_data: &mut dyn FnMut(&str)) {
        if !self.line.is_empty() {
            self.end_line(on_data);
        }
        self.end_event(on_data);
    }

    fn end_line(&mut self, on_data: &mut dyn FnMut(&str)) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = line.strip_prefix('\u{feff}').unwrap_or(&line);
        if line.is_empty() {
            self.end_event(on_data);
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        if field == "data" {
            if self.has_data {
                self.data.push('\n');
            }
            self.has_data = true;
            if self.data.len() < MOST_BYTES {
                self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
            }
        }
    }

    fn end_event(&mut self, on_data: &mut dyn FnMut(&str)) {
        if std::mem::take(&mut self.has_data) {
            on_data(&std::mem::take(&mut self.data));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let (mut reader, mut found) = (EventReader::default(), Vec::new());
        for piece in pieces {
            reader.feed(piece, &mut |data| found.push(data.to_owned()));
        }
        reader.finish(&mut |data| found.push(data.to_owned()));
        found
    }

    #[test]
    fn events_of_all_forms() {
        let text = b": ping\nevent: a\ndata: {\"x\":1}\n\ndata:two\r\ndata: lines\r\n\r\nid: 3\n\ndata: last";
        assert_eq!(read(&[text]), ["{\"x\":1}", "two\nlines", "last"]);
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(bytes in proptest::collection::vec(prop_oneof![
            Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), Just(b' '), any::<u8>()
        ], 0..200), at in 0usize..200) {
            let text = [b"data: x\n".as_slice(), &bytes].concat();
            let (head, tail) = text.split_at(at.min(text.len()));
            prop_assert_eq!(read(&[head, tail]), read(&[&text]));
        }
    }
}
