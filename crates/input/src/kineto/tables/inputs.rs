//! `inputs` of kernels: shapes and types of the inputs of the operator that launched each, or the message of its collective.

use anyhow::Result;
use fnv::FnvHashMap;
use rayon::prelude::*;

use super::args::spaced;
use super::or_of_call;
use crate::common::{Dictionary, TableBuilder};
use crate::kineto::capture::Capture;
use crate::kineto::cursor::{members, text_of};
use crate::kineto::event::{Event, integer};
use crate::kineto::gathered::{Field, Gathered, Keep};
use crate::kineto::kinds::Role;

/// Domain of operators.
const OPERATORS: &str = "torch";
/// Arguments that describe the message of a collective, in the order of the text.
const MESSAGE: [&[u8]; 5] = [b"Collective name", b"In msg nelems", b"dtype", b"Group size", b"Process Group Name"];

/// Distinct texts, and the number of each.
#[derive(Default)]
struct Texts {
    all: Vec<Option<String>>,
    known: FnvHashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: String) -> usize {
        let next = self.all.len();
        *self.known.entry(text).or_insert_with_key(|text| {
            self.all.push(Some(text.clone()));
            next
        })
    }
}

/// Adds the inputs. They are missing for kernels whose operator was not recorded, or without the option `record_shapes`.
pub(super) fn put_inputs(builder: &mut TableBuilder<'_>, capture: &Capture, rows: &Gathered) -> Result<()> {
    if !builder.wants(&["inputs"]) {
        return Ok(());
    }
    let mut texts = Texts::default();
    // An id that several operators have names none of them.
    let mut of_operator: FnvHashMap<i64, Option<usize>> = FnvHashMap::default();
    for (id, number) in described(capture, Role::Region, Keep::OfDomain(OPERATORS), &mut texts, &|event, _| {
        let (mut id, mut shapes, mut types) = (None, None, None);
        for (key, value) in members(event.args) {
            match key.raw {
                b"External id" | b"external id" => id = integer(value).filter(|id| *id > 0),
                b"Input Dims" => shapes = Some(spaced(value)),
                b"Input type" => types = Some(spaced(value)),
                _ => {}
            }
        }
        Some((id?, [shapes?, types.unwrap_or_default()].join(" ").trim_end().to_owned()))
    })? {
        let same = |known: &mut Option<usize>| *known = known.filter(|known| *known == number);
        of_operator.entry(id).and_modify(same).or_insert(Some(number));
    }
    let messages = described(capture, Role::Kernel, Keep::All, &mut texts, &|event, number| {
        let mut found: [Option<String>; MESSAGE.len()] = Default::default();
        for (key, value) in members(event.args) {
            let place = MESSAGE.iter().position(|name| *name == key.raw);
            if let Some(slot) = place.and_then(|place| found.get_mut(place)) {
                *slot = Some(text_of(value).map_or_else(|| spaced(value), |quoted| quoted.text().into_owned()));
            }
        }
        let [name, elements, element_type, ranks, group] = found;
        let ranks = ranks.map(|ranks| format!("of {ranks} ranks"));
        let group = group.filter(|group| !group.is_empty()).map(|group| format!("in group {group}"));
        let words = [name, Some(elements?), element_type, ranks, group];
        Some((number, words.into_iter().flatten().collect::<Vec<String>>().join(" ")))
    })?;
    let of_kernel: FnvHashMap<i64, usize> = messages.into_iter().collect();
    let numbers = rows.get(Field::Number);
    let operators = or_of_call(capture, rows, Field::External)?;
    let place = |(number, operator): (Option<i64>, Option<i64>)| {
        let of_operator = || of_operator.get(&operator?).copied().flatten();
        number.and_then(|number| of_kernel.get(&number).copied()).or_else(of_operator)
    };
    let places = numbers.iter().zip(operators).map(place).collect();
    builder.put_dictionary("inputs", || Dictionary { texts: texts.all, places })
}

/// Number or id of an event, and its description.
type Described = (i64, String);

/// Number or id of the events of a role and the number of their description, in their order. Few descriptions differ, so that each chunk
/// keeps one text of equal ones.
fn described(
    capture: &Capture,
    role: Role,
    keep: Keep,
    texts: &mut Texts,
    describe: &(dyn Fn(&Event<'_>, i64) -> Option<Described> + Sync),
) -> Result<Vec<(i64, usize)>> {
    let chunks = capture.chunks().par_iter().zip(capture.numbers(role));
    let parts: Vec<(Texts, Vec<(i64, usize)>)> = chunks
        .map(|(chunk, first)| {
            let (mut own, mut found) = (Texts::default(), Vec::new());
            capture.visit(chunk, *first, role, keep, |number, _, event| {
                found.extend(describe(event, number).map(|(id, text)| (id, own.number(text))));
            })?;
            Ok((own, found))
        })
        .collect::<Result<_>>()?;
    let mut all = Vec::with_capacity(parts.iter().map(|(_, found)| found.len()).sum());
    for (own, found) in parts {
        let numbers: Vec<usize> = own.all.into_iter().flatten().map(|text| texts.number(text)).collect();
        all.extend(found.into_iter().filter_map(|(id, place)| Some((id, *numbers.get(place)?))));
    }
    Ok(all)
}
