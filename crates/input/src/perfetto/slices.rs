//! Slices, instants and values, as rows.

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
            return Open { row: None, has_end: true };
        };
        let mut row = EventRow::default();
        row.put(Field::Track, Some(place as i64));
        row.put(Field::Name, event.name.map(i64::from));
        row.put(Field::Category, event.category.map(i64::from));
        row.put(Field::Start, Some(time_ns));
        row.put(Field::Flow, event.flows.first().map(|flow| *flow as i64));
        let at = self.rows.get(role as usize).map_or(0, |rows| rows.height());
        let is_unfinished = self.take_arguments(event, role, at, &mut row);
        let has_end = is_unfinished || row.get(Field::End).is_some();
        if let Some(rows) = self.rows.get_mut(role as usize) {
            rows.push(&row);
        }
        Open { row: Some((role, at)), has_end }
    }

    /// Puts known arguments of a slice into its row, and keeps the others. Returns whether one states that the slice has no end.
    fn take_arguments(&mut self, event: &Event, role: Role, at: usize, row: &mut EventRow) -> bool {
        let Self { names, census, writer, arguments, .. } = self;
        let (mut function, mut is_unfinished, mut all_sizes) = (None, false, Vec::new());
        for (name, value) in &event.arguments {
            match (key(role, names.text(*name)), *value) {
                (Some(Key::Of(field)), value) => row.put(field, value.integer(names)),
                (Some(Key::Sizes(first)), value) => all_sizes.extend(Some(first).zip(sizes_of(value, names))),
                (Some(Key::Function), Argument::Text(text)) => function = Some(text),
                (Some(Key::FullName), Argument::Text(text)) => row.put(Field::Name, Some(i64::from(text))),
                (Some(Key::Unfinished), _) => is_unfinished = true,
                (Some(Key::Function | Key::FullName), _) => {}
                (Some(Key::Nothing), value) if value.is_number() || *writer == Writer::Wavesieve => {}
                (None, value) if role == Role::Kernel && *writer == Writer::Rocprofv3 && value.is_number() => {
                    census.counter_arguments.insert(*name);
                }
                (Some(Key::Nothing) | None, value) => {
                    let value = value.text(names);
                    arguments.push(Owned { role, row: at, name: *name, value });
                }
            }
        }
        for (first, sizes) in all_sizes {
            put_sizes(row, first, sizes);
        }
        // The text of a range is shown instead of its function, which is an argument.
        if let (Some(function), Some(shown)) = (function.map(i64::from), row.get(Field::Name))
            && role == Role::Call
        {
            row.put(Field::Name, Some(function));
            row.put(Field::Message, (shown != function).then_some(shown));
        }
        is_unfinished
    }

    /// Ends a slice. The event of the end may have arguments too.
    pub(super) fn end(&mut self, open: &Open, event: &Event, time_ns: i64) {
        let Some((role, at)) = open.row else { return };
        let Some(rows) = self.rows.get_mut(role as usize) else { return };
        if !open.has_end {
            rows.set(at, Field::End, time_ns);
        }
        if !event.arguments.is_empty() {
            let mut row = rows.row(at);
            self.take_arguments(event, role, at, &mut row);
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
        document.end(&open, &Event { arguments, ..Event::default() }, 5);
        let rows = document.rows(Role::Kernel).unwrap();
        let fields = [Field::Start, Field::End, Field::WorkgroupX, Field::WorkgroupZ, Field::Name];
        let expected = [1, 5, 64, 1, i64::from(full)].map(Some);
        assert_eq!(fields.map(|field| rows.get(0, field)), expected);
        assert_eq!(document.arguments.len(), 1);
    }
}
