//! `args`: arguments of slices beyond the columns of their tables.

use anyhow::Result;

use super::text;
use crate::common::{Args, Dictionary, TableBuilder};
use crate::perfetto::document::Owned;
use crate::perfetto::kinds::Role;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::Field;

/// Owners by role; operations on memory have no arguments in the table.
const OWNERS: [(Role, &str); 3] = [(Role::Kernel, "kernel"), (Role::Copy, "copy"), (Role::Call, "region")];

pub(crate) fn read_args(builder: &mut TableBuilder<'_>, file: &Assembled, process: &Process) -> Result<()> {
    let regions = builder.context.hint.and_then(|hint| hint.regions.as_deref());
    let dispatches = process.rows(Role::Kernel).filter(|rows| rows.column(Field::Dispatch).all(|id| id.is_some()));
    let id = |argument: &Owned| {
        let number = argument.row as i64 + 1;
        match argument.role {
            Role::Kernel => dispatches.and_then(|rows| rows.get(argument.row, Field::Dispatch)).unwrap_or(number),
            _ => number,
        }
    };
    let is_wanted = |argument: &&Owned| match argument.role {
        Role::Call => regions.is_none_or(|regions| regions.binary_search(&id(argument)).is_ok()),
        role => role != Role::Allocation,
    };
    let arguments: Vec<&Owned> = process.arguments.iter().filter(is_wanted).collect();
    let place = |argument: &&Owned| OWNERS.iter().position(|(role, _)| *role == argument.role);
    let args = Args {
        kinds: arguments.iter().filter_map(place).collect(),
        owners: arguments.iter().map(|argument| id(argument)).collect(),
        positions: positions(&arguments),
    };
    let texts = |number: fn(&Owned) -> u32, missing: Option<&'static str>| {
        let numbers = arguments.iter().map(move |argument| Some(i64::from(number(argument))));
        Dictionary::of(numbers, move |number| text(&file.names, number).or(missing).map(str::to_owned))
    };
    let (names, values) =
        (|| texts(|argument| argument.name, Some("unknown")), || texts(|argument| argument.value, None));
    builder.put_args(&OWNERS.map(|(_, owner)| owner), args, names, values)
}

/// Positions in the list of each owner, from 1 on.
fn positions(arguments: &[&Owned]) -> Vec<i64> {
    let mut last = None;
    let mut position = 0;
    let place = |argument: &&Owned| {
        let owner = Some((argument.role, argument.row));
        position = if last == owner { position + 1 } else { 1 };
        last = owner;
        position
    };
    arguments.iter().map(place).collect()
}
