//! Texts of a file, each kept once.

use std::sync::Arc;

use fnv::FnvHashMap;

use wavesieve_model::text::bytes::text_of_bytes;

/// Texts by number, in the order of their first occurrence.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    numbers: FnvHashMap<Arc<str>, u32>,
    /// Whether a text since the last question has zeros, as if a block of the file was lost.
    has_zeros: bool,
}

/// Zeros in a row that no text has.
const ZEROS: [u8; 4] = [0; 4];

impl Names {
    pub fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = u32::try_from(self.texts.len()).unwrap_or(u32::MAX);
        let text: Arc<str> = text.into();
        self.texts.push(Arc::clone(&text));
        self.numbers.insert(text, number);
        number
    }

    /// The number of a text, given as bytes; bytes that are not UTF-8 are replaced.
    pub(crate) fn number_of_bytes(&mut self, bytes: &[u8]) -> u32 {
        self.has_zeros |= bytes.contains(&0) && bytes.windows(ZEROS.len()).any(|some| some == ZEROS);
        self.number(&text_of_bytes(bytes))
    }

    /// Whether a text has zeros in a row, of those since the last call.
    pub(super) fn take_zeros(&mut self) -> bool {
        std::mem::take(&mut self.has_zeros)
    }

    pub fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", |text| text)
    }
}
