//! `regions` and `marks`: API calls, ranges and functions, and events without a length.

use anyhow::Result;
use polars::prelude::*;

use super::text;
use crate::common::{Dictionary, TableBuilder, or};
use crate::perfetto::kinds::{Role, Writer};
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::{Field, Rows};
use wavesieve_model::schema::domain::domain_of_category;
use wavesieve_tables::columns::values::integers;

/// Domain of ranges, whose names are texts of the program.
const MARKER: &str = "marker";

struct Calls<'a> {
    rows: &'a Rows,
    places: Vec<usize>,
}

impl Calls<'_> {
    fn values(&self, field: Field) -> impl ExactSizeIterator<Item = Option<i64>> {
        self.places.iter().map(move |place| self.rows.get(*place, field))
    }

    fn column(&self, field: Field) -> Int64Chunked {
        integers("", self.values(field))
    }

    fn ids(&self) -> impl Iterator<Item = i64> {
        self.places.iter().map(|place| *place as i64 + 1)
    }
}

pub fn read_regions(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(calls) = read(builder, file, process, true)? else { return Ok(()) };
    builder.put_numbers("region_id", calls.ids());
    builder.put("parent_correlation_id", calls.column(Field::Parent).into_series());
    builder.put_times(&calls.column(Field::Start), &calls.column(Field::End));
    Ok(())
}

pub(crate) fn read_marks(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let Some(calls) = read(builder, file, process, false)? else { return Ok(()) };
    builder.put_numbers("mark_id", calls.ids());
    builder.put("time_ns", or(&calls.column(Field::Start), 0).into_series());
    Ok(())
}

fn read<'a>(
    builder: &mut TableBuilder<'_>,
    file: &Assembled,
    process: &'a Process,
    with_length: bool,
) -> Result<Option<Calls<'a>>> {
    let Some(rows) = process.rows(Role::Call) else { return Ok(None) };
    let has_length = rows.column(Field::Start).zip(rows.column(Field::End)).map(|(start, end)| start != end);
    let places = has_length.enumerate().filter(|(_, has_length)| *has_length == with_length).map(|(place, _)| place);
    let calls = Calls { rows, places: places.collect() };
    builder.set_height(calls.places.len());
    builder.put("tid", calls.column(Field::Tid).into_series());
    builder.put("correlation_id", calls.column(Field::Correlation).into_series());
    put_texts(builder, file, &calls)?;
    Ok(Some(calls))
}

fn put_texts(builder: &mut TableBuilder<'_>, file: &Assembled, calls: &Calls<'_>) -> Result<()> {
    let known = |number: Option<i64>| text(&file.names, number).unwrap_or("unknown");
    let owned = |number| known(number).to_owned();
    for (column, field, shown) in [
        ("category", Field::Category, &owned as &dyn Fn(Option<i64>) -> String),
        ("domain", Field::Category, &|number| domain(known(number))),
        ("name", Field::Name, &owned),
    ] {
        builder.put_dictionary(column, || Dictionary::of(calls.values(field), |number| Some(shown(number))))?;
    }
    builder.put_dictionary("message", || {
        // Other writers show the text of a range and not its function.
        let is_shown = |category| file.writer != Writer::Wavesieve && domain(known(category)) == MARKER;
        let shown = calls.values(Field::Category).zip(calls.values(Field::Name));
        let shown = shown.map(|(category, name)| name.filter(|_| is_shown(category)));
        let own = calls.values(Field::Message).zip(shown).map(|(own, shown)| own.or(shown));
        Dictionary::of(own, |number| text(&file.names, number).map(str::to_owned))
    })
}

/// The domain of a category. rocprofv3 calls the tools interface of OpenMP (OMPT) just `openmp`.
fn domain(category: &str) -> String {
    if category == "openmp" { "ompt".to_owned() } else { domain_of_category(category) }
}
