//! `regions` and `marks`: calls of the runtime, operators, functions of Python, and annotations.

use anyhow::Result;
use fnv::FnvHashMap;
use polars::prelude::IntoSeries;

use super::{gather, put_correlation};
use crate::common::{Dictionary, TableBuilder, count_first, or};
use crate::kineto::capture::Capture;
use crate::kineto::gathered::{Field, Gathered, Keep};
use crate::kineto::kinds::{EventKind, HIP, KINDS, Role, has_domain};
use wavesieve_model::schema::anomaly::Severity;

/// Domain of annotations, whose names are texts of the program.
const MARKER: &str = "marker";

pub fn read_regions(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = read(builder, capture, Keep::WithLength)?;
    builder.put("region_id", rows.get(Field::Number).into_series());
    builder.put("external_id", rows.get(Field::External).into_series());
    if builder.wants(&["external_id"]) && builder.wants(&["start_ns"]) && builder.wants(&["domain"]) {
        note_calls_outside(builder, &rows);
    }
    builder.put_times(&rows.get(Field::Start), &rows.get(Field::End));
    Ok(())
}

/// Reports calls that start outside the operator whose id they have, for example because clocks differ.
fn note_calls_outside(builder: &mut TableBuilder<'_>, rows: &Gathered) {
    let each = |domain: &'static str| {
        let all = rows.rows([Field::External, Field::Start, Field::End]).zip(&rows.kinds).enumerate();
        all.filter(move |(_, (_, kind))| has_domain(**kind, domain))
            .filter_map(|(row, ([external, start, end], _))| Some((row, external.filter(|id| *id > 0)?, start?, end?)))
    };
    let mut operators: FnvHashMap<i64, Option<(i64, i64)>> = FnvHashMap::default();
    for (_, external, start, end) in each("torch") {
        operators.entry(external).and_modify(|known| *known = None).or_insert(Some((start, end)));
    }
    let mut is_outside = vec![false; rows.height];
    for (row, external, start, _) in each(HIP) {
        let operator = operators.get(&external).copied().flatten();
        if let (Some((first, last)), Some(slot)) = (operator, is_outside.get_mut(row)) {
            *slot = !(first..=last).contains(&start);
        }
    }
    let (count, first) = count_first(is_outside.into_iter(), &rows.get(Field::Number));
    let detail = "calls start outside the operator whose External id they have, as with clocks that differ; what they launched is tied to it by that id if they are near";
    builder.note("call_outside_operator", Severity::Warning, count, first, detail);
}

pub(crate) fn read_marks(builder: &mut TableBuilder<'_>, capture: &Capture) -> Result<()> {
    let rows = read(builder, capture, Keep::WithoutLength)?;
    builder.put("mark_id", rows.get(Field::Number).into_series());
    builder.put("time_ns", or(&rows.get(Field::Start), 0).into_series());
    Ok(())
}

fn read(builder: &mut TableBuilder<'_>, capture: &Capture, keep: Keep) -> Result<Gathered> {
    let names = builder.wants(&["name", "message"]);
    let rows = gather(builder, capture, Role::Region, keep, names)?;
    builder.put("tid", rows.get(Field::Tid).into_series());
    put_correlation(builder, capture, &rows, Role::Region)?;
    put_texts(builder, &rows)?;
    Ok(rows)
}

fn put_texts(builder: &mut TableBuilder<'_>, rows: &Gathered) -> Result<()> {
    let kinds = || rows.kinds.iter().map(|kind| Some(usize::from(*kind)));
    let texts = |text: fn(&EventKind) -> &str| -> Vec<Option<String>> {
        KINDS.iter().map(|kind| Some(text(kind).to_owned())).collect()
    };
    builder.put_texts_at("domain", &texts(|kind| kind.domain), kinds())?;
    builder.put_texts_at("category", &texts(|kind| kind.category), kinds())?;
    builder.put_dictionary("name", || {
        let named = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let texts = rows.names.texts.iter().map(|text| named(text).or_else(|| Some("unknown".to_owned())));
        Dictionary { texts: texts.collect(), places: rows.names.places().collect() }
    })?;
    let places = rows.names.places().zip(&rows.kinds).map(|(place, kind)| place.filter(|_| has_domain(*kind, MARKER)));
    builder.put_texts_at("message", &rows.names.texts, places)
}
