//! Generates the declarations of the canonical tables from `share/tables.toml`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Columns that all tables start with.
    columns: Vec<[String; 3]>,
    table: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    group: Option<String>,
    key: Vec<String>,
    sort: Option<Vec<String>>,
    origin: Option<String>,
    about: String,
    columns: Vec<[String; 3]>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../../share/tables.toml");
    println!("cargo::rerun-if-changed={}", path.display());
    let file: File = toml::from_str(&fs::read_to_string(&path)?)?;
    let mut groups: BTreeMap<&str, String> = BTreeMap::new();
    let mut all = String::from("pub(super) static TABLES: &[&Table] = &[\n");
    for Table { name, group, key, sort, origin, about, columns } in &file.table {
        let constant = name.to_uppercase();
        let columns: String = file.columns.iter().chain(columns).map(declared).collect::<Result<_, _>>()?;
        let (group, sort) = (group.as_deref().unwrap_or("source"), sort.as_ref().unwrap_or(key));
        let origin = origin.as_deref().unwrap_or("OnDemand");
        let of_group = groups.entry(group).or_default();
        writeln!(of_group, "pub static {constant}: Table = Table {{ name: {name:?}, key: &{key:?}, sort: &{sort:?},")?;
        writeln!(of_group, "origin: Origin::{origin}, about: {about:?}, columns: &[\n{columns}] }};")?;
        writeln!(all, "&{group}::{constant},")?;
    }
    let modules = groups.iter().map(|(group, tables)| format!("pub mod {group} {{\nuse super::*;\n{tables}}}\n"));
    let source = modules.collect::<String>() + &all + "];\n";
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join("tables.rs"), source)?)
}

/// A column as the crate declares it. Its type is a logical type, or the unit of an integer.
fn declared([name, kind, doc]: &[String; 3]) -> Result<String, String> {
    let (nullable, added) = (kind.ends_with(['?', '+']), kind.ends_with('+'));
    let (column_type, unit) = match kind.trim_end_matches(['?', '+']) {
        "cat" => ("Cat", "None"),
        "text" => ("Str", "None"),
        "flag" => ("Bool", "None"),
        "float" => ("F64", "None"),
        "int" => ("I64", "None"),
        "id" => ("I64", "Id"),
        "ns" => ("I64", "Nanoseconds"),
        "bytes" => ("I64", "Bytes"),
        "bytes/s" => ("I64", "BytesPerSecond"),
        "count" => ("I64", "Count"),
        "MHz" => ("I64", "Megahertz"),
        "bits" => ("I64", "Bits"),
        "work-items" => ("I64", "WorkItems"),
        "cycles" => ("I64", "Cycles"),
        other => return Err(format!("{name}: {other} is not a type of a column")),
    };
    let types = format!("column_type: ColumnType::{column_type}, unit: Unit::{unit}");
    Ok(format!("Column {{ name: {name:?}, {types}, nullable: {nullable}, added: {added}, doc: {doc:?} }},\n"))
}
