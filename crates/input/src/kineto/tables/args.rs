//! `args`: arguments of events beyond the columns of their tables.

use anyhow::Result;
use rayon::prelude::*;

use crate::common::{Args, Dictionary, TableBuilder};
use crate::kineto::capture::Capture;
use crate::kineto::cursor::{Quoted, members, text_of};
use crate::kineto::event::Event;
use crate::kineto::gathered::Keep;
use crate::kineto::kinds::Role;
use crate::kineto::scan::Chunk;
use wavesieve_model::text::bytes::text_of_bytes;

/// Arguments that columns hold, or that only number the events.
const IN_COLUMNS: [&[u8]; 12] = [
    b"device",
    b"stream",
    b"correlation",
    b"External id",
    b"external id",
    b"grid",
    b"block",
    b"bytes",
    b"shared memory",
    b"hsa_queue",
    b"queue",
    b"Ev Idx",
];

/// Roles that have arguments, and their names as owners.
const OWNERS: [(Role, &str); 3] = [(Role::Region, "region"), (Role::Kernel, "kernel"), (Role::Copy, "copy")];

#[derive(Default)]
struct Texts {
    args: Args,
    names: Vec<Option<String>>,
    values: Vec<Option<String>>,
}

impl Texts {
    /// Reads the arguments of the events of a role in a chunk, or only of the events in `only`.
    fn read(
        capture: &Capture,
        chunk: &Chunk,
        first: i64,
        role: Role,
        with_texts: bool,
        only: Option<&[i64]>,
    ) -> Result<Self> {
        let mut args = Self::default();
        capture.visit(chunk, first, role, Keep::All, |number, _, event| {
            if only.is_none_or(|only| only.binary_search(&number).is_ok()) {
                args.push(number, event, with_texts);
            }
        })?;
        Ok(args)
    }

    fn push(&mut self, number: i64, event: &Event<'_>, with_texts: bool) {
        for (position, (key, value)) in (1..).zip(own_arguments(event)) {
            self.args.owners.push(number);
            self.args.positions.push(position);
            if with_texts {
                let text = text_of(value).map_or_else(|| spaced(value), |quoted| quoted.text().into_owned());
                self.names.push(Some(key.text().into_owned()));
                self.values.push(Some(text).filter(|text| text != "null"));
            }
        }
    }
}

/// A value that is not a text, with a blank behind each comma and colon and no other blanks: writers lay out lists differently.
pub(super) fn spaced(value: &[u8]) -> String {
    let mut text: Vec<u8> = Vec::with_capacity(value.len());
    let (mut in_string, mut escaped) = (false, false);
    for byte in value {
        if in_string || !byte.is_ascii_whitespace() {
            text.push(*byte);
        }
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b',' | b':' if !in_string => text.push(b' '),
            _ => {}
        }
    }
    text_of_bytes(&text).into_owned()
}

/// Number of arguments.
pub(crate) fn count_args(capture: &Capture) -> Result<u64> {
    let mut sum = 0;
    for (role, _) in OWNERS {
        let chunks = capture.chunks().par_iter().zip(capture.numbers(role));
        let counts = chunks.map(|(chunk, first)| {
            let mut count = 0;
            capture
                .visit(chunk, *first, role, Keep::All, |_, _, event| count += own_arguments(event).count() as u64)?;
            Ok(count)
        });
        sum += counts.sum::<Result<u64>>()?;
    }
    Ok(sum)
}

fn own_arguments<'a>(event: &Event<'a>) -> impl Iterator<Item = (Quoted<'a>, &'a [u8])> + use<'a> {
    members(event.args).filter(|(key, _)| !IN_COLUMNS.contains(&key.raw))
}

pub(crate) fn read_args(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let with_texts = builder.wants(&["name", "value"]);
    let mut all = Texts::default();
    let regions = builder.context.hint.and_then(|hint| hint.regions.as_deref());
    for (place, (role, _)) in OWNERS.iter().enumerate() {
        let only = regions.filter(|_| *role == Role::Region);
        if only.is_some_and(<[i64]>::is_empty) {
            continue;
        }
        let chunks = capture.chunks().par_iter().zip(capture.numbers(*role));
        let parts: Vec<Texts> = chunks
            .map(|(chunk, first)| Texts::read(capture, chunk, *first, *role, with_texts, only))
            .collect::<Result<_>>()?;
        for part in parts {
            all.args.kinds.extend(std::iter::repeat_n(place, part.args.owners.len()));
            all.args.owners.extend(part.args.owners);
            all.args.positions.extend(part.args.positions);
            all.names.extend(part.names);
            all.values.extend(part.values);
        }
    }
    let Texts { args, names, values } = all;
    let owners = OWNERS.map(|(_, owner)| owner);
    builder.put_args(&owners, args, || Dictionary::of_rows(names), || Dictionary::of_rows(values))
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn lists_look_alike_however_they_were_laid_out() {
        for text in ["[[64, 1024], []]", "[[64,1024],[]]", "[\n[\n64,\n1024\n],\n[]\n]"] {
            assert_eq!(spaced(text.as_bytes()), "[[64, 1024], []]");
        }
        assert_eq!(spaced(br#"["a,  b\" :", 1]"#), r#"["a,  b\" :", 1]"#);
    }
}
