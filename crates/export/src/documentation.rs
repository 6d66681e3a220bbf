//! The tables, the queries and the metrics as Markdown, from their declarations.

use std::fmt::Write as _;

use wavesieve_engine::{FunctionKind, ParameterType, Query, Registry, calls, names_of_rocpd};
use wavesieve_model::analysis::hardware::metrics::Definitions;
use wavesieve_model::schema;
use wavesieve_model::schema::{Origin, Table, Unit};

/// `docs/tables.md`.
pub fn tables() -> String {
    let mut page = String::from(data!("templates/docs/tables.md"));
    schema::tables().iter().for_each(|table| describe(&mut page, table));
    page
}

/// The part of a table in `docs/tables.md`; `None` if no table has that name.
pub fn table(name: &str) -> Option<String> {
    let mut page = String::new();
    describe(&mut page, schema::table(name)?);
    Some(page.trim_start().to_owned())
}

fn describe(page: &mut String, table: &Table) {
    let origin = match table.origin {
        Origin::Source => "",
        Origin::Derived => " Derived from the whole trace.",
        Origin::OnDemand => " Derived from the whole trace when a query needs it; `convert --with` keeps it.",
    };
    let key = if table.key.is_empty() { "none".to_owned() } else { table.key.join(", ") };
    // Writing to a String cannot fail.
    let _ = write!(page, "\n## {}\n\n{}{origin} Key within a process: {key}.\n\n", table.name, table.about);
    page.push_str("| column | type | unit | meaning |\n| --- | --- | --- | --- |\n");
    for column in table.columns {
        let optional = if column.nullable { "?" } else { "" };
        let unit = if column.unit == Unit::None { "" } else { column.unit.name() };
        let _ = writeln!(
            page,
            "| {} | {}{optional} | {unit} | {} |",
            column.name,
            column.column_type.name(),
            column.doc.replace('|', "\\|")
        );
    }
}

/// `docs/sql.md`.
pub fn functions() -> String {
    let mut page = String::from(data!("templates/docs/sql.md"));
    let kinds = [
        (FunctionKind::Aggregate, "Aggregates"),
        (FunctionKind::Window, "Windows"),
        (FunctionKind::Number, "Numbers"),
        (FunctionKind::Text, "Texts"),
        (FunctionKind::Choice, "Choices and missing values"),
    ];
    for (kind, title) in kinds {
        let _ = write!(page, "\n## {title}\n\n| expression | gives |\n| --- | --- |\n");
        for call in calls().iter().filter(|call| call.kind == kind) {
            let _ = writeln!(page, "| `{}` | {} |", call.call.replace('|', "\\|"), call.about.replace('|', "\\|"));
        }
    }
    page.push_str(data!("templates/docs/rocpd_names.md"));
    for (name, about) in names_of_rocpd() {
        let _ = writeln!(page, "| `{name}` | {} |", about.replace('|', "\\|"));
    }
    page
}

/// `docs/queries.md`.
pub fn queries(registry: &Registry) -> String {
    let mut page = String::from(data!("templates/docs/queries.md"));
    for query in registry.iter() {
        page.push('\n');
        page.push_str(&self::query(query));
    }
    page
}

/// The part of `docs/queries.md` about one query.
pub fn query(query: &Query) -> String {
    let mut page = String::new();
    let declaration = &query.declaration;
    let list = |names: &[String]| if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    let _ = write!(page, "## {}\n\n{}. {}\n\n", query.name, declaration.title, declaration.about);
    let _ = writeln!(page, "- reads: {}", list(&declaration.needs));
    let _ =
        writeln!(page, "- grouped by: {}; can be grouped by: {}", list(&declaration.by), list(&declaration.dimensions));
    for parameter in &declaration.parameters {
        let type_name = match parameter.parameter_type {
            ParameterType::Int => "int",
            ParameterType::Float => "float",
            ParameterType::Str => "str",
            ParameterType::Word => "word",
        };
        let name = parameter.name.replace('_', "-");
        let _ = writeln!(page, "- `--{name}` ({type_name}, default {}): {}", parameter.default, parameter.explained());
    }
    page.push_str("\n| column | meaning |\n| --- | --- |\n");
    for column in &declaration.columns {
        let _ = writeln!(page, "| {} | {} |", column.name, column.doc.replace('|', "\\|"));
    }
    page
}

/// `docs/metrics.md`.
pub fn metrics() -> String {
    let mut page = String::from(data!("templates/docs/metrics.md"));
    let mut panel = None;
    for metric in &Definitions::builtin().metrics {
        if panel != Some(metric.panel) {
            panel = Some(metric.panel);
            let _ = write!(page, "\n## {} {}\n\n", metric.panel, metric.panel_title);
            page.push_str("| metric | title | unit | on | formula | peak | source |\n| --- | --- | --- | --- | --- | --- | --- |\n");
        }
        for on in &metric.on {
            let architectures: Vec<&str> = on.architectures.iter().map(String::as_str).collect();
            let corrected = on.corrected.as_ref().map_or(String::new(), |wrong| format!("; corrected: {wrong}"));
            let instead = on.instead_text.as_ref().map_or(String::new(), |text| format!(", else `{text}`"));
            let peak = on.peak_text.as_ref().map_or(String::new(), |text| format!("`{text}`"));
            let _ = writeln!(
                page,
                "| {} | {} | {} | {} | `{}`{instead} | {peak} | {}{corrected} |",
                metric.id,
                metric.title.replace('|', "\\|"),
                metric.unit,
                architectures.join(" "),
                on.text,
                on.source.replace('|', "\\|"),
            );
        }
    }
    page
}
