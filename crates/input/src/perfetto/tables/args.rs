//! `args`: what writers state of slices beyond the columns of their tables.

use anyhow::Result;
use polars::prelude::*;

use super::text;
use crate::common::TableBuilder;
use crate::perfetto::document::Owned;
use crate::perfetto::kinds::Role;
use crate::perfetto::processes::{Assembled, Process};
use crate::perfetto::rows::Field;
use crate::perfetto::tables::Dictionary;
use wavesieve_tables::columns::frames::{dictionary_column, text_column_from_dictionary};

/// Owners by role; operations on memory have no arguments in the table.
fn owner(role: Role) -> Option<&'static str> {
    match role {
        Role::Kernel => Some("kernel"),
        Role::Copy => Some("copy"),
        Role::Call => Some("region"),
        Role::Allocation => None,
    }
}

/// Assembles the arguments.
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
        role => owner(role).is_some(),
    };
    let arguments: Vec<&Owned> = process.arguments.iter().filter(is_wanted).collect();
    builder.set_height(arguments.len());
    let roles = Dictionary::of(arguments.iter().map(|argument| Some(argument.role as i64)), |role| {
        let roles = [Role::Kernel, Role::Copy, Role::Call].into_iter();
        roles.filter(|known| Some(*known as i64) == role).find_map(owner).map(str::to_owned)
    });
    builder.put_with("owner", || Ok(dictionary_column("owner", &roles.texts, roles.places.iter().copied())?))?;
    let owners = arguments.iter().map(|argument| id(argument));
    builder.put("owner_id", Int64Chunked::from_iter_values("".into(), owners).into_series());
    builder.put("position", Int64Chunked::from_vec("".into(), positions(&arguments)).into_series());
    let named = |number: fn(&Owned) -> u32| {
        let numbers = arguments.iter().map(move |argument| Some(i64::from(number(argument))));
        Dictionary::of(numbers, |number| text(&file.names, number).map(str::to_owned))
    };
    builder.put_with("name", || {
        let mut names = named(|argument| argument.name);
        names.texts.iter_mut().filter(|name| name.is_none()).for_each(|name| *name = Some("unknown".to_owned()));
        Ok(dictionary_column("name", &names.texts, names.places.iter().copied())?)
    })?;
    builder.put_with("value", || {
        let values = named(|argument| argument.value);
        Ok(text_column_from_dictionary("value", &values.texts, values.places.iter().copied())?)
    })
}

/// Places in the lists of each owner, from 1 on.
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
