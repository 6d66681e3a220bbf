//! Texts that events of a sequence refer to by number.

use super::wire::Message;
use crate::timeline::Texts;

/// Numbers of texts in a sequence.
#[derive(Debug, Default)]
pub(super) struct Interned {
    iids: Vec<u32>,
    count: u32,
}

impl Interned {
    /// The number of a text, and whether it is new.
    fn iid(&mut self, text: u32) -> (u64, bool) {
        let place = text as usize;
        if place >= self.iids.len() {
            self.iids.resize(place + 1, 0);
        }
        let Some(slot) = self.iids.get_mut(place) else { return (0, false) };
        let is_new = *slot == 0;
        if is_new {
            self.count += 1;
            *slot = self.count;
        }
        (u64::from(*slot), is_new)
    }
}

/// Returns the number of a text in a sequence; a new text is added to `interned`.
pub(super) fn intern(interned: &mut Message, table: &mut Interned, field: u32, text: u32, texts: &Texts) -> u64 {
    let (iid, is_new) = table.iid(text);
    if is_new {
        interned.message(field, |entry| {
            entry.varint(1, iid);
            entry.data(2, texts.text(text).as_bytes());
        });
    }
    iid
}
