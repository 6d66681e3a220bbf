//! The canonical tables, which `build.rs` makes from `share/tables.toml`. Their meaning and the rules behind them: `docs/tables.md`.

use crate::schema::{Column, ColumnType, Origin, Table, Unit};

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
