//! Slices, instants and values, as rows.

use std::ops::Range;

use super::arguments::Argument;
use super::document::{Document, Owned};
use super::event::Event;
use super::kinds::{Key, Role, Writer, is_of_rocm, is_of_systems, key, role, sizes};
use super::names::Names;
use super::rows::{EventRow, Field};

/// A slice that has not ended.
pub(super) struct Open {
    /// `None` if it is not read.
    pub row: Option<(Role, usize)>,
    pub has_end: bool,
    /// Whether an argument states its function or full name.
    is_named: bool,
    /// Places of the other arguments of its start.
    arguments: Range<usize>,
}

impl Open {
    fn new(row: Option<(Role, usize)>, has_end: bool) -> Self {
        Self { row, has_end, is_named: false, arguments: 0..0 }
    }

    /// Whether the start has an argument with this name, among `all` arguments.
    fn has_argument(&self, name: u32, all: &[Owned]) -> bool {
        all.get(self.arguments.clone()).is_some_and(|own| own.iter().any(|known| known.name == name))
    }
}

impl Document {
    pub(super) fn start(&mut self, event: &Event, place: usize, time_ns: i64) -> Open {
        let Self { names, census, writer, .. } = self;
        *census.categories.entry(event.category).or_default() += 1;
        let category = event.category.map_or("", |category| names.text(category));
        census.is_of_rocm |= is_of_rocm(category);
        if *writer == Writer::Rocprofv3 && is_of_systems(category) {
            *writer = Writer::Systems;
        }
        let name = event.name.map_or("", |name| names.text(name));
        let has = |wanted: &str| event.arguments.iter().any(|(name, _)| names.text(*name) == wanted);
        let Some(role) = role(*writer, category, name, has) else {
            census.derived += 1;
            return Open::new(None, true);
        };
        let mut row = EventRow::default();
        row.put(Field::Track, Some(place as i64));
        row.put(Field::Name, event.name.map(i64::from));
        row.put(Field::Category, event.category.map(i64::from));
        row.put(Field::Start, Some(time_ns));
        row.put(Field::Flow, event.flows.first().map(|flow| *flow as i64));
        let at = self.rows.get(role as usize).map_or(0, |rows| rows.height());
        let (mut open, first) = (Open::new(Some((role, at)), false), self.arguments.len());
        self.take_arguments(event, (role, at), &mut open, &mut row);
        open.arguments = first..self.arguments.len();
        open.has_end |= row.get(Field::End).is_some();
        if let Some(rows) = self.rows.get_mut(role as usize) {
            rows.push(&row);
        }
        open
    }

    /// Puts known arguments of a slice into its row, and keeps the others. The end replaces neither names nor other arguments of the
    /// start: the end of a range is another function.
    fn take_arguments(&mut self, event: &Event, (role, at): (Role, usize), open: &mut Open, row: &mut EventRow) {
        let Self { names, census, writer, arguments, .. } = self;
        let (mut stated, mut all_sizes) = (None, Vec::new());
        for (name, value) in &event.arguments {
            match (key(role, names.text(*name)), *value) {
                (Some(Key::Of(field)), value) => row.put(field, value.integer(names)),
                (Some(Key::Sizes(first)), value) => all_sizes.extend(Some(first).zip(sizes_of(value, names))),
                (Some(Key::Function), Argument::Text(text)) if role == Role::Call => stated = Some(i64::from(text)),
                (Some(Key::FullName), Argument::Text(text)) => stated = Some(i64::from(text)),
                (Some(Key::Unfinished), _) => open.has_end = true,
                (Some(Key::Function | Key::FullName), _) => {}
                (Some(Key::Nothing), value) if value.is_number() || *writer == Writer::Wavesieve => {}
                (None, value) if role == Role::Kernel && *writer == Writer::Rocprofv3 && value.is_number() => {
                    census.counter_arguments.insert(*name);
                }
                (Some(Key::Nothing) | None, _) if open.has_argument(*name, arguments) => {}
                (Some(Key::Nothing) | None, value) => {
                    let value = value.text(names);
                    arguments.push(Owned { role, row: at, name: *name, value });
                }
            }
        }
        for (first, sizes) in all_sizes {
            put_sizes(row, first, sizes);
        }
        if let Some(stated) = stated.filter(|_| !open.is_named) {
            // The text of a range is shown instead of its function, which is an argument.
            let shown = row.get(Field::Name).filter(|shown| role == Role::Call && *shown != stated);
            row.put(Field::Name, Some(stated));
            row.put(Field::Message, shown);
            open.is_named = true;
        }
    }

