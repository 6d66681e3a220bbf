//! The layout of a table's records as SQLite writes them: rows of another table do not fit.

use super::bytes::varint;
use super::record::field_bytes;

/// Digits of a guid.
const GUID_DIGITS: usize = 32;

/// The rule for values in one column of a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldRule {
    /// The row id; its field in records is null.
    pub is_row_id: bool,
    /// Never null.
    pub is_required: bool,
    /// Numbers are stored as texts.
    pub is_text: bool,
    /// Rows that lack it have a value.
    pub has_default: bool,
    /// The guid of the capture, which is also in the name of the table.
    pub is_guid: bool,
}

/// The columns of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    rules: Vec<FieldRule>,
    /// Digits of the guid in the name of the table.
    guid: Option<Vec<u8>>,
}

impl Layout {
    /// Columns of the table with this name, in order.
    pub fn new(rules: Vec<FieldRule>, table: &str) -> Self {
        Self { rules, guid: guid_of(table) }
    }

    /// The same columns in a table of another name.
    #[must_use]
    pub fn of(&self, table: &str) -> Self {
        Self { rules: self.rules.clone(), guid: self.guid.as_ref().and_then(|_| guid_of(table)) }
    }

    /// The layout for rows of any guid. In a file of one capture, another guid means that a user renamed the tables.
    #[must_use]
    pub(crate) fn with_any_guid(self) -> Self {
        Self { guid: None, ..self }
    }

    /// Whether SQLite can have written the record that these bytes start with for this table.
    pub fn fits(&self, record: &[u8]) -> bool {
        let Some((header_bytes, mut at)) = varint(record, 0) else { return false };
        // The header continues on other pages: a table with very many columns.
        let Some(header) = usize::try_from(header_bytes).ok().and_then(|bytes| record.get(..bytes)) else {
            return true;
        };
        let mut body = header.len();
        for rule in &self.rules {
            if at >= header.len() {
                if rule.is_required && !rule.has_default {
                    return false;
                }
                continue;
            }
            let Some((serial, bytes)) = varint(header, at) else { return false };
            let Some(size) = field_bytes(serial) else { return false };
            let is_null = serial == 0;
            let is_number = (1..12).contains(&serial);
            let is_misplaced = if is_null { rule.is_required && !rule.is_row_id } else { rule.is_row_id };
            if matches!(serial, 10 | 11) || is_misplaced || (is_number && rule.is_text) {
                return false;
            }
            if rule.is_guid
                && !is_null
                && let Some(guid) = &self.guid
                && record.get(body..body.saturating_add(size)).is_some_and(|text| !is_guid(text, guid))
            {
                return false;
            }
            at += bytes;
            body = body.saturating_add(size);
        }
        at >= header.len()
    }
}

/// The digits of the guid at the end of a table name: an underscore, and a guid with underscores in place of dashes.
pub(crate) fn guid_of(table: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = table.bytes().rev().filter(|byte| *byte != b'_').take(GUID_DIGITS).collect();
    let start = table.len().checked_sub(GUID_DIGITS + 5)?;
    let marks = table.bytes().skip(start).enumerate().filter(|(_, byte)| *byte == b'_').map(|(at, _)| at);
    let is_guid = marks.eq([0, 9, 14, 19, 24]) && digits.len() == GUID_DIGITS;
    (is_guid && digits.iter().all(u8::is_ascii_hexdigit)).then(|| digits.into_iter().rev().collect())
}

/// Whether a text is the guid with these digits.
fn is_guid(text: &[u8], guid: &[u8]) -> bool {
    let digits = text.iter().filter(|byte| !matches!(byte, b'-' | b'_'));
    digits.map(u8::to_ascii_lowercase).eq(guid.iter().map(u8::to_ascii_lowercase))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GUID: &str = "0000391b-ce3a-70c8-9b28-fe78ea6cd195";

    fn layout(table: &str) -> Layout {
        let rules = vec![
            FieldRule { is_row_id: true, is_required: true, ..FieldRule::default() },
            FieldRule { is_text: true, is_guid: true, has_default: true, is_required: true, ..FieldRule::default() },
            FieldRule { is_required: true, ..FieldRule::default() },
            FieldRule { is_required: true, has_default: true, ..FieldRule::default() },
        ];
        Layout::new(rules, table)
    }

    fn record(types: &[u8], guid: &str) -> Vec<u8> {
        [&[types.len() as u8 + 1], types, guid.as_bytes(), &[0; 8]].concat()
    }

    #[test]
    fn records_of_other_tables_do_not_fit() {
        let own = layout("rocpd_event_0000391b_ce3a_70c8_9b28_fe78ea6cd195");
        let text = 13 + 2 * GUID.len() as u8;
        assert!(own.fits(&record(&[0, text, 1, 8], GUID)));
        // Added later, with a default.
        assert!(own.fits(&record(&[0, text, 1], GUID)));
        // Rows of drafts have no guid.
        let mut rules = own.rules.clone();
        rules.iter_mut().for_each(|rule| rule.is_required = false);
        let draft = Layout { rules, ..own.clone() };
        assert!(draft.fits(&record(&[0, 0, 1, 8], "")));
        let others = [
            record(&[0, text], GUID),
            record(&[0, text, 1, 8, 8], GUID),
            record(&[1, text, 1, 8], GUID),
            record(&[0, text, 0, 8], GUID),
            record(&[0, 1, 1, 8], ""),
            record(&[0, text, 10, 8], GUID),
            record(&[0, text, 1, 8], &GUID.replace('9', "8")),
            record(&[0, 15, 1, 8], "a"),
            vec![],
        ];
        for other in others {
            assert!(!own.fits(&other), "{other:?}");
        }
        // Early table names differ from the guid of their rows.
        assert!(own.clone().with_any_guid().fits(&record(&[0, text, 1, 8], &GUID.replace('9', "8"))));
        let early = own.of("rocpd_event0000391bce3a70c89b28fe78ea6cd195");
        assert!(early.fits(&record(&[0, text, 1, 8], &GUID.replace('9', "8"))));
    }
}
