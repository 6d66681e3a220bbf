//! Where JSON goes: a plain or compressed file, with one value per line or without any white space.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::arguments::JsonLayout;

/// An open JSON file. What is written to it may have any white space; the layout decides what stays.
pub struct JsonOutput {
    layout: Layout,
    target: Target,
    /// Kept between writes, so that their text needs no new memory.
    laid_out: Vec<u8>,
}

enum Target {
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

impl JsonOutput {
    /// Replaces the file at `path`.
    pub fn create(path: &Path, gzip: bool, layout: JsonLayout) -> Result<Self> {
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
        }
        let file = File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
        let file = BufWriter::with_capacity(1 << 16, file);
        // The header written here names neither the file nor a time, so that the same content gives the same bytes.
        let target = if gzip {
            Target::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Target::Plain(file)
        };
        Ok(Self { layout: Layout::new(layout), target, laid_out: Vec::new() })
    }

    /// Writes what is still buffered.
    pub fn close(self) -> Result<()> {
        let mut file = match self.target {
            Target::Plain(file) => file,
            Target::Gzip(encoder) => encoder.finish()?,
        };
        file.flush().context("cannot finish the file")
    }
}

impl Write for JsonOutput {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.laid_out.clear();
        self.layout.lay_out(text, &mut self.laid_out);
        match &mut self.target {
            Target::Plain(file) => file.write_all(&self.laid_out)?,
            Target::Gzip(encoder) => encoder.write_all(&self.laid_out)?,
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Plain(file) => file.flush(),
            Target::Gzip(encoder) => encoder.flush(),
        }
    }
}

/// Gives JSON text its white space. Knows strings and brackets only, and never needs to look ahead.
#[derive(Debug)]
struct Layout {
    lines: bool,
    in_string: bool,
    escaped: bool,
    /// A bracket was opened and nothing has followed yet, so that it may close on the same line.
    just_opened: bool,
}

impl Layout {
    fn new(layout: JsonLayout) -> Self {
        Self { lines: layout == JsonLayout::Lines, in_string: false, escaped: false, just_opened: false }
    }

    fn lay_out(&mut self, text: &[u8], out: &mut Vec<u8>) {
        for byte in text.iter().copied() {
            if self.in_string {
                out.push(byte);
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' => {}
                b':' if self.lines => out.extend_from_slice(b": "),
                b',' if self.lines => out.extend_from_slice(b",\n"),
                b'}' | b']' => {
                    self.break_line(!self.just_opened, out);
                    self.just_opened = false;
                    out.push(byte);
                }
                _ => {
                    self.break_line(self.just_opened, out);
                    self.just_opened = matches!(byte, b'{' | b'[');
                    self.in_string = byte == b'"';
                    out.push(byte);
                }
            }
        }
    }

    fn break_line(&self, wanted: bool, out: &mut Vec<u8>) {
        if self.lines && wanted {
            out.push(b'\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text laid out in pieces of each size, which must not matter.
    fn laid_out(layout: JsonLayout, text: &str) -> String {
        let outputs: Vec<Vec<u8>> = (1..=text.len())
            .map(|size| {
                let mut state = Layout::new(layout);
                let mut out = Vec::new();
                text.as_bytes().chunks(size).for_each(|piece| state.lay_out(piece, &mut out));
                out
            })
            .collect();
        assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
        String::from_utf8(outputs[0].clone()).unwrap()
    }

    #[test]
    fn white_space_within_strings_stays() {
        let text = r#"{ "a b" : [ 1 , { } , [] ],
            "q\"{,:" : "\\" , "n": {"x": -1.5e3} }"#;
        let compact = r#"{"a b":[1,{},[]],"q\"{,:":"\\","n":{"x":-1.5e3}}"#;
        assert_eq!(laid_out(JsonLayout::Compact, text), compact);
        let lines = "{\n\"a b\": [\n1,\n{},\n[]\n],\n\"q\\\"{,:\": \"\\\\\",\n\"n\": {\n\"x\": -1.5e3\n}\n}";
        assert_eq!(laid_out(JsonLayout::Lines, text), lines);
    }
}