    /// Ends a slice. The event of the end may have arguments too.
    pub(super) fn end(&mut self, mut open: Open, event: &Event, time_ns: i64) {
        let Some((role, at)) = open.row else { return };
        let Some(rows) = self.rows.get_mut(role as usize) else { return };
        if !open.has_end {
            rows.set(at, Field::End, time_ns);
        }
        if !event.arguments.is_empty() {
            let mut row = rows.row(at);
            self.take_arguments(event, (role, at), &mut open, &mut row);
            self.rows.get_mut(role as usize).into_iter().for_each(|rows| rows.update(at, &row));
        }
    }

    pub(super) fn value(&mut self, place: usize, time_ns: i64, value: f64) {
        let mut row = EventRow::default();
        row.put(Field::Track, Some(place as i64));
        row.put(Field::Start, Some(time_ns));
        // The bits of -0 stand for no value.
        row.put(Field::Value, Some((value + 0.0).to_bits() as i64));
        self.values.push(&row);
    }
}

fn sizes_of(value: Argument, names: &Names) -> Option<[i64; 3]> {
    match value {
        Argument::Text(text) => sizes(names.text(text)),
        value => value.integer(names).map(|all| [all, 1, 1]),
    }
}

/// Adds sizes unless they are stated one by one.
fn put_sizes(row: &mut EventRow, first: Field, sizes: [i64; 3]) {
    let fields = match first {
        Field::WorkgroupX => [Field::WorkgroupX, Field::WorkgroupY, Field::WorkgroupZ],
        _ => [Field::GridX, Field::GridY, Field::GridZ],
    };
    if fields.iter().all(|field| row.get(*field).is_none()) {
        fields.into_iter().zip(sizes).for_each(|(field, size)| row.put(field, Some(size)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_the_end_are_read_like_those_of_the_start() {
        let mut document = Document::default();
        let mut number = |text: &str| document.names.number(text);
        let [category, short, full] = ["kernel_dispatch", "short", "full"].map(&mut number);
        let arguments = vec![
            (number("workgroup_size"), Argument::Integer(64)),
            (number("kernel"), Argument::Text(full)),
            (number("note"), Argument::Text(short)),
        ];
        let start = Event { category: Some(category), name: Some(short), ..Event::default() };
        let open = document.start(&start, 0, 1);
        document.end(open, &Event { arguments, ..Event::default() }, 5);
        let rows = document.rows(Role::Kernel).unwrap();
        let fields = [Field::Start, Field::End, Field::WorkgroupX, Field::WorkgroupZ, Field::Name];
        let expected = [1, 5, 64, 1, i64::from(full)].map(Some);
        assert_eq!(fields.map(|field| rows.get(0, field)), expected);
        assert_eq!(document.arguments.len(), 1);
    }

    #[test]
    fn the_end_of_a_range_replaces_neither_its_text_nor_its_arguments() {
        let mut document = Document::default();
        let texts = ["marker_api", "my range", "roctxRangePushA", "roctxRangePop", "operation", "note", "more"];
        let [category, text, push, pop, operation, note, more] = texts.map(|text| document.names.number(text));
        let arguments = vec![(operation, Argument::Text(push)), (note, Argument::Text(text))];
        let start = Event { category: Some(category), name: Some(text), arguments, ..Event::default() };
        let open = document.start(&start, 0, 1);
        let arguments = [(operation, pop), (note, push), (more, push)];
        let arguments = arguments.map(|(name, value)| (name, Argument::Text(value))).to_vec();
        document.end(open, &Event { arguments, ..Event::default() }, 5);
        let rows = document.rows(Role::Call).unwrap();
        let found = [Field::Name, Field::Message, Field::End].map(|field| rows.get(0, field));
        assert_eq!(found, [i64::from(push), i64::from(text), 5].map(Some));
        let kept: Vec<_> = document.arguments.iter().map(|argument| (argument.name, argument.value)).collect();
        assert_eq!(kept, [(note, text), (more, push)]);
    }
}
